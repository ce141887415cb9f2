//! Owns numbers as text, read as Go's `strconv` reads them, which mongoimport uses.
//!
//! Source: <https://pkg.go.dev/strconv> and <https://go.dev/ref/spec#Floating-point_literals>.

/// The one of all values that are "not a number" that Go writes.
pub const NAN: f64 = f64::from_bits(0x7ff8_0000_0000_0001);

/// A decimal integer: an optional sign and digits, leading zeros allowed. `None` also when 64 bits don't hold it.
#[inline]
pub fn integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = sign(text);
    if digits.is_empty() {
        return None;
    }
    let mut value: u64 = 0;
    if digits.len() <= 18 {
        for &byte in digits {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value * 10 + u64::from(digit);
        }
    } else {
        for &byte in digits {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
        }
    }
    if negative { 0i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() }
}

/// An integer as literals of Go write it: decimal, or after `0x`, `0o`, `0b` or `0` of another base; underscores may stand between digits.
pub fn integer_of_any_base(text: &[u8]) -> Option<i64> {
    let (negative, digits) = sign(text);
    let (base, digits, mut may_be_underscore) = match digits {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest, true),
        [b'0', b'o' | b'O', rest @ ..] => (8, rest, true),
        [b'0', b'b' | b'B', rest @ ..] => (2, rest, true),
        [b'0', rest @ ..] if !rest.is_empty() => (8, rest, true),
        _ => (10, digits, false),
    };
    let mut value: u64 = 0;
    for &byte in digits {
        if byte == b'_' {
            if !may_be_underscore {
                return None;
            }
            may_be_underscore = false;
            continue;
        }
        let digit = char::from(byte).to_digit(base)?;
        value = value.checked_mul(u64::from(base))?.checked_add(u64::from(digit))?;
        may_be_underscore = true;
    }
    if digits.is_empty() || !digits[digits.len() - 1].is_ascii_alphanumeric() {
        return None;
    }
    if negative { 0i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() }
}

/// A floating-point number: decimal, hexadecimal with an exponent, or one of the words for infinity and "not a number". `None` also
/// when it is too large to be finite.
pub fn double(text: &[u8]) -> Option<f64> {
    let (negative, rest) = sign(text);
    match rest.first()? {
        b'0'..=b'9' | b'.' => {}
        _ => return word(text, negative, rest),
    }
    if let [b'0', b'x' | b'X', hexadecimal @ ..] = rest {
        let magnitude = hexadecimal_double(hexadecimal)?;
        return Some(if negative { -magnitude } else { magnitude });
    }
    let value = match parse(text) {
        Some(value) => value,
        None if rest.contains(&b'_') && has_separators_between_digits(rest) => {
            parse(&text.iter().copied().filter(|&byte| byte != b'_').collect::<Vec<_>>())?
        }
        None => return None,
    };
    value.is_finite().then_some(value)
}

/// Whether the text has digits with at most one point and an optional exponent, underscores between digits only.
fn has_separators_between_digits(text: &[u8]) -> bool {
    let mut digits = 0;
    let mut has_point = false;
    let mut before = 0u8;
    for (index, &byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'.' if !has_point && before != b'_' => has_point = true,
            b'_' if before.is_ascii_digit() => {}
            b'e' | b'E' if digits > 0 && before != b'_' => return is_exponent(&text[index + 1..]),
            _ => return false,
        }
        before = byte;
    }
    digits > 0 && before != b'_'
}

fn is_exponent(text: &[u8]) -> bool {
    let (_, digits) = sign(text);
    let mut before = 0u8;
    for &byte in digits {
        if !(byte.is_ascii_digit() || byte == b'_' && before.is_ascii_digit()) {
            return false;
        }
        before = byte;
    }
    before.is_ascii_digit()
}

