//! Exchanges byte for byte, and peers that lie.

use brimline_mysql::{Connector, Protocol, Requests, Secrets, StatementStep};
use brimline_net::link::{Looks, LostKind, Part, Request};
use brimline_sql::statement::Mode;

use crate::counting::allocations;
use crate::support::{
    Act, Client, array, connector_of, ends_whatever_is_said, ends_with_any_bytes, peer, settings, step,
};

const STEPS: [(&str, Mode, usize); 3] =
    [("SELECT ?", Mode::Prepared, 1), ("INSERT INTO t VALUES", Mode::Rows, 1), ("BEGIN", Mode::Text, 0)];

fn steps() -> Vec<StatementStep> {
    STEPS.iter().map(|(text, mode, slots)| step("s", text, *mode, *slots)).collect()
}

fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
    let [low, middle, high, _] = (payload.len() as u32).to_le_bytes();
    [&[low, middle, high, number], payload].concat()
}

/// MySQL's, with the end of rows as an OK.
fn hello(capabilities: u32) -> Vec<u8> {
    let [a, b, c, d] = capabilities.to_le_bytes();
    let mut payload = b"\x0a8.0.36\0\x05\0\0\0ABCDEFGH\0".to_vec();
    payload.extend_from_slice(&[a, b, 255, 2, 0, c, d, 21]);
    payload.extend_from_slice(&[0; 10]);
    payload.extend_from_slice(b"IJKLMNOPQRST\0caching_sha2_password\0");
    packet(0, &payload)
}

const CAPABILITIES: u32 = 0x81ff_f7ff;
const OK: &[u8] = b"\0\0\0\x02\0\0\0";

/// What is said and heard until the client is in. `u` without a password, in the database `d`.
fn greeting() -> Vec<Act> {
    let mut login = 0x012e_a20f_u32.to_le_bytes().to_vec();
    login.extend_from_slice(&[0, 0, 0, 0x40, 45]);
    login.extend_from_slice(&[0; 23]);
    login.extend_from_slice(b"u\0\0d\0caching_sha2_password\0");
    let burst = [packet(0, b"\x03SET time_zone = '+00:00'"), packet(0, b"\x16SELECT ?")];
    let definition = b"\x03def\0\0\0\x01?\0\x0c\x3f\0\0\0\0\0\xfd\0\0\0\0\0";
    vec![
        Act::Say(hello(CAPABILITIES)),
        Act::Expect(packet(1, &login)),
        Act::Say(packet(2, OK)),
        Act::Expect(burst.concat()),
        Act::Say(packet(1, OK)),
        Act::Drip(
            [packet(1, b"\0\x07\0\0\0\x01\0\x01\0\0\0\0"), packet(2, definition), packet(3, definition)]
                .concat(),
        ),
    ]
}

fn connector(address: &str) -> Connector {
    let secrets = Secrets { username: "u".to_owned().into(), ..Secrets::default() };
    Connector::new(settings(address, "d"), secrets, Requests::new(&steps()).unwrap()).unwrap()
}

/// A client that is in, before a peer that goes on with `acts`.
fn client(acts: Vec<Act>) -> (Client, std::thread::JoinHandle<()>) {
    let (address, thread) = peer(greeting().into_iter().chain(acts).collect());
    (Client::connect(&connector(&address)).unwrap(), thread)
}

fn execute(value: i32) -> Vec<u8> {
    packet(0, &[b"\x17\x07\0\0\0\0\x01\0\0\0\0\x01\x03\0".as_slice(), &value.to_le_bytes()].concat())
}

fn row_of(value: &[u8]) -> Vec<Vec<u8>> {
    let definition = b"\x03def\0\0\0\x01n\0\x0c\x3f\0\0\0\0\0\x03\0\0\0\0\0";
    vec![
        packet(1, b"\x01"),
        packet(2, definition),
        packet(3, &[b"\0\0".as_slice(), value].concat()),
        packet(4, b"\xfe\0\0\x02\0\0\0"),
    ]
}

#[test]
fn an_exchange_is_byte_for_byte() {
    let reply = row_of(&5_i32.to_le_bytes()).concat();
    let length = reply.len() as u64;
    let (mut client, thread) = client(vec![
        Act::Expect(execute(5)),
        Act::Drip(reply),
        Act::Expect(packet(0, b"\x03INSERT INTO t VALUES (1,'a''b'),(2,NULL)")),
        Act::Say(packet(1, b"\0\x02\0\x02\0\0\0")),
        Act::Expect(packet(0, b"\x03BEGIN")),
        Act::Say(packet(1, b"\xff\xbd\x04#40001Deadlock")),
        Act::Expect(packet(0, b"\x03ROLLBACK")),
        Act::Say(packet(1, OK)),
        Act::Hold,
    ]);
    let view = client.look(0, bson::bson!([5]));
    assert_eq!(view, bson::doc! { "rows": [{"n": 5}], "affected": 0_i64, "n": 1_i64 });
    let inserted = client.ask(1, bson::bson!([[[1, "a'b"], [2, null]]])).unwrap();
    assert_eq!((inserted.affected, inserted.rows, inserted.bytes), (2, 0, 11));
    // The kernel may not say when.
    assert_eq!(inserted.first_arrived_unix_ns, inserted.arrived_unix_ns);
    let deadlock = client.ask(2, bson::bson!([])).unwrap().refusal.unwrap();
    assert_eq!((deadlock.code, deadlock.label.as_str()), (1213, "40001"));
    let end = client.ask_part(Part::Rollback, 0, bson::bson!([]), Looks::default()).unwrap();
    assert_eq!(end.refusal, None);
    assert!(length > 40);
    drop(client);
    thread.join().unwrap();
}

