//! A run from outside: start it, look at it, end it, and get its samples and its summary.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use thiserror::Error;

use crate::clock::{Clock, Nanos, unix_now_ns};
use crate::collector::{Collector, Interval};
use crate::commands::{Commands, Opcounter};
use crate::failure::FailureCount;
use crate::intervals::Intervals;
use crate::operation::OperationKind;
use crate::pacer::Pacer;
use crate::plan::{Plan, PlanError, TargetPlan};
use crate::recorder::Tallies;
use crate::shared::{Control, Start, StartLine, WorkerProgress, lock};
use crate::target::{NullTarget, SimulatedTarget, Target, WireTarget};
use crate::worker::{Mission, Sink, Totals, Worker, WorkerInterval, WorkerSummary};
use crate::workload::Workload;

/// Why a run has no summary.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// The plan can't be executed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No connection to the target, or not as many as asked for.
    #[error("{0}")]
    Target(String),
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
}

/// What a run is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Making its connections.
    #[default]
    Connecting,
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
    /// Operations that became due: `sent + overdue`.
    pub due: u64,
    /// Due and never sent.
    pub overdue: u64,
    /// Age of the oldest of them at the end.
    pub oldest_overdue_ns: Nanos,
    /// Age of the oldest operation sent and never finished.
    pub oldest_unfinished_ns: Nanos,
    /// By kind, in the order of [`OperationKind::ALL`].
    pub kinds: [Totals; OperationKind::COUNT],
    /// Commands the server has answered, in the order of [`Opcounter::ALL`].
    pub commands: [u64; Opcounter::ALL.len()],
    /// Commands whose effect on the server's counters is not known.
    pub commands_uncertain: [u64; Opcounter::ALL.len()],
    /// Wrapping sum of the digests of all operations sent.
    pub digest: u64,
    /// Failures, most frequent first.
    pub failures: Vec<FailureCount>,
    /// Engine threads used.
    pub threads: u32,
    /// Whether the run was on a virtual clock.
    pub virtual_clock: bool,
}

/// A started run. Dropping it aborts it and waits for its threads.
pub struct Run {
    shared: Arc<Shared>,
    director: Mutex<Option<JoinHandle<Result<Summary, RunError>>>>,
}

#[derive(Default)]
struct Shared {
    control: Control,
    workers: Vec<WorkerProgress>,
    status: Mutex<Status>,
    changed: Condvar,
}

#[derive(Default)]
struct Status {
    stage: Stage,
    clock: Option<Clock>,
    merged_until_ns: Nanos,
    intervals: Vec<Interval>,
}

impl Run {
    /// Starts `plan` on threads of its own and returns at once.
    ///
    /// # Errors
    /// When the plan can't be executed. Trouble with the target shows in [`Run::join`].
    pub fn start(plan: Plan) -> Result<Self, PlanError> {
        plan.validate()?;
        let workload = Workload::new(&plan)?;
        let commands = Commands::new(&plan)?;
        let thread_count = plan.thread_count();
        let workers = (0..thread_count).map(|_| WorkerProgress::default()).collect();
        let shared = Arc::new(Shared { workers, ..Shared::default() });
        let director = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("brimline-director".to_owned())
                .spawn(move || direct(&plan, &workload, &commands, &shared))
                .map_err(|error| PlanError::new("threads", error.to_string()))?
        };
        Ok(Self { shared, director: Mutex::new(Some(director)) })
    }

    /// Waits up to `timeout` for the end of an interval or of the run, and returns the latest state.
    pub fn poll(&self, timeout: Duration) -> Progress {
        let status = lock(&self.shared.status);
        let is_waiting = |status: &mut Status| status.stage != Stage::Finished && status.intervals.is_empty();
        let (status, _) = self
            .shared
            .changed
            .wait_timeout_while(status, timeout, is_waiting)
            .unwrap_or_else(PoisonError::into_inner);
        self.shared.progress(&status)
    }

    /// Hands out the intervals that were completed since the last call.
    pub fn take_intervals(&self) -> Vec<Interval> {
        std::mem::take(&mut lock(&self.shared.status).intervals)
    }

    /// Nothing more is sent; operations in flight come to their end.
    pub fn stop(&self) {
        self.shared.control.stop();
    }

    /// Operations in flight are given up as well.
    pub fn abort(&self) {
        self.shared.control.abort();
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
        }
    }

    fn update(&self, change: impl FnOnce(&mut Status)) {
        change(&mut lock(&self.status));
        self.changed.notify_all();
    }
}

