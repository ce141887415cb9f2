//! Owns what comes before a server lets a client in: who it is, and what proves it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use brimline_net::link::Lost;
use brimline_sql::target::Target;
use brimline_wire::scram::{Conversation, Mechanism, ScramError};
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use crate::fields::Fields;
use crate::message::append_body;

const TLS_REQUEST: u32 = 80_877_103;
const PROTOCOL: u32 = 3 << 16;
/// Bytes of randomness in a nonce.
const NONCE_BYTES: usize = 18;
const SCRAM: &[u8] = b"SCRAM-SHA-256";

/// Appends what asks for TLS.
pub fn append_tls_request(out: &mut Vec<u8>) {
    out.extend_from_slice(&8_u32.to_be_bytes());
    out.extend_from_slice(&TLS_REQUEST.to_be_bytes());
}

/// Appends who the client is, and how it wants to be spoken to.
pub fn append_startup(target: &Target, out: &mut Vec<u8>) -> Result<(), String> {
    let database = target.settings.database.as_str();
    append_body(out, |out| {
        out.extend_from_slice(&PROTOCOL.to_be_bytes());
        for (name, value) in [
            ("user", target.secrets.username.as_str()),
            ("database", database),
            ("application_name", "brimline"),
            ("client_encoding", "UTF8"),
            ("DateStyle", "ISO"),
            ("TimeZone", "UTC"),
        ] {
            if value.contains('\0') {
                return Err(format!("the name of the {name} holds a NUL"));
            }
            if !value.is_empty() {
                for text in [name, value] {
                    out.extend_from_slice(text.as_bytes());
                    out.push(0);
                }
            }
        }
        out.push(0);
        Ok(())
    })
}

/// A login under way.
#[derive(Debug, Default)]
pub struct Login {
    scram: Option<Conversation>,
    /// Whether the server has proved that it knows the password.
    is_proved: bool,
}

/// What the server wants of a login next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing: the client is in, or more is to come.
    Wait,
    /// A message with this body.
    Send(Zeroizing<Vec<u8>>),
}

impl Login {
    /// What follows from a message about authentication.
    ///
    /// # Errors
    /// When the server asks for what isn't known, for the password in clear without TLS, or does not know the password itself.
    pub fn follow(&mut self, body: &[u8], target: &Target, is_secure: bool) -> Result<Step, Lost> {
        let cut = || Lost::bad("the server's answer to the login can't be read");
        let password = target.secrets.password.as_ref().map(|password| password.as_str());
        let needed =
            || password.ok_or_else(|| Lost::refused("the server wants a password, and none is given"));
        let mut fields = Fields(body);
        let kind = fields.u32().ok_or_else(cut)?;
        match kind {
            0 if self.scram.is_some() && !self.is_proved => Err(unproved()),
            0 => Ok(Step::Wait),
            3 if !is_secure => Err(Lost::refused(
                "the server wants the password in clear, which is sent over TLS only: set tls for this server",
            )),
            3 => Ok(terminated(needed()?.as_bytes().to_vec())),
            5 => {
                let salt = fields.bytes(4).ok_or_else(cut)?;
                let inner = Zeroizing::new(format!("{}{}", needed()?, target.secrets.username.as_str()));
                let inner = format!("{:x}", md5::compute(inner.as_bytes()));
                let outer = [inner.as_bytes(), salt].concat();
                Ok(terminated(format!("md5{:x}", md5::compute(outer)).into_bytes()))
            }
            10 => {
                needed()?;
                let is_offered = fields.0.split(|&byte| byte == 0).any(|name| name == SCRAM);
                if !is_offered {
                    return Err(Lost::refused("the server has no login by SCRAM-SHA-256"));
                }
                self.begin()
            }
            11 => {
                let scram = self.scram.as_mut().ok_or_else(cut)?;
                let challenge = scram.challenge(fields.0).map_err(|error| refused(&error))?;
                let keys = target.keys(&challenge);
                Ok(Step::Send(Zeroizing::new(scram.proof(&challenge, &keys))))
            }
            12 => {
                self.scram.as_ref().ok_or_else(cut)?.verify(fields.0).map_err(|error| refused(&error))?;
                self.is_proved = true;
                Ok(Step::Wait)
            }
            _ => Err(Lost::refused(format!(
                "the server wants a login of the kind {kind}, which is not known here"
            ))),
        }
    }

