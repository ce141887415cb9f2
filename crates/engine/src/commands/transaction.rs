//! Owns the commands of a transaction: its statements one after the other, and the commit.
//!
//! All carry the session and one number of it, and `autocommit: false`; the first begins the transaction and says what it may
//! see, the commit says what its acknowledgement waits for. A commit that is sent again asks for a majority, so that one that
//! was done on a member which has stepped down since is not taken for done.
//!
//! Source: the drivers' transactions specification.

use brimline_wire::session::SessionPlace;
use brimline_wire::template::{Template, TemplateBuilder};

use super::Command;
use super::templates::{
    ReadTerms, Returned, WriteTerms, append_find, append_update, append_write_concern, finish,
};
use crate::operation::Statements;
use crate::plan::{Acknowledgement, Namespace, WriteConcern};

/// How long a majority may take to confirm a commit that is sent again, in ms.
const AGAIN_TIMEOUT_MS: u32 = 10_000;

/// Where a transaction is: before one of its statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    statements: Statements,
    number: u16,
}

impl Place {
    /// Before the first statement.
    pub fn first(statements: Statements) -> Self {
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

/// A template with the place of the session in it.
type Numbered = (Template, SessionPlace);

/// The templates of a plan's transactions.
pub(super) struct Transaction {
    first_find: Numbered,
    find: Numbered,
    first_update: Numbered,
    update: Numbered,
    commit: Numbered,
    commit_again: Numbered,
}

impl Transaction {
    /// Of documents in `namespace`.
    pub(super) fn new(
        namespace: &Namespace,
        returned: Returned<'_>,
        reads: ReadTerms<'_>,
        writes: WriteTerms<'_>,
    ) -> Self {
        let statement = |name: &str, begins: bool, rest: &dyn Fn(&mut TemplateBuilder)| {
            let mut builder = TemplateBuilder::new();
            builder.fixed(|writer| writer.string(name, &namespace.collection));
            let session = append_membership(&mut builder, begins);
            if let Some(level) = reads.concern.filter(|_| begins) {
                builder.begin_subdocument("readConcern");
                builder.fixed(|writer| writer.string("level", level));
                builder.end();
            }
            rest(&mut builder);
            (finish(builder, &namespace.database), session)
        };
        let find = |builder: &mut TemplateBuilder| append_find(builder, returned, ReadTerms::default());
        Self {
            first_find: statement("find", true, &find),
            find: statement("find", false, &find),
            first_update: statement("update", true, &append_update),
            update: statement("update", false, &append_update),
            commit: commit(writes.concern),
            commit_again: commit(Some(&by_majority(writes.concern))),
        }
    }

    pub(super) fn statement(&self, place: Place) -> &Template {
        &self.of_statement(place).0
    }

    pub(super) fn commit(&self, command: Command) -> &Template {
        &self.of_commit(command).0
    }

    pub(super) fn session(&self, command: Command) -> SessionPlace {
        match command {
            Command::Statement(place) => self.of_statement(place).1,
            _ => self.of_commit(command).1,
        }
    }

    fn of_statement(&self, place: Place) -> &Numbered {
        match (place.is_read(), place.is_first()) {
            (true, true) => &self.first_find,
            (true, false) => &self.find,
            (false, true) => &self.first_update,
            (false, false) => &self.update,
        }
    }

    fn of_commit(&self, command: Command) -> &Numbered {
        if command == Command::CommitAgain { &self.commit_again } else { &self.commit }
    }
}

pub(crate) fn append_membership(builder: &mut TemplateBuilder, begins: bool) -> SessionPlace {
    let session = SessionPlace::append(builder);
    builder.fixed(|writer| {
        if begins {
            writer.boolean("startTransaction", true);
        }
        writer.boolean("autocommit", false);
    });
    session
}

fn commit(concern: Option<&WriteConcern>) -> Numbered {
    let mut builder = TemplateBuilder::new();
    builder.fixed(|writer| writer.int32("commitTransaction", 1));
    let session = append_membership(&mut builder, false);
    append_write_concern(&mut builder, concern);
    (finish(builder, "admin"), session)
}

pub(crate) fn by_majority(concern: Option<&WriteConcern>) -> WriteConcern {
    WriteConcern {
        w: Acknowledgement::Tag("majority".to_owned()),
        journal: concern.and_then(|concern| concern.journal),
        timeout_ms: concern.and_then(|concern| concern.timeout_ms).or(Some(AGAIN_TIMEOUT_MS)),
    }
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
