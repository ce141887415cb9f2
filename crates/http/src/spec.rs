//! What a plan says of HTTP: where to, and the request of a step.

use serde::{Deserialize, Serialize};

/// Where requests go, and what a client keeps from one to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `host:port` that is connected to.
    pub address: String,
    /// What `Host` says: the host, and the port unless it is the scheme's own.
    pub authority: String,
    /// Whether over TLS.
    #[serde(default)]
    pub tls: bool,
    /// Whether a connection takes one request after another; else each has one of its own.
    #[serde(default = "yes")]
    pub keep_alive: bool,
    /// When a connection is made that is kept.
    #[serde(default)]
    pub connect: ConnectTime,
    /// How many redirects of one request are followed.
    #[serde(default)]
    pub follow_redirects: u32,
    /// Whether cookies are kept and sent back.
    #[serde(default = "yes")]
    pub cookies: bool,
}

/// When a connection is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectTime {
    /// Before the load begins.
    #[default]
    Before,
    /// With the first request that needs it, whose time it is part of.
    OnDemand,
}

/// The request of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestSpec {
    /// `GET`, `POST` …
    pub method: String,
    /// Path and query.
    pub target: Vec<Piece>,
    /// Headers of its own, in order. They stand in place of those that a client sends by itself.
    #[serde(default)]
    pub headers: Vec<HeaderSpec>,
    /// What is sent after the headers.
    #[serde(default)]
    pub body: Option<Vec<Piece>>,
    /// Ranges of status, both ends included, that are no failure.
    #[serde(default = "accepted_status")]
    pub status: Vec<[u16; 2]>,
}

/// A header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderSpec {
    /// Its name.
    pub name: String,
    /// What it says.
    pub value: Vec<Piece>,
}

/// A piece of a target, a header or a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Piece {
    /// The same in every request.
    Text {
        /// As it is sent.
        text: String,
    },
    /// One of the step's values.
    Slot {
        /// Which, from 0.
        slot: u32,
        /// How it is written.
        #[serde(rename = "as")]
        encoding: Encoding,
    },
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// As text.
    Text,
    /// Percent-encoded, as a part of a path or of a query (RFC 3986).
    Url,
    /// As JSON.
    Json,
    /// As a value of a form (`application/x-www-form-urlencoded`).
    Form,
    /// As the value of a cookie (RFC 6265), what can't stand there percent-encoded.
    Cookie,
}

fn yes() -> bool {
    true
}

fn accepted_status() -> Vec<[u16; 2]> {
    vec![[200, 399]]
}
