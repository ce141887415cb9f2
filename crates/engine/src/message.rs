//! Owns how a command is written: its name, its session, what it does, its terms and its database, in this order. All commands of
//! a run are written here, those that every plan knows as those of a person's own operations.

use brimline_bson::Writer;
use brimline_wire::session::{Session, SessionPlace};
use brimline_wire::template::{Template, TemplateBuilder};

use crate::plan::target::WriteConcern;
use crate::terms::{Membership, Terms, by_majority};

/// A cursor's id: an int64.
const CURSOR_BYTES: usize = 8;
/// The database of the commands that end a transaction.
const ADMIN: &str = "admin";

/// A command as far as it is always the same, and where in it is what differs.
pub struct Message {
    /// With slots for what differs between operations.
    pub template: Template,
    session: Option<SessionPlace>,
    /// Of a `getMore`.
    cursor_at: Option<usize>,
}

impl Message {
    /// A command that begins with `head`, its name, and goes on with `body`.
    pub fn new(
        database: &str,
        terms: &Terms<'_>,
        head: impl FnOnce(&mut Writer<'_>),
        body: impl FnOnce(&mut TemplateBuilder),
    ) -> Self {
        let mut builder = TemplateBuilder::new();
        builder.fixed(head);
        let session = terms.session.append(&mut builder);
        body(&mut builder);
        terms.append(&mut builder);
        builder.fixed(|writer| writer.string("$db", database));
        Self { template: builder.finish(0), session, cursor_at: None }
    }

    /// The next batch of the cursor of a command with `terms`: where that goes, and in its transaction.
    pub fn get_more(database: &str, collection: &str, batch_size: Option<u32>, terms: &Terms<'_>) -> Self {
        let terms =
            Terms { preference: terms.preference, session: terms.session.of_cursor(), ..Terms::default() };
        let mut cursor_at = None;
        let head = |writer: &mut Writer<'_>| {
            writer.int64("getMore", 0);
            cursor_at = Some(writer.buffer().len() - CURSOR_BYTES);
            writer.string("collection", collection);
        };
        let message = Self::new(database, &terms, head, |builder| {
            if let Some(documents) = batch_size {
                builder.fixed(|writer| writer.int32("batchSize", documents as i32));
            }
        });
        Self { cursor_at, ..message }
    }

    /// What ends a transaction well, and the same once more, when it is not known what became of the first.
    pub fn commits(concern: Option<&WriteConcern>) -> [Self; 2] {
        [concern, Some(&by_majority(concern))]
            .map(|write_concern| Self::end("commitTransaction", write_concern))
    }

    /// What gives a transaction up.
    pub fn abort() -> Self {
        Self::end("abortTransaction", None)
    }

    fn end(name: &str, write_concern: Option<&WriteConcern>) -> Self {
        let terms = Terms { write_concern, session: Membership::Continues, ..Terms::default() };
        Self::new(ADMIN, &terms, |writer| writer.int32(name, 1), |_| ())
    }

    /// Appends the whole message. `cursor` is that of the next batch, where it is a `getMore`.
    pub fn render(
        &self,
        request_id: i32,
        cursor: i64,
        out: &mut Vec<u8>,
        fill: impl FnMut(usize, &mut Writer<'_>),
    ) {
        let start = out.len();
        self.template.render(request_id, out, fill);
        if let Some(at) = self.cursor_at {
            out[start + at..][..CURSOR_BYTES].copy_from_slice(&cursor.to_le_bytes());
        }
    }

    /// Writes `session` into `request`, where it has room for it.
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    pub fn stamp(&self, session: &Session, request: &mut [u8]) {
        if let Some(place) = self.session {
            place.stamp(session, request);
        }
    }
}
