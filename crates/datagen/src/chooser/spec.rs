//! The popularity laws as a plan names them.

use serde::{Deserialize, Serialize};

use crate::SpecError;
use crate::spec_error::no_parameters;

/// Upper bound of a zipfian theta. At 10 the first record already takes 99.9 % of the operations.
pub const THETA_MAX: f64 = 10.0;

/// How popular the records are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ChooserSpec {
    /// Every record equally often.
    #[serde(deserialize_with = "no_parameters")]
    Uniform,
    /// The record of rank *k* = 1 … *n* in proportion to *k*^-theta.
    Zipfian {
        /// Skew from 0 (uniform) to [`THETA_MAX`]; YCSB's is 0.99.
        theta: f64,
    },
    /// The *k*-th newest record in proportion to *k*^-theta.
    Latest {
        /// Skew from 0 (uniform) to [`THETA_MAX`]; YCSB's is 0.99.
        theta: f64,
    },
    /// A hot set of records takes a share of the operations; within either set every record is equally popular.
    Hotspot {
        /// Share of the records that is hot, above 0 and up to 1. The set is rounded to whole records, at least one.
        data_fraction: f64,
        /// Share of the operations that goes to the hot set, 0 to 1.
        operation_fraction: f64,
    },
    /// Popularity falls exponentially with the rank: `percentile` percent of the operations go to the first `fraction` of
    /// the records. What the law puts beyond the last record is drawn again, as in YCSB.
    Exponential {
        /// Percentage of the operations, between 0 and 100; YCSB's is 95.
        percentile: f64,
        /// Share of the records, above 0 and up to 1; YCSB's is 0.8571428571.
        fraction: f64,
    },
    /// Operation *i* takes record *i* modulo *n*.
    #[serde(deserialize_with = "no_parameters")]
    Sequential,
}

impl ChooserSpec {
    /// Checks every bound.
    ///
    /// # Errors
    /// The first value that is out of bounds, with its path.
    pub fn validate(&self) -> Result<(), SpecError> {
        match *self {
            Self::Uniform | Self::Sequential => Ok(()),
            Self::Zipfian { theta } | Self::Latest { theta } => {
                check("theta", theta, (0.0..=THETA_MAX).contains(&theta), "must be from 0 to 10")
            }
            Self::Hotspot { data_fraction, operation_fraction } => {
                check_share("data_fraction", data_fraction)?;
                let in_bounds = (0.0..=1.0).contains(&operation_fraction);
                check("operation_fraction", operation_fraction, in_bounds, "must be from 0 to 1")
            }
            Self::Exponential { percentile, fraction } => {
                let in_bounds = percentile > 0.0 && percentile < 100.0;
                check("percentile", percentile, in_bounds, "must be above 0 and below 100")?;
                check_share("fraction", fraction)
            }
        }
    }
}

fn check_share(path: &str, share: f64) -> Result<(), SpecError> {
    check(path, share, share > 0.0 && share <= 1.0, "must be above 0 and at most 1")
}

fn check(path: &str, value: f64, in_bounds: bool, bounds: &str) -> Result<(), SpecError> {
    if in_bounds { Ok(()) } else { Err(SpecError::new(path, format!("{bounds}, got {value}"))) }
}
