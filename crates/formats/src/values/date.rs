//! Owns reading a date, part by part, and what day of the calendar it is.

use super::number::integer;
use crate::calendar::{days_in_month, days_since_1970};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A piece of a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text that must be there; a space stands for any number of spaces.
    Literal(Vec<u8>),
    Year,
    /// 69 to 99 are of the last century.
    ShortYear,
    MonthName,
    ShortMonthName,
    /// Two digits where `padded`, else one or two.
    Month {
        padded: bool,
    },
    WeekdayName,
    ShortWeekdayName,
    Day {
        padded: bool,
    },
    /// A space may stand in front.
    SpacedDay,
    DayOfYear,
    Hour24 {
        padded: bool,
    },
    Hour12 {
        padded: bool,
    },
    Minute {
        padded: bool,
    },
    Second {
        padded: bool,
    },
    /// A point or comma and this many digits.
    Fraction(usize),
    /// A point or comma and any number of digits, or nothing.
    OptionalFraction,
    /// `AM` or `PM`, in lower case where `lower`.
    HalfDay {
        lower: bool,
    },
    /// Sign, then the first `units` of hours, minutes and seconds, with colons between them where `colons`; `z`: `Z` stands for UTC.
    Offset {
        z: bool,
        colons: bool,
        units: usize,
    },
    ZoneName,
}

/// What has been read of a date.
#[derive(Default)]
pub struct Date {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanosecond: i64,
    afternoon: Option<bool>,
    offset_s: i64,
}

impl Date {
    /// Reads `part` from the beginning of `text` and returns the rest.
    pub fn take<'a>(&mut self, part: &Part, text: &'a [u8]) -> Option<&'a [u8]> {
        let mut rest = text;
        match *part {
            Part::Literal(ref literal) => rest = skip(literal, rest)?,
            Part::Year => self.year = digits(&mut rest, 4, true)?,
            Part::ShortYear => {
                let year = digits(&mut rest, 2, true)?;
                self.year = if year >= 69 { 1900 + year } else { 2000 + year };
            }
            Part::MonthName => self.month = Some(name(&mut rest, &MONTHS, usize::MAX)? + 1),
            Part::ShortMonthName => self.month = Some(name(&mut rest, &MONTHS, 3)? + 1),
            Part::Month { padded } => {
                self.month = Some(digits(&mut rest, 2, padded)?).filter(|month| (1..=12).contains(month));
                self.month?;
            }
            Part::WeekdayName => drop(name(&mut rest, &WEEKDAYS, usize::MAX)?),
            Part::ShortWeekdayName => drop(name(&mut rest, &WEEKDAYS, 3)?),
            Part::Day { padded } => self.day = Some(digits(&mut rest, 2, padded)?),
            Part::SpacedDay => {
                rest = rest.strip_prefix(b" ").unwrap_or(rest);
                self.day = Some(digits(&mut rest, 2, false)?);
            }
            Part::DayOfYear => self.day_of_year = Some(digits(&mut rest, 3, true)?),
            Part::Hour24 { .. } => self.hour = below(digits(&mut rest, 2, false)?, 24)?,
            Part::Hour12 { padded } => self.hour = below(digits(&mut rest, 2, padded)?, 13)?,
            Part::Minute { padded } => self.minute = below(digits(&mut rest, 2, padded)?, 60)?,
            Part::Second { padded } => self.second = below(digits(&mut rest, 2, padded)?, 60)?,
            Part::Fraction(length) => {
                let (b'.' | b',', digits) = rest.split_first()? else { return None };
                self.nanosecond = nanoseconds(digits.get(..length)?)?;
                rest = &digits[length..];
            }
            Part::OptionalFraction => rest = self.take_optional_fraction(rest),
            Part::HalfDay { lower } => {
                let (morning, afternoon): (&[u8], &[u8]) =
                    if lower { (b"am", b"pm") } else { (b"AM", b"PM") };
                let half = rest.get(..2).filter(|half| *half == morning || *half == afternoon)?;
                self.afternoon = Some(half == afternoon);
                rest = &rest[2..];
            }
            Part::Offset { z, colons, units } => rest = self.take_offset(rest, z, colons, units)?,
            Part::ZoneName => rest = skip_zone_name(rest)?,
        }
        Some(rest)
    }

    /// Reads a point or comma and all digits after it, where there are any.
    pub fn take_optional_fraction<'a>(&mut self, text: &'a [u8]) -> &'a [u8] {
        let Some((b'.' | b',', digits)) = text.split_first() else { return text };
        let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        match nanoseconds(&digits[..length]) {
            Some(nanosecond) => {
                self.nanosecond = nanosecond;
                &digits[length..]
            }
            None => text,
        }
    }

    fn take_offset<'a>(&mut self, text: &'a [u8], z: bool, colons: bool, units: usize) -> Option<&'a [u8]> {
        const UNITS: [(i64, i64); 3] = [(25, 3_600), (61, 60), (61, 1)];
        if z && text.first() == Some(&b'Z') {
            return Some(&text[1..]);
        }
        let (sign, mut rest) = text.split_first()?;
        let sign = match sign {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.offset_s = 0;
        for (index, (limit, unit_s)) in UNITS.into_iter().take(units).enumerate() {
            if colons && index > 0 {
                rest = rest.strip_prefix(b":")?;
            }
            self.offset_s += sign * below(digits(&mut rest, 2, true)?, limit)? * unit_s;
        }
        Some(rest)
    }

    /// Milliseconds since 1970, `None` when there is no such date.
    pub fn unix_ms(&self) -> Option<i64> {
        let hour = match self.afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let (month, day) = match self.day_of_year {
            Some(day_of_year) => self.month_and_day(day_of_year)?,
            None => (self.month.unwrap_or(1), self.day.unwrap_or(1)),
        };
        if day < 1 || day > days_in_month(self.year, month) {
            return None;
        }
        let days = days_since_1970(self.year, month, day);
        let seconds = ((days * 24 + hour) * 60 + self.minute) * 60 + self.second - self.offset_s;
        Some(seconds * 1_000 + self.nanosecond / 1_000_000)
    }

    /// Where a day of the year lies; a month or day that was read as well must agree.
    fn month_and_day(&self, day_of_year: i64) -> Option<(i64, i64)> {
        let mut day = day_of_year;
        for month in 1..=12 {
            let length = days_in_month(self.year, month);
            if (1..=length).contains(&day) {
                let agrees = self.month.is_none_or(|other| other == month)
                    && self.day.is_none_or(|other| other == day);
                return agrees.then_some((month, day));
            }
            day -= length;
        }
        None
    }
}

