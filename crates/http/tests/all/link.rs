//! Links against a peer that says what the test has written down, over real sockets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

use brimline_http::{Connector, Protocol, Requests, Secrets};
use brimline_net::link::{
    Answer, Connector as _, Greeting, Link, Looks, Lost, LostKind, Part, RefusalKind, Request,
};
use brimline_net::stream::SendState;
use brimline_net::wait::is_ready;
use rustix::event::PollFlags;
use serde_json::{Value, json};

use crate::hostile::allocated_by;
use crate::settings;

const NO_VALUES: &[u8] = b"\x05\0\0\0\0";
const NOTHING: Looks = Looks { at_head: false, at_content: false, at_text: false };
const ALL: Looks = Looks { at_head: true, at_content: true, at_text: true };
const PATIENCE_NS: u64 = 10_000_000_000;

/// What a peer does on one connection.
#[derive(Clone)]
enum Do {
    /// Waits for a request that has each of these in it, and answers.
    Answer(Vec<String>, Vec<u8>),
    /// Sends without being asked.
    Say(Vec<u8>),
    /// Waits for a request and closes without an answer.
    CloseWhenAsked,
}

fn answer(wanted: &[&str], reply: &str) -> Do {
    Do::Answer(wanted.iter().map(|&text| text.to_owned()).collect(), reply.as_bytes().to_vec())
}

fn ok(wanted: &[&str]) -> Do {
    answer(wanted, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
}

/// Plays its part on one connection after the other; each ends with the last thing to do there. Whoever connects once more waits.
fn peer(connections: Vec<Vec<Do>>) -> (SocketAddr, JoinHandle<TcpListener>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let play = move || {
        for parts in connections {
            let (mut socket, _) = listener.accept().unwrap();
            for part in parts {
                match part {
                    Do::Answer(wanted, reply) => {
                        let request = request(&mut socket);
                        for text in wanted {
                            assert!(request.contains(&text), "{request:?} lacks {text:?}");
                        }
                        socket.write_all(&reply).unwrap();
                    }
                    Do::Say(bytes) => socket.write_all(&bytes).unwrap(),
                    Do::CloseWhenAsked => drop(request(&mut socket)),
                }
            }
        }
        listener
    };
    (address, thread::spawn(play))
}

/// A request up to the end of its head, and its body if the test's letters say how long it is.
fn request(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        assert_eq!(socket.read(&mut byte).unwrap(), 1, "{:?}", String::from_utf8_lossy(&bytes));
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes.clone()).unwrap();
    if let Some((_, rest)) = head.split_once("Content-Length: ") {
        let mut body = vec![0; rest.split("\r\n").next().unwrap().parse().unwrap()];
        socket.read_exact(&mut body).unwrap();
        bytes.extend_from_slice(&body);
    }
    String::from_utf8(bytes).unwrap()
}

fn connector(address: SocketAddr, changes: &Value, steps: &Value) -> Connector {
    let mut changes = changes.clone();
    changes["address"] = json!(address.to_string());
    let requests = Requests::new(&serde_json::from_value::<Vec<_>>(steps.clone()).unwrap()).unwrap();
    Connector::new(settings(&changes), Secrets::default(), requests).unwrap()
}

fn steps() -> Value {
    json!([
        {"method": "GET", "target": [{"text": "/get"}]},
        {"method": "POST", "target": [{"text": "/post"}], "body": [{"text": "body"}]},
        {"method": "GET", "target": [{"text": "/strict"}], "status": [[200, 299]]},
    ])
}

fn link(address: SocketAddr, changes: &Value) -> Box<dyn Link> {
    connector(address, changes, &steps()).connect().unwrap()
}

fn wait(link: &dyn Link, wanted: PollFlags) {
    assert!(is_ready(&link.socket().unwrap(), wanted, PATIENCE_NS).unwrap(), "nothing came");
}

/// Does what the engine does with a link: a whole request, from its values to its answer.
fn ask(link: &mut dyn Link, step: u16, looks: Looks) -> Result<Answer, Lost> {
    link.render(Request { step, part: Part::Main }, NO_VALUES, looks).unwrap();
    if link.socket().is_none() {
        link.open()?;
    }
    exchange(link)
}

