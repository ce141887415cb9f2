//! Owns where rows end, without reading them.

use memchr::{memchr, memchr_iter, memchr2_iter, memrchr, memrchr2_iter};

use super::Dialect;
use super::rows::{Cells, Malformed, RowEnd};
use crate::splitting::Boundaries;

/// A row of CSV ends at a line break with an even number of quotes before it.
#[derive(Default)]
pub struct CsvBoundaries {
    /// Whether what has been looked at of an overlong row ends inside quotes.
    quoted: bool,
}

impl Boundaries for CsvBoundaries {
    /// A row with a quote in the wrong place makes the count of quotes wrong from there on. That is no harm, because reading ends at
    /// that row.
    fn whole(&mut self, bytes: &[u8]) -> usize {
        self.quoted = memchr_iter(b'"', bytes).count() % 2 == 1;
        let mut quoted = self.quoted;
        for at in memrchr2_iter(b'\n', b'"', bytes) {
            if bytes[at] == b'"' {
                quoted = !quoted;
            } else if !quoted {
                return at + 1;
            }
        }
        0
    }

    fn is_sound(&self, bytes: &[u8]) -> bool {
        let end = Cells::default().read_row(Dialect::Csv, bytes);
        !matches!(end, RowEnd::Malformed(Malformed::BareQuote | Malformed::AfterQuote))
    }

    fn missing_end(&self) -> Option<&'static str> {
        self.quoted.then(|| Malformed::NeverClosed.reason())
    }

    fn end_in(&mut self, more: &[u8]) -> Option<usize> {
        for at in memchr2_iter(b'\n', b'"', more) {
            if more[at] == b'"' {
                self.quoted = !self.quoted;
            } else if !self.quoted {
                return Some(at + 1);
            }
        }
        None
    }
}

/// A row of TSV is a line.
pub struct TsvBoundaries;

impl Boundaries for TsvBoundaries {
    fn whole(&mut self, bytes: &[u8]) -> usize {
        memrchr(b'\n', bytes).map_or(0, |at| at + 1)
    }

    fn is_sound(&self, _bytes: &[u8]) -> bool {
        true
    }

    fn missing_end(&self) -> Option<&'static str> {
        None
    }

    fn end_in(&mut self, more: &[u8]) -> Option<usize> {
        memchr(b'\n', more).map(|at| at + 1)
    }
}
