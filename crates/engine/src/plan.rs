//! The plan: everything a run does, with every default filled in. Python writes it as JSON, the engine reads it; unknown
//! keys are errors on both sides. Rates are in operations per second, times in nanoseconds.

use std::collections::BTreeMap;

use brimline_datagen::{ChooserSpec, DocumentSpec, LengthSpec};
use brimline_testserver::Script;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::operation::Statements;
use crate::own::plan::{OwnLoad, OwnWork};

/// Version of the plan's format that this engine reads.
pub const PLAN_VERSION: u32 = 1;
/// Upper bound of connections in one run; far above what one machine's generator can keep busy.
pub const CONNECTION_COUNT_MAX: u32 = 50_000;
/// Upper bound of engine threads in one run.
pub const THREAD_COUNT_MAX: u32 = 256;
/// Upper bound of nodes that perform one plan.
pub const NODE_COUNT_MAX: u32 = 10_000;
/// Upper bound of attempts after the first.
pub const ATTEMPT_COUNT_MAX: u32 = 1_000_000;
/// Upper bound of an offered rate. Due times are whole nanoseconds, so a higher rate has no meaning.
pub const RATE_OPS_PER_S_MAX: f64 = 1e9;

/// A complete, seeded description of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Always [`PLAN_VERSION`].
    pub version: u32,
    /// Name that people gave the workload.
    pub name: String,
    /// Operation *i* is a function of (seed, *i*).
    pub seed: u64,
    /// What the operations are sent to.
    pub target: TargetPlan,
    /// Database and collection.
    pub namespace: Namespace,
    /// Keys and documents.
    pub data: DocumentSpec,
    /// What is done: a mix of operations, or loading.
    pub work: Work,
    /// When operations are due.
    pub pacer: PacerPlan,
    /// Connections, shared out evenly over the threads.
    pub connections: u32,
    /// Most operations in flight at once, shared out evenly over the threads; `None`: one on each connection. In a closed loop it may
    /// be more than there are connections: so many workers share them, and wait for a free one.
    #[serde(default)]
    pub in_flight_max: Option<u32>,
    /// Engine threads; at most one per connection is used.
    pub threads: u32,
    /// Warm-up before the measured window.
    pub warmup_ns: u64,
    /// Length of the measured window; `None`: until `operation_count` is done.
    pub duration_ns: Option<u64>,
    /// Operations to send in all, warm-up included; `None`: until `duration_ns` is over.
    pub operation_count: Option<u64>,
    /// Length of a sample interval.
    pub interval_ns: u64,
    /// How long operations in flight may take after the last was sent.
    pub drain_timeout_ns: u64,
    /// After how long without a reply an operation counts as timed out and its connection is replaced.
    pub operation_timeout_ns: u64,
    /// How long connecting may take, and how long a target may stay unreachable before the run ends.
    pub connect_timeout_ns: u64,
    /// Whether every finished operation is logged, beside the histograms.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operation_log: bool,
    /// Which part of it this engine performs, where several share it; `None`: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
}

/// The part of one node of several that perform the same plan. Connections, workers and operations are shared out among the
/// threads of all of them, each node having as many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Its number, from 0.
    pub node: u32,
    /// How many there are.
    pub nodes: u32,
}

