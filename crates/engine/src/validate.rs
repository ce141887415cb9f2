//! What a plan must satisfy before anything is connected or sent.

use crate::clock::{NANOS_PER_S, Nanos};
use crate::plan::{
    CONNECTION_COUNT_MAX, PLAN_VERSION, PacerPlan, Plan, PlanError, RATE_OPS_PER_S_MAX, THREAD_COUNT_MAX,
    TargetPlan, Work,
};

/// Longest warm-up, window or time-out: 30 days.
const TIME_NS_MAX: Nanos = 30 * 24 * 3600 * NANOS_PER_S;
/// Shortest sample interval; shorter ones cost more than they show.
const INTERVAL_NS_MIN: Nanos = NANOS_PER_S / 100;
/// Documents per insert command that servers accept.
const BATCH_SIZE_MAX: u32 = 100_000;
/// Least cost of a simulated generator. At no cost a closed loop on a server without service time would never end.
const GENERATOR_NS_MIN: Nanos = 100;

impl Plan {
    /// Checks every value against its bounds.
    ///
    /// # Errors
    /// The first value that is out of bounds.
    pub fn validate(&self) -> Result<(), PlanError> {
        require(self.version == PLAN_VERSION, "version", || {
            format!("this engine reads version {PLAN_VERSION}, got: {}", self.version)
        })?;
        self.validate_namespace()?;
        self.data.validate().map_err(|error| PlanError::inside("data", &error))?;
        self.validate_work()?;
        self.validate_pacer()?;
        self.validate_target()?;
        self.validate_concurrency()?;
        self.validate_times()
    }

    /// Engine threads in use: no more than connections, and one on a virtual clock.
    pub fn thread_count(&self) -> u32 {
        match self.target {
            TargetPlan::Simulated { .. } => 1,
            TargetPlan::Wire { .. } | TargetPlan::Null {} => self.threads.min(self.connections),
        }
    }

    fn validate_namespace(&self) -> Result<(), PlanError> {
        let database = &self.namespace.database;
        require(
            !database.is_empty()
                && database.len() < 64
                && !database.contains(['/', '\\', '.', ' ', '"', '$', '\0']),
            "namespace.database",
            || format!("`{}` is no database name", database.escape_debug()),
        )?;
        let collection = &self.namespace.collection;
        require(
            !collection.is_empty() && collection.len() < 200 && !collection.contains(['$', '\0']),
            "namespace.collection",
            || format!("`{}` is no collection name", collection.escape_debug()),
        )
    }

    fn validate_work(&self) -> Result<(), PlanError> {
        match &self.work {
            Work::Mix { proportions, keys, scan_length, .. } => {
                let shares = proportions.shares();
                require(
                    shares.iter().all(|share| share.is_finite() && *share >= 0.0),
                    "work.proportions",
                    || "shares must be finite and not negative".to_owned(),
                )?;
                require(shares.iter().sum::<f64>() > 0.0, "work.proportions", || {
                    "the shares add up to 0, so there is nothing to do".to_owned()
                })?;
                require(self.data.record_count > 0, "data.record_count", || {
                    "operations need at least one record".to_owned()
                })?;
                keys.validate().map_err(|error| PlanError::inside("work.keys", &error))?;
                scan_length.validate().map_err(|error| PlanError::inside("work.scan_length", &error))?;
                require(i32::try_from(scan_length.max()).is_ok(), "work.scan_length", || {
                    "a scan can't ask for that many documents".to_owned()
                })?;
                require(self.duration_ns.is_some() || self.operation_count.is_some(), "duration_ns", || {
                    "a mix needs a duration or a number of operations".to_owned()
                })
            }
            Work::Load { batch_size, .. } => {
                require((1..=BATCH_SIZE_MAX).contains(batch_size), "work.batch_size", || {
                    format!("must be 1 to {BATCH_SIZE_MAX}, got: {batch_size}")
                })
            }
        }
    }

    fn validate_pacer(&self) -> Result<(), PlanError> {
        match self.pacer {
            PacerPlan::Closed {} => Ok(()),
            PacerPlan::Constant { rate_ops_per_s: rate } => {
                require(rate > 0.0 && rate <= RATE_OPS_PER_S_MAX, "pacer.rate_ops_per_s", || {
                    format!("must be above 0 and at most {RATE_OPS_PER_S_MAX:e}, got: {rate}")
                })
            }
        }
    }

    fn validate_target(&self) -> Result<(), PlanError> {
        match &self.target {
            TargetPlan::Wire { .. } | TargetPlan::Null {} => Ok(()),
            TargetPlan::Simulated { script, generator_ns } => {
                script.validate().map_err(|error| {
                    PlanError::new(&format!("target.script.{}", error.path), error.message)
                })?;
                require(*generator_ns >= GENERATOR_NS_MIN, "target.generator_ns", || {
                    format!("must be at least {GENERATOR_NS_MIN}, got: {generator_ns}")
                })
            }
        }
    }

    fn validate_concurrency(&self) -> Result<(), PlanError> {
        require((1..=CONNECTION_COUNT_MAX).contains(&self.connections), "connections", || {
            format!("must be 1 to {CONNECTION_COUNT_MAX}, got: {}", self.connections)
        })?;
        require((1..=THREAD_COUNT_MAX).contains(&self.threads), "threads", || {
            format!("must be 1 to {THREAD_COUNT_MAX}, got: {}", self.threads)
        })
    }

    fn validate_times(&self) -> Result<(), PlanError> {
        let bounded = [
            ("warmup_ns", self.warmup_ns),
            ("drain_timeout_ns", self.drain_timeout_ns),
            ("operation_timeout_ns", self.operation_timeout_ns),
            ("connect_timeout_ns", self.connect_timeout_ns),
            ("interval_ns", self.interval_ns),
            ("duration_ns", self.duration_ns.unwrap_or(1)),
        ];
        for (path, time_ns) in bounded {
            require(time_ns <= TIME_NS_MAX, path, || "must be at most 30 days".to_owned())?;
        }
        require(self.duration_ns != Some(0), "duration_ns", || "must not be 0".to_owned())?;
        require(self.operation_count != Some(0), "operation_count", || "must not be 0".to_owned())?;
        require(self.interval_ns >= INTERVAL_NS_MIN, "interval_ns", || {
            format!("must be at least {INTERVAL_NS_MIN}, got: {}", self.interval_ns)
        })
    }
}

fn require(holds: bool, path: &str, message: impl FnOnce() -> String) -> Result<(), PlanError> {
    if holds { Ok(()) } else { Err(PlanError::new(path, message())) }
}
