//! Owns values as applications write them: JSON without types spelled out, and bare text. An object id is 24 hexadecimal digits, a
//! date is ISO 8601, a decimal is its digits, and binary values are base 64.

use brimline_bson::{ElementType, Reader, Value};

use super::json::{append_base64, append_hex, append_string};
use super::text::{append_date, append_double, append_integer, has_plain_year};
use crate::values::decimal::append_decimal;

/// How deep documents and arrays may be nested; what is deeper is written as null, so that depth costs no stack.
const DEPTH_MAX: usize = 200;

/// Appends `value` as JSON. What JSON doesn't have is null: doubles that are no number, and types that only MongoDB has.
pub fn append_json(value: &Value<'_>, out: &mut Vec<u8>) {
    append_nested(value, 0, out);
}

/// Appends `value` as bare text: a string as it is, null as nothing, documents and arrays as JSON.
pub fn append_text(value: &Value<'_>, out: &mut Vec<u8>) {
    match *value {
        Value::String(text) => out.extend_from_slice(text),
        Value::Boolean(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Value::Int32(value) => append_integer(i64::from(value), out),
        Value::Int64(value) => append_integer(value, out),
        Value::Double(value) => append_any_double(value, out),
        Value::DateTime(unix_ms) if has_plain_year(unix_ms) => append_date(unix_ms, true, out),
        Value::DateTime(unix_ms) => append_integer(unix_ms, out),
        Value::Binary(bytes, _) => append_base64(bytes, out),
        Value::Document(_) | Value::Array(_) => append_json(value, out),
        Value::Other(ElementType::ObjectId, bytes) => append_hex_bytes(bytes, out),
        Value::Other(ElementType::Decimal128, bytes) => {
            append_decimal(bytes.try_into().unwrap_or_default(), out);
        }
        Value::Other(ElementType::Symbol | ElementType::Code, bytes) => {
            out.extend_from_slice(bytes.get(4..bytes.len().saturating_sub(1)).unwrap_or_default());
        }
        Value::Null | Value::Other(..) => {}
    }
}

/// Appends the shortest decimal that reads as the same double, or `NaN`, `Infinity`, `-Infinity`.
pub fn append_any_double(value: f64, out: &mut Vec<u8>) {
    match value {
        _ if value.is_finite() => append_double(value, false, out),
        _ if value.is_nan() => out.extend_from_slice(b"NaN"),
        _ if value > 0.0 => out.extend_from_slice(b"Infinity"),
        _ => out.extend_from_slice(b"-Infinity"),
    }
}

/// Appends bytes in base 16.
pub fn append_hex_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        append_hex(byte, out);
    }
}

fn append_nested(value: &Value<'_>, depth: usize, out: &mut Vec<u8>) {
    match *value {
        Value::Document(bytes) if depth < DEPTH_MAX => append_members(bytes, depth, true, out),
        Value::Array(bytes) if depth < DEPTH_MAX => append_members(bytes, depth, false, out),
        Value::String(text) => append_string(text, out),
        Value::Double(value) if value.is_finite() => append_double(value, true, out),
        Value::Int32(_) | Value::Int64(_) | Value::Boolean(_) => append_text(value, out),
        Value::Other(ElementType::Decimal128, bytes) => {
            let start = out.len();
            append_decimal(bytes.try_into().unwrap_or_default(), out);
            if out[start..].iter().any(|byte| matches!(byte, b'N' | b'I')) {
                out.truncate(start);
                out.extend_from_slice(b"null");
            }
        }
        Value::DateTime(unix_ms) if !has_plain_year(unix_ms) => append_integer(unix_ms, out),
        Value::DateTime(_) | Value::Binary(..) | Value::Other(ElementType::ObjectId, _) => {
            out.push(b'"');
            append_text(value, out);
            out.push(b'"');
        }
        Value::Other(ElementType::Symbol | ElementType::Code, bytes) => {
            append_string(bytes.get(4..bytes.len().saturating_sub(1)).unwrap_or_default(), out);
        }
        _ => out.extend_from_slice(b"null"),
    }
}

/// What can't be read of a document ends it.
fn append_members(bytes: &[u8], depth: usize, named: bool, out: &mut Vec<u8>) {
    out.push(if named { b'{' } else { b'[' });
    if let Ok(mut members) = Reader::new(bytes) {
        let mut is_first = true;
        while let Ok(Some(member)) = members.next_element() {
            if !is_first {
                out.push(b',');
            }
            is_first = false;
            if named {
                append_string(member.name, out);
                out.push(b':');
            }
            append_nested(&member.value, depth + 1, out);
        }
    }
    out.push(if named { b'}' } else { b']' });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &bson::Bson) -> (String, String) {
        let bytes = bson::doc! { "v": value.clone() }.to_vec().unwrap();
        let value = Reader::new(&bytes).unwrap().find("v").unwrap().unwrap();
        let (mut json, mut text) = (Vec::new(), Vec::new());
        append_json(&value, &mut json);
        append_text(&value, &mut text);
        (String::from_utf8(json).unwrap(), String::from_utf8(text).unwrap())
    }

    #[test]
    fn values_are_written_as_applications_do() {
        let id = bson::oid::ObjectId::parse_str("0123456789abcdef01234567").unwrap();
        for (value, json, text) in [
            (bson::bson!(5), "5", "5"),
            (bson::bson!(5_000_000_000_i64), "5000000000", "5000000000"),
            (bson::bson!(5.0), "5.0", "5"),
            (bson::bson!(0.25), "0.25", "0.25"),
            (bson::bson!(f64::NAN), "null", "NaN"),
            (bson::bson!(f64::NEG_INFINITY), "null", "-Infinity"),
            (bson::bson!(true), "true", "true"),
            (bson::bson!(null), "null", ""),
            (bson::bson!("a\"\n"), "\"a\\\"\\n\"", "a\"\n"),
            (bson::Bson::ObjectId(id), "\"0123456789abcdef01234567\"", "0123456789abcdef01234567"),
            (
                bson::Bson::DateTime(bson::DateTime::from_millis(1)),
                "\"1970-01-01T00:00:00.001Z\"",
                "1970-01-01T00:00:00.001Z",
            ),
            (bson::Bson::Decimal128("1.50".parse().unwrap()), "1.50", "1.50"),
            (bson::Bson::Decimal128("NaN".parse().unwrap()), "null", "NaN"),
            (
                bson::Bson::Binary(bson::Binary {
                    subtype: bson::spec::BinarySubtype::Generic,
                    bytes: vec![1, 2],
                }),
                "\"AQI=\"",
                "AQI=",
            ),
            (
                bson::bson!({"a": [1, {"b": "c"}], "d": {}}),
                r#"{"a":[1,{"b":"c"}],"d":{}}"#,
                r#"{"a":[1,{"b":"c"}],"d":{}}"#,
            ),
            (bson::Bson::MaxKey, "null", ""),
        ] {
            assert_eq!(written(&value), (json.to_owned(), text.to_owned()), "{value}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let mut bytes = b"\x05\0\0\0\0".to_vec();
        for _ in 0..10_000 {
            let mut outer = Vec::new();
            let mut writer = brimline_bson::Writer::new(&mut outer);
            let document = writer.begin_document();
            writer.encoded_document("a", &bytes);
            writer.end_document(document);
            bytes = outer;
        }
        let mut out = Vec::new();
        append_json(&Value::Document(&bytes), &mut out);
        assert!(out.starts_with(br#"{"a":{"a":"#) && out.windows(4).any(|part| part == b"null"));
    }
}
