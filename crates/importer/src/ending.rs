//! Owns why an import ended.

use brimline_formats::InputError;
use serde::Serialize;

/// Why an import ended. Only after `Completed` every record of every input is settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ending {
    /// The inputs came to their end.
    Completed,
    /// It was asked to.
    Stopped,
    /// An input can't be read any further.
    Input {
        /// Number of the input.
        input: usize,
        /// Line, or number of the document.
        line: u64,
        /// Offset of the record.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// A document was refused, and that is to end it.
    Refused {
        /// Number of the input.
        input: usize,
        /// Line of the first document that was refused; none when a command failed as a whole.
        line: Option<u64>,
        /// The server's error code, 0 when it wasn't the server.
        code: i32,
        /// What is wrong.
        reason: String,
    },
    /// The server went away or fell silent.
    ServerLost {
        /// What was seen of it.
        reason: String,
    },
    /// The system gives no thread, or no memory for one.
    OutOfResources {
        /// What for.
        reason: String,
    },
    /// A defect of the importer.
    Broken {
        /// What happened.
        reason: String,
    },
    /// The record can't be written.
    Unwritable {
        /// Which file, and why.
        reason: String,
    },
}

impl Ending {
    /// Of an input that can't be read any further.
    pub fn of_input(input: usize, error: &InputError) -> Self {
        Self::Input { input, line: error.line, offset: error.offset, reason: error.reason.clone() }
    }
}
