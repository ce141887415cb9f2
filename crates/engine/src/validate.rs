//! What a plan must satisfy before anything is connected or sent.

use brimline_datagen::Values;

use crate::clock::{NANOS_PER_S, Nanos};
use crate::command::Statements;
use crate::kinds::OperationKind;
use crate::plan::error::{PlanError, require};
use crate::plan::pacer::{PacerPlan, RATE_OPS_PER_S_MAX, Stage, ThinkTime};
use crate::plan::target::{Reads, TargetPlan};
use crate::plan::{
    ATTEMPT_COUNT_MAX, CONNECTION_COUNT_MAX, InsertRetries, NODE_COUNT_MAX, PLAN_VERSION, Plan, RecordRange,
    Share, THREAD_COUNT_MAX, Work,
};

/// Longest warm-up, window or time-out: 30 days.
const LENGTH_NS_MAX: Nanos = 30 * 24 * 3600 * NANOS_PER_S;
/// Shortest sample interval; shorter ones cost more than they show.
const INTERVAL_NS_MIN: Nanos = NANOS_PER_S / 100;
/// Longest rest before an attempt: 1 h.
const REST_NS_MAX: Nanos = 3600 * NANOS_PER_S;
/// Documents per insert command that servers accept.
const BATCH_SIZE_MAX: u32 = 100_000;
/// Most stages of a load; each interval can have one of its own for a day of seconds.
const STAGE_COUNT_MAX: usize = 100_000;
/// Most servers that the generator routes to.
const SHARD_COUNT_MAX: usize = 64;
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
        self.validate_share()?;
        self.validate_insert_batches()?;
        self.validate_insert_retries()?;
        self.validate_upserts()?;
        self.validate_pacer()?;
        self.validate_target()?;
        self.validate_concurrency()?;
        self.validate_times()
    }

    /// Engine threads in use: no more than there is in flight, one on a virtual clock, and one beside a runner, which has the work. The users of a T-L-R plan
    /// are shared out evenly, so that each thread has as many operations as its users perform. Of several nodes each has as many.
    pub fn thread_count(&self) -> u32 {
        if matches!(self.target, TargetPlan::Simulated { .. }) || self.target.is_runner() {
            return 1;
        }
        let nodes = self.share().nodes;
        let most = self.connections.min(self.in_flight_max.unwrap_or(u32::MAX)) / nodes;
        let useful = self.threads.min(most);
        match self.pacer {
            PacerPlan::Tlr { .. } => {
                let is_even = |count: &u32| self.worker_count().is_multiple_of(count * nodes);
                (1..=useful).rev().find(is_even).unwrap_or(1)
            }
            _ => useful,
        }
    }

    /// Among how many threads its operations are shared out: those of all nodes.
    pub fn shard_count(&self) -> u32 {
        self.thread_count() * self.share().nodes
    }

    /// Users of a closed loop: as many as may be in flight. Where they are more than there are connections, they share those.
    pub fn worker_count(&self) -> u32 {
        self.in_flight_max.map_or(self.connections, |max| max.max(self.connections))
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
            Work::Mix { proportions, keys, scan_length, transaction, .. } => {
                self.validate_named_fields()?;
                self.validate_verification()?;
                let shares = proportions.shares();
                require(
                    shares.iter().all(|share| share.is_finite() && *share >= 0.0),
                    "work.proportions",
                    || "shares must be finite and not negative".to_owned(),
                )?;
                require(shares.iter().sum::<f64>() > 0.0, "work.proportions", || {
                    "the shares add up to 0, so there is nothing to do".to_owned()
                })?;
                if self.has_transactions() {
                    self.validate_transaction(transaction.unwrap_or_default())?;
                }
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
            Work::Load { batch_size, ranges, .. } => {
                require((1..=BATCH_SIZE_MAX).contains(batch_size), "work.batch_size", || {
                    format!("must be 1 to {BATCH_SIZE_MAX}, got: {batch_size}")
                })?;
                ranges.as_deref().map_or(Ok(()), |ranges| self.validate_ranges(ranges))
            }
            Work::Operations(own) => {
                require(self.duration_ns.is_some() || self.operation_count.is_some(), "duration_ns", || {
                    "operations need a duration or a number of them".to_owned()
                })?;
                own.validate(self)?;
                own.loads.iter().try_for_each(|load| {
                    let beside = self.beside(load);
                    beside.validate_pacer()?;
                    beside.validate_concurrency()
                })
            }
        }
    }

    /// Each node that takes part has something to do, and a clock of its own to do it on.
    fn validate_share(&self) -> Result<(), PlanError> {
        let Some(Share { node, nodes }) = self.share else { return Ok(()) };
        require((1..=NODE_COUNT_MAX).contains(&nodes), "share.nodes", || {
            format!("must be 1 to {NODE_COUNT_MAX}, got: {nodes}")
        })?;
        require(node < nodes, "share.node", || format!("must be below {nodes}, got: {node}"))?;
        require(self.connections >= nodes, "connections", || {
            format!("{nodes} nodes need a connection each, got: {}", self.connections)
        })?;
        require(self.in_flight_max.is_none_or(|max| max >= nodes), "in_flight_max", || {
            format!("{nodes} nodes need a place in flight each")
        })?;
        let is_even =
            !matches!(self.pacer, PacerPlan::Tlr { .. }) || self.worker_count().is_multiple_of(nodes);
        require(is_even, "connections", || {
            format!(
                "{} workers with loops of their own can't be shared out evenly among {nodes} nodes",
                self.worker_count()
            )
        })
    }

    /// Naming the fields of reads does something.
    fn validate_named_fields(&self) -> Result<(), PlanError> {
        let Work::Mix { name_read_fields: true, read_all_fields, proportions, .. } = &self.work else {
            return Ok(());
        };
        require(
            *read_all_fields && proportions.any(OperationKind::only_reads_by_key),
            "work.name_read_fields",
            || "would have no effect without reads of whole documents".to_owned(),
        )
    }

    /// Batches of inserts are of a size that a command can have, and go to one server.
    fn validate_insert_batches(&self) -> Result<(), PlanError> {
        let Work::Mix { insert_batch_size, proportions, .. } = &self.work else { return Ok(()) };
        let path = "work.insert_batch_size";
        require((1..=BATCH_SIZE_MAX).contains(insert_batch_size), path, || {
            format!("must be 1 to {BATCH_SIZE_MAX}, got: {insert_batch_size}")
        })?;
        if *insert_batch_size == 1 {
            return Ok(());
        }
        require(proportions.any(OperationKind::inserts), path, || {
            "would have no effect without inserts".to_owned()
        })?;
        require(self.server_count() == 1, path, || {
            "goes to one server, so that records can't be shared out among several by the client".to_owned()
        })
    }

    /// How often a load attempts what failed, and that it is one document.
    fn validate_insert_retries(&self) -> Result<(), PlanError> {
        let Some(InsertRetries { limit, interval_ns }) = self.insert_retries() else { return Ok(()) };
        let path = "work.insert_retries";
        require((1..=ATTEMPT_COUNT_MAX).contains(&limit), path, || {
            format!("a limit must be 1 to {ATTEMPT_COUNT_MAX}, got: {limit}")
        })?;
        require(interval_ns <= REST_NS_MAX, path, || "an interval must be at most 1 h".to_owned())?;
        require(matches!(self.work, Work::Load { batch_size: 1, .. }), path, || {
            "needs one document per command: of a batch some may be there already".to_owned()
        })
    }

    /// There are inserts to make updates of.
    fn validate_upserts(&self) -> Result<(), PlanError> {
        let inserts = match &self.work {
            Work::Mix { proportions, .. } => proportions.any(OperationKind::inserts),
            Work::Load { .. } => true,
            Work::Operations(_) => false,
        };
        require(!self.upserts() || inserts, "work.upsert", || {
            "would have no effect without inserts".to_owned()
        })
    }

    /// There is something to verify, and a target that hands it out.
    fn validate_verification(&self) -> Result<(), PlanError> {
        let Work::Mix { verify_reads: true, proportions, .. } = &self.work else { return Ok(()) };
        let refuse = |words: &str| Err(PlanError::new("work.verify_reads", words));
        if self.data.values != Values::Derived {
            return refuse("needs data with derived values");
        }
        if !proportions.any(OperationKind::reads_by_key) {
            return refuse("would have no effect without reads by key");
        }
        match self.target {
            TargetPlan::Wire { .. } => Ok(()),
            _ => refuse("is for the wire client; no other target hands out what it read"),
        }
    }

    /// It does something, and a target that has transactions is there for it.
    fn validate_transaction(&self, statements: Statements) -> Result<(), PlanError> {
        require(statements.count() > 0, "work.transaction", || "it neither reads nor updates".to_owned())?;
        require(self.server_count() == 1, "work.transaction", || {
            "client-routed shards know nothing of each other, so that no transaction spans them".to_owned()
        })
    }

    /// Some of the plan's records, each once.
    fn validate_ranges(&self, ranges: &[RecordRange]) -> Result<(), PlanError> {
        require(!ranges.is_empty(), "work.ranges", || "must not be empty".to_owned())?;
        let end = self.data.insert_start.saturating_add(self.data.record_count);
        let mut free_from = self.data.insert_start;
        for (index, range) in ranges.iter().enumerate() {
            let range_end = range.first.saturating_add(range.count);
            require(range.count > 0 && range.first >= free_from && range_end <= end, "work.ranges", || {
                format!("range {index} is empty, not behind the one before it, or not within the records")
            })?;
            free_from = range_end;
        }
        Ok(())
    }

    fn validate_pacer(&self) -> Result<(), PlanError> {
        match &self.pacer {
            PacerPlan::Closed { think_time, .. } => self.validate_think_time(*think_time),
            PacerPlan::Tlr { loops, ramp_up_ns } => self.validate_tlr(*loops, *ramp_up_ns),
            PacerPlan::Constant { rate_ops_per_s: rate } | PacerPlan::Poisson { rate_ops_per_s: rate } => {
                require_rate(*rate, "pacer.rate_ops_per_s", *rate > 0.0)
            }
            PacerPlan::Stages { stages, .. } => validate_stages(stages),
        }
    }

    fn validate_think_time(&self, think_time: Option<ThinkTime>) -> Result<(), PlanError> {
        let (Some(ThinkTime { mean_ns, .. }), Some(duration_ns)) = (think_time, self.duration_ns) else {
            return Ok(());
        };
        require(mean_ns < self.warmup_ns.saturating_add(duration_ns), "pacer.think_time.mean_ns", || {
            "a think time as long as the run leaves each worker one operation".to_owned()
        })
    }

    fn validate_tlr(&self, loops: u64, ramp_up_ns: u64) -> Result<(), PlanError> {
        require(loops > 0, "pacer.loops", || "must be at least 1".to_owned())?;
        require((1..=LENGTH_NS_MAX).contains(&ramp_up_ns), "pacer.ramp_up_ns", || {
            "must be above 0 and at most 30 days".to_owned()
        })?;
        let wanted = loops.checked_mul(u64::from(self.worker_count()));
        require(wanted.is_some() && self.operation_count == wanted, "operation_count", || {
            "must be workers times loops".to_owned()
        })?;
        require(self.in_flight_max.is_none_or(|max| max > self.connections), "in_flight_max", || {
            "each worker has one operation in flight; a bound would change when workers start".to_owned()
        })
    }

    fn validate_target(&self) -> Result<(), PlanError> {
        match &self.target {
            TargetPlan::Wire { routers, shards, reads, replica_set, .. } if !shards.is_empty() => {
                require(replica_set.is_none(), "target.replica_set", || {
                    "client-routed shards are not followed".to_owned()
                })?;
                self.validate_shards(routers, shards, reads.as_ref())
            }
            TargetPlan::Wire { replica_set: Some(set), .. } => {
                require(!set.members.is_empty(), "target.replica_set.members", || {
                    "must not be empty".to_owned()
                })?;
                require(
                    set.selection_timeout_ns <= LENGTH_NS_MAX,
                    "target.replica_set.selection_timeout_ns",
                    || "must be at most 30 days".to_owned(),
                )
            }
            TargetPlan::Linked(target) => {
                require(
                    target.client.is_some() == target.max_pool_size.is_some_and(|size| size > 0),
                    "target.max_pool_size",
                    || "must be at least 1 with a client, and is of none without one".to_owned(),
                )?;
                require(target.client.is_none() || self.own().is_some(), "target.client", || {
                    "a load goes by brimline's own client".to_owned()
                })?;
                let fits = matches!(self.work, Work::Operations(_) | Work::Load { upsert: false, .. });
                require(fits, "work.kind", || {
                    "another protocol than MongoDB's has operations of the person's own, or a load".to_owned()
                })
            }
            TargetPlan::Runner(settings) => {
                require(!settings.addresses.is_empty(), "target.addresses", || {
                    "must not be empty".to_owned()
                })?;
                require(settings.max_pool_size > 0, "target.max_pool_size", || {
                    "must be at least 1".to_owned()
                })
            }
            TargetPlan::Wire { .. } | TargetPlan::Null { .. } => Ok(()),
            TargetPlan::Simulated { script, generator_ns, .. } => {
                script.validate().map_err(|error| {
                    PlanError::new(&format!("target.script.{}", error.path), error.message)
                })?;
                require(*generator_ns >= GENERATOR_NS_MIN, "target.generator_ns", || {
                    format!("must be at least {GENERATOR_NS_MIN}, got: {generator_ns}")
                })
            }
        }
    }

    /// Servers that the generator routes to know nothing of each other.
    fn validate_shards(
        &self,
        routers: &[String],
        shards: &[String],
        reads: Option<&Reads>,
    ) -> Result<(), PlanError> {
        require(shards.len() < SHARD_COUNT_MAX, "target.shards", || {
            format!("there are {} servers, and at most {SHARD_COUNT_MAX} can be", shards.len() + 1)
        })?;
        let apart = reads.is_some_and(|reads| !reads.addresses.is_empty());
        require(routers.is_empty() && !apart, "target.shards", || {
            "client-routed shards have no routers, and reads go where writes go".to_owned()
        })?;
        let scans =
            matches!(&self.work, Work::Mix { proportions, .. } if proportions.any(OperationKind::scans));
        require(!scans, "target.shards", || {
            "a scan can't go on from one client-routed shard to another".to_owned()
        })
    }

    fn validate_concurrency(&self) -> Result<(), PlanError> {
        let most_connections = CONNECTION_COUNT_MAX * self.share().nodes;
        require((1..=most_connections).contains(&self.connections), "connections", || {
            format!("must be 1 to {most_connections}, got: {}", self.connections)
        })?;
        require((1..=THREAD_COUNT_MAX).contains(&self.threads), "threads", || {
            format!("must be 1 to {THREAD_COUNT_MAX}, got: {}", self.threads)
        })?;
        let in_flight_max = self.in_flight_max.unwrap_or(self.connections);
        let is_closed = matches!(self.pacer, PacerPlan::Closed { .. } | PacerPlan::Tlr { .. });
        let most = if is_closed { most_connections } else { self.connections };
        require((1..=most).contains(&in_flight_max), "in_flight_max", || {
            format!("must be 1 to {most}, got: {in_flight_max}")
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
            require(time_ns <= LENGTH_NS_MAX, path, || "must be at most 30 days".to_owned())?;
        }
        require(self.duration_ns != Some(0), "duration_ns", || "must not be 0".to_owned())?;
        require(self.operation_count != Some(0), "operation_count", || "must not be 0".to_owned())?;
        require(self.interval_ns >= INTERVAL_NS_MIN, "interval_ns", || {
            format!("must be at least {INTERVAL_NS_MIN}, got: {}", self.interval_ns)
        })
    }
}

