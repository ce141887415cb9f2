//! When operations are due. A pacer is pure: it reads no clock and waits for nothing, so that a late worker cannot shift
//! the schedule and every due time can be computed again afterwards.

mod closed;
mod constant;

pub use closed::Closed;
pub use constant::Constant;

use crate::clock::Nanos;
use crate::plan::PacerPlan;

/// When an operation is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At this instant, whatever the target does.
    At(Nanos),
    /// As soon as a connection is free.
    WhenFree,
}

/// The schedule of one run.
#[derive(Clone, Copy, Debug)]
pub enum Pacer {
    /// See [`Closed`].
    Closed(Closed),
    /// See [`Constant`].
    Constant(Constant),
}

impl Pacer {
    /// The schedule that `plan` describes.
    pub fn new(plan: &PacerPlan) -> Self {
        match *plan {
            PacerPlan::Closed {} => Self::Closed(Closed),
            PacerPlan::Constant { rate_ops_per_s } => Self::Constant(Constant::new(rate_ops_per_s)),
        }
    }

    /// When operation `index` of the run is due.
    #[inline]
    pub fn due(&self, index: u64) -> Due {
        match self {
            Self::Closed(closed) => closed.due(index),
            Self::Constant(constant) => constant.due(index),
        }
    }

    /// Whether due times depend on the target: then service time is all that can be measured.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// How many of the operations 0, 1, 2 … are due before `end`; `None` when that depends on the target.
    pub fn due_before(&self, end: Nanos) -> Option<u64> {
        match self {
            Self::Closed(_) => None,
            Self::Constant(constant) => Some(constant.due_before(end)),
        }
    }
}