fn exchange(link: &mut dyn Link) -> Result<Answer, Lost> {
    greet(link)?;
    while link.send()? == SendState::Blocked {
        wait(link, PollFlags::OUT);
    }
    loop {
        wait(link, PollFlags::IN);
        if let Some(answer) = link.receive()? {
            return Ok(answer);
        }
        if link.socket().is_none() {
            link.open()?;
            return exchange(link);
        }
        while link.has_more_to_send() && link.send()? == SendState::Blocked {
            wait(link, PollFlags::OUT);
        }
    }
}

fn greet(link: &mut dyn Link) -> Result<(), Lost> {
    wait(link, PollFlags::OUT);
    assert_eq!(link.greet()?, Greeting::Ready);
    Ok(())
}

#[test]
fn a_connection_takes_one_request_after_the_other() {
    let (address, peer) =
        peer(vec![vec![ok(&["GET /get"]), ok(&["POST /post", "\r\n\r\nbody"]), ok(&["GET /get"])]]);
    let mut link = link(address, &json!({}));
    assert!(link.socket().is_some(), "connected before the load");
    for step in [0, 1, 0] {
        let answer = ask(link.as_mut(), step, NOTHING).unwrap();
        assert_eq!((answer.refusal, answer.bytes), (None, 40));
        // The kernel takes a moment to begin with its stamps.
        let stamps = answer.first_arrived_unix_ns.zip(answer.arrived_unix_ns);
        assert!(stamps.is_none_or(|(first, last)| first <= last));
    }
    peer.join().unwrap();
}

#[test]
fn a_view_is_of_the_last_reply() {
    let (address, peer) =
        peer(vec![vec![answer(&[], "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 7\r\n\r\n{\"a\":1}")]]);
    let mut link = link(address, &json!({}));
    ask(link.as_mut(), 0, ALL).unwrap();
    let mut out = Vec::new();
    link.view(&mut out);
    let seen = bson::Document::from_reader(out.as_slice()).unwrap();
    let headers = bson::doc! {"x-a": "b", "content-length": "7"};
    assert_eq!(seen, bson::doc! {"status": 200, "headers": headers, "json": {"a": 1}, "text": "{\"a\":1}"});
    peer.join().unwrap();
}

