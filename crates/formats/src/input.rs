//! Owns reading bytes from an input, and the place they come from.

use std::io::{ErrorKind, Read};

use thiserror::Error;

use crate::{InputError, Position};

/// How much is read at once where bytes are dropped.
const SKIP_BYTES: u64 = 256 * 1024;

/// An error of a source all of whose bytes came before it, as where only a checksum behind them is wrong: the last record is as
/// whole as it would be without the error.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct AfterTheEnd(pub String);

/// How a source ended.
enum End {
    /// With its last byte; the error is told after the last record.
    Whole(Option<std::io::Error>),
    /// In the middle.
    Cut(std::io::Error),
}

/// A source of bytes.
pub struct Input {
    source: Box<dyn Read + Send>,
    /// Known once nothing more can be read from the source.
    end: Option<End>,
    /// Bytes that were looked at and not read yet.
    peeked: Vec<u8>,
}

impl Input {
    /// Reads from `source`, from its beginning.
    pub fn new(source: Box<dyn Read + Send>) -> Self {
        Self { source, end: None, peeked: Vec::new() }
    }

    /// Whether the source has no more bytes, and had all of them.
    pub fn has_ended(&self) -> bool {
        self.peeked.is_empty() && matches!(self.end, Some(End::Whole(_)))
    }

    /// Whether nothing more can be read because the source is cut off or damaged here.
    pub fn is_cut(&self) -> bool {
        self.peeked.is_empty() && matches!(self.end, Some(End::Cut(_)))
    }

    /// What is wrong with the source, once nothing more can be read; `at` is named.
    pub fn damage(&self, at: Position) -> Option<InputError> {
        match &self.end {
            Some(End::Whole(Some(error)) | End::Cut(error)) => Some(InputError::of_source(error, at)),
            _ => None,
        }
    }

    /// The first `length` bytes, fewer only where there are no more; they are read all the same.
    pub fn peek(&mut self, length: usize) -> Result<&[u8], InputError> {
        let mut peeked = Vec::new();
        self.read(&mut peeked, length, Position::START)?;
        self.peeked = peeked;
        Ok(&self.peeked)
    }

    /// Appends `length` bytes to `buffer`; fewer only at the end of the source, or before the place where it is damaged. `at` is named
    /// in the error.
    pub fn read(&mut self, buffer: &mut Vec<u8>, length: usize, at: Position) -> Result<(), InputError> {
        let taken = length.min(self.peeked.len());
        buffer.extend(self.peeked.drain(..taken));
        if self.end.is_none() && taken < length {
            self.end = self.read_source(buffer, length - taken);
            if self.is_cut() && !buffer.is_empty() {
                return Ok(());
            }
        }
        if taken == 0 && self.is_cut() {
            return self.damage(at).map_or(Ok(()), Err);
        }
        Ok(())
    }

    /// Appends `length` bytes. Returns how the source ended, if it did.
    fn read_source(&mut self, buffer: &mut Vec<u8>, length: usize) -> Option<End> {
        let before = buffer.len();
        buffer.reserve(length);
        match self.source.by_ref().take(length as u64).read_to_end(buffer) {
            Ok(_) => (buffer.len() - before < length).then_some(End::Whole(None)),
            Err(error) if is_after_the_end(&error) => Some(End::Whole(Some(error))),
            Err(error) => Some(End::Cut(error)),
        }
    }

    /// Reads `length` bytes and drops them.
    pub fn skip(&mut self, length: u64, at: Position) -> Result<(), InputError> {
        let mut left = length;
        let mut buffer = Vec::new();
        while left > 0 {
            buffer.clear();
            self.read(&mut buffer, left.min(SKIP_BYTES) as usize, at)?;
            left -= buffer.len() as u64;
            if self.has_ended() && left > 0 {
                let reason =
                    format!("the input ends {left} bytes before the place where reading is to go on");
                return Err(InputError { line: at.line, offset: at.offset, reason });
            }
        }
        Ok(())
    }
}

fn is_after_the_end(error: &std::io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<AfterTheEnd>)
}

impl InputError {
    /// Of a source that can't be read any further.
    pub fn of_source(error: &std::io::Error, at: Position) -> Self {
        let reason = match error.kind() {
            _ if is_after_the_end(error) => error.to_string(),
            ErrorKind::UnexpectedEof => "the compressed input ends in the middle".to_owned(),
            ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                format!("the compressed input is damaged: {error}")
            }
            _ => format!("the input can't be read: {error}"),
        };
        Self { line: at.line, offset: at.offset, reason }
    }
}
