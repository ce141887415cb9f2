//! The server of HTTP, as a client of plain sockets sees it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use brimline_testserver::{Fault, FaultKind, HttpReplies, Protocol, Script, Server, ServiceTime, When};

use crate::common::PATIENCE;

fn start(script: Script) -> Server {
    Server::start_on(script, Protocol::Http, 0).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a bound of seconds on a test needs no grain")]
fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// What comes back for `request`, up to the end of `end`.
fn ask(socket: &mut TcpStream, request: &str, end: &str) -> String {
    socket.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(end.as_bytes()) {
        assert_eq!(socket.read(&mut byte).unwrap(), 1, "{:?}", String::from_utf8_lossy(&bytes));
        bytes.push(byte[0]);
    }
    String::from_utf8(bytes).unwrap()
}

fn is_closed(socket: &mut TcpStream) -> bool {
    matches!(socket.read(&mut [0]), Ok(0))
}

const GET: &str = "GET /orders/1?x HTTP/1.1\r\nHost: h\r\n\r\n";

#[test]
fn any_path_is_answered_with_a_small_json() {
    let server = start(Script::default());
    let mut socket = connect(server.address());
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 23\r\n\r\n";
    assert_eq!(ask(&mut socket, GET, "}"), format!("{head}{{\"ok\":true,\"request\":0}}"));
    let post = "POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\nbody";
    assert_eq!(
        ask(&mut socket, &format!("{post}{GET}"), "2}"),
        format!("{head}{{\"ok\":true,\"request\":1}}{head}{{\"ok\":true,\"request\":2}}")
    );
    assert_eq!(ask(&mut socket, "HEAD / HTTP/1.1\r\n\r\n", "\r\n\r\n"), head);
    let counts = server.counts();
    let methods: Vec<_> = counts.commands.iter().map(|(&name, &count)| (name, count)).collect();
    assert_eq!((counts.requests, methods), (4, vec![("GET", 2), ("HEAD", 1), ("POST", 1)]));
}

#[test]
fn counts_have_a_path_of_their_own() {
    let server = start(Script::default());
    let mut socket = connect(server.address());
    ask(&mut socket, GET, "}");
    let request = "GET /testserver/counts HTTP/1.1\r\nConnection: close\r\n\r\n";
    let reply = ask(&mut socket, request, "\"requests\":1}");
    let counts: serde_json::Value = serde_json::from_str(reply.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!((&counts["methods"]["GET"], &counts["connections_created"]), (&1.into(), &1.into()));
    assert!(is_closed(&mut socket));
    assert_eq!(server.counts().requests, 1);
}

#[test]
fn replies_have_the_size_and_the_status_of_the_script() {
    let http = HttpReplies { status: 201, body_bytes: Some(20_000), chunked: false };
    let server = start(Script { http, ..Script::default() });
    let reply = ask(&mut connect(server.address()), GET, "}");
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 201 Created\r\n") && head.ends_with("Content-Length: 20000"));
    assert_eq!(body.len(), 20_000);
    let json: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(json["request"], 0);

    let server = start(Script { http: HttpReplies { chunked: true, ..http }, ..Script::default() });
    let reply = ask(&mut connect(server.address()), GET, "0\r\n\r\n");
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    assert!(head.ends_with("Transfer-Encoding: chunked") && body.starts_with("2000\r\n{\"ok\":true"));
    assert_eq!(body.len(), 20_000 + 2 * 8 + 7 + 5, "three chunks and the last");
}

#[test]
fn a_client_that_says_so_is_left() {
    let server = start(Script::default());
    for request in [
        "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "nonsense\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ] {
        let mut socket = connect(server.address());
        socket.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        socket.read_to_string(&mut reply).unwrap();
        assert_eq!(
            reply.ends_with('}'),
            request.contains("HTTP") && !request.contains("Length"),
            "{request}"
        );
    }
}

#[test]
fn faults_are_replies_of_their_kind() {
    let error = |code, name: &str| FaultKind::Error { code, name: name.to_owned(), label: None };
    let kinds = [error(8000, "Oh"), error(429, "Slow"), FaultKind::NoDocument, FaultKind::WrongLength];
    let faults = kinds
        .into_iter()
        .enumerate()
        .map(|(number, kind)| Fault { when: When::AtRequest(number as u64), kind });
    let server = start(Script { faults: faults.collect(), ..Script::default() });
    let mut socket = connect(server.address());
    let first = ask(&mut socket, GET, "}");
    assert!(
        first.starts_with("HTTP/1.1 500 Internal Server Error\r\n")
            && first.contains("{\"code\":8000,\"error\":\"Oh\"}"),
        "{first}"
    );
    assert!(ask(&mut socket, GET, "}").starts_with("HTTP/1.1 429 Too Many Requests\r\n"));
    assert!(ask(&mut socket, GET, "\r\n\r\n").starts_with("HTTP/1.1 404 Not Found\r\n"));
    assert!(ask(&mut socket, GET, "\r\n\r\n").contains("Content-Length: 99999999999999999999"));
    ask(&mut socket, GET, "4}");
    assert_eq!(server.counts().faults, [1, 1, 1, 1]);

    let closes = |kind| vec![Fault { when: When::FirstN(1), kind }];
    let server = start(Script { faults: closes(FaultKind::Close), ..Script::default() });
    let mut socket = connect(server.address());
    socket.write_all(GET.as_bytes()).unwrap();
    assert!(is_closed(&mut socket));
    let server = start(Script { faults: closes(FaultKind::Silence), ..Script::default() });
    assert!(
        ask(&mut connect(server.address()), &format!("{GET}{GET}"), "}").contains("\"request\":1"),
        "the first has no reply"
    );
    let server = start(Script { faults: closes(FaultKind::Garbage), ..Script::default() });
    let mut garbage = [0; 64];
    let mut socket = connect(server.address());
    socket.write_all(GET.as_bytes()).unwrap();
    socket.read_exact(&mut garbage).unwrap();
    assert_eq!(garbage, [0xff; 64]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test times the server from outside")]
fn a_reply_comes_when_its_service_is_done() {
    let server = start(Script { service: ServiceTime::Fixed { ns: 30_000_000 }, ..Script::default() });
    let mut socket = connect(server.address());
    let began = Instant::now();
    ask(&mut socket, GET, "}");
    assert!(began.elapsed() >= Duration::from_millis(30));
}

#[test]
fn what_a_server_of_http_replies_is_checked() {
    for (json, path) in [
        (r#"{"http": {"status": 101}}"#, "http.status"),
        (r#"{"http": {"body_bytes": 10}}"#, "http.body_bytes"),
        (r#"{"http": {"x": 1}}"#, "unknown field"),
    ] {
        assert!(Script::from_json(json).unwrap_err().to_string().contains(path), "{json}");
    }
    assert!(
        !serde_json::to_string(&Script::default()).unwrap().contains("http"),
        "scripts of plans stay as they were"
    );
}
