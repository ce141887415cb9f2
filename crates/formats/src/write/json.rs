//! Owns values in Extended JSON v2 (MongoDB Extended JSON specification 2.1), as mongoexport writes them: relaxed or canonical.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::text::{append_date, has_plain_year};
use crate::values::decimal;

/// Appends a 32-bit integer.
pub fn append_int32(value: i32, canonical: bool, out: &mut Vec<u8>) {
    append_integer(i64::from(value), b"{\"$numberInt\":\"", canonical, out);
}

/// Appends a 64-bit integer.
pub fn append_int64(value: i64, canonical: bool, out: &mut Vec<u8>) {
    append_integer(value, b"{\"$numberLong\":\"", canonical, out);
}

fn append_integer(value: i64, head: &[u8], canonical: bool, out: &mut Vec<u8>) {
    if canonical {
        return wrapped(head, out, |out| super::text::append_integer(value, out));
    }
    super::text::append_integer(value, out);
}

/// Appends a double; one that is no number has its type in relaxed JSON too.
pub fn append_double(value: f64, canonical: bool, out: &mut Vec<u8>) {
    let append = |out: &mut Vec<u8>| match value {
        _ if value.is_nan() => out.extend_from_slice(b"NaN"),
        f64::INFINITY => out.extend_from_slice(b"Infinity"),
        f64::NEG_INFINITY => out.extend_from_slice(b"-Infinity"),
        _ => super::text::append_double(value, true, out),
    };
    if canonical || !value.is_finite() {
        return wrapped(b"{\"$numberDouble\":\"", out, append);
    }
    append(out);
}

/// Appends a decimal of 128 bits, by its bytes in BSON.
pub fn append_decimal(value: [u8; 16], out: &mut Vec<u8>) {
    wrapped(b"{\"$numberDecimal\":\"", out, |out| decimal::append_decimal(value, out));
}

/// Appends a boolean.
pub fn append_boolean(value: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

/// Appends a date; in relaxed JSON as text, where its year has four digits and 1970 isn't later.
pub fn append_date_time(unix_ms: i64, canonical: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"$date":"#);
    if canonical || unix_ms < 0 || !has_plain_year(unix_ms) {
        append_int64(unix_ms, true, out);
    } else {
        out.push(b'"');
        append_date(unix_ms, false, out);
        out.push(b'"');
    }
    out.push(b'}');
}

/// Appends a binary value.
pub fn append_binary(bytes: &[u8], subtype: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"$binary":{"base64":""#);
    append_base64(bytes, out);
    out.extend_from_slice(br#"","subType":""#);
    append_hex(subtype, out);
    out.extend_from_slice(br#""}}"#);
}

/// Appends an object id.
pub fn append_object_id(value: [u8; 12], out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"$oid":""#);
    for byte in value {
        append_hex(byte, out);
    }
    out.extend_from_slice(br#""}"#);
}

/// Appends text, which is UTF-8, as a string.
pub fn append_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let start = out.len();
    out.extend_from_slice(text);
    escape_from(start, out);
    out.push(b'"');
}

/// Escapes what `out` has from `start` on, where it must be: the inside of a string.
pub fn escape_from(start: usize, out: &mut Vec<u8>) {
    // Without a branch in the loop it looks at many bytes at once; most strings have nothing to escape.
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    if out[start..].iter().fold(false, |found, &byte| found | is_special(byte)) {
        for byte in out.split_off(start) {
            append_escaped(byte, out);
        }
    }
}

fn append_escaped(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0..0x20 => {
            out.extend_from_slice(b"\\u00");
            append_hex(byte, out);
        }
        _ => out.push(byte),
    }
}

/// Appends the value between `{"name":"` and its end.
fn wrapped(head: &[u8], out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(head);
    append(out);
    out.extend_from_slice(b"\"}");
}

/// Appends bytes in base 64.
pub fn append_base64(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let written = STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or(0);
    out.truncate(start + written);
}

/// Appends a byte in base 16.
pub fn append_hex(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}
