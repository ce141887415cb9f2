//! What operations of the person's own would send, for those who check a plan.

use brimline_wire::op_msg;

use super::prepared::{Own, Tables};
use super::state::{OwnState, draw_index};
use crate::clock::wall_now_ms;
use crate::command::Part;
use crate::plan::Plan;
use crate::plan::error::PlanError;

/// For each operation of `plan` the commands of its steps as BSON, as they would be sent by its first operation; what replies would
/// bring is null. Of a step that is a request of another protocol the values of its slots, as an array.
///
/// # Errors
/// As [`Own::new`], or when a value can't be made.
pub fn examples(plan: &Plan, tables: &Tables) -> Result<Vec<Vec<Vec<u8>>>, PlanError> {
    plan.validate()?;
    let Some(own) = Own::new(plan, tables, None)? else { return Ok(Vec::new()) };
    let mut state = OwnState::new(&own);
    let counters = vec![0; own.counter_count()];
    let mut commands = vec![Vec::new(); own.operation_count()];
    for step in own.steps() {
        let Some(place) = step.operation().place() else { continue };
        if own.first_step(place).reference() == step.reference() {
            state.begin(&own, place, &counters, 0);
            state.save_nulls();
        }
        let mut draw = state.draw(&own, draw_index(0, 0), 0, wall_now_ms());
        let mut message = Vec::new();
        let misfit = |misfit| {
            PlanError::new(&format!("work.operations.{place}"), format!("{}: {misfit}", step.name()))
        };
        commands[usize::from(place)].push(if step.request_looks().is_some() {
            step.values(own.world(), &mut draw, &mut message).map_err(misfit)?.to_vec()
        } else {
            step.render((Part::Main, 0), own.world(), &mut draw, 1, &mut message).map_err(misfit)?;
            let body =
                op_msg::parse(&message).map_err(|error| PlanError::new("work", error.to_string()))?.body;
            body.to_vec()
        });
    }
    Ok(commands)
}
