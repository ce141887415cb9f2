//! Owns how single values are written as text: numbers, decimals, dates, binary.

pub mod binary;
mod date;
pub mod date_formats;
pub mod date_layout;
pub mod decimal;
pub mod number;
pub mod text;
