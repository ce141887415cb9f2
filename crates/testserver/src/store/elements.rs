//! Elements of a document together with their own bytes, so that they can be copied whatever their type.

use brimline_bson::{Element, ReadError, Reader};

/// An element and its bytes: type, name and value.
#[derive(Clone, Copy, Debug)]
pub struct EncodedElement<'a> {
    /// Name and value.
    pub element: Element<'a>,
    /// The whole element, encoded.
    pub bytes: &'a [u8],
}

/// Walks the elements of one document.
pub struct Elements<'a> {
    document: &'a [u8],
    reader: Reader<'a>,
    next: Option<Element<'a>>,
}

impl<'a> Elements<'a> {
    /// Begins with the first element of `document`.
    pub fn of(document: &'a [u8]) -> Result<Self, ReadError> {
        let mut reader = Reader::new(document)?;
        let next = reader.next_element()?;
        Ok(Self { document, reader, next })
    }

    /// The next element, `None` at the end.
    pub fn next_element(&mut self) -> Result<Option<EncodedElement<'a>>, ReadError> {
        let Some(element) = self.next else { return Ok(None) };
        self.next = self.reader.next_element()?;
        let end = self.next.map_or_else(|| self.end(), |next| self.start_of(&next));
        let bytes = &self.document[self.start_of(&element)..end];
        Ok(Some(EncodedElement { element, bytes }))
    }

    /// The element called `name`.
    pub fn find(document: &'a [u8], name: &str) -> Result<Option<EncodedElement<'a>>, ReadError> {
        let mut elements = Self::of(document)?;
        while let Some(raw) = elements.next_element()? {
            if raw.element.name == name.as_bytes() {
                return Ok(Some(raw));
            }
        }
        Ok(None)
    }

    /// Offset of the document's closing NUL.
    fn end(&self) -> usize {
        let length = self.document.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
        length - 1
    }

    /// Offset of an element: its type byte is in front of its name, which is borrowed from the document.
    fn start_of(&self, element: &Element<'_>) -> usize {
        element.name.as_ptr().addr() - self.document.as_ptr().addr() - 1
    }
}

/// Whether `document` can be walked from its first element to its last.
pub fn is_document(document: &[u8]) -> Result<(), ReadError> {
    let mut reader = Reader::new(document)?;
    while reader.next_element()?.is_some() {}
    Ok(())
}
