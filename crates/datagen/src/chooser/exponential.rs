//! Popularity that falls exponentially with the rank.

use crate::OpRng;

/// Rank ⌊X⌋ of an exponential X that stays below *n*. YCSB draws again when X is beyond the last record; the inverse of the
/// truncated distribution gives the same law in one draw.
#[derive(Clone, Debug)]
pub struct Exponential {
    /// Mean of X before truncation.
    mean: f64,
    /// Probability that X is below *n*.
    reach: f64,
    last: u64,
}

impl Exponential {
    /// `percentile` percent of X are below `fraction` · `n`.
    pub fn new(n: u64, percentile: f64, fraction: f64) -> Self {
        let mean = -(n as f64 * fraction) / (-percentile / 100.0).ln_1p();
        Self { mean, reach: -(-(n as f64) / mean).exp_m1(), last: n - 1 }
    }

    #[inline]
    pub fn draw(&self, rng: &mut OpRng) -> u64 {
        self.rank(rng.next_f64())
    }

    /// The rank below which lies the share `u` of the operations, `u` in [0, 1).
    fn rank(&self, u: f64) -> u64 {
        let x = -self.mean * (-u * self.reach).ln_1p();
        // Close to 1, rounding can carry X up to *n*.
        (x as u64).min(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_gives_the_last_rank_at_most() {
        let largest = 1.0 - f64::EPSILON / 2.0;
        for n in [1, 2, 3, 10, 66_507, 66_900, u64::MAX] {
            for (percentile, fraction) in
                [(1e-9, 1.0), (6.930_000_001, 0.108), (1.980_000_001, 0.203), (95.0, 0.857)]
            {
                let law = Exponential::new(n, percentile, fraction);
                assert!(law.rank(largest) < n, "{n} {percentile} {fraction}");
                assert_eq!(law.rank(0.0), 0);
            }
        }
    }
}
