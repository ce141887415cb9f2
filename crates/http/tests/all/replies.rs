//! Known replies to the letter, whole and cut anywhere.

use brimline_http::reply::{Coding, End, Reply, message, phrase};
use proptest::prelude::*;

use crate::{asked, read};

/// A reply, whether it was asked for by HEAD, and what is to be known of it: status, body, whether the connection ends.
type Case = (&'static str, bool, u16, &'static str, bool);

/// Of each kind of body; those that end with the connection are below.
const CASES: [Case; 14] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, 200, "hello", false),
    ("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", false, 200, "", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\nContent-Length: 3\r\n\r\nabc", false, 200, "abc", false),
    ("HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", false, 204, "", false),
    ("HTTP/1.1 304 Not Modified\r\nETag: x\r\nTransfer-Encoding: chunked\r\n\r\n", false, 304, "", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", true, 200, "", false),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n00A;x=\"y\"\r\n, world 10\r\n0\r\n\r\n",
        false,
        200,
        "hello, world 10",
        false,
    ),
    (
        "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n1 \r\na\r\n0\r\nTrailer: 1\r\nOther: 2\r\n\r\n",
        false,
        200,
        "a",
        false,
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n1\r\na\r\n0\r\n\r\n",
        false,
        200,
        "a",
        true,
    ),
    ("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\na", false, 200, "a", true),
    ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", false, 200, "a", true),
    ("HTTP/1.0 200 OK\r\nConnection: x, keep-alive\r\nContent-Length: 1\r\n\r\na", false, 200, "a", false),
    (
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200\r\nContent-Length: 1\r\n\r\na",
        false,
        200,
        "a",
        false,
    ),
    ("\r\nHTTP/1.1 299 Of my own\nContent-Length: 1\n\na", false, 299, "a", false),
];

fn is(reply: &Reply, (text, _, status, body, closes): Case) {
    assert!(reply.is_whole(), "{text}");
    let head = reply.head();
    assert_eq!((head.status, head.closes), (status, closes), "{text}");
    assert_eq!((reply.body(), reply.body_bytes()), (body.as_bytes(), body.len() as u64), "{text}");
}

#[test]
fn replies_are_read_to_their_end_and_no_further() {
    for case in CASES {
        let (text, is_head, ..) = case;
        let more = format!("{text}HTTP/1.1");
        let (mut reply, taken) = read(more.as_bytes(), asked(is_head, true)).unwrap();
        assert_eq!(taken, text.len(), "{text}");
        is(&reply, case);
        assert_eq!(reply.end(), End::Whole);
    }
}

proptest! {
    #[test]
    fn it_does_not_matter_where_a_reply_is_cut(cuts in proptest::collection::vec(1..20_usize, 1..100)) {
        let mut reply = Reply::default();
        for case in CASES {
            let (text, is_head, ..) = case;
            reply.begin(asked(is_head, true));
            let mut rest = text.as_bytes();
            for length in cuts.iter().cycle() {
                prop_assert!(!reply.is_whole());
                let piece = &rest[..(*length).min(rest.len())];
                prop_assert_eq!(reply.take(piece).unwrap(), piece.len());
                rest = &rest[piece.len()..];
                if rest.is_empty() {
                    break;
                }
            }
            is(&reply, case);
        }
    }
}

#[test]
fn a_body_may_end_with_the_connection() {
    for text in ["HTTP/1.1 200 OK\r\n\r\nabc", "HTTP/1.0 200 OK\r\nX: y\r\n\r\nabc"] {
        let (mut reply, taken) = read(text.as_bytes(), asked(false, true)).unwrap();
        assert!(!reply.is_whole() && taken == text.len());
        assert_eq!(reply.end(), End::Whole);
        assert!(reply.is_whole() && reply.body() == b"abc" && reply.head().closes);
    }
    let ends = [
        ("", End::BeforeIt),
        ("HTTP", End::Within),
        ("HTTP/1.1 100 Continue\r\n\r\n", End::Within),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", End::Within),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", End::Within),
    ];
    for (text, end) in ends {
        assert_eq!(read(text.as_bytes(), asked(false, false)).unwrap().0.end(), end, "{text}");
    }
}

#[test]
fn a_body_that_nobody_looks_into_is_counted_and_dropped() {
    let mut text = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n".to_vec();
    text.resize(text.len() + 1_000_000, b'x');
    let (reply, _) = read(&text, asked(false, false)).unwrap();
    assert!(reply.is_whole() && reply.body_bytes() == 1_000_000 && reply.body().is_empty());
    let failed = [b"HTTP/1.1 500 Oh\r\n", &text[b"HTTP/1.1 200 OK\r\n".len()..]].concat();
    let (reply, _) = read(&failed, asked(false, false)).unwrap();
    assert!(reply.body_bytes() == 1_000_000 && reply.body().len() == 4096, "for the message");
}

#[test]
fn failures_have_the_registered_name_and_the_body_s_beginning() {
    let cases = [
        (
            "HTTP/1.1 404 Nope\r\nContent-Length: 22\r\n\r\n  {\"a\":\n\n 1}\0\u{7}  \r\n ü  ",
            "404 Not Found",
            "{\"a\": 1} ü",
        ),
        ("HTTP/1.1 599 Of\tmine \r\nContent-Length: 0\r\n\r\n", "599 Of mine", ""),
        ("HTTP/1.1 599\r\nContent-Length: 0\r\n\r\n", "599", ""),
    ];
    for (text, name, beginning) in cases {
        let (reply, _) = read(text.as_bytes(), asked(false, false)).unwrap();
        assert!(reply.is_whole(), "{text}");
        assert_eq!((phrase(&reply).as_str(), message(&reply).as_str()), (name, beginning));
    }
    let long = format!("HTTP/1.1 500 x\r\nContent-Length: 3000\r\n\r\n{}", "é".repeat(1500));
    let (reply, _) = read(long.as_bytes(), asked(false, false)).unwrap();
    assert_eq!(message(&reply), "é".repeat(200));
}

#[test]
fn codings_are_named() {
    let coding = |header: &str| {
        let text = format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{header}\r\n\r\n");
        read(text.as_bytes(), asked(false, false)).unwrap().0.head().coding
    };
    assert_eq!(coding("Content-Encoding: GZIP"), Coding::Gzip);
    assert_eq!(coding("Content-Encoding: deflate"), Coding::Deflate);
    assert_eq!(coding("Content-Encoding: identity"), Coding::Identity);
    assert_eq!(coding("Content-Encoding: br"), Coding::Unknown);
    assert_eq!(coding("Content-Encoding: gzip\r\nContent-Encoding: gzip"), Coding::Unknown);
}
