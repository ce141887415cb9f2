//! Owns the two other notations of date layouts: Microsoft's (`date_ms`) and Oracle's (`date_oracle`).
//!
//! Sources: the format strings of T-SQL's FORMAT and of Oracle's `TO_CHAR`, as far as Go's layouts can express them; anything else is
//! text that must be there. Fractions of a second have no letters in Microsoft's notation here: they may follow the seconds as in Go.

use super::date::Part;
use super::date_layout::DateLayout;

/// A way to write parts; of those that begin alike the longest comes first.
type Notation = (&'static str, Part);

const fn offset(units: usize) -> Part {
    Part::Offset { z: false, colons: true, units }
}

static MICROSOFT: [Notation; 21] = [
    ("dddd", Part::WeekdayName),
    ("ddd", Part::ShortWeekdayName),
    ("dd", Part::Day { padded: true }),
    ("d", Part::Day { padded: false }),
    ("MMMM", Part::MonthName),
    ("MMM", Part::ShortMonthName),
    ("MM", Part::Month { padded: true }),
    ("M", Part::Month { padded: false }),
    ("yyyy", Part::Year),
    ("yy", Part::ShortYear),
    ("HH", Part::Hour24 { padded: true }),
    ("H", Part::Hour24 { padded: false }),
    ("hh", Part::Hour12 { padded: true }),
    ("h", Part::Hour12 { padded: false }),
    ("mm", Part::Minute { padded: true }),
    ("m", Part::Minute { padded: false }),
    ("ss", Part::Second { padded: true }),
    ("s", Part::Second { padded: false }),
    ("tt", Part::HalfDay { lower: false }),
    ("zzz", offset(2)),
    ("zz", offset(1)),
];

static ORACLE: [Notation; 24] = [
    ("YYYY", Part::Year),
    ("RRRR", Part::Year),
    ("YY", Part::ShortYear),
    ("RR", Part::ShortYear),
    ("MONTH", Part::MonthName),
    ("MON", Part::ShortMonthName),
    ("MM", Part::Month { padded: true }),
    ("MI", Part::Minute { padded: true }),
    ("DDD", Part::DayOfYear),
    ("DD", Part::Day { padded: true }),
    ("DAY", Part::WeekdayName),
    ("DY", Part::ShortWeekdayName),
    ("HH24", Part::Hour24 { padded: true }),
    ("HH12", Part::Hour12 { padded: true }),
    ("HH", Part::Hour12 { padded: true }),
    ("SS", Part::Second { padded: true }),
    ("AM", Part::HalfDay { lower: false }),
    ("PM", Part::HalfDay { lower: false }),
    ("TZH:TZM", offset(2)),
    ("TZH", offset(1)),
    (".FF9", Part::Fraction(9)),
    (".FF6", Part::Fraction(6)),
    (".FF3", Part::Fraction(3)),
    (".FF", Part::OptionalFraction),
];

/// The layout that `text` writes in Microsoft's notation.
pub fn microsoft(text: &str) -> DateLayout {
    layout(text, |rest| find(&MICROSOFT, |notation| rest.starts_with(notation)))
}

/// The layout that `text` writes in Oracle's notation, in either case.
pub fn oracle(text: &str) -> DateLayout {
    layout(text, |rest| {
        let begins = |notation: &str| {
            rest.get(..notation.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(notation))
        };
        find(&ORACLE, begins)
    })
}

fn find(notations: &[Notation], begins: impl Fn(&str) -> bool) -> Option<(Part, usize)> {
    let (notation, part) = notations.iter().find(|(notation, _)| begins(notation))?;
    Some((part.clone(), notation.len()))
}

/// Splits `text` into what `part` finds and literals.
fn layout(text: &str, part: impl Fn(&str) -> Option<(Part, usize)>) -> DateLayout {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let literal = || (Part::Literal(rest.as_bytes()[..first.len_utf8()].to_vec()), first.len_utf8());
        let (part, length) = part(rest).unwrap_or_else(literal);
        parts.push(part);
        rest = &rest[length..];
    }
    DateLayout::new(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_notations_read_the_same_dates_as_go() {
        let cases = [
            (microsoft("dd/MM/yyyy"), "02/01/1970", Some(86_400_000)),
            (microsoft("dd/MM/yyyy"), "2/1/1970", None),
            (microsoft("dddd, MMMM d yy h:mm:ss tt"), "Thursday, January 1 70 12:00:05 AM", Some(5_000)),
            (microsoft("ddd MMM d yyyy H:m:s zzz"), "Thu Jan 1 1970 1:0:0 +01:00", Some(0)),
            (microsoft("yyyy-MM-ddTHH:mm:ss"), "1970-01-01T00:00:00.123", Some(123)),
            (microsoft("ss.fff"), "00.123", None),
            (oracle("YYYY-MM-DD HH24:MI:SS"), "1970-01-01 23:00:00", Some(82_800_000)),
            (oracle("dd-mon-yy hh:mi:ss am"), "02-Jan-70 01:00:00 PM", Some(86_400_000 + 46_800_000)),
            (oracle("DAY DDD YYYY.FF3 TZH:TZM"), "Thursday 001 1970.250 +00:00", Some(250)),
            (oracle("MONTH DD YYYY"), "Jan 01 1970", None),
        ];
        for (layout, text, unix_ms) in cases {
            assert_eq!(layout.parse(text.as_bytes()), unix_ms, "{text}");
        }
    }
}