/// What workers tell the director.
enum Message {
    Connected,
    Refused(String),
    Interval(usize, WorkerInterval),
    Finished(usize, Box<Result<WorkerSummary, String>>),
}

/// Sends a worker's intervals to the director and gets empty tallies back.
struct ToDirector<'r> {
    worker: usize,
    messages: Sender<Message>,
    spares: &'r Mutex<Vec<Tallies>>,
}

impl Sink for ToDirector<'_> {
    fn take(&mut self, interval: WorkerInterval) -> Tallies {
        // The director outlives its workers; should it have panicked, there is nobody to record for.
        drop(self.messages.send(Message::Interval(self.worker, interval)));
        lock(self.spares).pop().unwrap_or_default()
    }
}

/// Runs all workers and merges what they record. Returns when the last of them is done.
fn direct(
    plan: &Plan,
    workload: &Workload,
    commands: &Commands,
    shared: &Shared,
) -> Result<Summary, RunError> {
    let outcome = match &plan.target {
        TargetPlan::Wire { address, .. } => resolve(address).map_err(RunError::Target).and_then(|address| {
            supervise(plan, workload, commands, shared, |connections| WireTarget::new(address, connections))
        }),
        TargetPlan::Null {} => supervise(plan, workload, commands, shared, NullTarget::new),
        TargetPlan::Simulated { script, generator_ns } => {
            supervise(plan, workload, commands, shared, |connections| {
                Ok(SimulatedTarget::new(script, *generator_ns, connections))
            })
        }
    };
    shared.update(|status| status.stage = Stage::Finished);
    outcome
}

fn resolve(address: &str) -> Result<SocketAddr, String> {
    let mut addresses = address.to_socket_addrs().map_err(|error| format!("{address}: {error}"))?;
    addresses.next().ok_or_else(|| format!("{address}: the name has no address"))
}

fn supervise<T: Target>(
    plan: &Plan,
    workload: &Workload,
    commands: &Commands,
    shared: &Shared,
    make_target: impl Fn(usize) -> std::io::Result<T> + Sync,
) -> Result<Summary, RunError> {
    let thread_count = plan.thread_count() as usize;
    let mission = Mission {
        workload,
        commands,
        pacer: Pacer::new(&plan.pacer),
        intervals: Intervals::new(plan.warmup_ns, plan.duration_ns, plan.interval_ns),
        operation_count: [plan.operation_count, workload.operation_count()].into_iter().flatten().min(),
        shard_count: thread_count as u64,
        drain_timeout_ns: plan.drain_timeout_ns,
        operation_timeout_ns: plan.operation_timeout_ns,
        connect_timeout_ns: plan.connect_timeout_ns,
        control: &shared.control,
        progress: &shared.workers,
    };
    let start_line = StartLine::default();
    let spares = Mutex::new(Vec::new());
    let (sender, messages) = channel();
    thread::scope(|scope| {
        for worker in 0..thread_count {
            let sink = ToDirector { worker, messages: sender.clone(), spares: &spares };
            let messages = sender.clone();
            let (mission, start_line, make_target) = (&mission, &start_line, &make_target);
            let connections = share(plan.connections as usize, worker, thread_count);
            let spawned =
                thread::Builder::new().name(format!("brimline-{worker}")).spawn_scoped(scope, move || {
                    let target = make_target(connections);
                    let outcome = work(mission, worker, target, connections, sink, start_line, &messages);
                    drop(messages.send(Message::Finished(worker, Box::new(outcome))));
                });
            if let Err(error) = spawned {
                start_line.release(Start::Cancelled);
                return Err(RunError::Internal(error.to_string()));
            }
        }
        drop(sender);
        let started = await_connections(&messages, thread_count);
        let clock = Clock::start();
        let started_unix_ns = unix_now_ns();
        if let Err(reason) = started {
            shared.control.abort();
            start_line.release(Start::Cancelled);
            return Err(reason);
        }
        let virtual_clock = matches!(plan.target, TargetPlan::Simulated { .. });
        shared.update(|status| {
            status.stage = Stage::Running;
            status.clock = (!virtual_clock).then_some(clock);
        });
        start_line.release(Start::Go(clock));
        let totals = collect(&messages, thread_count, &spares, shared)?;
        Ok(summarise(totals, shared, plan, started_unix_ns, virtual_clock))
    })
}

