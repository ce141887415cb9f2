//! When operations are due, as a plan says it.

use serde::{Deserialize, Serialize};

/// Upper bound of an offered rate. Due times are whole nanoseconds, so a higher rate has no meaning.
pub const RATE_OPS_PER_S_MAX: f64 = 1e9;

/// When operations are due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum PacerPlan {
    /// Each connection is a user that sends its next operation when the last is answered.
    Closed {
        /// Pause of a user after each reply.
        #[serde(default)]
        think_time: Option<ThinkTime>,
        /// Replies are never left alone so as to take several at once: the number of connections is what is sought.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        follows_replies: bool,
    },
    /// Threads, loops, ramp-up, as in JMeter: as many users as there are connections start evenly over the ramp-up,
    /// each performs `loops` operations one after another and leaves.
    Tlr {
        /// Operations of each user.
        loops: u64,
        /// Time from the start of the first user to the instant at which one more would start.
        ramp_up_ns: u64,
    },
    /// Operation *i* is due at *i* / rate, whatever the target does.
    Constant {
        /// Offered rate.
        rate_ops_per_s: f64,
    },
    /// Operations are due as in a Poisson process, whatever the target does.
    Poisson {
        /// Mean offered rate.
        rate_ops_per_s: f64,
    },
    /// A rate that changes with time, whatever the target does. What the last stage ends with is held.
    Stages {
        /// How arrivals are spread around the rate.
        arrivals: Arrivals,
        /// One after the other, from the run's start, warm-up included.
        stages: Vec<Stage>,
    },
}

/// Pause of a user between a reply and its next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThinkTime {
    /// Mean.
    pub mean_ns: u64,
    /// Distribution.
    pub law: ThinkLaw,
}

/// Distribution of think times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkLaw {
    /// Always the mean.
    Constant,
    /// Exponential: many short pauses, a few long ones.
    Exponential,
}

/// How arrivals are spread around an offered rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly.
    Even,
    /// As a Poisson process: as if very many users acted independently.
    Poisson,
}

/// A length of time in which the offered rate is level or changes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Rate at its start.
    pub from_ops_per_s: f64,
    /// Rate at its end.
    pub to_ops_per_s: f64,
    /// Its length.
    pub duration_ns: u64,
}
