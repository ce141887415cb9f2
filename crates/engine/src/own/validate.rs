//! What the operations of a plan must satisfy together.

use std::collections::BTreeSet;

use super::plan::{OwnLoad, OwnOperation, OwnWork, TransactionPlace};
use crate::operation::OWN_OPERATIONS_MAX;
use crate::plan::Plan;
use crate::plan::error::{PlanError, require};
use crate::plan::pacer::PacerPlan;
use crate::plan::target::TargetPlan;

/// Most steps of all operations together.
const STEPS_MAX: usize = 4_096;
/// Most values that replies bring for later steps.
const SAVED_MAX: usize = 1_024;

impl OwnWork {
    /// Checks what the parts can't check themselves. Expressions are checked when they are prepared.
    pub(crate) fn validate(&self, plan: &Plan) -> Result<(), PlanError> {
        let operations = &self.operations;
        require((1..=OWN_OPERATIONS_MAX).contains(&operations.len()), "work.operations", || {
            format!("must be 1 to {OWN_OPERATIONS_MAX}, got: {}", operations.len())
        })?;
        require(self.steps().count() <= STEPS_MAX, "work.operations", || {
            format!("have more than {STEPS_MAX} steps")
        })?;
        require(self.saved.len() <= SAVED_MAX, "work.saved", || format!("are more than {SAVED_MAX}"))?;
        let names: BTreeSet<&str> = operations.iter().map(|operation| operation.name.as_str()).collect();
        require(names.len() == operations.len() && !names.contains(""), "work.operations", || {
            "must have names, each another".to_owned()
        })?;
        require(self.has_main_load(), "work.operations", || {
            "at least one must have a share of the plan's load".to_owned()
        })?;
        for (place, operation) in operations.iter().enumerate() {
            self.validate_operation(place, operation)?;
        }
        for (place, load) in self.loads.iter().enumerate() {
            self.validate_load(place, load)?;
        }
        let has_requests = self.steps().any(|(_, step)| step.request.is_some());
        let is_mixed = has_requests && self.steps().any(|(_, step)| step.request.is_none());
        let fits = match plan.target {
            TargetPlan::Null { .. } | TargetPlan::Simulated { .. } => !is_mixed,
            _ => !is_mixed && has_requests == plan.target.is_linked(),
        };
        require(fits, "work.operations", || "have steps of another protocol than the target's".to_owned())?;
        require(plan.server_count() == 1 || !self.has_transactions(), "target.shards", || {
            "client-routed shards know nothing of each other, so that no transaction spans them".to_owned()
        })?;
        require(!plan.operation_log, "operation_log", || "has no rows for own operations".to_owned())
    }

    fn validate_operation(&self, place: usize, operation: &OwnOperation) -> Result<(), PlanError> {
        let path = format!("work.operations.{place}");
        let OwnOperation { weight, steps, .. } = operation;
        require(weight.is_finite() && *weight >= 0.0, &format!("{path}.weight"), || {
            format!("must be a number from 0, got: {weight}")
        })?;
        require(!steps.is_empty(), &format!("{path}.steps"), || "must not be empty".to_owned())?;
        let names: BTreeSet<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        require(names.len() == steps.len(), &format!("{path}.steps"), || {
            "must have names, each another".to_owned()
        })?;
        let loads = self.loads.iter().filter(|load| load.operations.contains(&(place as u32))).count();
        require(loads == usize::from(*weight == 0.0), &path, || {
            "must have either a share of the plan's load or a load of its own".to_owned()
        })?;
        let mut is_open = false;
        for (number, step) in steps.iter().enumerate() {
            let path = format!("{path}.steps.{number}");
            let fits = match step.transaction {
                None | Some(TransactionPlace::Begin) => !is_open,
                Some(TransactionPlace::Inside | TransactionPlace::Commit) => is_open,
            };
            require(fits, &format!("{path}.transaction"), || {
                "a transaction begins, goes on and is committed, and holds no other".to_owned()
            })?;
            is_open = matches!(step.transaction, Some(TransactionPlace::Begin | TransactionPlace::Inside));
            let slots = step.save.iter().all(|save| (save.slot as usize) < self.saved.len());
            require(slots, &format!("{path}.save"), || "has a slot that the plan has not".to_owned())?;
            require(step.statements > 0, &format!("{path}.statements"), || "must be at least 1".to_owned())?;
        }
        require(!is_open, &format!("{path}.steps"), || "end within a transaction".to_owned())
    }

    fn validate_load(&self, place: usize, load: &OwnLoad) -> Result<(), PlanError> {
        let path = format!("work.loads.{place}");
        let known = load.operations.iter().all(|&each| (each as usize) < self.operations.len());
        require(known && !load.operations.is_empty(), &format!("{path}.operations"), || {
            "must be places of operations".to_owned()
        })?;
        require(!matches!(load.pacer, PacerPlan::Tlr { .. }), &format!("{path}.pacer"), || {
            "a load of its own goes on as long as the run; threads, loops and ramp-up don't".to_owned()
        })
    }
}
