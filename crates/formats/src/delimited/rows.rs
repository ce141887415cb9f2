//! Owns the grammar of rows: where cells begin and end.

use memchr::{memchr, memchr3};

use super::Dialect;

/// Where a cell lies in the bytes of its row, quotes around it left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub start: usize,
    pub end: usize,
    /// Quotes in it are doubled or lines end with CR LF, so that its text is not its bytes.
    pub escaped: bool,
}

/// The cells of one row; its memory serves one row after another.
#[derive(Default)]
pub struct Cells {
    pub list: Vec<Cell>,
    /// Length of the row, line break included.
    pub length: usize,
    /// How many lines the row takes up.
    pub lines: u64,
}

/// How reading a row ended.
#[derive(Debug, PartialEq, Eq)]
pub enum RowEnd {
    /// A row, or the last of the input without a line break.
    Row,
    /// Nothing on the line: no row.
    Blank,
    /// Why it is no row.
    Malformed(Malformed),
}

/// What makes a row none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    BareQuote,
    AfterQuote,
    NeverClosed,
}

impl Malformed {
    pub fn reason(self) -> &'static str {
        match self {
            Self::BareQuote => "a quote in a cell that doesn't begin with one",
            Self::AfterQuote => "text after the closing quote of a cell",
            Self::NeverClosed => "a quote that is never closed",
        }
    }
}

/// What ends a cell.
enum CellEnd {
    Delimiter,
    Row,
}

impl Cells {
    /// Reads the row that `bytes` begin with.
    #[inline]
    pub fn read_row(&mut self, dialect: Dialect, bytes: &[u8]) -> RowEnd {
        self.list.clear();
        self.lines = 1;
        match dialect {
            Dialect::Csv => self.read_csv(bytes),
            Dialect::Tsv => self.read_tsv(bytes),
        }
    }

    fn read_tsv(&mut self, bytes: &[u8]) -> RowEnd {
        let end = memchr(b'\n', bytes);
        self.length = end.map_or(bytes.len(), |at| at + 1);
        let mut line = &bytes[..end.unwrap_or(bytes.len())];
        while let [rest @ .., b'\r'] = line {
            line = rest;
        }
        let mut start = 0;
        while let Some(length) = memchr(b'\t', &line[start..]) {
            self.list.push(Cell { start, end: start + length, escaped: false });
            start += length + 1;
        }
        self.list.push(Cell { start, end: line.len(), escaped: false });
        RowEnd::Row
    }

    fn read_csv(&mut self, bytes: &[u8]) -> RowEnd {
        if let Some(length) = blank_line(bytes) {
            self.length = length;
            return RowEnd::Blank;
        }
        let mut at = 0;
        loop {
            at += spaces(bytes, at);
            let end = if bytes.get(at) == Some(&b'"') {
                self.read_quoted(bytes, at + 1)
            } else {
                self.read_plain(bytes, at)
            };
            match end {
                Ok((CellEnd::Delimiter, next)) => at = next,
                Ok((CellEnd::Row, next)) => {
                    self.length = next;
                    return RowEnd::Row;
                }
                Err(malformed) => return RowEnd::Malformed(malformed),
            }
        }
    }

    /// Reads a cell without quotes, which begins at `start`. Returns what ends it, and the place after that.
    #[inline]
    fn read_plain(&mut self, bytes: &[u8], start: usize) -> Result<(CellEnd, usize), Malformed> {
        let length = memchr3(b',', b'\n', b'"', &bytes[start..]);
        let stop = length.map_or(bytes.len(), |length| start + length);
        let end = trimmed_end(bytes, start, stop);
        self.list.push(Cell { start, end, escaped: false });
        match bytes.get(stop) {
            Some(b',') => Ok((CellEnd::Delimiter, stop + 1)),
            Some(b'\n') => Ok((CellEnd::Row, stop + 1)),
            None => Ok((CellEnd::Row, stop)),
            Some(_) => Err(Malformed::BareQuote),
        }
    }

    /// Reads a cell whose text begins at `start`, after its quote.
    fn read_quoted(&mut self, bytes: &[u8], start: usize) -> Result<(CellEnd, usize), Malformed> {
        let mut escaped = false;
        let mut at = start;
        let end = loop {
            at += memchr3(b'"', b'\n', b'\r', &bytes[at..]).ok_or(Malformed::NeverClosed)?;
            match (bytes[at], bytes.get(at + 1)) {
                (b'"', Some(b'"')) => {
                    escaped = true;
                    at += 2;
                }
                (b'"', _) => break at,
                (b'\n', _) => {
                    self.lines += 1;
                    at += 1;
                }
                (_, next) => {
                    escaped |= next == Some(&b'\n');
                    at += 1;
                }
            }
        };
        self.list.push(Cell { start, end, escaped });
        let after = end + 1 + spaces(bytes, end + 1);
        match (bytes.get(after), bytes.get(after + 1)) {
            (Some(b','), _) => Ok((CellEnd::Delimiter, after + 1)),
            (Some(b'\n'), _) => Ok((CellEnd::Row, after + 1)),
            (Some(b'\r'), Some(b'\n')) => Ok((CellEnd::Row, after + 2)),
            (Some(b'\r'), None) | (None, _) => Ok((CellEnd::Row, bytes.len())),
            _ => Err(Malformed::AfterQuote),
        }
    }
}

/// Appends the text of an escaped cell: doubled quotes once, CR LF as LF.
pub fn push_unescaped(bytes: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        match byte {
            b'\r' if next == Some(&b'\n') => {}
            b'"' => {
                out.push(byte);
                at += 1; // its double
            }
            _ => out.push(byte),
        }
        at += 1;
    }
}

/// Length of the line break when the line holds nothing else.
#[inline]
fn blank_line(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'\n', ..] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        _ => None,
    }
}

