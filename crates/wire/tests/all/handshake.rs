//! Handshakes with servers that lie, refuse, or know less than others. Real ones are met by the Python tests.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::common::{message, wait_readable, wait_writable};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use brimline_wire::access::{Access, Login, Standing};
use brimline_wire::compression::{Compressor, Offer};
use brimline_wire::endpoint::Endpoint;
use brimline_wire::handshake::{HandshakeError, Step};
use brimline_wire::scram::{Mechanism, ScramError};
use bson::{Binary, Document, doc, spec::BinarySubtype};

fn access(mechanism: Option<Mechanism>) -> Arc<Access> {
    let login = Login::Password {
        username: "user".to_owned().into(),
        password: "pencil".to_owned().into(),
        source: "admin".to_owned(),
        mechanism,
    };
    Access::new(Some(login), None)
}

/// A server for one connection that answers each request by what `answer` makes of it, and hands out what it was asked.
fn server(
    mut answer: impl FnMut(usize, &Document) -> Document + Send + 'static,
) -> (String, JoinHandle<Vec<Document>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = thread::spawn(move || {
        let mut peer = listener.accept().unwrap().0;
        let mut asked = Vec::new();
        while let Some((request_id, request)) = next_request(&mut peer) {
            let reply = answer(asked.len(), &request);
            asked.push(request);
            peer.write_all(&message(100, request_id, 0, &reply)).unwrap();
        }
        asked
    });
    (address, asked)
}

fn next_request(peer: &mut TcpStream) -> Option<(i32, Document)> {
    let mut length = [0; 4];
    peer.read_exact(&mut length).ok()?;
    let mut rest = vec![0; u32::from_le_bytes(length) as usize - 4];
    peer.read_exact(&mut rest).ok()?;
    let request_id = i32::from_le_bytes(rest[..4].try_into().unwrap());
    Some((request_id, Document::from_reader(&rest[17..]).unwrap()))
}

fn shake_hands(endpoint: &Endpoint) -> Result<(), HandshakeError> {
    let (mut connection, mut handshake) = endpoint.connect()?;
    wait_writable(&connection);
    loop {
        match handshake.advance(&mut connection)? {
            Step::AwaitsRoom => wait_writable(&connection),
            Step::AwaitsReply => wait_readable(&connection),
            Step::Done(hello) => {
                assert_eq!(hello.wire_version_max, 17);
                return Ok(());
            }
        }
    }
}

fn payload(text: &str) -> Binary {
    Binary { subtype: BinarySubtype::Generic, bytes: text.as_bytes().to_vec() }
}

/// What the client said in a step of SASL.
fn said(request: &Document) -> String {
    String::from_utf8(request.get_binary_generic("payload").unwrap().clone()).unwrap()
}

/// The server's nonce: the client's and more.
fn nonce(first: &Document) -> String {
    format!("{}more", said(first).split_once(",r=").unwrap().1)
}

fn challenge(first: &Document, iterations: u32) -> Document {
    let text = format!("r={},s={},i={iterations}", nonce(first), BASE64.encode("salt"));
    doc! { "conversationId": 7, "done": false, "payload": payload(&text), "ok": 1 }
}

fn hello() -> Document {
    doc! { "ok": 1, "maxWireVersion": 17 }
}

fn speculative(request: &Document) -> &Document {
    request.get_document("speculativeAuthenticate").unwrap()
}

/// Answers `hello` with a challenge, and what follows with `later`.
fn challenge_first(later: Document) -> impl FnMut(usize, &Document) -> Document + Send + 'static {
    move |step, request| {
        if step > 0 {
            return later.clone();
        }
        doc! { "speculativeAuthenticate": challenge(speculative(request), 4_096), "ok": 1, "maxWireVersion": 17 }
    }
}

/// What a client offers is in its first message, and a server that takes none of it is left.
#[test]
fn a_server_without_a_compressor_that_was_offered_is_left() {
    let offer = Offer { compressors: vec![Compressor::Zstd, Compressor::Snappy], zlib_level: None };
    for (taken, is_taken) in [(vec!["snappy"], true), (vec!["zlib"], false), (vec![], false)] {
        let names: Vec<String> = taken.iter().map(|&name| name.to_owned()).collect();
        let (address, asked) =
            server(move |_, _| doc! { "compression": names.clone(), "ok": 1, "maxWireVersion": 17 });
        let access = Access::compressing(None, None, offer.clone());
        let outcome = shake_hands(&Endpoint::resolve(&address, &access).unwrap());
        assert_eq!(outcome.is_ok(), is_taken, "{taken:?}");
        if let Err(error) = outcome {
            assert_eq!(error.to_string(), "the server compresses with none of: zstd, snappy");
        }
        let asked = asked.join().unwrap();
        let offered = asked[0].get_array("compression").unwrap();
        assert_eq!(offered, &vec![bson::Bson::from("zstd"), bson::Bson::from("snappy")]);
    }
}

#[test]
fn a_server_that_asks_for_too_little_work_gets_no_proof() {
    let (address, asked) = server(|_, request| {
        doc! { "speculativeAuthenticate": challenge(speculative(request), 4_095), "ok": 1, "maxWireVersion": 17 }
    });
    let access = access(None);
    let endpoint = Endpoint::resolve(&address, &access).unwrap();
    let error = shake_hands(&endpoint).unwrap_err();
    assert!(matches!(error, HandshakeError::Scram(ScramError::Iterations(4_095))), "{error}");
    assert_eq!(asked.join().unwrap().len(), 1, "hello alone");
}

