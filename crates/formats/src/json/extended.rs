//! Owns the types of Extended JSON: objects whose first name begins with `$`.
//!
//! Source: <https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/>. Version 1 is in `legacy`.

use brimline_bson::ElementType;

use super::parser::{Parser, Syntax};
use crate::values::{binary, date_layout, decimal, number, text};

impl Parser<'_> {
    /// Appends the value of an object whose first name stands in `scratch`, its colon read. `None`, with nothing read, when the name
    /// is that of no type.
    pub fn push_extended(&mut self, out: &mut Vec<u8>) -> Result<Option<ElementType>, Syntax> {
        if self.legacy {
            return self.push_legacy_extended(out);
        }
        let element_type = match self.scratch.as_slice() {
            b"$oid" => {
                let id = self.object_id()?;
                out.extend_from_slice(&id);
                ElementType::ObjectId
            }
            b"$date" => {
                let unix_ms = self.date()?;
                out.extend_from_slice(&unix_ms.to_le_bytes());
                ElementType::DateTime
            }
            b"$numberInt" => {
                let value = self.parsed("$numberInt", |text| i32::try_from(number::integer(text)?).ok())?;
                out.extend_from_slice(&value.to_le_bytes());
                ElementType::Int32
            }
            b"$numberLong" => {
                let value = self.parsed("$numberLong", number::integer)?;
                out.extend_from_slice(&value.to_le_bytes());
                ElementType::Int64
            }
            b"$numberDouble" => {
                let value = self.parsed("$numberDouble", number::double)?;
                out.extend_from_slice(&value.to_le_bytes());
                ElementType::Double
            }
            b"$numberDecimal" => {
                let value = self.parsed("$numberDecimal", decimal::decimal)?;
                out.extend_from_slice(&value);
                ElementType::Decimal128
            }
            b"$symbol" => {
                self.peek_string("$symbol")?;
                self.push_string(b'"', out)?;
                ElementType::Symbol
            }
            b"$undefined" => {
                self.peek();
                if !self.take_word(b"true") {
                    return Err(self.error("$undefined takes true"));
                }
                ElementType::Undefined
            }
            b"$minKey" => {
                self.one("$minKey")?;
                ElementType::MinKey
            }
            b"$maxKey" => {
                self.one("$maxKey")?;
                ElementType::MaxKey
            }
            b"$uuid" => {
                let bytes = self.parsed("$uuid", uuid)?;
                push_binary(4, &bytes, out);
                ElementType::Binary
            }
            b"$binary" => {
                self.push_extended_binary(out)?;
                ElementType::Binary
            }
            b"$code" => return self.push_code(out).map(Some),
            b"$timestamp" => {
                self.push_timestamp(out)?;
                ElementType::Timestamp
            }
            b"$regularExpression" => {
                self.push_regular_expression(out)?;
                ElementType::Regex
            }
            b"$dbPointer" => {
                self.push_pointer(out)?;
                ElementType::DbPointer
            }
            _ => return Ok(None),
        };
        self.expect(b'}', "} is missing after a value of Extended JSON")?;
        Ok(Some(element_type))
    }

    /// A string that must come next.
    pub fn text_value(&mut self, what: &str) -> Result<Vec<u8>, Syntax> {
        let quote = self.peek_string(what)?;
        self.at += 1;
        let mut text = Vec::new();
        self.push_string_text(quote, &mut text)?;
        Ok(text)
    }

    /// The quote of the string that must come next.
    fn peek_string(&mut self, what: &str) -> Result<u8, Syntax> {
        match self.peek() {
            Some(b'"') => Ok(b'"'),
            Some(b'\'') if self.legacy => Ok(b'\''),
            _ => Err(self.error(&format!("{what} takes a string"))),
        }
    }

    /// What `parse` makes of the string that must come next.
    pub fn parsed<T>(&mut self, what: &str, parse: impl FnOnce(&[u8]) -> Option<T>) -> Result<T, Syntax> {
        let quote = self.peek_string(what)?;
        self.at += 1;
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        let read = self.push_string_text(quote, &mut text);
        let value = read.map(|()| {
            parse(&text)
                .ok_or_else(|| Syntax { reason: format!("{what} can't be \"{}\"", text::shown(&text)) })
        });
        self.scratch = text;
        value?
    }

    pub fn object_id(&mut self) -> Result<[u8; 12], Syntax> {
        self.parsed("$oid", |text| binary::hex(text)?.try_into().ok())
    }

    /// A date as a string, as milliseconds, or as `{"$numberLong": milliseconds}`.
    fn date(&mut self) -> Result<i64, Syntax> {
        match self.peek() {
            Some(b'{') => {
                self.at += 1;
                let key = self.key()?;
                if key != b"$numberLong" {
                    return Err(self.error("$date takes a string, a number or $numberLong"));
                }
                let unix_ms = self.parsed("$numberLong", number::integer)?;
                self.expect(b'}', "} is missing after $numberLong")?;
                Ok(unix_ms)
            }
            Some(b'-' | b'0'..=b'9') => self.integer("$date"),
            _ => self.parsed("$date", date_layout::extended_json),
        }
    }

    /// An integer without quotes.
    pub fn integer(&mut self, what: &str) -> Result<i64, Syntax> {
        self.peek();
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|byte| matches!(byte, b'-' | b'0'..=b'9')).count();
        let value = number::integer(&rest[..length]);
        let value = value.ok_or_else(|| self.error(&format!("{what} takes an integer")))?;
        self.at += length;
        Ok(value)
    }

    fn one(&mut self, what: &str) -> Result<(), Syntax> {
        match self.integer(what)? {
            1 => Ok(()),
            _ => Err(self.error(&format!("{what} takes 1"))),
        }
    }

    /// The next name, its colon taken.
    pub fn key(&mut self) -> Result<Vec<u8>, Syntax> {
        let mut key = Vec::new();
        self.push_key(&mut key)?;
        Ok(key)
    }

    /// Takes a comma and the name `second`, if there is a comma.
    fn take_second(&mut self, second: &str) -> Result<bool, Syntax> {
        if self.peek() != Some(b',') {
            return Ok(false);
        }
        self.at += 1;
        if self.key()? == second.as_bytes() {
            return Ok(true);
        }
        Err(self.error(&format!("only {second} can follow")))
    }

    /// Takes an object with the two names given, in any order; `value` reads the value of the name with the index it is given.
    fn pair(
        &mut self,
        names: [&str; 2],
        mut value: impl FnMut(&mut Self, usize) -> Result<(), Syntax>,
    ) -> Result<(), Syntax> {
        let missing = format!("an object with {} and {} is missing", names[0], names[1]);
        self.expect(b'{', &missing)?;
        let mut seen = [false; 2];
        for member in 0..2 {
            if member > 0 {
                self.expect(b',', &missing)?;
            }
            let key = self.key()?;
            let index = names.iter().position(|name| name.as_bytes() == key).filter(|&index| !seen[index]);
            let index = index.ok_or_else(|| self.error(&missing))?;
            seen[index] = true;
            value(self, index)?;
        }
        self.expect(b'}', &missing)
    }

    /// `{"base64": …, "subType": …}`, or the older text with `"$type"` beside it.
    fn push_extended_binary(&mut self, out: &mut Vec<u8>) -> Result<(), Syntax> {
        let mut bytes = Vec::new();
        let mut subtype = 0;
        if self.peek() == Some(b'{') {
            self.pair(["base64", "subType"], |parser, index| {
                match index {
                    0 => bytes = parser.parsed("base64", binary::base64)?,
                    _ => subtype = parser.parsed("subType", hex_byte)?,
                }
                Ok(())
            })?;
        } else {
            bytes = self.parsed("$binary", binary::base64)?;
            if !self.take_second("$type")? {
                return Err(self.error("$type is missing"));
            }
            subtype = self.parsed("$type", hex_byte)?;
        }
        push_binary(subtype, &bytes, out);
        Ok(())
    }

    /// Code, or code with its scope.
    fn push_code(&mut self, out: &mut Vec<u8>) -> Result<ElementType, Syntax> {
        let code = self.text_value("$code")?;
        if !self.take_second("$scope")? {
            push_text(&code, out);
            self.expect(b'}', "} is missing after $code")?;
            return Ok(ElementType::Code);
        }
        let scope = self.scope()?;
        self.expect(b'}', "} is missing after $scope")?;
        Ok(push_code_with_scope(&code, &scope, out))
    }

    pub fn push_timestamp(&mut self, out: &mut Vec<u8>) -> Result<(), Syntax> {
        let mut parts = [0u32; 2];
        self.pair(["t", "i"], |parser, index| {
            let value = parser.integer("$timestamp")?;
            parts[index] =
                u32::try_from(value).map_err(|_| parser.error("$timestamp takes numbers of 32 bits"))?;
            Ok(())
        })?;
        push_timestamp(parts[0], parts[1], out);
        Ok(())
    }

    fn push_regular_expression(&mut self, out: &mut Vec<u8>) -> Result<(), Syntax> {
        let mut texts = [Vec::new(), Vec::new()];
        self.pair(["pattern", "options"], |parser, index| {
            texts[index] = parser.text_value("$regularExpression")?;
            Ok(())
        })?;
        let [pattern, options] = texts;
        self.push_regex(&pattern, options, out)
    }

    /// Appends a regular expression; its options stand in alphabetical order.
    pub fn push_regex(
        &mut self,
        pattern: &[u8],
        mut options: Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), Syntax> {
        if pattern.contains(&0) || options.contains(&0) {
            return Err(self.error("a regular expression holds a NUL"));
        }
        options.sort_unstable();
        for text in [pattern, &options] {
            out.extend_from_slice(text);
            out.push(0);
        }
        Ok(())
    }

    fn push_pointer(&mut self, out: &mut Vec<u8>) -> Result<(), Syntax> {
        let mut collection = Vec::new();
        let mut id = [0; 12];
        self.pair(["$ref", "$id"], |parser, index| {
            if index == 0 {
                collection = parser.text_value("$ref")?;
                return Ok(());
            }
            parser.expect(b'{', "$id takes an $oid")?;
            if parser.key()? != b"$oid" {
                return Err(parser.error("$id takes an $oid"));
            }
            id = parser.object_id()?;
            parser.expect(b'}', "} is missing after $oid")
        })?;
        push_text(&collection, out);
        out.extend_from_slice(&id);
        Ok(())
    }
}

