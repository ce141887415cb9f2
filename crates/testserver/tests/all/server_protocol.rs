//! The server at the level of bytes and connections.

use std::io::Write;
use std::net::TcpStream;

use crate::common::{Client, message};
use brimline_testserver::{Data, Protocol, Script, Server};
use bson::{Document, doc};

fn start() -> Server {
    Server::start(Script::default()).unwrap()
}

#[test]
fn a_plain_socket_gets_the_reply_to_its_request() {
    let server = start();
    let mut client = Client::connect(server.address());
    // {ping: 1, $db: "admin"} as request 77.
    let request = b"\x33\0\0\0\x4d\0\0\0\0\0\0\0\xdd\x07\0\0\0\0\0\0\0\
        \x1e\0\0\0\x10ping\0\x01\0\0\0\x02$db\0\x06\0\0\0admin\0\0";
    client.socket.write_all(request).unwrap();
    let (response_to, reply) = client.receive();
    assert_eq!((response_to, reply), (77, doc! {"ok": 1.0}));
}

#[test]
fn the_handshake_of_old_is_answered_in_its_own_form() {
    let server = start();
    let mut client = Client::connect(server.address());
    let query = doc! {"ismaster": 1, "helloOk": true}.to_vec().unwrap();
    let mut content = b"\0\0\0\0admin.$cmd\0\0\0\0\0\xff\xff\xff\xff".to_vec();
    content.extend(query);
    let mut request = Vec::new();
    for field in [content.len() as i32 + 16, 5, 0, 2004] {
        request.extend(field.to_le_bytes());
    }
    request.extend(content);
    client.socket.write_all(&request).unwrap();
    let reply = client.receive_message();
    assert_eq!(reply[8..16], *b"\x05\0\0\0\x01\0\0\0", "answers request 5 with OP_REPLY");
    assert_eq!(reply[16..36], *b"\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0", "one document");
    let body = Document::from_reader(&reply[36..]).unwrap();
    assert_eq!(body.get_bool("ismaster").ok(), Some(true));
    assert_eq!(body.get_bool("helloOk").ok(), Some(true));
    assert_eq!(body.get_bool("scripted").ok(), Some(true));
    assert_eq!(body.get_i32("maxWireVersion").ok(), Some(17));
    client.ping();
}

#[test]
fn the_server_never_passes_for_a_real_one() {
    let server = start();
    let mut client = Client::connect(server.address());
    let info = client.ok(doc! {"buildInfo": 1});
    assert_eq!(info.get_bool("scripted").ok(), Some(true));
    assert_eq!(info.get_str("version").ok(), Some("6.0.0-scripted"));
    let status = client.ok(doc! {"serverStatus": 1});
    assert_eq!(status.get_document("storageEngine").unwrap().get_str("name").ok(), Some("scripted"));
    assert_eq!(status.get_i64("pid").ok(), Some(i64::from(std::process::id())));
    for command in ["hostInfo", "getCmdLineOpts", "getParameter", "endSessions", "hello"] {
        client.ok(doc! {command: 1});
    }
}

#[test]
fn messages_may_arrive_in_pieces_and_in_rows() {
    let server = start();
    let mut client = Client::connect(server.address());
    let ping = |request| message(request, 0, &doc! {"ping": 1, "$db": "db"}, None);
    for byte in ping(1) {
        client.socket.write_all(&[byte]).unwrap();
    }
    assert_eq!(client.receive().0, 1);
    let mut row: Vec<u8> = (2..52).flat_map(ping).collect();
    let last = ping(52);
    row.extend(&last[..20]);
    client.socket.write_all(&row).unwrap();
    for request in 2..52 {
        assert_eq!(client.receive().0, request);
    }
    client.socket.write_all(&last[20..]).unwrap();
    assert_eq!(client.receive().0, 52);
}

