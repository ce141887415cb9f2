//! The workers of a closed loop: when each may send again, and when it is done. One per connection.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::clock::Nanos;
use crate::pacer::Closed;
use crate::target::ConnectionIndex;

/// What a worker does once its connection is up or its operation is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Sends its next operation.
    Send,
    /// Pauses: for its start, or to think.
    Rest,
    /// Has done its loops.
    Leave,
}

/// The workers of one shard: those whose number is `shard` modulo `shard_count`.
pub struct Workers {
    pacer: Closed,
    begins_at: Vec<Nanos>,
    loops_left: Vec<Option<u64>>,
    /// Resting workers, the one that wakes first on top; an entry counts only while `wakes_at` agrees, because a
    /// connection that breaks cuts a rest short.
    resting: BinaryHeap<Reverse<(Nanos, ConnectionIndex)>>,
    wakes_at: Vec<Nanos>,
}

impl Workers {
    /// The workers on the `count` connections of shard `shard` of `shard_count`.
    pub fn new(pacer: Closed, count: usize, shard: u64, shard_count: u64) -> Self {
        Self {
            pacer,
            begins_at: (0..count as u64).map(|own| pacer.begins_at(own * shard_count + shard)).collect(),
            loops_left: vec![pacer.loops(); count],
            resting: BinaryHeap::new(),
            wakes_at: vec![0; count],
        }
    }

    /// The connection of a worker has come up at `now`.
    pub fn up(&mut self, connection: ConnectionIndex, now: Nanos) -> Next {
        if self.loops_left[connection] == Some(0) {
            return Next::Leave;
        }
        self.rest_until(connection, self.begins_at[connection], now)
    }

    /// A worker's operation `index` is over at `now`.
    #[inline]
    pub fn finished(&mut self, connection: ConnectionIndex, index: u64, now: Nanos) -> Next {
        self.performed(connection);
        if self.loops_left[connection] == Some(0) {
            return Next::Leave;
        }
        self.rest_until(connection, now + self.pacer.think_ns(index), now)
    }

    /// A worker has performed one more operation, however it ended.
    #[inline]
    pub fn performed(&mut self, connection: ConnectionIndex) {
        if let Some(left) = &mut self.loops_left[connection] {
            *left = left.saturating_sub(1);
        }
    }

    /// A worker whose rest is over at `now`.
    #[inline]
    pub fn wake(&mut self, now: Nanos) -> Option<ConnectionIndex> {
        let &Reverse((until, _)) = self.resting.peek()?;
        if until > now { None } else { self.wake_next(now) }
    }

    // Apart: most looks find nobody.
    #[inline(never)]
    fn wake_next(&mut self, now: Nanos) -> Option<ConnectionIndex> {
        while let Some(&Reverse((until, connection))) = self.resting.peek() {
            if until > now {
                return None;
            }
            self.resting.pop();
            if self.wakes_at[connection] == until {
                return Some(connection);
            }
        }
        None
    }

    /// When the next worker wakes.
    #[inline]
    pub fn next_wake(&self) -> Option<Nanos> {
        self.resting.peek().map(|&Reverse((until, _))| until)
    }

    /// Whether the worker has begun, is not done, and does not rest at `now`.
    pub fn awaits(&self, connection: ConnectionIndex, now: Nanos) -> bool {
        let has_begun = self.begins_at[connection] <= now && self.wakes_at[connection] <= now;
        has_begun && self.loops_left[connection] != Some(0)
    }

    /// How many operations all of them have to perform; `None`: as many as there are.
    pub fn planned(&self) -> Option<u64> {
        Some(self.pacer.loops()? * self.begins_at.len() as u64)
    }

    /// How many workers take part at `now`: they have begun and are not done.
    pub fn active_count(&self, now: Nanos) -> u64 {
        let takes_part = |(begins_at, left): &(&Nanos, &Option<u64>)| **begins_at <= now && **left != Some(0);
        self.begins_at.iter().zip(&self.loops_left).filter(takes_part).count() as u64
    }

    fn rest_until(&mut self, connection: ConnectionIndex, until: Nanos, now: Nanos) -> Next {
        self.wakes_at[connection] = until;
        if until <= now {
            return Next::Send;
        }
        self.resting.push(Reverse((until, connection)));
        Next::Rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_begin_evenly_perform_their_loops_and_leave() {
        let mut workers = Workers::new(Closed::staggered(4, 2, 100), 2, 1, 2);
        assert_eq!(workers.up(0, 0), Next::Rest);
        assert_eq!(workers.up(1, 0), Next::Rest);
        assert_eq!(workers.next_wake(), Some(25));
        assert_eq!((workers.wake(24), workers.wake(25), workers.wake(25)), (None, Some(0), None));
        assert_eq!((workers.active_count(24), workers.active_count(25), workers.active_count(75)), (0, 1, 2));
        assert_eq!(workers.finished(0, 0, 30), Next::Send);
        assert_eq!(workers.finished(0, 1, 40), Next::Leave);
        assert_eq!(workers.up(0, 50), Next::Leave, "a connection that comes back has nothing left to do");
        assert_eq!(workers.active_count(75), 1);
    }
}
