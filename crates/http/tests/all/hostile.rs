//! Peers that lie: nothing panics, and memory follows the bytes that arrived. The test program counts what its own threads allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use brimline_http::reply::{BadReply, Reply, message, phrase};
use brimline_http::{Parts, view};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{asked, read};

struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static ALLOCATED_BYTES: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    ALLOCATED_BYTES.set(ALLOCATED_BYTES.get() + bytes);
}

// SAFETY: every call goes to the system allocator unchanged; counting touches thread-local integers only.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's contract is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Allocations and bytes allocated by this thread while `work` runs.
pub fn allocated_by<T>(work: impl FnOnce() -> T) -> (usize, usize, T) {
    let before = (ALLOCATIONS.get(), ALLOCATED_BYTES.get());
    let result = work();
    (ALLOCATIONS.get() - before.0, ALLOCATED_BYTES.get() - before.1, result)
}

/// Takes bytes in pieces, and looks at what came of it in every way there is.
fn survive(bytes: &[u8], piece_bytes: usize, is_head: bool) {
    let mut reply = Reply::default();
    reply.begin(asked(is_head, true));
    for piece in bytes.chunks(piece_bytes) {
        match reply.take(piece) {
            Ok(taken) if taken == piece.len() && !reply.is_whole() => {}
            Ok(taken) => {
                assert!(taken <= piece.len() && reply.is_whole(), "what isn't whole takes all");
                break;
            }
            Err(_) => return,
        }
    }
    reply.end();
    phrase(&reply);
    message(&reply);
    let mut out = Vec::new();
    view(&reply, Parts { headers: true, json: true, text: true }, &mut out);
    bson::Document::from_reader(out.as_slice()).unwrap();
}

fn refusal(text: &str) -> String {
    match read(text.as_bytes(), asked(false, false)) {
        Err(BadReply(message)) => message,
        Ok((reply, taken)) => panic!("{text:?} is taken for a reply of {taken} bytes, {}", reply.is_whole()),
    }
}

