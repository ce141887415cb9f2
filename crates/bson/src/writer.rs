//! Appending BSON to a byte buffer.

use crate::ElementType;

/// Appends BSON elements to a borrowed buffer. Lengths of open documents are patched when they are closed, so that
/// nothing is written twice.
///
/// ```
/// use brimline_bson::Writer;
/// let mut bytes = Vec::new();
/// let mut writer = Writer::new(&mut bytes);
/// let document = writer.begin_document();
/// writer.int32("ping", 1);
/// writer.end_document(document);
/// assert_eq!(bytes, b"\x0f\0\0\0\x10ping\0\x01\0\0\0\0");
/// ```
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

/// A document whose length is still to be patched: the offset of its length field.
#[derive(Debug)]
#[must_use = "a document that is not ended has a wrong length"]
pub struct OpenDocument(usize);

impl OpenDocument {
    /// Where the document's length field is in the buffer.
    pub fn offset(&self) -> usize {
        self.0
    }
}

impl<'a> Writer<'a> {
    /// Appends to `out`, whatever it already holds.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Opens a document that is no element of another: a whole document.
    pub fn begin_document(&mut self) -> OpenDocument {
        let offset = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        OpenDocument(offset)
    }

    /// Opens a document as the element `name`.
    pub fn begin_subdocument(&mut self, name: &str) -> OpenDocument {
        self.name(ElementType::Document, name);
        self.begin_document()
    }

    /// Opens an array as the element `name`; its elements are named "0", "1" …
    pub fn begin_array(&mut self, name: &str) -> OpenDocument {
        self.name(ElementType::Array, name);
        self.begin_document()
    }

    /// Closes a document or array and patches its length.
    pub fn end_document(&mut self, OpenDocument(offset): OpenDocument) {
        self.out.push(0);
        let length = (self.out.len() - offset) as u32;
        self.out[offset..offset + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// Appends a UTF-8 string.
    pub fn string(&mut self, name: &str, value: &str) {
        self.name(ElementType::String, name);
        self.out.extend_from_slice(&(value.len() as u32 + 1).to_le_bytes());
        self.out.extend_from_slice(value.as_bytes());
        self.out.push(0);
    }

    /// Appends a binary value of the generic subtype 0.
    pub fn binary(&mut self, name: &str, value: &[u8]) {
        self.binary_with(name, value.len(), |out| out.extend_from_slice(value));
    }

    /// Appends a binary value of `length` bytes that `fill` appends itself, so that a large value is written once.
    ///
    /// # Panics
    /// When `fill` appends another number of bytes.
    pub fn binary_with(&mut self, name: &str, length: usize, fill: impl FnOnce(&mut Vec<u8>)) {
        self.name(ElementType::Binary, name);
        self.out.extend_from_slice(&(length as u32).to_le_bytes());
        self.out.push(0);
        let end = self.out.len() + length;
        fill(self.out);
        assert_eq!(self.out.len(), end, "a binary value must fill the length it declares");
    }

    /// Appends a 32-bit integer.
    pub fn int32(&mut self, name: &str, value: i32) {
        self.name(ElementType::Int32, name);
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a 64-bit integer.
    pub fn int64(&mut self, name: &str, value: i64) {
        self.name(ElementType::Int64, name);
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a double.
    pub fn double(&mut self, name: &str, value: f64) {
        self.name(ElementType::Double, name);
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a boolean.
    pub fn boolean(&mut self, name: &str, value: bool) {
        self.name(ElementType::Boolean, name);
        self.out.push(u8::from(value));
    }

    /// Appends a date: milliseconds since 1970-01-01T00:00Z.
    pub fn date_time(&mut self, name: &str, unix_ms: i64) {
        self.name(ElementType::DateTime, name);
        self.out.extend_from_slice(&unix_ms.to_le_bytes());
    }

    /// Appends a null.
    pub fn null(&mut self, name: &str) {
        self.name(ElementType::Null, name);
    }

    /// Appends an object id.
    pub fn object_id(&mut self, name: &str, value: [u8; 12]) {
        self.name(ElementType::ObjectId, name);
        self.out.extend_from_slice(&value);
    }

    /// Appends `document`, a whole encoded document, as the element `name`.
    pub fn encoded_document(&mut self, name: &str, document: &[u8]) {
        self.name(ElementType::Document, name);
        self.out.extend_from_slice(document);
    }

    /// Appends the element `name`, for which `document` appends a whole document.
    pub fn document_with(&mut self, name: &str, document: impl FnOnce(&mut Vec<u8>)) {
        self.name(ElementType::Document, name);
        document(self.out);
    }

    /// Appends elements that are already encoded, names included.
    pub fn encoded_elements(&mut self, elements: &[u8]) {
        self.out.extend_from_slice(elements);
    }

    /// The buffer, for elements that are encoded by others.
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// How many bytes the buffer holds; the offset of what is appended next.
    pub fn position(&self) -> usize {
        self.out.len()
    }

    fn name(&mut self, element_type: ElementType, name: &str) {
        debug_assert!(!name.as_bytes().contains(&0), "an element name ends at its first NUL");
        self.out.push(element_type as u8);
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "must fill the length it declares")]
    fn a_binary_value_that_is_filled_short_panics() {
        Writer::new(&mut Vec::new()).binary_with("a", 3, |out| out.push(0));
    }

    #[test]
    fn writing_appends_to_what_is_there() {
        let mut bytes = b"before".to_vec();
        let mut writer = Writer::new(&mut bytes);
        let document = writer.begin_document();
        assert_eq!(document.offset(), 6);
        writer.end_document(document);
        assert_eq!(writer.position(), 11);
        assert_eq!(bytes, b"before\x05\0\0\0\0");
    }
}
