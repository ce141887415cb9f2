//! Owns SCRAM as a pure state machine: what a client says, what it demands of a server, and the keys of a password. It knows
//! no sockets and draws no random numbers.
//!
//! Sources: RFC 5802 (SCRAM-SHA-1), RFC 7677 (SCRAM-SHA-256); MongoDB's authentication specification for what it adds: the
//! password of SCRAM-SHA-1 is a digest, that of SCRAM-SHA-256 goes through `SASLprep` (RFC 4013), user names never do.

use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::{digest, hmac, pbkdf2};
use thiserror::Error;
use zeroize::Zeroizing;

/// Fewest iterations a client may accept (RFC 7677, section 4): fewer would make the password cheap to guess.
const ITERATIONS_MIN: u32 = 4_096;
/// Most iterations: a server that lies must not keep a thread busy. MongoDB's default is 15 000.
const ITERATIONS_MAX: u32 = 1_000_000;
/// The header of a client without channel binding and without another identity, and its Base64.
const HEADER: &str = "n,,";
const HEADER_BASE64: &str = "biws";

/// Which hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// SCRAM-SHA-1.
    Sha1,
    /// SCRAM-SHA-256.
    Sha256,
}

/// Why a server isn't believed, or a password can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScramError {
    /// A message of another form.
    #[error("the server's answer to the authentication can't be read")]
    Unreadable,
    /// Its nonce doesn't begin with ours.
    #[error("the server answers another authentication than this one")]
    ForeignNonce,
    /// Too few or too many iterations.
    #[error("the server asks for {0} iterations; {ITERATIONS_MIN} to {ITERATIONS_MAX} are accepted")]
    Iterations(u64),
    /// The server does not prove that it knows the password.
    #[error("the server does not prove that it knows the user's password: it may be another one")]
    ForeignSignature,
    /// Its own error.
    #[error("the server refuses: {0}")]
    Refused(String),
    /// Characters that `SASLprep` forbids.
    #[error("the password has a character that SCRAM-SHA-256 does not allow")]
    Password,
}

/// What a server asks for: the salt and the work that make its user's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// Salt.
    pub salt: Vec<u8>,
    /// Iterations.
    pub iterations: NonZeroU32,
    /// The server's message as it came.
    message: String,
    /// Nonce of both.
    nonce: String,
}

/// Keys of one password under one salt; wiped when they are dropped.
#[derive(Clone)]
pub struct Keys {
    client: Zeroizing<Vec<u8>>,
    server: Zeroizing<Vec<u8>>,
}

/// One authentication.
#[derive(Debug)]
pub struct Conversation {
    mechanism: Mechanism,
    nonce: String,
    /// The first message without its header.
    bare: String,
    /// The key with which the server must sign in the end, and what.
    demanded: Option<(hmac::Key, String)>,
}

impl Mechanism {
    /// Its name in MongoDB's protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "SCRAM-SHA-1",
            Self::Sha256 => "SCRAM-SHA-256",
        }
    }

    /// What stands for `password` of `username` in the exchange.
    ///
    /// # Errors
    /// When `SASLprep` forbids a character.
    pub fn secret(self, username: &str, password: &str) -> Result<Zeroizing<Vec<u8>>, ScramError> {
        match self {
            Self::Sha1 => {
                let text = Zeroizing::new(format!("{username}:mongo:{password}"));
                Ok(Zeroizing::new(format!("{:x}", md5::compute(text.as_bytes())).into_bytes()))
            }
            Self::Sha256 => {
                let prepared = stringprep::saslprep(password).map_err(|_| ScramError::Password)?;
                Ok(Zeroizing::new(prepared.into_owned().into_bytes()))
            }
        }
    }

    fn hmac(self) -> hmac::Algorithm {
        match self {
            Self::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => hmac::HMAC_SHA256,
        }
    }

    fn digest(self, bytes: &[u8]) -> digest::Digest {
        let algorithm = match self {
            Self::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &digest::SHA256,
        };
        digest::digest(algorithm, bytes)
    }

    fn sign(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        hmac::sign(&hmac::Key::new(self.hmac(), key), message).as_ref().to_vec()
    }
}

