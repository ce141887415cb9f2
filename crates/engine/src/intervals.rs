//! Where samples are cut: at each interval's end, and where a phase ends.

use crate::clock::Nanos;
use crate::finished::Phase;

/// The phases of a run and the cuts between its samples. Pure, so that all workers cut at the same instants.
#[derive(Clone, Copy, Debug)]
pub struct Intervals {
    /// End of the warm-up.
    warmup: Nanos,
    /// End of the measured window; `None`: when the operations are used up.
    end: Option<Nanos>,
    /// Length of an interval.
    length: Nanos,
}

impl Intervals {
    /// Cuts each `interval_ns`, counted anew from the start of each phase.
    pub fn new(warmup_ns: Nanos, duration_ns: Option<Nanos>, interval_ns: Nanos) -> Self {
        Self { warmup: warmup_ns, end: duration_ns.map(|duration| warmup_ns + duration), length: interval_ns }
    }

    /// End of the measured window, if it has a fixed one.
    pub fn end(&self) -> Option<Nanos> {
        self.end
    }

    /// The phase at `at`.
    #[inline]
    pub fn phase(&self, at: Nanos) -> Phase {
        if at < self.warmup {
            Phase::Warmup
        } else if self.end.is_some_and(|end| at >= end) {
            Phase::Drain
        } else {
            Phase::Measure
        }
    }

    /// The phase of an operation that is due at `due`. One that is due at the last instant is measured.
    #[inline]
    pub fn offering_phase(&self, due: Nanos) -> Phase {
        if due < self.warmup { Phase::Warmup } else { Phase::Measure }
    }

    /// The first cut after `after`.
    pub fn next_cut(&self, after: Nanos) -> Nanos {
        let (phase_start, phase_end) = match self.phase(after) {
            Phase::Warmup => (0, Some(self.warmup)),
            Phase::Measure => (self.warmup, self.end),
            Phase::Drain => (self.end.unwrap_or(self.warmup), None),
        };
        let passed = (after - phase_start) / self.length;
        let next = phase_start + (passed + 1) * self.length;
        phase_end.map_or(next, |end| next.min(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_cut_intervals_short() {
        let intervals = Intervals::new(2_500, Some(2_000), 1_000);
        let cuts: Vec<Nanos> =
            std::iter::successors(Some(0), |&cut| Some(intervals.next_cut(cut))).take(8).collect();
        assert_eq!(cuts, [0, 1_000, 2_000, 2_500, 3_500, 4_500, 5_500, 6_500]);
        assert_eq!(intervals.phase(2_499), Phase::Warmup);
        assert_eq!(intervals.phase(2_500), Phase::Measure);
        assert_eq!(intervals.phase(4_500), Phase::Drain);
    }
}
