//! What the clock of this machine is worth: what a read costs, whether it ever goes back, how far two reads can lie apart.

use crate::clock::{Clock, Nanos};

/// What many reads in a row have shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockProbe {
    /// Reads made.
    pub reads: u64,
    /// From the first to the last.
    pub elapsed_ns: Nanos,
    /// Reads that showed an earlier time than the one before.
    pub steps_back: u64,
    /// Smallest step that is not 0: the grain that can be seen; 0 when the clock stood still.
    pub smallest_step_ns: Nanos,
    /// Largest step: for so long this thread was kept from reading, or the clock has jumped.
    pub largest_step_ns: Nanos,
}

/// Reads the clock `reads` times in a row.
pub fn probe_clock(reads: u64) -> ClockProbe {
    let clock = Clock::start();
    probe(reads, || clock.now())
}

fn probe(reads: u64, mut read: impl FnMut() -> Nanos) -> ClockProbe {
    let first = read();
    let mut last = first;
    let mut seen = ClockProbe { reads, smallest_step_ns: Nanos::MAX, ..ClockProbe::default() };
    for _ in 0..reads {
        let now = read();
        match now.checked_sub(last) {
            None => seen.steps_back += 1,
            Some(0) => {}
            Some(step) => {
                seen.smallest_step_ns = seen.smallest_step_ns.min(step);
                seen.largest_step_ns = seen.largest_step_ns.max(step);
            }
        }
        last = now;
    }
    if seen.largest_step_ns == 0 {
        seen.smallest_step_ns = 0;
    }
    seen.elapsed_ns = last.saturating_sub(first);
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_seen_as_they_were() {
        let mut times = [100, 130, 130, 120, 5_120, 5_140].into_iter();
        let seen = probe(5, || times.next().unwrap());
        let expected = ClockProbe {
            reads: 5,
            elapsed_ns: 5_040,
            steps_back: 1,
            smallest_step_ns: 20,
            largest_step_ns: 5_000,
        };
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_clock_that_stands_still_has_no_steps() {
        let seen = probe(3, || 7);
        assert_eq!((seen.elapsed_ns, seen.smallest_step_ns, seen.largest_step_ns), (0, 0, 0));
    }

    #[test]
    fn the_real_clock_goes_on_and_never_back() {
        let seen = probe_clock(100_000);
        assert!(seen.elapsed_ns > 0 && seen.steps_back == 0, "{seen:?}");
        assert!(seen.smallest_step_ns <= seen.largest_step_ns && seen.largest_step_ns <= seen.elapsed_ns);
    }
}
