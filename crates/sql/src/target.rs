//! Owns what all connections to a server share: where it is, what opens it, its statements, and what became of the first login.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brimline_net::address;
use brimline_net::link::{Lost, LostKind};
use brimline_net::protocol::Secrets;
use brimline_net::tls::Session;
use brimline_wire::scram::{Challenge, Keys, Mechanism};

use crate::settings::Settings;
use crate::statement::Requests;

/// A server as its connections know it.
pub struct Target {
    /// Where it is, and what connections do first.
    pub settings: Settings,
    /// What opens it.
    pub secrets: Secrets,
    /// Statements of the plan.
    pub requests: Requests,
    address: SocketAddr,
    /// In the server's words, when it has refused.
    refused: Mutex<Option<String>>,
    /// What the server has said of itself.
    server: Mutex<Option<String>>,
    keys: Mutex<Option<(Challenge, Keys)>>,
}

impl Target {
    /// The server at the settings' address.
    ///
    /// # Errors
    /// When the address names no host, or connections are to be secured and `secrets` don't say how.
    pub fn new(settings: Settings, secrets: Secrets, requests: Requests) -> Result<Arc<Self>, String> {
        let address = address::resolve(settings.address.as_str())?;
        if settings.tls && secrets.tls.is_none() {
            return Err("connections are to be secured, and how is not said".to_owned());
        }
        Ok(Arc::new(Self {
            settings,
            secrets,
            requests,
            address,
            refused: Mutex::default(),
            server: Mutex::default(),
            keys: Mutex::default(),
        }))
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What the server has said of itself, such as `10.11.6-MariaDB` or `15.4`; `None` before the first connection.
    pub fn server(&self) -> Option<String> {
        lock(&self.server).clone()
    }

    /// The server says what it is.
    pub fn announced(&self, server: &str) {
        let mut known = lock(&self.server);
        if known.as_deref() != Some(server) {
            *known = Some(server.to_owned());
        }
    }

    /// Whether connections may be made.
    ///
    /// # Errors
    /// When the server has refused one for good, in its words: it is not asked again, because it may lock the account.
    pub fn may_connect(&self) -> io::Result<()> {
        match &*lock(&self.refused) {
            None => Ok(()),
            Some(words) => Err(io::Error::new(io::ErrorKind::PermissionDenied, words.clone())),
        }
    }

    /// Remembers what a server refuses for good.
    pub fn note(&self, lost: Lost) -> Lost {
        if lost.kind == LostKind::Refused {
            lock(&self.refused).get_or_insert_with(|| lost.message.clone());
        }
        lost
    }

    /// TLS for one connection.
    ///
    /// # Errors
    /// When the host can't stand in a certificate.
    pub fn session(&self) -> Result<Session, Lost> {
        let tls = self.secrets.tls.as_ref().ok_or_else(|| Lost::refused("how to secure it is not said"))?;
        tls.session(self.settings.host()).map_err(|error| Lost::refused(error.to_string()))
    }

    /// The keys of the password for `challenge`, derived when the last ones were for another.
    pub fn keys(&self, challenge: &Challenge) -> Keys {
        // Held while deriving: other threads wait for the result instead of doing the same work.
        let mut kept = lock(&self.keys);
        if let Some((of, keys)) = kept.as_ref()
            && of.salt == challenge.salt
            && of.iterations == challenge.iterations
        {
            return keys.clone();
        }
        let password = self.secrets.password.as_ref().map_or("", |password| password.as_str());
        let prepared = Mechanism::Sha256.secret("", password);
        // A password that SASLprep forbids is used as it is (PostgreSQL documentation, SASL authentication).
        let secret = prepared.as_ref().map_or(password.as_bytes(), |secret| secret.as_slice());
        let keys = Keys::derive(Mechanism::Sha256, secret, &challenge.salt, challenge.iterations);
        *kept = Some((challenge.clone(), keys.clone()));
        keys
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Target").field("address", &self.address).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_login_is_not_sent_again() {
        let settings: Settings = serde_json::from_str(r#"{"address": "127.0.0.1:1"}"#).unwrap();
        let target = Target::new(settings, Secrets::default(), Requests::default()).unwrap();
        target.note(Lost::bad("garbage"));
        target.may_connect().unwrap();
        assert_eq!(target.note(Lost::refused("no")).message, "no");
        assert_eq!(target.may_connect().unwrap_err().to_string(), "no");
        target.announced("15.4");
        assert_eq!(target.server().as_deref(), Some("15.4"));
    }

    #[test]
    fn tls_needs_to_be_said_how() {
        let settings: Settings = serde_json::from_str(r#"{"address": "127.0.0.1:1", "tls": true}"#).unwrap();
        assert!(Target::new(settings, Secrets::default(), Requests::default()).is_err());
    }
}