/// A number of `length` digits, or of one at least where not `fixed`.
fn digits(text: &mut &[u8], length: usize, fixed: bool) -> Option<i64> {
    let found = text.iter().take(length).take_while(|byte| byte.is_ascii_digit()).count();
    if found == 0 || fixed && found < length {
        return None;
    }
    let (number, rest) = text.split_at(found);
    *text = rest;
    integer(number)
}

fn below(value: i64, limit: i64) -> Option<i64> {
    (value < limit).then_some(value)
}

/// Which of `names` the text begins with, in any case; each cut to `length` characters.
fn name(text: &mut &[u8], names: &[&str], length: usize) -> Option<i64> {
    let matches = |name: &&str| {
        let name = &name.as_bytes()[..name.len().min(length)];
        text.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name))
    };
    let index = names.iter().position(matches)?;
    *text = &text[names[index].len().min(length)..];
    Some(index as i64)
}

/// Nanoseconds of a fraction's digits; those past the ninth are dropped.
fn nanoseconds(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let nine = digits.iter().map(|byte| i64::from(byte - b'0')).chain(std::iter::repeat(0)).take(9);
    Some(nine.fold(0, |value, digit| value * 10 + digit))
}

/// The rest of `text` after `literal`; a run of spaces in it stands for any number of spaces.
fn skip<'a>(literal: &[u8], text: &'a [u8]) -> Option<&'a [u8]> {
    let mut literal = literal;
    let mut rest = text;
    while let Some((&first, more)) = literal.split_first() {
        if first == b' ' {
            if rest.first().is_some_and(|&byte| byte != b' ') {
                return None;
            }
            literal = trim_spaces(literal);
            rest = trim_spaces(rest);
        } else {
            rest = rest.strip_prefix(&[first])?;
            literal = more;
        }
    }
    Some(rest)
}

fn trim_spaces(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|&&byte| byte == b' ').count()..]
}

/// Three to five capital letters.
fn skip_zone_name(text: &[u8]) -> Option<&[u8]> {
    let length = text.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count();
    (3..=5).contains(&length).then(|| &text[length..])
}
