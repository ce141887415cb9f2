//! The users of a closed loop: when each may send again, and when it is done. One per connection.
//! Workloads and reports call them workers, which here are the threads.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::clock::Nanos;
use crate::pacer::Closed;
use crate::target::ConnectionIndex;

/// What a user does once its connection is up or its operation is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Sends its next operation.
    Send,
    /// Pauses: for its start, or to think.
    Rest,
    /// Has done its loops.
    Leave,
}

/// The users of one shard: those whose number is `shard` modulo `shard_count`.
pub struct Users {
    pacer: Closed,
    begins_at: Vec<Nanos>,
    loops_left: Vec<Option<u64>>,
    /// Resting users, the one that wakes first on top; an entry counts only while `wakes_at` agrees, because a
    /// connection that breaks cuts a rest short.
    resting: BinaryHeap<Reverse<(Nanos, ConnectionIndex)>>,
    wakes_at: Vec<Nanos>,
}

impl Users {
    /// The users on the `count` connections of shard `shard` of `shard_count`.
    pub fn new(pacer: Closed, count: usize, shard: u64, shard_count: u64) -> Self {
        Self {
            pacer,
            begins_at: (0..count as u64).map(|own| pacer.begins_at(own * shard_count + shard)).collect(),
            loops_left: vec![pacer.loops(); count],
            resting: BinaryHeap::new(),
            wakes_at: vec![0; count],
        }
    }

    /// The connection of a user has come up at `now`.
    pub fn up(&mut self, connection: ConnectionIndex, now: Nanos) -> Next {
        if self.loops_left[connection] == Some(0) {
            return Next::Leave;
        }
        self.rest_until(connection, self.begins_at[connection], now)
    }

    /// A user's operation `index` is over at `now`.
    #[inline]
    pub fn finished(&mut self, connection: ConnectionIndex, index: u64, now: Nanos) -> Next {
        self.performed(connection);
        if self.loops_left[connection] == Some(0) {
            return Next::Leave;
        }
        self.rest_until(connection, now + self.pacer.think_ns(index), now)
    }

    /// A user has performed one more operation, however it ended.
    #[inline]
    pub fn performed(&mut self, connection: ConnectionIndex) {
        if let Some(left) = &mut self.loops_left[connection] {
            *left = left.saturating_sub(1);
        }
    }

    /// A user whose rest is over at `now`.
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

    /// When the next user wakes.
    #[inline]
    pub fn next_wake(&self) -> Option<Nanos> {
        self.resting.peek().map(|&Reverse((until, _))| until)
    }

    /// Whether the user has begun, is not done, and does not rest at `now`.
    pub fn awaits(&self, connection: ConnectionIndex, now: Nanos) -> bool {
        let has_begun = self.begins_at[connection] <= now && self.wakes_at[connection] <= now;
        has_begun && self.loops_left[connection] != Some(0)
    }

    /// How many operations all of them have to perform; `None`: as many as there are.
    pub fn planned(&self) -> Option<u64> {
        Some(self.pacer.loops()? * self.begins_at.len() as u64)
    }

    /// How many users take part at `now`: they have begun and are not done.
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
    use crate::plan::pacer::{ThinkLaw, ThinkTime};

