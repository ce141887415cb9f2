//! JSON beyond what was recorded of mongoimport: types of Extended JSON, the shell's syntax, and what is refused.

use crate::support::{Read, options, read_all};
use brimline_formats::{Format, FormatOptions};
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Decimal128, Regex, Timestamp, doc};

fn read(legacy: bool, text: &str) -> Read {
    read_all(&FormatOptions { legacy, ..options(Format::Json) }, text.as_bytes().to_vec())
}

/// The value of `v` in the only document.
fn value(legacy: bool, text: &str) -> Bson {
    let read = read(legacy, &format!("{{\"v\":{text}}}"));
    assert_eq!(read.stop, None, "{text}");
    read.documents()[0].get("v").unwrap_or_else(|| panic!("no v: {text}")).clone()
}

fn regex(pattern: &str, options: &str) -> Bson {
    let text = |text: &str| text.try_into().expect("no NUL");
    Bson::RegularExpression(Regex { pattern: text(pattern), options: text(options) })
}

fn binary(subtype: BinarySubtype, bytes: &[u8]) -> Bson {
    Bson::Binary(Binary { subtype, bytes: bytes.to_vec() })
}

fn date(unix_ms: i64) -> Bson {
    Bson::DateTime(bson::DateTime::from_millis(unix_ms))
}

