//! Owns the way from a document to a value within it.

use crate::element::RawElement;
use crate::reader::Reader;

/// The element at `path`; numbers in it are places in arrays.
pub fn find<'a, S: AsRef<str>>(document: &'a [u8], path: &[S]) -> Option<RawElement<'a>> {
    let (name, rest) = path.split_first()?;
    let mut elements = Reader::new(document).ok()?;
    while let Some(element) = elements.next_raw().ok()? {
        if element.name == name.as_ref().as_bytes() {
            if rest.is_empty() {
                return Some(element);
            }
            return find(element.document().or_else(|| element.array())?, rest);
        }
    }
    None
}
