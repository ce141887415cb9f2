//! Owns dates as text: a layout in Go's notation, and reading a text by a layout.
//!
//! Source: <https://pkg.go.dev/time#pkg-constants> and `time.Parse` there. Differs in one thing: names of time zones other than
//! UTC and GMT are read as UTC always, where Go takes the offset of the machine's own zone when the name is its.

use super::number::integer;

/// A layout, told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DateLayout {
    parts: Vec<Part>,
}

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

const fn offset(z: bool, colons: bool, units: usize) -> Part {
    Part::Offset { z, colons, units }
}

/// What Go's layouts are made of; of those that begin alike the longest comes first.
static GO_PARTS: [(&str, Part); 34] = [
    ("January", Part::MonthName),
    ("Jan", Part::ShortMonthName),
    ("Monday", Part::WeekdayName),
    ("Mon", Part::ShortWeekdayName),
    ("MST", Part::ZoneName),
    ("002", Part::DayOfYear),
    ("01", Part::Month { padded: true }),
    ("02", Part::Day { padded: true }),
    ("03", Part::Hour12 { padded: true }),
    ("04", Part::Minute { padded: true }),
    ("05", Part::Second { padded: true }),
    ("06", Part::ShortYear),
    ("15", Part::Hour24 { padded: true }),
    ("1", Part::Month { padded: false }),
    ("2006", Part::Year),
    ("2", Part::Day { padded: false }),
    ("__2", Part::DayOfYear),
    ("_2006", Part::Year), // its underscore is text, see `from_go`
    ("_2", Part::SpacedDay),
    ("3", Part::Hour12 { padded: false }),
    ("4", Part::Minute { padded: false }),
    ("5", Part::Second { padded: false }),
    ("PM", Part::HalfDay { lower: false }),
    ("pm", Part::HalfDay { lower: true }),
    ("-07:00:00", offset(false, true, 3)),
    ("-070000", offset(false, false, 3)),
    ("-07:00", offset(false, true, 2)),
    ("-0700", offset(false, false, 2)),
    ("-07", offset(false, false, 1)),
    ("Z07:00:00", offset(true, true, 3)),
    ("Z070000", offset(true, false, 3)),
    ("Z07:00", offset(true, true, 2)),
    ("Z0700", offset(true, false, 2)),
    ("Z07", offset(true, false, 1)),
];

impl DateLayout {
    /// Of parts that are known.
    pub fn new(parts: Vec<Part>) -> Self {
        let mut layout = Self::default();
        for part in parts {
            layout.push(part);
        }
        layout
    }

    /// Of a layout in Go's notation, in which the example date is `Mon Jan 2 15:04:05 MST 2006`.
    pub fn from_go(text: &str) -> Self {
        let mut layout = Self::default();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (part, length) = go_part(rest).unwrap_or_else(|| {
                let length = first.len_utf8();
                (Part::Literal(rest.as_bytes()[..length].to_vec()), length)
            });
            layout.push(part);
            rest = &rest[length..];
        }
        layout
    }

    /// Appends a part; literals next to each other become one.
    fn push(&mut self, part: Part) {
        match (self.parts.last_mut(), part) {
            (Some(Part::Literal(text)), Part::Literal(more)) => text.extend_from_slice(&more),
            (_, part) => self.parts.push(part),
        }
    }

    /// Milliseconds since 1970 of the date that `text` writes. `None` when it does not follow the layout or there is no such date.
    pub fn parse(&self, text: &[u8]) -> Option<i64> {
        let mut date = Date::default();
        let mut rest = text;
        for (index, part) in self.parts.iter().enumerate() {
            rest = date.take(part, rest)?;
            let is_second = matches!(part, Part::Second { .. });
            let fraction_follows =
                matches!(self.parts.get(index + 1), Some(Part::Fraction(_) | Part::OptionalFraction));
            if is_second && !fraction_follows {
                rest = date.take_optional_fraction(rest);
            }
        }
        (rest.is_empty() && !self.parts.is_empty()).then(|| date.unix_ms())?
    }
}

/// The part that `text` begins with in Go's notation, and its length there.
fn go_part(text: &str) -> Option<(Part, usize)> {
    if let Some(fraction) = go_fraction(text.as_bytes()) {
        return Some(fraction);
    }
    let (notation, part) = GO_PARTS.iter().find(|(notation, _)| text.starts_with(notation))?;
    let follows_lower = text[notation.len()..].starts_with(|next: char| next.is_ascii_lowercase());
    match *notation {
        "Jan" | "Mon" if follows_lower => None,
        "_2006" => Some((Part::Literal(b"_".to_vec()), 1)),
        _ => Some((part.clone(), notation.len())),
    }
}

