//! No input makes reading panic, and everything that becomes a document is valid BSON.

use crate::support::{options, read_all};
use brimline_formats::{Columns, Format, FormatOptions, GeneratedIds, ParseGrace};
use proptest::prelude::*;

const PIECES: [&str; 64] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "'",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\\",
    "\\u",
    "d83d",
    "\\ud83d\\ude00",
    "/",
    "a",
    "_id",
    "$oid",
    "\"$date\":",
    "\"$binary\":{",
    "\"base64\":\"YQ==\"",
    "\"subType\":\"00\"",
    "\"$code\":\"\"",
    ",\"$scope\":{",
    "$ref",
    "$id",
    "{\"$timestamp\":{",
    "\"t\":1",
    "\"i\":2",
    "\"$numberLong\":\"5\"",
    "null",
    "true",
    "1",
    "-",
    "0",
    "0x",
    "1e5",
    ".5",
    "e400",
    "NaN",
    "ISODate(",
    "DBRef('a',",
    "new ",
    "BinData(0,",
    "UUID(\"",
    ")",
    "undefined",
    "{\"a\":1}",
    "{\"a\":\"b\"}\n",
    "1,2,3\n",
    "\"\"",
    "\u{e9}",
    "\0",
    "-Infinity",
    "1970-01-01",
    "00:00",
    "+01:00",
    "{\"_id\":",
    "\"}",
    "{\"$regularExpression\":{\"pattern\":\"a\",\"options\":\"i\"}}",
    "2",
    "x",
];

fn any_options() -> impl Strategy<Value = FormatOptions> {
    let formats = prop::sample::select(vec![Format::Csv, Format::Tsv, Format::Json, Format::Bson]);
    let graces = vec![ParseGrace::AutoCast, ParseGrace::SkipField, ParseGrace::SkipRow, ParseGrace::Stop];
    let columns = prop::sample::select(vec![
        Columns::Headerline,
        Columns::Fields("a,b.c,_id,b.d".to_owned()),
        Columns::FieldFile(
            "_id.int32()\na.0.date(2006-01-02T15:04:05Z07:00)\na.1.decimal()\nb.binary(hex)".to_owned(),
        ),
        Columns::FieldFile(
            "a.date_ms(d/M/yy h:mm tt)\nb.date_oracle(DDD YYYY)\nc.double()\nd.boolean()".to_owned(),
        ),
    ]);
    (formats, columns, prop::sample::select(graces), any::<[bool; 4]>()).prop_map(
        |(format, columns, parse_grace, flags)| {
            let columns_have_types = matches!(&columns, Columns::FieldFile(_));
            FormatOptions {
                columns: Some(columns),
                columns_have_types,
                parse_grace,
                ignore_blanks: flags[0],
                use_array_index_fields: flags[1],
                json_array: flags[2],
                legacy: flags[3],
                generated_ids: Some(GeneratedIds { prefix: [1; 7] }),
                ..options(format)
            }
        },
    )
}

fn check(options: &FormatOptions, bytes: Vec<u8>) {
    let read = read_all(options, bytes);
    for document in &read.raw {
        assert_valid(document, options);
    }
}

/// Walks the document to its leaves.
fn assert_valid(document: &[u8], options: &FormatOptions) {
    let (whole, rest) = brimline_bson::split_document(document).expect("a document");
    assert!(rest.is_empty(), "{options:?}");
    let mut elements = brimline_bson::Reader::new(whole).expect("a document");
    while let Some(element) = elements.next_element().unwrap_or_else(|error| panic!("{error}: {options:?}")) {
        // What a dump has inside its documents is taken as it is.
        if options.format != Format::Bson
            && let brimline_bson::Value::Document(inner) | brimline_bson::Value::Array(inner) = element.value
        {
            assert_valid(inner, options);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_pieces_are_read(options in any_options(), pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40)) {
        check(&options, pieces.concat().into_bytes());
    }

    #[test]
    fn any_bytes_are_read(options in any_options(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&options, bytes);
    }

    #[test]
    fn any_values_are_read(options in any_options(), pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 1..8)) {
        check(&FormatOptions { format: Format::Json, json_array: false, ..options }, format!("{{\"v\":{}}}", pieces.concat()).into_bytes());
    }
}

#[test]
fn references_may_not_be_nested_without_end() {
    let options = FormatOptions { legacy: true, ..options(Format::Json) };
    let text = format!("{{v:{}1{}}}", "DBRef('a',".repeat(100_000), ")".repeat(100_000));
    assert!(read_all(&options, text.into_bytes()).stop.is_some_and(|stop| stop.reason.contains("200")));
}
