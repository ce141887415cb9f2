//! Owns the calendar: the units that dates are cut to, and their text. All of UTC, as MongoDB's own operators are without a time zone.

use std::io::Write;

const DAY_MS: i64 = 86_400_000;
/// Months that all dates of 64 bits have together, and more.
const MONTHS_MAX: i64 = 1 << 33;

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

    /// The date so many units later: of a month that is shorter its last day, as MongoDB's `$dateAdd` says.
    pub fn later(self, unix_ms: i64, count: i64) -> i64 {
        let day = unix_ms.div_euclid(DAY_MS);
        let months = match self {
            Self::Fixed(length_ms) => return unix_ms.saturating_add(length_ms.saturating_mul(count)),
            Self::Week => return unix_ms.saturating_add((7 * DAY_MS).saturating_mul(count)),
            Self::Month => 1,
            Self::Quarter => 3,
            Self::Year => 12,
        };
        // No date has more months: what leads further ends at the last one.
        let months = count.clamp(-MONTHS_MAX, MONTHS_MAX) * months;
        let (year, month, of_month) = civil(day);
        let month = year * 12 + month - 1 + months;
        let begin = |month: i64| day_of(month.div_euclid(12), month.rem_euclid(12) + 1);
        let (first, next) = (begin(month), begin(month + 1));
        let day = (first + of_month - 1).min(next - 1);
        day.saturating_mul(DAY_MS).saturating_add(unix_ms.rem_euclid(DAY_MS))
    }

    /// The next beginning of a unit; `unix_ms` itself where it is one.
    pub fn end(self, unix_ms: i64) -> i64 {
        let start = self.start(unix_ms);
        if start == unix_ms { start } else { self.later(start, 1) }
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

/// What is asked of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatePart {
    Year,
    Quarter,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    /// From 1, a Sunday, as MongoDB's `$dayOfWeek` does.
    DayOfWeek,
    DayOfYear,
}

impl DatePart {
    pub const NAMES: &'static str =
        "year, quarter, month, day, hour, minute, second, millisecond, day_of_week or day_of_year";

    pub fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"year" => Self::Year,
            b"quarter" => Self::Quarter,
            b"month" => Self::Month,
            b"day" => Self::Day,
            b"hour" => Self::Hour,
            b"minute" => Self::Minute,
            b"second" => Self::Second,
            b"millisecond" => Self::Millisecond,
            b"day_of_week" => Self::DayOfWeek,
            b"day_of_year" => Self::DayOfYear,
            _ => return None,
        })
    }

    /// That part of a date.
    pub fn of(self, unix_ms: i64) -> i32 {
        let (day, ms) = (unix_ms.div_euclid(DAY_MS), unix_ms.rem_euclid(DAY_MS));
        let (year, month, of_month) = civil(day);
        let part = match self {
            Self::Year => year,
            Self::Quarter => (month + 2) / 3,
            Self::Month => month,
            Self::Day => of_month,
            Self::Hour => ms / 3_600_000,
            Self::Minute => ms / 60_000 % 60,
            Self::Second => ms / 1_000 % 60,
            Self::Millisecond => ms % 1_000,
            Self::DayOfWeek => (day + 4).rem_euclid(7) + 1,
            Self::DayOfYear => day - day_of(year, 1) + 1,
        };
        // All dates of 64 bits are within 300 million years.
        part as i32
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
        for (unit, end) in [
            ("hour", 1_709_125_200_000),
            ("week", 1_709_424_000_000),
            ("month", 1_709_251_200_000),
            ("quarter", 1_711_929_600_000),
            ("year", 1_735_689_600_000),
        ] {
            let unit = Unit::named(unit.as_bytes()).unwrap();
            assert_eq!((unit.end(moment), unit.end(end)), (end, end));
        }
        for extreme in [i64::MIN, i64::MAX] {
            Unit::Year.start(extreme);
            for unit in [Unit::Week, Unit::Month, Unit::Year] {
                unit.end(extreme);
                unit.later(extreme, extreme);
            }
            DatePart::DayOfYear.of(extreme);
            append_text(extreme, &mut Vec::new());
        }
    }

    /// 2024-01-31T00:00Z: February has 29 days in 2024, 28 in 2025.
    #[test]
    fn months_later_are_those_of_the_calendar() {
        let january = 1_706_659_200_000;
        for (unit, count, later) in [
            ("month", 1, 1_709_164_800_000),
            ("month", 13, 1_740_700_800_000),
            ("month", -2, 1_701_302_400_000),
            ("quarter", 1, 1_714_435_200_000),
            ("year", 1, 1_738_281_600_000),
            ("week", 1, 1_707_264_000_000),
            ("day", -31, 1_703_980_800_000),
        ] {
            assert_eq!(Unit::named(unit.as_bytes()).unwrap().later(january, count), later, "{unit} {count}");
        }
    }

    #[test]
    fn parts_of_a_date_are_those_of_mongodb() {
        // Wednesday, 2024-02-28T12:34:56.789Z.
        let moment = 1_709_123_696_789;
        for (part, found) in [
            ("year", 2024),
            ("quarter", 1),
            ("month", 2),
            ("day", 28),
            ("hour", 12),
            ("minute", 34),
            ("second", 56),
            ("millisecond", 789),
            ("day_of_week", 4),
            ("day_of_year", 59),
        ] {
            assert_eq!(DatePart::named(part.as_bytes()).unwrap().of(moment), found, "{part}");
        }
        assert_eq!(DatePart::Millisecond.of(-1), 999);
    }
}
