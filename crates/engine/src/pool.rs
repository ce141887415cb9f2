//! The users of a closed loop that share fewer connections than they are: a pool. A user's next operation is due when its
//! last is answered and it has thought; it is sent when a connection is free. So due and sent differ, by the wait for the pool.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::clock::Nanos;
use crate::pacer::Closed;
use crate::target::ConnectionIndex;

/// The users of one shard, and which of them has which connection.
pub struct Pool {
    pacer: Closed,
    begins_at: Vec<Nanos>,
    loops_left: Vec<Option<u64>>,
    /// Users without a connection, by when their next operation is due.
    waiting: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// The user on each connection.
    served: Vec<usize>,
}

impl Pool {
    /// `users` users of shard `shard` of `shard_count`, on `connections` connections.
    pub fn new(pacer: Closed, users: usize, connections: usize, shard: u64, shard_count: u64) -> Self {
        let begins_at: Vec<Nanos> =
            (0..users as u64).map(|own| pacer.begins_at(own * shard_count + shard)).collect();
        Self {
            pacer,
            loops_left: vec![pacer.loops(); users],
            waiting: begins_at.iter().enumerate().map(|(user, &at)| Reverse((at, user))).collect(),
            begins_at,
            served: vec![0; connections],
        }
    }

    /// When the next operation is due; `None`: every user has one, or is done.
    pub fn next_due(&self) -> Option<Nanos> {
        self.waiting.peek().map(|&Reverse((due, _))| due)
    }

    /// Gives the free `connection` to the user that has waited longest, if one waits at `now`; returns since when.
    pub fn take(&mut self, connection: ConnectionIndex, now: Nanos) -> Option<Nanos> {
        let &Reverse((due, user)) = self.waiting.peek()?;
        if due > now {
            return None;
        }
        self.waiting.pop();
        self.served[connection] = user;
        Some(due)
    }

    /// Operation `index` of the user on `connection` is over at `now`, however it ended.
    pub fn finished(&mut self, connection: ConnectionIndex, index: u64, now: Nanos) {
        let user = self.served[connection];
        if self.performed(user) {
            self.waiting.push(Reverse((now + self.pacer.think_ns(index), user)));
        }
    }

    /// The user on `connection` has lost the connection at `now`, and its operation with it.
    pub fn lost(&mut self, connection: ConnectionIndex, now: Nanos) {
        let user = self.served[connection];
        if self.performed(user) {
            self.waiting.push(Reverse((now, user)));
        }
    }

    /// The operation of the user that has waited longest ended at `now` without being sent.
    pub fn refused(&mut self, now: Nanos) {
        if let Some(Reverse((_, user))) = self.waiting.pop()
            && self.performed(user)
        {
            self.waiting.push(Reverse((now, user)));
        }
    }

    /// A user has performed one more operation; whether it goes on.
    fn performed(&mut self, user: usize) -> bool {
        match &mut self.loops_left[user] {
            Some(left) => {
                *left = left.saturating_sub(1);
                *left > 0
            }
            None => true,
        }
    }

    /// How many operations all users have to perform; `None`: as many as there are.
    pub fn planned(&self) -> Option<u64> {
        Some(self.pacer.loops()? * self.begins_at.len() as u64)
    }

    /// How many users take part at `now`: they have begun and are not done.
    pub fn active_count(&self, now: Nanos) -> u64 {
        let takes_part = |(begins_at, left): &(&Nanos, &Option<u64>)| **begins_at <= now && **left != Some(0);
        self.begins_at.iter().zip(&self.loops_left).filter(takes_part).count() as u64
    }
}
