//! Owns single values of text, for those who read no files: JSON, decimals and dates.

use brimline_bson::ElementType;

use crate::json::Parser;
pub use crate::values::date_layout::sql as date;
pub use crate::values::decimal::decimal;

/// Appends the one value that `json` is, without a name, and tells its type; `None`, with nothing appended, when it is no JSON. An
/// object of Extended JSON's types is the value it stands for.
pub fn push_json(json: &[u8], out: &mut Vec<u8>) -> Option<ElementType> {
    let start = out.len();
    let mut parser = Parser::new(json, false);
    let found = parser.is_utf8.then(|| parser.push_value(out).ok()).flatten();
    let is_whole = found.is_some() && parser.peek().is_none();
    if !is_whole {
        out.truncate(start);
    }
    found.filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_one_whole_value() {
        for (text, element_type, bytes) in [
            ("5", ElementType::Int32, b"\x05\0\0\0".as_slice()),
            (" \"a\" ", ElementType::String, b"\x02\0\0\0a\0"),
            ("{}", ElementType::Document, b"\x05\0\0\0\0"),
            ("[1]", ElementType::Array, b"\x0c\0\0\0\x100\0\x01\0\0\0\0"),
            ("null", ElementType::Null, b""),
        ] {
            let mut out = Vec::new();
            assert_eq!(push_json(text.as_bytes(), &mut out), Some(element_type), "{text}");
            assert_eq!(out, bytes, "{text}");
        }
        for text in ["", "{", "1 2", "{\"a\":1}x", "\u{feff}1"] {
            let mut out = vec![7];
            assert_eq!(push_json(text.as_bytes(), &mut out), None, "{text}");
            assert_eq!(out, [7]);
        }
        assert_eq!(push_json(b"\"\xff\"", &mut Vec::new()), None);
    }

    #[test]
    fn dates_are_those_of_sql() {
        for (text, unix_ms) in [
            ("1970-01-02", 86_400_000),
            ("1970-01-01 00:00:01", 1_000),
            ("1970-01-01 00:00:01.5", 1_500),
            ("1970-01-01 00:00:01.123456", 1_123),
            ("1970-01-01 02:00:00+02", 0),
            ("1970-01-01 05:30:00.25+05:30", 250),
            ("1969-12-31 23:59:59.999+00", -1),
        ] {
            assert_eq!(date(text.as_bytes()), Some(unix_ms), "{text}");
        }
        for text in ["", "infinity", "0000-00-00 00:00:00", "2024-02-30", "0044-03-15 BC"] {
            assert_eq!(date(text.as_bytes()), None, "{text}");
        }
    }
}
