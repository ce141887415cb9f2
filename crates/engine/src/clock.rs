//! The only place that reads time. Everything else gets instants as numbers, so that it can run on a virtual clock.

use std::sync::OnceLock;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds: an instant counted from the start of the run, or a length of time.
pub type Nanos = u64;

/// Nanoseconds in a millisecond.
pub const NANOS_PER_MS: Nanos = 1_000_000;
/// Nanoseconds in a second.
pub const NANOS_PER_S: Nanos = 1_000_000_000;

/// A monotonic clock with an agreed zero: the start of the run. Copies share the zero, so that the instants of all
/// threads can be compared.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start_ns: u64,
}

impl Clock {
    /// A clock whose zero is now.
    pub fn start() -> Self {
        Self { start_ns: read(ClockId::Monotonic) }
    }

    /// A clock whose zero is when the system's monotonic clock says `monotonic_ns`; that must not lie ahead.
    pub fn since(monotonic_ns: u64) -> Self {
        Self { start_ns: monotonic_ns }
    }

    /// Time since the zero.
    #[inline]
    pub fn now(&self) -> Nanos {
        read(ClockId::Monotonic) - self.start_ns
    }

    /// The instant at which the system's monotonic clock says `monotonic_ns`; 0 for one before the zero.
    pub fn at(&self, monotonic_ns: u64) -> Nanos {
        monotonic_ns.saturating_sub(self.start_ns)
    }

    /// What the system's monotonic clock says at `instant`.
    pub fn monotonic_at(&self, instant: Nanos) -> u64 {
        self.start_ns + instant
    }

    /// Time since the zero, and how far the wall clock is ahead of it. Rather too little, when the thread is interrupted in
    /// between, so that what the wall clock stamped is rather too late on this clock than too early.
    #[inline]
    pub fn now_and_wall_ahead_ns(&self) -> (Nanos, u64) {
        let wall = read(ClockId::Realtime);
        let now = self.now();
        (now, wall.saturating_sub(now))
    }
}

/// What the system's monotonic clock says, which is one for all processes of a machine.
pub fn monotonic_ns() -> u64 {
    read(ClockId::Monotonic)
}

/// Nanoseconds since 1970, of what a record says when it was. One is subtracted from another to find how far apart things
/// were: so a process reads the wall clock once, and goes on by a clock that nobody sets and that counts suspended time as well.
pub fn unix_now_ns() -> u64 {
    static AHEAD_NS: OnceLock<u64> = OnceLock::new();
    let ahead_ns = *AHEAD_NS.get_or_init(|| read(ClockId::Realtime).saturating_sub(read(ClockId::Boottime)));
    read(ClockId::Boottime) + ahead_ns
}

/// What the wall clock says now, in milliseconds since 1970, as dates have it.
pub fn wall_now_ms() -> i64 {
    (read(ClockId::Realtime) / NANOS_PER_MS) as i64
}

/// Time in which the host was suspended, since it began: no other clock here counts it.
pub fn suspended_ns() -> Nanos {
    let monotonic = read(ClockId::Monotonic);
    read(ClockId::Boottime).saturating_sub(monotonic)
}

/// CPU time the calling thread has used, user and system.
pub fn thread_cpu_ns() -> Nanos {
    read(ClockId::ThreadCPUTime)
}

/// CPU time the whole process has used, user and system.
pub fn process_cpu_ns() -> Nanos {
    read(ClockId::ProcessCPUTime)
}

#[inline]
#[expect(clippy::disallowed_methods, reason = "this is the place that reads time")]
fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * NANOS_PER_S + time.tv_nsec as u64
}
