//! How often what failed is attempted again, and after which rest.

use brimline_datagen::RngStream;

use crate::clock::Nanos;
use crate::plan::{ATTEMPT_COUNT_MAX, InsertRetries};

/// Random stream of the rests.
const STREAM_REST: u64 = 0x7265_7374;
/// Rests are spread around the interval by so much of it, so that what failed together does not come back together.
const SPREAD: f64 = 0.2;

/// How often an operation may fail, and how long its connection rests before it is attempted again.
#[derive(Clone, Copy, Debug)]
pub struct Perseverance {
    /// Attempts after the first.
    pub limit: u32,
    interval_ns: Nanos,
    rests: RngStream,
}

impl Perseverance {
    /// What `retries` asks for, with rests drawn from `seed`.
    pub fn new(retries: InsertRetries, seed: u64) -> Self {
        let InsertRetries { limit, interval_ns } = retries;
        Self { limit, interval_ns, rests: RngStream::new(seed, STREAM_REST) }
    }

    /// How long the rest is after attempt `attempt` of operation `index`, both counted from 0.
    pub fn rest_ns(&self, index: u64, attempt: u32) -> Nanos {
        let draw = index.wrapping_mul(u64::from(ATTEMPT_COUNT_MAX)).wrapping_add(u64::from(attempt));
        let part = 1.0 - SPREAD + 2.0 * SPREAD * self.rests.at(draw).next_f64();
        (self.interval_ns as f64 * part) as Nanos
    }
}
