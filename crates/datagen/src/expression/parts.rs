//! Owns what is appended of parts: of what is in the buffer already, of raw values, and arrays around them.

use std::ops::Range;

use brimline_bson::{ElementType, Writer};

use super::Misfit;
use super::node::Moment;
use super::path::{self, Path, RawValue};
use crate::sink::BsonSink;
use crate::{Name, Sink};

/// Where a part of `out` stands in it, and its type; null where there is none.
pub fn placed(part: Option<RawValue<'_>>, out: &[u8]) -> (u8, Range<usize>) {
    match part {
        Some((type_byte, part)) => {
            let offset = part.as_ptr() as usize - out.as_ptr() as usize;
            (type_byte, offset..offset + part.len())
        }
        None => (ElementType::Null as u8, 0..0),
    }
}

/// Appends a copy of such a part.
pub fn put_placed((type_byte, part): (u8, Range<usize>), name: Name<'_>, out: &mut Vec<u8>) {
    BsonSink(out).encoded(name, type_byte, &[]);
    out.extend_from_within(part);
}

pub fn put_raw(value: Option<RawValue<'_>>, path: &Path, name: Name<'_>, sink: &mut BsonSink<'_>) {
    match value.and_then(|value| path::find(value, path)) {
        Some((type_byte, bytes)) => sink.encoded(name, type_byte, bytes),
        None => sink.null(name),
    }
}

pub fn put_array(
    name: Name<'_>,
    out: &mut Vec<u8>,
    put: impl FnOnce(&mut Vec<u8>) -> Result<(), Misfit>,
) -> Result<(), Misfit> {
    BsonSink(out).name(ElementType::Array, name);
    let open = Writer::new(out).begin_document();
    put(out)?;
    Writer::new(out).end_document(open);
    Ok(())
}

/// Appends what stands at `path` in the element that a `map` is at, counted from the innermost one.
pub fn put_item(level: u32, path: &Path, name: Name<'_>, moment: &Moment<'_, '_>, out: &mut Vec<u8>) {
    let mut element = moment.element;
    for _ in 0..level {
        element = element.and_then(|element| element.outer);
    }
    let Some(element) = element else { return BsonSink(out).null(name) };
    let part = path::find((element.type_byte, &out[element.start..element.end]), path);
    put_placed(placed(part, out), name, out);
}
