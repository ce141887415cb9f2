//! Records that are too long: rejected with their line, reading goes on behind them.

use std::io::{Cursor, Read};

use crate::support::{options, read_all};
use brimline_formats::{
    Columns, DOCUMENT_BYTES_MAX, Format, FormatOptions, RECORD_BYTES_MAX, Rejection, open,
};

/// Longer than any record that is read.
const LONG: usize = RECORD_BYTES_MAX + 3_000_000;

fn table(format: Format) -> FormatOptions {
    FormatOptions { columns: Some(Columns::Fields("_id,v".to_owned())), ..options(format) }
}

fn array() -> FormatOptions {
    FormatOptions { json_array: true, ..options(Format::Json) }
}

#[test]
fn a_record_that_is_too_long_is_rejected_with_its_line() {
    let x = "x".repeat(LONG);
    let broken = "x\n".repeat(LONG / 2);
    let cases = [
        (table(Format::Csv), format!("1,a\n2,{x}\n3,b\n")),
        (table(Format::Csv), format!("1,a\n2,\"{x}\"\"\n\"\n3,b\n")),
        (table(Format::Csv), format!("1,a\n2,\"{broken}\"\n3,b\n")),
        (table(Format::Tsv), format!("1\ta\n2\t{x}\n3\tb\n")),
        (options(Format::Json), format!("{{\"_id\":1}}\n{{\"_id\":2,\"v\":\"{x}\"}}\n{{\"_id\":3}}\n")),
        (options(Format::Json), format!("{{\"_id\":1}}\n{{\"_id\":2,\"v\":\"}}{{\\\"{x}\"}}{{\"_id\":3}}")),
        (array(), format!("[{{\"_id\":1}},\n{{\"_id\":2,\"v\":[\"]\",\"{x}\"]}},\n{{\"_id\":3}}]")),
    ];
    for (options, input) in cases {
        let begin: String = input.chars().take(40).collect();
        let read = read_all(&options, input.into_bytes());
        assert_eq!(read.stop, None, "{begin}");
        let ids: Vec<_> = read.documents().iter().map(|document| document.get_i32("_id").unwrap()).collect();
        assert_eq!(ids, [1, 3], "{begin}");
        let [rejected] = read.rejected.as_slice() else {
            panic!("{} rejected: {begin}", read.rejected.len())
        };
        assert_eq!((rejected.line, rejected.rejection), (2, Rejection::TooLarge), "{begin}");
        assert!(rejected.text.len() <= 64 * 1024 && rejected.reason.contains("the limit is"), "{begin}");
    }
}

#[test]
fn what_is_kept_of_a_rejected_record_is_not_cut_inside_a_character() {
    for length in [LONG, DOCUMENT_BYTES_MAX] {
        let input = format!("1,{}\n", "é".repeat(length / 2)); // 64 KiB after its beginning is the middle of a character
        let input = [b"x".as_slice(), input.as_bytes()].concat();
        let read = read_all(&table(Format::Csv), input);
        let text = str::from_utf8(&read.rejected[0].text).expect("text stays text");
        assert_eq!(text.len(), 64 * 1024 - 1, "{length}");
    }
}

#[test]
fn lines_are_counted_through_what_is_passed_over() {
    let input = format!("1,\"{}\"\n2,b\n", "x\n".repeat(LONG / 2));
    let read = read_all(&table(Format::Csv), input.into_bytes());
    assert_eq!(read.rows[0].line, LONG as u64 / 2 + 2);
}

#[test]
fn a_document_that_no_server_stores_is_rejected_and_its_neighbours_are_not() {
    let x = "x".repeat(DOCUMENT_BYTES_MAX);
    for (options, input) in [
        (table(Format::Csv), format!("1,a\n2,{x}\n3,b\n")),
        (options(Format::Json), format!("{{\"_id\":1}}\n{{\"_id\":2,\"v\":\"{x}\"}}\n{{\"_id\":3}}\n")),
    ] {
        let read = read_all(&options, input.into_bytes());
        assert_eq!((read.rows.len(), read.rejected.len(), read.stop), (2, 1, None));
        assert_eq!(read.rejected[0].line, 2);
    }
}

/// A quote that is never closed, far from the end of the input.
#[test]
fn an_open_quote_is_not_taken_for_a_long_record_where_the_row_shows_that_it_is_none() {
    let input = format!("1,a\n2,b\"c\n{}", "3,d\n".repeat(LONG / 4));
    let read = read_all(&table(Format::Csv), input.into_bytes());
    assert_eq!(read.rows.len(), 1);
    assert_eq!(read.stop.map(|stop| stop.line), Some(2));
}

#[test]
fn a_long_record_that_the_input_ends_in_stops_at_its_line() {
    let x = "x\n".repeat(LONG / 2);
    for (options, input) in [
        (table(Format::Csv), format!("1,a\n2,\"{x}")),
        (options(Format::Json), format!("{{\"_id\":1}} \n {{\"_id\":2,\"v\":{x}")),
        (array(), format!("[{{\"_id\":1}}\n,{{\"_id\":2,\"v\":{x}")),
    ] {
        let read = read_all(&options, input.into_bytes());
        assert_eq!((read.rows.len(), read.rejected.len()), (1, 0));
        let stop = read.stop.expect("it stops");
        assert!(stop.reason.contains("never closed"), "{stop}");
    }
}

/// An input that is made while it is read.
struct Endless {
    piece: Cursor<Vec<u8>>,
    left: u64,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        let read = self.piece.read(buffer)?;
        if read == 0 {
            self.piece.set_position(0);
            return self.read(buffer);
        }
        let read = (read as u64).min(self.left);
        self.left -= read;
        Ok(read as usize)
    }
}

#[test]
fn stretches_stay_small_however_long_the_input_is() {
    let piece = Cursor::new("17,some text\n".repeat(1_000).into_bytes());
    let source = Endless { piece, left: 300_000_000 };
    let mut opened = open(&table(Format::Csv), Box::new(source)).unwrap_or_else(|error| panic!("{error}"));
    let mut buffer = Vec::new();
    let mut bytes = 0;
    while let Some(stretch) = opened.splitter.next_stretch(buffer).unwrap() {
        bytes += stretch.bytes.len();
        buffer = stretch.bytes;
        assert!(buffer.capacity() < 2_000_000, "{} bytes held", buffer.capacity());
    }
    assert_eq!(bytes, 300_000_000);
}
