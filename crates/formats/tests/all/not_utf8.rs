//! Text that is not UTF-8: it becomes what mongoimport makes of it, and is counted.

use crate::support::{options, read_all};
use brimline_formats::{Columns, Format, FormatOptions, NamesNotUtf8, ParseGrace, Position};
use bson::doc;

fn table(format: Format) -> FormatOptions {
    FormatOptions { columns: Some(Columns::Headerline), ..options(format) }
}

#[test]
fn cells_in_which_bytes_are_replaced_are_counted_with_the_line_of_the_first() {
    let rows = b"a,b\nx,\xc3\xa9\n\xe9,\"\xff\xff \"\"\"\n1,2,\xe9,y\n".to_vec();
    let read = read_all(&table(Format::Csv), rows);
    let expected = [
        doc! {"a": "x", "b": "é"},
        doc! {"a": "\u{fffd}", "b": "\u{fffd}\u{fffd} \""},
        doc! {"a": 1, "b": 2, "field2": "\u{fffd}", "field3": "y"},
    ];
    assert_eq!((read.documents(), read.stop), (expected.to_vec(), None));
    assert_eq!((read.not_utf8, read.names_not_utf8), ((3, Some(3)), None));
    let read = read_all(&table(Format::Tsv), b"a\tb\n1\t2\n\n\xe9\t\xe9\n".to_vec());
    assert_eq!(read.not_utf8, (2, Some(4)));
}

#[test]
fn names_are_counted_apart_from_cells() {
    let read = read_all(&table(Format::Csv), b"\n\xe9,b,\xff!\n1,2,3\n".to_vec());
    let at = Position { offset: 1, line: 2 };
    assert_eq!((read.not_utf8, read.names_not_utf8), ((0, None), Some(NamesNotUtf8 { texts: 2, at })));
}

#[test]
fn a_cell_that_is_left_out_is_not_counted_nor_is_a_row() {
    let rows = b"a.int32(),b.string()\n\xe9,\xe9\n1,x\n".to_vec();
    for (parse_grace, count) in
        [(ParseGrace::SkipField, 1), (ParseGrace::SkipRow, 0), (ParseGrace::AutoCast, 2)]
    {
        let options = FormatOptions { columns_have_types: true, parse_grace, ..table(Format::Csv) };
        assert_eq!(read_all(&options, rows.clone()).not_utf8.0, count, "{parse_grace:?}");
    }
}

#[test]
fn strings_of_json_are_counted_whether_they_are_kept_or_not() {
    let text =
        b"{\"a\":\"\xc3\xa9\"}\n{\"\xe9\":[\"\xff\",\"x\"],\"b\":\"\xff\\n\xff\"}\n{\"a\":1}\n".to_vec();
    for legacy in [false, true] {
        let read = read_all(&FormatOptions { legacy, ..options(Format::Json) }, text.clone());
        assert_eq!((read.not_utf8, read.stop), ((3, Some(2)), None), "legacy {legacy}");
        let is_kept = read.raw[1].windows(3).any(|bytes| bytes == b"\xff\n\xff");
        assert_eq!(is_kept, !legacy);
    }
    let literal =
        read_all(&FormatOptions { legacy: true, ..options(Format::Json) }, b"{a: /x\xff/i}".to_vec());
    assert!(literal.raw[0].ends_with("x\u{fffd}\0i\0\0".as_bytes()));
    assert_eq!(literal.not_utf8, (1, Some(1)));
}
