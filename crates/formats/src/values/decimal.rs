//! Owns decimal numbers of 128 bits: from text to the binary form of BSON, and back.
//!
//! Source: IEEE 754-2008 decimal128 in binary integer significand encoding, as the BSON specification names it.

/// The largest coefficient: 34 nines.
const COEFFICIENT_MAX: u128 = 9_999_999_999_999_999_999_999_999_999_999_999;
const EXPONENT_MAX: i64 = 6111;
const EXPONENT_MIN: i64 = -6176;

const NAN: u128 = 0x7c00 << 112;
const INFINITY: u128 = 0x7800 << 112;
const NEGATIVE: u128 = 1 << 127;

/// The little-endian bytes of the decimal that `text` writes, `None` when it writes none or has more than 34 significant digits or
/// too large an exponent. Trailing zeros are kept, nothing is rounded.
pub fn decimal(text: &[u8]) -> Option<[u8; 16]> {
    let (sign, rest) = match text {
        [b'-', rest @ ..] => (NEGATIVE, rest),
        [b'+', rest @ ..] => (0, rest),
        _ => (0, text),
    };
    let magnitude = if text.eq_ignore_ascii_case(b"nan") {
        NAN
    } else if rest.eq_ignore_ascii_case(b"inf") || rest.eq_ignore_ascii_case(b"infinity") {
        INFINITY
    } else {
        finite(rest)?
    };
    Some((sign | magnitude).to_le_bytes())
}

/// Digits with at most one point and an optional exponent.
fn finite(text: &[u8]) -> Option<u128> {
    let exponent_at = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let (digits, written_exponent) = match exponent_at {
        Some(at) => (&text[..at], super::number::integer(&text[at + 1..])?),
        None => (text, 0),
    };
    let point = digits.iter().position(|&byte| byte == b'.');
    let decimals = point.map_or(0, |at| digits.len() - at - 1);
    let mut exponent = written_exponent.checked_sub(decimals as i64)?;
    let mut coefficient: u128 = 0;
    let mut digit_seen = false;
    let mut pending_zeros: u32 = 0;
    for (index, &byte) in digits.iter().enumerate() {
        if Some(index) == point {
            continue;
        }
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        digit_seen = true;
        // Zeros past the 34th digit go into the exponent, if nothing else follows.
        if pending_zeros == 0 && coefficient * 10 + u128::from(digit) <= COEFFICIENT_MAX {
            coefficient = coefficient * 10 + u128::from(digit);
        } else if digit == 0 {
            pending_zeros += 1;
        } else {
            return None;
        }
    }
    exponent = exponent.checked_add(i64::from(pending_zeros))?;
    if !digit_seen {
        return None;
    }
    if coefficient == 0 {
        exponent = exponent.clamp(EXPONENT_MIN, EXPONENT_MAX);
    }
    while exponent < EXPONENT_MIN {
        (coefficient, exponent) = (coefficient.is_multiple_of(10).then_some(coefficient / 10)?, exponent + 1);
    }
    while exponent > EXPONENT_MAX {
        (coefficient, exponent) =
            (Some(coefficient * 10).filter(|&value| value <= COEFFICIENT_MAX)?, exponent - 1);
    }
    Some(((exponent - EXPONENT_MIN) as u128) << 113 | coefficient)
}

/// Appends the text of the decimal that the little-endian bytes hold, as the BSON specification of decimal128 writes it.
pub fn append_decimal(bytes: [u8; 16], out: &mut Vec<u8>) {
    let bits = u128::from_le_bytes(bytes);
    if bits & NAN == NAN {
        return out.extend_from_slice(b"NaN");
    }
    if bits & NEGATIVE != 0 {
        out.push(b'-');
    }
    if bits & NAN == INFINITY {
        return out.extend_from_slice(b"Infinity");
    }
    // The form whose coefficient begins with binary 100 is above the largest one, which makes it a zero.
    let is_large = bits >> 125 & 3 == 3;
    let exponent = (bits >> if is_large { 111 } else { 113 } & 0x3fff) as i64 + EXPONENT_MIN;
    let coefficient = if is_large { 0 } else { bits & ((1 << 113) - 1) };
    let coefficient = if coefficient > COEFFICIENT_MAX { 0 } else { coefficient };
    let mut text = [b'0'; 39];
    let mut first = text.len();
    let mut left = coefficient;
    while left > 0 || first == text.len() {
        first -= 1;
        text[first] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    let digits = &text[first..];
    let scientific = exponent + digits.len() as i64 - 1;
    if exponent > 0 || scientific < -6 {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.extend_from_slice(if scientific < 0 { b"E-" } else { b"E+" });
        return crate::write::append_integer(scientific.abs(), out);
    }
    let whole = digits.len() as i64 + exponent;
    if whole > 0 {
        out.extend_from_slice(&digits[..whole as usize]);
    } else {
        out.push(b'0');
    }
    if exponent < 0 {
        out.push(b'.');
        out.resize(out.len() + (-whole).max(0) as usize, b'0');
        out.extend_from_slice(&digits[whole.max(0) as usize..]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn official(text: &str) -> Option<[u8; 16]> {
        text.parse::<bson::Decimal128>().ok().map(|decimal| decimal.bytes())
    }

    #[test]
    fn decimals_are_those_of_the_official_library() {
        for text in [
            "0",
            "-0",
            "1.10",
            "1E+3",
            "007",
            "-12.5e-3",
            ".5",
            "5.",
            "NaN",
            "Infinity",
            "-Infinity",
            "9999999999999999999999999999999999",
            "1E-6176",
            "0.000001",
            "123456789012345678901234567890.1234",
            "1E6111",
        ] {
            assert_eq!(decimal(text.as_bytes()), official(text), "{text}");
            assert!(decimal(text.as_bytes()).is_some(), "{text}");
        }
    }

    #[test]
    fn nothing_is_rounded() {
        for text in [
            "12345678901234567890123456789012345",
            "1E-6177",
            "1E+6145",
            "",
            ".",
            "-",
            "1e",
            "1.2.3",
            "x",
            "1e99999999999999999999",
        ] {
            assert_eq!(decimal(text.as_bytes()), None, "{text}");
        }
        let shifted = decimal(b"12345678901234567890123456789012340");
        assert_eq!(shifted, official("1.234567890123456789012345678901234E+34"));
        assert_eq!(decimal(b"1E+6144"), official("1.000000000000000000000000000000000E+6144"));
    }

    proptest! {
        #[test]
        fn decimals_are_written_as_the_official_library_does(bits in prop_oneof![
            any::<u128>(),
            (any::<bool>(), 0..=COEFFICIENT_MAX, 0..60_u128)
                .prop_map(|(sign, coefficient, exponent)| u128::from(sign) << 127 | (6140 + exponent) << 113 | coefficient),
            (0..1_000_u128, 0..60_u128).prop_map(|(coefficient, exponent)| (6140 + exponent) << 113 | coefficient),
        ]) {
            let bytes = bits.to_le_bytes();
            let mut text = Vec::new();
            append_decimal(bytes, &mut text);
            prop_assert_eq!(String::from_utf8(text).unwrap(), bson::Decimal128::from_bytes(bytes).to_string());
        }
    }
}