fn validate_stages(stages: &[Stage]) -> Result<(), PlanError> {
    require((1..=STAGE_COUNT_MAX).contains(&stages.len()), "pacer.stages", || {
        format!("must be 1 to {STAGE_COUNT_MAX}, got: {}", stages.len())
    })?;
    for (number, stage) in stages.iter().enumerate() {
        let Stage { from_ops_per_s: from, to_ops_per_s: to, duration_ns } = *stage;
        require_rate(from, &format!("pacer.stages.{number}.from_ops_per_s"), from >= 0.0)?;
        require_rate(to, &format!("pacer.stages.{number}.to_ops_per_s"), to >= 0.0)?;
        require(
            (1..=LENGTH_NS_MAX).contains(&duration_ns),
            &format!("pacer.stages.{number}.duration_ns"),
            || "must be above 0 and at most 30 days".to_owned(),
        )?;
    }
    let offers = stages.iter().any(|stage| stage.from_ops_per_s > 0.0 || stage.to_ops_per_s > 0.0);
    require(offers, "pacer.stages", || "no stage offers anything".to_owned())
}

fn require_rate(rate: f64, path: &str, is_positive_enough: bool) -> Result<(), PlanError> {
    require(is_positive_enough && rate <= RATE_OPS_PER_S_MAX, path, || {
        format!("must be above 0 and at most {RATE_OPS_PER_S_MAX:e}, got: {rate}")
    })
}
