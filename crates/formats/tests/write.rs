//! Documents as text: the forms of mongoexport and of the Extended JSON specification.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use brimline_formats::write::{CsvWriter, RecordWriter, WriteError};
use bson::{Bson, DateTime, bson, doc, oid::ObjectId};
use proptest::prelude::*;

fn bytes(document: &bson::Document) -> Vec<u8> {
    bson::serialize_to_vec(document).unwrap()
}

fn written(writer: &RecordWriter, document: &bson::Document) -> String {
    let mut out = Vec::new();
    writer.append(&bytes(document), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn csv(columns: &[&str], document: &bson::Document) -> String {
    written(&CsvWriter::new(columns.iter().copied()).into(), document)
}

fn every_type() -> bson::Document {
    doc! {
        "double": 0.1, "whole": 5.0, "text": "订单", "int": -7, "long": 1_i64 << 40,
        "date": DateTime::from_millis(1_700_000_000_123), "second": DateTime::from_millis(1_700_000_000_000),
        "yes": true, "nothing": Bson::Null, "id": ObjectId::from_bytes(*b"123456789012"),
        "bytes": bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: b"\x00\xff?".to_vec() },
        "inner": {"a": 1, "b": {"c": "x"}}, "list": [1, "two", [3]],
    }
}

#[test]
fn cells_are_mongoexport_s() {
    let document = every_type();
    let columns: Vec<&str> = document.keys().map(String::as_str).collect();
    assert_eq!(
        csv(&columns, &document),
        "0.1,5,订单,-7,1099511627776,2023-11-14T22:13:20.123Z,2023-11-14T22:13:20.000Z,true,,\
         ObjectId(313233343536373839303132),AP8/,\"{\"\"a\"\":1,\"\"b\"\":{\"\"c\"\":\"\"x\"\"}}\",\"[1,\"\"two\"\",[3]]\"\n"
    );
}

#[test]
fn cells_are_quoted_where_they_must_be() {
    for (text, cell) in [
        ("plain text", "plain text"),
        ("", ""),
        ("a,b", "\"a,b\""),
        ("say \"so\"", "\"say \"\"so\"\"\""),
        ("two\nlines", "\"two\nlines\""),
        ("\rreturn", "\"\rreturn\""),
        (" space", "\" space\""),
        ("space ", "\"space \""),
    ] {
        assert_eq!(csv(&["a"], &doc! {"a": text}), format!("{cell}\n"), "{text:?}");
    }
}

#[test]
fn columns_lead_into_documents_in_any_order() {
    let document = doc! {"a": 1, "b": {"c": 2, "d": {"e": 3}}, "f": 4};
    assert_eq!(csv(&["a", "b.c", "b.d.e", "f"], &document), "1,2,3,4\n", "in the document's order");
    assert_eq!(csv(&["f", "b.d.e", "a", "b.c"], &document), "4,3,1,2\n");
    assert_eq!(csv(&["b.c", "x", "a.b", "b.x", "f"], &document), "2,,,,4\n", "what isn't there is empty");
    assert_eq!(csv(&["a", "f"], &document), "1,4\n", "what is not asked for is left out");
    assert_eq!(csv(&["b"], &document), "\"{\"\"c\"\":2,\"\"d\"\":{\"\"e\"\":3}}\"\n");
}

#[test]
fn headers_are_quoted_like_cells() {
    let mut out = Vec::new();
    CsvWriter::append_header(["a", "b.c", "d,e"], &mut out);
    assert_eq!(out, b"a,b.c,\"d,e\"\n");
}

#[test]
fn relaxed_json_is_the_specification_s() {
    assert_eq!(
        written(&RecordWriter::Json { canonical: false }, &every_type()),
        concat!(
            r#"{"double":0.1,"whole":5.0,"text":"订单","int":-7,"long":1099511627776,"#,
            r#""date":{"$date":"2023-11-14T22:13:20.123Z"},"second":{"$date":"2023-11-14T22:13:20Z"},"#,
            r#""yes":true,"nothing":null,"id":{"$oid":"313233343536373839303132"},"#,
            r#""bytes":{"$binary":{"base64":"AP8/","subType":"00"}},"#,
            r#""inner":{"a":1,"b":{"c":"x"}},"list":[1,"two",[3]]}"#,
            "\n"
        )
    );
}

#[test]
fn strings_are_escaped() {
    let line = written(&RecordWriter::Json { canonical: false }, &doc! {"a\"b": "\\ \n\r\t\u{1}\u{7f}"});
    assert_eq!(line, "{\"a\\\"b\":\"\\\\ \\n\\r\\t\\u0001\u{7f}\"}\n");
}

#[test]
fn dumps_are_the_documents() {
    let mut out = Vec::new();
    RecordWriter::Bson.append(&bytes(&every_type()), &mut out).unwrap();
    assert_eq!(out, bytes(&every_type()));
}

#[test]
fn what_text_can_t_hold_is_refused() {
    let writer = RecordWriter::Json { canonical: true };
    let regex = doc! {"a": bson::Regex { pattern: "a".try_into().unwrap(), options: "".try_into().unwrap() }};
    assert!(matches!(writer.append(&bytes(&regex), &mut Vec::new()), Err(WriteError::Untextual(_))));
    assert!(matches!(writer.append(b"\x09\0\0\0", &mut Vec::new()), Err(WriteError::NotBson(_))));
    let not_utf8 = b"\x0f\0\0\0\x02a\0\x03\0\0\0\xff\xfe\0\0";
    assert_eq!(writer.append(not_utf8, &mut Vec::new()), Err(WriteError::NotUtf8));
}

fn value() -> impl Strategy<Value = Bson> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(Bson::Int32),
        any::<i64>().prop_map(Bson::Int64),
        any::<f64>()
            .prop_filter("NaN is not equal to itself", |value| !value.is_nan())
            .prop_map(Bson::Double),
        any::<bool>().prop_map(Bson::Boolean),
        ".*".prop_map(Bson::String),
        any::<i64>().prop_map(|ms| Bson::DateTime(DateTime::from_millis(ms))),
        Just(Bson::Null),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Bson::Array),
            prop::collection::btree_map("[a-z\"\\n]{1,4}", inner, 0..4)
                .prop_map(|fields| Bson::Document(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    /// The public library reads canonical JSON back as the very same document.
    #[test]
    fn canonical_json_keeps_every_type(value in value()) {
        let document = doc! {"a": value};
        let line = written(&RecordWriter::Json { canonical: true }, &document);
        prop_assert!(line.ends_with('\n') && line.matches('\n').count() == 1);
        let json: serde_json::Value = serde_json::from_str(&line).unwrap();
        prop_assert_eq!(Bson::try_from(json).unwrap(), bson!(document));
    }
}