impl Keys {
    /// Derives the keys of `secret`, which takes some milliseconds.
    pub fn derive(mechanism: Mechanism, secret: &[u8], salt: &[u8], iterations: NonZeroU32) -> Self {
        let (algorithm, bytes) = match mechanism {
            Mechanism::Sha1 => (pbkdf2::PBKDF2_HMAC_SHA1, digest::SHA1_OUTPUT_LEN),
            Mechanism::Sha256 => (pbkdf2::PBKDF2_HMAC_SHA256, digest::SHA256_OUTPUT_LEN),
        };
        let mut salted = Zeroizing::new(vec![0; bytes]);
        pbkdf2::derive(algorithm, iterations, salt, secret, &mut salted);
        Self {
            client: Zeroizing::new(mechanism.sign(&salted, b"Client Key")),
            server: Zeroizing::new(mechanism.sign(&salted, b"Server Key")),
        }
    }
}

impl Conversation {
    /// Begins one for `username`. `nonce` is printable, without commas, and never used twice.
    pub fn begin(mechanism: Mechanism, username: &str, nonce: &str) -> Self {
        let name = username.replace('=', "=3D").replace(',', "=2C");
        Self { mechanism, nonce: nonce.to_owned(), bare: format!("n={name},r={nonce}"), demanded: None }
    }

    /// Its mechanism.
    pub fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    /// The client's first message.
    pub fn first_message(&self) -> Vec<u8> {
        format!("{HEADER}{}", self.bare).into_bytes()
    }

    /// Reads the server's first message.
    ///
    /// # Errors
    /// When it can't be read, answers something else, or asks for too little or too much work.
    pub fn challenge(&self, message: &[u8]) -> Result<Challenge, ScramError> {
        let message = std::str::from_utf8(message).map_err(|_| ScramError::Unreadable)?;
        let mut attributes = message.split(',');
        let nonce = attribute(attributes.next(), "r=")?;
        let salt = BASE64.decode(attribute(attributes.next(), "s=")?).map_err(|_| ScramError::Unreadable)?;
        let iterations: u64 =
            attribute(attributes.next(), "i=")?.parse().map_err(|_| ScramError::Unreadable)?;
        if nonce.len() <= self.nonce.len() || !nonce.starts_with(&self.nonce) {
            return Err(ScramError::ForeignNonce);
        }
        let accepted = u32::try_from(iterations)
            .ok()
            .filter(|count| (ITERATIONS_MIN..=ITERATIONS_MAX).contains(count))
            .and_then(NonZeroU32::new)
            .ok_or(ScramError::Iterations(iterations))?;
        let (message, nonce) = (message.to_owned(), nonce.to_owned());
        Ok(Challenge { salt, iterations: accepted, message, nonce })
    }

    /// The client's last message, which proves that it knows the password.
    pub fn proof(&mut self, challenge: &Challenge, keys: &Keys) -> Vec<u8> {
        let mechanism = self.mechanism;
        let without_proof = format!("c={HEADER_BASE64},r={}", challenge.nonce);
        let exchange = format!("{},{},{without_proof}", self.bare, challenge.message);
        let stored_key = mechanism.digest(&keys.client);
        let mut proof = mechanism.sign(stored_key.as_ref(), exchange.as_bytes());
        for (byte, key) in proof.iter_mut().zip(keys.client.iter()) {
            *byte ^= key;
        }
        self.demanded = Some((hmac::Key::new(mechanism.hmac(), &keys.server), exchange));
        format!("{without_proof},p={}", BASE64.encode(&proof)).into_bytes()
    }

    /// Reads the server's last message, in which it proves that it knows the password as well.
    ///
    /// # Errors
    /// When it doesn't, or refuses.
    pub fn verify(&self, message: &[u8]) -> Result<(), ScramError> {
        let message = std::str::from_utf8(message).map_err(|_| ScramError::Unreadable)?;
        let mut attributes = message.split(',');
        let first = attributes.next();
        if let Ok(error) = attribute(first, "e=") {
            return Err(ScramError::Refused(error.to_owned()));
        }
        let signature = BASE64.decode(attribute(first, "v=")?).map_err(|_| ScramError::Unreadable)?;
        let (key, exchange) = self.demanded.as_ref().ok_or(ScramError::Unreadable)?;
        // In constant time.
        hmac::verify(key, exchange.as_bytes(), &signature).map_err(|_| ScramError::ForeignSignature)
    }
}

