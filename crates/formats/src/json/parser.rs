//! Owns JSON's grammar: text becomes BSON as it is read, with no tree in between.

use brimline_bson::ElementType;

use crate::values::{number, text};

/// How deep documents and arrays may be nested, the outermost being the first.
const DEPTH_MAX: usize = 200;

/// Reads values from one text.
pub struct Parser<'a> {
    pub text: &'a [u8],
    /// What is read next.
    pub at: usize,
    /// Whether the shell's syntax and Extended JSON version 1 are read.
    pub legacy: bool,
    depth: usize,
    /// Whether all of the text is UTF-8, so that its strings need not be looked at.
    pub is_utf8: bool,
    /// Strings so far that are not UTF-8, names included.
    pub not_utf8: u32,
    /// Texts that are needed for a moment.
    pub scratch: Vec<u8>,
}

/// What is wrong with a text, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct Syntax {
    pub reason: String,
}

impl<'a> Parser<'a> {
    /// Reads from the beginning of `text`.
    pub fn new(text: &'a [u8], legacy: bool) -> Self {
        let is_utf8 = std::str::from_utf8(text).is_ok();
        Self { text, at: 0, legacy, depth: 0, is_utf8, not_utf8: 0, scratch: Vec::new() }
    }

    /// An error at the place where reading stands.
    #[cold]
    pub fn error(&self, reason: &str) -> Syntax {
        let rest = &self.text[self.at.min(self.text.len())..];
        let place = match rest {
            [] => "at the end of the input".to_owned(),
            _ => format!("before \"{}\"", text::shown(&rest[..rest.len().min(20)])),
        };
        Syntax { reason: format!("{reason}, {place}") }
    }

