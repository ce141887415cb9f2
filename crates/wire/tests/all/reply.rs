//! What the scan finds in replies that a server sends, encoded by the official `bson` crate.

use crate::common::{message, message_of, sequence};
use brimline_wire::hello::{self, Hello, HelloError, Member};
use brimline_wire::op_msg::{CHECKSUM_PRESENT, MORE_TO_COME, MessageError};
use brimline_wire::reply::{self, Labels, ReplyError, WriteConcernError, WriteError};
use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, doc};

fn scan(body: &Document, check: impl FnOnce(reply::Reply<'_>)) {
    check(reply::scan(&message(8, 7, 0, body)).unwrap());
}

#[test]
fn a_find_reply_has_its_documents_and_its_cursor() {
    for batch in ["firstBatch", "nextBatch"] {
        let cursor =
            doc! { batch: [{ "_id": 1 }, { "_id": 2 }, { "ok": 0 }], "id": 5_000_000_000i64, "ns": "a.b" };
        scan(&doc! { "cursor": cursor, "ok": 1.0 }, |reply| {
            assert_eq!((reply.request_id, reply.response_to), (8, 7));
            assert!(reply.ok);
            assert_eq!((reply.documents, reply.cursor_id), (3, 5_000_000_000));
            assert!(reply.first_write_error.is_none() && reply.write_concern_error.is_none());
        });
    }
    scan(&doc! { "cursor": { "firstBatch": [], "id": 0i64, "ns": "a.b" }, "ok": 1.0 }, |reply| {
        assert_eq!((reply.documents, reply.cursor_id), (0, 0));
    });
}

#[test]
fn ok_is_recognised_in_any_numeric_type_and_anywhere() {
    let values = [Bson::Double(1.0), Bson::Int32(1), Bson::Int64(1), Bson::Boolean(true)];
    for yes in values {
        scan(&doc! { "a": "long text before it", "ok": yes, "b": 1 }, |reply| assert!(reply.ok));
    }
    for no in
        [Bson::Double(0.0), Bson::Int32(0), Bson::Int64(0), Bson::Boolean(false), Bson::Double(f64::NAN)]
    {
        scan(&doc! { "ok": no }, |reply| assert!(!reply.ok));
    }
    for body in [doc! {}, doc! { "ok": "yes" }, doc! { "inner": { "ok": 1 } }] {
        assert_eq!(reply::scan(&message(1, 1, 0, &body)).err(), Some(ReplyError::NoOk));
    }
}

#[test]
fn a_command_error_has_its_code_and_labels() {
    let labels = ["TransientTransactionError", "SomethingNew", "NoWritesPerformed"];
    let body = doc! {
        "ok": 0.0, "errmsg": "not primary", "code": 10107, "codeName": "NotWritablePrimary", "errorLabels": labels,
    };
    scan(&body, |reply| {
        assert!(!reply.ok);
        assert_eq!(reply.code, 10107);
        assert_eq!(reply.code_name, b"NotWritablePrimary");
        assert_eq!(reply.message, b"not primary");
        assert!(reply.labels.contains(Labels::TRANSIENT_TRANSACTION_ERROR));
        assert!(!reply.labels.contains(Labels::RETRYABLE_WRITE_ERROR));
        let names: Vec<_> = reply.labels.names().collect();
        assert_eq!(names, ["TransientTransactionError", "NoWritesPerformed"]);
    });
    scan(&doc! { "ok": 1 }, |reply| assert!(reply.labels.is_empty()));
}

#[test]
fn every_known_label_is_recognised() {
    let known = [
        (Labels::TRANSIENT_TRANSACTION_ERROR, "TransientTransactionError"),
        (Labels::UNKNOWN_TRANSACTION_COMMIT_RESULT, "UnknownTransactionCommitResult"),
        (Labels::RETRYABLE_WRITE_ERROR, "RetryableWriteError"),
        (Labels::NO_WRITES_PERFORMED, "NoWritesPerformed"),
        (Labels::RESUMABLE_CHANGE_STREAM_ERROR, "ResumableChangeStreamError"),
        (Labels::SYSTEM_OVERLOADED_ERROR, "SystemOverloadedError"),
        (Labels::RETRYABLE_ERROR, "RetryableError"),
    ];
    for (label, name) in known {
        scan(&doc! { "ok": 0, "errorLabels": [name] }, |reply| {
            assert_eq!(reply.labels, label);
            assert_eq!(reply.labels.names().collect::<Vec<_>>(), [name]);
        });
    }
}

#[test]
fn a_write_reply_has_counts_and_write_errors() {
    scan(&doc! { "n": 3, "nModified": 2i64, "ok": 1.0 }, |reply| {
        assert_eq!((reply.n, reply.n_modified, reply.write_errors), (3, 2, 0));
    });
    let errors = [
        doc! { "index": 4, "code": 11000, "keyPattern": { "_id": 1 }, "errmsg": "E11000 duplicate key" },
        doc! { "index": 9, "code": 121, "errmsg": "Document failed validation" },
    ];
    scan(&doc! { "n": 8, "writeErrors": errors.to_vec(), "ok": 1.0 }, |reply| {
        assert!(reply.ok);
        assert_eq!((reply.n, reply.write_errors), (8, 2));
        let first = WriteError { index: 4, code: 11000, message: b"E11000 duplicate key" };
        assert_eq!(reply.first_write_error, Some(first));
        let mut codes = Vec::new();
        reply
            .each_write_error(|error| codes.push((error.index, error.code)))
            .expect("the errors are documents");
        assert_eq!(codes, [(4, 11000), (9, 121)]);
    });
}

#[test]
fn a_write_concern_error_is_found() {
    let error = doc! {
        "code": 64, "codeName": "WriteConcernTimeout", "errmsg": "waiting for replication timed out",
        "errInfo": { "wtimeout": true, "code": 1 },
    };
    scan(&doc! { "n": 1, "writeConcernError": error, "ok": 1.0 }, |reply| {
        let message: &[u8] = b"waiting for replication timed out";
        let expected = WriteConcernError { code: 64, code_name: b"WriteConcernTimeout", message };
        assert_eq!(reply.write_concern_error, Some(expected));
    });
}

#[test]
fn known_fields_of_another_type_count_as_missing() {
    let body = doc! {
        "cursor": 1, "n": "many", "code": "x", "codeName": 5, "errmsg": { "a": 1 }, "errorLabels": "none",
        "writeErrors": {}, "writeConcernError": [], "ok": 1,
    };
    scan(&body, |reply| {
        assert_eq!((reply.documents, reply.n, reply.code, reply.write_errors), (0, 0, 0, 0));
        assert!(reply.message.is_empty() && reply.write_concern_error.is_none());
    });
}

#[test]
fn sections_are_checked() {
    let error = |bytes: &[u8]| match reply::scan(bytes) {
        Err(ReplyError::Message(error)) => error,
        other => panic!("expected a message error, got {other:?}"),
    };
    let ok = doc! { "ok": 1 };
    let body = [vec![0], ok.to_vec().unwrap()].concat();
    assert_eq!(error(&message_of(1, 1, 0, &[])), MessageError::Body);
    assert_eq!(error(&message_of(1, 1, 0, &[body.clone(), body.clone()].concat())), MessageError::Body);
    assert_eq!(error(&message_of(1, 1, 0, &[2, 5, 0, 0, 0, 0])), MessageError::SectionKind(2));
    assert_eq!(error(&message_of(1, 1, 0, &[1, 3, 0, 0, 0, 0])), MessageError::Truncated);
    assert_eq!(error(&message_of(1, 1, 0, &[1, 99, 0, 0, 0, 0])), MessageError::Truncated);
    assert_eq!(error(&message(1, 1, 1 << 2, &ok)), MessageError::Flags(4));
    assert_eq!(reply::scan(&message(1, 1, MORE_TO_COME, &ok)).err(), Some(ReplyError::MoreToCome));

    let mut longer = message(1, 1, 0, &ok);
    longer.push(0);
    let declared = longer.len() - 1;
    assert_eq!(error(&longer), MessageError::Length { declared, actual: declared + 1 });
    let mut other = message(1, 1, 0, &ok);
    other[12] = 1;
    assert_eq!(error(&other), MessageError::Opcode(0x0701));

    // Order of sections, optional flags and a checksum are the sender's choice.
    let sections = [sequence("documents", &[doc! {}]), body.clone(), b"crc!".to_vec()].concat();
    assert!(reply::scan(&message_of(1, 1, CHECKSUM_PRESENT | 1 << 20, &sections)).unwrap().ok);
    assert_eq!(error(&message_of(1, 1, CHECKSUM_PRESENT, b"crc")), MessageError::Truncated);
}

#[test]
fn a_hello_names_the_client() {
    let mut out = Vec::new();
    hello::request(&mut out, 1);
    let body: Document = Document::from_reader(&out[21..]).unwrap();
    assert_eq!(out, message(1, 0, 0, &body));
    assert_eq!(body.keys().collect::<Vec<_>>(), ["hello", "client", "$db"]);
    let client = body.get_document("client").unwrap();
    assert_eq!(client.get_document("driver").unwrap().get_str("name").unwrap(), "brimline");
    assert_eq!(client.get_document("os").unwrap().get_str("type").unwrap(), std::env::consts::OS);
    assert!(client.to_vec().unwrap().len() <= 512, "servers refuse longer client metadata");
}

#[test]
fn a_hello_reply_describes_the_server() {
    let version = doc! { "processId": ObjectId::from_bytes([7; 12]), "counter": 6_i64 };
    let replica = doc! {
        "isWritablePrimary": true, "compression": ["zstd", "zlib"], "secondary": false, "setName": "rs0", "maxBsonObjectSize": 16_777_216,
        "maxMessageSizeBytes": 48_000_000, "maxWriteBatchSize": 1000, "minWireVersion": 0, "maxWireVersion": 17,
        "hosts": ["a:1", "b:2"], "passives": ["c:3"], "arbiters": ["d:4"], "me": "a:1", "setVersion": 3,
        "electionId": ObjectId::from_bytes([7; 12]), "tags": { "dc": "east" }, "hidden": true, "topologyVersion": version.clone(),
        "lastWrite": { "lastWriteDate": DateTime::from_millis(1_700_000_000_123) }, "ok": 1.0,
    };
    let expected = Hello {
        wire_version_min: 0,
        wire_version_max: 17,
        message_bytes_max: 48_000_000,
        document_bytes_max: 16_777_216,
        write_batch_max: 1000,
        set_name: Some("rs0".to_owned()),
        is_writable_primary: true,
        is_secondary: false,
        is_mongos: false,
        compressors: vec!["zstd".to_owned(), "zlib".to_owned()],
        member: Member {
            me: Some("a:1".to_owned()),
            hosts: ["a:1", "b:2", "c:3"].map(str::to_owned).to_vec(),
            tags: vec![("dc".to_owned(), "east".to_owned())],
            is_hidden: true,
            set_version: Some(3),
            election_id: Some([7; 12]),
            last_write_unix_ms: Some(1_700_000_000_123),
        },
        topology_version: Some(version.to_vec().unwrap()),
    };
    assert_eq!(hello::parse(&message(2, 1, 0, &replica)), Ok(expected));

    let mongos = hello::parse(&message(2, 1, 0, &doc! { "msg": "isdbgrid", "ok": 1 })).unwrap();
    assert!(mongos.is_mongos && mongos.set_name.is_none());
    let secondary = hello::parse(&message(2, 1, 0, &doc! { "secondary": true, "ok": 1 })).unwrap();
    assert!(secondary.is_secondary && !secondary.is_writable_primary);
}

/// A server that says which state of its set it told can be asked for the next one; another answers at once.
#[test]
fn a_hello_can_wait_for_what_changes() {
    let asked = |known: Option<&Document>| {
        let mut out = Vec::new();
        hello::request_change(&mut out, 3, known.map(|known| known.to_vec().unwrap()).as_deref(), 500);
        Document::from_reader(&out[21..]).unwrap()
    };
    let version = doc! { "processId": ObjectId::from_bytes([7; 12]), "counter": 6_i64 };
    let waits =
        doc! { "hello": 1, "topologyVersion": version.clone(), "maxAwaitTimeMS": 500, "$db": "admin" };
    assert_eq!(asked(Some(&version)), waits);
    assert_eq!(asked(None), doc! { "hello": 1, "$db": "admin" });
}

#[test]
fn a_hello_reply_cannot_announce_impossible_sizes() {
    let liar =
        doc! { "maxMessageSizeBytes": i64::MAX, "maxBsonObjectSize": -1, "maxWriteBatchSize": 0, "ok": 1 };
    let hello = hello::parse(&message(2, 1, 0, &liar)).unwrap();
    assert_eq!(hello.message_bytes_max, 48_000_000);
    assert_eq!(hello.document_bytes_max, 16 * 1024 * 1024);
    assert_eq!(hello.write_batch_max, 100_000);
}

#[test]
fn a_refused_handshake_is_an_error_that_says_why() {
    let body =
        doc! { "ok": 0.0, "errmsg": "no such command: 'hello'", "code": 59, "codeName": "CommandNotFound" };
    let error = hello::parse(&message(2, 1, 0, &body)).unwrap_err();
    assert!(matches!(&error, HelloError::Refused { code: 59, .. }));
    assert_eq!(
        error.to_string(),
        "server refuses the handshake: no such command: 'hello' (code 59 CommandNotFound)"
    );
    assert!(matches!(hello::parse(b"HTTP/1.1 400 Bad Request"), Err(HelloError::Reply(_))));
}
