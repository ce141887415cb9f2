//! When operations are due. A pacer is pure: it reads no clock and waits for nothing, so that a late worker cannot shift
//! the schedule and every due time can be computed again afterwards.

mod closed;
mod open;
mod profile;

pub use closed::Closed;
pub use open::{Open, Walk};
pub use profile::Profile;

use crate::plan::Plan;
use crate::plan::pacer::{Arrivals, PacerPlan};

/// The schedule of one run.
#[derive(Clone, Debug)]
pub enum Pacer {
    /// Users that wait for their replies.
    Closed(Closed),
    /// Instants that don't depend on the target.
    Open(Open),
}

impl Pacer {
    /// The schedule that `plan` describes.
    pub fn new(plan: &Plan) -> Self {
        let is_pooled = plan.worker_count() > plan.connections;
        let open = |profile, arrivals| Self::Open(Open::new(profile, arrivals, plan.seed));
        match &plan.pacer {
            PacerPlan::Closed { think_time, follows_replies } => Self::Closed(
                Closed::new(*think_time, plan.seed).following_replies(*follows_replies || is_pooled),
            ),
            PacerPlan::Tlr { loops, ramp_up_ns } => {
                Self::Closed(Closed::staggered(u64::from(plan.worker_count()), *loops, *ramp_up_ns))
            }
            PacerPlan::Constant { rate_ops_per_s } => {
                open(Profile::constant(*rate_ops_per_s), Arrivals::Even)
            }
            PacerPlan::Poisson { rate_ops_per_s } => {
                open(Profile::constant(*rate_ops_per_s), Arrivals::Poisson)
            }
            PacerPlan::Stages { arrivals, stages } => open(Profile::new(stages), *arrivals),
        }
    }

    /// Whether each reply calls for the next operation, and nothing else does.
    pub fn is_back_to_back(&self) -> bool {
        matches!(self, Self::Closed(closed) if !closed.thinks())
    }

    /// Whether replies of a closed loop may be left alone for a moment.
    pub fn may_rest(&self) -> bool {
        matches!(self, Self::Closed(closed) if closed.may_rest())
    }

    /// The arrivals of an open loop.
    pub fn open(&self) -> Option<&Open> {
        match self {
            Self::Closed(_) => None,
            Self::Open(open) => Some(open),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of threads or connections says how many requests are under way only where none waits for the generator.
    #[test]
    fn replies_are_followed_where_the_number_of_connections_is_what_counts() {
        let rests = |closed: Closed| Pacer::Closed(closed).may_rest();
        assert!(rests(Closed::new(None, 1)));
        assert!(!rests(Closed::new(None, 1).following_replies(true)));
        assert!(!rests(Closed::staggered(100, 10, 0)));
    }
}
