//! Owns what a server says first, and what a client answers: who it is, and what proves it.
//!
//! Sources: the pages "Connection Phase" and "Authentication Methods" of MySQL's internals.

use brimline_net::link::Lost;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use zeroize::Zeroizing;

use crate::error::{ERROR, ServerError};
use crate::fields::{Fields, append_text};
use crate::rsa::PublicKey;

/// What both sides can do.
pub mod capabilities {
    pub const LONG_PASSWORD: u32 = 1;
    /// Rows that an update matches count as affected, as in PostgreSQL.
    pub const FOUND_ROWS: u32 = 1 << 1;
    pub const LONG_FLAG: u32 = 1 << 2;
    pub const CONNECT_WITH_DB: u32 = 1 << 3;
    pub const PROTOCOL_41: u32 = 1 << 9;
    pub const SSL: u32 = 1 << 11;
    pub const TRANSACTIONS: u32 = 1 << 13;
    pub const SECURE_CONNECTION: u32 = 1 << 15;
    pub const MULTI_RESULTS: u32 = 1 << 17;
    pub const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub const PLUGIN_AUTH: u32 = 1 << 19;
    pub const PLUGIN_AUTH_LENGTH_ENCODED: u32 = 1 << 21;
    pub const DEPRECATE_EOF: u32 = 1 << 24;
    /// Of MariaDB, counted apart: definitions of columns name a format.
    pub const EXTENDED_METADATA: u32 = 1 << 3;
}
use capabilities as can;

/// What the client asks for where the server has it.
const WANTED: u32 = can::LONG_PASSWORD
    | can::FOUND_ROWS
    | can::LONG_FLAG
    | can::PROTOCOL_41
    | can::TRANSACTIONS
    | can::SECURE_CONNECTION
    | can::MULTI_RESULTS
    | can::PS_MULTI_RESULTS
    | can::PLUGIN_AUTH
    | can::PLUGIN_AUTH_LENGTH_ENCODED
    | can::DEPRECATE_EOF;
const PROTOCOL: u8 = 10;
/// `utf8mb4_general_ci`, which every server of both kinds has.
const COLLATION: u8 = 45;
const PACKET_BYTES_MAX: u32 = 1 << 30;
/// MariaDB puts this before its version for clients that expect MySQL's.
const MARIADB_PREFIX: &str = "5.5.5-";
const NONCE_BYTES: usize = 20;

/// How a password is proved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plugin {
    #[default]
    Native,
    CachingSha2,
    Clear,
}

/// What a server says first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Its version, such as `10.11.6-MariaDB` or `8.0.36`.
    pub version: String,
    pub capabilities: u32,
    /// Those of MariaDB alone.
    pub extended: u32,
    pub nonce: Vec<u8>,
    /// Its first choice; `None`: one that is not known here.
    pub plugin: Option<Plugin>,
}

/// How far the proof of a password is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proving {
    pub plugin: Plugin,
    /// What the server sent to be proved with.
    nonce: Vec<u8>,
    /// Whether the server was asked for the key that the password is sealed with.
    awaits_key: bool,
}

/// What the server wants of a login next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The client is in.
    Done,
    /// These bytes.
    Send(Zeroizing<Vec<u8>>),
    /// Nothing: it will say more.
    Wait,
}

impl Plugin {
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
            Self::Clear => "mysql_clear_password",
        }
    }

    fn named(name: &[u8]) -> Option<Self> {
        [Self::Native, Self::CachingSha2, Self::Clear]
            .into_iter()
            .find(|plugin| plugin.name().as_bytes() == name)
    }

    /// What proves `password` to whoever sent `nonce`.
    ///
    /// # Errors
    /// When it would go over the network in clear.
    fn proof(self, password: &str, nonce: &[u8], is_secure: bool) -> Result<Zeroizing<Vec<u8>>, Lost> {
        let nonce = &nonce[..nonce.len().min(NONCE_BYTES)];
        Ok(Zeroizing::new(match self {
            Self::Clear if !is_secure => return Err(in_clear(self.name())),
            Self::Clear => terminated(password),
            _ if password.is_empty() => Vec::new(),
            Self::Native => {
                let hash = |parts: &[&[u8]]| digest(&SHA1_FOR_LEGACY_USE_ONLY, &parts.concat());
                let once = hash(&[password.as_bytes()]);
                let twice = hash(&[once.as_ref()]);
                xor(once.as_ref(), hash(&[nonce, twice.as_ref()]).as_ref())
            }
            Self::CachingSha2 => {
                let hash = |parts: &[&[u8]]| digest(&SHA256, &parts.concat());
                let once = hash(&[password.as_bytes()]);
                let twice = hash(&[once.as_ref()]);
                xor(once.as_ref(), hash(&[twice.as_ref(), nonce]).as_ref())
            }
        }))
    }
}

