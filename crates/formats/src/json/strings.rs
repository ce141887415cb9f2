//! Owns strings: where they end and what their escapes mean.

use memchr::memchr2;

use super::parser::{Parser, Syntax};
use crate::values::text;

impl Parser<'_> {
    /// Appends the text of the string whose opening `quote` has been read.
    pub fn push_string_text(&mut self, quote: u8, out: &mut Vec<u8>) -> Result<(), Syntax> {
        let mut is_utf8 = true;
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = memchr2(quote, b'\\', rest) else {
                return Err(self.error("a string is never closed"));
            };
            let plain = &rest[..length];
            if plain.iter().fold(u8::MAX, |least, &byte| least.min(byte)) < b' ' {
                self.at += plain.iter().position(|&byte| byte < b' ').unwrap_or(0);
                return Err(self.error("a control character stands in a string"));
            }
            if self.is_utf8 {
                out.extend_from_slice(plain);
            } else if self.legacy {
                is_utf8 &= !text::push_repaired(plain, out);
            } else {
                is_utf8 &= std::str::from_utf8(plain).is_ok();
                out.extend_from_slice(plain);
            }
            self.at += length + 1;
            if rest[length] == quote {
                self.not_utf8 += u32::from(!is_utf8);
                return Ok(());
            }
            self.push_escape(out)?;
        }
    }

    /// Appends what an escape stands for; its backslash has been read.
    fn push_escape(&mut self, out: &mut Vec<u8>) -> Result<(), Syntax> {
        let byte = self.text.get(self.at).copied();
        self.at += 1;
        let character = match byte {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'\'') if self.legacy => b'\'',
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let character = self.unicode_escape()?;
                let mut buffer = [0; 4];
                out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
                return Ok(());
            }
            _ => {
                self.at -= 1;
                return Err(self.error("a string has an escape that doesn't exist"));
            }
        };
        out.push(character);
        Ok(())
    }

    /// The character of `\uXXXX`, or of two of them that make a pair; half a pair is U+FFFD.
    fn unicode_escape(&mut self) -> Result<char, Syntax> {
        let first = self.four_digits()?;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with(b"\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_digits(&mut self) -> Result<u32, Syntax> {
        let digits = self.text.get(self.at..self.at + 4);
        let value = digits.and_then(|digits| {
            digits.iter().try_fold(0, |value, &byte| Some(value << 4 | char::from(byte).to_digit(16)?))
        });
        let value = value.ok_or_else(|| self.error("a string has an escape that doesn't exist"))?;
        self.at += 4;
        Ok(value)
    }
}
