//! Owns turning stretches of JSON into documents.

use super::parser::{Parser, Syntax};
use crate::{Convert, Documents, FormatOptions, GeneratedIds, InputError, Oddity, Position, Stretch};

/// How a JSON input is read.
pub struct Json {
    legacy: bool,
    /// Where the elements begin, in an input that is one array.
    array: Option<Position>,
    ids: Option<GeneratedIds>,
}

/// What stands between two documents.
enum Between {
    Document,
    End,
}

impl Json {
    /// Reads as `options` say; `array` is the place after the bracket that opens the array, when the input is one.
    pub fn new(options: &FormatOptions, array: Option<Position>) -> Self {
        Self { legacy: options.legacy, array, ids: options.generated_ids }
    }

    /// Goes on to the next document.
    fn next(&self, parser: &mut Parser<'_>, is_first: bool, stretch: &Stretch) -> Result<Between, Syntax> {
        if self.array.is_none() {
            return Ok(if parser.peek().is_some() { Between::Document } else { Between::End });
        }
        if is_first {
            return Ok(Between::Document);
        }
        match parser.peek() {
            None if stretch.ends_input => Err(parser.error("the array is never closed")),
            None => Ok(Between::End),
            Some(b',') => {
                parser.at += 1;
                Ok(Between::Document)
            }
            Some(b']') => {
                parser.at += 1;
                match parser.peek() {
                    None => Ok(Between::End),
                    Some(_) => Err(parser.error("something follows the array")),
                }
            }
            Some(_) => Err(parser.error("a comma or ] is missing after a document")),
        }
    }

    /// Whether `text` begins with a document of the shell's syntax or of Extended JSON version 1.
    #[cold]
    fn is_legacy(&self, text: &[u8]) -> bool {
        let legacy = Self { legacy: true, array: self.array, ids: None };
        let read =
            legacy.push_record(&mut Parser::new(text, true), Position::START, &mut Documents::default());
        read.is_ok()
    }

    /// Reads one document, or `null`.
    fn push_record(&self, parser: &mut Parser<'_>, at: Position, into: &mut Documents) -> Result<(), Syntax> {
        let (begin, not_utf8) = (parser.at, parser.not_utf8);
        match parser.peek() {
            Some(b'{') => {
                parser.at += 1;
                let start = into.bytes.len();
                match parser.push_document(&mut into.bytes) {
                    Ok(has_id) => {
                        let text = &parser.text[begin..parser.at];
                        let oddity = Oddity { not_utf8: parser.not_utf8 - not_utf8, ..Oddity::default() };
                        into.finish_document(start, at, has_id, self.ids, text, oddity);
                        Ok(())
                    }
                    Err(error) => {
                        into.bytes.truncate(start);
                        Err(error)
                    }
                }
            }
            Some(b'n') if parser.take_word(b"null") => {
                into.nulls += 1;
                Ok(())
            }
            Some(b'[') if self.array.is_none() => {
                Err(parser.error("an array is no document (--jsonArray reads its elements)"))
            }
            Some(b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f') => {
                Err(parser.error("a value is no document"))
            }
            _ => Err(parser.error("a document is missing")),
        }
    }
}

impl Convert for Json {
    fn convert(&self, stretch: &Stretch, into: &mut Documents) {
        let is_leading = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b',';
        let leading = stretch.bytes.iter().take_while(is_leading).count();
        if into.reject_too_long(stretch, leading) {
            return;
        }
        let mut parser = Parser::new(&stretch.bytes, self.legacy);
        let mut is_first = self.array.is_some_and(|array| array.offset == stretch.start.offset);
        let mut at = stretch.start;
        let mut passed = 0;
        loop {
            let next = self.next(&mut parser, is_first, stretch);
            is_first = false;
            parser.peek();
            at.line += memchr::memchr_iter(b'\n', &stretch.bytes[passed..parser.at]).count() as u64;
            at.offset = stretch.start.offset + parser.at as u64;
            passed = parser.at;
            let read = match next {
                Ok(Between::End) => return,
                Ok(Between::Document) => self.push_record(&mut parser, at, into),
                Err(error) => Err(error),
            };
            if let Err(Syntax { mut reason }) = read {
                if !self.legacy && self.is_legacy(&stretch.bytes[passed..]) {
                    reason.push_str("; --legacy reads it");
                }
                into.stop = Some(InputError { line: at.line, offset: at.offset, reason });
                return;
            }
        }
    }
}
