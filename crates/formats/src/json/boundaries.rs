//! Owns where documents end, without reading them.

use memchr::memrchr;

use super::depth::{Depth, Ends};
use crate::splitting::Boundaries;

/// Documents one after another.
pub struct DocumentBoundaries {
    legacy: bool,
    depth: Depth,
}

impl DocumentBoundaries {
    /// `legacy`: strings may stand in single quotes.
    pub fn new(legacy: bool) -> Self {
        Self { legacy, depth: Depth::new(legacy) }
    }
}

impl Boundaries for DocumentBoundaries {
    fn whole(&mut self, bytes: &[u8]) -> usize {
        if let Some(end) = last_line_between_documents(bytes) {
            return end;
        }
        self.depth = Depth::new(self.legacy);
        match self.depth.follow(bytes, false) {
            Ends::Last(end) => end.unwrap_or(0),
            Ends::TooMany(_) => bytes.len(),
        }
    }

    fn is_sound(&self, bytes: &[u8]) -> bool {
        bytes.trim_ascii_start().first() == Some(&b'{')
    }

    fn end_in(&mut self, more: &[u8]) -> Option<usize> {
        match self.depth.follow(more, true) {
            Ends::Last(end) => end,
            Ends::TooMany(at) => Some(at),
        }
    }

    fn missing_end(&self) -> Option<&'static str> {
        Some("a document that is never closed")
    }
}

/// The last line break between `}` and `{`. Between them there is no break in any valid text but that of two documents: inside a
/// document a comma would stand there, and strings hold no line breaks. In text that isn't valid reading ends before such a place or
/// at it, so cutting there does no harm.
fn last_line_between_documents(bytes: &[u8]) -> Option<usize> {
    let mut end = bytes.len();
    while let Some(at) = memrchr(b'\n', &bytes[..end]) {
        let before = bytes[..at].trim_ascii_end();
        let after = bytes[at..].trim_ascii_start();
        if before.last() == Some(&b'}') && after.first() == Some(&b'{') {
            return Some(at + 1);
        }
        end = before.len();
    }
    None
}

/// The elements of an array, whose opening bracket has been read.
pub struct ArrayBoundaries {
    legacy: bool,
    depth: Depth,
}

impl ArrayBoundaries {
    /// `legacy`: strings may stand in single quotes.
    pub fn new(legacy: bool) -> Self {
        Self { legacy, depth: Depth::new(legacy) }
    }
}

impl Boundaries for ArrayBoundaries {
    /// The last element is left for later while nothing follows it, so that the stretch that ends the input is never empty.
    fn whole(&mut self, bytes: &[u8]) -> usize {
        bytes.split_last().map_or(0, |(_, bytes)| self.whole_before_damage(bytes))
    }

    fn whole_before_damage(&mut self, bytes: &[u8]) -> usize {
        self.depth = Depth::new(self.legacy);
        match self.depth.follow(bytes, false) {
            Ends::Last(end) => end.unwrap_or(0),
            Ends::TooMany(end) => Depth::new(self.legacy).last_before(&bytes[..end]),
        }
    }

    fn is_sound(&self, bytes: &[u8]) -> bool {
        let text = bytes.trim_ascii_start();
        let text = text.strip_prefix(b",").unwrap_or(text).trim_ascii_start();
        text.first() == Some(&b'{')
    }

    fn end_in(&mut self, more: &[u8]) -> Option<usize> {
        match self.depth.follow(more, true) {
            Ends::Last(end) => end,
            Ends::TooMany(at) => Some(at),
        }
    }

    fn missing_end(&self) -> Option<&'static str> {
        Some("a document that is never closed")
    }
}
