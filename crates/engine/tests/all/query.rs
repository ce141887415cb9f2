//! One query against the scripted server: every document is counted once, a refusal is told, a silent server is left.

use std::net::TcpListener;

use crate::common::{MS, S, execute, plan};
use brimline_bson::Writer;
use brimline_engine::plan::target::TargetPlan;
use brimline_engine::plan::{Plan, Work};
use brimline_engine::query::{Command, Query, QueryError};
use brimline_testserver::{Script, Server};

fn command(elements: impl FnOnce(&mut Writer<'_>)) -> Command {
    let mut body = Vec::new();
    let mut writer = Writer::new(&mut body);
    let document = writer.begin_document();
    elements(&mut writer);
    writer.string("$db", "ycsb");
    writer.end_document(document);
    Command { body, database: "ycsb".to_owned(), collection: "usertable".to_owned() }
}

fn find(batch_size: Option<i32>) -> Command {
    command(|writer| {
        writer.string("find", "usertable");
        if let Some(size) = batch_size {
            writer.int32("batchSize", size);
        }
    })
}

/// A server that holds the 1 000 records of the common plan.
fn loaded() -> Server {
    let server = Server::start(Script::default()).expect("a loopback port is free");
    execute(&Plan {
        target: TargetPlan::wire(server.address()),
        work: Work::Load {
            batch_size: 100,
            ordered: false,
            ranges: None,
            upsert: false,
            insert_retries: None,
        },
        duration_ns: None,
        ..plan()
    });
    server
}

fn to_the_end(query: &mut Query) -> Result<(), QueryError> {
    for _ in 0..300 {
        if query.advance(100 * MS)? {
            return Ok(());
        }
    }
    panic!("the query takes longer than half a minute");
}

#[test]
fn a_cursor_is_drained_to_its_last_document() {
    let server = loaded();
    // A batch that is just full leaves the server to find out that nothing follows.
    for (batch_size, batches) in [(None, 2), (Some(10), 2), (Some(1_000), 2), (Some(2_000), 1)] {
        let before = server.counts().opcounters;
        let mut query = Query::start(&server.address().into(), find(batch_size)).expect("there is a socket");
        to_the_end(&mut query).expect("the server answers");
        let drained = query.drained();
        let after = server.counts().opcounters;
        assert_eq!((drained.documents, drained.batches), (1_000, batches), "{batch_size:?}");
        assert_eq!(after.getmore - before.getmore, batches - 1);
        // Ten fields of 100 bytes each, and what BSON adds.
        assert!((1_000_000..1_200_000).contains(&drained.bytes), "{drained:?}");
        assert!(0 < drained.first_reply_ns && drained.first_reply_ns <= drained.elapsed_ns, "{drained:?}");
        assert!(query.answer().is_empty());
        assert!(query.advance(MS).expect("nothing is left to do"));
        assert_eq!(query.drained().documents, drained.documents);
    }
}

#[test]
fn a_command_without_a_cursor_has_its_answer() {
    let server = Server::start(Script::default()).expect("a loopback port is free");
    let mut query =
        Query::start(&server.address().into(), command(|writer| writer.int32("ping", 1))).expect("a socket");
    to_the_end(&mut query).expect("the server answers");
    assert_eq!(query.drained().documents, 0);
    let text = String::from_utf8_lossy(query.answer()).into_owned();
    assert!(text.contains("ok"), "{text}");
}

#[test]
fn a_refusal_has_code_name_and_message() {
    let server = Server::start(Script::default()).expect("a loopback port is free");
    let mut query =
        Query::start(&server.address().into(), command(|writer| writer.int32("noSuchCommand", 1)))
            .expect("a socket");
    match to_the_end(&mut query) {
        Err(QueryError::Refused { code: 59, code_name, message }) => {
            assert_eq!(code_name, "CommandNotFound");
            assert!(message.contains("noSuchCommand"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_says_nothing_is_waited_for_no_longer_than_asked() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a loopback port is free");
    let address = listener.local_addr().expect("it has an address");
    let mut query = Query::start(&address.into(), find(None)).expect("a socket");
    assert!(!query.advance(20 * MS).expect("nothing has happened"));
    assert_eq!(query.drained().documents, 0);
}

#[test]
fn a_server_that_is_gone_is_told() {
    let address = {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a loopback port is free");
        listener.local_addr().expect("it has an address")
    };
    let outcome = Query::start(&address.into(), find(None)).and_then(|mut query| query.advance(S));
    assert!(matches!(outcome, Err(QueryError::Lost(_))), "{outcome:?}");
}

#[test]
fn what_is_no_document_is_no_command() {
    let server = Server::start(Script::default()).expect("a loopback port is free");
    let broken =
        Command { body: vec![1, 2, 3], database: "ycsb".to_owned(), collection: "usertable".to_owned() };
    let mut query = Query::start(&server.address().into(), broken).expect("a socket");
    assert!(matches!(to_the_end(&mut query), Err(QueryError::Lost(_))));
}
