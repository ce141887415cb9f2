//! Owns values as parameters of a prepared statement.

use brimline_bson::{ElementType, Reader, Value};
use brimline_formats::calendar::civil;
use brimline_formats::write::{has_plain_year, plain};

use crate::fields::append_text;

const EXECUTE: u8 = 0x17;
/// Types of parameters.
const TINY: u8 = 1;
const LONG: u8 = 3;
const DOUBLE: u8 = 5;
const NULL: u8 = 6;
const LONGLONG: u8 = 8;
const DATETIME: u8 = 12;
const NEW_DECIMAL: u8 = 246;
const BLOB: u8 = 252;
const VAR_STRING: u8 = 253;
const MS_PER_DAY: i64 = 86_400_000;

/// Appends the execution of the statement with the number `id`, which takes `count` parameters.
///
/// # Errors
/// When `values` are another number of values, or none.
pub fn append_execute(id: u32, count: usize, values: Reader<'_>, out: &mut Vec<u8>) -> Result<(), String> {
    out.push(EXECUTE);
    out.extend_from_slice(&id.to_le_bytes());
    // No cursor, and once.
    out.extend_from_slice(&[0, 1, 0, 0, 0]);
    let mut given = 0;
    if count > 0 {
        let nulls = out.len();
        out.resize(nulls + count.div_ceil(8), 0);
        // Types follow: they are those of these values.
        out.push(1);
        let types = out.len();
        out.resize(types + 2 * count, 0);
        let mut values = values;
        while let Some(element) = values.next_element().map_err(|error| error.to_string())? {
            if given < count {
                let parameter_type = append_value(&element.value, out);
                out[types + 2 * given] = parameter_type;
                if parameter_type == NULL {
                    out[nulls + given / 8] |= 1 << (given % 8);
                }
            }
            given += 1;
        }
    } else if let Ok(Some(_)) = { values }.next_element() {
        given = 1;
    }
    if given == count {
        return Ok(());
    }
    Err(format!("the statement takes {count} values, and {given} are given"))
}

/// Appends a value; its type.
fn append_value(value: &Value<'_>, out: &mut Vec<u8>) -> u8 {
    match *value {
        Value::Boolean(value) => {
            out.push(u8::from(value));
            TINY
        }
        Value::Int32(value) => {
            out.extend_from_slice(&value.to_le_bytes());
            LONG
        }
        Value::Int64(value) => {
            out.extend_from_slice(&value.to_le_bytes());
            LONGLONG
        }
        Value::Double(value) => {
            out.extend_from_slice(&value.to_le_bytes());
            DOUBLE
        }
        Value::DateTime(unix_ms) if has_plain_year(unix_ms) => {
            append_date_time(unix_ms, out);
            DATETIME
        }
        Value::Binary(bytes, _) => {
            append_text(bytes, out);
            BLOB
        }
        Value::String(text) => {
            append_text(text, out);
            VAR_STRING
        }
        Value::Other(ElementType::Decimal128, _) => {
            append_rendered(value, out);
            NEW_DECIMAL
        }
        Value::DateTime(_)
        | Value::Document(_)
        | Value::Array(_)
        | Value::Other(ElementType::ObjectId | ElementType::Symbol | ElementType::Code, _) => {
            append_rendered(value, out);
            VAR_STRING
        }
        Value::Null | Value::Other(..) => NULL,
    }
}

/// Appends a value as text behind its length, which is known afterwards: room for the longest form of a length is made first, and
/// the text moved to where it belongs.
fn append_rendered(value: &Value<'_>, out: &mut Vec<u8>) {
    const LENGTH_BYTES_MAX: usize = 9;
    let start = out.len();
    out.resize(start + LENGTH_BYTES_MAX, 0);
    plain::append_text(value, out);
    let text = start + LENGTH_BYTES_MAX;
    let length = out.len() - text;
    let bytes = (length as u64).to_le_bytes();
    let (head, head_bytes): (u8, usize) = match length {
        0..=250 => (bytes[0], 1),
        251..=0xffff => (252, 3),
        0x1_0000..=0xff_ffff => (253, 4),
        _ => (254, 9),
    };
    out[start] = head;
    out[start + 1..start + head_bytes].copy_from_slice(&bytes[..head_bytes - 1]);
    out.copy_within(text.., start + head_bytes);
    out.truncate(start + head_bytes + length);
}

/// In UTC, with microseconds.
fn append_date_time(unix_ms: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil(unix_ms.div_euclid(MS_PER_DAY));
    let ms = unix_ms.rem_euclid(MS_PER_DAY) as u32;
    let seconds = ms / 1_000;
    out.push(11);
    out.extend_from_slice(&(year as u16).to_le_bytes());
    out.extend_from_slice(&[
        month as u8,
        day as u8,
        (seconds / 3_600) as u8,
        (seconds / 60 % 60) as u8,
        (seconds % 60) as u8,
    ]);
    out.extend_from_slice(&(ms % 1_000 * 1_000).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(values: bson::Bson) -> Vec<u8> {
        let bytes = bson::doc! { "v": values }.to_vec().unwrap();
        let Some(Value::Array(array)) = Reader::new(&bytes).unwrap().find("v").unwrap() else { panic!() };
        array.to_vec()
    }

    fn executed(count: usize, values: bson::Bson) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        append_execute(7, count, Reader::new(&array(values)).unwrap(), &mut out).map(|()| out)
    }

    #[test]
    fn parameters_are_byte_for_byte() {
        let values =
            bson::bson!([5, null, "ab", bson::DateTime::from_millis(86_400_001), true, 2.5, 6_i64, {"a": 1}]);
        let head = b"\x17\x07\0\0\0\0\x01\0\0\0\x02\x01";
        let types = [3, 0, 6, 0, 253, 0, 12, 0, 1, 0, 5, 0, 8, 0, 253, 0];
        let mut expected = [head.as_slice(), &types, b"\x05\0\0\0", b"\x02ab"].concat();
        expected.extend_from_slice(&[11, 0xb2, 0x07, 1, 2, 0, 0, 0, 0xe8, 0x03, 0, 0, 1]);
        expected.extend_from_slice(&2.5_f64.to_le_bytes());
        expected.extend_from_slice(&6_i64.to_le_bytes());
        expected.extend_from_slice(b"\x07{\"a\":1}");
        assert_eq!(executed(8, values), Ok(expected));
        assert_eq!(executed(0, bson::bson!([])), Ok(b"\x17\x07\0\0\0\0\x01\0\0\0".to_vec()));
    }

    #[test]
    fn another_number_of_values_is_refused() {
        for (count, values) in [(1, bson::bson!([])), (0, bson::bson!([1])), (1, bson::bson!([1, 2]))] {
            assert!(executed(count, values).unwrap_err().contains("values"));
        }
    }

    #[test]
    fn long_texts_have_long_lengths() {
        for (length, head) in [(246, 1), (247, 3), (70_000, 4)] {
            let text = "x".repeat(length);
            let out = executed(1, bson::bson!([[text]])).unwrap();
            let value = &out[10 + 1 + 1 + 2..];
            assert_eq!(value.len(), head + length + 4, "{length}");
            assert_eq!(crate::fields::Fields(value).text().map(<[u8]>::len), Some(length + 4));
        }
    }
}
