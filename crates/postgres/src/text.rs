//! Owns values as text: parameters, cells of a COPY, and literals.

use brimline_bson::{ElementType, Reader, Value};
use brimline_formats::write::plain;
use brimline_sql::rows::{Cell, Literals, append_date_time, append_quoted, cell, each};
use brimline_sql::settings::Bulk;

const LENGTH_BYTES: usize = 4;

/// Literals as a session reads them.
#[derive(Clone, Copy, Debug)]
pub struct SessionLiterals {
    /// Whether a backslash escapes what follows it: where `standard_conforming_strings` is off.
    pub backslash_escapes: bool,
}

impl Literals for SessionLiterals {
    const NAME_QUOTE: u8 = b'"';

    fn append(&self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), String> {
        match *value {
            _ if is_null(value) => out.extend_from_slice(b"NULL"),
            Value::Int32(_) | Value::Int64(_) => plain::append_text(value, out),
            Value::Double(number) if number.is_finite() => plain::append_json(value, out),
            Value::Boolean(value) => out.extend_from_slice(if value { b"TRUE" } else { b"FALSE" }),
            // Quoted, the server takes it as whatever type the column has.
            _ => self.append_text(out, |out| append_text(value, out)),
        }
        Ok(())
    }

    fn append_text(&self, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
        append_quoted(self.backslash_escapes, out, fill);
    }
}

fn is_null(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Other(other, _) => !matches!(
            other,
            ElementType::ObjectId | ElementType::Decimal128 | ElementType::Symbol | ElementType::Code
        ),
        _ => false,
    }
}

/// Appends a value that is not null as the server reads it.
fn append_text(value: &Value<'_>, out: &mut Vec<u8>) {
    match *value {
        Value::Binary(bytes, _) => {
            out.extend_from_slice(b"\\x");
            plain::append_hex_bytes(bytes, out);
        }
        Value::DateTime(unix_ms) => {
            append_date_time(unix_ms, out);
            out.extend_from_slice(b"+00");
        }
        _ => plain::append_text(value, out),
    }
}

