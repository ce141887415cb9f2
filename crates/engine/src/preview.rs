//! What a plan means before anything is sent: documents and keys of its records, which Python asks for, and its first operations
//! with their commands. By these the tests of both languages see that a plan means the same to both, without a server.

use std::iter;

use crate::command::Command;
use crate::commands::Commands;
use crate::operation::Operation;
use crate::plan::Plan;
use crate::plan::error::PlanError;
use crate::workload::Workload;

/// An operation and its commands.
pub struct PreviewedOperation {
    /// The operation.
    pub operation: Operation,
    /// The record it takes when no insert of the run is acknowledged yet.
    pub record: u64,
    /// The OP_MSG of each command, without a `getMore`, which depends on the server.
    pub messages: Vec<Vec<u8>>,
}

/// The first `count` operations of `plan`.
///
/// # Errors
/// When the plan is out of bounds.
pub fn preview(plan: &Plan, count: u64) -> Result<Vec<PreviewedOperation>, PlanError> {
    plan.validate()?;
    let workload = Workload::new(plan, None)?;
    let commands = Commands::new(plan, None)?;
    let count = workload.operation_count().map_or(count, |bound| bound.min(count));
    let mut stream = workload.stream(0, 1);
    Ok((0..count)
        .map(|_| {
            let operation = stream.next();
            let record = workload.resolve(operation.key, 0);
            let messages = commands_of(&commands, &operation)
                .into_iter()
                .map(|command| {
                    let mut message = Vec::new();
                    let record = workload.record_for(command, &operation, record);
                    commands.render(command, &operation, record, 1, &mut message);
                    message
                })
                .collect();
            PreviewedOperation { operation, record, messages }
        })
        .collect())
}

/// The BSON of records `first .. first + count` of the plan's data.
///
/// # Errors
/// When the plan is out of bounds.
pub fn documents(plan: &Plan, first: u64, count: u64) -> Result<Vec<Vec<u8>>, PlanError> {
    plan.validate()?;
    let commands = Commands::new(plan, None)?;
    Ok((first..first.saturating_add(count))
        .map(|record| {
            let mut document = Vec::new();
            commands.documents().append_document(record, &mut document);
            document
        })
        .collect())
}

/// The keys of records `first .. first + count` of the plan's data.
///
/// # Errors
/// When the plan is out of bounds.
pub fn keys(plan: &Plan, first: u64, count: u64) -> Result<Vec<String>, PlanError> {
    plan.validate()?;
    let commands = Commands::new(plan, None)?;
    Ok((first..first.saturating_add(count))
        .map(|record| {
            let mut key = Vec::new();
            commands.documents().write_key(record, &mut key);
            String::from_utf8_lossy(&key).into_owned()
        })
        .collect())
}

fn commands_of(commands: &Commands, operation: &Operation) -> Vec<Command> {
    let statements = iter::successors(Some(commands.first(operation)), |command| match command {
        Command::Statement(place) => Some(place.next()),
        _ => None,
    });
    let mut all: Vec<Command> = statements.collect();
    all.extend(operation.kind.second().filter(|second| !all.contains(second)));
    all
}