    /// An operation that a user sent; `user` is its number in the run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Sent {
        at: Nanos,
        user: u64,
        index: u64,
    }

    /// A run: what was sent before its end, in the order of time, and its shards as they are then.
    struct Played {
        sent: Vec<Sent>,
        in_flight: u64,
        shards: Vec<Users>,
    }

    impl Played {
        fn send_times(&self) -> Vec<(Nanos, u64)> {
            self.sent.iter().map(|sent| (sent.at, sent.user)).collect()
        }

        fn sum(&self, count: impl Fn(&Users) -> u64) -> u64 {
            self.shards.iter().map(count).sum()
        }

        /// How many users wait for a reply at `now`.
        fn awaiting(&self, now: Nanos) -> u64 {
            self.sum(|shard| (0..shard.begins_at.len()).filter(|&own| shard.awaits(own, now)).count() as u64)
        }
    }

    /// Lets `count` users on any number of shards, as even as it gets, perform operations of `service_ns` until `end`.
    fn play(pacer: Closed, count: u64, shard_count: u64, service_ns: Nanos, end: Nanos) -> Played {
        let mut played = Played { sent: Vec::new(), in_flight: 0, shards: Vec::new() };
        for number in 0..shard_count {
            let own = count / shard_count + u64::from(number < count % shard_count);
            let mut shard = Users::new(pacer, own as usize, number, shard_count);
            let (sent, in_flight) = play_shard(&mut shard, (number, shard_count), service_ns, end);
            played.sent.extend(sent);
            played.in_flight += in_flight;
            played.shards.push(shard);
        }
        played.sent.sort_unstable();
        played
    }

    /// One shard of it, which performs every `shard_count`th operation.
    fn play_shard(
        shard: &mut Users,
        (number, shard_count): (u64, u64),
        service_ns: Nanos,
        end: Nanos,
    ) -> (Vec<Sent>, u64) {
        let mut sent: Vec<Sent> = Vec::new();
        let mut in_flight = BinaryHeap::new();
        let mut free: Vec<ConnectionIndex> =
            (0..shard.begins_at.len()).filter(|&own| shard.up(own, 0) == Next::Send).collect();
        let mut now = 0;
        loop {
            for connection in free.drain(..) {
                let index = number + sent.len() as u64 * shard_count;
                sent.push(Sent { at: now, user: connection as u64 * shard_count + number, index });
                in_flight.push(Reverse((now + service_ns, connection, index)));
            }
            let replied = in_flight.peek().map(|&Reverse((done, ..))| done);
            let Some(next) = replied.into_iter().chain(shard.next_wake()).min().filter(|&next| next < end)
            else {
                return (sent, in_flight.len() as u64);
            };
            now = next;
            while let Some(&Reverse((done, connection, index))) =
                in_flight.peek().filter(|next| next.0.0 <= now)
            {
                in_flight.pop();
                if shard.finished(connection, index, done) == Next::Send {
                    free.push(connection);
                }
            }
            while let Some(connection) = shard.wake(now) {
                free.push(connection);
            }
        }
    }

    proptest! {
        /// User k of T begins at k · R / T and sends every S, L times: T · L operations, the same ones at the same instants on
        /// any number of shards. At any time as many have begun, are at work and were sent as that says.
        #[test]
        fn a_ramp_up_offers_the_same_on_any_number_of_shards(
            users in 1u64..25, shard_count in 1u64..9, loops in 1u64..6,
            ramp_up_ns in 1u64..10_000_000_000, service_ns in 1u64..2_000_000_000, at in 1u64..24_000_000_000,
        ) {
            let pacer = Closed::staggered(users, loops, ramp_up_ns);
            let begins_at = |user| user * ramp_up_ns / users;
            let sends = (0..users).flat_map(|user| {
                (0..loops).map(move |turn| (begins_at(user) + turn * service_ns, user))
            });
            let mut sends: Vec<(Nanos, u64)> = sends.collect();
            sends.sort_unstable();
            let all = play(pacer, users, shard_count, service_ns, Nanos::MAX);
            prop_assert_eq!(all.send_times(), sends.clone());
            prop_assert_eq!(play(pacer, users, 1, service_ns, Nanos::MAX).send_times(), sends.clone());
            prop_assert_eq!(all.sum(|shard| shard.planned().unwrap_or(0)), users * loops);
            prop_assert_eq!((all.in_flight, all.sum(|shard| shard.active_count(Nanos::MAX))), (0, 0));

            let part = play(pacer, users, shard_count, service_ns, at);
            sends.retain(|&(sent_at, _)| sent_at < at);
            prop_assert_eq!(part.send_times(), sends);
            let works = |user: &u64| (begins_at(*user)..begins_at(*user) + loops * service_ns).contains(&(at - 1));
            let at_work = (0..users).filter(works).count() as u64;
            prop_assert_eq!(part.sum(|shard| shard.active_count(at - 1)), at_work);
            prop_assert_eq!((part.in_flight, part.awaiting(at - 1)), (at_work, at_work));
            let new = play(pacer, users, shard_count, service_ns, 0);
            prop_assert_eq!(new.sum(|shard| shard.active_count(at)), ((at + 1) * users).div_ceil(ramp_up_ns).min(users));
        }

        /// Users that think Z after replies of S, or don't, begin at once and send every S + Z: the same on any number of
        /// shards. Each either waits for a reply or thinks.
        #[test]
        fn users_that_think_send_the_same_on_any_number_of_shards(
            users in 1u64..25, shard_count in 1u64..9,
            service_ns in 1u64..1_000_000, think_ns in prop_oneof![Just(0u64), 1u64..1_000_000], end in 1u64..20_000_000,
        ) {
            let cycle_ns = service_ns + think_ns;
            let end = end.min(100 * cycle_ns);
            let think = (think_ns > 0).then_some(ThinkTime { mean_ns: think_ns, law: ThinkLaw::Constant });
            let pacer = Closed::new(think, 1);
            let split = play(pacer, users, shard_count, service_ns, end);
            let turns = end.div_ceil(cycle_ns);
            let sends = (0..turns).flat_map(|turn| (0..users).map(move |user| (turn * cycle_ns, user)));
            prop_assert_eq!(split.send_times(), sends.collect::<Vec<_>>());
            prop_assert_eq!(split.send_times(), play(pacer, users, 1, service_ns, end).send_times());
            let waiting = if (end - 1) % cycle_ns < service_ns { users } else { 0 };
            prop_assert_eq!((split.in_flight, split.awaiting(end - 1)), (waiting, waiting));
            prop_assert!(split.shards.iter().all(|shard| shard.planned().is_none()));
            prop_assert_eq!(split.sum(|shard| shard.active_count(end)), users);
        }

        /// A time to think follows from the operation: its user sends again when the reply is there and that time is over.
        /// Who performs an operation is a matter of who is free, so that on other shards the same times come to other users.
        #[test]
        fn users_that_think_at_random_think_as_long_as_their_operation_says(
            users in 1u64..25, shard_count in 1u64..9, seed: u64,
            service_ns in 1u64..1_000_000, mean_ns in 1u64..1_000_000, end in 1u64..20_000_000,
        ) {
            let end = end.min(100 * (service_ns + mean_ns));
            let pacer = Closed::new(Some(ThinkTime { mean_ns, law: ThinkLaw::Exponential }), seed);
            let split = play(pacer, users, shard_count, service_ns, end);
            for user in 0..users {
                let mut next = 0;
                for sent in split.sent.iter().filter(|sent| sent.user == user) {
                    prop_assert_eq!(sent.at, next);
                    next = sent.at + service_ns + pacer.think_ns(sent.index);
                }
                prop_assert!(next >= end, "user {} stopped at {} of {}", user, next, end);
            }
            prop_assert_eq!(split.in_flight, split.awaiting(end - 1));
            prop_assert_eq!(split.sum(|shard| shard.active_count(end)), users);
        }
    }

    #[test]
    fn users_begin_evenly_perform_their_loops_and_leave() {
        let mut users = Users::new(Closed::staggered(4, 2, 100), 2, 1, 2);
        assert_eq!(users.up(0, 0), Next::Rest);
        assert_eq!(users.up(1, 0), Next::Rest);
        assert_eq!(users.next_wake(), Some(25));
        assert_eq!((users.wake(24), users.wake(25), users.wake(25)), (None, Some(0), None));
        assert_eq!((users.active_count(24), users.active_count(25), users.active_count(75)), (0, 1, 2));
        assert_eq!(users.finished(0, 0, 30), Next::Send);
        assert_eq!(users.finished(0, 1, 40), Next::Leave);
        assert_eq!(users.up(0, 50), Next::Leave, "a connection that comes back has nothing left to do");
        assert_eq!(users.active_count(75), 1);
    }
}
