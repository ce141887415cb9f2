//! The type byte in front of every element.

/// Type byte of a BSON element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum ElementType {
    Double = 0x01,
    String = 0x02,
    Document = 0x03,
    Array = 0x04,
    Binary = 0x05,
    Undefined = 0x06,
    ObjectId = 0x07,
    Boolean = 0x08,
    DateTime = 0x09,
    Null = 0x0A,
    Regex = 0x0B,
    DbPointer = 0x0C,
    Code = 0x0D,
    Symbol = 0x0E,
    CodeWithScope = 0x0F,
    Int32 = 0x10,
    Timestamp = 0x11,
    Int64 = 0x12,
    Decimal128 = 0x13,
    MaxKey = 0x7F,
    MinKey = 0xFF,
}

impl ElementType {
    /// The type that `byte` stands for, `None` when the specification has none.
    #[expect(clippy::inline_always, reason = "out of line it costs a reply scan a tenth more instructions")]
    #[inline(always)]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x01 => Self::Double,
            0x02 => Self::String,
            0x03 => Self::Document,
            0x04 => Self::Array,
            0x05 => Self::Binary,
            0x06 => Self::Undefined,
            0x07 => Self::ObjectId,
            0x08 => Self::Boolean,
            0x09 => Self::DateTime,
            0x0A => Self::Null,
            0x0B => Self::Regex,
            0x0C => Self::DbPointer,
            0x0D => Self::Code,
            0x0E => Self::Symbol,
            0x0F => Self::CodeWithScope,
            0x10 => Self::Int32,
            0x11 => Self::Timestamp,
            0x12 => Self::Int64,
            0x13 => Self::Decimal128,
            0x7F => Self::MaxKey,
            0xFF => Self::MinKey,
            _ => return None,
        })
    }
}
