//! Text and dumps to BSON documents, with the meaning that mongoimport gives them. Bytes in, bytes out: no sockets, no
//! threads, no time.
//!
//! Reading goes in two steps, so that the second can be done by many threads:
//!
//! 1. A [`Splitter`] follows the input and hands out [`Stretch`]es, each of whole records. Sequential and cheap.
//! 2. [`Convert`] turns a stretch into [`Documents`]. Pure; any thread, any order.
//!
//! [`open`] makes both from [`FormatOptions`] and an input. The way back is in [`write`].

#![forbid(unsafe_code)]

mod bson_dump;
pub mod calendar;
mod compression;
mod delimited;
mod documents;
mod encoding;
mod error;
mod foreign;
mod input;
mod json;
mod open;
mod options;
mod splitting;
mod stretch;
pub mod value;
mod values;
pub mod write;

pub use documents::{
    Convert, Documents, GeneratedIds, Misfit, NamesNotUtf8, Oddity, Rejected, Rejection, Row,
};
pub use error::InputError;
pub use input::AfterTheEnd;
pub use open::{Opened, open, open_in};
pub use options::{Columns, Format, FormatOptions, ParseGrace};
pub use splitting::STRETCH_BYTES;
pub use stretch::{Position, Splitter, Stretch};
pub use values::text::beginning;

/// The largest document that a server stores, in bytes of BSON.
pub const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The longest record that is read. A document of [`DOCUMENT_BYTES_MAX`] may take more than that as text (quotes doubled,
/// characters escaped, types spelled out); a record longer than this is rejected unread.
pub const RECORD_BYTES_MAX: usize = 2 * DOCUMENT_BYTES_MAX;
/// How much of a rejected record is kept.
pub const REJECTED_TEXT_BYTES_MAX: usize = 64 * 1024;
