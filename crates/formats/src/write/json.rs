//! Owns Extended JSON v2 (MongoDB Extended JSON specification 2.1), as mongoexport writes it: relaxed or canonical.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brimline_bson::{ElementType, Reader, Value};

use super::WriteError;
use super::text::{append_date, append_double, append_integer, has_plain_year};

/// Appends a document as JSON on one line, without its end.
pub fn append_document(document: &[u8], canonical: bool, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut elements = Reader::new(document)?;
    out.push(b'{');
    let mut is_first = true;
    while let Some(element) = elements.next_element()? {
        if !is_first {
            out.push(b',');
        }
        is_first = false;
        append_string(element.name, out)?;
        out.push(b':');
        append_value(element.value, canonical, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends an array as JSON.
pub fn append_array(array: &[u8], canonical: bool, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let mut elements = Reader::new(array)?;
    out.push(b'[');
    let mut is_first = true;
    while let Some(element) = elements.next_element()? {
        if !is_first {
            out.push(b',');
        }
        is_first = false;
        append_value(element.value, canonical, out)?;
    }
    out.push(b']');
    Ok(())
}

/// Appends a value as JSON.
pub fn append_value(value: Value<'_>, canonical: bool, out: &mut Vec<u8>) -> Result<(), WriteError> {
    match value {
        Value::Double(value) => append_json_double(value, canonical, out),
        Value::String(text) => append_string(text, out)?,
        Value::Document(document) => append_document(document, canonical, out)?,
        Value::Array(array) => append_array(array, canonical, out)?,
        Value::Binary(bytes, subtype) => append_binary(bytes, subtype, out),
        Value::Boolean(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Value::DateTime(unix_ms) => append_json_date(unix_ms, canonical, out),
        Value::Null => out.extend_from_slice(b"null"),
        Value::Int32(value) => append_json_integer(i64::from(value), "$numberInt", canonical, out),
        Value::Int64(value) => append_json_integer(value, "$numberLong", canonical, out),
        Value::Other(ElementType::ObjectId, bytes) => {
            out.extend_from_slice(br#"{"$oid":""#);
            append_hex(bytes, out);
            out.extend_from_slice(br#""}"#);
        }
        Value::Other(element_type, _) => return Err(WriteError::Untextual(element_type)),
    }
    Ok(())
}

fn append_json_integer(value: i64, name: &str, canonical: bool, out: &mut Vec<u8>) {
    if canonical {
        return wrapped(name, out, |out| append_integer(value, out));
    }
    append_integer(value, out);
}

fn append_json_double(value: f64, canonical: bool, out: &mut Vec<u8>) {
    let append = |out: &mut Vec<u8>| match value {
        _ if value.is_nan() => out.extend_from_slice(b"NaN"),
        f64::INFINITY => out.extend_from_slice(b"Infinity"),
        f64::NEG_INFINITY => out.extend_from_slice(b"-Infinity"),
        _ => append_double(value, true, out),
    };
    if canonical || !value.is_finite() {
        return wrapped("$numberDouble", out, append);
    }
    append(out);
}

fn append_json_date(unix_ms: i64, canonical: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"$date":"#);
    if canonical || unix_ms < 0 || !has_plain_year(unix_ms) {
        wrapped("$numberLong", out, |out| append_integer(unix_ms, out));
    } else {
        out.push(b'"');
        append_date(unix_ms, false, out);
        out.push(b'"');
    }
    out.push(b'}');
}

fn append_binary(bytes: &[u8], subtype: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"$binary":{"base64":""#);
    append_base64(bytes, out);
    out.extend_from_slice(br#"","subType":""#);
    append_hex(&[subtype], out);
    out.extend_from_slice(br#""}}"#);
}

/// Appends `{"name":"…"}`.
fn wrapped(name: &str, out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":\"");
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

/// Appends bytes in base 16.
pub fn append_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

fn append_string(text: &[u8], out: &mut Vec<u8>) -> Result<(), WriteError> {
    let text = std::str::from_utf8(text).map_err(|_| WriteError::NotUtf8)?.as_bytes();
    out.push(b'"');
    // Without a branch in the loop it looks at many bytes at once; most strings have nothing to escape.
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    if text.iter().fold(false, |found, &byte| found | is_special(byte)) {
        for &byte in text {
            append_escaped(byte, out);
        }
    } else {
        out.extend_from_slice(text);
    }
    out.push(b'"');
    Ok(())
}

fn append_escaped(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0..0x20 => {
            out.extend_from_slice(b"\\u00");
            append_hex(&[byte], out);
        }
        _ => out.push(byte),
    }
}
