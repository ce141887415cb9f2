//! The only place of this server that reads time.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Monotonic time since it was started.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
}

impl Clock {
    /// Starts at 0.
    pub fn start() -> Self {
        Self { started: now() }
    }

    /// Time since the start.
    pub fn now_ns(&self) -> u64 {
        now().duration_since(self.started).as_nanos() as u64
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the server's clock")]
fn now() -> Instant {
    Instant::now()
}

/// Milliseconds since 1970, for the `localTime` of replies.
#[expect(clippy::disallowed_methods, reason = "this is the server's clock")]
pub fn unix_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
}
