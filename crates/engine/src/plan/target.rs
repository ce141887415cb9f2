//! What operations are sent to, as a plan says it.

use std::collections::BTreeMap;
use std::fmt::Display;

use brimline_testserver::Script;
use serde::de::value::MapDeserializer;
use serde::de::{self, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use thiserror::Error;

/// What the operations are sent to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TargetPlan {
    /// A server that speaks MongoDB's protocol.
    Wire {
        /// `host:port`, an IPv6 host in brackets.
        address: String,
        /// Further routers of the same cluster: connections are shared out evenly over all of them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        routers: Vec<String>,
        /// Further servers among which the generator itself shares out the records: record *i* is at server *i* modulo their
        /// number, `address` being the first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shards: Vec<String>,
        /// Where reads go and what they say about it; `None`: where writes go, and nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reads: Option<Reads>,
        /// Level of the read concern of every read; `None` leaves it to the server's default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        read_concern: Option<String>,
        /// Write concern sent with every write; `None` leaves it to the server's default.
        write_concern: Option<WriteConcern>,
        /// The set whose primary takes the writes, whoever that is; `None`: the server at `address`, whatever becomes of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replica_set: Option<ReplicaSet>,
        /// Whether a read is sent once more after an error that allows it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        retry_reads: bool,
        /// Whether a write is sent once more after an error that allows it; the server must have sessions.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        retry_writes: bool,
        /// Whether every command carries the session of its connection, as those of official drivers do where the server has
        /// sessions.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        sessions: bool,
    },
    /// The same by a driver in a process of its own.
    Runner(RunnerSettings),
    /// Answers at once: the generator's own ceiling.
    Null {
        /// Whether waits end as those of a generator do that shares its machine with the server.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        beside_server: bool,
    },
    /// The scripted server on a virtual clock: exact, and as fast as the machine.
    Simulated {
        /// Its service times, capacity, stalls and faults.
        script: Script,
        /// Time the generator itself takes per operation on the virtual clock.
        generator_ns: u64,
        /// When the generator itself does not run, in the order of time.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        standstills: Vec<PlannedStandstill>,
    },
    /// A server that speaks another protocol than MongoDB's.
    #[serde(skip)]
    Linked(LinkTarget),
}

/// A server that speaks another protocol, as the protocol's crate describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkTarget {
    /// What plans call such targets.
    pub kind: String,
    /// The runner whose driver is used; `None`: brimline's own client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Most connections of that driver's pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pool_size: Option<u32>,
    /// All else that the plan says of it.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}

/// The variants of an enum, as it says them of one that it doesn't know.
#[derive(Debug, Error)]
#[error("one of {0:?}")]
struct Known(&'static [&'static str]);

impl de::Error for Known {
    fn custom<T: Display>(_: T) -> Self {
        Self(&[])
    }

    fn unknown_variant(_: &str, known: &'static [&'static str]) -> Self {
        Self(known)
    }
}

/// Kinds of targets of the engine's own; any other is a protocol's.
fn own_kinds() -> &'static [&'static str] {
    match TargetPlan::deserialize(MapDeserializer::new([("kind", "")].into_iter())) {
        Err(Known(kinds)) => kinds,
        Ok(_) => unreachable!("no kind is called nothing"),
    }
}

impl<'de> Deserialize<'de> for TargetPlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let target = Value::deserialize(deserializer)?;
        let is_own = target["kind"].as_str().is_none_or(|kind| own_kinds().contains(&kind));
        let target = if is_own {
            Self::deserialize(target)
        } else {
            LinkTarget::deserialize(target).map(Self::Linked)
        };
        target.map_err(D::Error::custom)
    }
}

impl Serialize for TargetPlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Linked(target) => target.serialize(serializer),
            target => Self::serialize(target, serializer),
        }
    }
}

/// A server by way of a driver in a process of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerSettings {
    /// Which runner.
    pub client: String,
    /// `host:port` of each server that the driver is told.
    pub addresses: Vec<String>,
    /// The set that they belong to; `None`: one server is connected to directly, several are routers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica_set: Option<String>,
    /// Level of the read concern of every read; `None` leaves it to the server's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_concern: Option<String>,
    /// Write concern sent with every write; `None` leaves it to the server's default.
    pub write_concern: Option<WriteConcern>,
    /// Whether the driver sends a read once more after an error that allows it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retry_reads: bool,
    /// Whether the driver sends a write once more after an error that allows it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retry_writes: bool,
    /// Most connections of the driver's pool to each server.
    pub max_pool_size: u32,
    /// Further options of the driver, as a connection string has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}

/// A time in which a simulated generator does not run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedStandstill {
    /// When it begins.
    pub at_ns: u64,
    /// How long it lasts.
    pub length_ns: u64,
}

impl TargetPlan {
    /// The runner whose driver is used, in a process of its own.
    pub fn client(&self) -> Option<&str> {
        match self {
            Self::Runner(RunnerSettings { client, .. })
            | Self::Linked(LinkTarget { client: Some(client), .. }) => Some(client),
            _ => None,
        }
    }

    /// Whether operations go through a driver in a process of its own.
    pub fn is_runner(&self) -> bool {
        self.client().is_some()
    }

    /// Whether it speaks another protocol than MongoDB's.
    pub fn is_linked(&self) -> bool {
        matches!(self, Self::Linked(_))
    }

    /// One server, nothing asked of it.
    pub fn wire(address: impl Display) -> Self {
        Self::Wire {
            address: address.to_string(),
            routers: Vec::new(),
            shards: Vec::new(),
            reads: None,
            read_concern: None,
            write_concern: None,
            replica_set: None,
            retry_reads: false,
            retry_writes: false,
            sessions: false,
        }
    }
}

/// A replica set whose primary is followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplicaSet {
    /// Its name.
    pub name: String,
    /// `host:port` of the members known when the run begins.
    pub members: Vec<String>,
    /// How long an operation waits for a server that takes it (`serverSelectionTimeoutMS`).
    pub selection_timeout_ns: u64,
}

/// Where reads go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reads {
    /// `host:port` of each server; connections are spread over them. Empty: where writes go.
    pub addresses: Vec<String>,
    /// The mode of `$readPreference`.
    pub mode: String,
    /// Its tag sets, the first that fits counts.
    pub tag_sets: Vec<BTreeMap<String, String>>,
    /// How old the data of a member may be.
    pub max_staleness_s: Option<u32>,
}

/// Write concern of every write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteConcern {
    /// Number of members or `"majority"`.
    pub w: Acknowledgement,
    /// Whether the journal must hold the write; `None` leaves it to the server.
    pub journal: Option<bool>,
    /// How long the server waits for it; `None`: without an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u32>,
}

/// The `w` of a write concern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Acknowledgement {
    /// That many members.
    Members(u32),
    /// A tag, such as `majority`.
    Tag(String),
}
