//! Owns what the old shell writes and JSON doesn't know: `ISODate("…")`, `NumberLong(5)`, `/a/i`, `undefined` and the like.

use brimline_bson::ElementType;

use super::extended::{push_binary, push_timestamp, uuid};
use super::parser::{Parser, Syntax, is_name_byte, push_integer};
use crate::values::{binary, date_layout, decimal, number, text};

/// An argument of a constructor.
enum Argument {
    Text(Vec<u8>),
    Number(Vec<u8>),
}

impl Argument {
    fn text(&self) -> &[u8] {
        match self {
            Self::Text(text) | Self::Number(text) => text,
        }
    }

    /// As it was written.
    fn shown(&self) -> String {
        match self {
            Self::Text(text) => format!("\"{}\"", text::shown(text)),
            Self::Number(digits) => text::shown(digits),
        }
    }

    fn integer(&self) -> Option<i64> {
        number::integer(self.text())
    }
}

impl Parser<'_> {
    /// Appends a value in the shell's syntax that is not JSON's, or a number.
    pub fn push_shell_value(&mut self, out: &mut Vec<u8>) -> Result<ElementType, Syntax> {
        match self.peek() {
            Some(b'\'') => self.push_string(b'\'', out),
            Some(b'/') => self.push_regex_literal(out),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.push_shell_number(out),
            Some(byte) if is_name_byte(byte) => {
                if self.take_word(b"new") {
                    self.peek();
                }
                let rest = &self.text[self.at..];
                let length = rest.iter().take_while(|&&byte| is_name_byte(byte)).count();
                self.at += length;
                self.push_named_value(&rest[..length], out)
            }
            _ => Err(self.error("a value is missing")),
        }
    }

    /// Appends the value of a word, with its arguments if it takes any.
    fn push_named_value(&mut self, name: &[u8], out: &mut Vec<u8>) -> Result<ElementType, Syntax> {
        let double = |value: f64, out: &mut Vec<u8>| {
            out.extend_from_slice(&value.to_le_bytes());
            Ok(ElementType::Double)
        };
        match name {
            b"undefined" => return Ok(ElementType::Undefined),
            b"NaN" => return double(number::NAN, out),
            b"Infinity" => return double(f64::INFINITY, out),
            b"MinKey" | b"MaxKey" => {
                if self.peek() == Some(b'(') {
                    self.arguments()?;
                }
                let least = name == b"MinKey";
                return Ok(if least { ElementType::MinKey } else { ElementType::MaxKey });
            }
            b"DBRef" | b"Dbref" | b"DBPointer" => return self.push_reference(out),
            _ => {}
        }
        let arguments = self.arguments()?;
        push_constructed(name, &arguments, out).ok_or_else(|| Syntax { reason: refused(name, &arguments) })
    }

    /// The arguments of a constructor, brackets taken.
    fn arguments(&mut self) -> Result<Vec<Argument>, Syntax> {
        self.expect(b'(', "a value is missing")?;
        let mut arguments = Vec::new();
        if self.peek() == Some(b')') {
            self.at += 1;
            return Ok(arguments);
        }
        loop {
            let argument = if let Some(quote @ (b'"' | b'\'')) = self.peek() {
                self.at += 1;
                let mut text = Vec::new();
                self.push_string_text(quote, &mut text)?;
                Argument::Text(text)
            } else {
                Argument::Number(self.number_argument()?)
            };
            arguments.push(argument);
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b')') => break,
                _ => return Err(self.error("a comma or ) is missing after an argument")),
            }
        }
        self.at += 1;
        Ok(arguments)
    }

    /// The digits of a number, whatever they are.
    fn number_argument(&mut self) -> Result<Vec<u8>, Syntax> {
        let rest = &self.text[self.at..];
        let is_number = |byte: u8| matches!(byte, b'+' | b'-' | b'.' | b'0'..=b'9' | b'e' | b'E');
        let length = rest.iter().take_while(|&&byte| is_number(byte)).count();
        if length == 0 {
            return Err(self.error("an argument is missing"));
        }
        self.at += length;
        Ok(rest[..length].to_vec())
    }

    /// Appends `DBRef("collection", id)`: a document of `$ref` and `$id`.
    fn push_reference(&mut self, out: &mut Vec<u8>) -> Result<ElementType, Syntax> {
        self.expect(b'(', "a value is missing")?;
        let start = self.begin(out)?;
        out.extend_from_slice(b"\x02$ref\0");
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) => self.push_string(quote, out)?,
            _ => return Err(self.error("DBRef takes the name of a collection")),
        };
        self.expect(b',', "DBRef takes two arguments")?;
        let id = out.len();
        out.extend_from_slice(b"\0$id\0");
        out[id] = self.push_value(out)? as u8;
        self.expect(b')', "DBRef takes two arguments")?;
        self.end(start, out);
        Ok(ElementType::Document)
    }

    /// Appends `/pattern/options`.
    fn push_regex_literal(&mut self, out: &mut Vec<u8>) -> Result<ElementType, Syntax> {
        let rest = &self.text[self.at + 1..];
        let mut pattern = Vec::new();
        let mut at = 0;
        loop {
            match (rest.get(at), rest.get(at + 1)) {
                (Some(b'/'), _) => break,
                (Some(b'\\'), Some(b'/')) => {
                    pattern.push(b'/');
                    at += 2;
                }
                (Some(b'\\'), Some(&next)) => {
                    pattern.extend_from_slice(&[b'\\', next]);
                    at += 2;
                }
                (Some(&byte), _) if byte != b'\n' => {
                    pattern.push(byte);
                    at += 1;
                }
                _ => return Err(self.error("a regular expression is never closed")),
            }
        }
        let options: Vec<u8> = rest[at + 1..].iter().copied().take_while(u8::is_ascii_lowercase).collect();
        self.at += at + 2 + options.len();
        if !self.is_utf8 {
            let mut repaired = Vec::with_capacity(pattern.len());
            self.not_utf8 += u32::from(text::push_repaired(&pattern, &mut repaired));
            pattern = repaired;
        }
        self.push_regex(&pattern, options, out)?;
        Ok(ElementType::Regex)
    }

    /// Appends a number, which may be hexadecimal or `-Infinity`.
    fn push_shell_number(&mut self, out: &mut Vec<u8>) -> Result<ElementType, Syntax> {
        let rest = &self.text[self.at..];
        let (negative, digits) = match rest {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        if negative && digits.starts_with(b"Infinity") {
            self.at += 1 + b"Infinity".len();
            out.extend_from_slice(&f64::NEG_INFINITY.to_le_bytes());
            return Ok(ElementType::Double);
        }
        let [b'0', b'x' | b'X', digits @ ..] = digits else { return self.push_number(out) };
        let length = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let text = std::str::from_utf8(&digits[..length]).unwrap_or_default();
        let value = i64::from_str_radix(text, 16).map_err(|_| self.error("a number is malformed"))?;
        self.at += usize::from(negative) + 2 + length;
        Ok(push_integer(if negative { -value } else { value }, out))
    }
}

