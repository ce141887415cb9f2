//! Owns the types that columns can be given, and what a cell becomes under each.

use brimline_bson::ElementType;

use crate::values::binary::Encoding;
use crate::values::date_layout::DateLayout;
use crate::values::{date_formats, decimal, number};

/// The type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// An integer where it looks like one, a double where it looks like one, else a string.
    Auto,
    Binary(Encoding),
    Boolean,
    Date(DateLayout),
    Decimal,
    Double,
    Int32,
    Int64,
    String,
}

const TYPES: [&str; 12] = [
    "auto",
    "binary",
    "boolean",
    "date",
    "date_go",
    "date_ms",
    "date_oracle",
    "decimal",
    "double",
    "int32",
    "int64",
    "string",
];

/// Splits `name.type(argument)` at the last type of which the rest can be the argument.
pub fn split_typed_name(header: &str) -> Result<(&str, ColumnType), String> {
    let untyped = || {
        let problem = if header.contains('(') && !header.ends_with(')') {
            "a bracket that is never closed; in a header line a cell with a comma stands in quotes"
        } else {
            "no type; with column types it is written name.type()"
        };
        format!("column \"{header}\" has {problem}")
    };
    let text = header.strip_suffix(')').ok_or_else(untyped)?;
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut found = None;
    for (dot, _) in text.rmatch_indices('.') {
        let after = &text[dot + 1..];
        let length = after.bytes().take_while(|&byte| is_word(byte)).count();
        if length > 0 && after.as_bytes().get(length) == Some(&b'(') {
            let typed = (dot, &after[..length], &after[length + 1..]);
            // An argument may look like a type, so that one that exists goes before one further back that doesn't.
            found = found.or(Some(typed));
            if TYPES.contains(&typed.1) {
                found = Some(typed);
                break;
            }
        }
    }
    let (dot, name, argument) = found.ok_or_else(untyped)?;
    let column_type = ColumnType::new(name, &unescaped(argument))
        .map_err(|reason| format!("column \"{header}\": {reason}"))?;
    Ok((&text[..dot], column_type))
}

/// Splits a list of columns at its commas; those in brackets belong to the argument of a type.
pub fn split_fields(list: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut level = 0_usize;
    for character in list.chars() {
        match character {
            '(' => level += 1,
            ')' => level = level.saturating_sub(1),
            ',' if level == 0 => {
                fields.push(String::new());
                continue;
            }
            _ => {}
        }
        fields.last_mut().expect("there is one from the start").push(character);
    }
    fields
}

/// An argument without its backslashes; a doubled one stands for itself.
fn unescaped(argument: &str) -> String {
    let mut out = String::with_capacity(argument.len());
    let mut rest = argument.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            out.push(character);
        } else if let Some(next @ ('\\' | '(' | ')')) = rest.clone().next() {
            out.push(next);
            rest.next();
        }
    }
    out
}

impl ColumnType {
    fn new(name: &str, argument: &str) -> Result<Self, String> {
        let plain = match name {
            "auto" => Self::Auto,
            "boolean" => Self::Boolean,
            "decimal" => Self::Decimal,
            "double" => Self::Double,
            "int32" => Self::Int32,
            "int64" => Self::Int64,
            "string" => Self::String,
            "date" | "date_go" => return Ok(Self::Date(DateLayout::from_go(argument))),
            "date_ms" => return Ok(Self::Date(date_formats::microsoft(argument))),
            "date_oracle" => return Ok(Self::Date(date_formats::oracle(argument))),
            "binary" => {
                return match argument {
                    "base64" => Ok(Self::Binary(Encoding::Base64)),
                    "base32" => Ok(Self::Binary(Encoding::Base32)),
                    "hex" => Ok(Self::Binary(Encoding::Hex)),
                    _ => Err(format!("binary takes base64, base32 or hex, not \"{argument}\"")),
                };
            }
            _ => return Err(format!("there is no type \"{name}\"")),
        };
        if argument.is_empty() { Ok(plain) } else { Err(format!("the type {name} takes no argument")) }
    }

    /// What errors call it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Binary(_) => "binary",
            Self::Boolean => "boolean",
            Self::Date(_) => "date",
            Self::Decimal => "decimal",
            Self::Double => "double",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::String => "string",
        }
    }

    /// Appends the value of a cell and says its type, `None` when the cell does not fit the column.
    #[inline]
    pub fn push_value(&self, text: &[u8], out: &mut Vec<u8>) -> Option<ElementType> {
        match self {
            Self::Auto => Some(push_auto(text, out)),
            Self::String => Some(push_string(text, out)),
            Self::Double => number::double(text).map(|value| push_double(value, out)),
            Self::Int64 => number::integer(text).map(|value| push_int64(value, out)),
            Self::Int32 => {
                let value = i32::try_from(number::integer(text)?).ok()?;
                out.extend_from_slice(&value.to_le_bytes());
                Some(ElementType::Int32)
            }
            Self::Boolean => {
                out.push(u8::from(boolean(text)?));
                Some(ElementType::Boolean)
            }
            Self::Date(layout) => {
                out.extend_from_slice(&layout.parse(text)?.to_le_bytes());
                Some(ElementType::DateTime)
            }
            Self::Decimal => {
                out.extend_from_slice(&decimal::decimal(text)?);
                Some(ElementType::Decimal128)
            }
            Self::Binary(encoding) => {
                let bytes = encoding.decode(text)?;
                out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
                out.push(0);
                out.extend_from_slice(&bytes);
                Some(ElementType::Binary)
            }
        }
    }
}

