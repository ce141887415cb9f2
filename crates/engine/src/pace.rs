//! When a shard may send: at its users' pace in a closed loop, at its due times in an open one.

use crate::clock::Nanos;
use crate::load::Places;
use crate::pacer::{Pacer, Walk};
use crate::pool::Pool;
use crate::slots::Slots;
use crate::target::ConnectionIndex;
use crate::users::{Next, Users};

/// What says when a shard's operations are due.
pub enum Pace<'r> {
    /// Its users, each with a connection.
    Closed(Users),
    /// Its users, which share fewer connections.
    Pooled(Pool),
    /// Its due times: of the next operation, and of those to be counted.
    Open { due: Walk<'r>, counted: Walk<'r> },
}

/// Whether an operation is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Since this instant.
    Since(Nanos),
    /// As soon as a user's connection is free.
    WhenFree,
    /// Not yet.
    Later,
}

impl<'r> Pace<'r> {
    /// The pace of shard `shard` of `shard_count` with its places: in a closed loop each of those that may be in flight is a user.
    pub fn new(pacer: &'r Pacer, places: Places, shard: u64, shard_count: u64) -> Self {
        let Places { connections, in_flight_max, .. } = places;
        match pacer {
            Pacer::Closed(closed) if in_flight_max > connections => {
                Self::Pooled(Pool::new(*closed, in_flight_max, connections, shard, shard_count))
            }
            Pacer::Closed(closed) => Self::Closed(Users::new(*closed, connections, shard, shard_count)),
            Pacer::Open(open) => Self::Open { due: open.walk(), counted: open.walk() },
        }
    }

    /// Whether operation `index`, which would go out on `connection`, is due at `now`.
    #[inline]
    pub fn due_at(&mut self, index: u64, connection: ConnectionIndex, now: Nanos) -> Due {
        match self {
            Self::Closed(_) => Due::WhenFree,
            Self::Pooled(pool) => pool.take(connection, now).map_or(Due::Later, Due::Since),
            Self::Open { due, .. } => match due.due(index) {
                Some(due) if due <= now => Due::Since(due),
                _ => Due::Later,
            },
        }
    }

    /// When operation `index` is due; `None`: never, or whenever a connection is free.
    pub fn due(&mut self, index: u64) -> Option<Nanos> {
        match self {
            Self::Closed(_) => None,
            Self::Pooled(pool) => pool.next_due(),
            Self::Open { due, .. } => due.due(index),
        }
    }

    /// How many operations of the run are due before `end`; `None` in a closed loop.
    pub fn due_before(&mut self, end: Nanos) -> Option<u64> {
        match self {
            Self::Closed(_) | Self::Pooled(_) => None,
            Self::Open { counted, .. } => Some(counted.due_before(end)),
        }
    }

    /// How many operations the shard's users have to perform; `None`: as many as there are.
    pub fn planned(&self) -> Option<u64> {
        match self {
            Self::Closed(users) => users.planned(),
            Self::Pooled(pool) => pool.planned(),
            Self::Open { .. } => None,
        }
    }

    /// Gives users whose rest is over at `now` their connections back.
    #[inline]
    pub fn wake(&mut self, slots: &mut Slots, now: Nanos) {
        if let Self::Closed(users) = self {
            while let Some(connection) = users.wake(now) {
                slots.wake(connection, now);
            }
        }
    }

    /// When the next user wakes.
    pub fn next_wake(&self) -> Option<Nanos> {
        match self {
            Self::Closed(users) => users.next_wake(),
            Self::Pooled(_) | Self::Open { .. } => None,
        }
    }

    /// The connection has come up at `now`.
    pub fn up(&mut self, connection: ConnectionIndex, now: Nanos) -> Next {
        match self {
            Self::Closed(users) => users.up(connection, now),
            Self::Pooled(_) | Self::Open { .. } => Next::Send,
        }
    }

    /// Operation `index` on `connection` is over at `now`.
    #[inline]
    pub fn finished(&mut self, connection: ConnectionIndex, index: u64, now: Nanos) -> Next {
        match self {
            Self::Closed(users) => users.finished(connection, index, now),
            Self::Pooled(pool) => {
                pool.finished(connection, index, now);
                Next::Send
            }
            Self::Open { .. } => Next::Send,
        }
    }

    /// An operation on `connection` ended with the connection at `now`.
    pub fn lost(&mut self, connection: ConnectionIndex, now: Nanos) {
        match self {
            Self::Closed(users) => users.performed(connection),
            Self::Pooled(pool) => pool.lost(connection, now),
            Self::Open { .. } => {}
        }
    }

    /// The operation that was due next ended at `now` without being sent.
    pub fn refused(&mut self, now: Nanos) {
        if let Self::Pooled(pool) = self {
            pool.refused(now);
        }
    }

    /// Whether the user on `connection` would send now if it could.
    pub fn awaits(&self, connection: ConnectionIndex, now: Nanos) -> bool {
        match self {
            Self::Closed(users) => users.awaits(connection, now),
            Self::Pooled(_) | Self::Open { .. } => false,
        }
    }

    /// How many users of a closed loop take part at `now`; 0 in an open loop.
    pub fn active_count(&self, now: Nanos) -> u64 {
        match self {
            Self::Closed(users) => users.active_count(now),
            Self::Pooled(pool) => pool.active_count(now),
            Self::Open { .. } => 0,
        }
    }
}
