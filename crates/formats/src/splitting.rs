//! Owns what all splitters have in common: reading on until records are whole, and passing over what is too long.

use crate::input::Input;
use crate::values::text::beginning;
use crate::{InputError, Position, RECORD_BYTES_MAX, REJECTED_TEXT_BYTES_MAX, Splitter, Stretch};

/// How much is read for a stretch: a thousand rows or so, and small enough to stay in a processor's cache.
pub const STRETCH_BYTES: usize = 256 * 1024;

/// Where the records of one format end.
pub trait Boundaries: Send {
    /// Length of the whole records that `bytes` begin with. `bytes` begin between two records. 0 when not even the first is
    /// whole. Text that can't be of the format counts as whole, so that converting it says what is wrong.
    fn whole(&mut self, bytes: &[u8]) -> usize;

    /// The same where nothing follows `bytes`, because the input is damaged there.
    fn whole_before_damage(&mut self, bytes: &[u8]) -> usize {
        self.whole(bytes)
    }

    /// Whether the record that `bytes` begin with, which is not whole, is of the format so far.
    fn is_sound(&self, bytes: &[u8]) -> bool;

    /// Where that record ends in `more`, the bytes that follow what has been looked at; called with one piece after another.
    fn end_in(&mut self, more: &[u8]) -> Option<usize>;

    /// What is wrong when the input ends before that record does.
    fn missing_end(&self) -> Option<&'static str>;

    /// How many lines `bytes` end.
    fn lines(&self, bytes: &[u8]) -> u64 {
        memchr::memchr_iter(b'\n', bytes).count() as u64
    }
}

/// The splitter of a format with `B`'s boundaries.
pub struct RecordSplitter<B> {
    input: Input,
    boundaries: B,
    /// Read, but not handed out.
    carried: Vec<u8>,
    position: Position,
    stretch_bytes: usize,
}

impl<B: Boundaries> RecordSplitter<B> {
    /// Goes on at `position` with `carried`, which has been read from `input` already.
    pub fn new(
        input: Input,
        carried: Vec<u8>,
        position: Position,
        boundaries: B,
        stretch_bytes: usize,
    ) -> Self {
        Self { input, boundaries, carried, position, stretch_bytes }
    }

    /// Reads until `bytes` begin with a whole record, or hold the longest that may be, or the input has ended. Returns the length
    /// of the whole records. An input that is damaged gives all that are whole before it is told.
    fn fill(&mut self, bytes: &mut Vec<u8>) -> Result<usize, InputError> {
        let mut goal = self.stretch_bytes;
        loop {
            let is_over = self.input.has_ended() || (self.input.is_cut() && !bytes.is_empty());
            if bytes.len() < goal && !is_over {
                self.input.read(bytes, goal - bytes.len(), self.position)?;
            }
            if self.input.has_ended() && bytes.len() <= RECORD_BYTES_MAX {
                return Ok(bytes.len());
            }
            let whole = self.boundaries.whole(bytes);
            if whole > 0 || bytes.len() > RECORD_BYTES_MAX {
                return Ok(whole);
            }
            if self.input.is_cut() {
                let whole = self.boundaries.whole_before_damage(bytes);
                if whole > 0 {
                    return Ok(whole);
                }
                // Which says what is wrong.
                self.input.read(bytes, 1, self.position)?;
            }
            goal = (2 * bytes.len()).min(RECORD_BYTES_MAX + 1);
        }
    }

    /// Passes over the record that `bytes` begin with and keeps its first bytes.
    fn pass_over(&mut self, mut bytes: Vec<u8>) -> Result<Stretch, InputError> {
        let start = self.position;
        let mut length = bytes.len() as u64;
        let mut line = start.line + self.boundaries.lines(&bytes);
        let mut piece = Vec::new();
        let mut has_end = false;
        while !self.input.has_ended() {
            piece.clear();
            self.input.read(&mut piece, self.stretch_bytes, start)?;
            let end = self.boundaries.end_in(&piece);
            let passed = &piece[..end.unwrap_or(piece.len())];
            length += passed.len() as u64;
            line += self.boundaries.lines(passed);
            if let Some(end) = end {
                self.carried.extend_from_slice(&piece[end..]);
                has_end = true;
                break;
            }
        }
        if !has_end && let Some(reason) = self.boundaries.missing_end() {
            return Err(InputError { line: start.line, offset: start.offset, reason: reason.to_owned() });
        }
        bytes.truncate(beginning(&bytes, REJECTED_TEXT_BYTES_MAX).len());
        bytes.shrink_to_fit();
        self.position = Position { offset: start.offset + length, line };
        Ok(Stretch { bytes, start, end: self.position, too_long: Some(length), ends_input: false })
    }
}

impl<B: Boundaries> Splitter for RecordSplitter<B> {
    fn next_stretch(&mut self, buffer: Vec<u8>) -> Result<Option<Stretch>, InputError> {
        let mut bytes = buffer;
        bytes.clear();
        bytes.append(&mut self.carried);
        let whole = self.fill(&mut bytes)?;
        if bytes.is_empty() {
            return self.input.damage(self.position).map_or(Ok(None), Err);
        }
        if whole == 0 && self.boundaries.is_sound(&bytes) {
            return self.pass_over(bytes).map(Some);
        }
        if whole > 0 {
            self.carried.extend_from_slice(&bytes[whole..]);
            bytes.truncate(whole);
        }
        let start = self.position;
        let line = start.line + self.boundaries.lines(&bytes);
        self.position = Position { offset: start.offset + bytes.len() as u64, line };
        let ends_input = self.carried.is_empty() && self.input.has_ended();
        Ok(Some(Stretch { bytes, start, end: self.position, too_long: None, ends_input }))
    }

    fn position(&self) -> Position {
        self.position
    }

    fn skip_to(&mut self, position: Position) -> Result<(), InputError> {
        let distance = position.offset.checked_sub(self.position.offset).ok_or_else(|| InputError {
            line: self.position.line,
            offset: self.position.offset,
            reason: format!("offset {} lies before the first record", position.offset),
        })?;
        let carried = distance.min(self.carried.len() as u64);
        self.carried.drain(..carried as usize);
        self.input.skip(distance - carried, self.position)?;
        self.position = position;
        Ok(())
    }
}