#[test]
fn extended_json_has_its_types() {
    let id = bson::oid::ObjectId::parse_str("5f0000000000000000000001").unwrap();
    let cases = [
        (r#"{"$oid":"5f0000000000000000000001"}"#, Bson::ObjectId(id)),
        (r#" { "$numberLong" : "-5" } "#, Bson::Int64(-5)),
        (r#"{"$numberDouble":"-Infinity"}"#, Bson::Double(f64::NEG_INFINITY)),
        (r#"{"$numberDecimal":"1.10"}"#, Bson::Decimal128("1.10".parse::<Decimal128>().unwrap())),
        (r#"{"$binary":{"subType":"5","base64":"YQ=="}}"#, binary(BinarySubtype::Md5, b"a")),
        (r#"{"$binary":{"base64":"YQ==","subType":"02"}}"#, binary(BinarySubtype::BinaryOld, b"a")),
        (
            r#"{"$timestamp":{"i":6,"t":4294967295}}"#,
            Bson::Timestamp(Timestamp { time: u32::MAX, increment: 6 }),
        ),
        (r#"{"$regularExpression":{"options":"mi","pattern":"a/b"}}"#, regex("a/b", "im")),
        (r#"{"$date":"2021-03-10T01:30:00.5+0230"}"#, date(1_615_330_800_500)),
        (r#"{"$date":"2021-03-10T01:30:00.5+02:30"}"#, date(1_615_330_800_500)),
        (r#"{"$date":"2021-03-09T23:00:00-0000"}"#, date(1_615_330_800_000)),
        (r#"{"$date":"2021-03-09T23:00:00+02"}"#, Bson::Null),
        (r#"{"$date":"2021-03-09T23:00Z"}"#, Bson::Null),
        (r#"{"$date":"2021-03-09T23:00:00+0299"}"#, Bson::Null),
        (r#"{"$code":"f()"}"#, Bson::JavaScriptCode("f()".to_owned())),
        (r#"{"$ref":"c","$id":1}"#, Bson::Document(doc! {"$ref": "c", "$id": 1})),
        (r#"{"a":{"$oid":1}.0}"#, Bson::Null),
    ];
    for (text, expected) in cases {
        if expected == Bson::Null {
            assert!(read(false, &format!("{{\"v\":{text}}}")).stop.is_some(), "{text}");
        } else {
            assert_eq!(value(false, text), expected, "{text}");
        }
    }
}

#[test]
fn the_shells_syntax_has_the_same_types() {
    let cases = [
        ("'it\\'s'", Bson::String("it's".to_owned())),
        ("{a: 1, $b: 'x'}", Bson::Document(doc! {"a": 1, "$b": "x"})),
        ("ISODate(\"1970-01-01T00:00:01Z\")", date(1_000)),
        ("new Date(-1)", date(-1)),
        ("NumberLong(\"9223372036854775807\")", Bson::Int64(i64::MAX)),
        ("NumberInt( 5 )", Bson::Int32(5)),
        ("NumberDecimal('1E+3')", Bson::Decimal128("1E+3".parse().unwrap())),
        ("BinData(0, 'YQ==')", binary(BinarySubtype::Generic, b"a")),
        ("HexData(0x0, '61')", Bson::Null),
        ("HexData(0, '61')", binary(BinarySubtype::Generic, b"a")),
        ("UUID('00112233445566778899aabbccddeeff')", binary(BinarySubtype::Uuid, &hex_bytes())),
        ("DBRef('c', 5)", Bson::Document(doc! {"$ref": "c", "$id": 5})),
        ("RegExp('a', 'i')", regex("a", "i")),
        ("/a\\/b\\.c/im", regex("a/b\\.c", "im")),
        ("MinKey", Bson::MinKey),
        ("MaxKey()", Bson::MaxKey),
        ("undefined", Bson::Undefined),
        ("-Infinity", Bson::Double(f64::NEG_INFINITY)),
        ("-0x1F", Bson::Int32(-31)),
        ("{'$regex': 'a', '$options': 'i'}", regex("a", "i")),
        ("NumberInt(2147483648)", Bson::Null),
        ("Nonsense(1)", Bson::Null),
        ("ObjectId('5f')", Bson::Null),
        ("/never closed", Bson::Null),
        ("nothing", Bson::Null),
    ];
    for (text, expected) in cases {
        if expected == Bson::Null {
            assert!(read(true, &format!("{{v: {text}}}")).stop.is_some(), "{text}");
        } else {
            assert_eq!(value(true, text), expected, "{text}");
            assert!(
                text.starts_with("{'$") || read(false, &format!("{{\"v\":{text}}}")).stop.is_some(),
                "{text}"
            );
        }
    }
}

#[test]
fn an_error_about_a_value_of_the_shell_names_the_value() {
    let cases = [
        (r#"ISODate("2021-13-01T00:00:00Z")"#, r#"ISODate() can't be "2021-13-01T00:00:00Z""#),
        ("ISODate('yesterday')", r#"ISODate() can't be "yesterday""#),
        ("new Date('2021-03-09')", r#"Date() can't be "2021-03-09""#),
        ("Date(2021, 3, 9)", "Date() can't be 2021, 3, 9"),
        ("new Date()", "Date() is there without a value"),
        ("ObjectId('5f')", r#"ObjectId() can't be "5f""#),
        ("NumberInt(2147483648)", "NumberInt() can't be 2147483648"),
        ("UUID('00')", r#"UUID() can't be "00""#),
        ("BinData(0, '*')", r#"BinData() can't be 0, "*""#),
        (r#"{"$date": ISODate("x")}"#, r#"ISODate() can't be "x""#),
    ];
    for (text, expected) in cases {
        let stop = read(true, &format!("{{v: {text}}}")).stop.expect(text);
        assert_eq!(stop.reason, expected, "{text}");
    }
}

#[test]
fn version_1_has_its_own_types_in_any_order() {
    let id = bson::oid::ObjectId::parse_str("5f0000000000000000000001").unwrap();
    let cases = [
        (r#"{"$date":"2021-03-09T23:00Z"}"#, date(1_615_330_800_000)),
        (r#"{"$date":"2021-03-10T01:30+0230"}"#, date(1_615_330_800_000)),
        (r#"{"$date":"2021-03-09T23:00:00.25Z"}"#, date(1_615_330_800_250)),
        (r#"{"$date":"2021-03-10T01:30:00.25+02:30"}"#, date(1_615_330_800_250)),
        (r#"{"$date":1577934245000.9}"#, date(1_577_934_245_000)),
        (r#"{"$date":-1.5}"#, date(-1)),
        (r#"{"$date":1e3}"#, date(1_000)),
        (r#"{"$date":{"$numberLong":"0x10"}}"#, date(16)),
        (r#"{"$date":ISODate("2021-03-09T23:00Z")}"#, date(1_615_330_800_000)),
        (r#"{"$oid":"5f0000000000000000000001"}"#, Bson::ObjectId(id)),
        (r#"{"$numberLong":"-0x10"}"#, Bson::Int64(-16)),
        (r#"{"$numberInt":"017"}"#, Bson::Int32(15)),
        (r#"{"$options":"im","$regex":"a"}"#, regex("a", "im")),
        (r#"{"$type":"05","$binary":"YQ=="}"#, binary(BinarySubtype::Md5, b"a")),
        (r#"{"$undefined":[1]}"#, Bson::Undefined),
        (r#"{"$maxKey":"x"}"#, Bson::MaxKey),
        (r#"{"$code":"f()"}"#, Bson::JavaScriptCode("f()".to_owned())),
        (r#"{"$regex":"a"}"#, Bson::Document(doc! {"$regex": "a"})),
        (
            r#"{"$regex":"a","$options":"i","x":1}"#,
            Bson::Document(doc! {"$regex": "a", "$options": "i", "x": 1}),
        ),
        (r#"{"$numberDouble":"1"}"#, Bson::Document(doc! {"$numberDouble": "1"})),
        (r#"{"$uuid":"x"}"#, Bson::Document(doc! {"$uuid": "x"})),
        (r#"{"$type":2}"#, Bson::Document(doc! {"$type": 2})),
        (r#"{"$symbol":"s"}"#, Bson::Document(doc! {"$symbol": "s"})),
        (
            r#"{"$binary":{"base64":"YQ==","subType":"00"}}"#,
            Bson::Document(doc! {"$binary": {"base64": "YQ==", "subType": "00"}}),
        ),
        (r#"{"$date":"2021-03-09"}"#, Bson::Null),
        (r#"{"$regex":"a","$options":"x"}"#, Bson::Null),
        (r#"{"$numberLong":"1_"}"#, Bson::Null),
    ];
    for (text, expected) in cases {
        if expected == Bson::Null {
            assert!(read(true, &format!("{{\"v\":{text}}}")).stop.is_some(), "{text}");
        } else {
            assert_eq!(value(true, text), expected, "{text}");
        }
    }
    let scoped = value(true, r#"{"$scope":{"a":1},"$code":"f()"}"#);
    assert_eq!(scoped, value(true, r#"{"$code":"f()","$scope":{"a":1}}"#));
    assert!(matches!(scoped, Bson::JavaScriptCodeWithScope(_)));
}

#[test]
fn an_error_shows_the_whole_value() {
    let stop = read(false, r#"{"d":{"$date":"2021-03-09T23:00:00.000+00:00:00"}}"#).stop.unwrap();
    assert!(stop.reason.contains("\"2021-03-09T23:00:00.000+00:00:00\""), "{stop}");
}

fn hex_bytes() -> Vec<u8> {
    (0..16).map(|index| index * 0x11).collect()
}

#[test]
fn what_is_no_json_stops_at_its_line_and_says_where() {
    let cases = [
        ("{\"a\":1}\n{\"a\" 1}", 2, "colon"),
        ("{\"a\":1}\n\n{\"a\":tru}", 3, "value"),
        ("{\"a\":01}", 1, "number"),
        ("{\"a\":1.}", 1, "number"),
        ("{\"a\":-}", 1, "number"),
        ("{\"a\":\"\\x\"}", 1, "escape"),
        ("{\"a\":\"\\u12g4\"}", 1, "escape"),
        ("{\"a\":\"\t\"}", 1, "control character"),
        ("{\"a\":[1 2]}", 1, "comma or ]"),
        ("{\"a\":{\"$oid\":\"xyz\"}}", 1, "$oid"),
        ("{\"a\":{\"$minKey\":2}}", 1, "$minKey"),
        ("{\"a\":{\"$date\":{\"$numberInt\":\"1\"}}}", 1, "$date"),
        ("{\"a\":{\"$timestamp\":{\"t\":1,\"t\":2}}}", 1, "t and i"),
        ("{\"a\":{\"$timestamp\":{\"t\":-1,\"i\":2}}}", 1, "32 bits"),
        ("{\"a\":{\"$regularExpression\":{\"pattern\":\"\\u0000\",\"options\":\"\"}}}", 1, "NUL"),
        ("\"text\"", 1, "no document"),
        ("{\"a\":1", 1, "end of the input"),
    ];
    for (text, line, reason) in cases {
        let stop = read(false, text).stop.unwrap_or_else(|| panic!("{text} is read"));
        assert_eq!(stop.line, line, "{text}: {stop}");
        assert!(stop.reason.contains(reason), "{text}: {stop}");
    }
}

#[test]
fn documents_may_be_nested_200_deep() {
    let nested = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert_eq!(read(false, &nested(200)).rows.len(), 1);
    assert!(read(false, &nested(201)).stop.is_some());
    let arrays = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(read(false, &arrays).stop.is_some_and(|stop| stop.reason.contains("200")));
}

#[test]
fn arrays_are_numbered() {
    let many: Vec<i32> = (0..1_234).collect();
    let text = format!("{{\"v\":{many:?}}}");
    assert_eq!(read(false, &text).documents(), [doc! {"v": many}]);
}

#[test]
fn what_legacy_would_read_says_so_and_nothing_else_does() {
    let of_the_shell = [
        r#"{"d":ISODate("2021-03-09T23:00:00Z")}"#,
        r#"{"n":NumberLong("5"),"o":ObjectId("0123456789abcdef01234567")}"#,
        r#"{"v":[1,{"x":NumberDecimal("1.5")}]}"#,
        "{a:1}",
        "{'a':'b'}",
        r#"{"a":undefined}"#,
        r#"{"a":/x/i}"#,
        r#"{"d":{"$date":"2021-03-09T23:00Z"}}"#,
    ];
    for document in of_the_shell {
        for text in [document.to_owned(), format!("{{\"first\":1}}\n{document}\n{{\"last\":1}}\n")] {
            let stop = read(false, &text).stop.unwrap_or_else(|| panic!("{text} was read"));
            assert!(stop.reason.ends_with("; --legacy reads it"), "{text}: {stop}");
        }
        let options = FormatOptions { json_array: true, ..options(Format::Json) };
        let stop = read_all(&options, format!("[{document}]").into_bytes()).stop.expect("it is an error");
        assert!(stop.reason.ends_with("; --legacy reads it"), "{stop}");
    }
    for text in ["{\"a\":}", "{\"a\":1", "[1]", "{\"a\":ISODate()x}", "{\"a\":Date(5)", "text"] {
        for legacy in [false, true] {
            let stop = read(legacy, text).stop.expect("it is an error");
            assert!(!stop.reason.contains("--legacy"), "{text}: {stop}");
        }
    }
}
