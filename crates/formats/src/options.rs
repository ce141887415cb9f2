//! Owns what the caller says about an input: its format, its columns and how strictly they are read.

use serde::{Deserialize, Serialize};

use crate::GeneratedIds;

/// What an input holds and how it is read. The names are those of mongoimport's options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of mongoimport's")]
pub struct FormatOptions {
    /// `--type`, or a BSON dump.
    pub format: Format,
    /// Where the names of the columns are; needed with CSV and TSV, forbidden with the others.
    #[serde(default)]
    pub columns: Option<Columns>,
    /// `--columnsHaveTypes`: names are written `name.type(argument)`.
    #[serde(default)]
    pub columns_have_types: bool,
    /// `--parseGrace`: what becomes of a value that does not fit its column's type.
    #[serde(default)]
    pub parse_grace: ParseGrace,
    /// `--ignoreBlanks`: empty cells become no field.
    #[serde(default)]
    pub ignore_blanks: bool,
    /// `--useArrayIndexFields`: `a.0`, `a.1` are elements of an array.
    #[serde(default)]
    pub use_array_index_fields: bool,
    /// `--jsonArray`: the input is one JSON array of documents.
    #[serde(default)]
    pub json_array: bool,
    /// `--legacy`: Extended JSON version 1 and the shell's syntax.
    #[serde(default)]
    pub legacy: bool,
    /// How records without an `_id` get one; without this they stay without.
    #[serde(default)]
    pub generated_ids: Option<GeneratedIds>,
}

/// What an input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// Tab-separated values; no quoting.
    Tsv,
    /// JSON documents, one per line or simply one after another, or an array of them.
    Json,
    /// BSON documents back to back, as mongodump writes them.
    Bson,
}

/// Where the names of the columns come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Columns {
    /// `--headerline`: the first record of the input.
    Headerline,
    /// `--fields`: names separated by commas, not trimmed.
    Fields(String),
    /// `--fieldFile`: the file's text, one name per line.
    FieldFile(String),
}

/// What becomes of a value that does not fit its column's type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ParseGrace {
    /// Its type is inferred as without column types.
    AutoCast,
    /// It becomes no field.
    SkipField,
    /// Its row is rejected.
    SkipRow,
    /// Reading ends.
    #[default]
    Stop,
}