    fn begin(&mut self) -> Result<Step, Lost> {
        let mut bytes = [0; NONCE_BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| Lost::refused("the system has no randomness"))?;
        // The server takes the name from the first message of the connection.
        let scram = Conversation::begin(Mechanism::Sha256, "", &BASE64.encode(bytes));
        let first = scram.first_message();
        self.scram = Some(scram);
        let mut body = [SCRAM, b"\0"].concat();
        body.extend_from_slice(&(first.len() as u32).to_be_bytes());
        body.extend_from_slice(&first);
        Ok(Step::Send(Zeroizing::new(body)))
    }
}

fn terminated(mut text: Vec<u8>) -> Step {
    text.push(0);
    Step::Send(Zeroizing::new(text))
}

fn unproved() -> Lost {
    Lost::refused(
        "the server lets the client in without proving that it knows the password: it may be another one",
    )
}

fn refused(error: &ScramError) -> Lost {
    Lost::refused(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use brimline_net::protocol::Secrets;
    use brimline_sql::settings::Settings;
    use brimline_sql::statement::Requests;

    use super::*;

    fn target(password: Option<&str>) -> Arc<Target> {
        let settings = Settings {
            address: "127.0.0.1:1".to_owned(),
            database: "shop".to_owned(),
            tls: false,
            setup: Vec::new(),
            bulk: None,
        };
        let password = password.map(|password| password.to_owned().into());
        let secrets = Secrets { username: "user".to_owned().into(), password, ..Secrets::default() };
        Target::new(settings, secrets, Requests::default()).unwrap()
    }

    #[test]
    fn the_first_message_is_byte_for_byte() {
        let mut out = Vec::new();
        append_startup(&target(None), &mut out).unwrap();
        let text = b"user\0user\0database\0shop\0application_name\0brimline\0client_encoding\0UTF8\0DateStyle\0ISO\0TimeZone\0UTC\0\0";
        assert_eq!(out[..8], [0, 0, 0, text.len() as u8 + 8, 0, 3, 0, 0]);
        assert_eq!(&out[8..], text);
    }

    #[test]
    fn passwords_are_proved_as_the_server_asks() {
        let target = target(Some("secret"));
        let mut login = Login::default();
        // hashlib: md5(md5(secretuser).hexdigest() + salt)
        let Ok(Step::Send(md5)) = login.follow(b"\0\0\0\x05salt", &target, false) else { panic!() };
        assert_eq!(String::from_utf8(md5.to_vec()).unwrap(), "md5440c573f34f2e2f3ff4b6dbdd8a2686b\0");
        assert_eq!(login.follow(&[0, 0, 0, 3], &target, true), Ok(terminated(b"secret".to_vec())));
        assert!(login.follow(&[0, 0, 0, 3], &target, false).unwrap_err().message.contains("TLS"));
        assert!(login.follow(&[0, 0, 0, 7], &target, true).unwrap_err().message.contains("kind 7"));
        assert!(login.follow(b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0\0", &target, true).is_err());
        assert_eq!(login.follow(&[0; 4], &target, false), Ok(Step::Wait));
        for body in [b"".as_slice(), b"\0\0\0\x05sal", b"\0\0\0\x0br=x", b"\0\0\0\x0cv=x"] {
            assert!(login.follow(body, &target, false).is_err(), "{body:?}");
        }
    }

    #[test]
    fn a_server_proves_that_it_knows_the_password() {
        let target = target(Some("secret"));
        let mut login = Login::default();
        let Ok(Step::Send(first)) = login.follow(b"\0\0\0\x0aSCRAM-SHA-256\0\0", &target, false) else {
            panic!()
        };
        let text = String::from_utf8(first.to_vec()).unwrap();
        let nonce = text.split("n=,r=").nth(1).unwrap().to_owned();
        assert!(login.follow(&[0; 4], &target, false).is_err(), "it lets in without a proof");
        let challenge = [b"\0\0\0\x0b".as_slice(), format!("r={nonce}X,s=AAAA,i=4096").as_bytes()].concat();
        assert!(matches!(login.follow(&challenge, &target, false), Ok(Step::Send(_))));
        assert!(login.follow(b"\0\0\0\x0cv=AAAA", &target, false).is_err());
        let endless =
            [b"\0\0\0\x0b".as_slice(), format!("r={nonce}X,s=AAAA,i=4000000000").as_bytes()].concat();
        assert!(login.follow(&endless, &target, false).unwrap_err().message.contains("iterations"));
    }

    #[test]
    fn a_password_that_is_missing_is_said() {
        let target = target(None);
        let error = Login::default().follow(b"\0\0\0\x0aSCRAM-SHA-256\0\0", &target, false).unwrap_err();
        assert!(error.message.contains("none is given"));
    }
}
