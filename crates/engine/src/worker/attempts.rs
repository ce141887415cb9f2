//! Further attempts of what failed, after a rest: each is sent, counted and timed as an operation of its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Worker;
use crate::clock::Nanos;
use crate::flight::InFlight;
use crate::mission::Sink;
use crate::operation::Operation;
use crate::perseverance::Perseverance;
use crate::target::{ConnectionIndex, Target};

/// The operation that failed last on a connection.
#[derive(Clone, Copy)]
struct Failed {
    operation: Operation,
    record: u64,
    attempts: u32,
    /// When it is attempted again; `None` once that was sent.
    again_at: Option<Nanos>,
}

/// What failed and is attempted again, by connection.
#[derive(Default)]
pub(super) struct Attempts {
    perseverance: Option<Perseverance>,
    failed: Vec<Option<Failed>>,
    /// Those that wait, the next one on top. An entry counts only while its operation waits for that instant.
    waiting: BinaryHeap<Reverse<(Nanos, ConnectionIndex)>>,
    waiting_count: u64,
    sent: u64,
}

impl Attempts {
    pub(super) fn new(perseverance: Option<Perseverance>, connections: usize) -> Self {
        let count = perseverance.map_or(0, |_| connections);
        Self { perseverance, failed: vec![None; count], ..Self::default() }
    }

    /// How many were sent.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// Whether something failed on `connection` that will be attempted again.
    pub(super) fn awaited_on(&self, connection: ConnectionIndex) -> bool {
        self.again_at(connection).is_some()
    }

    fn again_at(&self, connection: ConnectionIndex) -> Option<Nanos> {
        self.failed.get(connection)?.as_ref()?.again_at
    }

    /// Keeps what failed on `connection` at `now` for another attempt; false when it had all that it may have.
    fn keep(&mut self, connection: ConnectionIndex, flight: &InFlight, now: Nanos) -> bool {
        let Some(perseverance) = &self.perseverance else { return false };
        let InFlight { operation, record, .. } = *flight;
        let before = self.failed[connection].filter(|failed| failed.operation.index == operation.index);
        let attempts = before.map_or(0, |failed| failed.attempts);
        if attempts >= perseverance.limit {
            return false;
        }
        let at = now + perseverance.rest_ns(operation.index, attempts);
        let failed = Failed { operation, record, attempts: attempts + 1, again_at: Some(at) };
        self.failed[connection] = Some(failed);
        self.waiting.push(Reverse((at, connection)));
        self.waiting_count += 1;
        true
    }

    /// The connection has come up, so that what waits for it can be sent when its rest is over.
    fn up(&mut self, connection: ConnectionIndex) {
        self.waiting.extend(self.again_at(connection).map(|at| Reverse((at, connection))));
    }

    /// The connection of the next attempt whose rest is over at `now`.
    fn next(&mut self, now: Nanos) -> Option<ConnectionIndex> {
        while let Some(&Reverse((at, connection))) = self.waiting.peek().filter(|next| next.0.0 <= now) {
            self.waiting.pop();
            if self.again_at(connection) == Some(at) {
                return Some(connection);
            }
        }
        None
    }

    /// What is attempted again on `connection`, and since when it may be.
    fn begin(&mut self, connection: ConnectionIndex) -> Option<(Operation, u64, Nanos)> {
        let failed = self.failed[connection].as_mut()?;
        let at = failed.again_at.take()?;
        self.waiting_count -= 1;
        self.sent += 1;
        Some((failed.operation, failed.record, at))
    }
}

impl<T: Target, S: Sink> Worker<'_, T, S> {
    /// Whether something may still be attempted again: what waits for it, and what is in flight and may fail.
    pub(super) fn may_attempt_again(&self) -> bool {
        self.attempts.perseverance.is_some()
            && (self.attempts.waiting_count > 0 || self.slots.in_flight_count() > 0)
    }

    /// Whether the operation that failed on `connection` at `now` is attempted again.
    #[inline(never)]
    pub(super) fn perseveres(&mut self, connection: ConnectionIndex, flight: &InFlight, now: Nanos) -> bool {
        self.offers_at(now) && self.attempts.keep(connection, flight, now)
    }

    /// When the next attempt can be sent as far as rests go.
    pub(super) fn next_attempt(&self) -> Option<Nanos> {
        if !self.slots.has_room() {
            return None;
        }
        self.attempts.waiting.peek().map(|&Reverse((at, _))| at)
    }

    /// Sends attempts whose rest is over at `now`. One whose connection is down waits for that to come up.
    pub(super) fn attempt_again(&mut self, now: Nanos) {
        while self.slots.has_room()
            && let Some(connection) = self.attempts.next(now)
        {
            if !self.slots.is_resting(connection) {
                continue;
            }
            if let Some((operation, record, at)) = self.attempts.begin(connection) {
                self.slots.wake(connection, now);
                let due = self.mission.pacer.open().map(|_| at);
                self.begin(connection, operation, record, due);
            }
        }
    }

    /// The connection is up again; whether an attempt waits for it.
    pub(super) fn resumes_attempt(&mut self, connection: ConnectionIndex) -> bool {
        self.attempts.up(connection);
        self.attempts.awaited_on(connection)
    }
}
