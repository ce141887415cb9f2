//! Closed loop: each connection has one operation in flight, and sends the next when the reply is there.

use super::Due;

/// A closed loop. The offered load follows the target: a slow target is asked less.
#[derive(Clone, Copy, Debug)]
pub struct Closed;

impl Closed {
    /// Always as soon as a connection is free.
    #[inline]
    pub fn due(self, _index: u64) -> Due {
        Due::WhenFree
    }
}
