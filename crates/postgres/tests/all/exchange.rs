//! Exchanges byte for byte, and peers that lie.

use brimline_net::link::{Looks, LostKind, Part, Request};
use brimline_postgres::{Connector, Protocol, Requests, Secrets, StatementStep};
use brimline_sql::settings::{Bulk, Column, ColumnType, Form};
use brimline_sql::statement::Mode;

use crate::counting::allocations;
use crate::support::{
    Act, Client, array, connector_of, ends_whatever_is_said, ends_with_any_bytes, peer, settings, step,
};

fn steps() -> Vec<StatementStep> {
    vec![
        step("s", "SELECT $1", Mode::Prepared, 1),
        step("r", "INSERT INTO t VALUES", Mode::Rows, 1),
        step("b", "BEGIN", Mode::Text, 0),
    ]
}

fn message(letter: u8, body: &[u8]) -> Vec<u8> {
    [&[letter], ((body.len() + 4) as u32).to_be_bytes().as_slice(), body].concat()
}

const START: &[u8] = b"\0\0\0\x68\0\x03\0\0user\0u\0database\0d\0application_name\0brimline\0client_encoding\0UTF8\0DateStyle\0ISO\0TimeZone\0UTC\0\0";
const READY: &[u8] = b"Z\0\0\0\x05I";

/// What is said and heard until the client is in. `u` without a password, in the database `d`.
fn greeting() -> Vec<Act> {
    let mut start = START.to_vec();
    let length = (start.len() as u32).to_be_bytes();
    start[..4].copy_from_slice(&length);
    let burst = [message(b'P', b"0\0SELECT $1\0\0\0"), message(b'D', b"S0\0"), message(b'S', b"")];
    let told = message(b'N', b"SNOTICE\0Mwelcome\0\0");
    vec![
        Act::Expect(start),
        Act::Drip(
            [message(b'R', &[0; 4]), message(b'S', b"server_version\x0015.4\0"), message(b'K', &[0; 8])]
                .concat(),
        ),
        // Half of a message that is only told stands behind the server's consent.
        Act::Say([READY, &told[..10]].concat()),
        Act::Expect(burst.concat()),
        Act::Drip(
            [
                told[10..].to_vec(),
                message(b'1', b""),
                message(b't', b"\0\x01\0\0\0\x17"),
                message(b'n', b""),
                READY.to_vec(),
            ]
            .concat(),
        ),
    ]
}

fn connector(address: &str) -> Connector {
    let secrets = Secrets { username: "u".to_owned().into(), ..Secrets::default() };
    let mut settings = settings(address, "d");
    let column =
        Column { name: "id".to_owned(), path: Some(vec!["_id".to_owned()]), column_type: ColumnType::Int };
    settings.bulk = Some(Bulk { table: "t".to_owned(), columns: vec![column], form: Form::Copy });
    Connector::new(settings, secrets, Requests::new(&steps()).unwrap()).unwrap()
}

/// A client that is in, before a peer that goes on with `acts`.
fn client(acts: Vec<Act>) -> (Client, std::thread::JoinHandle<()>) {
    let (address, thread) = peer(greeting().into_iter().chain(acts).collect());
    let connector = connector(&address);
    let client = Client::connect(&connector).unwrap();
    assert_eq!(connector.server().as_deref(), Some("15.4"));
    (client, thread)
}

fn execute(value: &[u8], is_looked_at: bool) -> Vec<u8> {
    let length = (value.len() as u32).to_be_bytes();
    let bind = [b"\x000\0\0\0\0\x01".as_slice(), &length, value, b"\0\0"].concat();
    let describe = if is_looked_at { message(b'D', b"P\0") } else { Vec::new() };
    [message(b'B', &bind), describe, message(b'E', b"\0\0\0\0\0"), message(b'S', b"")].concat()
}