/// Appends the values of a prepared statement that takes `count`: how many, then each behind its length.
///
/// # Errors
/// When they are another number of values, or none.
pub fn append_parameters(count: usize, mut values: Reader<'_>, out: &mut Vec<u8>) -> Result<(), String> {
    out.extend_from_slice(&(count as u16).to_be_bytes());
    let mut given = 0;
    while let Some(element) = values.next_element().map_err(|error| error.to_string())? {
        given += 1;
        let start = out.len();
        if is_null(&element.value) {
            out.extend_from_slice(&(-1_i32).to_be_bytes());
            continue;
        }
        out.extend_from_slice(&[0; LENGTH_BYTES]);
        append_text(&element.value, out);
        let length = (out.len() - start - LENGTH_BYTES) as u32;
        out[start..start + LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
    }
    if given == count {
        return Ok(());
    }
    Err(format!("the statement takes {count} values, and {given} are given"))
}

/// Appends the documents of a load as lines of a COPY.
///
/// # Errors
/// When they are none.
pub fn append_lines(bulk: &Bulk, documents: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    each(documents, |document| {
        let Value::Document(document) = document else {
            return Err("a row of a load is no document".to_owned());
        };
        for (index, column) in bulk.columns.iter().enumerate() {
            if index > 0 {
                out.push(b'\t');
            }
            let found = cell(document, column);
            let start = out.len();
            match found {
                Cell::Value(value) if is_null(&value) => {
                    out.extend_from_slice(b"\\N");
                    continue;
                }
                Cell::Value(value) => append_text(&value, out),
                Cell::Json(value) => plain::append_json(&value, out),
            }
            escape_from(start, out);
        }
        out.push(b'\n');
        Ok(())
    })
}

/// Escapes what `out` has from `start` on as a cell of a COPY.
fn escape_from(start: usize, out: &mut Vec<u8>) {
    let escaped = |byte: u8| match byte {
        b'\\' => Some(b'\\'),
        b'\t' => Some(b't'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        _ => None,
    };
    let specials = out[start..].iter().filter(|&&byte| escaped(byte).is_some()).count();
    if specials == 0 {
        return;
    }
    // From behind, so that no second buffer is needed.
    let mut from = out.len();
    out.resize(from + specials, 0);
    let mut to = out.len();
    while to > from {
        from -= 1;
        to -= 1;
        out[to] = out[from];
        if let Some(letter) = escaped(out[from]) {
            out[to] = letter;
            to -= 1;
            out[to] = b'\\';
        }
    }
}

#[cfg(test)]
mod tests {
    use brimline_sql::settings::{Column, ColumnType, Form};
    use proptest::prelude::*;

    use super::*;

    fn array(values: bson::Bson) -> Vec<u8> {
        let bytes = bson::doc! { "v": values }.to_vec().unwrap();
        let Some(Value::Array(array)) = Reader::new(&bytes).unwrap().find("v").unwrap() else { panic!() };
        array.to_vec()
    }

    #[test]
    fn parameters_are_byte_for_byte() {
        let id = bson::oid::ObjectId::parse_str("0123456789abcdef01234567").unwrap();
        let values =
            array(bson::bson!([5, null, "ab", 5.0, true, bson::DateTime::from_millis(1), id, {"a": 1}]));
        let mut out = Vec::new();
        append_parameters(8, Reader::new(&values).unwrap(), &mut out).unwrap();
        let expected = [
            b"\0\x08\0\0\0\x015\xff\xff\xff\xff\0\0\0\x02ab\0\0\0\x015\0\0\0\x04true".as_slice(),
            b"\0\0\0\x1a1970-01-01 00:00:00.001+00\0\0\0\x180123456789abcdef01234567\0\0\0\x07{\"a\":1}",
        ];
        assert_eq!(out, expected.concat());
        assert!(append_parameters(7, Reader::new(&values).unwrap(), &mut Vec::new()).is_err());
        assert!(append_parameters(9, Reader::new(&values).unwrap(), &mut Vec::new()).is_err());
    }

    #[test]
    fn literals_are_postgresql_s() {
        for (value, text) in [
            (Value::Null, "NULL"),
            (Value::Int64(-5), "-5"),
            (Value::Double(5.0), "5.0"),
            (Value::Double(f64::INFINITY), "'Infinity'"),
            (Value::Boolean(true), "TRUE"),
            (Value::DateTime(1), "'1970-01-01 00:00:00.001+00'"),
            (Value::Binary(b"\x00\xff", 0), "'\\x00ff'"),
            (Value::String(b"a'b\\c"), "'a''b\\c'"),
            (Value::Document(b"\x05\0\0\0\0"), "'{}'"),
        ] {
            let mut out = Vec::new();
            SessionLiterals { backslash_escapes: false }.append(&value, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), text, "{value:?}");
        }
        let mut out = Vec::new();
        SessionLiterals { backslash_escapes: true }.append(&Value::Binary(b"\x01", 0), &mut out).unwrap();
        assert_eq!(out, b"'\\\\x01'");
    }

    #[test]
    fn documents_become_lines() {
        let column = |name: &str, path: Option<&str>, column_type| Column {
            name: name.to_owned(),
            path: path.map(|path| vec![path.to_owned()]),
            column_type,
        };
        let columns = vec![
            column("id", Some("_id"), ColumnType::Int),
            column("text", Some("t"), ColumnType::Text),
            column("document", None, ColumnType::Json),
        ];
        let bulk = Bulk { table: "t".to_owned(), columns, form: Form::Copy };
        let documents = array(bson::bson!([{"_id": 1, "t": "a\tb\\\n"}, {"_id": 2}]));
        let mut out = Vec::new();
        append_lines(&bulk, &documents, &mut out).unwrap();
        let expected = "1\ta\\tb\\\\\\n\t{\"_id\":1,\"t\":\"a\\\\tb\\\\\\\\\\\\n\"}\n2\t\\N\t{\"_id\":2}\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    proptest! {
        #[test]
        fn cells_are_read_back(text in "[a\\\\\t\n\r\u{e9}]{0,30}") {
            let mut out = b"before".to_vec();
            out.extend_from_slice(text.as_bytes());
            escape_from(6, &mut out);
            let escaped = String::from_utf8(out).unwrap();
            prop_assert!(!escaped.contains(['\t', '\n', '\r']));
            let mut read = String::new();
            let mut letters = escaped["before".len()..].chars();
            while let Some(letter) = letters.next() {
                read.push(match letter {
                    '\\' => match letters.next() { Some('t') => '\t', Some('n') => '\n', Some('r') => '\r', other => other.unwrap() },
                    letter => letter,
                });
            }
            prop_assert_eq!(read, text);
        }
    }
}
