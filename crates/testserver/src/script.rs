//! The script: everything that is known about the server in advance. A test states its truth here.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Longest time that a script may name: an hour. Longer ones are slips of the unit.
pub const TIME_NS_MAX: u64 = 3_600_000_000_000;
/// Most requests that can be in service at once.
pub const SERVER_COUNT_MAX: u32 = 100_000;
/// Most that work may grow in an hour: hundredfold.
pub const SERVICE_GROWTH_PER_HOUR_MAX: f64 = 100.0;
/// Shortest period of a repeated stall. Each repetition costs the model a step.
pub const STALL_PERIOD_NS_MIN: u64 = 100_000;
/// Smallest document of [`Data::Synthetic`]: room for an `_id` and a field.
pub const DOCUMENT_BYTES_MIN: u32 = 64;
/// Largest document of [`Data::Synthetic`]; what fits beside the rest of a reply.
pub const DOCUMENT_BYTES_MAX: u32 = 16_000_000;

/// Smallest body of [`HttpReplies`]: room for what it says, whatever the request's number.
pub const HTTP_BODY_BYTES_MIN: u32 = 64;

/// What the server does. The default is the null case: it answers at once, without faults, from its own store.
///
/// The script applies to *data commands* (find, getMore, insert, update, delete), of HTTP to every request, of
/// MySQL to statements that read rows or change them; every other command is answered at once. Requests are numbered from 0 in the order of their arrival.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Seed of service times and faults.
    pub seed: u64,
    /// Work that a request needs.
    pub service: ServiceTime,
    /// Share by which that work grows in each hour since request 0, as of a server that leaks: 0.01 is 1 %.
    #[serde(skip_serializing_if = "is_level")]
    pub service_growth_per_hour: f64,
    /// Requests in service at once, first come first served; `None`: no queue, each request has its own server.
    pub servers: Option<u32>,
    /// A gate in front of the servers that needs 1/c s for a request, one after the other.
    pub capacity_ops_per_s: Option<f64>,
    /// Times of no work or slow work. Where they overlap the slowest holds.
    pub stalls: Vec<Stall>,
    /// Replies that go wrong; the first that selects a request decides.
    pub faults: Vec<Fault>,
    /// What the collections hold.
    pub data: Data,
    /// `database.collection` that the script applies to; data commands on others are answered at once. `None`: all.
    pub namespace: Option<String>,
    /// What a server of HTTP replies.
    #[serde(skip_serializing_if = "HttpReplies::is_usual")]
    pub http: HttpReplies,
}

/// What a server of HTTP replies to each request, whatever its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpReplies {
    /// Status.
    pub status: u16,
    /// Size of the body, filled up to that; `None`: as long as what it says, `{"ok":true,"request":0}`.
    pub body_bytes: Option<u32>,
    /// Whether the body comes in chunks.
    pub chunked: bool,
}

impl Default for HttpReplies {
    fn default() -> Self {
        Self { status: 200, body_bytes: None, chunked: false }
    }
}

/// Law of the work that a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ServiceTime {
    /// Always the same.
    Fixed {
        /// Service time.
        ns: u64,
    },
    /// Exponential: with one server and Poisson arrivals the M/M/1 queue.
    Exponential {
        /// Mean service time.
        mean_ns: u64,
    },
    /// Log-normal, given by its own mean rather than by that of its logarithm.
    Lognormal {
        /// Mean service time.
        mean_ns: u64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

impl Default for ServiceTime {
    fn default() -> Self {
        Self::Fixed { ns: 0 }
    }
}

/// A time in which the whole server, gate and servers alike, stands still or works slowly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// When it begins, counted from the arrival of request 0.
    pub at_ns: u64,
    /// How long it lasts.
    pub length_ns: u64,
    /// From one beginning to the next; `None`: it happens once.
    #[serde(default)]
    pub every_ns: Option<u64>,
    /// Work takes that many times as long; `None`: no work at all.
    #[serde(default)]
    pub slowdown: Option<f64>,
}