/// Appends the value that a cell without a type looks like.
#[inline]
pub fn push_auto(text: &[u8], out: &mut Vec<u8>) -> ElementType {
    // What begins otherwise is neither a number nor one of the words nan, inf, infinity.
    if !matches!(text.first(), Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'n' | b'N' | b'i' | b'I')) {
        return push_string(text, out);
    }
    if let Some(value) = number::integer(text) {
        return match i32::try_from(value) {
            Ok(value) => {
                out.extend_from_slice(&value.to_le_bytes());
                ElementType::Int32
            }
            Err(_) => push_int64(value, out),
        };
    }
    match number::double(text) {
        Some(value) => push_double(value, out),
        None => push_string(text, out),
    }
}

#[inline]
fn push_string(text: &[u8], out: &mut Vec<u8>) -> ElementType {
    out.extend_from_slice(&(text.len() as u32 + 1).to_le_bytes());
    out.extend_from_slice(text);
    out.push(0);
    ElementType::String
}

fn push_double(value: f64, out: &mut Vec<u8>) -> ElementType {
    out.extend_from_slice(&value.to_le_bytes());
    ElementType::Double
}

fn push_int64(value: i64, out: &mut Vec<u8>) -> ElementType {
    out.extend_from_slice(&value.to_le_bytes());
    ElementType::Int64
}

fn boolean(text: &[u8]) -> Option<bool> {
    if text == b"1" || text.eq_ignore_ascii_case(b"true") {
        Some(true)
    } else if text == b"0" || text.eq_ignore_ascii_case(b"false") {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_at_commas_outside_of_brackets() {
        let list = "id.int32(),v.date(January 2, 2006),s.string()";
        assert_eq!(split_fields(list), ["id.int32()", "v.date(January 2, 2006)", "s.string()"]);
        assert_eq!(split_fields("a,b(c,(d,e),f),g"), ["a", "b(c,(d,e),f)", "g"]);
        assert_eq!(split_fields("a),b"), ["a)", "b"], "a bracket that closes nothing");
        assert_eq!(split_fields(""), [""]);
        assert_eq!(split_fields("a,,b,"), ["a", "", "b", ""]);
    }

    #[test]
    fn escapes_are_taken_out_of_arguments() {
        for (argument, expected) in [
            (r"2006\\01", r"2006\01"),
            (r"\(2006\)", "(2006)"),
            (r"Jan 2\, 2006", "Jan 2, 2006"),
            (r"\x", "x"),
            (r"\", ""),
            (r"\\\(", r"\("),
        ] {
            assert_eq!(unescaped(argument), expected, "{argument}");
        }
    }

    #[test]
    fn a_name_that_a_comma_cut_says_so() {
        let said = |header| split_typed_name(header).unwrap_err();
        assert!(
            said("ts.date(January 2")
                .contains("never closed; in a header line a cell with a comma stands in quotes")
        );
        assert!(said(" 2006)").contains("has no type"));
        assert!(said("ts").contains("has no type"));
    }

    #[test]
    fn a_type_is_the_last_that_there_is() {
        let name = |header| split_typed_name(header).map(|(name, column_type)| (name, column_type.name()));
        assert_eq!(name("a.string().int32()"), Ok(("a.string()", "int32")));
        assert_eq!(name("d.date_ms(yyyy.MM(dd))"), Ok(("d", "date")));
        assert_eq!(name("a.(b).int64()"), Ok(("a.(b)", "int64")));
    }

    #[test]
    fn a_type_is_what_follows_a_dot_with_a_word_and_a_bracket() {
        let name = |header| split_typed_name(header).map(|(name, column_type)| (name, column_type.name()));
        assert_eq!(name("a.b.int64()"), Ok(("a.b", "int64")));
        assert_eq!(name("d.date(2006-01-02 (MST).x)"), Ok(("d", "date")));
        assert_eq!(name("x.binary(base32)"), Ok(("x", "binary")));
        for bad in ["a", "a.int32", "a.Int32()", "a.string(x)", "a.binary()", "a.money()", "int32()"] {
            assert!(name(bad).is_err(), "{bad}");
        }
    }
}
