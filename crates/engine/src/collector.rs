//! Merges the intervals of all workers. An interval is handed on once every worker has delivered its part or is done.

use std::collections::VecDeque;

use crate::clock::Nanos;
use crate::finished::Phase;
use crate::mission::WorkerInterval;
use crate::packed::{PackedTallies, Packer};
use crate::recorder::Tallies;

/// One interval of a run, all workers merged; its tallies are packed once it is complete.
pub struct Interval<T = PackedTallies> {
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
    /// CPU time of all worker threads.
    pub engine_cpu_ns: Nanos,
    /// CPU time of the busiest worker thread.
    pub busiest_thread_cpu_ns: Nanos,
    /// CPU time of the whole process, and of its runners, since the interval before was merged.
    pub process_cpu_ns: Nanos,
    /// Counts and times.
    pub tallies: T,
}

/// Collects the parts of intervals.
pub struct Collector {
    /// Intervals that miss a part, oldest first.
    pending: VecDeque<Interval<Tallies>>,
    /// How many intervals have been handed on.
    handed_on: usize,
    /// How many parts each worker has delivered; `None` once it is done.
    delivered: Vec<Option<usize>>,
    process_cpu_ns: Nanos,
}

impl Collector {
    /// Collects the parts of `worker_count` workers; the process has used `process_cpu_ns` so far.
    pub fn new(worker_count: usize, process_cpu_ns: Nanos) -> Self {
        Self {
            pending: VecDeque::new(),
            handed_on: 0,
            delivered: vec![Some(0); worker_count],
            process_cpu_ns,
        }
    }

    /// Takes a part and returns its tallies when they were added to another's.
    pub fn add(&mut self, worker: usize, part: WorkerInterval) -> Option<Tallies> {
        let number = self.delivered[worker]?;
        self.delivered[worker] = Some(number + 1);
        let Some(interval) = self.pending.get_mut(number - self.handed_on) else {
            self.pending.push_back(Interval::from(part));
            return None;
        };
        interval.merge(&part);
        Some(part.tallies)
    }

    /// Notes that `worker` delivers no more.
    pub fn finish(&mut self, worker: usize) {
        self.delivered[worker] = None;
    }

    /// The next interval that is complete; by then the process has used `process_cpu_ns`.
    pub fn next_complete(&mut self, process_cpu_ns: impl FnOnce() -> Nanos) -> Option<Interval<Tallies>> {
        let is_complete = self.delivered.iter().flatten().all(|&delivered| delivered > self.handed_on);
        if !is_complete {
            return None;
        }
        let mut interval = self.pending.pop_front()?;
        self.handed_on += 1;
        let process_cpu_ns = process_cpu_ns();
        interval.process_cpu_ns = process_cpu_ns.saturating_sub(self.process_cpu_ns);
        self.process_cpu_ns = process_cpu_ns;
        Some(interval)
    }
}

impl From<WorkerInterval> for Interval<Tallies> {
    fn from(part: WorkerInterval) -> Self {
        Self {
            phase: part.phase,
            start_ns: part.start_ns,
            end_ns: part.end_ns,
            in_flight: part.in_flight,
            connections_up: part.connections_up,
            backlog: part.backlog,
            users_active: part.users_active,
            engine_cpu_ns: part.cpu_ns,
            busiest_thread_cpu_ns: part.cpu_ns,
            process_cpu_ns: 0,
            tallies: part.tallies,
        }
    }
}

impl Interval<Tallies> {
    /// Packs the tallies, and returns them as well: they can be used again.
    pub fn pack(self, packer: &mut Packer) -> (Interval, Tallies) {
        let Self { tallies, .. } = self;
        let complete = Interval {
            phase: self.phase,
            start_ns: self.start_ns,
            end_ns: self.end_ns,
            in_flight: self.in_flight,
            connections_up: self.connections_up,
            backlog: self.backlog,
            users_active: self.users_active,
            engine_cpu_ns: self.engine_cpu_ns,
            busiest_thread_cpu_ns: self.busiest_thread_cpu_ns,
            process_cpu_ns: self.process_cpu_ns,
            tallies: packer.pack(&tallies),
        };
        (complete, tallies)
    }

    /// Adds the part of another worker. Workers cut at the same instants until they run out of operations, which each
    /// does at its own time: then the interval goes on as long as one of them is at work, in the earliest phase.
    fn merge(&mut self, part: &WorkerInterval) {
        self.phase = self.phase.min(part.phase);
        self.start_ns = self.start_ns.min(part.start_ns);
        self.end_ns = self.end_ns.max(part.end_ns);
        self.in_flight += part.in_flight;
        self.connections_up += part.connections_up;
        self.backlog += part.backlog;
        self.users_active += part.users_active;
        self.engine_cpu_ns += part.cpu_ns;
        self.busiest_thread_cpu_ns = self.busiest_thread_cpu_ns.max(part.cpu_ns);
        self.tallies.merge(&part.tallies);
    }
}
