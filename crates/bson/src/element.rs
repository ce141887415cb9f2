//! An element as a reader hands it out, and its value told apart.

use crate::ElementType;

/// Every length field is a 32-bit integer.
pub(crate) const LENGTH_BYTES: usize = 4;

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

/// One element whose value is known to lie inside the document, but not told apart yet. Its methods look for one kind of
/// value each and are `None` for any other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawElement<'a> {
    /// Name without its NUL.
    pub name: &'a [u8],
    /// Of an element type that is known.
    pub(crate) type_byte: u8,
    /// The value, of the length that its type and length field say.
    pub(crate) bytes: &'a [u8],
}

impl<'a> RawElement<'a> {
    /// The type byte, of a type that is known.
    #[inline]
    pub fn type_byte(self) -> u8 {
        self.type_byte
    }

    /// The value's bytes, its length field included where it has one.
    #[inline]
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// A whole document, length field included, itself unchecked.
    #[inline]
    pub fn document(self) -> Option<&'a [u8]> {
        (self.type_byte == ElementType::Document as u8).then_some(self.bytes)
    }

    /// A whole array, length field included, itself unchecked.
    #[inline]
    pub fn array(self) -> Option<&'a [u8]> {
        (self.type_byte == ElementType::Array as u8).then_some(self.bytes)
    }

    /// String bytes without the closing NUL; not checked to be UTF-8.
    #[inline]
    pub fn string(self) -> Option<&'a [u8]> {
        match self.value() {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// A number of any type as [`Value::as_i64`] gives it.
    #[inline]
    pub fn integer(self) -> Option<i64> {
        const INT32: u8 = ElementType::Int32 as u8;
        const INT64: u8 = ElementType::Int64 as u8;
        match self.type_byte {
            INT32 => Some(i64::from(i32::from_le_bytes(array(self.bytes)))),
            INT64 => Some(i64::from_le_bytes(array(self.bytes))),
            _ => self.value().as_i64(),
        }
    }

    /// A number of any type or a boolean, as [`Value::as_f64`] gives it.
    #[inline]
    pub fn number(self) -> Option<f64> {
        const DOUBLE: u8 = ElementType::Double as u8;
        match self.type_byte {
            DOUBLE => Some(f64::from_le_bytes(array(self.bytes))),
            _ => self.value().as_f64(),
        }
    }

    /// Tells the value apart.
    #[inline]
    pub fn value(self) -> Value<'a> {
        told_apart(self.type_byte, self.bytes)
    }
}

/// The value of an element of a known type. Out of line and with plain arguments, so that elements stay in registers where
/// their value is of the usual type or not looked at.
#[inline(never)]
fn told_apart(type_byte: u8, bytes: &[u8]) -> Value<'_> {
    use ElementType as T;
    match ElementType::from_byte(type_byte).unwrap_or(T::Undefined) {
        T::Double => Value::Double(f64::from_le_bytes(array(bytes))),
        T::Int32 => Value::Int32(i32::from_le_bytes(array(bytes))),
        T::Int64 => Value::Int64(i64::from_le_bytes(array(bytes))),
        T::DateTime => Value::DateTime(i64::from_le_bytes(array(bytes))),
        T::Boolean => Value::Boolean(bytes[0] != 0),
        T::Null => Value::Null,
        T::String => Value::String(&bytes[LENGTH_BYTES..bytes.len() - 1]),
        T::Document => Value::Document(bytes),
        T::Array => Value::Array(bytes),
        T::Binary => Value::Binary(&bytes[LENGTH_BYTES + 1..], bytes[LENGTH_BYTES]),
        other => Value::Other(other, bytes),
    }
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

#[inline]
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}
