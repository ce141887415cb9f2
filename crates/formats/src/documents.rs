//! Owns the second step of reading: what a stretch becomes.

use std::sync::Arc;

use crate::values::text::beginning;
use crate::{DOCUMENT_BYTES_MAX, InputError, Position, RECORD_BYTES_MAX, REJECTED_TEXT_BYTES_MAX, Stretch};

/// Turns stretches into documents. Called from many threads.
pub trait Convert: Send + Sync {
    /// Converts `stretch` and appends to `into`, which the caller clears.
    fn convert(&self, stretch: &Stretch, into: &mut Documents);
}

/// What stretches became: documents one after another in `bytes`, and what became none.
///
/// Records read = `rows` + `rejected` + `nulls`.
#[derive(Debug, Default)]
pub struct Documents {
    /// BSON documents, back to back.
    pub bytes: Vec<u8>,
    /// One per document, in the order of the input.
    pub rows: Vec<Row>,
    /// Records that became no document.
    pub rejected: Vec<Rejected>,
    /// Records that stand for no document by themselves: `null` in JSON.
    pub nulls: u64,
    /// Rows that came in and are told of all the same, in the order of the rows. Dumps are not looked through.
    pub oddities: Vec<Oddity>,
    /// Cells that do not fit their column's type, of rows that became documents all the same (`--parseGrace autoCast` and
    /// `skipField`), in the order of the rows.
    pub misfits: Vec<Misfit>,
    /// The record at which reading ends: it became no document, and nothing after it may be stored. Documents before it are
    /// whole; what later stretches became means nothing, because they may have been cut in the wrong place. So documents of a
    /// stretch must not be stored before all earlier ones are known not to stop.
    pub stop: Option<InputError>,
}

impl Documents {
    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
        self.rejected.clear();
        self.nulls = 0;
        self.oddities.clear();
        self.misfits.clear();
        self.stop = None;
    }

    /// Closes the document that begins at `start` and ends the buffer: a row when a server can store it, rejected otherwise.
    /// `at` and `text` are those of its record, and `oddity` is what is told of it; its row is set here.
    pub(crate) fn finish_document(
        &mut self,
        start: usize,
        at: Position,
        has_own_id: bool,
        ids: Option<GeneratedIds>,
        text: &[u8],
        oddity: Oddity,
    ) {
        if let Some(ids) = ids
            && !has_own_id
        {
            insert_id(&mut self.bytes, start, ids.at(at.offset));
        }
        let length = self.bytes.len() - start;
        if length > DOCUMENT_BYTES_MAX {
            self.bytes.truncate(start);
            let reason = format!("the document takes {length} bytes, the limit is {DOCUMENT_BYTES_MAX}");
            self.reject(at, Rejection::TooLarge, reason, text);
        } else {
            if oddity.not_utf8 > 0 || oddity.is_ragged {
                self.oddities.push(Oddity { row: self.rows.len() as u32, ..oddity });
            }
            self.rows.push(Row { end: self.bytes.len(), line: at.line, offset: at.offset, has_own_id });
        }
    }

    /// Rejects the record `text`, which begins at `at`.
    pub(crate) fn reject(&mut self, at: Position, rejection: Rejection, reason: String, text: &[u8]) {
        let text = beginning(text, REJECTED_TEXT_BYTES_MAX).to_vec();
        self.rejected.push(Rejected { line: at.line, offset: at.offset, reason, rejection, text });
    }

    /// Rejects the record of `stretch` when it is too long to be read; otherwise does nothing and returns false. `leading`: bytes
    /// before the record.
    pub(crate) fn reject_too_long(&mut self, stretch: &Stretch, leading: usize) -> bool {
        let Some(length) = stretch.too_long else { return false };
        let reason = format!("the record takes {length} bytes, the limit is {RECORD_BYTES_MAX}");
        let (before, text) = stretch.bytes.split_at(leading);
        let lines = memchr::memchr_iter(b'\n', before).count() as u64;
        let at = Position { offset: stretch.start.offset + leading as u64, line: stretch.start.line + lines };
        self.reject(at, Rejection::TooLarge, reason, text);
        true
    }

    /// The bytes of the documents, one after another.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.rows.iter().map(|row| row.end));
        starts.zip(&self.rows).map(|(start, row)| &self.bytes[start..row.end])
    }
}

/// A document and where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// End of the document in [`Documents::bytes`]; it begins at the end of the one before.
    pub end: usize,
    /// Line on which the record begins; in a dump the number of the document.
    pub line: u64,
    /// Offset of the record in the decompressed input.
    pub offset: u64,
    /// Whether the record has an `_id` of its own. Without one the document has a generated `_id`, when
    /// [`crate::FormatOptions::generated_ids`] says how, or none.
    pub has_own_id: bool,
}

/// What is told of a row that came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oddity {
    /// Index of the row.
    pub row: u32,
    /// Number of its cells in which bytes became U+FFFD; in JSON the number of its strings, names included, in which they
    /// did with [`crate::FormatOptions::legacy`] and are kept without it.
    pub not_utf8: u32,
    /// Whether a table's row has more or fewer cells than the table has columns.
    pub is_ragged: bool,
}

/// A cell that does not fit its column's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Index of the row.
    pub row: u32,
    /// The column's name.
    pub column: Arc<str>,
}

/// The header line has names in which bytes that are not UTF-8 became U+FFFD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamesNotUtf8 {
    /// How many.
    pub texts: u32,
    /// Where the header line begins.
    pub at: Position,
}

/// A record that became no document, while reading goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Line on which the record begins; in a dump the number of the document.
    pub line: u64,
    /// Offset of the record in the decompressed input.
    pub offset: u64,
    /// What is wrong: lower case, no final period.
    pub reason: String,
    /// The kind of reason.
    pub rejection: Rejection,
    /// The record as it was read, at most [`crate::REJECTED_TEXT_BYTES_MAX`] of it.
    pub text: Vec<u8>,
}

/// Why a record became no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// A value does not fit its column's type, and `--parseGrace skipRow` asks to leave such rows out. mongoimport counts it
    /// neither as imported nor as failed.
    SkipRow,
    /// The document would be larger than [`crate::DOCUMENT_BYTES_MAX`], or the record longer than
    /// [`crate::RECORD_BYTES_MAX`].
    TooLarge,
}

/// How the `_id` of a record without one is made: `prefix`, then the record's offset as a 40-bit number. So an input that is read
/// again makes the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct GeneratedIds {
    /// Creation time in seconds, four bytes as in every object id, and three bytes that tell the input from others.
    pub prefix: [u8; 7],
}

impl GeneratedIds {
    /// The `_id` of the record at `offset`.
    pub fn at(self, offset: u64) -> [u8; 12] {
        let mut id = [0; 12];
        id[..7].copy_from_slice(&self.prefix);
        id[7..].copy_from_slice(&offset.to_be_bytes()[3..]);
        id
    }
}

/// Puts an `_id` in front of the elements of the document that begins at `start` and ends the buffer.
fn insert_id(bytes: &mut Vec<u8>, start: usize, id: [u8; 12]) {
    let mut element = *b"\x07_id\0............";
    element[5..].copy_from_slice(&id);
    let first_element = start + 4;
    bytes.splice(first_element..first_element, element);
    let length = (bytes.len() - start) as u32;
    bytes[start..first_element].copy_from_slice(&length.to_le_bytes());
}