#[test]
fn a_server_that_does_not_know_the_password_is_left() {
    let (address, asked) = server(challenge_first({
        let forged = format!("v={}", BASE64.encode([1; 32]));
        doc! { "conversationId": 7, "done": true, "payload": payload(&forged), "ok": 1 }
    }));
    let access = access(Some(Mechanism::Sha256));
    let endpoint = Endpoint::resolve(&address, &access).unwrap();
    let error = shake_hands(&endpoint).unwrap_err();
    assert!(matches!(error, HandshakeError::Scram(ScramError::ForeignSignature)), "{error}");
    let asked = asked.join().unwrap();
    assert_eq!(speculative(&asked[0]).get_str("db").unwrap(), "admin");
    assert_eq!(speculative(&asked[0]).get_str("mechanism").unwrap(), "SCRAM-SHA-256");
    assert!(!asked[0].contains_key("saslSupportedMechs"), "the mechanism was named");
    assert_eq!(asked[1].get_i32("conversationId").unwrap(), 7);
    assert!(said(&asked[1]).starts_with("c=biws,r="));
}

/// An account may be locked after a few wrong passwords, so one is all that a process sends.
#[test]
fn a_login_that_was_refused_is_not_sent_again() {
    let (address, asked) = server(challenge_first(
        doc! { "ok": 0, "code": 18, "codeName": "AuthenticationFailed", "errmsg": "Authentication failed." },
    ));
    let access = access(None);
    let endpoint = Endpoint::resolve(&address, &access).unwrap();
    assert!(access.needs_proof());
    let first = shake_hands(&endpoint).unwrap_err();
    assert!(first.is_final());
    assert!(matches!(access.standing(), Standing::Refused(_)));
    let second = shake_hands(&endpoint).unwrap_err().to_string();
    assert_eq!(second, first.to_string());
    assert!(second.contains("Authentication failed"), "{second}");
    assert!(!second.contains("pencil"));
    assert_eq!(asked.join().unwrap().len(), 2, "one connection, hello and proof");
}

/// A server may shut down or be too busy in the middle: that says nothing about the password.
#[test]
fn an_error_of_the_moment_is_no_refusal() {
    let (address, _) = server(challenge_first(
        doc! { "ok": 0, "code": 91, "codeName": "ShutdownInProgress", "errmsg": "bye" },
    ));
    let access = access(None);
    let error = shake_hands(&Endpoint::resolve(&address, &access).unwrap()).unwrap_err();
    assert!(!error.is_final());
    assert!(access.needs_proof(), "it may be tried again");
}

#[test]
fn a_user_with_keys_of_the_old_mechanism_alone_gets_that() {
    let (address, asked) = server(|step, request| match step {
        0 => doc! { "saslSupportedMechs": ["SCRAM-SHA-1"], "ok": 1, "maxWireVersion": 17 },
        1 => challenge(request, 5_000),
        _ => doc! { "ok": 0, "code": 18, "errmsg": "no" },
    });
    shake_hands(&Endpoint::resolve(&address, &access(None)).unwrap()).unwrap_err();
    let asked = asked.join().unwrap();
    assert_eq!(asked[0].get_str("saslSupportedMechs").unwrap(), "admin.user");
    assert_eq!(asked[1].get_str("mechanism").unwrap(), "SCRAM-SHA-1");
    assert_eq!(asked[1].get_str("$db").unwrap(), "admin");
    assert!(said(&asked[2]).contains(",p="), "{}", said(&asked[2]));
}

#[test]
fn the_owner_of_a_certificate_sends_no_password() {
    let (address, asked) = server(|step, _| {
        if step == 0 {
            hello()
        } else {
            doc! { "ok": 1 }
        }
    });
    let access = Access::new(Some(Login::Certificate { username: None }), None);
    shake_hands(&Endpoint::resolve(&address, &access).unwrap()).unwrap();
    assert_eq!(access.standing(), Standing::Accepted);
    drop(access);
    let asked = asked.join().unwrap();
    assert_eq!(speculative(&asked[0]).get_str("mechanism").unwrap(), "MONGODB-X509");
    assert_eq!(asked[1].get_str("$db").unwrap(), "$external");
}

#[test]
fn without_a_login_hello_is_all() {
    let (address, asked) = server(|_, _| hello());
    let access = Arc::default();
    shake_hands(&Endpoint::resolve(&address, &access).unwrap()).unwrap();
    assert!(!access.needs_proof());
    let asked = asked.join().unwrap();
    assert_eq!(asked.len(), 1);
    assert!(!asked[0].contains_key("speculativeAuthenticate"));
}

#[test]
fn what_is_no_step_of_sasl_is_an_error() {
    for odd in [
        doc! { "ok": 1 },
        doc! { "payload": "text", "ok": 1 },
        doc! { "payload": payload("r=,s=,i="), "ok": 1 },
        doc! { "payload": payload("r=x,s=AAAA,i=5000"), "ok": 1 },
    ] {
        let reply = doc! { "speculativeAuthenticate": odd, "ok": 1, "maxWireVersion": 17 };
        let (address, _) = server(move |_, _| reply.clone());
        let error = shake_hands(&Endpoint::resolve(&address, &access(None)).unwrap()).unwrap_err();
        assert!(matches!(error, HandshakeError::Scram(_)), "{error}");
    }
}
