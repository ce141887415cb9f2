//! An operation between its first command and its last reply.

use crate::clock::Nanos;
use crate::commands::Command;
use crate::operation::{Operation, OperationKind};
use crate::recorder::Ending;
use crate::target::ReplyFacts;

/// An operation on its way.
#[derive(Clone, Copy)]
pub struct InFlight {
    pub operation: Operation,
    pub record: u64,
    pub command: Command,
    pub due: Option<Nanos>,
    pub sent: Nanos,
    /// When the current command was sent.
    pub command_sent: Nanos,
    /// When the first of an operation's two steps was done; `None` while it isn't, and for operations in one.
    pub first_done: Option<Nanos>,
    pub documents: u64,
    pub bytes_out: u64,
    pub bytes_in: u64,
    /// Inserts of the run before this operation.
    pub inserts_before: u64,
}

impl InFlight {
    /// What the server's counter moves by for the current command: an insert counts its documents.
    pub fn statements(&self) -> u64 {
        match self.command {
            Command::Insert => u64::from(self.operation.documents),
            _ => 1,
        }
    }
}

/// What follows from a reply.
pub enum Step {
    Next(Command),
    Finished(Ending, u64),
}

/// Judges a reply to the current command of `flight`: did the operation do what it should, or does it go on?
pub fn judge(flight: &InFlight, reply: &ReplyFacts) -> Step {
    if let Some(failure) = &reply.failure {
        // A write that failed in part has written the rest.
        let written = if failure.counts_statements() { reply.n } else { 0 };
        return Step::Finished(Ending::Failed, written);
    }
    let found = |documents: u64| {
        let ending = if documents > 0 { Ending::Ok } else { Ending::Miss };
        Step::Finished(ending, documents)
    };
    match flight.command {
        Command::Find if reply.documents > 0 && flight.operation.kind == OperationKind::ReadModifyWrite => {
            Step::Next(Command::Update)
        }
        Command::Scan | Command::GetMore(_) if reply.cursor != 0 => {
            Step::Next(Command::GetMore(reply.cursor))
        }
        Command::Find | Command::Scan => found(reply.documents),
        Command::GetMore(_) => Step::Finished(Ending::Ok, reply.documents),
        Command::Update | Command::Insert => found(reply.n),
    }
}
