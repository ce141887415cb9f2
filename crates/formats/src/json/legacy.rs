//! Owns version 1 of Extended JSON, as `--legacy` reads it: a type is an object of one name, or of two in any order. What has
//! more names, or names of version 2, is a document.
//!
//! Source: <https://www.mongodb.com/docs/manual/reference/mongodb-extended-json-v1/>, strict mode.

use brimline_bson::ElementType;

use super::extended::{hex_byte, push_binary, push_code_with_scope, push_text};
use super::parser::{Parser, Syntax};
use crate::values::{binary, date_layout, decimal, number};

impl Parser<'_> {
    /// Appends the value of an object whose first name stands in `scratch`, its colon read. `None`, with nothing read, when the object is
    /// a document.
    pub fn push_legacy_extended(&mut self, out: &mut Vec<u8>) -> Result<Option<ElementType>, Syntax> {
        let (at, length, not_utf8) = (self.at, out.len(), self.not_utf8);
        let name = self.scratch.clone();
        if let Some(element_type) = self.push_legacy_type(&name, out)?
            && self.peek() == Some(b'}')
        {
            self.at += 1;
            return Ok(Some(element_type));
        }
        self.at = at;
        self.not_utf8 = not_utf8;
        self.scratch = name;
        out.truncate(length);
        Ok(None)
    }

    /// Appends the value, its closing bracket still to come.
    fn push_legacy_type(&mut self, name: &[u8], out: &mut Vec<u8>) -> Result<Option<ElementType>, Syntax> {
        Ok(Some(match name {
            b"$oid" => {
                let id = self.object_id()?;
                out.extend_from_slice(&id);
                ElementType::ObjectId
            }
            b"$date" => {
                let unix_ms = self.legacy_date()?;
                out.extend_from_slice(&unix_ms.to_le_bytes());
                ElementType::DateTime
            }
            b"$numberLong" => {
                let value = self.parsed("$numberLong", number::integer_of_any_base)?;
                out.extend_from_slice(&value.to_le_bytes());
                ElementType::Int64
            }
            b"$numberInt" => {
                let value =
                    self.parsed("$numberInt", |text| i32::try_from(number::integer_of_any_base(text)?).ok())?;
                out.extend_from_slice(&value.to_le_bytes());
                ElementType::Int32
            }
            b"$numberDecimal" => {
                let value = self.parsed("$numberDecimal", decimal::decimal)?;
                out.extend_from_slice(&value);
                ElementType::Decimal128
            }
            b"$undefined" | b"$minKey" | b"$maxKey" => {
                self.push_value(&mut Vec::new())?;
                match name {
                    b"$undefined" => ElementType::Undefined,
                    b"$minKey" => ElementType::MinKey,
                    _ => ElementType::MaxKey,
                }
            }
            b"$timestamp" => {
                self.push_timestamp(out)?;
                ElementType::Timestamp
            }
            b"$code" if self.text_comes() => {
                let code = self.text_value("$code")?;
                if !self.second_is(b"$scope")? {
                    push_text(&code, out);
                    return Ok(Some(ElementType::Code));
                }
                let scope = self.scope()?;
                push_code_with_scope(&code, &scope, out)
            }
            b"$scope" if self.peek() == Some(b'{') => {
                let scope = self.scope()?;
                if !self.second_is(b"$code")? {
                    return Ok(None);
                }
                let code = self.text_value("$code")?;
                push_code_with_scope(&code, &scope, out)
            }
            b"$regex" | b"$options" if self.text_comes() => {
                let is_first = name == b"$regex";
                let first = self.text_value("$regex")?;
                if !self.second_is(if is_first { b"$options" } else { b"$regex" })? {
                    return Ok(None);
                }
                let second = self.text_value("$options")?;
                let (pattern, options) = if is_first { (first, second) } else { (second, first) };
                if !options.iter().all(|option| b"gims".contains(option)) {
                    return Err(self.error("the options of a regular expression are of g, i, m and s"));
                }
                self.push_regex(&pattern, options, out)?;
                ElementType::Regex
            }
            b"$binary" | b"$type" if self.text_comes() => {
                let is_first = name == b"$binary";
                let first = self.text_value("$binary")?;
                if !self.second_is(if is_first { b"$type" } else { b"$binary" })? {
                    return Ok(None);
                }
                let second = self.text_value("$type")?;
                let (bytes, subtype) = if is_first { (first, second) } else { (second, first) };
                let bytes = binary::base64(&bytes).ok_or_else(|| self.error("$binary takes base64"))?;
                let subtype = hex_byte(&subtype)
                    .ok_or_else(|| self.error("$type takes a byte as two hexadecimal digits"))?;
                push_binary(subtype, &bytes, out);
                ElementType::Binary
            }
            _ => return Ok(None),
        }))
    }

    fn text_comes(&mut self) -> bool {
        matches!(self.peek(), Some(b'"' | b'\''))
    }

    /// Takes a comma and a name if a comma comes next; says whether the name is `second`.
    fn second_is(&mut self, second: &[u8]) -> Result<bool, Syntax> {
        if self.peek() != Some(b',') {
            return Ok(false);
        }
        self.at += 1;
        Ok(self.key()? == second)
    }

    pub fn scope(&mut self) -> Result<Vec<u8>, Syntax> {
        let mut scope = Vec::new();
        self.expect(b'{', "$scope takes a document")?;
        self.push_document(&mut scope)?;
        Ok(scope)
    }

    /// A date as a string, as milliseconds of which a fraction is left out, as `{"$numberLong": milliseconds}`, or as the shell's.
    fn legacy_date(&mut self) -> Result<i64, Syntax> {
        match self.peek() {
            Some(b'"' | b'\'') => self.parsed("$date", date_layout::legacy_json),
            Some(b'{') => {
                self.at += 1;
                if self.key()? != b"$numberLong" {
                    return Err(self.error("$date takes a string, a number or $numberLong"));
                }
                let unix_ms = self.parsed("$numberLong", number::integer_of_any_base)?;
                self.expect(b'}', "} is missing after $numberLong")?;
                Ok(unix_ms)
            }
            _ => {
                let mut value = Vec::new();
                let unix_ms = match self.push_shell_value(&mut value)? {
                    ElementType::Int32 => value.try_into().ok().map(i32::from_le_bytes).map(i64::from),
                    ElementType::Int64 | ElementType::DateTime => {
                        value.try_into().ok().map(i64::from_le_bytes)
                    }
                    ElementType::Double => {
                        value.try_into().ok().map(|bytes| f64::from_le_bytes(bytes) as i64)
                    }
                    _ => None,
                };
                unix_ms.ok_or_else(|| self.error("$date takes a string, a number or $numberLong"))
            }
        }
    }
}