/// Length of the white space at `at`: all of Unicode's, a lone CR too, but no line break and nothing before the end of the input
/// that may be the first half of one.
#[inline]
fn spaces(bytes: &[u8], at: usize) -> usize {
    let mut next = at;
    loop {
        match bytes.get(next) {
            Some(b' ' | b'\t' | 0x0b | 0x0c) => next += 1,
            Some(b'\r') if bytes.get(next + 1).is_some_and(|&byte| byte != b'\n') => next += 1,
            Some(0x80..) => match wide_space(&bytes[next..]) {
                0 => return next - at,
                length => next += length,
            },
            _ => return next - at,
        }
    }
}

/// Length of the white space beyond ASCII that `bytes` begin with, 0: none.
#[cold]
fn wide_space(bytes: &[u8]) -> usize {
    match bytes {
        [0xc2, 0x85 | 0xa0, ..] => 2,
        [0xe1, 0x9a, 0x80, ..]
        | [0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf, ..]
        | [0xe2, 0x81, 0x9f, ..]
        | [0xe3, 0x80, 0x80, ..] => 3,
        _ => 0,
    }
}

/// Where a cell without quotes ends when the spaces at its end are left out.
#[inline]
fn trimmed_end(bytes: &[u8], start: usize, stop: usize) -> usize {
    let mut end = stop;
    while end > start {
        end -= match bytes[end - 1] {
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => 1,
            0x80.. => match wide_space_before(&bytes[start..end]) {
                0 => return end,
                length => length,
            },
            _ => return end,
        };
    }
    end
}

/// Length of the white space beyond ASCII that `bytes` end with, 0: none.
#[cold]
fn wide_space_before(bytes: &[u8]) -> usize {
    [2, 3]
        .into_iter()
        .find(|&length| bytes.len() >= length && wide_space(&bytes[bytes.len() - length..]) == length)
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(dialect: Dialect, text: &str) -> Result<Vec<String>, Malformed> {
        let mut cells = Cells::default();
        match cells.read_row(dialect, text.as_bytes()) {
            RowEnd::Malformed(malformed) => Err(malformed),
            RowEnd::Blank => Ok(Vec::new()),
            RowEnd::Row => Ok(cells
                .list
                .iter()
                .map(|cell| {
                    let mut out = Vec::new();
                    match &text.as_bytes()[cell.start..cell.end] {
                        bytes if cell.escaped => push_unescaped(bytes, &mut out),
                        bytes => out.extend_from_slice(bytes),
                    }
                    String::from_utf8(out).unwrap()
                })
                .collect()),
        }
    }

    #[test]
    fn cells_of_csv_are_trimmed_unless_quoted() {
        let cases: [(&str, &[&str]); 18] = [
            ("a,b,c\nnext", &["a", "b", "c"]),
            (" a b ,\tc\t\r\n", &["a b", "c"]),
            ("", &[""]),
            ("   ", &[""]),
            (",", &["", ""]),
            ("\" a \",\"\"", &[" a ", ""]),
            (" \"a\" , \"b\" \n", &["a", "b"]),
            ("\"say \"\"hi\"\"\"", &["say \"hi\""]),
            ("\"\"\"\"", &["\""]),
            ("\"a\r\nb\rc\nd\"\r\n", &["a\nb\rc\nd"]),
            ("\"a,b\",c", &["a,b", "c"]),
            ("a\rb", &["a\rb"]),
            ("\u{a0}12\u{a0},\u{3000}x y\u{2003} \n", &["12", "x y"]),
            ("\u{a0}\"\u{a0}a\u{a0}\"\u{a0} ,\"b\"\u{2028}\n", &["\u{a0}a\u{a0}", "b"]),
            ("\ra\r,\"b\"\r\r\nnext", &["a", "b"]),
            ("\"a\"\r,b\r\r\n", &["a", "b"]),
            ("\u{85}é\u{1680}\u{205f}\u{202f}", &["é"]),
            ("\u{200b}a\u{feff}", &["\u{200b}a\u{feff}"]),
        ];
        for (text, cells) in cases {
            assert_eq!(row(Dialect::Csv, text).unwrap(), cells, "{text:?}");
        }
    }

    #[test]
    fn quotes_in_the_wrong_place_are_told_apart() {
        assert_eq!(row(Dialect::Csv, "1,ab\"c\n"), Err(Malformed::BareQuote));
        assert_eq!(row(Dialect::Csv, "1,\"ab\"c\n"), Err(Malformed::AfterQuote));
        assert_eq!(row(Dialect::Csv, "1,\"ab\n2,c\n"), Err(Malformed::NeverClosed));
        assert_eq!(row(Dialect::Csv, "\"a\"\u{a0}\"b\"\n"), Err(Malformed::AfterQuote));
        assert_eq!(row(Dialect::Csv, "\"a\"\rb\n"), Err(Malformed::AfterQuote));
    }

    #[test]
    fn nothing_is_special_in_tsv_but_tabs_and_the_line_end() {
        assert_eq!(row(Dialect::Tsv, " \"a\t b \t\r\r\n").unwrap(), [" \"a", " b ", ""]);
        assert_eq!(row(Dialect::Tsv, "\n").unwrap(), [""]);
    }

    #[test]
    fn lines_and_length_of_a_row_include_the_breaks_in_quotes() {
        let mut cells = Cells::default();
        assert_eq!(cells.read_row(Dialect::Csv, b"a,\"b\nc\r\nd\"\nnext"), RowEnd::Row);
        assert_eq!((cells.lines, cells.length), (3, 11));
        assert_eq!(cells.read_row(Dialect::Csv, b"\r\nnext"), RowEnd::Blank);
        assert_eq!((cells.lines, cells.length), (1, 2));
    }
}