/// A point or comma with zeros or nines, not followed by another digit.
fn go_fraction(text: &[u8]) -> Option<(Part, usize)> {
    let [b'.' | b',', digit @ (b'0' | b'9'), ..] = text else { return None };
    let digits = text[1..].iter().take_while(|&byte| byte == digit).count();
    if text.get(1 + digits).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let part = if *digit == b'0' { Part::Fraction(digits) } else { Part::OptionalFraction };
    Some((part, 1 + digits))
}

/// What has been read of a date.
#[derive(Default)]
struct Date {
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
    fn take<'a>(&mut self, part: &Part, text: &'a [u8]) -> Option<&'a [u8]> {
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
    fn take_optional_fraction<'a>(&mut self, text: &'a [u8]) -> &'a [u8] {
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
    fn unix_ms(&self) -> Option<i64> {
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

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar; years begin in March, so that the leap day is the last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Milliseconds since 1970 of a date in RFC 3339's form, seconds and offset needed.
pub fn rfc3339(text: &[u8]) -> Option<i64> {
    static LAYOUT: std::sync::LazyLock<DateLayout> =
        std::sync::LazyLock::new(|| DateLayout::from_go("2006-01-02T15:04:05Z07:00"));
    LAYOUT.parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(layout: &str, text: &str) -> Option<i64> {
        DateLayout::from_go(layout).parse(text.as_bytes())
    }

    #[test]
    fn layouts_follow_go() {
        const DAY_MS: i64 = 86_400_000;
        let cases: [(&str, &str, Option<i64>); 35] = [
            ("2006-01-02", "1970-01-02", Some(DAY_MS)),
            ("2006-01-02", "1969-12-31", Some(-DAY_MS)),
            ("2006-01-02", "1970-1-2", None),
            ("2006-1-2", "1970-01-2", Some(DAY_MS)),
            ("2006-1-2", "1970-1-2 ", None),
            ("2006-01-02", "2019-02-29", None),
            ("2006-01-02", "2000-02-29", Some(951_782_400_000)),
            ("2006-01-02", "1900-02-29", None),
            ("2006-01-02", "1970-13-01", None),
            ("2006-01-02", "1970-01-00", None),
            ("06 Jan 2", "70 jAn 2", Some(DAY_MS)),
            ("06", "68", Some(3_092_601_600_000)),
            ("January _2 2006", "January  2 1970", Some(DAY_MS)),
            ("Mon Jan 2 2006", "Fri Jan 2 1970", Some(DAY_MS)),
            ("Monday, 2-1-2006", "friday, 2-1-1970", Some(DAY_MS)),
            ("2006 002", "1970 002", Some(DAY_MS)),
            ("2006 002", "1970 366", None),
            ("2006 15:04:05", "1970 0:00:01.5", Some(1_500)),
            ("2006 15:04:05", "1970 24:00:00", None),
            ("2006 15:04:05.000", "1970 00:00:01.5", None),
            ("2006 15:04:05.000", "1970 00:00:01.501", Some(1_501)),
            ("2006 15:04:05,999", "1970 00:00:01", Some(1_000)),
            ("2006 3:04PM", "1970 12:00AM", Some(0)),
            ("2006 3:04PM", "1970 12:00PM", Some(DAY_MS / 2)),
            ("2006 3:04pm", "1970 12:00PM", None),
            ("2006 3:04PM", "1970 13:00PM", None),
            ("2006Z07:00", "1970Z", Some(0)),
            ("2006Z07:00", "1970+01:00", Some(-3_600_000)),
            ("2006-0700", "1970-0130", Some(5_400_000)),
            ("2006-07", "1970-01", Some(3_600_000)),
            ("2006-07:00:00", "1970-00:00:01", Some(1_000)),
            ("2006 MST", "1970 CET", Some(0)),
            ("January of 2006", "Januar of 1970", None),
            ("Month 2006", "Month 1970", Some(0)),
            ("", "", None),
        ];
        for (layout, text, unix_ms) in cases {
            assert_eq!(parse(layout, text), unix_ms, "{layout} {text}");
        }
    }

    #[test]
    fn every_part_is_found_where_it_stands_alone() {
        for (notation, part) in &GO_PARTS {
            assert_eq!(DateLayout::from_go(notation).parts.last(), Some(part), "{notation}");
        }
    }

    #[test]
    fn days_agree_with_the_official_library() {
        for unix_ms in (-62_135_596_800_000..253_402_300_799_999).step_by(77_777_777_777) {
            let text = bson::DateTime::from_millis(unix_ms).try_to_rfc3339_string().unwrap();
            assert_eq!(rfc3339(text.as_bytes()), Some(unix_ms), "{text}");
        }
    }
}
