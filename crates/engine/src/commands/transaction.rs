//! Owns the commands of a transaction: its statements one after the other, and the commit.
//!
//! All carry the session and one number of it, and `autocommit: false`; the first begins the transaction and says what it may
//! see, the commit says what its acknowledgement waits for. A commit that is sent again asks for a majority, so that one that
//! was done on a member which has stepped down since is not taken for done.
//!
//! Source: the drivers' transactions specification.

use brimline_wire::session::SessionPlace;
use brimline_wire::template::{Template, TemplateBuilder};

use super::templates::{Returned, append_find, append_update};
use crate::command::{Command, Place};
use crate::plan::Namespace;
use crate::plan::target::WriteConcern;
use crate::terms::{ReadTerms, WriteTerms, append_membership, append_write_concern, by_majority, finish};

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

fn commit(concern: Option<&WriteConcern>) -> Numbered {
    let mut builder = TemplateBuilder::new();
    builder.fixed(|writer| writer.int32("commitTransaction", 1));
    let session = append_membership(&mut builder, false);
    append_write_concern(&mut builder, concern);
    (finish(builder, "admin"), session)
}
