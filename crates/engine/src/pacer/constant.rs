//! Constant rate: an open loop that offers operations evenly, whether or not the target keeps up.

use super::Due;
use crate::clock::{NANOS_PER_S, Nanos};

/// Operation *i* is due at *i* / rate.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    period_ns: f64,
}

impl Constant {
    /// A schedule of `rate_ops_per_s`, which must be positive and finite.
    pub fn new(rate_ops_per_s: f64) -> Self {
        Self { period_ns: NANOS_PER_S as f64 / rate_ops_per_s }
    }

    /// The due time of operation `index`. Computed from the index, not summed up, so that rounding never accumulates.
    #[inline]
    pub fn due(self, index: u64) -> Due {
        Due::At(self.due_ns(index))
    }

    /// How many operations are due before `end`: the smallest index that is not.
    pub fn due_before(self, end: Nanos) -> u64 {
        let mut count = (end as f64 / self.period_ns).ceil() as u64;
        while count > 0 && self.due_ns(count - 1) >= end {
            count -= 1;
        }
        while self.due_ns(count) < end {
            count += 1;
        }
        count
    }

    fn due_ns(self, index: u64) -> Nanos {
        (index as f64 * self.period_ns) as Nanos
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn operations_are_evenly_spaced_from_zero() {
        let pacer = Constant::new(1000.0);
        assert_eq!(pacer.due(0), Due::At(0));
        assert_eq!(pacer.due(1), Due::At(1_000_000));
        assert_eq!(pacer.due(3_600_000), Due::At(3600 * NANOS_PER_S));
    }

    #[test]
    fn an_end_on_a_due_time_excludes_it() {
        let pacer = Constant::new(1000.0);
        assert_eq!(pacer.due_before(0), 0);
        assert_eq!(pacer.due_before(1), 1);
        assert_eq!(pacer.due_before(10 * NANOS_PER_S), 10_000);
    }

    proptest! {
        /// The count is exact at any rate and end: the last counted operation is due before the end, the next is not.
        #[test]
        fn due_before_counts_exactly(rate in 0.001f64..2e6, end in 0u64..100_000_000_000) {
            let pacer = Constant::new(rate);
            let count = pacer.due_before(end);
            prop_assert!(count == 0 || pacer.due_ns(count - 1) < end);
            prop_assert!(pacer.due_ns(count) >= end);
        }

        /// Shards of any number offer each operation once, at the same instant as one shard would.
        #[test]
        fn shards_offer_what_one_would(rate in 1.0f64..1e5, shards in 1u64..9) {
            let pacer = Constant::new(rate);
            let mut offered: Vec<u64> = (0..shards).flat_map(|k| (k..100).step_by(shards as usize)).collect();
            offered.sort_unstable();
            let due: Vec<Due> = offered.into_iter().map(|index| pacer.due(index)).collect();
            prop_assert_eq!(due, (0..100).map(|index| pacer.due(index)).collect::<Vec<_>>());
        }
    }
}
