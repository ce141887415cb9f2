//! Owns cells of CSV (RFC 4180) with the values as mongoexport writes them: nothing for null, text for numbers and dates.

use memchr::memchr;

pub use super::json::append_base64;
pub use super::text::append_integer;
use super::text::{append_date, has_plain_year};
pub use crate::values::decimal::append_decimal;

/// Appends a line with `cells` as they are, quoted where that is needed: the header.
pub fn append_header<'a>(cells: impl IntoIterator<Item = &'a str>, out: &mut Vec<u8>) {
    for (index, cell) in cells.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let start = out.len();
        out.extend_from_slice(cell.as_bytes());
        quote_from(start, out);
    }
    out.push(b'\n');
}

/// Appends a double.
pub fn append_double(value: f64, out: &mut Vec<u8>) {
    match value {
        _ if value.is_finite() => super::text::append_double(value, false, out),
        _ if value.is_nan() => out.extend_from_slice(b"NaN"),
        _ => out.extend_from_slice(if value > 0.0 { b"+Inf" } else { b"-Inf" }),
    }
}

/// Appends a date; one whose year has no four digits as its milliseconds.
pub fn append_date_time(unix_ms: i64, out: &mut Vec<u8>) {
    if has_plain_year(unix_ms) { append_date(unix_ms, true, out) } else { append_integer(unix_ms, out) }
}

/// Appends an object id.
pub fn append_object_id(value: [u8; 12], out: &mut Vec<u8>) {
    out.extend_from_slice(b"ObjectId(");
    for byte in value {
        super::json::append_hex(byte, out);
    }
    out.push(b')');
}

/// Puts what `out` has from `start` on in quotes, where it would not be read back as it is.
pub fn quote_from(start: usize, out: &mut Vec<u8>) {
    let text = &out[start..];
    // Without a branch in the loop it looks at many bytes at once.
    let is_special = |byte: u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    let has_special = text.iter().fold(false, |found, &byte| found | is_special(byte));
    let has_space_at_an_end = matches!(text, [b' ' | b'\t', ..] | [.., b' ' | b'\t']);
    if !has_special && !has_space_at_an_end {
        return;
    }
    if let Some(first) = memchr(b'"', text) {
        double_quotes_from(start + first, out);
    }
    let end = out.len();
    out.push(b'"');
    out.copy_within(start..end, start + 1);
    out[start] = b'"';
    out.push(b'"');
}

fn double_quotes_from(start: usize, out: &mut Vec<u8>) {
    let text = out.split_off(start);
    for (index, part) in text.split(|&byte| byte == b'"').enumerate() {
        if index > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(part);
    }
}
