//! Owns dates as text: a layout in Go's notation, and reading a text by a layout.
//!
//! Source: <https://pkg.go.dev/time#pkg-constants> and `time.Parse` there. Differs in one thing: names of time zones other than
//! UTC and GMT are read as UTC always, where Go takes the offset of the machine's own zone when the name is its.

use std::sync::LazyLock;

use super::date::{Date, Part};

/// A layout, told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DateLayout {
    parts: Vec<Part>,
}

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

/// Layouts that are tried one after the other.
type Layouts = LazyLock<Vec<DateLayout>>;

/// Milliseconds since 1970 of a date as Extended JSON has it: seconds and offset needed, the offset with or without its colon.
pub fn extended_json(text: &[u8]) -> Option<i64> {
    static LAYOUTS: Layouts = LazyLock::new(|| {
        ["2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700"].map(DateLayout::from_go).into()
    });
    LAYOUTS.iter().find_map(|layout| layout.parse(text))
}

/// The same as version 1 of Extended JSON has it, which does without seconds too.
pub fn legacy_json(text: &[u8]) -> Option<i64> {
    static LAYOUTS: Layouts =
        LazyLock::new(|| ["2006-01-02T15:04Z", "2006-01-02T15:04-0700"].map(DateLayout::from_go).into());
    // Layouts with seconds and a sign are in the first list, where the Z of an offset of 0 may stand as well.
    extended_json(text).or_else(|| LAYOUTS.iter().find_map(|layout| layout.parse(text)))
}

/// Milliseconds since 1970 of a date as SQL has it: a day alone, with a time, or with a time and an offset; UTC without one.
pub fn sql(text: &[u8]) -> Option<i64> {
    static LAYOUTS: Layouts = LazyLock::new(|| {
        let layouts =
            ["2006-01-02", "2006-01-02 15:04:05", "2006-01-02 15:04:05-07:00", "2006-01-02 15:04:05-07"];
        layouts.map(DateLayout::from_go).into()
    });
    LAYOUTS.iter().find_map(|layout| layout.parse(text))
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
        let cases: [(&str, &str, Option<i64>); 36] = [
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
            ("06", "69", Some(-31_536_000_000)),
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
            assert_eq!(extended_json(text.as_bytes()), Some(unix_ms), "{text}");
        }
    }
}
