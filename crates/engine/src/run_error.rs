//! Why a run has no summary.

use std::io;

use thiserror::Error;

use crate::plan::error::PlanError;

/// Why a run has no summary.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// The plan can't be executed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No connection to the target, or not as many as asked for.
    #[error("{0}")]
    Target(String),
    /// The system gives no further thread, or no memory for it.
    #[error("{0}")]
    Resources(String),
    /// The engine itself failed.
    #[error("engine: {0}")]
    Internal(String),
}

impl RunError {
    /// No thread for `what`.
    pub(crate) fn no_thread(what: &str, error: &io::Error) -> Self {
        Self::Resources(format!("no thread for {what} can be started: {error}"))
    }
}

/// What a thread that panicked said.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("no message"))
}
