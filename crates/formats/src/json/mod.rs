//! Owns reading JSON: documents one after another or in an array, strict or with the shell's syntax, with Extended JSON's types.

mod boundaries;
mod convert;
mod depth;
mod extended;
mod legacy;
mod parser;
mod shell;
mod strings;

pub use boundaries::{ArrayBoundaries, DocumentBoundaries};
pub use convert::Json;
pub use parser::Parser;