/// A reply that goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Which requests.
    pub when: When,
    /// How.
    pub kind: FaultKind,
}

/// Which requests a fault selects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Each with this probability, independently.
    Share(f64),
    /// The first so many.
    FirstN(u64),
    /// The one with this number, counted from 0.
    AtRequest(u64),
}

/// How a reply goes wrong. The command isn't executed, except where it says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FaultKind {
    /// The command fails as a whole (`ok: 0`) and does nothing.
    Error {
        /// Error code.
        code: i32,
        /// `codeName`.
        name: String,
        /// The single entry of `errorLabels`, if any.
        #[serde(default)]
        label: Option<String>,
    },
    /// The first statements of a write fail; an ordered command stops at the first, an unordered one executes the others.
    /// No effect on reads.
    WriteError {
        /// Error code.
        code: i32,
        /// How many statements fail.
        #[serde(default = "one_statement")]
        statements: u32,
    },
    /// A write is executed and its write concern is not satisfied. No effect on reads.
    WriteConcernError {
        /// Error code.
        code: i32,
        /// `codeName`.
        name: String,
    },
    /// The command is executed and matches nothing: find returns no document, update and delete have `n: 0`. No effect
    /// on inserts.
    NoDocument,
    /// The connection is closed instead of a reply.
    Close,
    /// There is never a reply; the connection stays open.
    Silence,
    /// A frame of the right length whose body is no BSON.
    Garbage,
    /// A header that declares more bytes than a message may have.
    WrongLength,
}

/// What the collections hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Data {
    /// What was inserted, in memory.
    #[default]
    Stored,
    /// Every key exists and nothing is kept, so that no data need be loaded: find returns as many copies of one document
    /// as its limit asks for (one without a limit), each update and delete matches one document. Only in
    /// [`Script::namespace`] if that is given.
    Synthetic {
        /// Size of a document, encoded; 64 bytes at least.
        document_bytes: u32,
    },
}

/// What is wrong with a script, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {message}")]
pub struct ScriptError {
    /// Dotted path into the script.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// Fails with `message` at `path` unless `holds`.
fn one_statement() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_level(growth_per_hour: &f64) -> bool {
    *growth_per_hour == 0.0
}

fn require(holds: bool, path: impl Into<String>, message: impl Into<String>) -> Result<(), ScriptError> {
    if holds { Ok(()) } else { Err(ScriptError { path: path.into(), message: message.into() }) }
}

impl Script {
    /// Reads a script from JSON and validates it.
    ///
    /// # Errors
    /// When the text is no JSON, has an unknown key or a value out of its bounds.
    pub fn from_json(text: &str) -> Result<Self, ScriptError> {
        let script: Self = serde_json::from_str(text)
            .map_err(|error| ScriptError { path: "script".to_owned(), message: error.to_string() })?;
        script.validate()?;
        Ok(script)
    }

    /// Checks every value against its bounds.
    ///
    /// # Errors
    /// The first value that is out of bounds.
    pub fn validate(&self) -> Result<(), ScriptError> {
        self.service.validate()?;
        require(
            (0.0..=SERVICE_GROWTH_PER_HOUR_MAX).contains(&self.service_growth_per_hour),
            "service_growth_per_hour",
            format!("must be 0 to {SERVICE_GROWTH_PER_HOUR_MAX}"),
        )?;
        self.http.validate()?;
        if let Some(servers) = self.servers {
            require(
                (1..=SERVER_COUNT_MAX).contains(&servers),
                "servers",
                format!("must be 1 to {SERVER_COUNT_MAX}"),
            )?;
        }
        if let Some(capacity) = self.capacity_ops_per_s {
            require(
                (1e-3..=1e9).contains(&capacity),
                "capacity_ops_per_s",
                "must be 0.001 to 1 000 000 000 operations per second",
            )?;
        }
        self.validate_stalls()?;
        for (index, fault) in self.faults.iter().enumerate() {
            fault.validate(&format!("faults.{index}"))?;
        }
        if let Data::Synthetic { document_bytes } = self.data {
            require(
                (DOCUMENT_BYTES_MIN..=DOCUMENT_BYTES_MAX).contains(&document_bytes),
                "data.document_bytes",
                format!("must be {DOCUMENT_BYTES_MIN} to {DOCUMENT_BYTES_MAX}"),
            )?;
        }
        if let Some(namespace) = &self.namespace {
            let is_complete =
                namespace.split_once('.').is_some_and(|(db, name)| !db.is_empty() && !name.is_empty());
            require(is_complete, "namespace", "must be database.collection")?;
        }
        Ok(())
    }

