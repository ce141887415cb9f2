//! Every record equally often.

use crate::OpRng;

/// Uniform over `0..n`.
#[derive(Clone, Debug)]
pub struct Uniform {
    n: u64,
}

impl Uniform {
    pub fn new(n: u64) -> Self {
        Self { n }
    }

    #[inline]
    pub fn draw(&self, rng: &mut OpRng) -> u64 {
        rng.below(self.n)
    }
}
