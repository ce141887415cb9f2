//! What a worker tells the others while it works: the interval that is over, and how far it is.

use std::sync::atomic::Ordering::Relaxed;

use super::Worker;
use crate::clock::Nanos;
use crate::finished::Phase;
use crate::mission::{Sink, WorkerInterval};
use crate::recorder::Tallies;
use crate::shared::WorkerProgress;
use crate::target::Target;
use crate::totals::Totals;

impl<'r, T: Target, S: Sink> Worker<'r, T, S> {
    pub(super) fn cut(&mut self, end: Nanos) {
        let cpu_ns = self.target.cpu_ns();
        let sent = self.summary.sent();
        let offered_until = self.offer_end.map_or(end, |offer_end| offer_end.min(end));
        let backlog = self.due_before(offered_until).map_or(0, |due| due.saturating_sub(sent));
        let tallies = self.recorder.cut(Tallies::default());
        let empty = self.sink.take(WorkerInterval {
            phase: self.phase_of_interval(),
            start_ns: self.interval_start,
            end_ns: end,
            in_flight: self.users(self.slots.in_flight_count()),
            connections_up: self.users(self.slots.up_count()),
            backlog,
            users_active: self.users(self.pace.active_count(end)),
            cpu_ns: cpu_ns - self.cpu_at_cut,
            tallies,
        });
        self.recorder.cut(empty);
        self.interval_start = end;
        self.next_cut = self.mission.intervals.next_cut(end);
        self.cpu_at_cut = cpu_ns;
    }

    /// How many users have so many places.
    fn users(&self, places: u64) -> u64 {
        places.div_ceil(self.mission.places_per_user)
    }

    /// Phase of the interval that is being recorded. What comes after an early end of the offer is drain as well.
    fn phase_of_interval(&self) -> Phase {
        match self.offer_end {
            Some(end) if self.interval_start >= end => Phase::Drain,
            _ => self.mission.intervals.phase(self.interval_start),
        }
    }

    /// Inserts of the whole run that are settled without a gap: what `latest` counts back from.
    pub(super) fn inserts_settled(&self) -> u64 {
        if !self.mission.workload.reads_newest() {
            return 0;
        }
        let settled = |progress: &WorkerProgress| progress.inserts_settled.load(Relaxed);
        let here = self.mission.progress.iter().map(settled).min().unwrap_or(0);
        if self.mission.is_shared { here.min(self.mission.control.settled_elsewhere()) } else { here }
    }

    /// Makes this worker's progress visible.
    pub(super) fn publish(&self) {
        let progress = self.progress();
        let sum = |of: fn(&Totals) -> u64| self.summary.kinds.iter().map(of).sum();
        progress.sent.store(sum(|totals| totals.sent), Relaxed);
        progress.ok.store(sum(|totals| totals.ok), Relaxed);
        progress.miss.store(sum(|totals| totals.miss), Relaxed);
        progress.failed.store(sum(|totals| totals.failed), Relaxed);
        progress.in_flight.store(self.users(self.slots.in_flight_count()), Relaxed);
        progress.connections_up.store(self.users(self.slots.up_count()), Relaxed);
        if self.mission.workload.reads_newest() {
            let in_flight = self.slots.all_in_flight().chain(self.slots.all_parked());
            let in_flight = in_flight.map(|(_, flight)| flight.inserts_before);
            let settled = in_flight.min().unwrap_or(self.stream.inserts_before_next());
            progress.inserts_settled.store(settled, Relaxed);
        }
    }

    pub(super) fn progress(&self) -> &'r WorkerProgress {
        &self.mission.progress[(self.shard - self.mission.first_shard) as usize]
    }
}
