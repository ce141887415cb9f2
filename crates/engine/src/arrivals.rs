//! When replies reached this machine. The kernel stamps what it receives with its wall clock; the run's clock is another. So
//! a reply that waited in its socket until the generator looked at it is not taken for slower than it was.

use crate::clock::{Clock, Nanos};

/// Between two looks the clocks drift apart by less, unless somebody set the wall clock or the thread was held up.
const DRIFT_NS_MAX: u64 = 50_000;

/// Puts the kernel's stamps on the run's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrivals {
    wall_ahead_ns: u64,
    /// When the clocks were compared last.
    compared_at: Nanos,
    trusted: bool,
    unstamped: u64,
    last_was_unstamped: bool,
}

impl Arrivals {
    /// Compares the clocks; to be called after each wait, so that a wall clock that is set harms one look only.
    #[inline]
    pub fn compare(&mut self, clock: Clock) {
        let (now, wall_ahead_ns) = clock.now_and_wall_ahead_ns();
        self.learn(wall_ahead_ns, now);
    }

    fn learn(&mut self, wall_ahead_ns: u64, now: Nanos) {
        self.compared_at = now;
        self.trusted = wall_ahead_ns.abs_diff(self.wall_ahead_ns) <= DRIFT_NS_MAX;
        self.wall_ahead_ns = wall_ahead_ns;
    }

    /// When the bytes arrived; now, as `now` tells it, where the kernel gave no stamp to be trusted. One after the look is of
    /// what came while the look was followed, or of a wall clock that has been set since.
    #[inline]
    pub fn instant(&mut self, arrived_unix_ns: Option<u64>, now: impl FnOnce() -> Nanos) -> Nanos {
        self.last_was_unstamped = arrived_unix_ns.is_none();
        self.unstamped += u64::from(self.last_was_unstamped);
        self.placed(arrived_unix_ns).unwrap_or_else(now)
    }

    /// A stamp on the run's clock; `None` of one that is not to be trusted.
    #[inline]
    pub fn placed(&self, arrived_unix_ns: Option<u64>) -> Option<Nanos> {
        let arrived = arrived_unix_ns?.saturating_sub(self.wall_ahead_ns);
        (self.trusted && arrived <= self.compared_at).then_some(arrived)
    }

    /// Whether replies may be left lying: without stamps they would seem slower. The kernel begins to stamp a moment after the
    /// first socket on the machine has asked for it, so that the last reply tells, not the first.
    pub fn are_stamped(&self) -> bool {
        !self.last_was_unstamped
    }

    /// How many replies the kernel gave no stamp.
    pub fn unstamped(&self) -> u64 {
        self.unstamped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AHEAD_NS: u64 = 1_700_000_000_000_000_000;

    fn seen(offsets: &[u64]) -> Arrivals {
        let mut arrivals = Arrivals::default();
        for &offset in offsets {
            arrivals.learn(offset, 8_000);
        }
        arrivals
    }

    #[test]
    fn a_reply_arrived_when_the_kernel_says_so() {
        let mut arrivals = seen(&[AHEAD_NS, AHEAD_NS + 40]);
        assert_eq!(arrivals.instant(Some(AHEAD_NS + 5_040), || 9_000), 5_000);
    }

    #[test]
    fn without_a_stamp_it_arrived_when_it_was_read_and_is_counted() {
        let mut arrivals = seen(&[AHEAD_NS, AHEAD_NS]);
        assert_eq!(arrivals.instant(Some(AHEAD_NS + 5_000), || 9_000), 5_000);
        assert_eq!(arrivals.unstamped(), 0);
        assert_eq!(arrivals.instant(None, || 9_000), 9_000);
        assert_eq!((arrivals.unstamped(), arrivals.are_stamped()), (1, false));
        assert_eq!(arrivals.instant(Some(AHEAD_NS + 5_000), || 9_000), 5_000);
        assert_eq!((arrivals.unstamped(), arrivals.are_stamped()), (1, true));
    }

    #[test]
    fn a_clock_that_was_set_is_not_believed_until_it_is_known_again() {
        let hour_ns = 3_600_000_000_000;
        for set in [AHEAD_NS + hour_ns, AHEAD_NS - hour_ns, AHEAD_NS + 2 * DRIFT_NS_MAX] {
            let mut arrivals = seen(&[AHEAD_NS, AHEAD_NS, set]);
            assert_eq!(arrivals.instant(Some(set + 5_000), || 9_000), 9_000);
            arrivals.learn(set, 8_000);
            assert_eq!(arrivals.instant(Some(set + 5_000), || 9_000), 5_000);
        }
    }

    /// A reply that was stamped before the clock was set may be read looks later, when the clocks are known again.
    #[test]
    fn a_reply_cant_arrive_after_the_look() {
        let mut arrivals = seen(&[AHEAD_NS, AHEAD_NS]);
        assert_eq!(arrivals.instant(Some(AHEAD_NS + 8_000), || 9_000), 8_000);
        for later_ns in [8_001, 3_600_000_000_000] {
            assert_eq!(arrivals.instant(Some(AHEAD_NS + later_ns), || 9_000), 9_000);
        }
    }
}
