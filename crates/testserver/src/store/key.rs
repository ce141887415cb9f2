//! Order keys: bytes that compare as mongod compares the `_id` values they stand for.
//!
//! Source: comparison order of BSON types, <https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/>.
//! Within documents, arrays and the types a key rarely has (regular expressions, code) bytes compare as encoded.

use brimline_bson::{ElementType, Value};

/// An order key.
pub type Key = Box<[u8]>;

/// The order key of `value`: its type's rank, then bytes that order it among its type.
pub fn encode(value: &Value<'_>) -> Key {
    let mut key = vec![rank(value)];
    match *value {
        Value::Double(number) => append_double(&mut key, number),
        Value::Int32(number) => append_integer(&mut key, i64::from(number)),
        Value::Int64(number) => append_integer(&mut key, number),
        Value::String(bytes) | Value::Document(bytes) | Value::Array(bytes) | Value::Other(_, bytes) => {
            key.extend_from_slice(bytes);
        }
        Value::Binary(bytes, subtype) => {
            key.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
            key.push(subtype);
            key.extend_from_slice(bytes);
        }
        Value::Boolean(boolean) => key.push(u8::from(boolean)),
        Value::DateTime(unix_ms) => key.extend_from_slice(&ordered_i64(unix_ms).to_be_bytes()),
        Value::Null => {}
    }
    if let Value::Other(ElementType::Timestamp, _) = value {
        key[1..].reverse(); // stored as one little-endian integer
    }
    key.into()
}

/// Place of the value's type among all types. Ranks leave room so that `rank + 1` is above every value of the type.
pub fn rank(value: &Value<'_>) -> u8 {
    use ElementType as T;
    match value {
        Value::Other(T::MinKey, _) => 0,
        Value::Null | Value::Other(T::Undefined, _) => 10,
        Value::Double(_) | Value::Int32(_) | Value::Int64(_) | Value::Other(T::Decimal128, _) => 20,
        Value::String(_) | Value::Other(T::Symbol, _) => 30,
        Value::Document(_) => 40,
        Value::Array(_) => 50,
        Value::Binary(..) => 60,
        Value::Other(T::ObjectId, _) => 70,
        Value::Boolean(_) => 80,
        Value::DateTime(_) => 90,
        Value::Other(T::Timestamp, _) => 100,
        Value::Other(T::Regex, _) => 110,
        Value::Other(T::DbPointer, _) => 120,
        Value::Other(T::Code, _) => 130,
        Value::Other(T::CodeWithScope, _) => 140,
        Value::Other(..) => 250,
    }
}

/// The number as a double, then what the double lost of an integer: 2^53 + 1 is above 2^53, and 1 equals 1.0.
fn append_integer(key: &mut Vec<u8>, number: i64) {
    let double = number as f64;
    key.extend_from_slice(&ordered_f64(double).to_be_bytes());
    let lost = i128::from(number) - double as i128;
    key.extend_from_slice(&ordered_i64(lost as i64).to_be_bytes());
}

fn append_double(key: &mut Vec<u8>, number: f64) {
    key.extend_from_slice(&ordered_f64(number).to_be_bytes());
    key.extend_from_slice(&ordered_i64(0).to_be_bytes());
}

/// Bits that compare as the doubles do; NaN is below every number, and -0 equals 0.
fn ordered_f64(number: f64) -> u64 {
    if number.is_nan() {
        return 0;
    }
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn ordered_i64(number: i64) -> u64 {
    number as u64 ^ 1 << 63
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_as_their_values_do() {
        let ordered = [
            Value::Other(ElementType::MinKey, b""),
            Value::Null,
            Value::Double(f64::NAN),
            Value::Double(f64::NEG_INFINITY),
            Value::Int64(i64::MIN),
            Value::Int32(-1),
            Value::Double(-0.5),
            Value::Int32(0),
            Value::Double(0.5),
            Value::Int32(1),
            Value::Int64(1 << 53),
            Value::Int64((1 << 53) + 1),
            Value::Int64(i64::MAX - 1),
            Value::Int64(i64::MAX),
            Value::Double(f64::INFINITY),
            Value::String(b""),
            Value::String(b"user1"),
            Value::String(b"user10"),
            Value::String(b"user2"),
            Value::Document(b"\x05\0\0\0\0"),
            Value::Array(b"\x05\0\0\0\0"),
            Value::Binary(b"zz", 0),
            Value::Binary(b"aaa", 0),
            Value::Binary(b"aaa", 4),
            Value::Other(ElementType::ObjectId, b"abcdefghijkl"),
            Value::Boolean(false),
            Value::Boolean(true),
            Value::DateTime(-5),
            Value::DateTime(5),
            Value::Other(ElementType::Timestamp, b"\xff\0\0\0\0\0\0\0"),
            Value::Other(ElementType::Timestamp, b"\0\x01\0\0\0\0\0\0"),
            Value::Other(ElementType::MaxKey, b""),
        ];
        for pair in ordered.windows(2) {
            assert!(encode(&pair[0]) < encode(&pair[1]), "{:?} must be below {:?}", pair[0], pair[1]);
        }
    }

    #[test]
    fn equal_numbers_have_equal_keys_whatever_their_type() {
        for (one, other) in [
            (Value::Int32(7), Value::Int64(7)),
            (Value::Int32(7), Value::Double(7.0)),
            (Value::Double(0.0), Value::Double(-0.0)),
        ] {
            assert_eq!(encode(&one), encode(&other));
        }
    }
}
