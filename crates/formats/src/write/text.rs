//! Owns the text of numbers and dates.

use std::io::Write;

const MS_PER_DAY: i64 = 86_400_000;
/// Doubles between these are written in full, others with an exponent, as mongoexport does.
const PLAIN_MIN: f64 = 1e-6;
const PLAIN_MAX: f64 = 1e21;

/// Appends a decimal number.
pub fn append_integer(value: i64, out: &mut Vec<u8>) {
    // Writing to a Vec can't fail.
    _ = write!(out, "{value}");
}

/// Appends the shortest decimal that reads as the same double; `point`: with ".0" where it would look like an integer.
pub fn append_double(value: f64, point: bool, out: &mut Vec<u8>) {
    let start = out.len();
    if value == 0.0 || (PLAIN_MIN..PLAIN_MAX).contains(&value.abs()) {
        _ = write!(out, "{value}");
    } else {
        _ = write!(out, "{value:e}");
    }
    if point && !out[start..].iter().any(|byte| matches!(byte, b'.' | b'e')) {
        out.extend_from_slice(b".0");
    }
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
    let mut text = *b"0000-00-00T00:00:00";
    digits(&mut text[..4], year);
    digits(&mut text[5..7], month);
    digits(&mut text[8..10], day);
    digits(&mut text[11..13], seconds / 3600);
    digits(&mut text[14..16], seconds / 60 % 60);
    digits(&mut text[17..], seconds % 60);
    out.extend_from_slice(&text);
    if always_ms || fraction > 0 {
        let mut text = *b".000";
        digits(&mut text[1..], fraction);
        out.extend_from_slice(&text);
    }
    out.push(b'Z');
}

fn digits(text: &mut [u8], number: u32) {
    let mut rest = number;
    for digit in text.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

/// Year, month and day of a day since 1970-01-01 in the proleptic Gregorian calendar (Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms", 2014), for years from 0.
fn civil(day: i64) -> (u32, u32, u32) {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year as u32, month as u32, day_of_month as u32)
}

#[cfg(test)]
mod tests {
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
        assert_eq!((double(1e300, true), double(1.5e-9, false)), ("1e300".to_owned(), "1.5e-9".to_owned()));
    }
}
