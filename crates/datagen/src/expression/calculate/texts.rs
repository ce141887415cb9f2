//! Owns texts that are put together, cut and converted, all of it within the buffer.

use std::io::Write;

use brimline_bson::ElementType;

use super::Calculation;
use super::numbers::Number;
use super::operand::Operand;
use crate::Name;
use crate::expression::Misfit;
use crate::expression::dates;
use crate::expression::node::{Node, UNNAMED_HEAD};
use crate::expression::operator::Operator;
use crate::key::append_number;
use crate::sink::{BsonSink, Sink};

const LENGTH_BYTES: usize = 4;

impl Calculation<'_, '_> {
    /// Appends a string that is made of the texts of operands; null where one of them is.
    pub(super) fn put_text(self, of: &[Node], name: Name<'_>, out: &mut Vec<u8>) -> Result<(), Misfit> {
        let start = out.len();
        BsonSink(out).name(ElementType::String, name);
        let length_at = out.len();
        out.extend_from_slice(&[0; LENGTH_BYTES]);
        let text_at = out.len();
        let parts = if self.operator == Operator::Substring { &of[..1] } else { of };
        let mut is_null = false;
        for part in parts {
            is_null |= !self.append_text(part, out)?;
        }
        match self.operator {
            Operator::Lower => out[text_at..].make_ascii_lowercase(),
            Operator::Upper => out[text_at..].make_ascii_uppercase(),
            Operator::Trim => trim(text_at, out),
            Operator::Substring => is_null |= !self.cut(text_at, of, out)?,
            _ => {}
        }
        if is_null {
            out.truncate(start);
            BsonSink(out).null(name);
            return Ok(());
        }
        out.push(0);
        let length = (out.len() - text_at) as u32;
        out[length_at..text_at].copy_from_slice(&length.to_le_bytes());
        Ok(())
    }

    /// Appends the text of an operand; false: it is null.
    pub(super) fn append_text(self, node: &Node, out: &mut Vec<u8>) -> Result<bool, Misfit> {
        let start = out.len();
        self.world.put_node(node, Name::NONE, self.moment, out)?;
        let operand = Operand::new(out[start], &out[start + UNNAMED_HEAD..]);
        if let Operand::Text(text) = operand {
            let length = text.len();
            let text_at = start + UNNAMED_HEAD + LENGTH_BYTES;
            out.copy_within(text_at..text_at + length, start);
            out.truncate(start + length);
            return Ok(true);
        }
        let converts = matches!(self.operator, Operator::Concat | Operator::Text);
        let operand = match operand {
            Operand::Null => {
                out.truncate(start);
                return Ok(false);
            }
            Operand::Number(number) if converts => Operand::Number(number),
            Operand::Boolean(value) if converts => Operand::Boolean(value),
            Operand::Date(unix_ms) if converts => Operand::Date(unix_ms),
            Operand::ObjectId(id) if converts => Operand::ObjectId(id),
            other => return Err(self.misfit(other.name())),
        };
        out.truncate(start);
        append_scalar(operand, out);
        Ok(true)
    }

    /// Keeps so many characters from a place on, counted from 0; false: place or count is null.
    fn cut(self, text_at: usize, of: &[Node], out: &mut Vec<u8>) -> Result<bool, Misfit> {
        let mut count = |node: &Node| {
            let Some(number) = self.number(node, out)? else { return Ok(None) };
            let number = number.integer().and_then(|number| usize::try_from(number).ok());
            number.map(Some).ok_or_else(|| self.misfit("a place that is none"))
        };
        let (Some(first), Some(length)) = (count(&of[1])?, count(&of[2])?) else { return Ok(false) };
        // What a reply brought need not be UTF-8: a character is what no continuation begins.
        let is_start = |byte: u8| byte & 0xC0 != 0x80;
        let place = |number: usize| {
            let starts = out[text_at..].iter().enumerate().filter(|&(_, &byte)| is_start(byte));
            starts.map(|(at, _)| text_at + at).nth(number).unwrap_or(out.len())
        };
        let (from, to) = (place(first), place(first.saturating_add(length)));
        out.copy_within(from..to, text_at);
        out.truncate(text_at + to - from);
        Ok(true)
    }
}

/// Drops white space at both ends.
fn trim(text_at: usize, out: &mut Vec<u8>) {
    let text = &out[text_at..];
    // What a reply brought need not be UTF-8.
    let kept = std::str::from_utf8(text).map_or_else(|_| text.trim_ascii(), |text| text.trim().as_bytes());
    let from = kept.as_ptr() as usize - text.as_ptr() as usize;
    let to = from + kept.len();
    out.copy_within(text_at + from..text_at + to, text_at);
    out.truncate(text_at + to - from);
}

pub(super) fn append_scalar(operand: Operand<'_>, out: &mut Vec<u8>) {
    // Writing to a Vec can't fail.
    match operand {
        Operand::Number(Number::Int32(value)) => append_number(i64::from(value), out),
        Operand::Number(Number::Int64(value)) => append_number(value, out),
        Operand::Number(Number::Double(value)) => _ = write!(out, "{value}"),
        Operand::Boolean(value) => _ = write!(out, "{value}"),
        Operand::Date(unix_ms) => dates::append_text(unix_ms, out),
        Operand::ObjectId(id) => id.into_iter().for_each(|byte| _ = write!(out, "{byte:02x}")),
        Operand::Null | Operand::Text(_) | Operand::Other(_) => {}
    }
}
