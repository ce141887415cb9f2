//! Owns values as literals.

use brimline_bson::{ElementType, Value};
use brimline_formats::write::plain;
use brimline_sql::rows::{Literals, append_date_time, append_quoted};

/// Literals as a session reads them.
#[derive(Clone, Copy, Debug)]
pub struct SessionLiterals {
    /// Whether a backslash escapes what follows it, as it does unless the mode is `NO_BACKSLASH_ESCAPES`.
    pub backslash_escapes: bool,
}

impl Literals for SessionLiterals {
    const NAME_QUOTE: u8 = b'`';

    fn append(&self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), String> {
        match *value {
            Value::Int32(_) | Value::Int64(_) | Value::Other(ElementType::Decimal128, _) => {
                plain::append_text(value, out);
            }
            Value::Double(number) if number.is_finite() => plain::append_json(value, out),
            Value::Double(number) => return Err(format!("{number} can't stand in a statement of MySQL")),
            Value::Boolean(value) => out.push(b'0' + u8::from(value)),
            Value::DateTime(unix_ms) => self.append_text(out, |out| append_date_time(unix_ms, out)),
            Value::Binary(bytes, _) => {
                out.extend_from_slice(b"X'");
                plain::append_hex_bytes(bytes, out);
                out.push(b'\'');
            }
            Value::String(_)
            | Value::Document(_)
            | Value::Array(_)
            | Value::Other(ElementType::ObjectId | ElementType::Symbol | ElementType::Code, _) => {
                self.append_text(out, |out| plain::append_text(value, out));
            }
            Value::Null | Value::Other(..) => out.extend_from_slice(b"NULL"),
        }
        Ok(())
    }

    fn append_text(&self, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
        append_quoted(self.backslash_escapes, out, fill);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_mysql_s() {
        let written = |value: Value<'_>, backslash_escapes: bool| {
            let mut out = Vec::new();
            SessionLiterals { backslash_escapes }
                .append(&value, &mut out)
                .map(|()| String::from_utf8(out).unwrap())
        };
        for (value, text) in [
            (Value::Null, "NULL"),
            (Value::Int32(-5), "-5"),
            (Value::Double(5.0), "5.0"),
            (Value::Boolean(true), "1"),
            (Value::DateTime(1), "'1970-01-01 00:00:00.001'"),
            (Value::Binary(b"\x00\xff", 0), "X'00ff'"),
            (Value::String(b"a'b\\c"), "'a''b\\\\c'"),
            (Value::Document(b"\x05\0\0\0\0"), "'{}'"),
            (
                Value::Other(ElementType::ObjectId, b"\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b"),
                "'000102030405060708090a0b'",
            ),
            (Value::Other(ElementType::MaxKey, b""), "NULL"),
        ] {
            assert_eq!(written(value, true).as_deref(), Ok(text), "{value:?}");
        }
        assert_eq!(written(Value::String(b"a'b\\c"), false).as_deref(), Ok("'a''b\\c'"));
        assert!(written(Value::Double(f64::NAN), true).is_err());
    }
}
