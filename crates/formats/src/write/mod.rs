//! Owns the way back: values as cells of CSV or as Extended JSON. Pure: values in, bytes appended.

pub mod csv;
pub mod json;
mod text;