#[test]
fn an_exchange_is_byte_for_byte() {
    let columns = b"\0\x01n\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0";
    let reply = [
        message(b'2', b""),
        message(b'T', columns),
        message(b'N', b"SNOTICE\0Mhear\0\0"),
        message(b'D', b"\0\x01\0\0\0\x015"),
        message(b'C', b"SELECT 1\0"),
        READY.to_vec(),
    ];
    let deadlock = [message(b'E', b"C40P01\0Mdeadlock detected\0\0"), READY.to_vec()];
    // Half of a message that is only told stands behind a reply.
    let told = message(b'S', b"standard_conforming_strings\0off\0");
    let (mut client, thread) = client(vec![
        Act::Expect(execute(b"5", true)),
        Act::Drip(reply.concat()),
        Act::Expect(execute(b"6", false)),
        Act::Say([READY, &told[..10]].concat()),
        Act::Expect(message(b'Q', b"BEGIN\0")),
        Act::Say([&told[10..], &deadlock.concat()].concat()),
        Act::Expect(message(b'Q', b"ROLLBACK\0")),
        Act::Say(READY.to_vec()),
        Act::Expect(message(b'Q', b"INSERT INTO t VALUES (1,'a''b\\\\'),(2,NULL)\0")),
        Act::Say([message(b'C', b"INSERT 0 2\0"), READY.to_vec()].concat()),
        Act::Expect(
            [
                message(b'Q', b"COPY \"t\" (\"id\") FROM STDIN\0"),
                message(b'd', b"1\n2\n"),
                message(b'c', b""),
            ]
            .concat(),
        ),
        Act::Say([message(b'G', b"\0\0\x01\0\0"), message(b'C', b"COPY 2\0"), READY.to_vec()].concat()),
        Act::Hold,
    ]);
    let view = client.look(0, bson::bson!([5]));
    assert_eq!(view, bson::doc! { "rows": [{"n": 5}], "affected": 0_i64, "n": 1_i64 });
    assert_eq!(client.ask(0, bson::bson!([6])).unwrap().rows, 0);
    let deadlock = client.ask(2, bson::bson!([])).unwrap().refusal.unwrap();
    assert_eq!((deadlock.code, deadlock.label.as_str()), (0, "40P01"));
    client.ask_part(Part::Rollback, 0, bson::bson!([]), Looks::default()).unwrap();
    let inserted = client.ask(1, bson::bson!([[[1, "a'b\\"], [2, null]]])).unwrap();
    assert_eq!((inserted.affected, inserted.rows, inserted.bytes), (2, 0, 22));
    let copied =
        client.ask_part(Part::Bulk, 0, bson::bson!([{"_id": 1}, {"_id": 2}]), Looks::default()).unwrap();
    assert_eq!(copied.affected, 2);
    // A text that ends early would be another statement.
    let cut = client.ask(1, bson::bson!([[["a\u{0}b"]]])).unwrap_err();
    assert!(cut.message.contains("NUL"));
    drop(client);
    thread.join().unwrap();
}

#[test]
fn a_request_and_its_reply_allocate_nothing() {
    let (mut client, thread) = client(vec![Act::Serve(
        execute(b"5", false).len(),
        [
            message(b'2', b""),
            message(b'D', b"\0\x01\0\0\0\x015"),
            message(b'C', b"SELECT 1\0"),
            READY.to_vec(),
        ]
        .concat(),
    )]);
    let (request, values) = (Request { step: 0, part: Part::Main }, array(bson::bson!([5])));
    let mut ask = |times| (0..times).all(|_| client.exchange(request, &values).unwrap().rows == 1);
    assert!(ask(3));
    let before = allocations();
    assert!(ask(500));
    assert_eq!(allocations() - before, 0);
    drop(client);
    thread.join().unwrap();
}

#[test]
fn a_peer_that_lies_ends_the_connection_only() {
    let fatal = message(b'E', b"SFATAL\0C57P01\0Mterminating connection\0\0");
    let lies: [(&str, Vec<Act>, LostKind); 6] = [
        (
            "no reply",
            vec![Act::Say(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), Act::Hold],
            LostKind::BadReply,
        ),
        ("length", vec![Act::Say(b"D\xff\xff\xff\xff".to_vec()), Act::Hold], LostKind::BadReply),
        ("cut", vec![Act::Say(b"D\x3f\xff\xff\xffabc".to_vec()), Act::Close], LostKind::BadReply),
        ("closed", vec![Act::Close], LostKind::Closed),
        ("killed", vec![Act::Say(fatal), Act::Close], LostKind::Closed),
        ("copy", vec![Act::Say(message(b'G', b"\0\0\0")), Act::Hold], LostKind::BadReply),
    ];
    for (name, acts, kind) in lies {
        let (mut client, thread) =
            client(std::iter::once(Act::Expect(execute(b"5", false))).chain(acts).collect());
        let lost = client.ask(0, bson::bson!([5])).map(|_| name).unwrap_err();
        assert_eq!(lost.kind, kind, "{name}: {}", lost.message);
        drop(client);
        thread.join().unwrap();
    }
}

