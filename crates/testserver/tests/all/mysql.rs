//! The server of MySQL's protocol, as brimline's own client sees it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use brimline_mysql::{Connector, Requests, Secrets, StatementStep};
use brimline_net::link::LostKind;
use brimline_net::protocol::Protocol as _;
use brimline_sql::statement::Mode;
use brimline_testserver::{Data, Fault, FaultKind, Protocol, Script, Server, When};

use crate::support::{Client, settings, step};

fn steps() -> Vec<StatementStep> {
    vec![
        step("one", "SELECT * FROM t WHERE id = ?", Mode::Prepared, 1),
        step("some", "SELECT * FROM t LIMIT ?", Mode::Prepared, 1),
        step("text", "SELECT * FROM t LIMIT 300", Mode::Text, 0),
        step("insert", "INSERT INTO t VALUES", Mode::Rows, 1),
        step("update", "UPDATE t SET a = ? WHERE id = ?", Mode::Prepared, 2),
        step("begin", "BEGIN", Mode::Text, 0),
    ]
}

fn start(script: Script) -> (Server, Client) {
    let server = Server::start_on(script, Protocol::Mysql, 0).unwrap();
    let secrets = Secrets {
        username: "u".to_owned().into(),
        password: Some("any".to_owned().into()),
        ..Secrets::default()
    };
    let settings = settings(&server.address().to_string(), "shop");
    let connector = Connector::new(settings, secrets, Requests::new(&steps()).unwrap()).unwrap();
    let client = Client::connect(&connector).unwrap();
    (server, client)
}

#[test]
fn statements_are_answered_with_known_rows() {
    let (server, mut client) =
        start(Script { data: Data::Synthetic { document_bytes: 100 }, ..Script::default() });
    let row = bson::doc! { "id": 1_i64, "value": "x".repeat(100) };
    let view = client.look(0, bson::bson!([7]));
    assert_eq!(view, bson::doc! { "rows": [row.clone()], "affected": 0_i64, "n": 1_i64 });
    assert_eq!(client.ask(1, bson::bson!([20])).unwrap().rows, 20);
    let view = client.look(2, bson::bson!([]));
    assert_eq!(view, bson::doc! { "rows": [row], "affected": 0_i64, "n": 300_i64 });
    assert_eq!(client.ask(3, bson::bson!([[[1, "a'("], [2, "b"]]])).unwrap().affected, 2);
    assert_eq!(client.ask(4, bson::bson!(["a", 1])).unwrap().affected, 1);
    assert_eq!(client.ask(5, bson::bson!([])).unwrap().affected, 0);
    let counts = server.counts();
    let commands: Vec<_> = counts.commands.iter().map(|(&name, &count)| (name, count)).collect();
    assert_eq!(commands, [("insert", 1), ("other", 2), ("prepare", 3), ("select", 3), ("update", 1)]);
    assert_eq!(counts.requests, 5);
}

#[test]
fn faults_are_mysql_s() {
    let fault = |at, kind| Fault { when: When::AtRequest(at), kind };
    let deadlock =
        FaultKind::Error { code: 1213, name: "Deadlock".to_owned(), label: Some("40001".to_owned()) };
    let faults = vec![
        fault(0, deadlock),
        fault(1, FaultKind::WriteError { code: 1062, statements: 1 }),
        fault(2, FaultKind::NoDocument),
        fault(3, FaultKind::Garbage),
    ];
    let (server, mut client) = start(Script { faults, ..Script::default() });
    let refusal = client.ask(0, bson::bson!([7])).unwrap().refusal.unwrap();
    assert_eq!((refusal.code, refusal.label.as_str()), (1213, "40001"));
    assert_eq!(client.ask(4, bson::bson!(["a", 1])).unwrap().refusal.unwrap().code, 1062);
    assert_eq!(client.ask(0, bson::bson!([7])).unwrap().rows, 0);
    assert_eq!(client.ask(0, bson::bson!([7])).unwrap_err().kind, LostKind::BadReply);
    assert_eq!(server.counts().faults, [1, 1, 1, 1]);
    for (kind, lost) in [(FaultKind::Close, LostKind::Closed), (FaultKind::WrongLength, LostKind::BadReply)] {
        let (_server, mut client) = start(Script { faults: vec![fault(0, kind)], ..Script::default() });
        assert_eq!(client.ask(0, bson::bson!([7])).unwrap_err().kind, lost);
    }
}

#[test]
fn a_client_that_sends_anything_harms_itself_only() {
    let (server, mut client) = start(Script::default());
    let login = b"\x01\0\0\x01x";
    for bytes in [
        b"".as_slice(),
        b"\0\0\0\x01",
        b"\xff\xff\xff\xff\xff\xff\xff",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0\0\0\0",
        b"\x01\0\0\0\xee",
        b"\x01\0\0\0\x17",
        b"\x05\0\0\0\x17\xff\xff\xff\xff",
        b"\x05\0\0\0\x17\0\0\0\0",
        b"\x09\0\0\0\x16SELECT ?\x05\0\0\0\x17\x01\0\0\0",
        b"\x11\0\0\0\x16SELECT 1 LIMIT ?\x05\0\0\0\x17\x01\0\0\0",
        b"\x0a\0\0\0\x03INSERT '\\",
    ] {
        for first in [b"".as_slice(), login] {
            let mut socket = TcpStream::connect(server.address()).unwrap();
            socket.write_all(&[first, bytes].concat()).unwrap();
            socket.shutdown(Shutdown::Write).unwrap();
            // Until the server has closed it, so that it has read all.
            socket.read_to_end(&mut Vec::new()).unwrap();
        }
    }
    assert_eq!(client.ask(0, bson::bson!([7])).unwrap().rows, 1);
}
