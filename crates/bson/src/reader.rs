//! Walking BSON bytes that come from a peer, without allocating and without trusting a single length.

use thiserror::Error;

use crate::element::{LENGTH_BYTES, RawElement};
use crate::{Element, ElementType, Value};

/// Length of the empty document: its length field and its closing NUL.
const DOCUMENT_BYTES_MIN: usize = LENGTH_BYTES + 1;

/// Why bytes are no BSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    /// A length or value reaches past the bytes there are.
    #[error("BSON value reaches past its document")]
    Truncated,
    /// A length field that no document or value can have.
    #[error("BSON length is impossible")]
    BadLength,
    /// A type byte the specification does not know.
    #[error("unknown BSON type 0x{0:02x}")]
    UnknownType(u8),
    /// A document or string does not end with a NUL.
    #[error("BSON document or string lacks its closing NUL")]
    Unterminated,
}

/// Iterates the elements of one document. Sub-documents are handed out as bytes, not descended into, so that depth costs
/// no stack.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// What is left of the document: elements and the closing NUL.
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Goes on within a document: `rest` is what is left of it from one of its elements on.
    pub fn resumed(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// Reads the document that `bytes` begin with; what follows it is ignored. See [`split_document`].
    ///
    /// # Errors
    /// When the length field does not fit the bytes or the closing NUL is missing.
    pub fn new(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let (document, _) = split_document(bytes)?;
        Ok(Self { rest: &document[LENGTH_BYTES..] })
    }

    /// The next element, `None` at the end of the document.
    ///
    /// # Errors
    /// When the bytes are no element. The reader must not be used after an error.
    pub fn next_element(&mut self) -> Result<Option<Element<'a>>, ReadError> {
        let raw = self.next_raw()?;
        Ok(raw.map(|raw| Element { name: raw.name, value: raw.value() }))
    }

    /// Like [`Reader::next_element`], but the value is only told apart when it is asked for.
    ///
    /// # Errors
    /// When the bytes are no element. The reader must not be used after an error.
    #[expect(clippy::inline_always, reason = "out of line it costs a reply scan a third more instructions")]
    #[inline(always)]
    pub fn next_raw(&mut self) -> Result<Option<RawElement<'a>>, ReadError> {
        let (&type_byte, after_type) = self.rest.split_first().ok_or(ReadError::Unterminated)?;
        if type_byte == 0 {
            return if after_type.is_empty() { Ok(None) } else { Err(ReadError::BadLength) };
        }
        let (name, after_name) = split_cstring(after_type)?;
        let (bytes, rest) = split(after_name, value_length(type_byte, after_name)?)?;
        if type_byte == ElementType::String as u8 && bytes.last() != Some(&0) {
            return Err(ReadError::Unterminated);
        }
        self.rest = rest;
        Ok(Some(RawElement { name, type_byte, bytes }))
    }

    /// The value of the first element called `name`.
    ///
    /// # Errors
    /// When the bytes before it are no BSON.
    pub fn find(mut self, name: &str) -> Result<Option<Value<'a>>, ReadError> {
        while let Some(element) = self.next_raw()? {
            if element.name == name.as_bytes() {
                return Ok(Some(element.value()));
            }
        }
        Ok(None)
    }
}

/// Splits `bytes` into the document they begin with, length field included, and what follows it.
///
/// # Errors
/// When the length field does not fit the bytes or the closing NUL is missing.
#[inline]
pub fn split_document(bytes: &[u8]) -> Result<(&[u8], &[u8]), ReadError> {
    let (document, rest) = split(bytes, document_length(bytes)?)?;
    match document.last() {
        Some(0) => Ok((document, rest)),
        _ => Err(ReadError::Unterminated),
    }
}

#[inline]
fn split(bytes: &[u8], length: usize) -> Result<(&[u8], &[u8]), ReadError> {
    bytes.split_at_checked(length).ok_or(ReadError::Truncated)
}

/// Splits off the text before the first NUL. Looks at eight bytes at once, since most names are that short.
#[expect(clippy::inline_always, reason = "out of line it costs a reply scan a third more instructions")]
#[inline(always)]
fn split_cstring(bytes: &[u8]) -> Result<(&[u8], &[u8]), ReadError> {
    if let Some(word) = bytes.first_chunk()
        && let Some(end) = first_nul(*word)
    {
        return Ok((&bytes[..end], &bytes[end + 1..]));
    }
    split_long_cstring(bytes)
}

