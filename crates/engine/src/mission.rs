//! What a worker is given, and what it hands back: the mission that all share, its places, its intervals.

use brimline_wire::session::Session;

use crate::clock::Nanos;
use crate::commands::{Command, Commands};
use crate::intervals::Intervals;
use crate::operation_log::Logger;
use crate::pacer::Pacer;
use crate::recorder::{Phase, Tallies};
use crate::shared::{Control, WorkerProgress};
use crate::worker::Perseverance;
use crate::workload::Workload;

/// What all workers of a run know.
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with each other")]
pub struct Mission<'r> {
    /// Which operations.
    pub workload: &'r Workload,
    /// How they are encoded.
    pub commands: &'r Commands,
    /// When they are due.
    pub pacer: &'r Pacer,
    /// Where samples are cut.
    pub intervals: Intervals,
    /// Operations of the run, all shards together; `None`: no bound.
    pub operation_count: Option<u64>,
    /// Number of shards.
    pub shard_count: u64,
    /// See [`Plan`](crate::plan::Plan).
    pub drain_timeout_ns: Nanos,
    /// See [`Plan`](crate::plan::Plan).
    pub operation_timeout_ns: Nanos,
    /// How long a worker may be without any connection before the run ends.
    pub lost_after_ns: Nanos,
    /// How long connecting may take.
    pub connect_timeout_ns: Nanos,
    /// What is sent once more.
    pub retries: RetryPolicy,
    /// What is attempted again after it failed.
    pub perseverance: Option<Perseverance>,
    /// Whether what reads by key bring is compared with what it must be.
    pub verifies_reads: bool,
    /// Whether connections have sessions.
    pub has_sessions: bool,
    /// Whether operations go to several servers at once, so that what one of them says of itself is not true of all.
    pub is_spread: bool,
    /// Whether these are routers, each of which takes all of them.
    pub has_routers: bool,
    /// Of the plan.
    pub seed: u64,
    /// Which load of the plan it is: 0 is the plan's own.
    pub load: u64,
    /// Whether rows that operations take may come to an end.
    pub has_ends: bool,
    /// Requests to end early.
    pub control: &'r Control,
    /// Progress of all workers.
    pub progress: &'r [WorkerProgress],
}

impl Mission<'_> {
    /// Writes a connection's session, if it has one, into a request, under another number if the command `advances`.
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    pub fn stamp(&self, command: Command, session: Option<&mut Session>, advances: bool, request: &mut [u8]) {
        let Some(session) = session else { return };
        if advances {
            session.advance();
        }
        self.commands.stamp(command, session, request);
    }
}

/// Which commands are sent once more after an error that allows it, and how long operations wait for a server.
#[derive(Clone, Copy, Debug, Default)]
pub struct RetryPolicy {
    /// Reads are.
    pub reads: bool,
    /// Writes are, under the number of their session.
    pub writes: bool,
    /// How long an operation waits for a server that takes it, then it fails; `None`: as long as the run goes on.
    pub selection_timeout_ns: Option<Nanos>,
}

/// A worker's share of the room for operations.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// The number of its first connection among those of the run.
    pub first: usize,
    /// Its connections.
    pub connections: usize,
    /// How many of them may be in use at once.
    pub in_flight_max: usize,
}

/// One interval of one worker.
pub struct WorkerInterval {
    /// Phase at the interval's start.
    pub phase: Phase,
    /// Start.
    pub start_ns: Nanos,
    /// End.
    pub end_ns: Nanos,
    /// Operations in flight at its end.
    pub in_flight: u64,
    /// Connections that are up at its end.
    pub connections_up: u64,
    /// Operations due and not sent at its end.
    pub backlog: u64,
    /// Workers of a closed loop that have begun and are not done; 0 in an open loop.
    pub workers_active: u64,
    /// CPU time of the worker's thread.
    pub cpu_ns: Nanos,
    /// Counts and times.
    pub tallies: Tallies,
}

/// Where a worker leaves its intervals.
pub trait Sink {
    /// Takes an interval and returns empty tallies for the next.
    fn take(&mut self, interval: WorkerInterval) -> Tallies;

    /// Where the worker logs its operations; `None` where nobody wants that. Asked for once.
    fn logger(&mut self) -> Option<Logger> {
        None
    }
}
