//! Owns the error that ends an input.

use thiserror::Error;

/// Why an input can't be followed any further, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct InputError {
    /// Line of the input, from 1; in a dump the number of the document.
    pub line: u64,
    /// Offset in the decompressed input of the record that is meant.
    pub offset: u64,
    /// What is wrong: lower case, no final period.
    pub reason: String,
}
