//! Lengths of field values and scans: YCSB's `fieldlengthdistribution` and `scanlengthdistribution`.

use serde::{Deserialize, Serialize};

use crate::chooser::Zipfian;
use crate::{OpRng, SpecError};

/// Upper bound of a length, as large as a whole document may be.
pub const LENGTH_MAX: u32 = 16 * 1024 * 1024;
/// Upper bound of the entries of a histogram.
pub const HISTOGRAM_ENTRIES_MAX: usize = 65_536;
/// Skew of zipfian lengths; YCSB offers no other.
const LENGTH_THETA: f64 = 0.99;

/// How long something is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum LengthSpec {
    /// Always the same.
    Constant {
        /// The length.
        length: u32,
    },
    /// Every length from `min` to `max`, both included, equally often.
    Uniform {
        /// Shortest.
        min: u32,
        /// Longest.
        max: u32,
    },
    /// Zipfian with theta 0.99 over `min` to `max`, both included: `min` is the most frequent.
    Zipfian {
        /// Shortest and most frequent.
        min: u32,
        /// Longest and least frequent.
        max: u32,
    },
    /// The lengths of a list, each as often as its weight says.
    Histogram {
        /// Pairs of length and weight; the weights are normalised by their sum.
        weights: Vec<(u32, f64)>,
    },
}

impl LengthSpec {
    /// Checks every bound.
    ///
    /// # Errors
    /// The first value that is out of bounds, with its path.
    pub fn validate(&self) -> Result<(), SpecError> {
        match self {
            Self::Constant { length } => check_length("length", *length),
            Self::Uniform { min, max } | Self::Zipfian { min, max } => check_range(*min, *max),
            Self::Histogram { weights } => check_weights(weights),
        }
    }

    /// The longest length that can be drawn.
    pub fn max(&self) -> u32 {
        match self {
            Self::Constant { length } => *length,
            Self::Uniform { max, .. } | Self::Zipfian { max, .. } => *max,
            Self::Histogram { weights } => possible(weights).map(|(length, _)| length).max().unwrap_or(0),
        }
    }
}

/// Draws lengths; made once from a [`LengthSpec`].
#[derive(Clone, Debug)]
pub struct LengthChooser {
    law: Law,
    max: u32,
}

#[derive(Clone, Debug)]
enum Law {
    Constant(u32),
    Uniform {
        min: u32,
        count: u64,
    },
    Zipfian {
        min: u32,
        excess: Zipfian,
    },
    Histogram {
        lengths: Vec<u32>,
        /// Sum of the weights up to and including each length's own.
        cumulative: Vec<f64>,
    },
}

impl LengthChooser {
    /// Prepares the law of `spec`.
    ///
    /// # Errors
    /// As [`LengthSpec::validate`].
    pub fn new(spec: &LengthSpec) -> Result<Self, SpecError> {
        spec.validate()?;
        let count = |min: u32, max: u32| u64::from(max - min) + 1;
        let law = match spec {
            LengthSpec::Constant { length } => Law::Constant(*length),
            LengthSpec::Uniform { min, max } => Law::Uniform { min: *min, count: count(*min, *max) },
            LengthSpec::Zipfian { min, max } => {
                Law::Zipfian { min: *min, excess: Zipfian::new(count(*min, *max), LENGTH_THETA) }
            }
            LengthSpec::Histogram { weights } => histogram(weights),
        };
        Ok(Self { law, max: spec.max() })
    }

    /// The next length.
    #[inline]
    pub fn draw(&self, rng: &mut OpRng) -> u32 {
        match &self.law {
            Law::Constant(length) => *length,
            Law::Uniform { min, count } => min + rng.below(*count) as u32,
            Law::Zipfian { min, excess } => min + excess.draw(rng) as u32,
            Law::Histogram { lengths, cumulative } => {
                let at = rng.next_f64() * cumulative[cumulative.len() - 1];
                let bucket = cumulative.partition_point(|&sum| sum <= at);
                lengths[bucket.min(lengths.len() - 1)]
            }
        }
    }

    /// The length, where all are the same; then nothing is drawn for it.
    #[inline]
    pub fn constant(&self) -> Option<u32> {
        match self.law {
            Law::Constant(length) => Some(length),
            _ => None,
        }
    }

    /// The longest length that can be drawn.
    pub fn max(&self) -> u32 {
        self.max
    }
}

fn histogram(weights: &[(u32, f64)]) -> Law {
    let mut sum = 0.0;
    let cumulate = |(length, weight)| {
        sum += weight;
        (length, sum)
    };
    let (lengths, cumulative) = possible(weights).map(cumulate).unzip();
    Law::Histogram { lengths, cumulative }
}

/// The entries that can be drawn at all.
fn possible(weights: &[(u32, f64)]) -> impl Iterator<Item = (u32, f64)> {
    weights.iter().copied().filter(|&(_, weight)| weight > 0.0)
}

fn check_length(path: &str, length: u32) -> Result<(), SpecError> {
    if length > LENGTH_MAX {
        return Err(SpecError::new(path, format!("must be at most {LENGTH_MAX}, got {length}")));
    }
    Ok(())
}

fn check_range(min: u32, max: u32) -> Result<(), SpecError> {
    check_length("max", max)?;
    if min > max {
        return Err(SpecError::new("min", format!("must be at most max, which is {max}, got {min}")));
    }
    Ok(())
}

fn check_weights(weights: &[(u32, f64)]) -> Result<(), SpecError> {
    if weights.is_empty() || weights.len() > HISTOGRAM_ENTRIES_MAX {
        let message = format!("must have 1 to {HISTOGRAM_ENTRIES_MAX} entries, got {}", weights.len());
        return Err(SpecError::new("weights", message));
    }
    for (index, &(length, weight)) in weights.iter().enumerate() {
        let path = format!("weights.{index}");
        check_length(&path, length)?;
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(SpecError::new(path, format!("weight must be a number from 0, got {weight}")));
        }
    }
    let sum: f64 = weights.iter().map(|&(_, weight)| weight).sum();
    if !(sum.is_finite() && sum > 0.0) {
        return Err(SpecError::new("weights", format!("must have a positive, finite sum, got {sum}")));
    }
    Ok(())
}
