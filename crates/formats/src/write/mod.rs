//! Owns the way back: BSON documents to CSV lines, Extended JSON lines or a BSON dump. Pure: bytes in, bytes appended.

mod csv;
mod json;
mod text;

pub use csv::CsvWriter;

use brimline_bson::{ElementType, ReadError};
use thiserror::Error;

/// Why a document can't be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WriteError {
    /// The bytes are no document.
    #[error("not a BSON document: {0}")]
    NotBson(#[from] ReadError),
    /// A string that text files can't hold.
    #[error("a string is not UTF-8")]
    NotUtf8,
    /// A type that has no text here.
    #[error("a value of type {0:?} can't be written as text")]
    Untextual(ElementType),
}

/// Appends documents to a buffer in one format.
#[derive(Clone, Debug)]
pub enum RecordWriter {
    /// One line each, values as mongoexport writes them.
    Csv(CsvWriter),
    /// One line each: Extended JSON v2, relaxed or canonical.
    Json {
        /// Every number says its type.
        canonical: bool,
    },
    /// Back to back, as mongodump writes them.
    Bson,
}

impl RecordWriter {
    /// Appends `document`, one whole BSON document.
    ///
    /// # Errors
    /// When it is no document, or holds what the format can't.
    pub fn append(&self, document: &[u8], out: &mut Vec<u8>) -> Result<(), WriteError> {
        match self {
            Self::Csv(writer) => writer.append(document, out),
            Self::Json { canonical } => {
                json::append_document(document, *canonical, out)?;
                out.push(b'\n');
                Ok(())
            }
            Self::Bson => {
                out.extend_from_slice(document);
                Ok(())
            }
        }
    }
}
