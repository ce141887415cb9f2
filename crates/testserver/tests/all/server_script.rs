//! The script on real time. Lower bounds are exact, since a reply is never sent before it is due; upper bounds are as wide
//! as a busy machine needs, and only tell one behaviour from another.

#![expect(clippy::disallowed_methods, reason = "these tests compare the server with the real clock")]

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::Client;
use brimline_testserver::{Fault, FaultKind, Script, Server, ServiceTime, Stall, When};
use bson::{Document, doc};

const MS: u64 = 1_000_000;
/// Far longer than a server that works needs for anything in this file.
const LATE: Duration = Duration::from_secs(5);

fn find() -> Document {
    doc! {"find": "c", "filter": {"_id": 1}}
}

fn fixed(ns: u64) -> Script {
    Script { service: ServiceTime::Fixed { ns }, ..Script::default() }
}

fn timed(action: impl FnOnce()) -> Duration {
    let start = Instant::now();
    action();
    start.elapsed()
}

#[test]
fn a_reply_comes_when_its_service_is_done_and_not_before() {
    let server = Server::start(fixed(20 * MS)).unwrap();
    let mut client = Client::connect(server.address());
    for _ in 0..5 {
        let took = timed(|| drop(client.ok(find())));
        assert!((Duration::from_millis(20)..LATE).contains(&took), "{took:?}");
    }
    assert_eq!(server.counts().requests, 5);
}

#[test]
fn connections_are_served_at_the_same_time() {
    let server = Server::start(fixed(200 * MS)).unwrap();
    let mut clients: Vec<_> = (0..100).map(|_| Client::connect(server.address())).collect();
    let took = timed(|| {
        for client in &mut clients {
            client.send(find());
        }
        for client in &mut clients {
            client.receive();
        }
    });
    assert!((Duration::from_millis(200)..LATE).contains(&took), "one after the other: 20 s; took {took:?}");
}

#[test]
fn one_server_takes_requests_one_after_the_other() {
    let server = Server::start(Script { servers: Some(1), ..fixed(10 * MS) }).unwrap();
    let mut client = Client::connect(server.address());
    let took = timed(|| {
        let requests: Vec<_> = (0..20).map(|_| client.send(find())).collect();
        let answered: Vec<_> = requests.iter().map(|_| client.receive().0).collect();
        assert_eq!(answered, requests, "first come, first served");
    });
    assert!((Duration::from_millis(200)..LATE).contains(&took), "{took:?}");
}

#[test]
fn a_gate_passes_no_more_than_its_capacity() {
    let server = Server::start(Script { capacity_ops_per_s: Some(1000.0), ..Script::default() }).unwrap();
    let mut clients: Vec<_> = (0..10).map(|_| Client::connect(server.address())).collect();
    let took = timed(|| {
        for _ in 0..30 {
            for client in &mut clients {
                client.send(find());
            }
            for client in &mut clients {
                client.receive();
            }
        }
    });
    assert!((Duration::from_millis(300)..LATE).contains(&took), "300 requests took {took:?}");
}

#[test]
fn a_stall_holds_replies_until_it_ends() {
    let stall = Stall { at_ns: 100 * MS, length_ns: 400 * MS, every_ns: None, slowdown: None };
    let server = Server::start(Script { stalls: vec![stall], ..Script::default() }).unwrap();
    let mut client = Client::connect(server.address());
    let start = Instant::now();
    client.ok(find());
    let first = start.elapsed();
    sleep(Duration::from_millis(200).saturating_sub(first));
    client.ok(find());
    let second = start.elapsed();
    assert!((Duration::from_millis(500)..LATE).contains(&second), "{second:?}");
}

#[test]
fn other_commands_are_answered_at_once() {
    let script = Script { namespace: Some("db.c".to_owned()), ..fixed(3600 * 1000 * MS) };
    let server = Server::start(script).unwrap();
    let mut client = Client::connect(server.address());
    client.ping();
    client.ok(doc! {"count": "c"});
    client.ok(doc! {"find": "manifest"});
    client.ok(doc! {"insert": "manifest", "documents": [{"_id": 1}]});
    assert_eq!(server.counts().requests, 0);
    client.send(find());
    client.ping(); // the find is still in service
    assert_eq!(server.counts().requests, 1);
}

