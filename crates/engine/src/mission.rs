//! What a worker is given, and what it hands back: the mission that all share, its places, its intervals.

use brimline_wire::session::Session;

use crate::clock::{NANOS_PER_S, Nanos};
use crate::command::Command;
use crate::commands::Commands;
use crate::finished::Phase;
use crate::intervals::Intervals;
use crate::load::{Load, own_shards};
use crate::operation_log::Logger;
use crate::pacer::Pacer;
use crate::perseverance::Perseverance;
use crate::plan::target::TargetPlan;
use crate::plan::{Plan, Work};
use crate::recorder::Tallies;
use crate::shared::{Control, WorkerProgress};
use crate::workload::Workload;

/// How long a replica set may be without a primary, whatever the plan says of connecting: elections take that long.
const ELECTION_NS_MAX: Nanos = 30 * NANOS_PER_S;

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
    /// Number of shards, those of other nodes included.
    pub shard_count: u64,
    /// The first of this node's.
    pub first_shard: u64,
    /// Whether other nodes perform their shares of it.
    pub is_shared: bool,
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
    /// Among how many the records are shared out; 1: they aren't.
    pub server_count: usize,
    /// Whether these are routers, each of which takes all of them.
    pub has_routers: bool,
    /// Of the plan.
    pub seed: u64,
    /// Which load of the plan it is: 0 is the plan's own.
    pub load: u64,
    /// Whether rows that operations take may come to an end.
    pub has_ends: bool,
    /// Whether it is a load whose batches are requests behind a link.
    pub is_bulk: bool,
    /// How many of its places are one to whoever looks on.
    pub places_per_user: u64,
    /// Requests to end early.
    pub control: &'r Control,
    /// Progress of all workers.
    pub progress: &'r [WorkerProgress],
}

impl<'r> Mission<'r> {
    /// What all workers of load `number` know; `progress` is theirs.
    pub fn new(
        number: usize,
        load: &'r Load,
        pacer: &'r Pacer,
        commands: &'r Commands,
        control: &'r Control,
        progress: &'r [WorkerProgress],
    ) -> Self {
        let Load { plan, workload } = load;
        let (retries, lost_after_ns) = patience(plan);
        let (is_spread, has_routers) = spread(plan);
        Self {
            workload,
            commands,
            pacer,
            intervals: Intervals::new(plan.warmup_ns, plan.duration_ns, plan.interval_ns),
            operation_count: [plan.operation_count, workload.operation_count()].into_iter().flatten().min(),
            shard_count: u64::from(plan.shard_count()),
            first_shard: own_shards(plan).start as u64,
            is_shared: plan.share().nodes > 1,
            drain_timeout_ns: plan.drain_timeout_ns,
            operation_timeout_ns: plan.operation_timeout_ns,
            lost_after_ns,
            connect_timeout_ns: plan.connect_timeout_ns,
            verifies_reads: plan.verifies_reads(),
            retries,
            perseverance: plan.insert_retries().map(|retries| Perseverance::new(retries, plan.seed)),
            has_sessions: plan.has_sessions(),
            is_spread,
            server_count: plan.server_count() as usize,
            has_routers,
            seed: plan.seed,
            load: number as u64,
            is_bulk: plan.target.is_linked() && matches!(plan.work, Work::Load { .. }),
            has_ends: workload.own().is_some_and(|mix| mix.own().has_ends()),
            places_per_user: plan.places_per_user() as u64,
            control,
            progress,
        }
    }

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

/// What the plan says about sending again, and how long a worker may be without a connection.
fn patience(plan: &Plan) -> (RetryPolicy, Nanos) {
    let TargetPlan::Wire { replica_set, retry_reads, retry_writes, .. } = &plan.target else {
        return (RetryPolicy::default(), plan.connect_timeout_ns);
    };
    let selection_timeout_ns = replica_set.as_ref().map(|set| set.selection_timeout_ns);
    let retries = RetryPolicy { reads: *retry_reads, writes: *retry_writes, selection_timeout_ns };
    let lost_after_ns = selection_timeout_ns
        .map_or(plan.connect_timeout_ns, |timeout| timeout.max(plan.connect_timeout_ns).max(ELECTION_NS_MAX));
    (retries, lost_after_ns)
}

/// Whether operations go to several servers at once, and whether these are routers.
fn spread(plan: &Plan) -> (bool, bool) {
    let TargetPlan::Wire { routers, shards, .. } = &plan.target else { return (false, false) };
    (!routers.is_empty() || !shards.is_empty(), !routers.is_empty())
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
    /// Users of a closed loop that have begun and are not done; 0 in an open loop.
    pub users_active: u64,
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