#[test]
fn what_is_no_message_ends_the_connection_and_no_other() {
    let server = start();
    let mut bystander = Client::connect(server.address());
    bystander.ping();
    let too_long = 48_000_001_i32.to_le_bytes();
    let messages: [&[u8]; 5] = [
        &[&too_long[..], &[0; 12]].concat(),
        b"\x0f\0\0\0\0\0\0\0\0\0\0\0\xdd\x07\0\0",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x10\0\0\0\0\0\0\0\0\0\0\0\xdd\x07\0\0",
        b"\x18\0\0\0\0\0\0\0\0\0\0\0\xd4\x07\0\0\0\0\0\0a\0\0\0",
    ];
    for bytes in messages {
        let mut client = Client::connect(server.address());
        client.socket.write_all(bytes).unwrap();
        assert!(client.is_closed(), "{bytes:?}");
    }
    bystander.ping();
}

#[test]
fn bad_commands_are_errors_and_the_connection_goes_on() {
    let server = start();
    let mut client = Client::connect(server.address());
    assert_eq!(client.code(doc! {"frobnicate": 1}), 59);
    assert_eq!(client.code(doc! {"find": 1}), 73);
    assert_eq!(client.code(doc! {"insert": "c", "documents": []}), 16);
    assert_eq!(client.code(doc! {"getMore": 99_i64, "collection": "c"}), 43);
    client.socket.write_all(&message(9, 0, &doc! {"ping": 1}, None)).unwrap();
    assert_eq!(client.receive().1.get_i32("code").ok(), Some(40414), "without $db");
    let mut bad_body = message(10, 0, &doc! {"ping": 1, "$db": "db"}, None);
    bad_body[25] = 0x55; // type of the first element
    client.socket.write_all(&bad_body).unwrap();
    assert_eq!(client.receive().1.get_i32("code").ok(), Some(22));
    client.ping();
    assert_eq!(server.counts().command("unknown"), 3);
}

#[test]
fn a_request_that_wants_no_reply_gets_none_and_is_done() {
    let server = start();
    let mut client = Client::connect(server.address());
    let insert = doc! {"insert": "c", "documents": [{"_id": 1}], "$db": "db", "writeConcern": {"w": 0}};
    client.socket.write_all(&message(500, 2, &insert, None)).unwrap();
    assert_eq!(client.ok(doc! {"count": "c"}).get_i32("n").ok(), Some(1));
}

#[test]
fn a_client_that_does_not_read_holds_up_nobody() {
    let script = Script { data: Data::Synthetic { document_bytes: 1_000_000 }, ..Script::default() };
    let server = Server::start(script).unwrap();
    let mut lazy = Client::connect(server.address());
    let mut other = Client::connect(server.address());
    // 60 MB, more than the buffers of a socket hold.
    let requests: Vec<_> = (0..6).map(|_| lazy.send(doc! {"find": "c", "limit": 10})).collect();
    other.ping();
    for request in requests {
        let (response_to, reply) = lazy.receive();
        assert_eq!(response_to, request);
        assert_eq!(crate::common::documents(&reply, "firstBatch").len(), 10);
    }
    lazy.ping();
}

#[test]
fn connections_are_counted_and_end_with_the_server() {
    let server = start();
    let address = server.address();
    let mut clients: Vec<_> = (0..50).map(|_| Client::connect(address)).collect();
    for client in &mut clients {
        client.ping();
    }
    let status = clients[0].ok(doc! {"serverStatus": 1});
    let connections = status.get_document("connections").unwrap();
    assert_eq!(connections.get_i64("current").ok(), Some(50));
    assert_eq!(connections.get_i64("totalCreated").ok(), Some(50));
    assert_eq!(server.counts().command("ping"), 50);
    server.stop().unwrap();
    assert!(clients.iter_mut().all(Client::is_closed));
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn an_invalid_script_and_a_port_in_use_are_errors() {
    let invalid = Script { servers: Some(0), ..Script::default() };
    assert_eq!(Server::start(invalid).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    let server = start();
    let taken = Server::start_on(Script::default(), Protocol::Mongodb, server.address().port());
    assert_eq!(taken.unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
}
