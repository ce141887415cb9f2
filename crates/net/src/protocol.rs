//! What a protocol is to a plan: how the plan speaks of a server and of the requests of its steps, and what opens the server. With
//! [`link`](crate::link) it is all that a protocol has to fill.

use std::fmt;

use serde::de::DeserializeOwned;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::link::Connector;
use crate::tls::Tls;

/// A protocol, by the connectors that are made from what a plan says.
pub trait Protocol: Connector + Sized + 'static {
    /// What a plan says of the server, but for the kind of target.
    type Settings: DeserializeOwned + Send + 'static;
    /// What a plan says of the request of a step, likewise.
    type Request: DeserializeOwned;
    /// The requests of all steps, compiled once.
    type Requests: Send + 'static;

    /// Compiles the requests of all steps of a plan, in order.
    ///
    /// # Errors
    /// The first that can't be sent.
    fn compile(steps: &[Step<Self::Request>]) -> Result<Self::Requests, StepError>;

    /// Whether the settings say how documents of a load are sent.
    fn takes_loads(_settings: &Self::Settings) -> bool {
        false
    }

    /// The server at the settings' address.
    ///
    /// # Errors
    /// When the address names no host, or the settings can't be met.
    fn new(settings: Self::Settings, secrets: Secrets, requests: Self::Requests) -> Result<Self, String>;
}

/// A step whose request is to be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step<R> {
    /// What messages call it, such as `latest` or `place, insert orders`.
    pub name: String,
    /// Its request, as plans have it.
    pub request: R,
    /// How many values it brings.
    pub slots: usize,
}

/// What is wrong with the request of a step.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("step {step}: {message}")]
pub struct StepError {
    /// The step's number among all.
    pub step: usize,
    /// What is wrong.
    pub message: String,
}

/// What opens a server, and is written nowhere. Names, passwords and headers are wiped when they are dropped.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Name of the user.
    pub username: Zeroizing<String>,
    /// Password; `None`: none is given.
    pub password: Option<Zeroizing<String>>,
    /// Headers of every request, such as an authorization: names and values.
    pub headers: Vec<(String, Zeroizing<String>)>,
    /// How connections are secured, where the settings want that.
    pub tls: Option<Tls>,
}

impl fmt::Debug for Secrets {
    /// Says how a server is opened, never by what.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Secrets")
            .field("password", &self.password.is_some())
            .field("headers", &self.headers.len())
            .field("tls", &self.tls.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_secret_is_printed() {
        let secret = || Zeroizing::new("hunter2".to_owned());
        let headers = vec![("authorization".to_owned(), secret())];
        let secrets = Secrets { username: secret(), password: Some(secret()), headers, tls: None };
        assert_eq!(format!("{secrets:?}"), "Secrets { password: true, headers: 1, tls: false, .. }");
    }
}