/// Why a constructor makes nothing of its arguments, which are named.
#[cold]
fn refused(name: &[u8], arguments: &[Argument]) -> String {
    let name = String::from_utf8_lossy(name);
    if arguments.is_empty() {
        return format!("{name}() is there without a value");
    }
    let shown: Vec<_> = arguments.iter().map(Argument::shown).collect();
    format!("{name}() can't be {}", shown.join(", "))
}

/// Appends what a constructor makes of its arguments, `None` when it makes nothing.
fn push_constructed(name: &[u8], arguments: &[Argument], out: &mut Vec<u8>) -> Option<ElementType> {
    Some(match (name, arguments) {
        (b"ISODate" | b"Date", [Argument::Text(text)]) => {
            out.extend_from_slice(&date_layout::legacy_json(text)?.to_le_bytes());
            ElementType::DateTime
        }
        (b"Date", [Argument::Number(_)]) => {
            out.extend_from_slice(&arguments[0].integer()?.to_le_bytes());
            ElementType::DateTime
        }
        (b"ObjectId", [Argument::Text(text)]) => {
            let id: [u8; 12] = binary::hex(text)?.try_into().ok()?;
            out.extend_from_slice(&id);
            ElementType::ObjectId
        }
        (b"NumberLong", [value]) => {
            out.extend_from_slice(&value.integer()?.to_le_bytes());
            ElementType::Int64
        }
        (b"NumberInt", [value]) => {
            out.extend_from_slice(&i32::try_from(value.integer()?).ok()?.to_le_bytes());
            ElementType::Int32
        }
        (b"NumberDecimal", [value]) => {
            out.extend_from_slice(&decimal::decimal(value.text())?);
            ElementType::Decimal128
        }
        (b"Timestamp", [seconds, increment]) => {
            let seconds = u32::try_from(seconds.integer()?).ok()?;
            push_timestamp(seconds, u32::try_from(increment.integer()?).ok()?, out);
            ElementType::Timestamp
        }
        (b"BinData", [subtype, Argument::Text(text)]) => {
            push_binary(u8::try_from(subtype.integer()?).ok()?, &binary::base64(text)?, out);
            ElementType::Binary
        }
        (b"HexData", [subtype, Argument::Text(text)]) => {
            push_binary(u8::try_from(subtype.integer()?).ok()?, &binary::hex(text)?, out);
            ElementType::Binary
        }
        (b"UUID", [Argument::Text(text)]) => {
            push_binary(4, &uuid(text)?, out);
            ElementType::Binary
        }
        (b"RegExp", [Argument::Text(pattern), options @ ..]) if options.len() < 2 => {
            let options = options.first().map_or(&[] as &[u8], Argument::text);
            if pattern.contains(&0) || options.contains(&0) {
                return None;
            }
            for text in [pattern, options] {
                out.extend_from_slice(text);
                out.push(0);
            }
            ElementType::Regex
        }
        _ => return None,
    })
}
