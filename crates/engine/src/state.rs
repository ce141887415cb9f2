//! What the director of a run and those who look on from outside share.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::clock::{Clock, NANOS_PER_MS, Nanos, monotonic_ns, process_cpu_ns};
use crate::collector::Interval;
use crate::shared::{Control, WorkerProgress, lock};
use crate::target::runner::cpu_ns as cpu_ns_of;

/// How long before the instant of its start a run no longer sleeps: a sleep ends late by less.
const START_GRAIN_NS: Nanos = NANOS_PER_MS;

/// What a run is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Making its connections.
    #[default]
    Connecting,
    /// Connected, and held: see [`Surroundings`](crate::Surroundings).
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

/// What threads of a run share.
#[derive(Default)]
pub struct Shared {
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
pub struct RunnerProcess {
    pub id: u32,
    pub cpu_ns: Nanos,
}

#[derive(Default)]
pub struct Status {
    pub stage: Stage,
    pub clock: Option<Clock>,
    pub merged_until_ns: Nanos,
    pub intervals: Vec<Interval>,
    pub is_held: bool,
    /// When the run's clock is to be zero, by the system's monotonic clock; `None`: at once.
    pub start_at_ns: Option<u64>,
}

impl Shared {
    /// Of a run that has not begun.
    pub fn new(workers: Vec<WorkerProgress>, main_count: usize, log: Option<File>, is_held: bool) -> Self {
        let status = Mutex::new(Status { is_held, ..Status::default() });
        Self { workers, main_count, log, status, ..Self::default() }
    }

    /// Waits up to `timeout` for the end of an interval or of the run, or until it is held, and returns the latest state.
    #[expect(clippy::disallowed_methods, reason = "who looks on from outside needs no grain")]
    pub fn poll(&self, timeout: Duration) -> Progress {
        let status = lock(&self.status);
        let is_waiting = |status: &mut Status| {
            !matches!(status.stage, Stage::Ready | Stage::Finished) && status.intervals.is_empty()
        };
        let (status, _) = self
            .changed
            .wait_timeout_while(status, timeout, is_waiting)
            .unwrap_or_else(PoisonError::into_inner);
        self.progress(&status)
    }

    /// Hands out the intervals that were completed since the last call.
    pub fn take_intervals(&self) -> Vec<Interval> {
        std::mem::take(&mut lock(&self.status).intervals)
    }

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
