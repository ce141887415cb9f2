//! Owns the way to a value within a document: names of fields, numbers of items.

use brimline_bson::{ElementType, Reader};

/// Names, one within the other.
pub type Path = Box<[Box<str>]>;

/// A value as bytes: its type's byte and its value.
pub type RawValue<'b> = (u8, &'b [u8]);

/// A path of these names.
pub fn boxed(path: &[String]) -> Path {
    path.iter().map(|name| name.as_str().into()).collect()
}

/// The value at `path` within `value`; `None` where there is none, or the bytes are no BSON.
pub fn find<'b>(value: RawValue<'b>, path: &[Box<str>]) -> Option<RawValue<'b>> {
    path.iter().try_fold(value, |(type_byte, bytes), name| field(type_byte, bytes, name))
}

fn field<'b>(type_byte: u8, bytes: &'b [u8], name: &str) -> Option<RawValue<'b>> {
    let is_container = type_byte == ElementType::Document as u8 || type_byte == ElementType::Array as u8;
    if !is_container {
        return None;
    }
    let mut elements = Reader::new(bytes).ok()?;
    while let Ok(Some(element)) = elements.next_raw() {
        if element.name == name.as_bytes() {
            return Some((element.type_byte(), element.bytes()));
        }
    }
    None
}
