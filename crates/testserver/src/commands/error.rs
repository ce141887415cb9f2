//! A command that fails as a whole.

use brimline_bson::{ReadError, Writer};

use crate::store::StoreError;

/// Why a command fails, as the reply says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError {
    /// Error code.
    pub code: i32,
    /// `codeName`.
    pub name: String,
    /// `errmsg`.
    pub message: String,
    /// The single entry of `errorLabels`, if any.
    pub label: Option<String>,
}

impl CommandError {
    /// An error without a label.
    pub fn new(code: i32, name: &str, message: impl Into<String>) -> Self {
        Self { code, name: name.to_owned(), message: message.into(), label: None }
    }

    /// A value that a command does not take.
    pub fn bad_value(message: impl Into<String>) -> Self {
        Self::new(2, "BadValue", message)
    }

    /// A command of an unknown name.
    pub fn command_not_found(name: &str) -> Self {
        Self::new(59, "CommandNotFound", format!("no such command: '{name}'"))
    }

    /// A collection that does not exist.
    pub fn namespace_not_found(namespace: &str) -> Self {
        Self::new(26, "NamespaceNotFound", format!("ns not found: {namespace}"))
    }

    /// Writes the elements of the reply's body.
    pub fn write(&self, writer: &mut Writer<'_>) {
        writer.double("ok", 0.0);
        writer.string("errmsg", &self.message);
        writer.int32("code", self.code);
        writer.string("codeName", &self.name);
        if let Some(label) = &self.label {
            let labels = writer.begin_array("errorLabels");
            writer.string("0", label);
            writer.end_document(labels);
        }
    }
}

impl From<ReadError> for CommandError {
    fn from(error: ReadError) -> Self {
        Self::new(22, "InvalidBSON", error.to_string())
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Document(error) => error.into(),
            StoreError::Unsupported(_) => Self::bad_value(error.to_string()),
            StoreError::ImmutableId => Self::new(66, "ImmutableField", error.to_string()),
        }
    }
}