#[test]
fn a_request_and_its_reply_allocate_nothing() {
    let (mut client, thread) =
        client(vec![Act::Serve(execute(5).len(), row_of(&5_i32.to_le_bytes()).concat())]);
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
    let lies: [(&str, Vec<Act>, LostKind); 6] = [
        ("out of turn", vec![Act::Say(packet(2, OK)), Act::Hold], LostKind::BadReply),
        (
            "no reply",
            vec![Act::Say(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), Act::Hold],
            LostKind::BadReply,
        ),
        ("cut", vec![Act::Say(b"\xff\xff\x7f\x01\0".to_vec()), Act::Close], LostKind::BadReply),
        ("closed", vec![Act::Close], LostKind::Closed),
        (
            "two replies",
            vec![Act::Say([packet(1, OK), packet(1, OK)].concat()), Act::Hold],
            LostKind::BadReply,
        ),
        ("file", vec![Act::Say(packet(1, b"\xfb/etc/passwd")), Act::Hold], LostKind::BadReply),
    ];
    for (name, acts, kind) in lies {
        let (mut client, thread) = client(std::iter::once(Act::Expect(execute(5))).chain(acts).collect());
        let lost = client.ask(0, bson::bson!([5])).map(|_| name).unwrap_err();
        assert_eq!(lost.kind, kind, "{name}: {}", lost.message);
        drop(client);
        thread.join().unwrap();
    }
}

#[test]
fn rows_without_end_take_turns_and_no_memory() {
    let [count, definition, ..] = row_of(b"").try_into().unwrap_or([const { Vec::new() }; 4]);
    let rows = (0..=255_u8).flat_map(|number| packet(number.wrapping_add(3), &[0; 1_000])).collect();
    let acts = vec![Act::Expect(execute(5)), Act::Say([count, definition].concat()), Act::Repeat(rows)];
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
fn what_comes_unasked_says_why_the_server_goes() {
    let (mut client, thread) =
        client(vec![Act::Say(packet(0, b"\xff\xc7\x0f#HY000idle for too long")), Act::Close]);
    client.wait_for_reply();
    let lost = client.0.receive().unwrap_err();
    assert_eq!((lost.kind, lost.message.as_str()), (LostKind::Closed, "idle for too long (4039)"));
    thread.join().unwrap();
}

/// A key of 1024 bits, whose other half only `src/rsa.rs` has.
const PUBLIC_KEY: &[u8] = b"-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCZhxZP2u5qL+B6UySyflRzN4pW
uPmPYThBUcGP1WCCylFZZrcrCjLuX4WJfYdkAYMCh2F4xgBjfBg6u+9FrjJUsH4j
bEgMoOBsL9W4zJEzdMTkQy6Wn9ZQcC+52uM4IEPU2aCqY3YmgqRX1w2n8yp1zJoE
2Pn42sj4hudFtc9m1wIDAQAB
-----END PUBLIC KEY-----
";

/// A user's first login since the server's start, without TLS: the password is asked for, and sealed for the server's key.
#[test]
fn a_whole_password_goes_out_sealed() {
    let mut acts = greeting();
    acts.splice(
        1..=2,
        [
            Act::Read(4 + 32 + 3 + 32 + 2 + 22),
            Act::Say(packet(2, b"\x01\x04")),
            Act::Expect(packet(3, b"\x02")),
            Act::Drip(packet(4, &[b"\x01", PUBLIC_KEY].concat())),
            Act::Read(4 + 128),
            Act::Say(packet(6, OK)),
        ],
    );
    let (address, thread) = peer(acts);
    let secrets = Secrets {
        username: "u".to_owned().into(),
        password: Some("secret".to_owned().into()),
        ..Secrets::default()
    };
    let connector =
        Connector::new(settings(&address, "d"), secrets, Requests::new(&steps()).unwrap()).unwrap();
    let client = Client::connect(&connector).unwrap();
    drop(client);
    thread.join().unwrap();
}

#[test]
fn before_the_client_is_in_nothing_is_believed() {
    let wrong = packet(2, b"\xff\x15\x04#28000Access denied for user 'u'");
    for (acts, kind, words) in [
        (vec![Act::Say(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()), Act::Hold], LostKind::BadReply, "not MySQL's"),
        (
            vec![Act::Say(packet(0, b"\xff\x10\x04Too many connections")), Act::Close],
            LostKind::Io,
            "Too many",
        ),
        (vec![Act::Say(hello(1)), Act::Hold], LostKind::Refused, "older than"),
        (
            vec![
                Act::Say(hello(CAPABILITIES)),
                Act::Read(20),
                Act::Say(packet(2, b"\x01-----BEGIN")),
                Act::Hold,
            ],
            LostKind::BadReply,
            "can't be read",
        ),
        (vec![Act::Close], LostKind::Closed, "closed"),
        (
            vec![Act::Say(hello(CAPABILITIES)), Act::Read(20), Act::Say(wrong), Act::Hold],
            LostKind::Refused,
            "Access denied",
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
    let replies = [
        packet(1, OK),
        packet(1, b"\0\x07\0\0\0\x01\0\x01\0\0\0\0"),
        packet(2, b"\x03def"),
        packet(3, b"\x03def"),
    ];
    let keyed = [packet(2, b"\x01\x04"), packet(4, &[b"\x01", PUBLIC_KEY].concat()), packet(6, OK)].concat();
    let switched = [packet(2, b"\xfemysql_native_password\0ABCDEFGHIJKLMNOPQRST\0"), packet(4, OK)].concat();
    [packet(2, OK), keyed, switched]
        .into_iter()
        .map(|login| [hello(CAPABILITIES), login, replies.concat()].concat())
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