    fn validate_stalls(&self) -> Result<(), ScriptError> {
        for (index, stall) in self.stalls.iter().enumerate() {
            stall.validate(&format!("stalls.{index}"))?;
        }
        // Below 1 the server works some of the time however the stalls fall, so that every request is done some day.
        let stalled: f64 = self.stalls.iter().map(Stall::standing_still).sum();
        require(stalled < 1.0, "stalls", "leave no time in which the server works")
    }
}

impl HttpReplies {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    fn validate(self) -> Result<(), ScriptError> {
        require((200..=599).contains(&self.status), "http.status", "must be 200 to 599")?;
        require(
            self.body_bytes.is_none_or(|bytes| (HTTP_BODY_BYTES_MIN..=DOCUMENT_BYTES_MAX).contains(&bytes)),
            "http.body_bytes",
            format!("must be {HTTP_BODY_BYTES_MIN} to {DOCUMENT_BYTES_MAX}"),
        )
    }
}

impl ServiceTime {
    fn validate(&self) -> Result<(), ScriptError> {
        let (name, ns) = match *self {
            Self::Fixed { ns } => ("service.ns", ns),
            Self::Exponential { mean_ns } | Self::Lognormal { mean_ns, .. } => ("service.mean_ns", mean_ns),
        };
        require(ns <= TIME_NS_MAX, name, "must be at most an hour")?;
        if let Self::Lognormal { sigma, .. } = *self {
            require((0.0..=5.0).contains(&sigma), "service.sigma", "must be 0 to 5")?;
        }
        Ok(())
    }
}

impl Stall {
    fn validate(&self, path: &str) -> Result<(), ScriptError> {
        require(self.at_ns <= TIME_NS_MAX, format!("{path}.at_ns"), "must be at most an hour")?;
        require(
            (1..=TIME_NS_MAX).contains(&self.length_ns),
            format!("{path}.length_ns"),
            "must be 1 ns to an hour",
        )?;
        if let Some(every_ns) = self.every_ns {
            require(
                (STALL_PERIOD_NS_MIN..=TIME_NS_MAX).contains(&every_ns),
                format!("{path}.every_ns"),
                format!("must be {STALL_PERIOD_NS_MIN} ns to an hour"),
            )?;
            require(self.length_ns < every_ns, format!("{path}.every_ns"), "must be longer than length_ns")?;
        }
        if let Some(slowdown) = self.slowdown {
            require((1.0..=1e6).contains(&slowdown), format!("{path}.slowdown"), "must be 1 to 1 000 000")?;
        }
        Ok(())
    }

    /// Share of time without work in the long run.
    fn standing_still(&self) -> f64 {
        match (self.every_ns, self.slowdown) {
            (Some(every_ns), None) => self.length_ns as f64 / every_ns as f64,
            _ => 0.0,
        }
    }
}

impl Fault {
    fn validate(&self, path: &str) -> Result<(), ScriptError> {
        if let When::Share(share) = self.when {
            require((0.0..=1.0).contains(&share), format!("{path}.when.share"), "must be 0 to 1")?;
        }
        Ok(())
    }
}
