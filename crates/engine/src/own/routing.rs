//! Owns which of several client-routed shards a step is for: the one that has the record whose key its command names.

use brimline_datagen::expression::{Expression, ExpressionField, World};

use super::plan::{OwnStep, OwnWork};
use crate::plan::error::PlanError;

/// Where a command names the one document that it is about, by its own name.
const KEY_PATHS: [(&str, &[&str]); 8] = [
    ("find", &["filter", "_id"]),
    ("count", &["query", "_id"]),
    ("distinct", &["query", "_id"]),
    ("findAndModify", &["query", "_id"]),
    ("update", &["updates", "0", "q", "_id"]),
    ("delete", &["deletes", "0", "q", "_id"]),
    ("aggregate", &["pipeline", "0", "$match", "_id"]),
    ("insert", &["documents", "0", "_id"]),
];
const ONE_BY_ONE: [&str; 3] = ["insert", "update", "delete"];

/// The key of the record that a step is about; `place` is what its values are prepared as.
///
/// # Errors
/// Why its shard isn't known.
pub fn key_of_step(
    world: &World,
    work: &OwnWork,
    step: &OwnStep,
    fields: &[ExpressionField],
    (place, path): (&str, &str),
) -> Result<Expression, PlanError> {
    let refused = |reason: String| {
        let message =
            format!("which of the client-routed shards `{}` is for is not known: {reason}", step.name);
        Err(PlanError::new(path, message))
    };
    let Some((_, [first, rest @ ..])) = KEY_PATHS.iter().find(|(command, _)| *command == step.command) else {
        return refused(format!("{} is about no single document", step.command));
    };
    if step.collection.is_none() {
        return refused(format!(
            "its {} is written as a command, whose documents aren't followed",
            step.command
        ));
    }
    let is_here = |each: &super::plan::CollectionPlan| {
        each.database == step.database && Some(&each.collection) == step.collection.as_ref()
    };
    let Some(collection) = work.collections.iter().position(is_here) else {
        return refused("its collection is existing, whose keys brimline did not make".to_owned());
    };
    let name = &work.collections[collection].name;
    if step.statements > 1 && ONE_BY_ONE.contains(&step.command.as_str()) {
        return refused(format!(
            "it has {} statements, whose records are at several shards",
            step.statements
        ));
    }
    let field = fields.iter().find(|field| field.name == *first);
    let key =
        field.map(|field| world.key_at(&format!("{place}.{first}"), &field.value, rest, collection as u32));
    match key.transpose().map_err(|error| PlanError::inside(path, &error))?.flatten() {
        Some(key) => Ok(key),
        None if step.command == "insert" => {
            refused(format!("the _id of its document is no key of {name}, such as {{new_key_of: {name}}}"))
        }
        None => refused(format!("it doesn't ask for _id by a key of {name}, such as {{key_of: {name}}}")),
    }
}
