//! BSON bytes, and nothing else: an appending [`Writer`] for documents that are built once or per operation, and a
//! bounded [`Reader`] that walks bytes from a peer that may lie.
//!
//! Source: BSON specification 1.1, <https://bsonspec.org/spec.html>. Only the parts that brimline writes itself have a
//! writing method; every type can be skipped when reading.

#![forbid(unsafe_code)]

mod element;
mod element_type;
mod find;
mod reader;
mod writer;

pub use element::{Element, RawElement, Value};
pub use element_type::ElementType;
pub use find::find;
pub use reader::{ReadError, Reader, split_document};
pub use writer::{OpenDocument, Writer};
