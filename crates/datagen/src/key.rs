//! YCSB's key text: prefix, zeros, number.

use brimline_bson::{ElementType, Writer};

use crate::InsertOrder;

/// Digits of the largest u64, which also fit the smallest i64 with its sign.
const DIGITS_MAX: usize = 20;
/// The numbers from 00 to 99 as text; two digits at a time halve the divisions.
const DIGIT_PAIRS: [[u8; 2]; 100] = digit_pairs();

/// Makes the keys of records.
#[derive(Clone, Debug)]
pub struct Keys {
    order: InsertOrder,
    prefix: Box<str>,
    /// Numbers shorter than this are padded with zeros.
    width: usize,
    zeros: Box<[u8]>,
}

impl Keys {
    pub fn new(order: InsertOrder, prefix: &str, zero_padding: u32) -> Self {
        let width = zero_padding as usize;
        Self { order, prefix: prefix.into(), width, zeros: vec![b'0'; width].into() }
    }

    /// Appends the key of `record`.
    #[inline]
    pub fn append(&self, record: u64, out: &mut Vec<u8>) {
        let number = self.number(record);
        out.extend_from_slice(self.prefix.as_bytes());
        out.extend_from_slice(self.padding(&number));
        out.extend_from_slice(number.as_bytes());
    }

    /// Appends the key of `record` as the string element `name`.
    #[inline]
    pub fn append_element(&self, name: &str, record: u64, writer: &mut Writer) {
        let number = self.number(record);
        let padding = self.padding(&number);
        let length = (self.prefix.len() + padding.len() + number.as_bytes().len()) as u32 + 1;
        writer.encoded_elements(&[ElementType::String as u8]);
        writer.encoded_elements(name.as_bytes());
        writer.encoded_elements(&[0]);
        writer.encoded_elements(&length.to_le_bytes());
        writer.encoded_elements(self.prefix.as_bytes());
        writer.encoded_elements(padding);
        writer.encoded_elements(number.as_bytes());
        writer.encoded_elements(&[0]);
    }

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

/// A decimal number as text on the stack.
struct Number {
    text: [u8; DIGITS_MAX],
    start: usize,
}

impl Number {
    fn unsigned(mut number: u64) -> Self {
        let mut text = [b'0'; DIGITS_MAX];
        let mut start = DIGITS_MAX;
        while number >= 10 {
            start -= 2;
            text[start..start + 2].copy_from_slice(&DIGIT_PAIRS[(number % 100) as usize]);
            number /= 100;
        }
        if number > 0 || start == DIGITS_MAX {
            start -= 1;
            text[start] = b'0' + number as u8;
        }
        Self { text, start }
    }

    fn signed(number: i64) -> Self {
        let mut absolute = Self::unsigned(number.unsigned_abs());
        if number < 0 {
            absolute.start -= 1;
            absolute.text[absolute.start] = b'-';
        }
        absolute
    }

    fn as_bytes(&self) -> &[u8] {
        &self.text[self.start..]
    }
}

const fn digit_pairs() -> [[u8; 2]; 100] {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < pairs.len() {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
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
}
