//! From the workers to the file. A worker fills a chunk and swaps it for an empty one, once every few thousand operations and
//! at each cut of an interval; the thread that writes gives the chunks back. Their number is bounded, so memory is too.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};

use super::row::{ROW_BYTES, Row, encode_header};
use crate::shared::lock;

/// Bytes of a chunk: 4 096 rows.
const CHUNK_BYTES: usize = 4096 * ROW_BYTES;
/// Most chunks beside the one that each worker fills: 24 MiB, some seconds of a fast run while the disk doesn't answer.
const WAITING_CHUNKS_MAX: usize = 128;

/// What became of the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogTotals {
    /// Rows in the file.
    pub written: u64,
    /// Rows that are not, because the file couldn't be written, or not as fast.
    pub lost: u64,
    /// Why the file couldn't be written any more.
    pub error: Option<String>,
}

/// Chunks for all workers of a run.
pub struct Pool {
    chunks: Mutex<Chunks>,
}

struct Chunks {
    empty: Vec<Vec<u8>>,
    may_be_made: usize,
}

impl Pool {
    /// A pool for so many workers.
    pub fn new(worker_count: usize) -> Self {
        Self {
            chunks: Mutex::new(Chunks { empty: Vec::new(), may_be_made: worker_count + WAITING_CHUNKS_MAX }),
        }
    }

    fn take(&self) -> Option<Vec<u8>> {
        let mut chunks = lock(&self.chunks);
        if let Some(chunk) = chunks.empty.pop() {
            return Some(chunk);
        }
        chunks.may_be_made = chunks.may_be_made.checked_sub(1)?;
        drop(chunks);
        Some(Vec::with_capacity(CHUNK_BYTES))
    }

    fn give(&self, mut chunk: Vec<u8>) {
        chunk.clear();
        lock(&self.chunks).empty.push(chunk);
    }
}

/// Where one worker writes its rows.
pub struct Logger {
    chunk: Vec<u8>,
    pool: Arc<Pool>,
    full: Sender<Vec<u8>>,
    lost: u64,
}

impl Logger {
    /// A worker's logger.
    pub fn new(pool: &Arc<Pool>, full: Sender<Vec<u8>>) -> Self {
        Self { chunk: pool.take().unwrap_or_default(), pool: Arc::clone(pool), full, lost: 0 }
    }

    /// Logs an operation, or counts it as lost while nothing can be taken.
    pub fn add(&mut self, row: &Row) {
        if self.chunk.len() + ROW_BYTES > CHUNK_BYTES && !self.hand_over() {
            self.lost += 1;
            return;
        }
        self.chunk.extend_from_slice(&row.encode());
    }

    /// Gives what there is to the thread that writes, so that a run that is killed keeps it.
    pub fn cut(&mut self) {
        if !self.chunk.is_empty() {
            self.hand_over();
        }
    }

    /// Gives the last rows away, and says how many were lost.
    pub fn finish(self) -> u64 {
        // The thread that writes outlives its workers; should it have panicked, the run fails anyway.
        drop(self.full.send(self.chunk));
        self.lost
    }

    fn hand_over(&mut self) -> bool {
        let Some(empty) = self.pool.take() else { return false };
        drop(self.full.send(std::mem::replace(&mut self.chunk, empty)));
        true
    }
}

/// The file of a log, which must exist.
///
/// # Errors
/// When it can't be opened.
pub fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// The first chunk of a log.
pub fn header(started_unix_ns: u64) -> Vec<u8> {
    encode_header(started_unix_ns).to_vec()
}

/// Writes chunks to `file` until no worker is left. After an error the file keeps its whole rows, and what comes later is
/// counted as lost.
pub fn write_down(file: &File, chunks: &Receiver<Vec<u8>>, pool: &Pool) -> LogTotals {
    let mut totals = LogTotals::default();
    let mut length = 0;
    let mut is_header = true;
    while let Ok(chunk) = chunks.recv() {
        let rows = if is_header { 0 } else { (chunk.len() / ROW_BYTES) as u64 };
        if totals.error.is_none() {
            match write_whole(file, &chunk, length) {
                Ok(()) => length += chunk.len() as u64,
                Err(error) => totals.error = Some(error.to_string()),
            }
        }
        if totals.error.is_none() {
            totals.written += rows;
        } else {
            totals.lost += rows;
        }
        if !std::mem::replace(&mut is_header, false) {
            pool.give(chunk);
        }
    }
    if totals.error.is_none()
        && let Err(error) = file.sync_all()
    {
        totals.error = Some(error.to_string());
    }
    totals
}

/// Writes all of `chunk` behind the first `length` bytes, or none of it.
fn write_whole(mut file: &File, chunk: &[u8], length: u64) -> io::Result<()> {
    file.write_all(chunk).inspect_err(|_| drop(file.set_len(length)))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::finished::{Ending, Phase};
    use crate::kinds::OperationKind;

    const ROW: Row = Row {
        kind: OperationKind::LOAD,
        ending: Ending::Ok,
        phase: Phase::Measure,
        due: None,
        sent: 1,
        second: None,
        done: 2,
        documents: 1,
    };

    /// Nobody takes chunks away: the load goes on, and each row is either waiting or counted.
    #[test]
    fn a_disk_that_stands_still_loses_rows_and_says_so() {
        let pool = Arc::new(Pool::new(1));
        let (sender, receiver) = channel();
        let mut logger = Logger::new(&pool, sender);
        let count = 4096 * (WAITING_CHUNKS_MAX as u64 + 3);
        for _ in 0..count {
            logger.add(&ROW);
        }
        let lost = logger.finish();
        let waiting: usize = receiver.iter().map(|chunk| chunk.len() / ROW_BYTES).sum();
        assert_eq!(lost, 2 * 4096);
        assert_eq!(waiting as u64 + lost, count);
    }

    #[test]
    fn a_file_that_cannot_be_written_loses_rows_and_says_why() {
        let file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let pool = Arc::new(Pool::new(1));
        let (sender, receiver) = channel();
        sender.send(header(1)).unwrap();
        let mut logger = Logger::new(&pool, sender);
        logger.add(&ROW);
        logger.cut();
        logger.add(&ROW);
        assert_eq!(logger.finish(), 0);
        let totals = write_down(&file, &receiver, &pool);
        assert_eq!((totals.written, totals.lost), (0, 2));
        assert!(totals.error.is_some_and(|error| error.contains("No space left")));
    }
}
