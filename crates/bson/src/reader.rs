//! Walking BSON bytes that come from a peer, without allocating and without trusting a single length.

use thiserror::Error;

use crate::ElementType;

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

/// One element: its name as bytes (a peer may send invalid UTF-8) and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element<'a> {
    /// Name without its NUL.
    pub name: &'a [u8],
    /// Value.
    pub value: Value<'a>,
}

/// A value as far as brimline tells values apart; the rest is kept as raw bytes under [`Value::Other`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Double.
    Double(f64),
    /// String bytes without the closing NUL; not checked to be UTF-8.
    String(&'a [u8]),
    /// A whole document, length field included, itself unchecked.
    Document(&'a [u8]),
    /// A whole array, length field included, itself unchecked.
    Array(&'a [u8]),
    /// Binary payload and subtype.
    Binary(&'a [u8], u8),
    /// Boolean; any byte but 0 is true.
    Boolean(bool),
    /// Milliseconds since 1970.
    DateTime(i64),
    /// Null.
    Null,
    /// 32-bit integer.
    Int32(i32),
    /// 64-bit integer.
    Int64(i64),
    /// Any other type: its type and its raw bytes.
    Other(ElementType, &'a [u8]),
}

impl Value<'_> {
    /// The value as a number, whichever numeric type holds it; booleans count as 0 and 1, as in `ok: true`.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::Double(value) => Some(value),
            Self::Int32(value) => Some(f64::from(value)),
            Self::Int64(value) => Some(value as f64),
            Self::Boolean(value) => Some(f64::from(u8::from(value))),
            _ => None,
        }
    }

    /// The value as an integer; a double is cut towards zero.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::Double(value) => Some(value as i64),
            Self::Int32(value) => Some(i64::from(value)),
            Self::Int64(value) => Some(value),
            _ => None,
        }
    }
}

impl<'a> Reader<'a> {
    /// Reads the document that `bytes` begin with; what follows it is ignored.
    ///
    /// # Errors
    /// When the length field does not fit the bytes or the closing NUL is missing.
    pub fn new(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let length = document_length(bytes)?;
        if bytes[length - 1] != 0 {
            return Err(ReadError::Unterminated);
        }
        Ok(Self { rest: &bytes[4..length] })
    }

    /// The next element, `None` at the end of the document.
    ///
    /// # Errors
    /// When the bytes are no element. The reader must not be used after an error.
    pub fn next_element(&mut self) -> Result<Option<Element<'a>>, ReadError> {
        let (&type_byte, after_type) = self.rest.split_first().ok_or(ReadError::Unterminated)?;
        if type_byte == 0 {
            return if after_type.is_empty() { Ok(None) } else { Err(ReadError::BadLength) };
        }
        let element_type = ElementType::from_byte(type_byte).ok_or(ReadError::UnknownType(type_byte))?;
        let (name, after_name) = split_cstring(after_type)?;
        let (value, rest) = split_value(element_type, after_name)?;
        self.rest = rest;
        Ok(Some(Element { name, value }))
    }

    /// The value of the first element called `name`.
    ///
    /// # Errors
    /// When the bytes before it are no BSON.
    pub fn find(mut self, name: &str) -> Result<Option<Value<'a>>, ReadError> {
        while let Some(element) = self.next_element()? {
            if element.name == name.as_bytes() {
                return Ok(Some(element.value));
            }
        }
        Ok(None)
    }
}

fn read_i32(bytes: &[u8]) -> Result<i32, ReadError> {
    let head = bytes.first_chunk::<4>().ok_or(ReadError::Truncated)?;
    Ok(i32::from_le_bytes(*head))
}

fn document_length(bytes: &[u8]) -> Result<usize, ReadError> {
    let length = usize::try_from(read_i32(bytes)?).map_err(|_| ReadError::BadLength)?;
    match length {
        0..5 => Err(ReadError::BadLength),
        _ if length > bytes.len() => Err(ReadError::Truncated),
        _ => Ok(length),
    }
}

