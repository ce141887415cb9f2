//! A body in chunks (RFC 9112, 7.1): each has its size in front, and lines of trailers may follow the last.

use std::ops::Range;

use super::BadReply;

/// Most bytes of one line: a size with its extensions, or a trailer.
const LINE_BYTES_MAX: u32 = 16 * 1024;
/// Most bytes of all trailers.
const TRAILER_BYTES_MAX: u32 = 64 * 1024;

/// How far chunks have come.
#[derive(Debug, Default)]
pub struct Chunks {
    place: Place,
    /// Of the chunk: as far as its digits have come, then what is left of it.
    size: u64,
    has_digits: bool,
    line_bytes: u32,
    trailer_bytes: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Size,
    /// Behind the size, up to the end of its line.
    Extension,
    Data,
    /// Before the line end that follows data; whether its first byte has come.
    AfterData {
        has_return: bool,
    },
    Trailers,
    Over,
}

/// What was taken of some bytes.
pub struct Step {
    /// How many.
    pub taken: usize,
    /// Which of them are the body's.
    pub data: Range<usize>,
}

impl Chunks {
    /// Whether the last has come, and what follows it.
    pub fn are_over(&self) -> bool {
        self.place == Place::Over
    }

    /// Takes bytes up to the end of a piece of data, or all of them.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Step, BadReply> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.place {
                Place::Data => {
                    let length = (bytes.len() - at).min(usize::try_from(self.size).unwrap_or(usize::MAX));
                    self.size -= length as u64;
                    if self.size == 0 {
                        self.place = Place::AfterData { has_return: false };
                    }
                    return Ok(Step { taken: at + length, data: at..at + length });
                }
                Place::Over => break,
                Place::Size => self.take_size(byte)?,
                Place::Extension => self.take_extension(byte)?,
                Place::AfterData { has_return } => match byte {
                    b'\r' if !has_return => self.place = Place::AfterData { has_return: true },
                    b'\n' => self.begin_size(),
                    _ => return Err(BadReply::new("a chunk is longer than its size")),
                },
                Place::Trailers => self.take_trailer(byte)?,
            }
            at += 1;
        }
        Ok(Step { taken: at, data: at..at })
    }

    fn begin_size(&mut self) {
        *self = Self { trailer_bytes: self.trailer_bytes, ..Self::default() };
    }

    fn take_size(&mut self, byte: u8) -> Result<(), BadReply> {
        if let Some(digit) = char::from(byte).to_digit(16) {
            let size = self.size.checked_mul(16).and_then(|size| size.checked_add(u64::from(digit)));
            self.size = size.ok_or_else(|| BadReply::new("a chunk's size is too large"))?;
            self.has_digits = true;
            return self.count_line_byte();
        }
        if !self.has_digits || !matches!(byte, b';' | b' ' | b'\t' | b'\r' | b'\n') {
            return Err(BadReply::new("a chunk's size is no number"));
        }
        self.place = Place::Extension;
        self.take_extension(byte)
    }

    fn take_extension(&mut self, byte: u8) -> Result<(), BadReply> {
        if byte == b'\n' {
            self.line_bytes = 0;
            self.place = if self.size == 0 { Place::Trailers } else { Place::Data };
            return Ok(());
        }
        self.count_line_byte()
    }

    /// An empty line ends the trailers, which say nothing here.
    fn take_trailer(&mut self, byte: u8) -> Result<(), BadReply> {
        self.trailer_bytes += 1;
        if self.trailer_bytes > TRAILER_BYTES_MAX {
            return Err(BadReply::new(format!("the trailers are longer than {TRAILER_BYTES_MAX} bytes")));
        }
        match byte {
            b'\n' if self.line_bytes == 0 => self.place = Place::Over,
            b'\n' => self.line_bytes = 0,
            b'\r' => {}
            _ => return self.count_line_byte(),
        }
        Ok(())
    }

    fn count_line_byte(&mut self) -> Result<(), BadReply> {
        self.line_bytes += 1;
        if self.line_bytes > LINE_BYTES_MAX {
            return Err(BadReply::new(format!(
                "a line between chunks is longer than {LINE_BYTES_MAX} bytes"
            )));
        }
        Ok(())
    }
}
