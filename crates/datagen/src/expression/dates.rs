//! Owns the calendar: the units that dates are cut to, and their text. All of UTC, as MongoDB's own operators are without a time zone.

use std::io::Write;

const DAY_MS: i64 = 86_400_000;

/// What a date is cut to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// So many milliseconds.
    Fixed(i64),
    /// From Sunday, as MongoDB's `$dateTrunc` does.
    Week,
    Month,
    Quarter,
    Year,
}

impl Unit {
    pub const NAMES: &'static str = "second, minute, hour, day, week, month, quarter or year";

    pub fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"second" => Self::Fixed(1_000),
            b"minute" => Self::Fixed(60_000),
            b"hour" => Self::Fixed(3_600_000),
            b"day" => Self::Fixed(DAY_MS),
            b"week" => Self::Week,
            b"month" => Self::Month,
            b"quarter" => Self::Quarter,
            b"year" => Self::Year,
            _ => return None,
        })
    }

    /// The beginning of the unit that `unix_ms` is in.
    pub fn start(self, unix_ms: i64) -> i64 {
        let day = unix_ms.div_euclid(DAY_MS);
        let (year, month, _) = civil(day);
        let start = match self {
            Self::Fixed(length_ms) => return unix_ms.saturating_sub(unix_ms.rem_euclid(length_ms)),
            // 1970-01-01 was a Thursday.
            Self::Week => day - (day + 4).rem_euclid(7),
            Self::Month => day_of(year, month),
            Self::Quarter => day_of(year, (month - 1) / 3 * 3 + 1),
            Self::Year => day_of(year, 1),
        };
        start.saturating_mul(DAY_MS)
    }
}

/// Appends `2024-01-31T12:00:00.123Z`.
pub fn append_text(unix_ms: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil(unix_ms.div_euclid(DAY_MS));
    let ms = unix_ms.rem_euclid(DAY_MS);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    // Writing to a Vec can't fail.
    _ = write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1_000);
}

/// Year, month and day of a day since 1970-01-01 in the proleptic Gregorian calendar (Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms", 2014).
fn civil(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let day_of_month = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_month)
}

/// The day since 1970-01-01 that a month begins with; the way back of [`civil`].
fn day_of(year: i64, month: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_begin_where_the_calendar_says() {
        for day in (-1_000_000..1_000_000).step_by(13) {
            let (year, month, of_month) = civil(day);
            assert_eq!(day_of(year, month), day - of_month + 1);
        }
        assert_eq!((day_of(1970, 1), day_of(2000, 3), day_of(2024, 1)), (0, 11_017, 19_723));
    }

    #[test]
    fn units_begin_where_they_should() {
        // Wednesday, 2024-02-28T12:34:56.789Z.
        let moment = 1_709_123_696_789;
        for (unit, start) in [
            ("second", 1_709_123_696_000),
            ("minute", 1_709_123_640_000),
            ("hour", 1_709_121_600_000),
            ("day", 1_709_078_400_000),
            ("week", 1_708_819_200_000),
            ("month", 1_706_745_600_000),
            ("quarter", 1_704_067_200_000),
            ("year", 1_704_067_200_000),
        ] {
            assert_eq!(Unit::named(unit.as_bytes()).unwrap().start(moment), start, "{unit}");
        }
        assert_eq!(Unit::Fixed(DAY_MS).start(-1), -DAY_MS);
        for extreme in [i64::MIN, i64::MAX] {
            Unit::Year.start(extreme);
            append_text(extreme, &mut Vec::new());
        }
    }
}
