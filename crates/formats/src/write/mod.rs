//! Owns the way back: values as cells of CSV, as Extended JSON, or as applications write them. Pure: values in, bytes appended.

pub mod csv;
pub mod json;
pub mod plain;
mod text;

pub use crate::values::decimal::append_decimal;
pub use text::{append_date, append_integer, has_plain_year};
