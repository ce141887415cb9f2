//! Owns what is made of lists, and lists that are made of a text.

use brimline_bson::{ElementType, Reader};

use super::Calculation;
use super::operand::Operand;
use super::texts::append_scalar;
use crate::Name;
use crate::expression::Misfit;
use crate::expression::node::{Node, UNNAMED_HEAD};
use crate::expression::parts::{placed, put_array, put_placed};
use crate::expression::path::RawValue;
use crate::sink::{BsonSink, ItemName, Sink};

/// Upper bound of the text that is joined of a list.
pub const JOIN_BYTES_MAX: usize = 1 << 20;
/// Upper bound of the parts of a text together.
pub const NGRAMS_BYTES_MAX: usize = 1 << 20;
const LENGTH_BYTES: usize = 4;

impl Calculation<'_, '_> {
    /// Appends the element at a place of a list, counted from 0, or below 0 from the end; of bytes the byte. Null where there is none.
    pub(super) fn put_element(self, of: &[Node], name: Name<'_>, out: &mut Vec<u8>) -> Result<(), Misfit> {
        let at = self.number(&of[1], out)?;
        let Some(at) = at else {
            BsonSink(out).null(name);
            return Ok(());
        };
        let at = at.integer().ok_or_else(|| self.misfit("a number beyond 64 bits"))?;
        if let Node::Constant { type_byte, value } = &of[0] {
            // A long list is not copied for one of its elements.
            match self.element((*type_byte, value), at)? {
                Element::Value(Some((type_byte, value))) => BsonSink(out).encoded(name, type_byte, value),
                Element::Value(None) => BsonSink(out).null(name),
                Element::Byte(byte) => BsonSink(out).int32(name, byte.into()),
            }
            return Ok(());
        }
        let start = out.len();
        self.world.put_node(&of[0], Name::NONE, self.moment, out)?;
        let end = out.len();
        match self.element((out[start], &out[start + UNNAMED_HEAD..]), at)? {
            Element::Value(found) => put_placed(placed(found, out), name, out),
            Element::Byte(byte) => BsonSink(out).int32(name, byte.into()),
        }
        out.drain(start..end);
        Ok(())
    }

