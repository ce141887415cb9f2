//! Owns the way that a document's values take out of their generators: one call per value, in the order of the document.

use brimline_bson::{ElementType, Writer};

/// Subtype of binary values that are UUIDs.
pub const UUID_SUBTYPE: u8 = 4;

/// What a value is called.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    /// A byte for the type, the name, and a NUL: what stands before the value in BSON.
    element: &'a [u8],
    kind: NameKind,
}

/// What text formats ask about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// Printable ASCII without quotation marks and backslashes.
    Plain,
    /// Anything else.
    Awkward,
    /// The number of an item of an array.
    Item,
}

impl<'a> Name<'a> {
    /// The name itself, in UTF-8.
    #[inline]
    pub fn text(self) -> &'a [u8] {
        &self.element[1..self.element.len() - 1]
    }

    /// What kind of name it is.
    #[inline]
    pub fn kind(self) -> NameKind {
        self.kind
    }
}

impl Name<'static> {
    /// No name, for a value that is only looked at.
    pub(crate) const NONE: Self = Name { element: b"\0\0", kind: NameKind::Plain };
}

/// Takes the values of a document, whatever it is written as.
pub trait Sink {
    /// Takes the items of an array.
    type Items<'s>: Sink
    where
        Self: 's;

    /// A 32-bit integer.
    fn int32(&mut self, name: Name<'_>, value: i32);
    /// A 64-bit integer.
    fn int64(&mut self, name: Name<'_>, value: i64);
    /// A double.
    fn double(&mut self, name: Name<'_>, value: f64);
    /// A decimal of 128 bits, by its bytes in BSON.
    fn decimal128(&mut self, name: Name<'_>, value: [u8; 16]);
    /// A boolean.
    fn boolean(&mut self, name: Name<'_>, value: bool);
    /// A date: milliseconds since 1970-01-01T00:00Z.
    fn date_time(&mut self, name: Name<'_>, unix_ms: i64);
    /// A null.
    fn null(&mut self, name: Name<'_>);
    /// A string: what `append` appends, which is UTF-8.
    fn string(&mut self, name: Name<'_>, append: impl FnOnce(&mut Vec<u8>));
    /// A binary value of subtype 0: `length` bytes, zeros that `fill` overwrites.
    fn binary(&mut self, name: Name<'_>, length: u32, fill: impl FnOnce(&mut [u8]));
    /// A UUID: a binary value of subtype 4.
    fn uuid(&mut self, name: Name<'_>, value: [u8; 16]);
    /// An object id.
    fn object_id(&mut self, name: Name<'_>, value: [u8; 12]);
    /// A document: the values that `put` puts.
    fn document(&mut self, name: Name<'_>, put: impl FnOnce(&mut Self));
    /// An array: the items that `put` puts.
    fn array(&mut self, name: Name<'_>, put: impl FnOnce(&mut Self::Items<'_>));
}

/// A name that is kept, ready for every format.
#[derive(Clone, Debug)]
pub struct ElementName {
    element: Box<[u8]>,
    kind: NameKind,
}

impl ElementName {
    /// The name `text`, which must have no NUL.
    pub fn new(text: &str) -> Self {
        let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
        Self {
            element: [b"\0", text.as_bytes(), b"\0"].concat().into(),
            kind: if text.bytes().all(is_plain) { NameKind::Plain } else { NameKind::Awkward },
        }
    }

    #[inline]
    /// The name as it goes to a sink.
    pub fn borrow(&self) -> Name<'_> {
        Name { element: &self.element, kind: self.kind }
    }
}

/// Names of the items of an array, "0", "1" …, without allocating.
#[derive(Default)]
pub(crate) struct ItemName {
    /// The type's byte, ten digits, a NUL; a name ends at the end.
    element: [u8; 12],
}

impl ItemName {
    pub(crate) fn of(&mut self, item: u32) -> Name<'_> {
        let mut start = self.element.len() - 1;
        let mut rest = item;
        loop {
            start -= 1;
            self.element[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        Name { element: &self.element[start - 1..], kind: NameKind::Item }
    }
}

/// Appends BSON elements.
pub(crate) struct BsonSink<'a>(pub &'a mut Vec<u8>);

impl BsonSink<'_> {
    #[inline]
    fn fixed<const N: usize>(&mut self, element_type: ElementType, name: Name<'_>, value: [u8; N]) {
        self.name(element_type, name);
        self.0.extend_from_slice(&value);
    }

    /// A value that is encoded already.
    #[inline]
    pub(crate) fn encoded(&mut self, name: Name<'_>, type_byte: u8, value: &[u8]) {
        let type_at = self.0.len();
        self.0.extend_from_slice(name.element);
        self.0[type_at] = type_byte;
        self.0.extend_from_slice(value);
    }

    #[inline]
    pub(crate) fn name(&mut self, element_type: ElementType, name: Name<'_>) {
        let type_at = self.0.len();
        self.0.extend_from_slice(name.element);
        self.0[type_at] = element_type as u8;
    }
}

impl Sink for BsonSink<'_> {
    type Items<'s>
        = BsonSink<'s>
    where
        Self: 's;

    fn int32(&mut self, name: Name<'_>, value: i32) {
        self.fixed(ElementType::Int32, name, value.to_le_bytes());
    }

    fn int64(&mut self, name: Name<'_>, value: i64) {
        self.fixed(ElementType::Int64, name, value.to_le_bytes());
    }

    fn double(&mut self, name: Name<'_>, value: f64) {
        self.fixed(ElementType::Double, name, value.to_le_bytes());
    }

    fn decimal128(&mut self, name: Name<'_>, value: [u8; 16]) {
        self.fixed(ElementType::Decimal128, name, value);
    }

    fn boolean(&mut self, name: Name<'_>, value: bool) {
        self.fixed(ElementType::Boolean, name, [u8::from(value)]);
    }

    fn date_time(&mut self, name: Name<'_>, unix_ms: i64) {
        self.fixed(ElementType::DateTime, name, unix_ms.to_le_bytes());
    }

    fn null(&mut self, name: Name<'_>) {
        self.fixed(ElementType::Null, name, []);
    }

    fn string(&mut self, name: Name<'_>, append: impl FnOnce(&mut Vec<u8>)) {
        self.name(ElementType::String, name);
        let length_at = self.0.len();
        self.0.extend_from_slice(&[0; 4]);
        append(self.0);
        self.0.push(0);
        let length = (self.0.len() - length_at - 4) as u32;
        self.0[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
    }

    fn binary(&mut self, name: Name<'_>, length: u32, fill: impl FnOnce(&mut [u8])) {
        self.name(ElementType::Binary, name);
        self.0.extend_from_slice(&length.to_le_bytes());
        self.0.push(0);
        let start = self.0.len();
        self.0.resize(start + length as usize, 0);
        fill(&mut self.0[start..]);
    }

    fn uuid(&mut self, name: Name<'_>, value: [u8; 16]) {
        self.fixed(ElementType::Binary, name, [16, 0, 0, 0, UUID_SUBTYPE]);
        self.0.extend_from_slice(&value);
    }

    fn object_id(&mut self, name: Name<'_>, value: [u8; 12]) {
        self.fixed(ElementType::ObjectId, name, value);
    }

    fn document(&mut self, name: Name<'_>, put: impl FnOnce(&mut Self)) {
        self.name(ElementType::Document, name);
        let open = Writer::new(self.0).begin_document();
        put(self);
        Writer::new(self.0).end_document(open);
    }

    fn array(&mut self, name: Name<'_>, put: impl FnOnce(&mut BsonSink<'_>)) {
        self.name(ElementType::Array, name);
        let open = Writer::new(self.0).begin_document();
        put(&mut BsonSink(self.0));
        Writer::new(self.0).end_document(open);
    }
}
