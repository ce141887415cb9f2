//! Keys and documents from (seed, index): which record an operation takes, what it is called and what it holds.
//!
//! Everything here is a pure function of a seed and an index, so that any thread or machine can make any record or
//! operation without asking another. Layers, each using those before it:
//!
//! - [`OpRng`]: random numbers of one operation; [`Permutation`]: a seeded shuffle that needs no table
//! - [`KeyChooser`]: which record, one popularity law per file; [`LengthChooser`]: how long
//! - [`Documents`]: YCSB's keys and documents, or documents from templates ([`ValueSpec`]), as BSON bytes
//!   or value by value into a [`Sink`]
//! - [`expression`]: values of a person's own operations, which refer to collections, tables, replies and one another
//!
//! Compatible with the core workload of YCSB (Cooper et al., "Benchmarking Cloud Serving Systems with YCSB", `SoCC` 2010)
//! in key text, document shape and laws; where YCSB approximates a law, the law itself is drawn from.

#![forbid(unsafe_code)]

mod chooser;
mod derived;
mod document_spec;
mod documents;
pub mod expression;
mod key;
mod length;
mod permutation;
mod rng;
mod sink;
mod spec_error;
mod template;
mod value;
mod verified;

pub use chooser::{ChooserSpec, KeyChooser, THETA_MAX};
pub use document_spec::{DOCUMENT_BYTES_MAX, DocumentSpec, Values};
pub use documents::Documents;
pub use key::{InsertOrder, KeyElement, RECORD_INDEX_MAX, ZERO_PADDING_MAX};
pub use length::{HISTOGRAM_ENTRIES_MAX, LENGTH_MAX, LengthChooser, LengthSpec};
pub use permutation::Permutation;
pub use rng::{OpRng, RngStream};
pub use sink::{ElementName, Name, NameKind, Sink, UUID_SUBTYPE};
pub use spec_error::SpecError;
pub use template::{
    ALPHABET_CHARACTERS_MAX, CHOICES_MAX, DECIMALS_MAX, DEPTH_MAX, FakeKind, FieldSpec, Language, NumberKind,
    Scalar, TEMPLATE_FIELDS_MAX, ValueSpec,
};
pub use verified::Verified;

/// Streams of [`OpRng`] that this crate draws from itself. Callers take small numbers; these start at 2^63.
mod stream {
    /// Lengths and values of the document of a record; the index is the record.
    pub const DOCUMENT: u64 = 1 << 63;
    /// Round keys of the scatter permutation; the index is 0.
    pub const PERMUTATION: u64 = (1 << 63) + 1;
    /// Lengths drawn to estimate the size of a document; the index is 0.
    pub const ESTIMATE: u64 = (1 << 63) + 2;
    /// Rows of a table, by its name; the index is the operation.
    pub const TABLE: u64 = 1;
    /// A place of an expression, by its name; the index is the operation.
    pub const EXPRESSION: u64 = 2;

    /// The stream of something with a name.
    pub fn named(kind: u64, name: &str) -> u64 {
        const OWN: u64 = 0b11 << 62;
        const OFFSET_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        name.bytes().fold(step(OFFSET_BASIS, kind as u8), step) | OWN
    }

    /// Length and value of one updated field: this plus the field; the index is the operation.
    pub const UPDATE: u64 = (1 << 63) + (1 << 32);
}
