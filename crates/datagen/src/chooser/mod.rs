//! Which record an operation takes: one popularity law per file, and the scatter from popularity rank to record.

mod exponential;
mod hotspot;
mod latest;
mod sequential;
mod spec;
mod uniform;
mod zipfian;

pub use spec::{ChooserSpec, THETA_MAX};
pub(crate) use zipfian::Zipfian;

use exponential::Exponential;
use hotspot::Hotspot;
use latest::Latest;
use sequential::Sequential;
use uniform::Uniform;

use crate::{OpRng, Permutation, SpecError};

/// Draws the records that operations take; made once from a [`ChooserSpec`].
#[derive(Clone, Debug)]
pub struct KeyChooser {
    law: Law,
    record_count: u64,
}

/// A law, with a permutation where it speaks of popularity ranks.
#[derive(Clone, Debug)]
enum Law {
    Uniform(Uniform),
    Zipfian(Zipfian, Permutation),
    Latest(Latest),
    Hotspot(Hotspot, Permutation),
    Exponential(Exponential, Permutation),
    Sequential(Sequential),
}

impl KeyChooser {
    /// Prepares the law of `spec` over `record_count` records. `seed` decides which records are the popular ones.
    ///
    /// # Errors
    /// As [`ChooserSpec::validate`], or `record_count` when there is no record to choose.
    pub fn new(spec: &ChooserSpec, record_count: u64, seed: u64) -> Result<Self, SpecError> {
        spec.validate()?;
        if record_count == 0 {
            return Err(SpecError::new("record_count", "must be at least 1, so that a record can be chosen"));
        }
        let n = record_count;
        let scatter = || Permutation::new(n, seed);
        let law = match *spec {
            ChooserSpec::Uniform => Law::Uniform(Uniform::new(n)),
            ChooserSpec::Zipfian { theta } => Law::Zipfian(Zipfian::new(n, theta), scatter()),
            ChooserSpec::Latest { theta } => Law::Latest(Latest::new(n, theta)),
            ChooserSpec::Hotspot { data_fraction, operation_fraction } => {
                Law::Hotspot(Hotspot::new(n, data_fraction, operation_fraction), scatter())
            }
            ChooserSpec::Exponential { percentile, fraction } => {
                Law::Exponential(Exponential::new(n, percentile, fraction), scatter())
            }
            ChooserSpec::Sequential => Law::Sequential(Sequential::new(n)),
        };
        Ok(Self { law, record_count })
    }

    /// The record of operation `index`, in `0..record_count`. [`Self::is_latest`] choosers return the distance behind
    /// the newest record instead, 0 being the newest.
    #[inline]
    pub fn draw(&self, rng: &mut OpRng, index: u64) -> u64 {
        match &self.law {
            Law::Uniform(uniform) => uniform.draw(rng),
            Law::Zipfian(zipfian, scatter) => scatter.apply(zipfian.draw(rng)),
            Law::Latest(latest) => latest.draw(rng),
            Law::Hotspot(hotspot, scatter) => scatter.apply(hotspot.draw(rng)),
            Law::Exponential(exponential, scatter) => scatter.apply(exponential.draw(rng)),
            Law::Sequential(sequential) => sequential.draw(index),
        }
    }

    /// Whether a draw is a distance behind the newest record, which only the caller knows.
    pub fn is_latest(&self) -> bool {
        matches!(self.law, Law::Latest(_))
    }

    /// Draws are below this.
    pub fn record_count(&self) -> u64 {
        self.record_count
    }
}
