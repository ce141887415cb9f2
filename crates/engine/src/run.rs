//! A run from outside: start it, look at it, end it, and get its samples and its summary.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use brimline_datagen::Verified;
use brimline_wire::access::Access;
use thiserror::Error;

use crate::clock::{Clock, NANOS_PER_MS, Nanos, monotonic_ns, process_cpu_ns};
use crate::collector::Interval;
use crate::commands::{Commands, Opcounter};
use crate::connects::ConnectTimes;
use crate::director::direct;
use crate::failure::FailureCount;
use crate::load::{Load, posts};
use crate::looks::Looks;
use crate::operation::OperationKind;
use crate::operation_log::{self, LogTotals};
use crate::outage::Outage;
use crate::own::{Identity, Own, Tables};
use crate::plan::{Plan, PlanError};
use crate::shared::{Control, WorkerProgress, lock};
use crate::standstill::Standstill;
use crate::target::RunnerReport;
use crate::target::runner::cpu_ns as cpu_ns_of;
use crate::totals::{DocumentCounts, InsertTotals, StepTotals, Totals};

/// How long before the instant of its start a run no longer sleeps: a sleep ends late by less.
const START_GRAIN_NS: Nanos = NANOS_PER_MS;

/// Why a run has no summary.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// The plan can't be executed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No connection to the target, or not as many as asked for.
    #[error("{0}")]
    Target(String),
    /// The system gives no further thread, or no memory for it.
    #[error("{0}")]
    Resources(String),
    /// The engine itself failed.
    #[error("engine: {0}")]
    Internal(String),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// As planned.
    Completed,
    /// By [`Run::stop`].
    Stopped,
    /// By [`Run::abort`].
    Aborted,
    /// The target could not be reached any more; why.
    TargetLost(String),
    /// The rows that operations take have come to their end, which the plan calls an error.
    RanDry(String),
}

/// What a run is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Making its connections.
    #[default]
    Connecting,
    /// Connected, and held: see [`Run::start_held`].
    Ready,
    /// Offering operations, or waiting for the last replies.
    Running,
    /// Over.
    Finished,
}

/// The latest state of a run; counts are totals since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the counters are the recorder's")]
pub struct Progress {
    pub stage: Stage,
    /// On the run's clock, 0 before it begins.
    pub elapsed_ns: Nanos,
    pub sent: u64,
    pub ok: u64,
    pub miss: u64,
    pub failed: u64,
    pub documents: u64,
    pub in_flight: u64,
    pub connections_up: u64,
    /// All inserts of the run with a smaller number are settled, as far as this node's share goes.
    pub inserts_settled: u64,
}

/// Totals of a run, warm-up and drain included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How it ended.
    pub ended_by: EndedBy,
    /// Wall-clock time of its start.
    pub started_unix_ns: u64,
    /// Length, drain included.
    pub elapsed_ns: Nanos,
    /// How long it took to close the connections after that.
    pub close_ns: Nanos,
    /// Operations that became due: `sent + overdue`.
    pub due: u64,
    /// Of those sent, how many were further attempts of inserts that had failed.
    pub attempted_again: u64,
    /// Due and never sent.
    pub overdue: u64,
    /// Age of the oldest of them at the end.
    pub oldest_overdue_ns: Nanos,
    /// Age of the oldest operation sent and never finished.
    pub oldest_unfinished_ns: Nanos,
    /// By kind, in the order of their rows.
    pub kinds: Vec<Totals>,
    /// Names of the plan's own operations.
    pub own_names: Vec<String>,
    /// Of each step of the plan's own operations.
    pub steps: Vec<StepSummary>,
    /// What replies to steps said of documents.
    pub documents: DocumentCounts,
    /// What the object ids that this run made begin with; none of a plan without own operations.
    pub run_identity: Option<String>,
    /// Documents of insert commands.
    pub inserts: InsertTotals,
    /// What verified reads showed, in the order of [`Verified::ALL`].
    pub verified: [u64; Verified::ALL.len()],
    /// Documents that were refused one by one, most frequent failure first.
    pub document_failures: Vec<FailureCount>,
    /// Commands the server has answered, in the order of [`Opcounter::ALL`].
    pub commands: [u64; Opcounter::ALL.len()],
    /// Commands whose effect on the server's counters is not known.
    pub commands_uncertain: [u64; Opcounter::ALL.len()],
    /// Wrapping sum of the digests of all operations sent.
    pub digest: u64,
    /// Failures, most frequent first.
    pub failures: Vec<FailureCount>,
    /// When the target could not be used, in the order of time.
    pub outages: Vec<Outage>,
    /// When the generator did not run, in the order of time.
    pub standstills: Vec<Standstill>,
    /// How long connections took to make; none of a target without any.
    pub connects: ConnectTimes,
    /// How replies were looked for and timed.
    pub looks: Looks,
    /// What runners said of themselves.
    pub runners: Vec<RunnerReport>,
    /// Sessions that may have left a transaction open at the server.
    pub unsettled_sessions: Vec<[u8; 16]>,
    /// What became of the log of operations; `None` where nobody asked for one.
    pub operation_log: Option<LogTotals>,
    /// Engine threads used.
    pub threads: u32,
    /// Whether the run was on a virtual clock.
    pub virtual_clock: bool,
}

