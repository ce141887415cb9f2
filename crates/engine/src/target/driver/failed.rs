//! Owns what the driver's errors are in brimline's classes.

use mongodb::error::{Error, ErrorKind, InsertManyError, WriteConcernError, WriteFailure};

use crate::failure::{CommandFailure, Failure, FailureClass, Signs};
use crate::target::ReplyFacts;

/// An operation that failed.
pub enum Failed {
    /// The server has said so.
    Answered(ReplyFacts),
    /// Nobody knows what the server has done.
    Lost(Failure),
}

/// The statements of a command.
#[derive(Clone, Copy)]
pub struct Statements {
    /// How many there are.
    pub count: u64,
    /// Whether those behind one that fails are not tried.
    pub ordered: bool,
}

/// What an error of a command means.
pub fn failed(error: &Error, statements: Statements) -> Failed {
    let answered = |failure: CommandFailure, n: u64| {
        Failed::Answered(ReplyFacts {
            failure: Some(Box::new(failure)),
            documents: 0,
            n,
            modified: 0,
            upserted: 0,
            cursor: 0,
            bytes: 0,
        })
    };
    match error.kind.as_ref() {
        ErrorKind::Command(command) => {
            let failure = Failure {
                class: FailureClass::ServerError,
                code: command.code,
                label: command.code_name.clone(),
                message: command.message.clone(),
            };
            answered(failure.into(), 0)
        }
        ErrorKind::Write(WriteFailure::WriteError(error)) => {
            let failure = write_error(error.code, &error.message);
            answered(
                CommandFailure { first: failure.clone(), statements: vec![(failure, 1)], signs: Signs::NONE },
                0,
            )
        }
        ErrorKind::Write(WriteFailure::WriteConcernError(error)) => {
            answered(write_concern_error(error).into(), statements.count)
        }
        ErrorKind::InsertMany(error) => answered_in_part(error, statements, answered),
        ErrorKind::InvalidResponse { .. } | ErrorKind::Bson(_) | ErrorKind::BsonDeserialization(_) => {
            Failed::Lost(Failure::new(FailureClass::BadReply, error.to_string()))
        }
        _ => Failed::Lost(Failure::new(FailureClass::ConnectionLost, error.to_string())),
    }
}

fn answered_in_part(
    error: &InsertManyError,
    statements: Statements,
    answered: impl Fn(CommandFailure, u64) -> Failed,
) -> Failed {
    let mut counts: Vec<(Failure, u64)> = Vec::new();
    for each in error.write_errors.iter().flatten() {
        match counts.iter_mut().find(|(failure, _)| failure.code == each.code) {
            Some((_, count)) => *count += 1,
            None => counts.push((write_error(each.code, &each.message), 1)),
        }
    }
    let refused: u64 = counts.iter().map(|(_, count)| count).sum();
    let tried = match error.write_errors.iter().flatten().next() {
        Some(first) if statements.ordered => first.index as u64 + 1,
        _ => statements.count,
    };
    let first = counts.first().map(|(failure, _)| failure.clone());
    let first = first.or_else(|| error.write_concern_error.as_ref().map(write_concern_error));
    let first = first.unwrap_or_else(|| write_error(0, ""));
    answered(CommandFailure { first, statements: counts, signs: Signs::NONE }, tried.saturating_sub(refused))
}

fn write_error(code: i32, message: &str) -> Failure {
    Failure { code, ..Failure::new(FailureClass::WriteError, message) }
}

fn write_concern_error(error: &WriteConcernError) -> Failure {
    Failure {
        class: FailureClass::WriteConcernError,
        code: error.code,
        label: error.code_name.clone(),
        message: error.message.clone(),
    }
}