/// The life of one worker thread.
fn work<T: Target>(
    mission: &Mission<'_>,
    worker: usize,
    target: std::io::Result<T>,
    connections: usize,
    sink: ToDirector<'_>,
    start_line: &StartLine,
    messages: &Sender<Message>,
) -> Result<WorkerSummary, String> {
    let report = |message| drop(messages.send(message));
    let target = target.map_err(|error| {
        report(Message::Refused(error.to_string()));
        error.to_string()
    })?;
    let mut worker = Worker::new(mission, worker as u64, target, connections, sink);
    match worker.connect() {
        Ok(()) => report(Message::Connected),
        Err(reason) => {
            report(Message::Refused(reason.clone()));
            return Err(reason);
        }
    }
    match start_line.wait() {
        Start::Go(clock) => worker.run(clock).map_err(|error| error.to_string()),
        Start::Cancelled => Err("cancelled".to_owned()),
    }
}

/// Worker `worker`'s share of `total`, as even as it gets.
fn share(total: usize, worker: usize, worker_count: usize) -> usize {
    total / worker_count + usize::from(worker < total % worker_count)
}

fn await_connections(messages: &Receiver<Message>, worker_count: usize) -> Result<(), RunError> {
    for _ in 0..worker_count {
        match messages.recv() {
            Ok(Message::Connected) => {}
            Ok(Message::Refused(reason)) => return Err(RunError::Target(reason)),
            _ => {
                return Err(RunError::Internal("a worker ended before it was connected".to_owned()));
            }
        }
    }
    Ok(())
}

/// Merges intervals until all workers are done.
fn collect(
    messages: &Receiver<Message>,
    worker_count: usize,
    spares: &Mutex<Vec<Tallies>>,
    shared: &Shared,
) -> Result<WorkerSummary, RunError> {
    let mut collector = Collector::new(worker_count);
    let mut totals = WorkerSummary::default();
    let mut failure = None;
    while let Ok(message) = messages.recv() {
        match message {
            Message::Interval(worker, part) => lock(spares).extend(collector.add(worker, part)),
            Message::Finished(worker, outcome) => {
                collector.finish(worker);
                match *outcome {
                    Ok(summary) => totals.merge(summary),
                    Err(reason) => {
                        shared.control.abort();
                        failure.get_or_insert(RunError::Internal(reason));
                    }
                }
            }
            Message::Connected | Message::Refused(_) => {}
        }
        while let Some(interval) = collector.next_complete() {
            shared.update(|status| {
                status.merged_until_ns = interval.end_ns;
                status.intervals.push(interval);
            });
        }
    }
    failure.map_or(Ok(totals), Err)
}

fn summarise(
    totals: WorkerSummary,
    shared: &Shared,
    plan: &Plan,
    started_unix_ns: u64,
    virtual_clock: bool,
) -> Summary {
    let control = &shared.control;
    let ended_by = match control.loss() {
        Some(reason) => EndedBy::TargetLost(reason),
        None if control.aborted() => EndedBy::Aborted,
        None if control.stopped() => EndedBy::Stopped,
        None => EndedBy::Completed,
    };
    Summary {
        ended_by,
        started_unix_ns,
        elapsed_ns: totals.elapsed_ns,
        due: totals.due,
        overdue: totals.overdue,
        oldest_overdue_ns: totals.oldest_overdue_ns,
        oldest_unfinished_ns: totals.oldest_unfinished_ns,
        kinds: totals.kinds,
        commands: totals.commands,
        commands_uncertain: totals.commands_uncertain,
        digest: totals.digest,
        failures: totals.failures.into_counts(),
        threads: plan.thread_count(),
        virtual_clock,
    }
}

impl WorkerSummary {
    /// Adds the totals of another worker.
    fn merge(&mut self, other: Self) {
        self.due += other.due;
        self.overdue += other.overdue;
        self.oldest_overdue_ns = self.oldest_overdue_ns.max(other.oldest_overdue_ns);
        self.oldest_unfinished_ns = self.oldest_unfinished_ns.max(other.oldest_unfinished_ns);
        self.elapsed_ns = self.elapsed_ns.max(other.elapsed_ns);
        self.digest = self.digest.wrapping_add(other.digest);
        self.failures.merge(other.failures);
        for (mine, theirs) in self.kinds.iter_mut().zip(other.kinds) {
            mine.sent += theirs.sent;
            mine.ok += theirs.ok;
            mine.miss += theirs.miss;
            mine.failed += theirs.failed;
            mine.unfinished += theirs.unfinished;
        }
        for (mine, theirs) in self.commands.iter_mut().zip(other.commands) {
            *mine += theirs;
        }
        for (mine, theirs) in self.commands_uncertain.iter_mut().zip(other.commands_uncertain) {
            *mine += theirs;
        }
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("no message"))
}