/// The value of `text` when it is the attribute that begins with `name`.
fn attribute<'a>(text: Option<&'a str>, name: &str) -> Result<&'a str, ScramError> {
    text.and_then(|text| text.strip_prefix(name)).ok_or(ScramError::Unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An exchange that is printed in a standard: nonce, the server's first message, the client's last, the server's last.
    struct Example(Mechanism, &'static str, &'static str, &'static str, &'static str);

    /// RFC 5802, section 5.
    const SHA1: Example = Example(
        Mechanism::Sha1,
        "fyko+d2lbbFgONRv9qkxdawL",
        "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
        "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
        "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
    );
    /// RFC 7677, section 3.
    const SHA256: Example = Example(
        Mechanism::Sha256,
        "rOprNGfwEbeRWgbNEkqO",
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
    );

    /// The conversation of an example after the client's last message, and that message.
    fn proved(Example(mechanism, nonce, challenge, ..): &Example) -> (Conversation, Vec<u8>) {
        let mut conversation = Conversation::begin(*mechanism, "user", nonce);
        let challenge = conversation.challenge(challenge.as_bytes()).unwrap();
        let keys = Keys::derive(*mechanism, b"pencil", &challenge.salt, challenge.iterations);
        let proof = conversation.proof(&challenge, &keys);
        (conversation, proof)
    }

    #[test]
    fn the_examples_of_the_standards() {
        for example in [&SHA1, &SHA256] {
            let (conversation, proof) = proved(example);
            assert_eq!(conversation.first_message(), format!("n,,n=user,r={}", example.1).into_bytes());
            assert_eq!(String::from_utf8(proof).unwrap(), example.3);
            conversation.verify(example.4.as_bytes()).unwrap();
        }
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_not_believed() {
        let (conversation, _) = proved(&SHA256);
        let forged = format!("v={}", BASE64.encode([0; 32]));
        assert_eq!(conversation.verify(forged.as_bytes()), Err(ScramError::ForeignSignature));
        assert_eq!(conversation.verify(b"v=AAAA"), Err(ScramError::ForeignSignature));
        assert_eq!(conversation.verify(b"e=other-error"), Err(ScramError::Refused("other-error".to_owned())));
        for message in ["", "x=1", "v=%", "\u{0}"] {
            assert_eq!(conversation.verify(message.as_bytes()), Err(ScramError::Unreadable), "{message}");
        }
        let unproved = Conversation::begin(Mechanism::Sha256, "user", "nonce");
        assert_eq!(unproved.verify(SHA256.4.as_bytes()), Err(ScramError::Unreadable), "it comes too early");
    }

    #[test]
    fn a_challenge_is_checked() {
        let conversation = Conversation::begin(Mechanism::Sha256, "user", "nonce");
        let challenge =
            |text: &str| conversation.challenge(text.as_bytes()).map(|found| found.iterations.get());
        assert_eq!(challenge("r=nonceMORE,s=AAAA,i=4096"), Ok(4_096));
        assert_eq!(challenge("r=nonceMORE,s=AAAA,i=1000000,x=later"), Ok(1_000_000));
        assert_eq!(challenge("r=nonceMORE,s=AAAA,i=4095"), Err(ScramError::Iterations(4_095)));
        assert_eq!(
            challenge("r=nonceMORE,s=AAAA,i=99999999999"),
            Err(ScramError::Iterations(99_999_999_999))
        );
        assert_eq!(challenge("r=nonce,s=AAAA,i=4096"), Err(ScramError::ForeignNonce), "it adds nothing");
        assert_eq!(challenge("r=other,s=AAAA,i=4096"), Err(ScramError::ForeignNonce));
        for text in [
            "",
            "r=nonceMORE",
            "r=nonceMORE,s=?,i=4096",
            "r=nonceMORE,s=AAAA,i=-1",
            "s=AAAA,r=nonceMORE,i=4096",
        ] {
            assert_eq!(challenge(text), Err(ScramError::Unreadable), "{text}");
        }
        assert_eq!(conversation.challenge(&[0xff]), Err(ScramError::Unreadable));
    }

    #[test]
    fn names_are_escaped_and_not_prepared() {
        let conversation = Conversation::begin(Mechanism::Sha256, "a=b,c\u{2168}", "N");
        assert_eq!(conversation.first_message(), "n,,n=a=3Db=2Cc\u{2168},r=N".as_bytes());
    }

    #[test]
    fn passwords_are_prepared_as_the_mechanism_says() {
        // RFC 4013, section 3: a soft hyphen is dropped, the Roman numeral nine becomes letters.
        assert_eq!(*Mechanism::Sha256.secret("u", "I\u{ad}X").unwrap(), *b"IX");
        assert_eq!(*Mechanism::Sha256.secret("u", "\u{2168}").unwrap(), *b"IX");
        assert_eq!(Mechanism::Sha256.secret("u", "a\u{7}"), Err(ScramError::Password));
        // echo -n user:mongo:pencil | md5sum
        assert_eq!(*Mechanism::Sha1.secret("user", "pencil").unwrap(), *b"1c33006ec1ffd90f9cadcbcc0e118200");
    }
}