/// Decimal numbers are the same in Rust as in Go, but for underscores.
fn parse(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn word(text: &[u8], negative: bool, rest: &[u8]) -> Option<f64> {
    if rest.eq_ignore_ascii_case(b"inf") || rest.eq_ignore_ascii_case(b"infinity") {
        return Some(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    text.eq_ignore_ascii_case(b"nan").then_some(NAN)
}

/// What follows `0x`: hexadecimal digits with at most one point, and a binary exponent, which is needed.
fn hexadecimal_double(text: &[u8]) -> Option<f64> {
    let exponent_at = text.iter().position(|byte| matches!(byte, b'p' | b'P'))?;
    let (digits, exponent) = (&text[..exponent_at], &text[exponent_at + 1..]);
    if !is_exponent(exponent) {
        return None;
    }
    let exponent: Vec<u8> = exponent.iter().copied().filter(|&byte| byte != b'_').collect();
    let mut binary_exponent =
        integer(&exponent).map_or(100_000, |value| value.clamp(-100_000, 100_000)) as i32;
    let mut mantissa: u64 = 0;
    let mut has_point = false;
    let mut digit_seen = false;
    let mut before = b'0'; // the prefix counts as a digit in front of an underscore
    for &byte in digits {
        match byte {
            b'.' if !has_point && before != b'_' => has_point = true,
            b'_' if before.is_ascii_hexdigit() => {}
            _ => {
                let digit = char::from(byte).to_digit(16)?;
                digit_seen = true;
                if mantissa >> 60 == 0 {
                    mantissa = mantissa << 4 | u64::from(digit);
                    binary_exponent -= if has_point { 4 } else { 0 };
                } else {
                    mantissa |= u64::from(digit != 0); // rounds as if the digits were all there
                    binary_exponent += if has_point { 0 } else { 4 };
                }
            }
        }
        before = byte;
    }
    if !digit_seen || before == b'_' {
        return None;
    }
    let value = scaled(mantissa as f64, binary_exponent);
    value.is_finite().then_some(value)
}

/// `value` × 2^`exponent`, in steps that neither overflow nor underflow on the way.
fn scaled(value: f64, exponent: i32) -> f64 {
    let mut left = exponent.clamp(-2_200, 2_200);
    let mut value = value;
    while left != 0 {
        let step = left.clamp(-1_000, 1_000);
        value *= 2f64.powi(step);
        left -= step;
    }
    value
}

/// Splits off a sign.
#[inline]
fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_64_bits() {
        let cases: [(&str, Option<i64>); 14] = [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("007", Some(7)),
            ("+5", Some(5)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("-9223372036854775809", None),
            ("0000000000000000000000012", Some(12)),
            ("", None),
            ("-", None),
            ("1_0", None),
            ("++1", None),
            ("1 ", None),
        ];
        for (text, value) in cases {
            assert_eq!(integer(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn doubles_are_those_of_go() {
        let cases: [(&str, Option<f64>); 30] = [
            ("1.", Some(1.0)),
            (".5", Some(0.5)),
            ("1e3", Some(1000.0)),
            ("1E+3", Some(1000.0)),
            ("1_000.5_0", Some(1000.5)),
            ("1e1_0", Some(1e10)),
            ("-inf", Some(f64::NEG_INFINITY)),
            ("+Infinity", Some(f64::INFINITY)),
            ("0x1p4", Some(16.0)),
            ("-0X1.8p1", Some(-3.0)),
            ("0x_1p0", Some(1.0)),
            ("0x.8p0", Some(0.5)),
            ("0x1p-1074", Some(5e-324)),
            ("0x1fffffffffffff8p0", Some(144_115_188_075_855_870.0)),
            ("1e-400", Some(0.0)),
            ("1e400", None),
            ("0x1p1024", None),
            ("0x10", None),
            ("0xp1", None),
            ("_1", None),
            ("1_", None),
            ("1__0", None),
            ("1_.5", None),
            ("1._5", None),
            ("1e", None),
            ("e5", None),
            (".", None),
            ("+nan", None),
            ("1.2.3", None),
            ("infinit", None),
        ];
        for (text, value) in cases {
            assert_eq!(double(text.as_bytes()), value, "{text}");
        }
        assert!(double(b"NaN").is_some_and(f64::is_nan));
        assert_eq!(double(b"-0.0").map(f64::to_bits), Some((-0.0f64).to_bits()));
    }
}
