//! Owns the commands of a transaction: its statements one after the other, and the commit.
//!
//! All carry the session and one number of it, and `autocommit: false`; the first begins the transaction and says what it may
//! see, the commit says what its acknowledgement waits for. A commit that is sent again asks for a majority, so that one that
//! was done on a member which has stepped down since is not taken for done.
//!
//! Source: the drivers' transactions specification.

use super::templates::{Returned, find_template, update_template};
use crate::command::{Command, Place};
use crate::message::Message;
use crate::plan::Namespace;
use crate::terms::{Membership, Terms};

/// The templates of a plan's transactions.
pub(super) struct Transaction {
    first_find: Message,
    find: Message,
    first_update: Message,
    update: Message,
    commit: Message,
    commit_again: Message,
}

impl Transaction {
    /// Of documents in `namespace`.
    pub(super) fn new(
        namespace: &Namespace,
        returned: Returned<'_>,
        reads: &Terms<'_>,
        writes: &Terms<'_>,
    ) -> Self {
        let begins =
            Terms { read_concern: reads.read_concern, session: Membership::Begins, ..Terms::default() };
        let continues = Terms { session: Membership::Continues, ..Terms::default() };
        let [commit, commit_again] = Message::commits(writes.write_concern);
        Self {
            first_find: find_template(namespace, returned, &begins),
            find: find_template(namespace, returned, &continues),
            first_update: update_template(namespace, &begins),
            update: update_template(namespace, &continues),
            commit,
            commit_again,
        }
    }

    pub(super) fn message(&self, command: Command) -> &Message {
        match command {
            Command::Statement(place) => self.statement(place),
            Command::CommitAgain => &self.commit_again,
            _ => &self.commit,
        }
    }

    pub(super) fn statement(&self, place: Place) -> &Message {
        match (place.is_read(), place.is_first()) {
            (true, true) => &self.first_find,
            (true, false) => &self.find,
            (false, true) => &self.first_update,
            (false, false) => &self.update,
        }
    }
}