#[inline(never)] // so that the loops stay out of every caller
fn split_long_cstring(bytes: &[u8]) -> Result<(&[u8], &[u8]), ReadError> {
    // Nearly all names that are longer end in the second word.
    if let Some(word) = bytes.get(8..).and_then(<[u8]>::first_chunk)
        && let Some(end) = first_nul(*word)
    {
        return Ok((&bytes[..8 + end], &bytes[9 + end..]));
    }
    let (words, rest) = bytes.as_chunks();
    let in_words = words.iter().enumerate().find_map(|(number, word)| Some(8 * number + first_nul(*word)?));
    let in_rest = || Some(8 * words.len() + rest.iter().position(|&byte| byte == 0)?);
    let end = in_words.or_else(in_rest).ok_or(ReadError::Unterminated)?;
    Ok((&bytes[..end], &bytes[end + 1..]))
}

/// In `zeros`, the lowest bit set marks the first NUL.
#[inline]
fn first_nul(word: [u8; 8]) -> Option<usize> {
    const LOW_BITS: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(word);
    let zeros = word.wrapping_sub(LOW_BITS) & !word & HIGH_BITS;
    (zeros != 0).then(|| zeros.trailing_zeros() as usize / 8)
}

#[inline]
fn document_length(bytes: &[u8]) -> Result<usize, ReadError> {
    declared_length(bytes, DOCUMENT_BYTES_MIN)
}

/// The length field that `bytes` begin with, which must be at least `min`.
#[inline]
fn declared_length(bytes: &[u8], min: usize) -> Result<usize, ReadError> {
    let head = bytes.first_chunk::<4>().ok_or(ReadError::Truncated)?;
    match usize::try_from(i32::from_le_bytes(*head)) {
        Ok(length) if length >= min => Ok(length),
        _ => Err(ReadError::BadLength),
    }
}

/// How the length of a value follows from its type.
#[derive(Clone, Copy)]
enum Extent {
    /// Always this many bytes.
    Fixed(u8),
    /// A length field of at least `min`, and `more` bytes that it doesn't count.
    Declared { min: u8, more: u8 },
    /// Has no length field, or is no type.
    Rare,
}

/// By type byte. A table, because a `match` per element is a third of the cost of scanning a reply.
static EXTENTS: [Extent; 256] = extents();

const fn extents() -> [Extent; 256] {
    use ElementType as T;
    let mut extents = [Extent::Rare; 256];
    let mut byte = 0;
    while byte < extents.len() {
        if let Some(element_type) = ElementType::from_byte(byte as u8) {
            extents[byte] = match element_type {
                T::Undefined | T::Null | T::MinKey | T::MaxKey => Extent::Fixed(0),
                T::Boolean => Extent::Fixed(1),
                T::Int32 => Extent::Fixed(4),
                T::Double | T::Int64 | T::DateTime | T::Timestamp => Extent::Fixed(8),
                T::ObjectId => Extent::Fixed(12),
                T::Decimal128 => Extent::Fixed(16),
                T::Document | T::Array => Extent::Declared { min: DOCUMENT_BYTES_MIN as u8, more: 0 },
                T::String | T::Code | T::Symbol => Extent::Declared { min: 1, more: LENGTH_BYTES as u8 },
                T::Binary => Extent::Declared { min: 0, more: LENGTH_BYTES as u8 + 1 },
                T::DbPointer => Extent::Declared { min: 1, more: LENGTH_BYTES as u8 + 12 },
                T::CodeWithScope => {
                    Extent::Declared { min: (2 * LENGTH_BYTES + 1 + DOCUMENT_BYTES_MIN) as u8, more: 0 }
                }
                T::Regex => Extent::Rare,
            };
        }
        byte += 1;
    }
    extents
}

/// How many of `bytes` a value of this type takes, its length field included. It may be more than there are.
#[expect(clippy::inline_always, reason = "out of line it costs a reply scan a third more instructions")]
#[inline(always)]
fn value_length(type_byte: u8, bytes: &[u8]) -> Result<usize, ReadError> {
    match EXTENTS[usize::from(type_byte)] {
        Extent::Fixed(length) => Ok(usize::from(length)),
        Extent::Declared { min, more } => Ok(declared_length(bytes, usize::from(min))? + usize::from(more)),
        Extent::Rare if type_byte == ElementType::Regex as u8 => regex_length(bytes),
        Extent::Rare => Err(ReadError::UnknownType(type_byte)),
    }
}