fn split(bytes: &[u8], length: usize) -> Result<(&[u8], &[u8]), ReadError> {
    bytes.split_at_checked(length).ok_or(ReadError::Truncated)
}

fn split_cstring(bytes: &[u8]) -> Result<(&[u8], &[u8]), ReadError> {
    let end = bytes.iter().position(|&byte| byte == 0).ok_or(ReadError::Unterminated)?;
    Ok((&bytes[..end], &bytes[end + 1..]))
}

fn split_string(bytes: &[u8]) -> Result<(&[u8], &[u8]), ReadError> {
    let length = usize::try_from(read_i32(bytes)?).map_err(|_| ReadError::BadLength)?;
    if length == 0 {
        return Err(ReadError::BadLength);
    }
    let (string, rest) = split(&bytes[4..], length)?;
    match string.split_last() {
        Some((0, text)) => Ok((text, rest)),
        _ => Err(ReadError::Unterminated),
    }
}

fn split_value(element_type: ElementType, bytes: &[u8]) -> Result<(Value<'_>, &[u8]), ReadError> {
    use ElementType as T;
    let fixed = |length: usize| split(bytes, length);
    Ok(match element_type {
        T::Double => {
            let (head, rest) = fixed(8)?;
            (Value::Double(f64::from_le_bytes(array(head))), rest)
        }
        T::Int64 => {
            let (head, rest) = fixed(8)?;
            (Value::Int64(i64::from_le_bytes(array(head))), rest)
        }
        T::DateTime => {
            let (head, rest) = fixed(8)?;
            (Value::DateTime(i64::from_le_bytes(array(head))), rest)
        }
        T::Int32 => {
            let (head, rest) = fixed(4)?;
            (Value::Int32(i32::from_le_bytes(array(head))), rest)
        }
        T::Boolean => {
            let (head, rest) = fixed(1)?;
            (Value::Boolean(head[0] != 0), rest)
        }
        T::Null => (Value::Null, bytes),
        T::String => {
            let (text, rest) = split_string(bytes)?;
            (Value::String(text), rest)
        }
        T::Document => {
            let (document, rest) = split(bytes, document_length(bytes)?)?;
            (Value::Document(document), rest)
        }
        T::Array => {
            let (document, rest) = split(bytes, document_length(bytes)?)?;
            (Value::Array(document), rest)
        }
        T::Binary => {
            let length = usize::try_from(read_i32(bytes)?).map_err(|_| ReadError::BadLength)?;
            let (&subtype, after) = bytes[4..].split_first().ok_or(ReadError::Truncated)?;
            let (payload, rest) = split(after, length)?;
            (Value::Binary(payload, subtype), rest)
        }
        other => {
            let (raw, rest) = fixed(other_length(other, bytes)?)?;
            (Value::Other(other, raw), rest)
        }
    })
}

/// Length of the value of a type that is only skipped.
fn other_length(element_type: ElementType, bytes: &[u8]) -> Result<usize, ReadError> {
    use ElementType as T;
    let consumed = |rest: &[u8]| bytes.len() - rest.len();
    Ok(match element_type {
        T::ObjectId => 12,
        T::Timestamp => 8,
        T::Decimal128 => 16,
        T::Code | T::Symbol => consumed(split_string(bytes)?.1),
        T::DbPointer => consumed(split_string(bytes)?.1) + 12,
        T::Regex => {
            let (_, options) = split_cstring(bytes)?;
            consumed(split_cstring(options)?.1)
        }
        T::CodeWithScope => {
            let length = usize::try_from(read_i32(bytes)?).map_err(|_| ReadError::BadLength)?;
            if length < 14 {
                return Err(ReadError::BadLength);
            }
            length
        }
        _ => 0, // Undefined, MinKey, MaxKey and the types split_value has handled
    })
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}
