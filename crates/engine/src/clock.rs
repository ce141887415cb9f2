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

/// Time in which the host was suspended, since any instant: no other clock here counts it.
pub fn suspended_ns() -> Nanos {
    suspended_by(read)
}

/// A time namespace may put the clock that counts suspended time behind the one that doesn't, so that nothing is subtracted
/// from nothing. A pause between two readings would be taken for a suspension: of two looks the shorter one tells.
fn suspended_by(mut read: impl FnMut(ClockId) -> u64) -> Nanos {
    const AHEAD_NS: Nanos = 1 << 62;
    let mut look = || {
        let before = read(ClockId::Monotonic);
        let suspended = AHEAD_NS + read(ClockId::Boottime) - before;
        (read(ClockId::Monotonic) - before, suspended)
    };
    look().min(look()).1
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told in a time namespace with these offsets of the two clocks, in seconds, after `suspended_s`.
    fn suspended(monotonic_s: u64, boottime_s: u64, suspended_s: u64) -> Nanos {
        suspended_by(|clock| match clock {
            ClockId::Monotonic => (1_000 + monotonic_s) * NANOS_PER_S,
            ClockId::Boottime => (1_000 + boottime_s + suspended_s) * NANOS_PER_S,
            _ => panic!("no other clock has a say"),
        })
    }

    #[test]
    fn a_suspension_shows_in_every_time_namespace() {
        for (monotonic_s, boottime_s) in [(0, 0), (0, 500), (500, 0), (40, 0), (1_000_000, 3)] {
            let slept = suspended(monotonic_s, boottime_s, 60) - suspended(monotonic_s, boottime_s, 0);
            assert_eq!(slept, 60 * NANOS_PER_S, "{monotonic_s} {boottime_s}");
        }
    }

    #[test]
    fn a_pause_between_two_readings_is_no_suspension() {
        for pause_before in 0..6 {
            let (mut now, mut count) = (NANOS_PER_S, 0);
            let told = suspended_by(|_| {
                now += if count == pause_before { 500 * NANOS_PER_MS } else { 1 };
                count += 1;
                now
            });
            assert!(told - (1 << 62) < NANOS_PER_MS, "{pause_before}");
        }
    }
}
