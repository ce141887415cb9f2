//! Reads a log back, a row at a time. What follows the last whole row is a row that was being written when the run was
//! killed, and is left out.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

use super::row::{ROW_BYTES, Row, decode_header, endings};
use crate::kinds::OperationKind;

const BUFFER_BYTES: usize = 1 << 20;

/// The rows of a file, in the order in which they were written.
pub struct Reader {
    file: Option<BufReader<File>>,
    started_unix_ns: u64,
}

impl Reader {
    /// Opens a log. One of a run that was cut short before it began is empty.
    ///
    /// # Errors
    /// When the file can't be read, or is no such log.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
        let Some(bytes) = next_bytes(&mut file)? else { return Ok(Self { file: None, started_unix_ns: 0 }) };
        let started_unix_ns =
            decode_header(&bytes).ok_or_else(|| not_valid("is no log of operations of this version"))?;
        Ok(Self { file: Some(file), started_unix_ns })
    }

    /// Wall-clock time of the run's instant 0.
    pub fn started_unix_ns(&self) -> u64 {
        self.started_unix_ns
    }
}

impl Iterator for Reader {
    type Item = io::Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = match next_bytes(self.file.as_mut()?) {
            Ok(bytes) => bytes?,
            Err(error) => return Some(Err(error)),
        };
        Some(Row::decode(&bytes).ok_or_else(|| not_valid("has a row that no run wrote")))
    }
}

fn next_bytes(file: &mut BufReader<File>) -> io::Result<Option<[u8; ROW_BYTES]>> {
    let mut bytes = [0; ROW_BYTES];
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn not_valid(reason: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

/// Rows by kind, in the order of [`OperationKind::all`], and by ending: ok, miss, failed.
pub type Counts = [[u64; endings().len()]; OperationKind::COUNT];

/// Counts the rows of a log.
///
/// # Errors
/// As [`Reader`].
pub fn count(path: &Path) -> io::Result<Counts> {
    let mut counts = Counts::default();
    for row in Reader::open(path)? {
        let row = row?;
        counts[row.kind.row()][row.ending as usize] += 1;
    }
    Ok(counts)
}