    /// Passes over white space and returns the byte after it.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                byte => return byte.copied(),
            }
        }
    }

    /// Takes `byte` after white space.
    #[inline]
    pub fn expect(&mut self, byte: u8, reason: &str) -> Result<(), Syntax> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.error(reason))
    }

    /// Takes `word` if it stands here, no name going on behind it.
    pub fn take_word(&mut self, word: &[u8]) -> bool {
        let found = self.text[self.at..].starts_with(word)
            && !self.text.get(self.at + word.len()).is_some_and(|&byte| is_name_byte(byte));
        if found {
            self.at += word.len();
        }
        found
    }

    /// Appends the document whose opening bracket has been read. Says whether it has an `_id`.
    pub fn push_document(&mut self, out: &mut Vec<u8>) -> Result<bool, Syntax> {
        let start = self.begin(out)?;
        let has_id = if self.peek() == Some(b'}') {
            self.at += 1;
            false
        } else {
            self.push_members(out, false)?
        };
        self.end(start, out);
        Ok(has_id)
    }

    /// Appends the members of a document up to its closing bracket. `first_key_read`: the first name stands in `scratch` already,
    /// its colon is read. Says whether one is called `_id`.
    fn push_members(&mut self, out: &mut Vec<u8>, first_key_read: bool) -> Result<bool, Syntax> {
        let mut has_id = false;
        let mut key_read = first_key_read;
        loop {
            let element = out.len();
            out.push(0);
            if key_read {
                out.extend_from_slice(&self.scratch);
            } else {
                self.push_key(out)?;
            }
            key_read = false;
            if out[element + 1..].contains(&0) {
                return Err(self.error("the name of a field holds a NUL"));
            }
            has_id |= &out[element + 1..] == b"_id";
            out.push(0);
            out[element] = self.push_value(out)? as u8;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(has_id);
                }
                _ => return Err(self.error("a comma or } is missing after a field")),
            }
        }
    }

    /// Appends the name of a field, and takes the colon after it.
    pub fn push_key(&mut self, out: &mut Vec<u8>) -> Result<(), Syntax> {
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                self.push_string_text(b'"', out)?;
            }
            Some(b'\'') if self.legacy => {
                self.at += 1;
                self.push_string_text(b'\'', out)?;
            }
            Some(byte) if self.legacy && is_name_byte(byte) => {
                let rest = &self.text[self.at..];
                let length = rest.iter().take_while(|&&byte| is_name_byte(byte)).count();
                out.extend_from_slice(&rest[..length]);
                self.at += length;
            }
            _ => return Err(self.error("the name of a field is missing")),
        }
        self.expect(b':', "a colon is missing after the name of a field")
    }

    /// Appends a value and says its type.
    pub fn push_value(&mut self, out: &mut Vec<u8>) -> Result<ElementType, Syntax> {
        match self.peek() {
            Some(b'"') => self.push_string(b'"', out),
            Some(b'{') => {
                self.at += 1;
                self.push_object(out)
            }
            Some(b'[') => {
                self.at += 1;
                self.push_array(out)
            }
            Some(b't') if self.take_word(b"true") => {
                out.push(1);
                Ok(ElementType::Boolean)
            }
            Some(b'f') if self.take_word(b"false") => {
                out.push(0);
                Ok(ElementType::Boolean)
            }
            Some(b'n') if self.take_word(b"null") => Ok(ElementType::Null),
            Some(_) if self.legacy => self.push_shell_value(out),
            Some(b'-' | b'0'..=b'9') => self.push_number(out),
            _ => Err(self.error("a value is missing")),
        }
    }

    /// Appends a string whose opening quote comes next.
    pub fn push_string(&mut self, quote: u8, out: &mut Vec<u8>) -> Result<ElementType, Syntax> {
        self.at += 1;
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        self.push_string_text(quote, out)?;
        out.push(0);
        let length = (out.len() - start - 4) as u32;
        out[start..start + 4].copy_from_slice(&length.to_le_bytes());
        Ok(ElementType::String)
    }

    /// Appends what an object stands for, whose opening bracket has been read: a document, or a value of one of Extended JSON's types,
    /// which its first name tells.
    fn push_object(&mut self, out: &mut Vec<u8>) -> Result<ElementType, Syntax> {
        if self.peek() == Some(b'}') {
            self.at += 1;
            out.extend_from_slice(b"\x05\0\0\0\0");
            return Ok(ElementType::Document);
        }
        let mut key = std::mem::take(&mut self.scratch);
        key.clear();
        let read = self.push_key(&mut key);
        self.scratch = key;
        read?;
        if self.scratch.first() == Some(&b'$')
            && let Some(element_type) = self.push_extended(out)?
        {
            return Ok(element_type);
        }
        let start = self.begin(out)?;
        self.push_members(out, true)?;
        self.end(start, out);
        Ok(ElementType::Document)
    }

    fn push_array(&mut self, out: &mut Vec<u8>) -> Result<ElementType, Syntax> {
        let start = self.begin(out)?;
        if self.peek() == Some(b']') {
            self.at += 1;
        } else {
            for index in 0u32.. {
                let element = out.len();
                out.push(0);
                push_decimal(index, out);
                out.push(0);
                out[element] = self.push_value(out)? as u8;
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b']') => break,
                    _ => return Err(self.error("a comma or ] is missing after an element")),
                }
            }
            self.at += 1;
        }
        self.end(start, out);
        Ok(ElementType::Array)
    }

    /// Appends a number: an integer where it has neither point nor exponent and 64 bits hold it, else a double.
    pub fn push_number(&mut self, out: &mut Vec<u8>) -> Result<ElementType, Syntax> {
        let rest = &self.text[self.at..];
        let (length, is_integer) = number_length(rest).ok_or_else(|| self.error("a number is malformed"))?;
        let digits = &rest[..length];
        if rest.get(length).is_some_and(|&byte| is_name_byte(byte) || byte == b'.') {
            return Err(self.error("a number is malformed"));
        }
        let element_type = if is_integer && let Some(value) = number::integer(digits) {
            push_integer(value, out)
        } else {
            let value = number::double(digits).ok_or_else(|| self.error("a number is too large"))?;
            out.extend_from_slice(&value.to_le_bytes());
            ElementType::Double
        };
        self.at += length;
        Ok(element_type)
    }

    /// Opens a document or array: returns where its length field is.
    pub fn begin(&mut self, out: &mut Vec<u8>) -> Result<usize, Syntax> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error("documents are nested more than 200 deep"));
        }
        out.extend_from_slice(&[0; 4]);
        Ok(out.len() - 4)
    }

    /// Closes what begins at `start`.
    pub fn end(&mut self, start: usize, out: &mut Vec<u8>) {
        self.depth -= 1;
        out.push(0);
        let length = (out.len() - start) as u32;
        out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }
}

/// Appends an integer in as many bits as it needs.
pub fn push_integer(value: i64, out: &mut Vec<u8>) -> ElementType {
    if let Ok(value) = i32::try_from(value) {
        out.extend_from_slice(&value.to_le_bytes());
        ElementType::Int32
    } else {
        out.extend_from_slice(&value.to_le_bytes());
        ElementType::Int64
    }
}

/// Whether names may hold it without quotes.
pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

/// Length of the number that `text` begins with, and whether it has neither point nor exponent.
fn number_length(text: &[u8]) -> Option<(usize, bool)> {
    let digits = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(text.first() == Some(&b'-'));
    match digits(at) {
        0 => return None,
        length if length > 1 && text[at] == b'0' => return None,
        length => at += length,
    }
    let mut is_integer = true;
    if text.get(at) == Some(&b'.') {
        is_integer = false;
        let length = digits(at + 1);
        if length == 0 {
            return None;
        }
        at += 1 + length;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        is_integer = false;
        at += 1;
        at += usize::from(matches!(text.get(at), Some(b'+' | b'-')));
        let length = digits(at);
        if length == 0 {
            return None;
        }
        at += length;
    }
    Some((at, is_integer))
}

/// Appends the digits of an index.
fn push_decimal(index: u32, out: &mut Vec<u8>) {
    if index < 10 {
        out.push(b'0' + index as u8);
        return;
    }
    let start = out.len();
    let mut left = index;
    while left > 0 {
        out.push(b'0' + (left % 10) as u8);
        left /= 10;
    }
    out[start..].reverse();
}