fn xor(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter().zip(right).map(|(left, right)| left ^ right).collect()
}

fn terminated(password: &str) -> Vec<u8> {
    [password.as_bytes(), b"\0"].concat()
}

fn in_clear(plugin: &str) -> Lost {
    Lost::refused(format!(
        "the server wants the password in clear ({plugin}), which is sent over TLS only: set tls for this server"
    ))
}

impl Hello {
    /// Reads the first packet of a connection.
    ///
    /// # Errors
    /// When it is none, an error, or that of a server from before 2005.
    pub fn read(payload: &[u8]) -> Result<Self, Lost> {
        if payload.first() == Some(&ERROR) {
            return Err(ServerError::read(payload)?.lost());
        }
        if payload.first() != Some(&PROTOCOL) {
            return Err(Lost::refused("what the server says first is not MySQL's protocol 10"));
        }
        Self::fields(Fields(&payload[1..])).ok_or_else(|| Lost::bad("what the server says first is cut"))?
    }

    fn fields(mut fields: Fields<'_>) -> Option<Result<Self, Lost>> {
        let version = String::from_utf8_lossy(fields.terminated()?).into_owned();
        let version = match version.strip_prefix(MARIADB_PREFIX) {
            Some(rest) if rest.contains("MariaDB") => rest.to_owned(),
            _ => version,
        };
        fields.u32()?;
        let mut nonce = fields.bytes(8)?.to_vec();
        fields.u8()?;
        let low = fields.u16()?;
        let (_, _, high, nonce_bytes) = (fields.u8()?, fields.u16()?, fields.u16()?, fields.u8()?);
        let capabilities = u32::from(high) << 16 | u32::from(low);
        fields.bytes(6)?;
        let extended = fields.u32()?;
        // MySQL says that it is no MariaDB by the first bit, and has no further ones.
        let extended = if capabilities & can::LONG_PASSWORD == 0 { extended } else { 0 };
        if capabilities & can::PROTOCOL_41 == 0 || capabilities & can::SECURE_CONNECTION == 0 {
            return Some(Err(Lost::refused(format!("the server ({version}) is older than MySQL 4.1"))));
        }
        nonce.extend_from_slice(fields.bytes(usize::from(nonce_bytes).saturating_sub(8).max(13))?);
        nonce.truncate(NONCE_BYTES);
        let plugin = if capabilities & can::PLUGIN_AUTH == 0 {
            Some(Plugin::Native)
        } else {
            let rest = fields.0;
            Plugin::named(rest.split(|&byte| byte == 0).next().unwrap_or_default())
        };
        Some(Ok(Self { version, capabilities, extended, nonce, plugin }))
    }

    /// What the client and this server agree on.
    pub fn agreed(&self, has_database: bool, is_secure: bool) -> u32 {
        let mut wanted = WANTED;
        if has_database {
            wanted |= can::CONNECT_WITH_DB;
        }
        if is_secure {
            wanted |= can::SSL;
        }
        // Bit 0 is the client's way to say that it knows nothing of MariaDB's own.
        let known = self.capabilities | can::LONG_PASSWORD;
        let agreed = wanted & known;
        if self.extended_agreed() == 0 { agreed } else { agreed & !can::LONG_PASSWORD }
    }

    /// What client and MariaDB agree on beyond that.
    pub fn extended_agreed(&self) -> u32 {
        self.extended & can::EXTENDED_METADATA
    }

