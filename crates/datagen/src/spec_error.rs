//! The error of every specification in this crate.

use thiserror::Error;

/// What is wrong with a specification, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {message}")]
pub struct SpecError {
    /// Dotted path from the specification that was checked, such as `field_length.min`.
    pub path: String,
    /// What is wrong: lower case, no final period.
    pub message: String,
}

impl SpecError {
    /// An error at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }

    /// The same error, seen from a specification that holds the checked one under `parent`.
    #[must_use]
    pub fn within(mut self, parent: &str) -> Self {
        self.path = if self.path.is_empty() { parent.to_owned() } else { format!("{parent}.{}", self.path) };
        self
    }
}
