//! A hot set and a cold set.

use crate::OpRng;

/// The ranks `0..hot` take `operation_fraction` of the draws, the ranks `hot..n` the rest, each set uniformly.
#[derive(Clone, Debug)]
pub struct Hotspot {
    hot: u64,
    cold: u64,
    operation_fraction: f64,
}

impl Hotspot {
    pub fn new(n: u64, data_fraction: f64, operation_fraction: f64) -> Self {
        let hot = ((n as f64 * data_fraction).round() as u64).clamp(1, n);
        Self { hot, cold: n - hot, operation_fraction }
    }

    #[inline]
    pub fn draw(&self, rng: &mut OpRng) -> u64 {
        // Where every record is hot, the cold set's share of the operations has nowhere else to go.
        if rng.next_f64() < self.operation_fraction || self.cold == 0 {
            rng.below(self.hot)
        } else {
            self.hot + rng.below(self.cold)
        }
    }
}
