//! YCSB's key text: prefix, zeros, number.

use brimline_bson::ElementType;
use serde::{Deserialize, Serialize};

/// Largest index of a record, that of a Java `long`, so that keys are the same as YCSB's.
pub const RECORD_INDEX_MAX: u64 = i64::MAX as u64;
/// Upper bound of `zero_padding`.
pub const ZERO_PADDING_MAX: u32 = 255;
/// Longest number in a key: the smallest `long` with its sign.
pub const KEY_NUMBER_BYTES_MAX: u64 = 20;
/// Digits that are made at once.
const GROUP_DIGITS: usize = 8;
/// Digits of three groups, which fit the largest u64 and the smallest i64 with its sign.
const DIGITS_MAX: usize = 3 * GROUP_DIGITS;
/// Numbers below this fit one group.
const GROUP_LIMIT: u64 = 100_000_000;

/// How a key follows from the index of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InsertOrder {
    /// The number in the key is a hash of the index, so that inserts go all over the key range.
    Hashed,
    /// The number in the key is the index.
    Ordered,
}

/// Makes the keys of records.
#[derive(Clone, Debug)]
pub struct Keys {
    order: InsertOrder,
    prefix: Box<str>,
    /// Numbers shorter than this are padded with zeros.
    width: usize,
    zeros: Box<[u8]>,
}

/// A key as a string element of a certain name, encoded up to its number.
#[derive(Clone, Debug)]
pub struct KeyElement {
    head: Box<[u8]>,
    /// Where the string's length field is in `head`.
    length_at: usize,
}

impl Keys {
    pub fn new(order: InsertOrder, prefix: &str, zero_padding: u32) -> Self {
        let width = zero_padding as usize;
        Self { order, prefix: prefix.into(), width, zeros: vec![b'0'; width].into() }
    }

    /// Prepares keys that are elements called `name`.
    pub fn element(&self, name: &str) -> KeyElement {
        let mut head = vec![ElementType::String as u8];
        head.extend_from_slice(name.as_bytes());
        head.push(0);
        let length_at = head.len();
        head.extend_from_slice(&[0; 4]);
        head.extend_from_slice(self.prefix.as_bytes());
        KeyElement { head: head.into(), length_at }
    }

    /// Appends the key of `record`.
    #[inline]
    pub fn append(&self, record: u64, out: &mut Vec<u8>) {
        let number = self.number(record);
        out.extend_from_slice(self.prefix.as_bytes());
        out.extend_from_slice(self.padding(&number));
        out.extend_from_slice(number.as_bytes());
    }

    /// Appends the key of `record` as `element`.
    #[inline]
    pub fn append_element(&self, element: &KeyElement, record: u64, out: &mut Vec<u8>) {
        let number = self.number(record);
        let length_at = out.len() + element.length_at;
        out.extend_from_slice(&element.head);
        if number.as_bytes().len() < self.width {
            out.extend_from_slice(self.padding(&number));
        }
        out.extend_from_slice(number.as_bytes_with_nul());
        let length = (out.len() - length_at - 4) as u32;
        out[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
    }

    #[inline]
    fn number(&self, record: u64) -> Number {
        match self.order {
            InsertOrder::Ordered => Number::unsigned(record),
            InsertOrder::Hashed => Number::signed(hash(record)),
        }
    }

    fn padding(&self, number: &Number) -> &[u8] {
        &self.zeros[..self.width.saturating_sub(number.as_bytes().len())]
    }
}

/// |FNV-1a-64| of the eight octets of `record`, lowest first, with the absolute value of Java: that of the smallest number
/// is itself.
fn hash(record: u64) -> i64 {
    const OFFSET_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01B3;
    let step = |hash: u64, octet: u8| (hash ^ u64::from(octet)).wrapping_mul(PRIME);
    (record.to_le_bytes().into_iter().fold(OFFSET_BASIS, step) as i64).wrapping_abs()
}

/// Appends a decimal number.
#[inline]
pub fn append_number(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(Number::signed(number).as_bytes());
}

/// A decimal number as text on the stack, with a NUL behind it.
struct Number {
    text: [u8; DIGITS_MAX + 1],
    start: usize,
}

impl Number {
    #[inline]
    fn unsigned(number: u64) -> Self {
        let upper = number / GROUP_LIMIT;
        let groups = [upper / GROUP_LIMIT, upper % GROUP_LIMIT, number % GROUP_LIMIT].map(digits);
        let mut text = [0; DIGITS_MAX + 1];
        for (text, group) in text.as_chunks_mut().0.iter_mut().zip(groups) {
            *text = (group | 0x3030_3030_3030_3030).to_le_bytes();
        }
        let zeros = |group: u64| group.trailing_zeros() as usize / 8;
        let start = match groups {
            [0, 0, last] => 2 * GROUP_DIGITS + zeros(last).min(GROUP_DIGITS - 1),
            [0, middle, _] => GROUP_DIGITS + zeros(middle),
            [first, ..] => zeros(first),
        };
        Self { text, start }
    }

    #[inline]
    fn signed(number: i64) -> Self {
        let mut absolute = Self::unsigned(number.unsigned_abs());
        if number < 0 {
            absolute.start -= 1;
            absolute.text[absolute.start] = b'-';
        }
        absolute
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        &self.text[self.start..DIGITS_MAX]
    }

    #[inline]
    fn as_bytes_with_nul(&self) -> &[u8] {
        &self.text[self.start..]
    }
}

/// The eight decimal digits of `number`, which is below 10^8, a byte each, the first digit lowest. Halves are told apart
/// side by side in one word: fours, then twos, then ones. The multiplications are divisions by 100 and by 10, exact for
/// numbers this small.
#[inline]
fn digits(number: u64) -> u64 {
    let fours = (number / 10_000) | (number % 10_000) << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007F_0000_007F;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((twos * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | (twos - 10 * tens) << 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: &Number) -> &str {
        std::str::from_utf8(number.as_bytes()).unwrap()
    }

    #[test]
    fn numbers_are_written_as_java_writes_a_long() {
        assert_eq!(text(&Number::unsigned(0)), "0");
        assert_eq!(text(&Number::unsigned(10)), "10");
        assert_eq!(text(&Number::unsigned(u64::MAX)), "18446744073709551615");
        assert_eq!(text(&Number::signed(i64::MAX)), "9223372036854775807");
        assert_eq!(text(&Number::signed(i64::MIN)), "-9223372036854775808");
    }

    /// Around each power of ten and each hundred, where a division by multiplication would go wrong first.
    #[test]
    fn digits_are_the_decimal_ones() {
        let powers = (0..20).map(|exponent| 10_u64.pow(exponent));
        let around =
            powers.flat_map(|power| [power - 1, power, power.saturating_add(1), power.saturating_mul(7)]);
        let hundreds = (0..10_000).flat_map(|number| [number, number * 10_000 + 9_999, number * 100_000_000]);
        for number in around.chain(hundreds) {
            assert_eq!(text(&Number::unsigned(number)), number.to_string());
        }
    }
}
