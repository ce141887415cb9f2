//! Owns ringing at an instant: the runtime's own timers have a grain of a millisecond, which an open loop would be late by.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

const NANOS_PER_S: u64 = 1_000_000_000;

/// A timer of the kernel's.
pub struct Timer(AsyncFd<OwnedFd>);

impl Timer {
    /// A timer that is not set, watched by the runtime that is entered.
    #[expect(
        deprecated,
        reason = "an OwnedFd is open while it lives: all that the unsafe successor asks for"
    )]
    pub fn new() -> io::Result<Self> {
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Self(AsyncFd::with_interest(timer, Interest::READABLE)?))
    }

    /// Has it ring after `after_ns`, at least 1, and no more for what it was set to before.
    pub fn set(&self, after_ns: u64) -> io::Result<()> {
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let after =
            Timespec { tv_sec: (after_ns / NANOS_PER_S) as i64, tv_nsec: (after_ns % NANOS_PER_S) as i64 };
        let once = Itimerspec { it_interval: never, it_value: after };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }

    /// Waits for the ring; now and then returns early, for one that was meant for a wait before.
    pub async fn rings(&self) -> io::Result<()> {
        self.0.readable().await?.clear_ready();
        Ok(())
    }
}

/// Waits, a millisecond more or less.
#[expect(clippy::disallowed_methods, reason = "nobody measures this")]
pub async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

/// What `work` comes to, nothing when it takes longer than `most`.
#[expect(clippy::disallowed_methods, reason = "of a bound a millisecond more does no harm")]
pub async fn within<Work: Future>(most: Duration, work: Work) -> Option<Work::Output> {
    tokio::time::timeout(most, work).await.ok()
}
