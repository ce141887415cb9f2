//! Owns values as operators tell them apart.

use brimline_bson::ElementType;

use super::numbers::Number;
use crate::expression::types::Types;

/// A value that something is calculated of.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'o> {
    Null,
    Number(Number),
    /// Milliseconds since 1970.
    Date(i64),
    Boolean(bool),
    Text(&'o [u8]),
    ObjectId([u8; 12]),
    /// Nothing is calculated of it.
    Other(Types),
}

impl<'o> Operand<'o> {
    /// The value of a BSON element: its type's byte and its bytes. Bytes that are none of its type make it `Other`.
    pub fn new(type_byte: u8, bytes: &'o [u8]) -> Self {
        use ElementType as T;
        let other = Self::Other(Types::of_byte(type_byte));
        let known = match ElementType::from_byte(type_byte) {
            Some(T::Null | T::Undefined) => Some(Self::Null),
            Some(T::Int32) => {
                array(bytes).map(|bytes| Self::Number(Number::Int32(i32::from_le_bytes(bytes))))
            }
            Some(T::Int64) => {
                array(bytes).map(|bytes| Self::Number(Number::Int64(i64::from_le_bytes(bytes))))
            }
            Some(T::Double) => {
                array(bytes).map(|bytes| Self::Number(Number::Double(f64::from_le_bytes(bytes))))
            }
            Some(T::DateTime) => array(bytes).map(|bytes| Self::Date(i64::from_le_bytes(bytes))),
            Some(T::Boolean) => bytes.first().map(|&byte| Self::Boolean(byte != 0)),
            Some(T::ObjectId) => array(bytes).map(Self::ObjectId),
            Some(T::String) => bytes.get(4..bytes.len().saturating_sub(1)).map(Self::Text),
            _ => None,
        };
        known.unwrap_or(other)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        let types = match self {
            Self::Null => Types::NULL,
            Self::Number(number) => number.types(),
            Self::Date(_) => Types::DATE,
            Self::Boolean(_) => Types::BOOLEAN,
            Self::Text(_) => Types::TEXT,
            Self::ObjectId(_) => Types::OBJECT_ID,
            Self::Other(types) => types,
        };
        types.name()
    }
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}
