//! Owns the threads of a job: makers, each with every n-th stretch, and the one that writes.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::maker::{Maker, header, rows_per_stretch};
use crate::output::Output;
use crate::{Job, JobError, Limit, sample_bytes_per_row};

/// Stretches that a maker may be ahead.
const AHEAD: usize = 2;

/// How a generation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything is written.
    Completed,
    /// It was told to stop.
    Stopped,
    /// Writing failed.
    Failed {
        /// The system's number of the error; `None` for an error of brimline's own.
        os_error: Option<i32>,
        /// In words.
        message: String,
    },
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// Whole rows in the output.
    pub rows: u64,
    /// Bytes of the header and these rows.
    pub bytes: u64,
}

/// How far a generation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Whole rows that are written.
    pub rows: u64,
    /// Bytes of the header and these rows.
    pub bytes: u64,
    /// Whether it has ended.
    pub is_finished: bool,
}

#[derive(Default)]
struct Shared {
    rows: AtomicU64,
    bytes: AtomicU64,
    stop: AtomicBool,
    outcome: Mutex<Option<Outcome>>,
    ended: Condvar,
}

/// A generation under way. Dropping it stops it.
pub struct Generation {
    shared: Arc<Shared>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Generation {
    /// Starts and returns at once.
    ///
    /// # Errors
    /// When the job is out of bounds.
    pub fn start(job: Job) -> Result<Self, JobError> {
        let bytes_per_row = sample_bytes_per_row(&job)?;
        let shared = Arc::new(Shared::default());
        let writer = thread::Builder::new().spawn({
            let shared = Arc::clone(&shared);
            move || {
                let outcome = generate(&job, rows_per_stretch(bytes_per_row), &shared);
                *shared.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
                shared.ended.notify_all();
            }
        });
        let writer = writer.map_err(|error| JobError {
            path: "threads".to_owned(),
            message: format!("no thread can be started: {error}"),
        })?;
        Ok(Self { shared, writer: Mutex::new(Some(writer)) })
    }

    /// Waits up to `timeout` for the end and says how far it is.
    #[expect(clippy::disallowed_methods, reason = "who looks on from outside needs no grain")]
    pub fn poll(&self, timeout: Duration) -> Progress {
        let outcome = self.shared.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        let (outcome, _) = self
            .shared
            .ended
            .wait_timeout_while(outcome, timeout, |outcome| outcome.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        Progress {
            rows: self.shared.rows.load(Ordering::Relaxed),
            bytes: self.shared.bytes.load(Ordering::Relaxed),
            is_finished: outcome.is_some(),
        }
    }

    /// Writes no further stretch.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the end.
    pub fn join(&self) -> Outcome {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let has_panicked = writer.is_some_and(|writer| writer.join().is_err());
        let outcome = self.shared.outcome.lock().unwrap_or_else(PoisonError::into_inner).clone();
        outcome.unwrap_or_else(|| Outcome {
            ended: Ended::Failed {
                os_error: None,
                message: if has_panicked { "a thread panicked" } else { "there is no outcome" }.to_owned(),
            },
            rows: self.shared.rows.load(Ordering::Relaxed),
            bytes: self.shared.bytes.load(Ordering::Relaxed),
        })
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A stretch of rows, made.
type Made = Result<Vec<u8>, String>;

/// A maker's two channels, seen from the writer.
struct MakerEnd {
    made: Receiver<Made>,
    emptied: Sender<Vec<u8>>,
}

enum Failure {
    Io(io::Error),
    Made(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn generate(job: &Job, rows_per_stretch: u64, shared: &Shared) -> Outcome {
    let mut rows = 0;
    let mut output = match Output::open(job) {
        Ok(output) => output,
        Err(error) => return Outcome { ended: failed(Failure::Io(error)), rows, bytes: 0 },
    };
    let written = write_all(job, rows_per_stretch, shared, &mut output, &mut rows);
    // Who stops it doesn't want to wait for the disk.
    let synced = written.and_then(|ended| {
        if ended == Ended::Completed {
            output.sync()?;
        }
        Ok(ended)
    });
    let ended = match synced {
        Ok(ended) => ended,
        Err(failure) => {
            // A file that can't be cut keeps a part of a row; the first error is the one to report.
            _ = output.cut();
            failed(failure)
        }
    };
    Outcome { ended, rows, bytes: output.whole_bytes() }
}

fn write_all(
    job: &Job,
    rows_per_stretch: u64,
    shared: &Shared,
    output: &mut Output,
    rows: &mut u64,
) -> Result<Ended, Failure> {
    let header = header(job);
    let bytes_max = match job.limit {
        Limit::Rows { .. } => u64::MAX,
        Limit::Bytes { count } => count,
    };
    if header.len() as u64 > bytes_max {
        return Ok(Ended::Completed);
    }
    output.write(&header)?;
    let stretch_of = |number: u64| {
        let first = job.data.insert_start.saturating_add(number.saturating_mul(rows_per_stretch));
        first.min(job.end())..first.saturating_add(rows_per_stretch).min(job.end())
    };
    thread::scope(|scope| {
        let makers = (0..job.threads)
            .map(|thread| {
                let (made_sender, made) = sync_channel(AHEAD);
                let (emptied, emptied_receiver) = channel();
                let numbers = (u64::from(thread)..).step_by(job.threads as usize);
                thread::Builder::new().spawn_scoped(scope, move || {
                    make(job, numbers.map(stretch_of), &made_sender, &emptied_receiver);
                })?;
                Ok(MakerEnd { made, emptied })
            })
            .collect::<io::Result<Vec<MakerEnd>>>()?;
        for number in 0.. {
            let records = stretch_of(number);
            if records.is_empty() {
                return Ok(Ended::Completed);
            }
            if shared.stop.load(Ordering::Relaxed) {
                return Ok(Ended::Stopped);
            }
            let maker = &makers[(number % u64::from(job.threads)) as usize];
            let made = maker.made.recv().map_err(|_| Failure::Made("a thread ended early".to_owned()))?;
            let bytes = made.map_err(Failure::Made)?;
            if output.whole_bytes() + bytes.len() as u64 > bytes_max {
                write_some(job, records, bytes_max, output, rows)?;
                publish(shared, *rows, output);
                return Ok(Ended::Completed);
            }
            output.write(&bytes)?;
            *rows += records.end - records.start;
            publish(shared, *rows, output);
            // A maker that has made its last stretch takes no buffer back.
            _ = maker.emptied.send(bytes);
        }
        Ok(Ended::Completed)
    })
}

fn publish(shared: &Shared, rows: u64, output: &Output) {
    shared.rows.store(rows, Ordering::Relaxed);
    shared.bytes.store(output.whole_bytes(), Ordering::Relaxed);
}

/// Makes one stretch after the other until there are no more records or nobody takes them.
fn make(
    job: &Job,
    stretches: impl Iterator<Item = std::ops::Range<u64>>,
    made: &SyncSender<Made>,
    emptied: &Receiver<Vec<u8>>,
) {
    let maker = match Maker::new(job) {
        Ok(maker) => maker,
        Err(error) => {
            _ = made.send(Err(error.to_string()));
            return;
        }
    };
    for records in stretches {
        if records.is_empty() {
            return;
        }
        let mut bytes = emptied.try_recv().unwrap_or_default();
        bytes.clear();
        maker.append(records, &mut bytes);
        if made.send(Ok(bytes)).is_err() {
            return;
        }
    }
}

/// Writes those of `records` that fit.
fn write_some(
    job: &Job,
    records: std::ops::Range<u64>,
    bytes_max: u64,
    output: &mut Output,
    rows: &mut u64,
) -> Result<(), Failure> {
    let maker = Maker::new(job).map_err(|error| Failure::Made(error.to_string()))?;
    let mut bytes = Vec::new();
    let mut count = 0;
    for record in records {
        let before = bytes.len();
        maker.append(record..record + 1, &mut bytes);
        if output.whole_bytes() + bytes.len() as u64 > bytes_max {
            bytes.truncate(before);
            break;
        }
        count += 1;
    }
    output.write(&bytes)?;
    *rows += count;
    Ok(())
}

fn failed(failure: Failure) -> Ended {
    match failure {
        Failure::Io(error) => Ended::Failed { os_error: error.raw_os_error(), message: error.to_string() },
        Failure::Made(message) => Ended::Failed { os_error: None, message },
    }
}