/// Pattern and options, each up to its NUL.
#[cold]
fn regex_length(bytes: &[u8]) -> Result<usize, ReadError> {
    let (_, options) = split_cstring(bytes)?;
    let (_, rest) = split_cstring(options)?;
    Ok(bytes.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document of one element `a` with the type byte and the value bytes given.
    fn document(type_byte: u8, value: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; LENGTH_BYTES];
        bytes.extend_from_slice(&[type_byte, b'a', 0]);
        bytes.extend_from_slice(value);
        bytes.push(0);
        let length = bytes.len() as u32;
        bytes[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Option<Value<'_>>, ReadError> {
        Reader::new(bytes)?.find("a")
    }

    #[test]
    fn every_type_has_the_length_the_specification_gives_it() {
        use ElementType as T;
        let cases: [(T, &[u8]); 11] = [
            (T::Undefined, b""),
            (T::ObjectId, b"123456789012"),
            (T::Regex, b"^a.*z$\0im\0"),
            (T::DbPointer, b"\x03\0\0\0ab\0abcdefghijkl"),
            (T::Code, b"\x03\0\0\0ab\0"),
            (T::Symbol, b"\x03\0\0\0ab\0"),
            (T::CodeWithScope, b"\x10\0\0\0\x03\0\0\0ab\0\x05\0\0\0\0"),
            (T::Timestamp, b"12345678"),
            (T::Decimal128, b"1234567890123456"),
            (T::MaxKey, b""),
            (T::MinKey, b""),
        ];
        for (element_type, value) in cases {
            let bytes = document(element_type as u8, value);
            assert_eq!(read(&bytes), Ok(Some(Value::Other(element_type, value))), "{element_type:?}");
            let mut elements = Reader::new(&bytes).unwrap();
            assert!(elements.next_element().unwrap().is_some());
            assert_eq!(
                elements.next_element(),
                Ok(None),
                "{element_type:?} must end where the document ends"
            );
        }
    }

    #[test]
    fn names_of_every_length_are_found() {
        for length in 0..40 {
            let name = "n".repeat(length);
            let mut bytes = Vec::new();
            let mut writer = crate::Writer::new(&mut bytes);
            let document = writer.begin_document();
            writer.null(&name);
            writer.end_document(document);
            let element = Reader::new(&bytes).unwrap().next_element().unwrap().unwrap();
            assert_eq!(element.name, name.as_bytes());
        }
    }

    #[test]
    fn impossible_lengths_are_errors() {
        let bad = ReadError::BadLength;
        for (declared, error) in [(0, bad), (4, bad), (-1, bad), (i32::MIN, bad), (6, ReadError::Truncated)] {
            let mut bytes = [0; 5];
            bytes[..4].copy_from_slice(&i32::to_le_bytes(declared));
            assert_eq!(Reader::new(&bytes).err(), Some(error), "document of {declared}");
        }
        assert_eq!(Reader::new(b"\x05\0\0").err(), Some(ReadError::Truncated));
        assert_eq!(Reader::new(b"\x05\0\0\0\x01").err(), Some(ReadError::Unterminated));

        let cases: [(u8, &[u8], ReadError); 9] = [
            (0x02, b"\0\0\0\0", bad),                            // string without room for its NUL
            (0x02, b"\x02\0\0\0ab", ReadError::Unterminated),    // string that does not end with a NUL
            (0x02, b"\xff\xff\xff\xff\0", bad),                  // negative length
            (0x03, b"\x04\0\0\0", bad),                          // document shorter than the empty one
            (0x05, b"\xff\xff\xff\x7f\0", ReadError::Truncated), // binary of 2 GiB
            (0x0B, b"a", ReadError::Unterminated),               // regex with one NUL, the document's
            (0x0F, b"\x0d\0\0\0", bad),                          // code with scope, too short for both
            (0x12, b"1234567", ReadError::Unterminated),         // takes the document's NUL for its own byte
            (0x14, b"", ReadError::UnknownType(0x14)),
        ];
        for (type_byte, value, error) in cases {
            let bytes = document(type_byte, value);
            let mut elements = Reader::new(&bytes).unwrap();
            let end = loop {
                match elements.next_element() {
                    Ok(Some(_)) => {}
                    end => break end,
                }
            };
            assert_eq!(end, Err(error), "type 0x{type_byte:02x}, value {value:?}");
        }
    }

    #[test]
    fn a_nul_before_the_end_is_an_error() {
        assert_eq!(Reader::new(b"\x06\0\0\0\0\0").unwrap().next_element(), Err(ReadError::BadLength));
    }

    #[test]
    fn numbers_are_read_whatever_type_holds_them() {
        let as_integer =
            |type_byte: u8, value: &[u8]| read(&document(type_byte, value)).unwrap().unwrap().as_i64();
        let as_double =
            |type_byte: u8, value: &[u8]| read(&document(type_byte, value)).unwrap().unwrap().as_f64();
        for (type_byte, value) in [
            (0x01, 7.0f64.to_le_bytes().to_vec()),
            (0x10, vec![7, 0, 0, 0]),
            (0x12, vec![7, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            assert_eq!(as_integer(type_byte, &value), Some(7));
            assert_eq!(as_double(type_byte, &value), Some(7.0));
        }
        assert_eq!(as_double(0x08, &[1]), Some(1.0));
        assert_eq!(as_integer(0x0A, &[]), None);
    }

    #[test]
    fn documents_are_split_one_after_another() {
        let bytes = b"\x05\0\0\0\0rest";
        assert_eq!(split_document(bytes), Ok((&bytes[..5], &bytes[5..])));
        assert_eq!(split_document(b""), Err(ReadError::Truncated));
    }
}
