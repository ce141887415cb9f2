//! What a view of a reply holds.

use std::io::Write;

use brimline_http::{Parts, view};
use bson::{Bson, Document, doc};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use crate::{asked, read};

const ALL: Parts = Parts { headers: true, json: true, text: true };

fn view_of(headers: &str, body: &[u8], parts: Parts) -> Document {
    let head = format!("HTTP/1.1 201 Created\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    let (reply, _) = read(&[head.as_bytes(), body].concat(), asked(false, true)).unwrap();
    let mut out = Vec::new();
    view(&reply, parts, &mut out);
    Document::from_reader(out.as_slice()).unwrap()
}

#[test]
fn a_view_has_what_was_asked_for() {
    let headers = "X-A: 1\r\nSet-Cookie: a=1\r\nx-a:  2 \r\n";
    let body = br#"{"id": 7, "big": 5000000000, "huge": 18446744073709551615, "f": 1.0, "a": [null, true, {"b": "\u0000"}], "\u0000": 1}"#;
    let seen = view_of(headers, body, ALL);
    assert_eq!(seen.get_i32("status").unwrap(), 201);
    let length = body.len().to_string();
    assert_eq!(
        seen.get_document("headers").unwrap(),
        &doc! {"x-a": "1, 2", "set-cookie": "a=1", "content-length": length}
    );
    let array = vec![Bson::Null, Bson::Boolean(true), Bson::Document(doc! {"b": "\0"})];
    let json = doc! {"id": 7, "big": 5_000_000_000_i64, "huge": 18_446_744_073_709_551_615_f64, "f": 1.0, "a": array};
    assert_eq!(seen.get_document("json").unwrap(), &json);
    assert_eq!(seen.get_str("text").unwrap().as_bytes(), body);
    assert_eq!(view_of(headers, body, Parts::default()), doc! {"status": 201});
}

#[test]
fn what_is_no_json_has_none() {
    let deep = [b"[".repeat(200), b"]".repeat(200)].concat();
    for body in [b"".as_slice(), b"{", b"{} x", b"\xff", &deep] {
        let seen = view_of("", body, ALL);
        assert!(!seen.contains_key("json") && seen.contains_key("text"), "{seen}");
    }
    assert_eq!(view_of("", b"a\xff", ALL).get_str("text").unwrap(), "a\u{fffd}");
    assert_eq!(view_of("", b" [1] ", ALL).get_array("json").unwrap(), &vec![Bson::Int32(1)]);
}

#[test]
fn compressed_bodies_are_decoded() {
    let plain = br#"{"a": "text"}"#;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(plain).unwrap();
    zlib.write_all(plain).unwrap();
    raw.write_all(plain).unwrap();
    let coded = [
        ("gzip", gzip.finish().unwrap()),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", raw.finish().unwrap()),
    ];
    for (coding, body) in coded {
        let header = format!("Content-Encoding: {coding}\r\n");
        let seen = view_of(&header, &body, ALL);
        assert_eq!(seen.get_document("json").unwrap(), &doc! {"a": "text"}, "{coding}");
        let cut = view_of(&header, &body[..body.len() - 6], ALL);
        assert!(!cut.contains_key("json"), "{coding}");
    }
    assert_eq!(view_of("Content-Encoding: br\r\n", plain, ALL).keys().count(), 2);
}

#[test]
fn a_bomb_does_not_go_off() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..40 {
        gzip.write_all(&zeros).unwrap();
    }
    let seen = view_of("Content-Encoding: gzip\r\n", &gzip.finish().unwrap(), ALL);
    assert!(!seen.contains_key("json") && !seen.contains_key("text"));
}
