//! Values as text: the forms of mongoexport and of the Extended JSON specification.

use brimline_formats::write::{csv, json};
use bson::{Bson, DateTime};
use proptest::prelude::*;

fn text(append: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = b"before,".to_vec();
    append(&mut out);
    String::from_utf8(out).unwrap().strip_prefix("before,").unwrap().to_owned()
}

fn quoted(cell: &str) -> String {
    text(|out| {
        let start = out.len();
        out.extend_from_slice(cell.as_bytes());
        csv::quote_from(start, out);
    })
}

#[test]
fn cells_are_mongoexport_s() {
    assert_eq!(text(|out| csv::append_double(0.1, out)), "0.1");
    assert_eq!(text(|out| csv::append_double(5.0, out)), "5");
    assert_eq!(text(|out| csv::append_double(f64::NEG_INFINITY, out)), "-Inf");
    assert_eq!(text(|out| csv::append_integer(-7, out)), "-7");
    assert_eq!(text(|out| csv::append_date_time(1_700_000_000_000, out)), "2023-11-14T22:13:20.000Z");
    assert_eq!(text(|out| csv::append_date_time(i64::MAX, out)), "9223372036854775807");
    assert_eq!(text(|out| csv::append_base64(b"\x00\xff?", out)), "AP8/");
    assert_eq!(
        text(|out| csv::append_object_id(*b"\x5a\x93012345678\xff", out)),
        "ObjectId(5a93303132333435363738ff)"
    );
}

#[test]
fn cells_are_quoted_where_they_must_be() {
    for (text, cell) in [
        ("plain text", "plain text"),
        ("", ""),
        ("a,b", "\"a,b\""),
        ("say \"so\"", "\"say \"\"so\"\"\""),
        ("\"", "\"\"\"\""),
        ("two\nlines", "\"two\nlines\""),
        ("\rreturn", "\"\rreturn\""),
        (" space", "\" space\""),
        ("space ", "\"space \""),
    ] {
        assert_eq!(quoted(text), cell, "{text:?}");
    }
}

#[test]
fn headers_are_quoted_like_cells() {
    let line = text(|out| csv::append_header(["a", "b.c", "d,e"], out));
    assert_eq!(line, "a,b.c,\"d,e\"\n");
}

#[test]
fn relaxed_json_is_the_specification_s() {
    assert_eq!(text(|out| json::append_int32(-7, false, out)), "-7");
    assert_eq!(text(|out| json::append_int64(1 << 40, false, out)), "1099511627776");
    assert_eq!(text(|out| json::append_double(0.1, false, out)), "0.1");
    assert_eq!(text(|out| json::append_double(5.0, false, out)), "5.0");
    assert_eq!(text(|out| json::append_double(f64::NAN, false, out)), r#"{"$numberDouble":"NaN"}"#);
    assert_eq!(text(|out| json::append_boolean(true, out)), "true");
    let date = |unix_ms| text(|out| json::append_date_time(unix_ms, false, out));
    assert_eq!(date(1_700_000_000_123), r#"{"$date":"2023-11-14T22:13:20.123Z"}"#);
    assert_eq!(date(1_700_000_000_000), r#"{"$date":"2023-11-14T22:13:20Z"}"#);
    assert_eq!(date(-1), r#"{"$date":{"$numberLong":"-1"}}"#);
    let bytes = text(|out| json::append_binary(b"\x00\xff?", 0, out));
    assert_eq!(bytes, r#"{"$binary":{"base64":"AP8/","subType":"00"}}"#);
}

#[test]
fn strings_are_escaped() {
    let string = text(|out| json::append_string("a\"b\\ \n\r\t\u{1}\u{7f}订单".as_bytes(), out));
    assert_eq!(string, "\"a\\\"b\\\\ \\n\\r\\t\\u0001\u{7f}订单\"");
}

/// A value, and its canonical JSON.
fn value() -> impl Strategy<Value = (Bson, String)> {
    prop_oneof![
        any::<i32>().prop_map(|value| (Bson::Int32(value), text(|out| json::append_int32(value, true, out)))),
        any::<i64>().prop_map(|value| (Bson::Int64(value), text(|out| json::append_int64(value, true, out)))),
        any::<f64>()
            .prop_filter("NaN is not equal to itself", |value| !value.is_nan())
            .prop_map(|value| (Bson::Double(value), text(|out| json::append_double(value, true, out)))),
        ".*".prop_map(|value| {
            let json = text(|out| json::append_string(value.as_bytes(), out));
            (Bson::String(value), json)
        }),
        any::<i64>().prop_map(|ms| {
            let json = text(|out| json::append_date_time(ms, true, out));
            (Bson::DateTime(DateTime::from_millis(ms)), json)
        }),
    ]
}

proptest! {
    /// The public library reads canonical JSON back as the very same value.
    #[test]
    fn canonical_json_keeps_every_type((value, text) in value()) {
        prop_assert!(!text.contains('\n'));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(Bson::try_from(json).unwrap(), value);
    }
}
