//! Histograms of times: of a whole run, and of an interval.

use hdrhistogram::{Counter, Histogram};

use crate::clock::Nanos;

/// Longest time a histogram tells apart; longer ones count as this.
pub const TIME_NS_MAX: Nanos = 3_600_000_000_000;
/// Significant decimal digits of histograms.
pub const HISTOGRAM_DIGITS: u8 = 3;

/// Histogram of times in nanoseconds. It grows with the largest time seen, never with the number of operations.
pub type TimeHistogram = Histogram<u64>;

/// An empty histogram.
pub fn new_histogram() -> TimeHistogram {
    // The digits are within hdrhistogram's 0 to 5, its only condition.
    Histogram::new(HISTOGRAM_DIGITS).unwrap_or_else(|_| unreachable!("three digits are valid"))
}

/// Histogram of the times of one interval. It has room for every time from the start, so that neither a stall nor the
/// length of a run makes it larger. Four bytes a counter: an interval lasts an hour at most, and more than 2³² operations
/// of the same duration in it would be 1.2 million per second.
pub type IntervalHistogram = Histogram<u32>;

/// An empty histogram for an interval.
pub fn new_interval_histogram() -> IntervalHistogram {
    Histogram::new_with_max(TIME_NS_MAX, HISTOGRAM_DIGITS)
        .unwrap_or_else(|_| unreachable!("three digits up to an hour are valid"))
}

/// Adds a time to a histogram; what is longer than it tells apart counts as the longest.
pub fn record<T: Counter>(histogram: &mut Histogram<T>, time_ns: Nanos) {
    histogram
        .record(time_ns.min(TIME_NS_MAX))
        .unwrap_or_else(|_| unreachable!("a histogram takes any time up to the longest"));
}

/// Adds the times of another worker.
pub fn merge(mine: &mut IntervalHistogram, theirs: &IntervalHistogram) {
    mine.add(theirs).unwrap_or_else(|_| unreachable!("all histograms of intervals have the same room"));
}

/// Empties a histogram and keeps its memory. One that holds nothing isn't touched: memory that was never written to
/// takes none.
pub fn clear(histogram: &mut IntervalHistogram) {
    if !histogram.is_empty() {
        histogram.reset();
    }
}
