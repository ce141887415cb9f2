//! How replies were looked for, and by what they are timed: counts of a worker, or of a run when merged.

use crate::clock::Nanos;

/// What a reader of service times has to know of how they came about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// How often sockets were left alone before a look.
    pub rests: u64,
    /// For how long altogether, as it was meant.
    pub rested_ns: Nanos,
    /// Replies of which the kernel did not say when they arrived: they are done when they were read.
    pub unstamped: u64,
}

impl Looks {
    /// Counts a rest.
    #[inline]
    pub fn rested(&mut self, rest_ns: Nanos) {
        self.rests += 1;
        self.rested_ns += rest_ns;
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        self.rests += other.rests;
        self.rested_ns += other.rested_ns;
        self.unstamped += other.unstamped;
    }
}