    /// Appends what asks for TLS: the beginning of the login.
    pub fn append_head(&self, agreed: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&agreed.to_le_bytes());
        out.extend_from_slice(&PACKET_BYTES_MAX.to_le_bytes());
        out.push(COLLATION);
        out.extend_from_slice(&[0; 19]);
        out.extend_from_slice(&self.extended_agreed().to_le_bytes());
    }

    /// Appends the login; how it is proved.
    ///
    /// # Errors
    /// When the password would go over the network in clear.
    pub fn append_login(
        &self,
        agreed: u32,
        username: &str,
        password: &str,
        database: &str,
        out: &mut Vec<u8>,
    ) -> Result<Proving, Lost> {
        // A plugin that isn't known here is only the server's first choice; it will ask for that of the user.
        let plugin = self.plugin.filter(|&plugin| plugin != Plugin::Clear).unwrap_or(Plugin::Native);
        let proof = plugin.proof(password, &self.nonce, false)?;
        self.append_head(agreed, out);
        out.extend_from_slice(username.as_bytes());
        out.push(0);
        if agreed & can::PLUGIN_AUTH_LENGTH_ENCODED != 0 {
            append_text(&proof, out);
        } else {
            out.push(proof.len() as u8);
            out.extend_from_slice(&proof);
        }
        if agreed & can::CONNECT_WITH_DB != 0 {
            out.extend_from_slice(database.as_bytes());
            out.push(0);
        }
        if agreed & can::PLUGIN_AUTH != 0 {
            out.extend_from_slice(plugin.name().as_bytes());
            out.push(0);
        }
        Ok(Proving { plugin, nonce: self.nonce.clone(), awaits_key: false })
    }
}

