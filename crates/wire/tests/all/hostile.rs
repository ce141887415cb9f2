//! Decoding bytes from a peer that lies: no panic on any bytes, no allocation in the scan, and a connection whose memory
//! follows the bytes that arrived. The test program counts every allocation of its own thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::net::TcpListener;
use std::thread;

use crate::common::{message, wait_readable, wait_writable};
use brimline_wire::connection::Connection;
use brimline_wire::{hello, op_msg, reply};
use bson::{Bson, Document, doc};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

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

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's contract is passed on.
        unsafe { System.alloc_zeroed(layout) }
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
fn allocated_by<T>(work: impl FnOnce() -> T) -> (usize, usize, T) {
    let before = (ALLOCATIONS.get(), ALLOCATED_BYTES.get());
    let result = work();
    (ALLOCATIONS.get() - before.0, ALLOCATED_BYTES.get() - before.1, result)
}

/// Decodes in every way there is; the scan must allocate nothing.
fn decode(bytes: &[u8]) {
    let (allocations, _, _) = allocated_by(|| reply::scan(bytes).is_ok());
    assert_eq!(allocations, 0, "the scan must not allocate");
    let _ = hello::parse(bytes);
    if let Ok(message) = op_msg::parse(bytes) {
        for sequence in message.sequences() {
            sequence.documents().for_each(drop);
        }
    }
}

fn set_declared_length(message: &mut [u8]) {
    let length = message.len() as u32;
    if let Some(field) = message.first_chunk_mut() {
        *field = length.to_le_bytes();
    }
}

fn nested(depth: usize) -> Document {
    (0..depth).fold(doc! { "ok": 1 }, |inner, level| {
        if level % 2 == 0 {
            doc! { "cursor": { "firstBatch": [inner] }, "ok": 1 }
        } else {
            doc! { "writeErrors": [inner], "ok": 1 }
        }
    })
}

fn valid_replies() -> Vec<Vec<u8>> {
    let batch: Vec<Bson> =
        (0..20).map(|id| Bson::Document(doc! { "_id": id, "text": "some text" })).collect();
    let bodies = [
        doc! { "cursor": { "firstBatch": batch, "id": 7i64, "ns": "a.b" }, "ok": 1.0 },
        doc! { "n": 1, "nModified": 1, "ok": 1.0, "$clusterTime": { "signature": { "keyId": 0i64 } } },
        doc! { "ok": 0.0, "errmsg": "no", "code": 251, "codeName": "NoSuchTransaction",
        "errorLabels": ["TransientTransactionError"] },
        doc! { "n": 0, "writeErrors": [{ "index": 0, "code": 11000, "errmsg": "duplicate" }],
        "writeConcernError": { "code": 64, "codeName": "WriteConcernTimeout", "errmsg": "late" }, "ok": 1 },
        doc! { "isWritablePrimary": true, "setName": "rs0", "maxWireVersion": 21, "ok": 1 },
        nested(60),
    ];
    bodies.iter().map(|body| message(2, 1, 0, body)).collect()
}

#[test]
fn valid_replies_are_scanned_without_allocating() {
    for bytes in valid_replies() {
        let (allocations, _, scanned) = allocated_by(|| reply::scan(&bytes).is_ok());
        assert!(scanned);
        assert_eq!(allocations, 0);
    }
    let (allocations, ..) = allocated_by(|| Vec::<u8>::with_capacity(10));
    assert_eq!(allocations, 1, "the counter must count");
}

#[test]
fn every_truncation_of_a_reply_is_an_error() {
    for whole in valid_replies() {
        for length in 0..whole.len() {
            let mut bytes = whole[..length].to_vec();
            assert!(reply::scan(&bytes).is_err());
            set_declared_length(&mut bytes);
            assert!(reply::scan(&bytes).is_err(), "cut to {length} with a length that fits");
            decode(&bytes);
        }
    }
}

#[test]
fn depth_costs_no_stack() {
    // 3 000 documents of 11 bytes around each other, each named "cursor" and declared as long as it is.
    let mut document = b"\x05\0\0\0\0".to_vec();
    for _ in 0..3_000 {
        let length = document.len() as u32 + 13;
        document = [&length.to_le_bytes(), b"\x03cursor\0".as_slice(), &document, b"\0"].concat();
    }
    decode(&crate::common::message_of(2, 1, 0, &[vec![0], document].concat()));
}

proptest! {
    #[test]
    fn any_bytes_are_survived(mut bytes in vec(any::<u8>(), 0..300)) {
        decode(&bytes);
        set_declared_length(&mut bytes);
        decode(&bytes);
    }

    #[test]
    fn any_body_behind_a_valid_header_is_survived(sections in vec(any::<u8>(), 0..300), flags in any::<u32>()) {
        decode(&crate::common::message_of(2, 1, flags & 3, &sections));
        decode(&crate::common::message_of(2, 1, 0, &[vec![0], sections].concat()));
    }

    #[test]
    fn damaged_replies_are_survived(
        which in any::<Index>(),
        flips in vec((any::<Index>(), 0..8u8), 0..6),
        lengths in vec((any::<Index>(), any::<i32>()), 0..3),
        kept in any::<Index>(),
        mends_length in any::<bool>(),
    ) {
        let replies = valid_replies();
        let mut bytes = which.get(&replies).clone();
        for (index, bit) in flips {
            let at = index.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        for (index, length) in lengths {
            let at = index.index(bytes.len() - 4);
            bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
        }
        decode(&bytes);
        bytes.truncate(kept.index(bytes.len()));
        if mends_length {
            set_declared_length(&mut bytes);
        }
        decode(&bytes);
    }
}

/// Bytes that a connection allocates while a peer declares `declared` bytes, sends `sent` of them and closes.
fn allocated_while_receiving(declared: usize, sent: usize) -> usize {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = thread::spawn(move || {
        let mut bytes = vec![0; sent];
        bytes[..4].copy_from_slice(&(declared as u32).to_le_bytes());
        listener.accept().unwrap().0.write_all(&bytes).unwrap();
    });
    let mut connection = Connection::open(address).unwrap();
    wait_writable(&connection);
    connection.finish_connect().unwrap();
    let (_, bytes, ()) = allocated_by(|| {
        loop {
            wait_readable(&connection);
            if !matches!(connection.receive(), Ok(None)) {
                break;
            }
        }
    });
    peer.join().unwrap();
    bytes
}

#[test]
fn receiving_allocates_in_proportion_to_what_arrives() {
    for sent in [16, 4_000, 5_000, 300_000, 5_000_000] {
        let allocated = allocated_while_receiving(48_000_000, sent);
        assert!(allocated <= 4 * sent, "{allocated} bytes allocated for {sent} that arrived");
    }
    assert_eq!(allocated_while_receiving(4_000, 4_000), 0, "a short reply fits the buffer there is");
    assert!(allocated_while_receiving(100_000, 100_000) >= 100_000, "the counter must count");
}
