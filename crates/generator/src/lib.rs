//! Writes the documents of a data spec to a file or to standard output: the same documents that a load inserts.
//!
//! A few threads make stretches of rows, one writes them in order, one has the disk take them meanwhile; memory stays at a few megabytes whatever the size. Knows
//! no server and no time.

#![forbid(unsafe_code)]

mod columns;
mod csv_row;
mod flusher;
mod generation;
mod job;
mod json_row;
mod maker;
mod output;

pub use generation::{Ended, Generation, Outcome, Progress};
pub use job::{Format, Header, Job, JobError, Limit};
pub use maker::sample_bytes_per_row;