/// Totals of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepSummary {
    /// The operation that it belongs to.
    pub operation: OperationKind,
    /// What it is recorded under.
    pub name: String,
    /// The server's name of its command.
    pub command: String,
    /// Whether it is all that its operation does.
    pub is_alone: bool,
    /// Counts.
    pub totals: StepTotals,
}

/// What a run has besides its plan.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// What opens the server; no part of the plan, so that nothing secret is stored with it.
    pub access: Arc<Access>,
    /// An empty file for the log of operations, where the plan wants one.
    pub log_path: Option<PathBuf>,
    /// Content of the tables that the plan's own operations take rows from.
    pub tables: Tables,
    /// What the run is told from others by, in its object ids and texts; `None`: it is made anew.
    pub identity: Option<Identity>,
    /// How the runner of the plan's client is started, the program first.
    pub runner: Vec<String>,
    /// Once all connections are made nothing is sent before [`Run::release`]: what has to be changed at the target first is
    /// changed only when nothing else is missing.
    pub is_held: bool,
}

/// A started run. Dropping it aborts it and waits for its threads.
pub struct Run {
    shared: Arc<Shared>,
    own_names: Arc<[String]>,
    step_names: Arc<[(String, String)]>,
    director: Mutex<Option<JoinHandle<Result<Summary, RunError>>>>,
}

#[derive(Default)]
pub(crate) struct Shared {
    pub control: Control,
    pub workers: Vec<WorkerProgress>,
    /// How many of them, the first, are of the plan's own load.
    pub main_count: usize,
    /// The processes of runners.
    pub runners: Mutex<Vec<RunnerProcess>>,
    /// The file of the log of operations.
    pub log: Option<File>,
    status: Mutex<Status>,
    changed: Condvar,
}

/// A runner's process, and the CPU time that it was last seen with.
pub(crate) struct RunnerProcess {
    pub id: u32,
    pub cpu_ns: Nanos,
}

#[derive(Default)]
pub(crate) struct Status {
    pub stage: Stage,
    pub clock: Option<Clock>,
    pub merged_until_ns: Nanos,
    pub intervals: Vec<Interval>,
    pub is_held: bool,
    /// When the run's clock is to be zero, by the system's monotonic clock; `None`: at once.
    pub start_at_ns: Option<u64>,
}

impl Run {
    /// Starts `plan` on threads of its own and returns at once.
    ///
    /// # Errors
    /// When the plan can't be executed, or the system gives no thread. Trouble with the target shows in [`Run::join`].
    pub fn start(plan: Plan) -> Result<Self, RunError> {
        Self::start_with(plan, Surroundings::default())
    }

    /// The same in `surroundings`.
    ///
    /// # Errors
    /// As [`Run::start`].
    pub fn start_with(plan: Plan, surroundings: Surroundings) -> Result<Self, RunError> {
        let Surroundings { access, log_path, tables, identity, runner, is_held } = surroundings;
        plan.validate()?;
        let log = if plan.operation_log { Some(open_log(log_path.as_deref())?) } else { None };
        plan.require_client()?;
        let own = Own::new(&plan, &tables, identity)?.map(Arc::new);
        let loads = Load::all_of(&plan, own.as_ref())?;
        let own_names: Arc<[String]> = plan.own_names().into();
        let step_names = plan.own().map_or_else(Vec::new, |work| {
            work.steps().map(|(operation, step)| (operation.name.clone(), step.name.clone())).collect()
        });
        let commands = Commands::new(&plan, own)?;
        let thread_count = posts(&loads).len();
        let workers = (0..thread_count).map(|_| WorkerProgress::default()).collect();
        let status = Mutex::new(Status { is_held, ..Status::default() });
        let main_count = loads[0].plan.thread_count() as usize;
        let shared = Arc::new(Shared { workers, main_count, log, status, ..Shared::default() });
        let director = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("brimline-director".to_owned())
                .spawn(move || direct(&plan, &loads, &commands, &shared, &access, &runner))
                .map_err(|error| RunError::no_thread("the run", &error))?
        };
        Ok(Self { shared, own_names, step_names: step_names.into(), director: Mutex::new(Some(director)) })
    }

    /// Waits up to `timeout` for the end of an interval or of the run, or until it is held, and returns the latest state.
    #[expect(clippy::disallowed_methods, reason = "who looks on from outside needs no grain")]
    pub fn poll(&self, timeout: Duration) -> Progress {
        let status = lock(&self.shared.status);
        let is_waiting = |status: &mut Status| {
            !matches!(status.stage, Stage::Ready | Stage::Finished) && status.intervals.is_empty()
        };
        let (status, _) = self
            .shared
            .changed
            .wait_timeout_while(status, timeout, is_waiting)
            .unwrap_or_else(PoisonError::into_inner);
        self.shared.progress(&status)
    }

    /// Names of the plan's own operations.
    pub fn own_names(&self) -> &[String] {
        &self.own_names
    }

    /// The operation and the name of each step of them.
    pub fn step_names(&self) -> &[(String, String)] {
        &self.step_names
    }

    /// Hands out the intervals that were completed since the last call.
    pub fn take_intervals(&self) -> Vec<Interval> {
        std::mem::take(&mut lock(&self.shared.status).intervals)
    }

    /// Lets a run go that was held.
    pub fn release(&self) {
        self.shared.update(|status| status.is_held = false);
    }

    /// Lets a run go that was held: its clock is zero when the system's monotonic clock says `monotonic_ns`. Where that has passed,
    /// the run begins late by as much, and what was due is made up for.
    pub fn release_at(&self, monotonic_ns: u64) {
        self.shared.update(|status| {
            status.start_at_ns = Some(monotonic_ns);
            status.is_held = false;
        });
    }

    /// How far the other nodes are that perform this plan: all their inserts with a smaller number are settled.
    pub fn note_settled(&self, inserts: u64) {
        self.shared.control.note_settled(inserts);
    }

    /// Nothing more is sent; operations in flight come to their end.
    pub fn stop(&self) {
        self.shared.control.stop();
        self.release();
    }

    /// Operations in flight are given up as well.
    pub fn abort(&self) {
        self.shared.control.abort();
        self.release();
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// When the target could never be reached, or the engine failed. A second call fails as well.
    pub fn join(&self) -> Result<Summary, RunError> {
        let director = lock(&self.director)
            .take()
            .ok_or_else(|| RunError::Internal("the run was joined before".to_owned()))?;
        director.join().unwrap_or_else(|panic| Err(RunError::Internal(panic_message(panic.as_ref()))))
    }
}

