//! Compressed input is told as such, whatever it is said to hold.

use crate::support::{options, read_all};
use brimline_formats::{AfterTheEnd, Columns, Documents, Format, FormatOptions, InputError};

const GZIP: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x4b\xe4\x02\0";
const ZIP: &[u8] = b"PK\x03\x04\x14\0\0\0\x08\0rows.csv";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd\x04\x58\x49\0\0a,b\n1,2\n";
const XZ: &[u8] = b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46\x02";
const LZ4: &[u8] = b"\x04\x22\x4d\x18\x64\x40\xa7\x0a\0\0\0";
const SEVEN_ZIP: &[u8] = b"7z\xbc\xaf\x27\x1c\0\x04\xd5\xd9\x3b";
const RAR: &[u8] = b"Rar!\x1a\x07\x01\0\x33\x92\xb5";
const BZIP2: &[u8] = b"BZh91AY&SY\x9e\x0f\x25\x4f";

fn every_format() -> [FormatOptions; 5] {
    let columns = |format| FormatOptions { columns: Some(Columns::Headerline), ..options(format) };
    [
        columns(Format::Csv),
        columns(Format::Tsv),
        options(Format::Json),
        FormatOptions { json_array: true, ..options(Format::Json) },
        options(Format::Bson),
    ]
}

#[test]
fn compressed_input_is_one_error_in_every_format() {
    for options in every_format() {
        let tar = [b"dump/shop/orders.json".as_slice(), &[0; 236], b"ustar\x00", &[0; 300]].concat();
        let packed = [
            (GZIP, "gzip"),
            (ZIP, "zip"),
            (ZSTD, "zstd"),
            (XZ, "xz"),
            (BZIP2, "bzip2"),
            (LZ4, "lz4"),
            (SEVEN_ZIP, "7z"),
            (RAR, "rar"),
            (&tar, "tar"),
        ];
        for (bytes, name) in packed {
            let read = read_all(&options, bytes.to_vec());
            let stop = read.stop.unwrap_or_else(|| panic!("{name} was read as {:?}", options.format));
            assert!(stop.reason.contains(name), "{:?}: {}", options.format, stop.reason);
            assert_eq!((stop.line, stop.offset, read.raw.len()), (1, 0, 0));
        }
    }
}

#[test]
fn a_dump_whose_first_document_begins_like_gzip_is_read() {
    let whole = 0x0008_8b1f;
    let document = bson::doc! { "_id": 1, "text": "x".repeat(whole - 25) };
    let bytes = document.to_vec().expect("can be encoded");
    assert_eq!((bytes.len(), &bytes[..3]), (whole, &GZIP[..3]));
    assert_eq!(read_all(&options(Format::Bson), bytes).documents(), [document]);
}

/// A decompressor: it gives what it has, then an error. `after_the_end`: that is one behind the last byte, else more should come.
struct Damaged {
    bytes: std::io::Cursor<Vec<u8>>,
    after_the_end: bool,
}

impl std::io::Read for Damaged {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.bytes.read(buffer)? {
            0 if self.after_the_end => {
                Err(std::io::Error::other(AfterTheEnd("its checksum differs".to_owned())))
            }
            0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
            length => Ok(length),
        }
    }
}

/// How many documents are read of `text` before the damage behind it, and how that is told.
fn read_damaged(options: &FormatOptions, text: &[u8], after_the_end: bool) -> (usize, InputError) {
    let source = Damaged { bytes: std::io::Cursor::new(text.to_vec()), after_the_end };
    let mut opened = match brimline_formats::open(options, Box::new(source)) {
        Ok(opened) => opened,
        Err(error) => return (0, error),
    };
    let (mut read, mut documents) = (0, Documents::default());
    loop {
        match opened.splitter.next_stretch(Vec::new()) {
            Ok(stretch) => {
                documents.clear();
                opened.convert.convert(&stretch.expect("no end without the error"), &mut documents);
                read += documents.rows.len();
                if let Some(stop) = documents.stop {
                    return (read, stop);
                }
            }
            Err(error) => return (read, error),
        }
    }
}

#[test]
fn a_document_or_row_that_holds_the_mark_of_a_tar_is_read() {
    let text = format!("{}ustar{}", "x".repeat(257 - 16), "y".repeat(300));
    let document =
        bson::doc! { "_id": 1, "t": format!("{}ustar", "x".repeat(257 - 20)), "u": "y".repeat(300) };
    let bytes = document.to_vec().expect("can be encoded");
    assert_eq!((&bytes[257..263], bytes.len() > 512), (b"ustar\0".as_slice(), true));
    assert_eq!(read_all(&options(Format::Bson), bytes).documents(), [document]);
    let row = format!("{{\"_id\": \"{text}\"}}\n");
    assert_eq!(read_all(&options(Format::Json), row.into_bytes()).documents().len(), 1);
}

/// A format, what precedes its records, a record, one that ends the input, and a part of one.
type Records = (FormatOptions, &'static str, Vec<u8>, Vec<u8>, Vec<u8>);

fn records() -> [Records; 5] {
    let [csv, tsv, json, array, bson] = every_format();
    let document = bson::doc! { "a": 1 }.to_vec().expect("can be encoded");
    let part = document[..document.len() - 1].to_vec();
    let text = |text: &str| text.as_bytes().to_vec();
    [
        (csv, "a,b\n", text("1,\"2\n3\"\n"), text("4,5"), text("1,\"2\n")),
        (tsv, "a\tb\n", text("1\t2\n"), text("4\t5"), text("1\t")),
        (json, "", text("{\"a\":1}\n"), text("{\"a\":{}}"), text("{\"a\":{}")),
        (array, "[", text("{\"a\":1},\n"), text("{\"a\":{}}]"), text("{\"a\":{}")),
        (bson, "", document.clone(), document, part),
    ]
}

#[test]
fn every_whole_record_before_the_damage_is_read() {
    for (options, begin, record, last, part) in records() {
        for whole in [0, 1, 2, 1_000, 100_000] {
            let text = [begin.as_bytes(), &record.repeat(whole)].concat();
            let cut = [&text[..], &part].concat();
            let (read, error) = read_damaged(&options, &cut, false);
            assert!(error.reason.contains("ends in the middle"), "{error}");
            assert_eq!(read, whole, "{:?}", options.format);
            // The last line of the text may be no whole one where the damage is within it.
            let ends = [&text[..], &last].concat();
            let (read, error) = read_damaged(&options, &ends, true);
            assert!(error.reason.contains("checksum differs"), "{error}");
            assert_eq!(read, whole + 1, "{:?}", options.format);
        }
    }
}

#[test]
fn a_last_document_that_is_whole_is_read_though_nothing_follows_it() {
    for (options, begin, record, last, _) in records() {
        let is_table = matches!(options.format, Format::Csv | Format::Tsv);
        let last = last.strip_suffix(b"]").unwrap_or(&last);
        for whole in [0, 1, 1_000, 100_000] {
            let text = [begin.as_bytes(), &record.repeat(whole), last].concat();
            let (read, _) = read_damaged(&options, &text, false);
            // A row without its line break may go on.
            assert_eq!(read, whole + usize::from(!is_table), "{:?}", options.format);
        }
    }
}
