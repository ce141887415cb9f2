//! Owns the text of numbers and dates.

use std::io::Write;

use crate::calendar::civil;

const MS_PER_DAY: i64 = 86_400_000;
/// Doubles between these are written in full, others with an exponent, as mongoexport does.
const PLAIN_MIN: f64 = 1e-6;
const PLAIN_MAX: f64 = 1e21;

/// Appends a decimal number.
pub fn append_integer(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends the shortest decimal that reads as the same double; `point`: with ".0" where it would look like an integer.
pub fn append_double(value: f64, point: bool, out: &mut Vec<u8>) {
    if append_short_decimal(value, point, out) {
        return;
    }
    let start = out.len();
    // Writing to a Vec can't fail.
    if value == 0.0 || (PLAIN_MIN..PLAIN_MAX).contains(&value.abs()) {
        _ = write!(out, "{value}");
    } else {
        _ = write!(out, "{value:e}");
    }
    if point && !out[start..].iter().any(|byte| matches!(byte, b'.' | b'e')) {
        out.extend_from_slice(b".0");
    }
}

/// Appends a number of at most six decimals and fifteen digits, as prices and measures are, many times faster than any number
/// can be; false: it is none.
///
/// No two decimals of fifteen digits are the same double, so the one that is found is the shortest.
fn append_short_decimal(value: f64, point: bool, out: &mut Vec<u8>) -> bool {
    const SCALE: f64 = 1e6;
    const DECIMALS: usize = 6;
    let scaled = value.abs() * SCALE;
    // Zero has a sign that an integer lacks.
    if !(0.5..1e15).contains(&scaled) {
        return false;
    }
    let nearest = (scaled + 0.5) as u64;
    if (nearest as f64 / SCALE).to_bits() != value.abs().to_bits() {
        return false;
    }
    if value < 0.0 {
        out.push(b'-');
    }
    let (whole, fraction) = (nearest / SCALE as u64, (nearest % SCALE as u64) as u32);
    append_integer(whole as i64, out);
    if fraction == 0 {
        if point {
            out.extend_from_slice(b".0");
        }
        return true;
    }
    let mut text = *b".000000";
    text[1..3].copy_from_slice(&two_digits(fraction / 10_000));
    text[3..5].copy_from_slice(&two_digits(fraction / 100 % 100));
    text[5..].copy_from_slice(&two_digits(fraction % 100));
    let zeros = text.iter().rev().take_while(|&&digit| digit == b'0').count();
    out.extend_from_slice(&text[..=DECIMALS - zeros]);
    true
}

/// Whether a date has the four-digit year that text can hold.
pub fn has_plain_year(unix_ms: i64) -> bool {
    /// 0000-01-01 and the end of 9999-12-31.
    const YEARS_MS: std::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;
    YEARS_MS.contains(&unix_ms)
}

/// Appends `2024-01-31T12:00:00.123Z`; without `always_ms` a whole second has no fraction. The year must be plain.
pub fn append_date(unix_ms: i64, always_ms: bool, out: &mut Vec<u8>) {
    let (year, month, day) = civil(unix_ms.div_euclid(MS_PER_DAY));
    let ms = unix_ms.rem_euclid(MS_PER_DAY) as u32;
    let (seconds, fraction) = (ms / 1000, ms % 1000);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    for (at, number) in [
        (0, year / 100),
        (2, year % 100),
        (5, month),
        (8, day),
        (11, seconds / 3600),
        (14, seconds / 60 % 60),
        (17, seconds % 60),
        (20, fraction / 10),
    ] {
        text[at..at + 2].copy_from_slice(&two_digits(number));
    }
    text[22] = b'0' + (fraction % 10) as u8;
    if always_ms || fraction > 0 {
        return out.extend_from_slice(&text);
    }
    out.extend_from_slice(&text[..19]);
    out.push(b'Z');
}

fn two_digits(number: u32) -> [u8; 2] {
    [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(unix_ms: i64) -> String {
        let mut out = Vec::new();
        append_date(unix_ms, true, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn double(value: f64, point: bool) -> String {
        let mut out = Vec::new();
        append_double(value, point, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn dates_are_the_calendar_s() {
        for (unix_ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (4_107_542_399_001, "2100-02-28T23:59:59.001Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(date(unix_ms), text);
        }
        assert!(!has_plain_year(-62_167_219_200_001) && !has_plain_year(253_402_300_800_000));
    }

    #[test]
    fn doubles_read_back_as_themselves() {
        for value in [0.0, -0.0, 0.1, 1.0 / 3.0, 1e21, 1e-7, 123_456.5, f64::MAX, f64::MIN_POSITIVE, -5.0] {
            for point in [false, true] {
                assert_eq!(double(value, point).parse::<f64>().unwrap().to_bits(), value.to_bits());
            }
        }
        assert_eq!((double(5.0, false), double(5.0, true)), ("5".to_owned(), "5.0".to_owned()));
        assert_eq!(
            (double(0.000_001, true), double(-12.5, false)),
            ("0.000001".to_owned(), "-12.5".to_owned())
        );
        assert_eq!((double(1e300, true), double(1.5e-9, false)), ("1e300".to_owned(), "1.5e-9".to_owned()));
    }

    proptest! {
        /// The standard library's shortest text, whichever way it was found.
        #[test]
        fn doubles_are_as_short_as_can_be(
            value in prop_oneof![
                any::<f64>(),
                (any::<i64>(), 0..10_u32).prop_map(|(digits, places)| (digits >> 12) as f64 / 10_f64.powi(places as i32)),
                (-10_000_000_i64..10_000_000, 0..8_u32).prop_map(|(digits, places)| digits as f64 / 10_f64.powi(places as i32)),
                // Neighbours of short decimals, which must not be taken for them.
                (1_i64..1_000_000_000, any::<bool>()).prop_map(|(digits, up)| {
                    let value = digits as f64 / 100.0;
                    if up { value.next_up() } else { value.next_down() }
                }),
            ]
        ) {
            prop_assume!(value.is_finite());
            let plain = value == 0.0 || (PLAIN_MIN..PLAIN_MAX).contains(&value.abs());
            prop_assert_eq!(double(value, false), if plain { format!("{value}") } else { format!("{value:e}") });
        }

        #[test]
        fn integers_are_the_standard_library_s(value: i64) {
            let mut out = Vec::new();
            append_integer(value, &mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }
}
