//! Owns what a statement is, as far as its answer depends on it: its first word, its limit, its placeholders, its rows.

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Select,
    Insert,
    Update,
    Delete,
    Call,
    /// The question which isolation transactions have, which pools of drivers ask.
    Isolation,
    /// Anything else, such as `BEGIN` or `SET`.
    Other,
}

/// A statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    pub kind: Kind,
    /// How many values it takes.
    pub placeholders: u16,
    /// How many rows it changes.
    pub changed: u64,
    limit: Limit,
}

/// How many rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Rows(u64),
    /// As many as the last value says.
    LastValue,
}

/// Most rows of a reply.
const ROWS_MAX: u64 = 1_000_000;
const LIMIT: &[u8] = b"LIMIT ";

impl Kind {
    /// What it is counted as.
    pub fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Call => "call",
            Self::Isolation | Self::Other => "other",
        }
    }

    /// Whether the script applies to it.
    pub fn is_data(self) -> bool {
        !matches!(self, Self::Isolation | Self::Other)
    }
}

impl Statement {
    /// Reads a text.
    pub fn read(text: &[u8]) -> Self {
        let text = text.trim_ascii();
        let word = text.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
        let kind = match word.to_ascii_uppercase().as_slice() {
            // `@@session.transaction_isolation`, and `tx_isolation` in older versions.
            b"SELECT" if text.starts_with(b"SELECT @@") && text.ends_with(b"isolation") => Kind::Isolation,
            b"SELECT" => Kind::Select,
            b"INSERT" | b"REPLACE" => Kind::Insert,
            b"UPDATE" => Kind::Update,
            b"DELETE" => Kind::Delete,
            b"CALL" => Kind::Call,
            _ => Kind::Other,
        };
        let outside = Outside { text, quote: None }.filter(|&byte| byte == b'?');
        Self {
            kind,
            placeholders: outside.count().try_into().unwrap_or(u16::MAX),
            changed: if kind == Kind::Insert { rows(text) } else { 1 },
            limit: limit(text),
        }
    }

    /// How many rows it reads, given the arguments of its execution.
    pub fn row_count(&self, arguments: Option<&[u8]>) -> u64 {
        let count = match self.limit {
            Limit::Rows(count) => Some(count),
            Limit::LastValue => arguments.and_then(|arguments| last_value(arguments, self.placeholders)),
        };
        count.unwrap_or(1).min(ROWS_MAX)
    }
}

/// What follows the last `LIMIT`; a statement without one reads one row.
fn limit(text: &[u8]) -> Limit {
    let found = text.windows(LIMIT.len()).rposition(|window| window.eq_ignore_ascii_case(LIMIT));
    let Some(found) = found else { return Limit::Rows(1) };
    let rest = text[found + LIMIT.len()..].trim_ascii();
    if rest.first() == Some(&b'?') {
        return Limit::LastValue;
    }
    let digits = rest.split(|byte| !byte.is_ascii_digit()).next().unwrap_or_default();
    Limit::Rows(std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(1))
}

/// How many rows stand behind `VALUES`: brackets that open outside of others.
fn rows(text: &[u8]) -> u64 {
    const VALUES: &[u8] = b"VALUES";
    let found = text.windows(VALUES.len()).position(|window| window.eq_ignore_ascii_case(VALUES));
    let Some(found) = found else { return 1 };
    let (mut depth, mut count) = (0, 0);
    for byte in (Outside { text: &text[found..], quote: None }) {
        match byte {
            b'(' => {
                count += u64::from(depth == 0);
                depth += 1;
            }
            b')' => depth -= 1,
            _ => {}
        }
    }
    count.max(1)
}

/// The last value of an execution, when it is an integer. Types stand behind the number, the flags, how often, which are null,
/// and whether types follow; values behind them.
fn last_value(arguments: &[u8], placeholders: u16) -> Option<u64> {
    const LONG: u8 = 3;
    const LONGLONG: u8 = 8;
    let count = usize::from(placeholders);
    let types = 4 + 1 + 4 + count.div_ceil(8) + 1;
    let last = arguments.get(types + 2 * count.checked_sub(1)?)?;
    match *last {
        LONG => arguments.last_chunk().map(|bytes| u64::from(u32::from_le_bytes(*bytes))),
        LONGLONG => arguments.last_chunk().map(|bytes| u64::from_le_bytes(*bytes)),
        _ => None,
    }
}

/// The bytes of a text outside of quotes.
struct Outside<'a> {
    text: &'a [u8],
    quote: Option<u8>,
}

impl Iterator for Outside<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (&byte, rest) = self.text.split_first()?;
            self.text = rest;
            match self.quote {
                Some(_) if byte == b'\\' => self.text = rest.get(1..).unwrap_or_default(),
                // A quote that is doubled ends a text and begins another, which is the same here.
                Some(quote) if byte == quote => self.quote = None,
                Some(_) => {}
                None if matches!(byte, b'\'' | b'"' | b'`') => self.quote = Some(byte),
                None => return Some(byte),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_apart() {
        for (text, kind, placeholders, changed, rows) in [
            ("SELECT * FROM t WHERE id = ?", Kind::Select, 1, 1, 1),
            (" select '?' , \"it''s ?\", `?` from t limit 20", Kind::Select, 0, 1, 20),
            ("SELECT 1 LIMIT ?", Kind::Select, 1, 1, 1),
            ("INSERT INTO t (a, b) VALUES (1, 'x(''\\'('), (2, f(3))", Kind::Insert, 0, 2, 1),
            ("INSERT INTO t VALUES (?, ?)", Kind::Insert, 2, 1, 1),
            ("REPLACE INTO t SELECT 1", Kind::Insert, 0, 1, 1),
            ("UPDATE t SET a = ?", Kind::Update, 1, 1, 1),
            ("DELETE FROM t", Kind::Delete, 0, 1, 1),
            ("BEGIN", Kind::Other, 0, 1, 1),
            ("SELECT @@session.transaction_isolation", Kind::Isolation, 0, 1, 1),
            ("SELECT @@tx_isolation", Kind::Isolation, 0, 1, 1),
            ("", Kind::Other, 0, 1, 1),
        ] {
            let statement = Statement::read(text.as_bytes());
            assert_eq!(
                (statement.kind, statement.placeholders, statement.changed),
                (kind, placeholders, changed),
                "{text}"
            );
            assert_eq!(statement.row_count(None), rows, "{text}");
        }
    }

    #[test]
    fn a_limit_may_be_a_value() {
        let statement = Statement::read(b"SELECT 1 FROM t WHERE k >= ? LIMIT ?");
        let head = b"\x01\0\0\0\0\x01\0\0\0\0\x01\xfd\0";
        let of = |rest: &[u8]| statement.row_count(Some(&[head.as_slice(), rest].concat()));
        assert_eq!(of(b"\x03\0\x01k\x07\0\0\0"), 7);
        assert_eq!(of(b"\x08\0\x01k\x09\0\0\0\0\0\0\0"), 9);
        assert_eq!(of(b"\xfd\0\x01k\x011"), 1);
        assert_eq!(statement.row_count(Some(b"")), 1);
    }
}