/// What the operations are sent to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
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
    /// The same by the official driver, one server, directly: in builds with the feature `driver`.
    Driver {
        /// `host:port`, an IPv6 host in brackets.
        address: String,
        /// Level of the read concern of every read; `None` leaves it to the server's default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        read_concern: Option<String>,
        /// Write concern sent with every write; `None` leaves it to the server's default.
        write_concern: Option<WriteConcern>,
    },
    /// The same by a driver in a process of its own.
    Runner(RunnerSettings),
    /// A service that speaks HTTP/1.1.
    Http(brimline_http::Settings),
    /// MySQL or MariaDB.
    Mysql(brimline_sql::settings::Settings),
    /// `PostgreSQL`.
    Postgres(brimline_sql::settings::Settings),
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
    /// Whether operations go through a driver in a process of its own.
    pub fn is_runner(&self) -> bool {
        matches!(self, Self::Runner(_))
    }

    /// Whether it speaks another protocol than MongoDB's.
    pub fn is_linked(&self) -> bool {
        matches!(self, Self::Http(_) | Self::Mysql(_) | Self::Postgres(_))
    }

    /// One server, nothing asked of it.
    pub fn wire(address: impl std::fmt::Display) -> Self {
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

impl Plan {
    /// How many places each worker of a runner has: two where each reply calls for the next operation and nothing else does, so
    /// that this is there when the worker is done; one where an operation is several commands, and of any other target.
    pub fn places_per_worker(&self) -> usize {
        let is_back_to_back = matches!(self.pacer, PacerPlan::Closed { think_time: None, .. });
        let is_one_command = match &self.work {
            Work::Mix { proportions, .. } => proportions.read_modify_write + proportions.transaction == 0.0,
            Work::Load { .. } => true,
            Work::Operations(_) => false,
        };
        if self.target.is_runner() && is_back_to_back && is_one_command { 2 } else { 1 }
    }

    /// Whether inserts replace what is there.
    pub fn upserts(&self) -> bool {
        matches!(self.work, Work::Mix { upsert: true, .. } | Work::Load { upsert: true, .. })
    }

    /// What is done about inserts of a load that fail.
    pub fn insert_retries(&self) -> Option<InsertRetries> {
        match self.work {
            Work::Load { insert_retries, .. } => insert_retries,
            Work::Mix { .. } | Work::Operations(_) => None,
        }
    }

    /// Whether what reads by key bring is compared with what it must be.
    pub fn verifies_reads(&self) -> bool {
        matches!(self.work, Work::Mix { verify_reads: true, .. })
    }

    /// Whether connections have sessions: those of commands, of writes that are sent once more, or of transactions.
    pub fn has_sessions(&self) -> bool {
        let of_target = match self.target {
            TargetPlan::Wire { retry_writes, sessions, .. } => retry_writes || sessions,
            _ => false,
        };
        of_target || self.has_transactions()
    }

    /// Whether it has transactions, which need sessions.
    pub fn has_transactions(&self) -> bool {
        match &self.work {
            Work::Mix { proportions, .. } => proportions.transaction > 0.0,
            Work::Operations(own) => own.has_transactions(),
            Work::Load { .. } => false,
        }
    }

    /// Its operations of the user's own, where it has such.
    pub fn own(&self) -> Option<&OwnWork> {
        match &self.work {
            Work::Operations(own) => Some(own),
            Work::Mix { .. } | Work::Load { .. } => None,
        }
    }

    /// Names of its operations of the user's own.
    pub fn own_names(&self) -> Vec<String> {
        self.own().map(OwnWork::names).unwrap_or_default()
    }

    /// The plan of a load beside the plan's own one: its pacer and connections on a thread of its own, as long as the run goes on. Of
    /// several nodes only the first take part in one that has fewer connections.
    pub(crate) fn beside(&self, load: &OwnLoad) -> Self {
        Self {
            pacer: load.pacer.clone(),
            connections: load.connections,
            threads: 1,
            in_flight_max: None,
            operation_count: None,
            share: self.share.map(|share| Share { nodes: share.nodes.min(load.connections.max(1)), ..share }),
            ..self.clone()
        }
    }

    /// The part that is performed here: all of it where nothing else is said.
    pub fn share(&self) -> Share {
        self.share.unwrap_or(Share { node: 0, nodes: 1 })
    }

    /// Among how many servers the generator shares out the records; 1: it doesn't.
    pub fn server_count(&self) -> u64 {
        match &self.target {
            TargetPlan::Wire { shards, .. } => 1 + shards.len() as u64,
            _ => 1,
        }
    }
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

/// Where the documents are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Namespace {
    /// Database.
    pub database: String,
    /// Collection.
    pub collection: String,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Work {
    /// A mix of operations on loaded records.
    Mix {
        /// Shares of the operations; they are normalised by their sum.
        proportions: Proportions,
        /// Which loaded record an operation takes.
        keys: ChooserSpec,
        /// How many documents a scan asks for.
        scan_length: LengthSpec,
        /// Reads return the whole document, else one field.
        read_all_fields: bool,
        /// A read of a whole document by key names each of its fields in a projection; other reads don't.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        name_read_fields: bool,
        /// What a read by key brings is compared with what it must be, which data with derived values allow.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        verify_reads: bool,
        /// Inserts are updates that insert what is not there, and replace what is.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        upsert: bool,
        /// Documents of an insert.
        #[serde(default = "one_document", skip_serializing_if = "is_one")]
        insert_batch_size: u32,
        /// Updates replace every field, else one.
        write_all_fields: bool,
        /// What a transaction does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transaction: Option<Statements>,
    },
    /// Inserts the records `insert_start .. insert_start + record_count` of the data, each once, or some of them.
    Load {
        /// Documents per insert command.
        batch_size: u32,
        /// Whether a command stops at its first failed document.
        ordered: bool,
        /// Which records: ascending and apart from each other. `None`: all of them. A load that goes on after an
        /// interruption names those that are missing.
        #[serde(default)]
        ranges: Option<Vec<RecordRange>>,
        /// As in a mix.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        upsert: bool,
        /// What is done about an insert that failed; `None`: it is counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        insert_retries: Option<InsertRetries>,
    },
    /// Performs operations of the user's own.
    Operations(OwnWork),
}

/// Further attempts of an insert that failed, each an operation of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsertRetries {
    /// Attempts after the first.
    pub limit: u32,
    /// Rest of the connection before each of them; the actual one is up to a fifth shorter or longer.
    pub interval_ns: u64,
}

/// Records `first .. first + count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the line above says it")]
pub struct RecordRange {
    pub first: u64,
    pub count: u64,
}

/// Shares of the operations of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the operation kinds document themselves")]
pub struct Proportions {
    pub read: f64,
    pub update: f64,
    pub insert: f64,
    pub scan: f64,
    pub read_modify_write: f64,
    #[serde(default, skip_serializing_if = "is_none")]
    pub transaction: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_none(share: &f64) -> bool {
    *share == 0.0
}

fn one_document() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

/// When operations are due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum PacerPlan {
    /// Each connection is a worker that sends its next operation when the last is answered.
    Closed {
        /// Pause of a worker after each reply.
        #[serde(default)]
        think_time: Option<ThinkTime>,
        /// Replies are never left alone so as to take several at once: the number of connections is what is sought.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        follows_replies: bool,
    },
    /// Threads, loops, ramp-up, as in JMeter: as many workers as there are connections start evenly over the ramp-up,
    /// each performs `loops` operations one after another and leaves.
    Tlr {
        /// Operations of each worker.
        loops: u64,
        /// Time from the start of the first worker to the instant at which one more would start.
        ramp_up_ns: u64,
    },
    /// Operation *i* is due at *i* / rate, whatever the target does.
    Constant {
        /// Offered rate.
        rate_ops_per_s: f64,
    },
    /// Operations are due as in a Poisson process, whatever the target does.
    Poisson {
        /// Mean offered rate.
        rate_ops_per_s: f64,
    },
    /// A rate that changes with time, whatever the target does. What the last stage ends with is held.
    Stages {
        /// How arrivals are spread around the rate.
        arrivals: Arrivals,
        /// One after the other, from the run's start, warm-up included.
        stages: Vec<Stage>,
    },
}

/// Pause of a worker between a reply and its next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThinkTime {
    /// Mean.
    pub mean_ns: u64,
    /// Distribution.
    pub law: ThinkLaw,
}

