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
    use proptest::prelude::*;

    use super::*;
    use crate::plan::{ThinkLaw, ThinkTime};

    /// The shards of a closed loop: as many workers on each, as `Plan::thread_count` has it.
    fn shards(pacer: Closed, workers: u64, shard_count: u64) -> Vec<Workers> {
        let own = (workers / shard_count) as usize;
        (0..shard_count).map(|shard| Workers::new(pacer, own, shard, shard_count)).collect()
    }

    /// Lets all workers perform operations that take `service_ns` until everything is done; the instants at which
    /// operations were sent, in order.
    fn sent_by(mut shard: Workers, service_ns: Nanos) -> Vec<Nanos> {
        let mut sent = Vec::new();
        let mut to_send: BinaryHeap<Reverse<(Nanos, ConnectionIndex)>> = BinaryHeap::new();
        for connection in 0..shard.begins_at.len() {
            if shard.up(connection, 0) == Next::Send {
                to_send.push(Reverse((0, connection)));
            }
        }
        loop {
            let next = to_send.peek().map(|&Reverse((at, _))| at);
            let (Some(now), true) = (next.into_iter().chain(shard.next_wake()).min(), sent.len() < 10_000)
            else {
                return sent;
            };
            while let Some(connection) = shard.wake(now) {
                to_send.push(Reverse((now, connection)));
            }
            while let Some(&Reverse((at, connection))) = to_send.peek().filter(|Reverse((at, _))| *at <= now)
            {
                to_send.pop();
                sent.push(at);
                if shard.finished(connection, sent.len() as u64, at + service_ns) == Next::Send {
                    to_send.push(Reverse((at + service_ns, connection)));
                }
            }
        }
    }

    proptest! {
        /// T · L operations on any number of shards, the same ones at the same instants as on one; worker k of T begins at
        /// k · R / T, so that at any time as many have begun as the ramp-up says.
        #[test]
        fn a_ramp_up_offers_the_same_on_any_number_of_shards(
            own in 1u64..6, shard_count in 1u64..6, loops in 1u64..6,
            ramp_up_ns in 1u64..10_000_000_000, service_ns in 1u64..2_000_000_000, at in 0u64..12_000_000_000,
        ) {
            let workers = own * shard_count;
            let pacer = Closed::staggered(workers, loops, ramp_up_ns);
            let split = shards(pacer, workers, shard_count);
            prop_assert_eq!(split.iter().filter_map(Workers::planned).sum::<u64>(), workers * loops);
            let begun: u64 = split.iter().map(|shard| shard.active_count(at)).sum();
            prop_assert_eq!(begun, ((at + 1) * workers).div_ceil(ramp_up_ns).min(workers));
            let mut sent: Vec<Nanos> = split.into_iter().flat_map(|shard| sent_by(shard, service_ns)).collect();
            sent.sort_unstable();
            let alone = shards(pacer, workers, 1).into_iter().flat_map(|shard| sent_by(shard, service_ns));
            prop_assert_eq!(sent.len() as u64, workers * loops);
            prop_assert_eq!(sent, alone.collect::<Vec<_>>());
        }

        /// A worker that thinks Z after replies of S sends every S + Z, whatever shard it is on.
        #[test]
        fn a_worker_that_thinks_sends_as_often_as_it_can(
            service_ns in 1u64..1_000_000, think_ns in 1u64..1_000_000, operations in 1u64..50,
        ) {
            let think = Some(ThinkTime { mean_ns: think_ns, law: ThinkLaw::Constant });
            let mut worker = Workers::new(Closed::new(think, 1), 1, 2, 3);
            prop_assert_eq!(worker.up(0, 0), Next::Send);
            let mut sent_at = 0;
            for index in 0..operations {
                prop_assert_eq!(worker.finished(0, index, sent_at + service_ns), Next::Rest);
                prop_assert_eq!(worker.wake(sent_at + service_ns + think_ns - 1), None);
                sent_at += service_ns + think_ns;
                prop_assert_eq!(worker.wake(sent_at), Some(0));
            }
            prop_assert_eq!(worker.planned(), None);
        }
    }

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
