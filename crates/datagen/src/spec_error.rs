//! What the specifications in this crate share: their error, and how a kind without parameters is read.

use serde::{Deserialize, Deserializer};
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

/// serde lets any key pass beside the tag of a variant without fields, `deny_unknown_fields` or not.
pub(crate) fn no_parameters<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoParameters {}
    NoParameters::deserialize(deserializer).map(|NoParameters {}| ())
}
