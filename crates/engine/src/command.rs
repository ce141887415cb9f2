//! One command of an operation: which it is, and what is known of it without its content.

use serde::{Deserialize, Serialize};

use crate::own::plan::{StepAccess, TransactionPlace};
use crate::target::ReplyFacts;

/// One command of an operation. Most operations are one command; a read-modify-write is two, a scan whose documents don't
/// fit one reply goes on with `getMore`, and a transaction is its statements and a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `find` of one document by key.
    Find,
    /// `find` of documents in key order.
    Scan,
    /// `getMore` of a scan, with its cursor.
    GetMore(i64),
    /// `update` of one document by key.
    Update,
    /// `insert` of one or several documents.
    Insert,
    /// `update` of one or several documents that inserts those that are not there.
    Upsert,
    /// A find or an update inside a transaction.
    Statement(Place),
    /// `commitTransaction`.
    Commit,
    /// The same once more: what became of the first is not known.
    CommitAgain,
    /// A step of an operation of the person's own.
    Step(StepRef, Part),
}

impl Command {
    /// Whether new documents arrive with it.
    #[inline]
    pub fn inserts(self) -> bool {
        match self {
            Self::Insert | Self::Upsert => true,
            Self::Step(step, _) => step.opcounter == Opcounter::Insert,
            _ => false,
        }
    }

    /// Whether it is of an operation of the person's own.
    pub fn is_step(self) -> bool {
        matches!(self, Self::Step(..))
    }

    /// Whether it goes where reads go.
    pub fn is_read(self) -> bool {
        match self {
            Self::Find | Self::Scan | Self::GetMore(_) => true,
            Self::Step(step, _) => step.is_read(),
            _ => false,
        }
    }

    /// Whether it has a number of its session where writes are sent again; all of a transaction have the same.
    #[inline]
    pub fn is_numbered(self) -> bool {
        !self.is_read()
    }

    /// Whether it is part of a transaction that has begun.
    pub fn continues(self) -> bool {
        match self {
            Self::Statement(place) => !place.is_first(),
            Self::Commit | Self::CommitAgain => true,
            Self::Step(step, part) => step.continues() || part != Part::Main,
            _ => false,
        }
    }

    /// How many documents a reply says that it found or changed.
    pub fn handled(self, reply: &ReplyFacts) -> u64 {
        match self {
            Self::Update => reply.n,
            Self::Statement(place) if !place.is_read() => reply.n,
            _ => reply.documents,
        }
    }

    /// What is sent when this one is sent for the second time.
    #[must_use]
    pub fn again(self) -> Self {
        match self {
            Self::Commit => Self::CommitAgain,
            Self::Step(step, _) if step.transaction == Some(TransactionPlace::Commit) => {
                Self::Step(step, Part::Again)
            }
            command => command,
        }
    }

    /// The server's counter that this command moves.
    pub fn opcounter(self) -> Opcounter {
        match self {
            Self::Find | Self::Scan => Opcounter::Query,
            Self::Statement(place) if place.is_read() => Opcounter::Query,
            Self::GetMore(_) | Self::Step(_, Part::More) => Opcounter::Getmore,
            Self::Update | Self::Upsert | Self::Statement(_) => Opcounter::Update,
            Self::Insert => Opcounter::Insert,
            Self::Commit | Self::CommitAgain => Opcounter::Commit,
            Self::Step(_, Part::Abort) => Opcounter::Command,
            Self::Step(step, Part::Main | Part::Again) => step.opcounter,
        }
    }
}

/// Counters that brimline's operations move: of `serverStatus.opcounters`, and `serverStatus.transactions.totalCommitted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are MongoDB's")]
pub enum Opcounter {
    Query,
    Insert,
    Update,
    Getmore,
    Commit,
    Delete,
    Command,
}

impl Opcounter {
    /// All of them, in the order of their discriminants.
    pub const ALL: [Self; 7] =
        [Self::Query, Self::Insert, Self::Update, Self::Getmore, Self::Commit, Self::Delete, Self::Command];

    /// The counter's name: that of `opcounters`, or what is counted.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Getmore => "getmore",
            Self::Commit => "commit",
            Self::Delete => "delete",
            Self::Command => "command",
        }
    }
}

/// The statements of a transaction: first its reads, then its updates, of one document each. Read *i* and update *i* are of
/// the same document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the line above says it")]
pub struct Statements {
    pub reads: u8,
    pub updates: u8,
}

impl Statements {
    /// None.
    pub const NONE: Self = Self { reads: 0, updates: 0 };

    /// How many there are.
    pub fn count(self) -> u16 {
        u16::from(self.reads) + u16::from(self.updates)
    }
}

/// Where a transaction is: before one of its statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    statements: Statements,
    number: u16,
}

impl Place {
    /// Before the first statement.
    pub const fn first(statements: Statements) -> Self {
        Self { statements, number: 0 }
    }

    /// Whether the transaction begins with this statement.
    pub fn is_first(self) -> bool {
        self.number == 0
    }

    /// Whether the statement is a read.
    pub fn is_read(self) -> bool {
        self.number < u16::from(self.statements.reads)
    }

    /// Which of the transaction's records it is about.
    pub fn record_number(self) -> u8 {
        let number =
            if self.is_read() { self.number } else { self.number - u16::from(self.statements.reads) };
        number as u8
    }

    /// What comes after the statement.
    pub fn next(self) -> Command {
        let next = Self { number: self.number + 1, ..self };
        if next.number < self.statements.count() { Command::Statement(next) } else { Command::Commit }
    }
}

/// What the engine has to know of a step wherever its operation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepRef {
    /// Its number among all steps of the plan.
    pub number: u16,
    /// What it does to data.
    pub access: StepAccess,
    /// Whether it may be sent once more after an error that allows it.
    pub may_repeat: bool,
    /// The server's counter that it moves.
    pub opcounter: Opcounter,
    /// Its place in a transaction.
    pub transaction: Option<TransactionPlace>,
    /// By how much it moves the counter.
    pub statements: u32,
}

impl StepRef {
    /// Whether it goes where reads go.
    #[inline]
    pub fn is_read(self) -> bool {
        self.access == StepAccess::Read && self.transaction.is_none()
    }

    /// Whether it is part of a transaction that has begun.
    pub fn continues(self) -> bool {
        matches!(self.transaction, Some(TransactionPlace::Inside | TransactionPlace::Commit))
    }
}

/// Which of the messages of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its command.
    Main,
    /// The next batch of its cursor.
    More,
    /// A commit once more.
    Again,
    /// The end of its transaction.
    Abort,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(statements: Statements) -> Vec<(bool, u8)> {
        let mut seen = Vec::new();
        let mut command = Command::Statement(Place::first(statements));
        while let Command::Statement(place) = command {
            seen.push((place.is_read(), place.record_number()));
            command = place.next();
        }
        assert_eq!(command, Command::Commit);
        seen
    }

    #[test]
    fn reads_come_first_and_the_updates_are_of_the_same_records() {
        assert_eq!(
            walk(Statements { reads: 2, updates: 3 }),
            [(true, 0), (true, 1), (false, 0), (false, 1), (false, 2)]
        );
        assert_eq!(walk(Statements { reads: 0, updates: 1 }), [(false, 0)]);
        assert_eq!(walk(Statements { reads: u8::MAX, updates: u8::MAX }).len(), 510);
    }
}