/// Appends a string without its type.
pub fn push_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32 + 1).to_le_bytes());
    out.extend_from_slice(text);
    out.push(0);
}

/// Appends code with its scope, a whole document.
pub fn push_code_with_scope(code: &[u8], scope: &[u8], out: &mut Vec<u8>) -> ElementType {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    push_text(code, out);
    out.extend_from_slice(scope);
    let length = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    ElementType::CodeWithScope
}

/// Appends a binary value; that of the old subtype 2 repeats its length.
pub fn push_binary(subtype: u8, bytes: &[u8], out: &mut Vec<u8>) {
    const OLD: u8 = 2;
    let more = if subtype == OLD { 4 } else { 0 };
    out.extend_from_slice(&(bytes.len() as u32 + more).to_le_bytes());
    out.push(subtype);
    if subtype == OLD {
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    }
    out.extend_from_slice(bytes);
}

/// Appends a timestamp.
pub fn push_timestamp(seconds: u32, increment: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&increment.to_le_bytes());
    out.extend_from_slice(&seconds.to_le_bytes());
}

pub fn hex_byte(text: &[u8]) -> Option<u8> {
    if !(1..=2).contains(&text.len()) {
        return None;
    }
    text.iter().try_fold(0, |value, &byte| Some(value << 4 | char::from(byte).to_digit(16)? as u8))
}

/// The sixteen bytes of a UUID, with its hyphens or without.
pub fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    let hyphens_fit = text.len() == 36 && [8, 13, 18, 23].iter().all(|&at| text[at] == b'-');
    let digits: Vec<u8> = match text.len() {
        32 => text.to_vec(),
        36 if hyphens_fit => text.iter().copied().filter(|&byte| byte != b'-').collect(),
        _ => return None,
    };
    binary::hex(&digits)?.try_into().ok()
}