fn open_log(path: Option<&Path>) -> Result<File, PlanError> {
    let refused = |reason: String| PlanError::new("operation_log", reason);
    let path = path.ok_or_else(|| refused("there is no file for it".to_owned()))?;
    operation_log::open(path).map_err(|error| refused(format!("can't write {}: {error}", path.display())))
}

impl Drop for Run {
    fn drop(&mut self) {
        self.abort();
        if let Some(director) = lock(&self.director).take() {
            // A panic of the director has nobody left to be reported to.
            drop(director.join());
        }
    }
}

impl Shared {
    /// CPU time of this process and of its runners so far.
    pub fn cpu_ns(&self) -> Nanos {
        let mut runners = lock(&self.runners);
        for runner in runners.iter_mut() {
            // One that has ended stays as it was last seen.
            runner.cpu_ns = cpu_ns_of(runner.id).unwrap_or(runner.cpu_ns).max(runner.cpu_ns);
        }
        process_cpu_ns() + runners.iter().map(|runner| runner.cpu_ns).sum::<Nanos>()
    }

    fn progress(&self, status: &Status) -> Progress {
        let sum = |of: fn(&WorkerProgress) -> &AtomicU64| {
            self.workers.iter().map(|worker| of(worker).load(Relaxed)).sum()
        };
        Progress {
            stage: status.stage,
            elapsed_ns: status.clock.map_or(status.merged_until_ns, |clock| clock.now()),
            sent: sum(|worker| &worker.sent),
            ok: sum(|worker| &worker.ok),
            miss: sum(|worker| &worker.miss),
            failed: sum(|worker| &worker.failed),
            documents: sum(|worker| &worker.documents),
            in_flight: sum(|worker| &worker.in_flight),
            connections_up: sum(|worker| &worker.connections_up),
            inserts_settled: (self.workers[..self.main_count].iter())
                .map(|worker| worker.inserts_settled.load(Relaxed))
                .min()
                .unwrap_or(0),
        }
    }

    /// Waits until the run may send, where it is held, and starts its clock.
    #[expect(clippy::disallowed_methods, reason = "the last moment is waited for without a grain")]
    pub fn await_start(&self) -> Clock {
        let mut status = lock(&self.status);
        while status.is_held {
            status.stage = Stage::Ready;
            self.changed.notify_all();
            status = self.changed.wait(status).unwrap_or_else(PoisonError::into_inner);
        }
        let Some(start_at_ns) = status.start_at_ns else { return Clock::start() };
        while !self.control.stopped() {
            let left_ns = start_at_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 {
                break;
            }
            if left_ns > START_GRAIN_NS {
                let left = Duration::from_nanos(left_ns - START_GRAIN_NS);
                status = self.changed.wait_timeout(status, left).unwrap_or_else(PoisonError::into_inner).0;
            } else {
                std::hint::spin_loop();
            }
        }
        Clock::since(start_at_ns.min(monotonic_ns()))
    }

    pub fn update(&self, change: impl FnOnce(&mut Status)) {
        change(&mut lock(&self.status));
        self.changed.notify_all();
    }
}

impl RunError {
    /// No thread for `what`.
    pub(crate) fn no_thread(what: &str, error: &io::Error) -> Self {
        Self::Resources(format!("no thread for {what} can be started: {error}"))
    }
}

pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("no message"))
}
