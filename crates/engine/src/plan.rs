//! The plan: everything a run does, with every default filled in. Python writes it as JSON, the engine reads it; unknown
//! keys are errors on both sides. Rates are in operations per second, times in nanoseconds.

pub mod error;
pub mod pacer;
pub mod proportions;
pub mod target;

use brimline_datagen::{ChooserSpec, DocumentSpec, LengthSpec};
use serde::{Deserialize, Serialize};

use self::pacer::PacerPlan;
use self::proportions::Proportions;
use self::target::TargetPlan;
use crate::command::Statements;
use crate::kinds::OperationKind;
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
    /// be more than there are connections: so many users share them, and wait for a free one.
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

/// The part of one node of several that perform the same plan. Connections, users and operations are shared out among the
/// threads of all of them, each node having as many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Its number, from 0.
    pub node: u32,
    /// How many there are.
    pub nodes: u32,
}

impl Plan {
    /// How many places each user of a runner's has: two where each reply calls for the next operation and nothing else does, so
    /// that this is there when the user is done; one where an operation is several commands, and of any other target.
    pub fn places_per_user(&self) -> usize {
        let is_back_to_back = matches!(self.pacer, PacerPlan::Closed { think_time: None, .. });
        let is_one_command = match &self.work {
            Work::Mix { proportions, .. } => !proportions.any(OperationKind::has_second),
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
            Work::Mix { proportions, .. } => proportions.any(OperationKind::is_transaction),
            Work::Operations(own) => own.has_transactions(),
            Work::Load { .. } => false,
        }
    }

    /// Its operations of the person's own, where it has such.
    pub fn own(&self) -> Option<&OwnWork> {
        match &self.work {
            Work::Operations(own) => Some(own),
            Work::Mix { .. } | Work::Load { .. } => None,
        }
    }

    /// Names of its operations of the person's own.
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
    /// Performs operations of the person's own.
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

fn one_document() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_one(count: &u32) -> bool {
    *count == 1
}
