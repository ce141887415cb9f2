//! Owns what opens a server: who the client is, how connections are secured and what their messages are compressed with, and what became of the first try. One value is
//! shared by every connection of a process, so that the keys of a password are derived once and a wrong password is sent once.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use crate::compression::Offer;
use crate::scram::{Challenge, Conversation, Keys, Mechanism, ScramError};
use brimline_net::tls::Tls;

/// Bytes of randomness in a nonce.
const NONCE_BYTES: usize = 24;

/// Who the client is.
pub enum Login {
    /// A user with a password. Both are wiped when they are dropped.
    Password {
        /// Name of the user.
        username: Zeroizing<String>,
        /// Password.
        password: Zeroizing<String>,
        /// Database that knows the user.
        source: String,
        /// `None`: the best that the server has for this user.
        mechanism: Option<Mechanism>,
    },
    /// The owner of the client's certificate (MONGODB-X509).
    Certificate {
        /// Name of the user, when it is to be said; servers take it from the certificate.
        username: Option<String>,
    },
}

/// What opens a server.
#[derive(Default)]
pub struct Access {
    login: Option<Login>,
    tls: Option<Tls>,
    compression: Offer,
    /// Of HTTP: headers of every request, such as an authorization.
    headers: Vec<(String, Zeroizing<String>)>,
    standing: Mutex<Standing>,
    /// The keys that were derived last, with what they were derived from.
    keys: Mutex<Option<(Mechanism, Challenge, Keys)>>,
}

/// What is known of a login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Nothing yet.
    #[default]
    Untried,
    /// The server has let the client in.
    Accepted,
    /// The server has refused; in its words.
    Refused(String),
}

impl Access {
    /// Access by `login` over `tls`, each if there is one.
    pub fn new(login: Option<Login>, tls: Option<Tls>) -> Arc<Self> {
        Self::compressing(login, tls, Offer::default())
    }

    /// The same with messages that are compressed by the first compressor of `compression` which the server takes.
    pub fn compressing(login: Option<Login>, tls: Option<Tls>, compression: Offer) -> Arc<Self> {
        Arc::new(Self { login, tls, compression, ..Self::default() })
    }

    /// Access over `tls` with headers of every request, for a service that speaks HTTP.
    pub fn by_headers(headers: Vec<(String, Zeroizing<String>)>, tls: Option<Tls>) -> Arc<Self> {
        Arc::new(Self { tls, headers, ..Self::default() })
    }

    /// Headers of every request, names and values.
    pub fn headers(&self) -> &[(String, Zeroizing<String>)] {
        &self.headers
    }

    /// Who the client is.
    pub fn login(&self) -> Option<&Login> {
        self.login.as_ref()
    }

    /// How connections are secured.
    pub fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    /// What messages may be compressed with.
    pub fn compression(&self) -> &Offer {
        &self.compression
    }

    /// Access over the same TLS without a login: enough to ask a server what it is.
    pub fn without_login(&self) -> Arc<Self> {
        Self::new(None, self.tls.clone())
    }

    /// What became of the login so far.
    pub fn standing(&self) -> Standing {
        lock(&self.standing).clone()
    }

    /// Whether one connection should be tried alone before others are opened, because a server may lock an account after a
    /// few wrong passwords.
    pub fn needs_proof(&self) -> bool {
        self.login.is_some() && self.standing() == Standing::Untried
    }

    pub(crate) fn accepted(&self) {
        *lock(&self.standing) = Standing::Accepted;
    }

    pub(crate) fn refused(&self, reason: String) {
        *lock(&self.standing) = Standing::Refused(reason);
    }

    /// The keys for `challenge`, derived when the last ones were for another.
    pub(crate) fn keys(&self, mechanism: Mechanism, challenge: &Challenge) -> Result<Keys, ScramError> {
        // Held while deriving: other threads wait for the result instead of doing the same work.
        let mut kept = lock(&self.keys);
        if let Some((of, made_for, keys)) = kept.as_ref()
            && *of == mechanism
            && made_for.salt == challenge.salt
            && made_for.iterations == challenge.iterations
        {
            return Ok(keys.clone());
        }
        let Some(Login::Password { username, password, .. }) = &self.login else {
            return Err(ScramError::Unreadable);
        };
        let secret = mechanism.secret(username, password)?;
        let keys = Keys::derive(mechanism, &secret, &challenge.salt, challenge.iterations);
        *kept = Some((mechanism, challenge.clone(), keys.clone()));
        Ok(keys)
    }
}

/// Begins a SCRAM conversation with a nonce of the system's randomness.
pub(crate) fn begin(mechanism: Mechanism, username: &str) -> std::io::Result<Conversation> {
    let mut bytes = [0; NONCE_BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| std::io::Error::other("the system has no randomness"))?;
    Ok(Conversation::begin(mechanism, username, &BASE64.encode(bytes)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Access {
    /// Says how a server is opened, never by what.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let login = match &self.login {
            None => "none",
            Some(Login::Password { .. }) => "password",
            Some(Login::Certificate { .. }) => "certificate",
        };
        formatter
            .debug_struct("Access")
            .field("login", &login)
            .field("tls", &self.tls.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    fn access() -> Arc<Access> {
        let login = Login::Password {
            username: "user".to_owned().into(),
            password: "hunter2".to_owned().into(),
            source: "admin".to_owned(),
            mechanism: None,
        };
        Access::new(Some(login), None)
    }

    #[test]
    fn keys_are_derived_once_for_a_salt() {
        let access = access();
        let conversation = Conversation::begin(Mechanism::Sha256, "user", "n");
        let challenge = |text: &str| conversation.challenge(text.as_bytes()).unwrap();
        let (first, again) = (challenge("r=n1,s=AAAA,i=1000000"), challenge("r=n2,s=AAAA,i=1000000"));
        let derived = access.keys(Mechanism::Sha256, &first).unwrap();
        // A thousand derivations would take minutes.
        for _ in 0..1_000 {
            access.keys(Mechanism::Sha256, &again).unwrap();
        }
        let of = |challenge: &Challenge, keys: &Keys| {
            Conversation::begin(Mechanism::Sha256, "user", "n").proof(challenge, keys)
        };
        assert_eq!(of(&first, &derived), of(&first, &access.keys(Mechanism::Sha256, &again).unwrap()));
        let other = challenge("r=n1,s=BBBB,i=4096");
        let fresh = Keys::derive(Mechanism::Sha256, b"hunter2", &other.salt, NonZeroU32::new(4_096).unwrap());
        assert_eq!(of(&other, &access.keys(Mechanism::Sha256, &other).unwrap()), of(&other, &fresh));
    }

    #[test]
    fn nonces_differ() {
        let first = || begin(Mechanism::Sha256, "user").unwrap().first_message();
        assert_ne!(first(), first());
    }

    #[test]
    fn nothing_of_a_login_is_printed() {
        let text = format!("{:?}", access());
        assert_eq!(text, "Access { login: \"password\", tls: false, .. }");
    }

    #[test]
    fn only_a_login_that_was_not_tried_needs_proof() {
        let access = access();
        assert!(access.needs_proof());
        access.accepted();
        assert!(!access.needs_proof());
        access.refused("no".to_owned());
        assert_eq!(access.standing(), Standing::Refused("no".to_owned()));
        assert!(!Access::default().needs_proof());
    }
}