#[test]
fn a_session_that_is_ended_says_why() {
    let fatal = message(b'E', b"SFATAL\0C57P01\0Mterminating connection\0\0");
    let request = execute(b"5", false);
    // What the server has not read when it closes makes the kernel reset the connection.
    for read in [request.len(), 3] {
        let (mut client, thread) = client(vec![Act::Read(read), Act::Say(fatal.clone())]);
        let lost = client.ask(0, bson::bson!([5])).unwrap_err();
        assert_eq!((lost.kind, lost.message.as_str()), (LostKind::Closed, "terminating connection (57P01)"));
        thread.join().unwrap();
    }
}

#[test]
fn rows_without_end_take_turns_and_no_memory() {
    let acts = vec![Act::Expect(execute(b"5", false)), Act::Repeat(message(b'D', &[0; 1_000]))];
    let (mut client, thread) = client(acts);
    client
        .0
        .render(Request { step: 0, part: Part::Main }, &array(bson::bson!([5])), Looks::default())
        .unwrap();
    client.0.send().unwrap();
    let before = allocations();
    for _ in 0..500 {
        client.wait_for_reply();
        assert_eq!(client.0.receive(), Ok(None));
    }
    // The buffer grows to what pieces are read in.
    assert!(allocations() - before <= 3);
    drop(client);
    thread.join().unwrap();
}

#[test]
fn what_comes_unasked_is_heard() {
    let told = message(b'N', b"SNOTICE\0Mhear\0\0");
    let fatal = message(b'E', b"SFATAL\0C57P01\0Mterminating connection\0\0");
    let (mut client, thread) = client(vec![Act::Say([told, fatal].concat()), Act::Close]);
    client.wait_for_reply();
    let lost = client.0.receive().unwrap_err();
    assert_eq!((lost.kind, lost.message.as_str()), (LostKind::Closed, "terminating connection (57P01)"));
    thread.join().unwrap();
}

#[test]
fn before_the_client_is_in_nothing_is_believed() {
    let denied = message(b'E', b"SFATAL\0C28000\0Mno entry\0\0");
    let full = message(b'E', b"SFATAL\0C53300\0Mtoo many clients\0\0");
    let start = START.len();
    for (acts, kind, words) in [
        (
            vec![Act::Read(start), Act::Say(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()), Act::Hold],
            LostKind::Refused,
            "not PostgreSQL's",
        ),
        (vec![Act::Read(start), Act::Say(full), Act::Close], LostKind::Io, "too many clients (53300)"),
        (vec![Act::Read(start), Act::Say(denied), Act::Close], LostKind::Refused, "no entry (28000)"),
        (vec![Act::Read(start), Act::Close], LostKind::Closed, "closed"),
        (
            vec![Act::Read(start), Act::Say(message(b'R', b"\0\0\0\x03")), Act::Hold],
            LostKind::Refused,
            "over TLS only",
        ),
    ] {
        let (address, thread) = peer(acts);
        let lost = Client::connect(&connector(&address)).map(drop).unwrap_err();
        assert!(lost.kind == kind && lost.message.contains(words), "{lost:?}");
        thread.join().unwrap();
    }
}

/// What servers say until a client is in, by each way of a login.
fn logins() -> Vec<Vec<u8>> {
    let asked = |kind: u8, rest: &[u8]| message(b'R', &[&[0, 0, 0, kind], rest].concat());
    let scram =
        [asked(10, b"SCRAM-SHA-256\0\0"), asked(11, b"r=x,s=c2FsdA==,i=4096"), asked(12, b"v=eA==")].concat();
    let told = [message(b'S', b"server_version\x0015.4\0"), message(b'K', &[0; 8]), READY.to_vec()].concat();
    let replies =
        [message(b'1', b""), message(b't', b"\0\x01\0\0\0\x17"), message(b'n', b""), READY.to_vec()].concat();
    [asked(0, b""), asked(5, b"salt"), scram]
        .into_iter()
        .map(|login| [login, told.clone(), replies.clone()].concat())
        .collect()
}

/// With a password, so that each way of a login is gone.
fn knowing(address: &str) -> Box<dyn brimline_net::link::Connector> {
    Box::new(connector_of::<Connector>(settings(address, "d"), "u", "secret", &steps()))
}

#[test]
fn a_login_ends_whatever_is_said() {
    ends_whatever_is_said(knowing, &logins());
}

#[test]
fn a_login_ends_with_any_bytes() {
    ends_with_any_bytes(knowing);
}
