//! Owns which types a value can be of, as far as that is known before a run.

use brimline_bson::ElementType;

use crate::{NumberKind, Scalar, ValueSpec};

/// A set of types. What a reply brings, or a row holds, may be of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types(u32);

impl Types {
    pub const NONE: Self = Self(0);
    pub const INT32: Self = Self(1);
    pub const INT64: Self = Self(1 << 1);
    pub const DOUBLE: Self = Self(1 << 2);
    pub const TEXT: Self = Self(1 << 3);
    pub const BOOLEAN: Self = Self(1 << 4);
    pub const DATE: Self = Self(1 << 5);
    pub const NULL: Self = Self(1 << 6);
    pub const OBJECT_ID: Self = Self(1 << 7);
    pub const DOCUMENT: Self = Self(1 << 8);
    pub const LIST: Self = Self(1 << 9);
    pub const BINARY: Self = Self(1 << 10);
    pub const OTHER: Self = Self(1 << 11);
    pub const DECIMAL: Self = Self(1 << 12);
    pub const ANY: Self = Self((1 << 13) - 1);
    pub const NUMBER: Self = Self::INT32.or(Self::INT64).or(Self::DOUBLE);

    const NAMES: [&'static str; 13] = [
        "an int",
        "a long",
        "a double",
        "text",
        "a boolean",
        "a date",
        "null",
        "an object id",
        "a document",
        "a list",
        "binary",
        "another type",
        "a decimal",
    ];

    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether nothing else is among them.
    pub const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// What one of these is called.
    pub fn name(self) -> &'static str {
        Self::NAMES.get(self.0.trailing_zeros() as usize).copied().unwrap_or("nothing")
    }

    /// The type of a BSON element.
    pub fn of_byte(type_byte: u8) -> Self {
        use ElementType as T;
        match ElementType::from_byte(type_byte) {
            Some(T::Int32) => Self::INT32,
            Some(T::Int64) => Self::INT64,
            Some(T::Double) => Self::DOUBLE,
            Some(T::String) => Self::TEXT,
            Some(T::Boolean) => Self::BOOLEAN,
            Some(T::DateTime) => Self::DATE,
            Some(T::Null | T::Undefined) => Self::NULL,
            Some(T::ObjectId) => Self::OBJECT_ID,
            Some(T::Document) => Self::DOCUMENT,
            Some(T::Array) => Self::LIST,
            Some(T::Binary) => Self::BINARY,
            Some(T::Decimal128) => Self::DECIMAL,
            _ => Self::OTHER,
        }
    }

    /// The types that a generator makes.
    pub fn of_generator(spec: &ValueSpec) -> Self {
        match spec {
            ValueSpec::Int { .. } => Self::INT32,
            ValueSpec::Long { .. } | ValueSpec::Sequence { .. } => Self::INT64,
            ValueSpec::Double { .. } => Self::DOUBLE,
            ValueSpec::Decimal { .. } => Self::DECIMAL,
            ValueSpec::Normal { number, .. } => match number {
                NumberKind::Int => Self::INT32,
                NumberKind::Long => Self::INT64,
                NumberKind::Double => Self::DOUBLE,
            },
            ValueSpec::Boolean { .. } => Self::BOOLEAN,
            ValueSpec::Date { .. } | ValueSpec::Clock { .. } => Self::DATE,
            ValueSpec::String { .. }
            | ValueSpec::Text { .. }
            | ValueSpec::KeyOf { .. }
            | ValueSpec::Fake { .. } => Self::TEXT,
            ValueSpec::Binary { .. } | ValueSpec::Uuid => Self::BINARY,
            ValueSpec::ObjectId => Self::OBJECT_ID,
            ValueSpec::Point { .. } | ValueSpec::Document { .. } => Self::DOCUMENT,
            ValueSpec::Array { .. } => Self::LIST,
            ValueSpec::Constant { value } => Self::of_scalar(value),
            ValueSpec::Choice { values } => {
                values.iter().fold(Self(0), |types, (value, _)| types.or(Self::of_scalar(value)))
            }
        }
    }

    fn of_scalar(value: &Scalar) -> Self {
        match value {
            Scalar::Null => Self::NULL,
            Scalar::Boolean(_) => Self::BOOLEAN,
            Scalar::Integer(value) if i32::try_from(*value).is_ok() => Self::INT32,
            Scalar::Integer(_) => Self::INT64,
            Scalar::Double(_) => Self::DOUBLE,
            Scalar::Text(_) => Self::TEXT,
        }
    }
}