#[test]
fn lies_are_told() {
    let head = |headers: &str| refusal(&format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n"));
    for length in ["-1", "+1", "0x5", "1 2", "", "18446744073709551616", "1, 2", "1\r\nContent-Length: 2"] {
        assert!(head(&format!("Content-Length: {length}")).contains("Content-Length"), "{length}");
    }
    assert!(head("Transfer-Encoding: gzip, chunked").contains("transferred"));
    assert!(head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked").contains("transferred"));
    let chunks =
        |chunks: &str| refusal(&format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"));
    assert!(chunks("10000000000000000\r\n").contains("too large"));
    for size in ["\r\n", ";\r\n", "-1\r\n", "x\r\n", "1z\r\n", "5\u{e9}"] {
        assert!(chunks(size).contains("no number"), "{size:?}");
    }
    assert!(chunks("1\r\nab\r\n").contains("longer than its size"));
    assert!(chunks("1\r\na\r\r\n").contains("longer than its size"));
    for text in ["SSH-2.0-OpenSSH", "HTTP/2 200\r\n\r\n", "HTTP/1.2 200 OK\r\n\r\n", "<html>", "\u{0}\u{0}"] {
        assert!(refusal(text).contains("not HTTP/1.1"), "{text}");
    }
    assert!(refusal("HTTP/1.1 099 x\r\n\r\n").contains("no status"));
    assert!(refusal("HTTP/1.1 101 Switching Protocols\r\n\r\n").contains("status 101"));
    assert!(refusal("HTTP/1.1 200 OK\r\nno colon\r\n\r\n").contains("can't be read"));
}

#[test]
fn nothing_is_endless() {
    let endless = |start: &str, again: &str| {
        let mut reply = Reply::default();
        reply.begin(asked(false, true));
        let (_, bytes, result) = allocated_by(|| {
            reply.take(start.as_bytes())?;
            (0..10_000_000 / again.len()).try_for_each(|_| reply.take(again.as_bytes()).map(drop))
        });
        assert!(bytes < 1_000_000, "{bytes} bytes allocated for {again:?}");
        result.unwrap_err().0
    };
    assert!(endless("HTTP/1.1 200 OK\r\n", "a: b\r\n").contains("longer than 65536 bytes"));
    assert!(endless("HTTP/1.1 200 OK\r\na: ", "x").contains("longer than 65536 bytes"));
    assert!(endless("", "\r\n").contains("longer than 65536 bytes"));
    assert!(endless("", "HTTP/1.1 100 Continue\r\n\r\n").contains("status 100"));
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert!(endless(chunked, "0").contains("longer than 16384 bytes"));
    assert!(endless(&format!("{chunked}1;"), "x").contains("longer than 16384 bytes"));
    assert!(endless(&format!("{chunked}0\r\n"), "a: b\r\n").contains("trailers are longer"));
    assert!(endless(&format!("{chunked}0\r\n"), "\r").contains("trailers are longer"));
    let many = "h: x\r\n".repeat(257);
    assert!(refusal(&format!("HTTP/1.1 200 OK\r\n{many}\r\n")).contains("more than 256 headers"));
}

#[test]
fn memory_follows_what_arrived() {
    for head in ["Content-Length: 18446744073709551615", "Transfer-Encoding: chunked"] {
        let text = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\nffffffffffffffff\r\n{}", "x".repeat(1000));
        let (_, bytes, result) = allocated_by(|| read(text.as_bytes(), asked(false, true)));
        let (reply, taken) = result.unwrap();
        assert!(!reply.is_whole() && taken == text.len() && bytes < 8 * text.len(), "{bytes}");
    }
    // What is kept has a bound, whatever comes.
    let mut reply = Reply::default();
    reply.begin(asked(false, true));
    reply.take(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    let megabyte = vec![b'x'; 1 << 20];
    for _ in 0..40 {
        reply.take(&megabyte).unwrap();
    }
    assert_eq!((reply.body().len(), reply.body_bytes()), (16 << 20, 40 << 20));
    assert!(!reply.has_whole_body());
}

#[test]
fn a_reply_allocates_nothing_once_the_buffers_are_there() {
    let texts = [
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"id\": 123}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ];
    let mut reply = Reply::default();
    let mut all = |keeps_body| {
        for text in texts {
            for piece_bytes in [1, 1000] {
                reply.begin(asked(false, keeps_body));
                for piece in text.as_bytes().chunks(piece_bytes) {
                    reply.take(piece).unwrap();
                }
                assert!(reply.is_whole());
            }
        }
    };
    all(true);
    assert_eq!(allocated_by(|| all(true)).0, 0);
    assert_eq!(allocated_by(|| all(false)).0, 0);
    assert_eq!(allocated_by(|| Vec::<u8>::with_capacity(10)).0, 1, "the counter must count");
}

const REPLIES: [&str; 4] = [
    "HTTP/1.1 200 OK\r\nContent-Length: 14\r\nSet-Cookie: a=b\r\n\r\n{\"a\": [1, {}]}",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\na;x\r\n0123456789\r\n0\r\nT: u\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 503 No\r\nLocation: /\r\n\r\nuntil the end",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\u{1f}\u{8}\0",
];

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..300), piece_bytes in 1..50_usize) {
        survive(&bytes, piece_bytes, false);
    }

    #[test]
    fn any_bytes_behind_a_status_are_survived(bytes in "[\r\n:;, a0-9TtEeCc-]{0,300}", piece_bytes in 1..50_usize) {
        survive(format!("HTTP/1.1 200 OK\r\n{bytes}").as_bytes(), piece_bytes, false);
        survive(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{bytes}").as_bytes(), piece_bytes, false);
    }

    #[test]
    fn damaged_replies_are_survived(
        which in any::<Index>(),
        changes in vec((any::<Index>(), any::<u8>()), 0..6),
        kept in any::<Index>(),
        piece_bytes in 1..100_usize,
        is_head: bool,
    ) {
        let mut bytes = which.get(&REPLIES).as_bytes().to_vec();
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        survive(&bytes, piece_bytes, is_head);
        bytes.truncate(kept.index(bytes.len()));
        survive(&bytes, piece_bytes, is_head);
    }
}