#[test]
fn a_connection_that_ends_in_good_order_is_made_anew() {
    let closing = answer(&[], "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    let until_close = answer(&[], "HTTP/1.1 200 OK\r\n\r\nabc");
    let (address, peer) = peer(vec![vec![closing], vec![until_close], vec![ok(&[])]]);
    let mut link = link(address, &json!({}));
    for _ in 0..2 {
        ask(link.as_mut(), 0, NOTHING).unwrap();
        assert!(link.socket().is_none());
    }
    ask(link.as_mut(), 0, NOTHING).unwrap();
    assert!(link.socket().is_some());
    peer.join().unwrap();
}

#[test]
fn without_keep_alive_each_request_has_a_connection_of_its_own() {
    let (address, peer) =
        peer(vec![vec![ok(&["Connection: close\r\n"])], vec![ok(&["Connection: close\r\n"])]]);
    let mut link = link(address, &json!({"keep_alive": false}));
    for _ in 0..2 {
        assert!(link.socket().is_none());
        ask(link.as_mut(), 0, NOTHING).unwrap();
    }
    assert!(link.socket().is_none());
    peer.join().unwrap();
}

#[test]
fn a_peer_may_close_an_idle_connection() {
    let timeout = Do::Say(b"HTTP/1.1 408 Request Timeout\r\n\r\n".to_vec());
    let (address, peer) = peer(vec![vec![ok(&[])], vec![ok(&[]), timeout], vec![ok(&[])]]);
    let mut link = link(address, &json!({}));
    for _ in 0..2 {
        ask(link.as_mut(), 1, NOTHING).unwrap();
        while link.socket().is_some() {
            wait(link.as_ref(), PollFlags::IN);
            assert_eq!(link.receive(), Ok(None));
        }
    }
    ask(link.as_mut(), 1, NOTHING).unwrap();
    peer.join().unwrap();
}

#[test]
fn what_a_stale_connection_swallows_is_sent_again_where_that_is_safe() {
    let (address, first) = peer(vec![vec![ok(&[]), Do::CloseWhenAsked], vec![ok(&["GET /get"])]]);
    let mut safe = link(address, &json!({}));
    for _ in 0..2 {
        ask(safe.as_mut(), 0, NOTHING).unwrap();
    }
    first.join().unwrap();

    let (address, second) = peer(vec![vec![ok(&[]), Do::CloseWhenAsked]]);
    let mut unsafe_one = link(address, &json!({}));
    ask(unsafe_one.as_mut(), 1, NOTHING).unwrap();
    assert_eq!(ask(unsafe_one.as_mut(), 1, NOTHING).unwrap_err().kind, LostKind::Closed);
    second.join().unwrap();

    let (address, third) = peer(vec![vec![Do::CloseWhenAsked]]);
    let mut fresh = link(address, &json!({}));
    assert_eq!(ask(fresh.as_mut(), 0, NOTHING).unwrap_err().kind, LostKind::Closed, "nothing is stale there");
    third.join().unwrap();

    let twice = vec![ok(&[]), Do::CloseWhenAsked];
    let (address, fourth) = peer(vec![twice, vec![Do::CloseWhenAsked]]);
    let mut again = link(address, &json!({}));
    ask(again.as_mut(), 0, NOTHING).unwrap();
    assert_eq!(ask(again.as_mut(), 0, NOTHING).unwrap_err().kind, LostKind::Closed, "once");
    fourth.join().unwrap();
}

#[test]
fn lies_lose_the_connection() {
    let replies = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "more arrived"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", "within its reply"),
        ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "Content-Length"),
        ("SSH-2.0-x\r\n", "not HTTP/1.1"),
    ];
    for (reply, words) in replies {
        let (address, peer) = peer(vec![vec![answer(&[], reply)]]);
        let lost = ask(link(address, &json!({})).as_mut(), 0, NOTHING).unwrap_err();
        assert!(lost.kind == LostKind::BadReply && lost.message.contains(words), "{lost:?}");
        peer.join().unwrap();
    }
    let (address, peer) = peer(vec![vec![Do::Say(b"220 mail\r\n".to_vec())]]);
    let mut link = link(address, &json!({}));
    greet(link.as_mut()).unwrap();
    wait(link.as_ref(), PollFlags::IN);
    assert_eq!(link.receive().unwrap_err().kind, LostKind::BadReply);
    peer.join().unwrap();
}

#[test]
fn a_status_that_is_not_wanted_is_a_refusal() {
    let long = "HTTP/1.1 503 Busy\r\nContent-Length: 10\r\n\r\nnot\n\0now  ";
    let found = "HTTP/1.1 302 Found\r\nLocation: https://other.example/x\r\nContent-Length: 0\r\n\r\n";
    let missing = "HTTP/1.1 404 Nope\r\nContent-Length: 0\r\n\r\n";
    let (address, peer) =
        peer(vec![vec![answer(&[], long), answer(&[], found), answer(&[], missing), answer(&[], found)]]);
    let mut link = link(address, &json!({"follow_redirects": 5}));
    let mut refused = |step| {
        let refusal = ask(link.as_mut(), step, NOTHING).unwrap().refusal;
        refusal.map(|refusal| (refusal.kind, refusal.code, refusal.label, refusal.message))
    };
    let of =
        |kind, code, label: &str, message: &str| Some((kind, code, label.to_owned(), message.to_owned()));
    assert_eq!(refused(2), of(RefusalKind::ServerStatus, 503, "503 Service Unavailable", "not now"));
    assert_eq!(
        refused(2),
        of(RefusalKind::OtherStatus, 302, "302 Found", "leads to https://other.example/x")
    );
    assert_eq!(refused(2), of(RefusalKind::ClientStatus, 404, "404 Not Found", ""));
    assert_eq!(refused(0), None, "where it leads is nobody's business");
    peer.join().unwrap();
}