/// Distribution of think times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkLaw {
    /// Always the mean.
    Constant,
    /// Exponential: many short pauses, a few long ones.
    Exponential,
}

/// How arrivals are spread around an offered rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly.
    Even,
    /// As a Poisson process: as if very many users acted independently.
    Poisson,
}

/// A length of time in which the offered rate is level or changes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Rate at its start.
    pub from_ops_per_s: f64,
    /// Rate at its end.
    pub to_ops_per_s: f64,
    /// Its length.
    pub duration_ns: u64,
}

/// What is wrong with a plan, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {message}")]
pub struct PlanError {
    /// Dotted path into the plan.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl PlanError {
    /// An error at `path`.
    pub(crate) fn new(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), message: message.into() }
    }

    /// An error of a part of the plan that another crate has checked.
    pub(crate) fn inside(path: &str, error: &brimline_datagen::SpecError) -> Self {
        let path = if error.path.is_empty() { path.to_owned() } else { format!("{path}.{}", error.path) };
        Self { path, message: error.message.clone() }
    }
}

impl Proportions {
    /// The shares in the order of [`OperationKind::MIX`](crate::operation::OperationKind::MIX).
    pub(crate) fn shares(&self) -> [f64; 6] {
        [self.read, self.update, self.insert, self.scan, self.read_modify_write, self.transaction]
    }
}
