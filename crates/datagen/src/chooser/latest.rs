//! The newest records most often.

use super::Zipfian;
use crate::OpRng;

/// Zipfian over the age of a record. Which record is the newest changes while a run inserts, so a draw is a distance behind
/// it: 0 is the newest.
#[derive(Clone, Debug)]
pub struct Latest {
    distance: Zipfian,
}

impl Latest {
    pub fn new(n: u64, theta: f64) -> Self {
        Self { distance: Zipfian::new(n, theta) }
    }

    #[inline]
    pub fn draw(&self, rng: &mut OpRng) -> u64 {
        self.distance.draw(rng)
    }
}
