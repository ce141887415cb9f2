//! The loads of a plan: its own one, and those beside it, each with its operations, its due times and its threads.

use std::sync::Arc;

use crate::own::Own;
use crate::own::mix::OwnMix;
use crate::plan::{Plan, PlanError};
use crate::workload::Workload;

/// One load.
pub struct Load {
    /// The plan as it is for this load.
    pub plan: Plan,
    /// Its operations.
    pub workload: Workload,
}

impl Load {
    /// The loads of `plan`, its own one first. `own` are its operations of the user's own, where it has such.
    ///
    /// # Errors
    /// When a part of the plan is out of range.
    pub fn all_of(plan: &Plan, own: Option<&Arc<Own>>) -> Result<Vec<Self>, PlanError> {
        let mix = |number| plan.own().zip(own).map(|(work, own)| OwnMix::new(plan, work, own, number));
        let mut loads = vec![Self { plan: plan.clone(), workload: Workload::new(plan, mix(0))? }];
        for (number, beside) in plan.own().map_or(&[][..], |work| &work.loads).iter().enumerate() {
            let plan = plan.beside(beside);
            let workload = Workload::new(&plan, mix(number + 1))?;
            loads.push(Self { plan, workload });
        }
        Ok(loads)
    }
}
