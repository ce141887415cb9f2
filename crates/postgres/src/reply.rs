//! Owns a reply: where it ends, and what it says. Rows are counted and passed over, so that memory holds the first one at most, and
//! that only where it is looked at.

#[cfg(test)]
mod tests;

use brimline_net::link::{Lost, Refusal};
use brimline_sql::link::Fed;

use crate::error::ServerError;
use crate::fields::Fields;
use crate::message::{HEADER_BYTES, header};
use crate::row::{Column, read_columns};

/// Longest message that is no row.
const BODY_BYTES_MAX: usize = 16 << 20;
/// Commands whose tag says how many rows they changed.
const CHANGING: [&[u8]; 5] = [b"INSERT", b"UPDATE", b"DELETE", b"MERGE", b"COPY"];

/// A reply under way.
#[derive(Debug, Default)]
pub struct Reply {
    is_done: bool,
    /// How much of a row is still to come.
    left: usize,
    keeps_first: bool,
    takes_copy: bool,
    /// Result sets that are over.
    results: u64,
    /// Columns of the first result set, where its first row is kept.
    pub columns: Vec<Column>,
    /// First row, where it is kept.
    pub first: Vec<u8>,
    /// Rows of all result sets.
    pub rows: u64,
    /// Changed rows of all statements.
    pub affected: u64,
    /// How many parameters a prepared statement has.
    pub parameters: u16,
    pub refusal: Option<Box<Refusal>>,
    /// What the session says of itself.
    pub session: Session,
}

/// What a session says of itself.
#[derive(Debug, Default)]
pub struct Session {
    /// Whether a backslash escapes what follows it.
    pub backslash_escapes: bool,
    /// The server's version.
    pub version: String,
}

impl Reply {
    /// Begins anew. `takes_copy`: what was sent has the rows of a COPY.
    pub fn begin(&mut self, keeps_first: bool, takes_copy: bool) {
        self.columns.clear();
        self.first.clear();
        self.refusal = None;
        (self.is_done, self.left) = (false, 0);
        (self.keeps_first, self.takes_copy) = (keeps_first, takes_copy);
        (self.results, self.rows, self.affected, self.parameters) = (0, 0, 0, 0);
    }

    /// Whether the first row was kept.
    pub fn has_first(&self) -> bool {
        !self.first.is_empty()
    }

    /// Follows `bytes`, which stand behind those that were taken before.
    ///
    /// # Errors
    /// When they are no reply.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Fed, Lost> {
        let mut taken = 0;
        let more = |taken: usize, needs: usize| Ok(Fed { taken, needs, is_done: false });
        loop {
            let rest = &bytes[taken..];
            if self.left > 0 {
                let passed = self.left.min(rest.len());
                if self.keeps() {
                    self.first.extend_from_slice(&rest[..passed]);
                }
                self.left -= passed;
                taken += passed;
                if self.left > 0 {
                    return more(taken, 1);
                }
                continue;
            }
            if self.is_done {
                return Ok(Fed { taken, needs: 0, is_done: true });
            }
            let Some((letter, length)) = header(rest) else { return more(taken, HEADER_BYTES) };
            let length = length.ok_or_else(|| Lost::bad("a message of an impossible length"))?;
            if matches!(letter, b'D' | b'd') {
                self.rows += 1;
                self.left = length;
                taken += HEADER_BYTES;
                continue;
            }
            if length > BODY_BYTES_MAX {
                return Err(Lost::bad("a message of more than 16 MiB that is no row"));
            }
            let Some(body) = rest.get(HEADER_BYTES..HEADER_BYTES + length) else {
                return more(taken, HEADER_BYTES + length);
            };
            taken += HEADER_BYTES + length;
            self.read(letter, body)?;
        }
    }

    /// Whether the row under way is kept: the first of rows that were described, as those of a COPY are not.
    fn keeps(&self) -> bool {
        self.rows == 1 && self.results == 0 && !self.columns.is_empty()
    }

    /// Reads a message that is no row.
    fn read(&mut self, letter: u8, body: &[u8]) -> Result<(), Lost> {
        match letter {
            b'Z' => self.is_done = true,
            b'C' => {
                self.affected = self.affected.saturating_add(changed(body));
                self.results += 1;
            }
            b'E' => {
                let error = ServerError::read(body)?;
                self.refusal.get_or_insert_with(|| Box::new(error.refusal()));
            }
            b'T' if self.keeps_first && self.results == 0 && self.columns.is_empty() => {
                read_columns(body, &mut self.columns)
                    .ok_or_else(|| Lost::bad("the description of a row is cut"))?;
            }
            b't' => {
                let count = Fields(body).u16();
                self.parameters = count.ok_or_else(|| Lost::bad("the description of values is cut"))?;
            }
            b'G' if !self.takes_copy => {
                return Err(Lost::bad("the server waits for rows of a COPY, which a step can't have"));
            }
            // Parsed, bound, closed, no rows, an empty statement, a portal put off; a COPY that begins or ends; what is only told.
            b'1' | b'2' | b'3' | b'n' | b'I' | b's' | b'T' | b'G' | b'H' | b'c' | b'N' | b'S' | b'A' => {
                if letter == b'S' {
                    self.session.note(body);
                }
            }
            _ => {
                let letter = char::from(letter).escape_default();
                return Err(Lost::bad(format!("a message of the kind '{letter}' that nothing calls for")));
            }
        }
        Ok(())
    }
}

impl Session {
    /// Notes a parameter that the server tells.
    pub fn note(&mut self, body: &[u8]) {
        let mut fields = Fields(body);
        match (fields.text(), fields.text()) {
            (Some(b"standard_conforming_strings"), Some(value)) => self.backslash_escapes = value == b"off",
            (Some(b"server_version"), Some(value)) => {
                self.version = String::from_utf8_lossy(value).into_owned();
            }
            _ => {}
        }
    }
}

/// How many rows a command changed: the last word of its tag.
fn changed(body: &[u8]) -> u64 {
    let tag = body.strip_suffix(b"\0").unwrap_or(body);
    let mut words = tag.split(|&byte| byte == b' ');
    if !words.next().is_some_and(|command| CHANGING.contains(&command)) {
        return 0;
    }
    let count = words.next_back().and_then(|word| std::str::from_utf8(word).ok());
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}