    fn element(self, (type_byte, value): RawValue<'_>, at: i64) -> Result<Element<'_>, Misfit> {
        let bytes = match ElementType::from_byte(type_byte) {
            Some(ElementType::Array) => return Ok(Element::Value(item(value, at))),
            Some(ElementType::Null | ElementType::Undefined) => return Ok(Element::Value(None)),
            // Length and subtype come before.
            Some(ElementType::Binary) => value.get(LENGTH_BYTES + 1..).unwrap_or_default(),
            Some(ElementType::ObjectId) => value,
            _ => return Err(self.misfit(Operand::new(type_byte, value).name())),
        };
        let byte = place(at, bytes.len()).and_then(|place| bytes.get(place));
        Ok(byte.map_or(Element::Value(None), |&byte| Element::Byte(byte)))
    }

    /// Appends the texts of a list's elements as one, with a text between them. Null where an element is, or an operand.
    pub(super) fn put_joined(self, of: &[Node], name: Name<'_>, out: &mut Vec<u8>) -> Result<(), Misfit> {
        let start = out.len();
        let is_text = self.append_text(&of[1], out)?;
        let list = out.len();
        self.world.put_node(&of[0], Name::NONE, self.moment, out)?;
        let end = out.len();
        let is_list = match ElementType::from_byte(out[list]) {
            Some(ElementType::Array) => true,
            Some(ElementType::Null | ElementType::Undefined) => false,
            _ => return Err(self.misfit(Operand::new(out[list], &out[list + UNNAMED_HEAD..]).name())),
        };
        let mut is_null = !is_text || !is_list;
        let mut next = list + UNNAMED_HEAD + LENGTH_BYTES;
        BsonSink(out).name(ElementType::String, name);
        let text = out.len();
        out.extend_from_slice(&[0; LENGTH_BYTES]);
        while !is_null
            && let Ok(Some(found)) = Reader::resumed(out.get(next..end).unwrap_or_default()).next_raw()
        {
            let value = found.bytes();
            let from = value.as_ptr() as usize - out.as_ptr() as usize;
            let (type_byte, to) = (found.type_byte(), from + value.len());
            if next > list + UNNAMED_HEAD + LENGTH_BYTES {
                out.extend_from_within(start..list);
            }
            next = to;
            match Operand::new(type_byte, &out[from..to]) {
                Operand::Null => is_null = true,
                Operand::Text(part) => {
                    let part = placed(Some((type_byte, part)), out).1;
                    out.extend_from_within(part);
                }
                Operand::Other(_) => return Err(self.misfit(Operand::new(type_byte, &out[from..to]).name())),
                Operand::Number(number) => append_scalar(Operand::Number(number), out),
                Operand::Date(unix_ms) => append_scalar(Operand::Date(unix_ms), out),
                Operand::Boolean(value) => append_scalar(Operand::Boolean(value), out),
                Operand::ObjectId(id) => append_scalar(Operand::ObjectId(id), out),
            }
            if out.len() - text > JOIN_BYTES_MAX {
                return Err(self.misfit("more than 1 MiB of text"));
            }
        }
        if is_null {
            out.truncate(start);
            BsonSink(out).null(name);
            return Ok(());
        }
        out.push(0);
        let length = (out.len() - text - LENGTH_BYTES) as u32;
        out[text..text + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
        out.drain(start..end);
        Ok(())
    }

    /// Appends all parts of each word of a text that have from so many characters on, up to so many, the shortest first.
    pub(super) fn put_ngrams(self, of: &[Node], name: Name<'_>, out: &mut Vec<u8>) -> Result<(), Misfit> {
        let mut bound = |node: &Node| {
            let Some(number) = self.number(node, out)? else { return Ok(None) };
            let number = number.integer().and_then(|number| usize::try_from(number).ok());
            number.filter(|&number| number > 0).map(Some).ok_or_else(|| self.misfit("a length that is none"))
        };
        let (least, most) = (bound(&of[1])?, bound(&of[2])?);
        let start = out.len();
        let is_text = self.append_text(&of[0], out)?;
        let (Some(least), Some(most), true) = (least, most, is_text) else {
            out.truncate(start);
            BsonSink(out).null(name);
            return Ok(());
        };
        let end = out.len();
        put_array(name, out, |out| {
            let list = out.len();
            let (mut names, mut number) = (ItemName::default(), 0);
            let mut word = start;
            while word < end {
                let word_end = (word..end).find(|&at| out[at] == b' ').unwrap_or(end);
                for length in least..=most {
                    // Characters begin where no continuation stands; what a reply brought need not be UTF-8.
                    let mut from = word;
                    let mut to = (0..length).try_fold(from, |at, _| after(out, at, word_end));
                    if to.is_none() {
                        break;
                    }
                    while let Some(part_end) = to {
                        BsonSink(out).name(ElementType::String, names.of(number));
                        out.extend_from_slice(&((part_end - from + 1) as u32).to_le_bytes());
                        out.extend_from_within(from..part_end);
                        out.push(0);
                        number += 1;
                        from = after(out, from, word_end).unwrap_or(word_end);
                        to = after(out, part_end, word_end);
                        if out.len() - list > NGRAMS_BYTES_MAX {
                            return Err(self.misfit("parts of more than 1 MiB"));
                        }
                    }
                }
                word = word_end + 1;
            }
            Ok(())
        })?;
        out.drain(start..end);
        Ok(())
    }
}

/// What stands at a place.
enum Element<'v> {
    Value(Option<RawValue<'v>>),
    Byte(u8),
}

/// The item of an array at a place; from the end where that is below 0.
fn item(array: &[u8], at: i64) -> Option<RawValue<'_>> {
    let items = || {
        let mut reader = Reader::new(array).ok()?;
        Some(std::iter::from_fn(move || reader.next_raw().ok().flatten()))
    };
    let place = if at < 0 { place(at, items()?.count())? } else { usize::try_from(at).ok()? };
    items()?.nth(place).map(|element| (element.type_byte(), element.bytes()))
}

fn place(at: i64, count: usize) -> Option<usize> {
    let place = if at < 0 { at.checked_add(i64::try_from(count).ok()?)? } else { at };
    usize::try_from(place).ok().filter(|&place| place < count)
}

/// Where the character ends that begins at `at`; `None` at the end.
fn after(text: &[u8], at: usize, end: usize) -> Option<usize> {
    (at < end).then(|| (at + 1..end).find(|&next| text[next] & 0xC0 != 0x80).unwrap_or(end))
}
