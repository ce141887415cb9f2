//! Owns reading bytes from an input, and the place they come from.

use std::io::{ErrorKind, Read};

use crate::{InputError, Position};

/// How much is read at once where bytes are dropped.
const SKIP_BYTES: u64 = 256 * 1024;

/// A source of bytes.
pub struct Input {
    source: Box<dyn Read + Send>,
    ended: bool,
    /// Bytes that were looked at and not read yet.
    peeked: Vec<u8>,
    /// Why nothing more can be read; told when more is asked for.
    damaged: Option<std::io::Error>,
}

impl Input {
    /// Reads from `source`, from its beginning.
    pub fn new(source: Box<dyn Read + Send>) -> Self {
        Self { source, ended: false, peeked: Vec::new(), damaged: None }
    }

    /// Whether the source has no more bytes.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The first `length` bytes, fewer only where there are no more; they are read all the same.
    pub fn peek(&mut self, length: usize) -> Result<&[u8], InputError> {
        let mut peeked = Vec::new();
        self.read(&mut peeked, length, Position::START)?;
        self.ended = false;
        self.peeked = peeked;
        Ok(&self.peeked)
    }

    /// Appends `length` bytes to `buffer`; fewer only at the end of the source, or before the place where it is damaged. `at` is named
    /// in the error.
    pub fn read(&mut self, buffer: &mut Vec<u8>, length: usize, at: Position) -> Result<(), InputError> {
        let taken = length.min(self.peeked.len());
        buffer.extend(self.peeked.drain(..taken));
        if taken > 0 && (taken == length || self.damaged.is_some()) {
            return Ok(());
        }
        if let Some(error) = self.damaged.take() {
            return Err(unreadable(&error, at));
        }
        let length = length - taken;
        let before = buffer.len();
        buffer.reserve(length);
        let read = self.source.by_ref().take(length as u64).read_to_end(buffer);
        match read {
            Ok(_) => self.ended = buffer.len() - before < length,
            Err(error) if buffer.len() == before && taken == 0 => return Err(unreadable(&error, at)),
            Err(error) => self.damaged = Some(error),
        }
        Ok(())
    }

    /// Reads `length` bytes and drops them.
    pub fn skip(&mut self, length: u64, at: Position) -> Result<(), InputError> {
        let mut left = length;
        let mut buffer = Vec::new();
        while left > 0 {
            buffer.clear();
            self.read(&mut buffer, left.min(SKIP_BYTES) as usize, at)?;
            left -= buffer.len() as u64;
            if self.ended && left > 0 {
                let reason =
                    format!("the input ends {left} bytes before the place where reading is to go on");
                return Err(InputError { line: at.line, offset: at.offset, reason });
            }
        }
        Ok(())
    }
}

fn unreadable(error: &std::io::Error, at: Position) -> InputError {
    let reason = match error.kind() {
        ErrorKind::UnexpectedEof => "the compressed input ends in the middle".to_owned(),
        ErrorKind::InvalidInput | ErrorKind::InvalidData => {
            format!("the compressed input is damaged: {error}")
        }
        _ => format!("the input can't be read: {error}"),
    };
    InputError { line: at.line, offset: at.offset, reason }
}
