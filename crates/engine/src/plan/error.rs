//! What is wrong with a plan.

use thiserror::Error;

/// What is wrong with a plan, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {message}")]
pub struct PlanError {
    /// Dotted path into the plan.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl PlanError {
    /// An error at `path`.
    pub(crate) fn new(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), message: message.into() }
    }

    /// An error of a part of the plan that another crate has checked.
    pub(crate) fn inside(path: &str, error: &brimline_datagen::SpecError) -> Self {
        let path = if error.path.is_empty() { path.to_owned() } else { format!("{path}.{}", error.path) };
        Self { path, message: error.message.clone() }
    }
}

/// An error at `path` unless it `holds`.
pub(crate) fn require(holds: bool, path: &str, message: impl FnOnce() -> String) -> Result<(), PlanError> {
    if holds { Ok(()) } else { Err(PlanError::new(path, message())) }
}
