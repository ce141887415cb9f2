//! Owns the first step of reading: where records end.

use crate::InputError;

/// A place between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Bytes of the decompressed input before it.
    pub offset: u64,
    /// Line that begins or goes on here, from 1; in a dump the number of the next document.
    pub line: u64,
}

impl Position {
    /// The beginning of an input.
    pub const START: Self = Self { offset: 0, line: 1 };
}

/// A piece of the input that holds whole records and can be converted by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Whole records, or the first bytes of a single one that is `too_long`.
    pub bytes: Vec<u8>,
    /// Of the first byte.
    pub start: Position,
    /// After the last byte: where a [`Splitter`] can go on, see [`Splitter::skip_to`].
    pub end: Position,
    /// Length of the record when it is longer than [`crate::RECORD_BYTES_MAX`]. It is the only one then, and converting it
    /// rejects it.
    pub too_long: Option<u64>,
    /// Whether the input ends with it.
    pub ends_input: bool,
}

impl Stretch {
    /// Leaves out what comes after `border`, a border between two records behind the first; one that lies further on changes nothing.
    pub fn end_at(&mut self, border: Position) {
        if border.offset < self.end.offset {
            self.bytes.truncate((border.offset - self.start.offset) as usize);
            self.end = border;
            self.ends_input = false;
        }
    }
}

/// Finds where records end. Sequential; holds about as much memory as the longest record it meets.
pub trait Splitter: Send {
    /// The next stretch, `None` at the end of the input. `buffer` is an emptied buffer of an earlier stretch, or a new one;
    /// it becomes the stretch's `bytes`.
    ///
    /// # Errors
    /// When the input can't be read or followed. The splitter must not be used after an error.
    fn next_stretch(&mut self, buffer: Vec<u8>) -> Result<Option<Stretch>, InputError>;

    /// Where the next stretch begins.
    fn position(&self) -> Position;

    /// Reads on to `position`, which must be the [`Stretch::end`] of a stretch of the same input, and drops what lies
    /// between.
    ///
    /// # Errors
    /// When the input ends before it or can't be read.
    fn skip_to(&mut self, position: Position) -> Result<(), InputError>;
}
