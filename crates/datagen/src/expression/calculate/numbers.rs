//! Owns arithmetic with MongoDB's types.

use crate::expression::types::Types;
use crate::sink::BsonSink;
use crate::{Name, Sink};

/// A number as BSON has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int32(i32),
    Int64(i64),
    Double(f64),
}

impl Number {
    pub fn double(self) -> f64 {
        match self {
            Self::Int32(value) => f64::from(value),
            Self::Int64(value) => value as f64,
            Self::Double(value) => value,
        }
    }

    /// The number without its fraction; `None` where it fits no 64 bits.
    pub fn integer(self) -> Option<i64> {
        const BEYOND: f64 = (1_u64 << 63) as f64;
        match self {
            Self::Int32(value) => Some(i64::from(value)),
            Self::Int64(value) => Some(value),
            Self::Double(value) => (-BEYOND..BEYOND).contains(&value).then_some(value as i64),
        }
    }

    pub fn types(self) -> Types {
        match self {
            Self::Int32(_) => Types::INT32,
            Self::Int64(_) => Types::INT64,
            Self::Double(_) => Types::DOUBLE,
        }
    }

    pub fn add(self, other: Self) -> Self {
        self.combined(other, i64::checked_add, |a, b| a + b)
    }

    pub fn subtract(self, other: Self) -> Self {
        self.combined(other, i64::checked_sub, |a, b| a - b)
    }

    pub fn multiply(self, other: Self) -> Self {
        self.combined(other, i64::checked_mul, |a, b| a * b)
    }

    /// A double; `None` of a division by zero.
    pub fn divide(self, other: Self) -> Option<Self> {
        let divisor = other.double();
        (divisor != 0.0).then(|| Self::Double(self.double() / divisor))
    }

    /// What is left of a division, with the sign of the dividend; `None` of a division by zero.
    pub fn modulo(self, other: Self) -> Option<Self> {
        // The smallest number over -1 has no quotient, but nothing is left of it.
        let rest = |a: i64, b: i64| Some(a.wrapping_rem(b));
        (other.double() != 0.0).then(|| self.combined(other, rest, |a, b| a % b))
    }

    /// Without its sign; of the smallest 32-bit integer 64 bits, of the smallest of those a double.
    pub fn absolute(self) -> Self {
        let is_negative = match self {
            Self::Double(value) => return Self::Double(value.abs()),
            _ => self.integer() < Some(0),
        };
        if is_negative { self.multiply(Self::Int32(-1)) } else { self }
    }

    /// What lies at a share, from 0 to below 1, of the way from this number to another: each whole number equally often, both ends
    /// included, where both are whole.
    pub fn between(self, other: Self, share: f64) -> Self {
        let (low, high) = match (self, other) {
            (Self::Double(_), _) | (_, Self::Double(_)) => {
                let (low, high) = (self.double(), other.double());
                return Self::Double(low + share * (high - low));
            }
            _ => (self.integer().unwrap_or(0), other.integer().unwrap_or(0)),
        };
        let found = between(low, high, share);
        match (self, other, i32::try_from(found)) {
            (Self::Int32(_), Self::Int32(_), Ok(found)) => Self::Int32(found),
            _ => Self::Int64(found),
        }
    }

    /// A 32-bit integer of two such where it fits, else 64 bits where it fits, else a double.
    fn combined(self, other: Self, whole: fn(i64, i64) -> Option<i64>, double: fn(f64, f64) -> f64) -> Self {
        let (wide, is_small) = match (self, other) {
            (Self::Int32(a), Self::Int32(b)) => (whole(i64::from(a), i64::from(b)), true),
            (Self::Int32(a), Self::Int64(b)) => (whole(i64::from(a), b), false),
            (Self::Int64(a), Self::Int32(b)) => (whole(a, i64::from(b)), false),
            (Self::Int64(a), Self::Int64(b)) => (whole(a, b), false),
            _ => (None, false),
        };
        match wide {
            Some(wide) if is_small => i32::try_from(wide).map_or(Self::Int64(wide), Self::Int32),
            Some(wide) => Self::Int64(wide),
            None => Self::Double(double(self.double(), other.double())),
        }
    }

    pub fn is_below(self, other: Self) -> bool {
        match (self, other) {
            (Self::Double(_), _) | (_, Self::Double(_)) => self.double() < other.double(),
            _ => self.integer() < other.integer(),
        }
    }

    /// Rounded to so many decimals, a half to the even neighbour; of an integer, to tens where they are below 0.
    pub fn round(self, decimals: i32) -> Self {
        let Self::Double(value) = self else { return self.rounded_whole(decimals) };
        let scale = 10_f64.powi(decimals.abs());
        let rounded = if decimals >= 0 {
            (value * scale).round_ties_even() / scale
        } else {
            (value / scale).round_ties_even() * scale
        };
        // So many decimals that the number has none left to cut.
        Self::Double(if rounded.is_finite() { rounded } else { value })
    }

    fn rounded_whole(self, decimals: i32) -> Self {
        let Some(value) = self.integer().filter(|_| decimals < 0) else { return self };
        let scale = 10_i128.pow(decimals.unsigned_abs().min(30));
        let value = i128::from(value);
        let down = value.div_euclid(scale);
        let twice = 2 * value.rem_euclid(scale);
        let goes_up = twice > scale || (twice == scale && down % 2 != 0);
        let rounded = (down + i128::from(goes_up)) * scale;
        match (self, i32::try_from(rounded), i64::try_from(rounded)) {
            (Self::Int32(_), Ok(small), _) => Self::Int32(small),
            (_, _, Ok(wide)) => Self::Int64(wide),
            _ => Self::Double(rounded as f64),
        }
    }

    pub fn put(self, name: Name<'_>, out: &mut Vec<u8>) {
        let mut sink = BsonSink(out);
        match self {
            Self::Int32(value) => sink.int32(name, value),
            Self::Int64(value) => sink.int64(name, value),
            Self::Double(value) => sink.double(name, value),
        }
    }
}

/// A whole number from `low` to `high`, both included, at a share of the way. Beyond 2^53 not all can be drawn.
pub fn between(low: i64, high: i64, share: f64) -> i64 {
    let count = i128::from(high) - i128::from(low) + 1;
    let passed = ((count as f64 * share) as i128).min(count - 1);
    (i128::from(low) + passed) as i64
}

/// The number that a text is, an integer where it is one.
pub fn parsed(text: &[u8]) -> Option<Number> {
    let text = std::str::from_utf8(text).ok()?;
    match text.parse() {
        Ok(whole) => Some(Number::Int64(whole)),
        Err(_) => text.parse().ok().filter(|value: &f64| value.is_finite()).map(Number::Double),
    }
}