#[test]
fn redirects_are_followed_as_often_as_asked_for() {
    let to = |location: &str, rest: &str| {
        format!(
            "HTTP/1.1 302 Found\r\nLocation: {location}\r\nSet-Cookie: s=1\r\n{rest}Content-Length: 0\r\n\r\n"
        )
    };
    let (address, peer) = peer(vec![
        vec![
            answer(&["POST /post", "\r\n\r\nbody"], &to("a/b", "")),
            answer(&["GET /a/b", "Cookie: s=1\r\n"], &to("/c", "Connection: close\r\n")),
        ],
        vec![
            ok(&["GET /c", "Cookie: s=1\r\n"]),
            answer(&["GET /get"], &to("/1", "")),
            answer(&["GET /1"], &to("/2", "")),
            answer(&["GET /2"], &to("/3", "")),
        ],
    ]);
    let mut link = link(address, &json!({"follow_redirects": 2}));
    let followed = ask(link.as_mut(), 1, NOTHING).unwrap();
    assert!(followed.refusal.is_none() && followed.bytes > 200, "{followed:?}");
    assert!(ask(link.as_mut(), 0, ALL).unwrap().refusal.is_none());
    let mut out = Vec::new();
    link.view(&mut out);
    assert_eq!(bson::Document::from_reader(out.as_slice()).unwrap().get_i32("status").unwrap(), 302);
    peer.join().unwrap();
}

#[test]
fn cookies_outlive_sockets_and_links() {
    let set =
        answer(&[], "HTTP/1.1 200 OK\r\nSet-Cookie: s=1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    let (address, peer) = peer(vec![
        vec![set.clone()],
        vec![ok(&["Cookie: s=1\r\n"]), Do::CloseWhenAsked],
        vec![ok(&["Cookie: s=1\r\n"])],
    ]);
    let connector = connector(address, &json!({"connect": "on_demand"}), &steps());
    let mut link = connector.connect().unwrap();
    assert!(link.socket().is_none(), "connected when needed");
    for _ in 0..2 {
        ask(link.as_mut(), 0, NOTHING).unwrap();
    }
    ask(link.as_mut(), 1, NOTHING).unwrap_err();
    drop(link);
    ask(connector.connect().unwrap().as_mut(), 0, NOTHING).unwrap();
    peer.join().unwrap();

    let without = move |request: &str| assert!(!request.contains("Cookie"), "{request}");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let Do::Answer(_, reply) = set else { unreachable!() };
    let server = thread::spawn(move || {
        for _ in 0..2 {
            let (mut socket, _) = listener.accept().unwrap();
            without(&request(&mut socket));
            socket.write_all(&reply).unwrap();
        }
    });
    let mut forgetful = self::link(address, &json!({"cookies": false}));
    for _ in 0..2 {
        ask(forgetful.as_mut(), 0, NOTHING).unwrap();
    }
    server.join().unwrap();
}

#[test]
fn requests_allocate_nothing_once_warm() {
    const REQUESTS: usize = 20;
    let (address, peer) = peer(vec![vec![ok(&[]); 2 * REQUESTS + 2]]);
    let mut link = link(address, &json!({}));
    for step in [0, 1] {
        ask(link.as_mut(), step, NOTHING).unwrap();
    }
    let (allocations, ..) = allocated_by(|| {
        for request in 0..2 * REQUESTS {
            ask(link.as_mut(), (request % 2) as u16, NOTHING).unwrap();
        }
    });
    assert_eq!(allocations, 0);
    peer.join().unwrap();
}

#[test]
fn what_can_not_be_reached_is_an_error() {
    let requests = || Requests::new(&[]).unwrap();
    let connector = |changes: Value, secrets| Connector::new(settings(&changes), secrets, requests()).err();
    let header = ("authorization".to_owned(), "a\r\nb: secret".to_owned().into());
    let bad = connector(json!({}), Secrets { headers: vec![header], ..Secrets::default() }).unwrap();
    assert!(bad.contains("authorization") && !bad.contains("secret"), "{bad}");
    assert!(connector(json!({"tls": true}), Secrets::default()).unwrap().contains("TLS"));
    assert!(connector(json!({"authority": "a\r\nb"}), Secrets::default()).unwrap().contains("no host"));
    assert!(connector(json!({"address": "no.such.host.invalid:1"}), Secrets::default()).is_some());
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut link = link(closed, &json!({}));
    wait(link.as_ref(), PollFlags::OUT);
    assert_eq!(link.greet().unwrap_err().kind, LostKind::Io);
}
