//! Owns what is to be written, as JSON gives it.

use std::path::PathBuf;

use brimline_datagen::{DocumentSpec, RECORD_INDEX_MAX};
use serde::Deserialize;
use thiserror::Error;

/// Most threads that make rows.
pub const THREAD_COUNT_MAX: u32 = 256;

/// What is to be written, where to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Documents are a function of (seed, index).
    pub seed: u64,
    /// Keys and documents. Rows begin with its first record; how many records it has doesn't matter here.
    pub data: DocumentSpec,
    /// How a document is written.
    pub format: Format,
    /// Where it ends.
    pub limit: Limit,
    /// Threads that make rows, beside the one that writes.
    pub threads: u32,
    /// The file; `None`: standard output.
    pub path: Option<PathBuf>,
    /// Whether a file that is there is replaced.
    pub overwrite: bool,
}

/// How a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Format {
    /// A line of comma-separated values.
    Csv {
        /// The first line.
        header: Header,
    },
    /// A line of Extended JSON.
    Json {
        /// Every number says its type.
        canonical: bool,
    },
    /// A BSON dump.
    // Braces, because serde lets unknown keys pass on a variant without them.
    Bson {},
}

/// The first line of a CSV file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Header {
    /// There is none.
    None,
    /// The names of the columns.
    Names,
    /// Names with types, as mongoimport's `--columnsHaveTypes` reads them: `count.int64()`.
    Types,
}

/// Where the output ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Limit {
    /// After so many rows.
    Rows {
        /// Rows, without the header.
        count: u64,
    },
    /// After the last row with which the output, header included, is not larger than this.
    Bytes {
        /// Bytes.
        count: u64,
    },
}

/// What is wrong with a job.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {message}")]
pub struct JobError {
    /// Dotted path into the job.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl Job {
    /// Checks every value against its bounds.
    ///
    /// # Errors
    /// The first value that is out of bounds.
    pub fn validate(&self) -> Result<(), JobError> {
        self.data
            .validate()
            .map_err(|error| JobError { path: format!("data.{}", error.path), message: error.message })?;
        if !(1..=THREAD_COUNT_MAX).contains(&self.threads) {
            let message = format!("must be 1 to {THREAD_COUNT_MAX}, got {}", self.threads);
            return Err(JobError { path: "threads".to_owned(), message });
        }
        if let Limit::Rows { count } = self.limit
            && self.data.insert_start.checked_add(count).is_none_or(|end| end > RECORD_INDEX_MAX)
        {
            let message = format!("rows reach past record {RECORD_INDEX_MAX}");
            return Err(JobError { path: "limit.count".to_owned(), message });
        }
        Ok(())
    }

    /// The first record that is not written, as far as it is known beforehand.
    pub(crate) fn end(&self) -> u64 {
        match self.limit {
            Limit::Rows { count } => self.data.insert_start + count,
            Limit::Bytes { .. } => RECORD_INDEX_MAX,
        }
    }
}
