//! Intervals as they leave the engine: counts, and times in a few kilobytes. Whoever takes intervals may be late by many,
//! and the histograms that recorded them go back to the workers at once.

use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

use crate::finished::Phase;
use crate::histogram::{IntervalHistogram, TimeHistogram, new_histogram};
use crate::kinds::OperationKind;
use crate::recorder::{Counts, Tallies, Tally};

/// A histogram in the bytes of `HdrHistogram`'s V2 encoding; none when it holds nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackedHistogram(Box<[u8]>);

impl PackedHistogram {
    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The histogram again, as large as its largest time asks for.
    pub fn unpack(&self) -> TimeHistogram {
        let mut histogram = new_histogram();
        if !self.is_empty() {
            let fixed: TimeHistogram = Deserializer::new()
                .deserialize(&mut &*self.0)
                .unwrap_or_else(|_| unreachable!("packed by a packer"));
            histogram.add(&fixed).unwrap_or_else(|_| unreachable!("a histogram that grows takes any value"));
        }
        histogram
    }
}

/// Counts and times of one kind of operation in one phase and interval.
#[derive(Clone, Debug)]
pub struct PackedTally {
    /// How many, and how much.
    pub counts: Counts,
    /// done − sent.
    pub service: PackedHistogram,
    /// done − due; empty in a closed loop.
    pub response: PackedHistogram,
    /// sent − due, of sent operations; empty in a closed loop.
    pub lag: PackedHistogram,
    /// What these times consist of, by name; see [`Breakdown`](crate::breakdown::Breakdown).
    pub breakdown: Vec<(String, PackedHistogram)>,
}

/// The tallies of an interval that hold anything, with their phase.
#[derive(Clone, Debug, Default)]
pub struct PackedTallies {
    /// Of operations, by kind.
    pub kinds: Vec<(Phase, OperationKind, PackedTally)>,
    /// Of single steps, by their place among all steps of the plan.
    pub steps: Vec<(Phase, usize, PackedTally)>,
}

/// Packs tallies. It keeps the memory that it works in.
#[derive(Default)]
pub struct Packer(V2Serializer);

impl Packer {
    /// The tallies that hold anything.
    pub fn pack(&mut self, tallies: &Tallies) -> PackedTallies {
        PackedTallies {
            kinds: tallies.non_empty().map(|(phase, kind, tally)| (phase, kind, self.tally(tally))).collect(),
            steps: tallies.steps().map(|(phase, step, tally)| (phase, step, self.tally(tally))).collect(),
        }
    }

    fn tally(&mut self, tally: &Tally) -> PackedTally {
        PackedTally {
            counts: tally.counts,
            service: self.histogram(&tally.service),
            response: self.histogram(&tally.response),
            lag: self.histogram(&tally.lag),
            breakdown: tally
                .breakdown
                .non_empty()
                .map(|(name, times)| (name, self.histogram(times)))
                .collect(),
        }
    }

    fn histogram(&mut self, histogram: &IntervalHistogram) -> PackedHistogram {
        let mut bytes = Vec::new();
        if !histogram.is_empty() {
            // Writing to memory doesn't fail, and counters of 32 bits are far below the format's 63.
            self.0
                .serialize(histogram, &mut bytes)
                .unwrap_or_else(|_| unreachable!("every histogram has an encoding"));
        }
        PackedHistogram(bytes.into_boxed_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::TIME_NS_MAX;
    use crate::recorder::Recorder;

    #[test]
    fn every_time_and_count_comes_back() {
        let kind = OperationKind::LOAD;
        let mut recorder = Recorder::default();
        let times = [0, 1, 2_047, 1_000_000, 3_000_000_000, TIME_NS_MAX, TIME_NS_MAX + 7];
        for &lag in &times {
            recorder.sent(Phase::Measure, kind, Some(0), lag, true);
        }
        let packed = Packer::default().pack(&recorder.cut(Tallies::default()));
        let [(Phase::Measure, found, tally)] = packed.kinds.as_slice() else {
            panic!("one kind was recorded")
        };
        assert_eq!((*found, tally.counts.sent, tally.counts.held_back), (kind, 7, 7));
        assert!(tally.service.is_empty() && tally.service.unpack().is_empty());
        let mut expected = new_histogram();
        for lag in times {
            expected.record(lag.min(TIME_NS_MAX)).expect("it grows");
        }
        assert_eq!(tally.lag.unpack(), expected);
        let [(name, held_back)] = tally.breakdown.as_slice() else { panic!("they were held back") };
        assert_eq!((name.as_str(), held_back.unpack()), ("held_back_lag", expected));
    }
}