/// What follows from a packet of the server during a login, whose plugin may change.
///
/// # Errors
/// When the server refuses, asks for what isn't known, or for the password in clear without TLS.
pub fn follow(payload: &[u8], proving: &mut Proving, password: &str, is_secure: bool) -> Result<Step, Lost> {
    const OK: u8 = 0x00;
    const MORE: u8 = 0x01;
    const SWITCH: u8 = 0xfe;
    const FAST: u8 = 3;
    const FULL: u8 = 4;
    const KEY_WANTED: u8 = 2;
    match payload {
        [OK, ..] => Ok(Step::Done),
        [ERROR, ..] => Err(ServerError::read(payload)?.lost()),
        [SWITCH] => Err(Lost::refused("the server wants the password as it was before MySQL 4.1")),
        [SWITCH, rest @ ..] => {
            let mut fields = Fields(rest);
            let name = fields.terminated().unwrap_or(rest);
            let Some(wanted) = Plugin::named(name) else {
                let name = String::from_utf8_lossy(name);
                return Err(Lost::refused(format!(
                    "the server wants the login {name}, which is not known here"
                )));
            };
            let nonce = fields.0[..fields.0.len().min(NONCE_BYTES)].to_vec();
            *proving = Proving { plugin: wanted, nonce, awaits_key: false };
            wanted.proof(password, fields.0, is_secure).map(Step::Send)
        }
        [MORE, key @ ..] if proving.awaits_key => {
            proving.awaits_key = false;
            PublicKey::read(key)?.sealed(password, &proving.nonce).map(Step::Send)
        }
        [MORE, FAST] if proving.plugin == Plugin::CachingSha2 => Ok(Step::Wait),
        // This user's first login since the server's start: it has to see the password as a whole.
        [MORE, FULL] if proving.plugin == Plugin::CachingSha2 => {
            Ok(Step::Send(Zeroizing::new(if is_secure {
                terminated(password)
            } else {
                proving.awaits_key = true;
                vec![KEY_WANTED]
            })))
        }
        _ => Err(Lost::bad("the server's answer to the login can't be read")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of MariaDB 10.11, from a socket.
    fn mariadb() -> Vec<u8> {
        let mut hello =
            b"\x0a5.5.5-10.11.6-MariaDB\0\x05\0\0\0ABCDEFGH\0\xfe\xf7\x2d\x02\0\xff\x81\x15".to_vec();
        hello.extend_from_slice(&[0; 6]);
        hello.extend_from_slice(&[0x1d, 0, 0, 0]);
        hello.extend_from_slice(b"IJKLMNOPQRST\0mysql_native_password\0");
        hello
    }

    #[test]
    fn the_first_packet_is_read() {
        let hello = Hello::read(&mariadb()).unwrap();
        assert_eq!((hello.version.as_str(), hello.plugin), ("10.11.6-MariaDB", Some(Plugin::Native)));
        assert_eq!(hello.nonce, b"ABCDEFGHIJKLMNOPQRST");
        assert_eq!(hello.extended, 0x1d);
        assert_eq!(hello.agreed(true, false) & can::LONG_PASSWORD, 0);
        for end in 1..mariadb().len() - 24 {
            assert!(Hello::read(&mariadb()[..end]).is_err(), "{end}");
        }
        assert!(Hello::read(b"SSH-2.0-OpenSSH").unwrap_err().message.contains("protocol 10"));
        assert_eq!(
            Hello::read(b"\xff\x10\x04Too many connections").unwrap_err().message,
            "Too many connections (1040)"
        );
    }

    #[test]
    fn the_login_is_byte_for_byte() {
        let hello = Hello::read(&mariadb()).unwrap();
        let mut out = Vec::new();
        let agreed = hello.agreed(true, false);
        hello.append_login(agreed, "u", "p", "shop", &mut out).unwrap();
        let mut expected = agreed.to_le_bytes().to_vec();
        expected.extend_from_slice(&[0, 0, 0, 0x40, 45]);
        expected.extend_from_slice(&[0; 19]);
        expected.extend_from_slice(&[8, 0, 0, 0]);
        expected.extend_from_slice(b"u\0\x14");
        assert_eq!(out[..expected.len()], expected);
        assert!(out.ends_with(b"shop\0mysql_native_password\0"));
        assert_eq!(out.len(), expected.len() + 20 + 5 + 22);
    }

    #[test]
    fn proofs_are_those_of_the_plugins() {
        let hex = |bytes: &[u8]| {
            let mut out = Vec::new();
            brimline_formats::write::plain::append_hex_bytes(bytes, &mut out);
            String::from_utf8(out).unwrap()
        };
        let nonce = b"ABCDEFGHIJKLMNOPQRST\0";
        // hashlib: xor(sha1(p), sha1(nonce + sha1(sha1(p)))), xor(sha256(p), sha256(sha256(sha256(p)) + nonce))
        let native = Plugin::Native.proof("secret", nonce, false).unwrap();
        assert_eq!(hex(&native), "28441590674285e7d03cae7af237504797f70e91");
        let sha2 = Plugin::CachingSha2.proof("secret", nonce, false).unwrap();
        assert_eq!(hex(&sha2), "d721e183c1f036a196c1389201b8d53f38064a16f1d0923683ab886763152d75");
        assert!(Plugin::Native.proof("", nonce, false).unwrap().is_empty());
        assert!(Plugin::Clear.proof("secret", nonce, false).unwrap_err().message.contains("TLS"));
        assert_eq!(*Plugin::Clear.proof("secret", nonce, true).unwrap(), *b"secret\0");
    }

    #[test]
    fn a_password_is_sent_in_clear_over_tls_only() {
        let mut proving = Proving { plugin: Plugin::CachingSha2, ..Proving::default() };
        let mut step = |payload: &[u8], is_secure| follow(payload, &mut proving, "pw", is_secure);
        assert_eq!(step(b"\x01\x03", false), Ok(Step::Wait));
        assert_eq!(step(b"\x01\x04", true), Ok(Step::Send(Zeroizing::new(b"pw\0".to_vec()))));
        assert_eq!(step(b"\x01\x04", false), Ok(Step::Send(Zeroizing::new(vec![2]))));
        assert!(step(b"\x01no key", false).unwrap_err().message.contains("public key is none"));
        assert!(
            step(b"\x01no key", false).unwrap_err().message.contains("can't be read"),
            "it was not asked for"
        );
        assert!(step(b"\xfemysql_clear_password\0", false).unwrap_err().message.contains("TLS"));
        assert!(step(b"\xfe", true).is_err());
        assert!(step(b"\xfeclient_ed25519\0abc", true).unwrap_err().message.contains("client_ed25519"));
        assert!(step(b"", true).is_err());
        let Ok(Step::Send(proof)) = step(b"\xfemysql_native_password\0ABCDEFGHIJKLMNOPQRST\0", false) else {
            panic!()
        };
        assert_eq!(proof.len(), 20);
        assert_eq!(proving.plugin, Plugin::Native);
    }
}
