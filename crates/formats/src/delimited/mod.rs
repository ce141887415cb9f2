//! Owns reading CSV and TSV: rows, cells, columns and what cells become.

mod boundaries;
mod column_type;
mod columns;
mod header;
mod rows;
mod table;

pub use boundaries::{CsvBoundaries, TsvBoundaries};
pub use header::read_header;
pub use table::Table;

/// How cells are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Commas; cells may stand in quotes, and are trimmed where they don't.
    Csv,
    /// Tabs; every byte between them is data.
    Tsv,
}