#[test]
fn a_script_can_be_replaced_once_data_is_loaded() {
    let server = Server::start(Script::default()).unwrap();
    let mut client = Client::connect(server.address());
    client.ok(doc! {"insert": "c", "documents": [{"_id": 1}]});
    let script = r#"{"faults": [{"when": {"at_request": 1}, "kind": "no_document"}]}"#;
    client.ok(doc! {"setScript": script});
    let found: Vec<_> = (0..3).map(|_| client.batch(find()).len()).collect();
    assert_eq!(found, [1, 0, 1], "requests are numbered anew, documents are still there");
    assert_eq!(client.code(doc! {"setScript": r#"{"servers": 0}"#}), 2);
    assert_eq!(server.counts().faults, [1]);
}

/// A server whose request 1 goes wrong, and a client that has had a good reply to request 0.
fn with_fault(kind: FaultKind) -> (Server, Client) {
    let faults = vec![Fault { when: When::AtRequest(1), kind }];
    let server = Server::start(Script { faults, ..Script::default() }).unwrap();
    let mut client = Client::connect(server.address());
    client.ok(doc! {"insert": "c", "documents": [{"_id": 1}]});
    (server, client)
}

#[test]
fn an_error_fails_the_command_as_a_whole() {
    let (server, mut client) = with_fault(FaultKind::Error {
        code: 189,
        name: "PrimarySteppedDown".to_owned(),
        label: Some("RetryableWriteError".to_owned()),
    });
    let reply = client.run(doc! {"insert": "c", "documents": [{"_id": 2}]});
    let expected = doc! {
        "ok": 0.0, "errmsg": "scripted error", "code": 189, "codeName": "PrimarySteppedDown",
        "errorLabels": ["RetryableWriteError"],
    };
    assert_eq!(reply, expected);
    assert_eq!(client.ok(doc! {"count": "c"}).get_i32("n").ok(), Some(1));
    assert_eq!(server.counts().opcounters.insert, 1, "it was not attempted");
    assert_eq!(server.counts().faults, [1]);
}

#[test]
fn a_write_error_fails_the_first_statement() {
    let (_server, mut client) = with_fault(FaultKind::WriteError { code: 121, statements: 1 });
    let documents = [doc! {"_id": 2}, doc! {"_id": 3}];
    let reply = client.ok(doc! {"insert": "c", "documents": &documents[..], "ordered": false});
    assert_eq!(reply.get_i32("n").ok(), Some(1));
    let error = reply.get_array("writeErrors").unwrap()[0].as_document().unwrap();
    assert_eq!((error.get_i32("index").ok(), error.get_i32("code").ok()), (Some(0), Some(121)));
    assert_eq!(client.ok(doc! {"count": "c"}).get_i32("n").ok(), Some(2));
}

#[test]
fn a_write_concern_error_comes_with_a_write_that_was_done() {
    let kind = FaultKind::WriteConcernError { code: 64, name: "WriteConcernFailed".to_owned() };
    let (_server, mut client) = with_fault(kind);
    let reply = client.ok(doc! {"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 1}}}]});
    let error = reply.get_document("writeConcernError").unwrap();
    assert_eq!(
        (error.get_i32("code").ok(), error.get_str("codeName").ok()),
        (Some(64), Some("WriteConcernFailed"))
    );
    assert_eq!(client.batch(find()), [doc! {"_id": 1, "a": 1}]);
}

#[test]
fn write_faults_leave_reads_alone() {
    let (server, mut client) = with_fault(FaultKind::WriteError { code: 121, statements: 1 });
    assert_eq!(client.batch(find()).len(), 1);
    assert_eq!(server.counts().faults, [0]);
}

#[test]
fn no_document_matches_nothing() {
    let (_server, mut client) = with_fault(FaultKind::NoDocument);
    let update =
        doc! {"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 1}}, "upsert": true}]};
    assert_eq!(client.ok(update.clone()), doc! {"n": 0, "nModified": 0, "ok": 1.0});
    assert_eq!(client.ok(update), doc! {"n": 1, "nModified": 1, "ok": 1.0});
}

#[test]
fn close_ends_the_connection_without_a_reply() {
    let (server, mut client) = with_fault(FaultKind::Close);
    client.send(find());
    assert!(client.is_closed());
    Client::connect(server.address()).ok(find());
}

#[test]
fn a_fault_comes_when_its_service_is_done() {
    let faults = vec![Fault { when: When::AtRequest(0), kind: FaultKind::Close }];
    let server = Server::start(Script { faults, ..fixed(20 * MS) }).unwrap();
    let mut client = Client::connect(server.address());
    let took = timed(|| {
        client.send(find());
        assert!(client.is_closed());
    });
    assert!((Duration::from_millis(20)..LATE).contains(&took), "{took:?}");
}

#[test]
fn silence_leaves_the_request_open_and_the_connection_too() {
    let (_server, mut client) = with_fault(FaultKind::Silence);
    let silent = client.send(find());
    let next = client.send(find());
    assert_eq!(client.receive().0, next, "no reply to {silent}");
}

#[test]
fn garbage_has_a_good_header_and_no_body() {
    let (_server, mut client) = with_fault(FaultKind::Garbage);
    let request = client.send(find());
    let message = client.receive_message();
    assert_eq!(message.len(), 80);
    assert_eq!(message[8..16], [request.to_le_bytes(), 2013_i32.to_le_bytes()].concat());
    assert_eq!(message[16..], [0xff; 64]);
    client.ping();
}

#[test]
fn a_wrong_length_is_longer_than_any_message() {
    use std::io::Read;
    let (_server, mut client) = with_fault(FaultKind::WrongLength);
    client.send(find());
    let mut header = [0; 16];
    client.socket.read_exact(&mut header).unwrap();
    assert_eq!(header[..4], 48_000_001_i32.to_le_bytes());
}

#[test]
fn faults_are_as_many_as_were_counted() {
    let kind = FaultKind::Error { code: 8000, name: "AtlasError".to_owned(), label: None };
    let faults = vec![Fault { when: When::Share(0.1), kind }];
    let server = Server::start(Script { seed: 2, faults, ..Script::default() }).unwrap();
    let mut client = Client::connect(server.address());
    let failed = (0..2000).filter(|_| client.run(find()).get_f64("ok").ok() == Some(0.0)).count() as u64;
    assert_eq!(server.counts().faults, [failed]);
    assert!((140..=260).contains(&failed), "{failed} of 2000 at a share of 0.1");
}
