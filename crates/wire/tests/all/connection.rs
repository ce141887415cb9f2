//! Connections over loopback: peers that are slow, that close, and that send what they should not.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use crate::common::{message, wait_readable, wait_writable};
use brimline_net::stream::StreamError;
use brimline_wire::connection::{Connection, ConnectionError, SendState};
use brimline_wire::frame::{FrameError, MESSAGE_BYTES_MAX};
use brimline_wire::op_msg;
use bson::doc;

/// A connection and the peer's end of it.
fn connect() -> (Connection, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut connection = Connection::open(listener.local_addr().unwrap()).unwrap();
    wait_writable(&connection);
    connection.finish_connect().unwrap();
    (connection, listener.accept().unwrap().0)
}

/// Receives until there is a message or an error.
fn receive(connection: &mut Connection) -> Result<Vec<u8>, ConnectionError> {
    loop {
        wait_readable(connection);
        if let Some(received) = connection.receive()? {
            return Ok(received.message.to_vec());
        }
    }
}

/// What the connection says after the peer has sent `bytes` and closed.
fn receive_from_closing_peer(bytes: &[u8]) -> Result<Vec<u8>, ConnectionError> {
    let (mut connection, mut peer) = connect();
    connection.request();
    peer.write_all(bytes).unwrap();
    drop(peer);
    receive(&mut connection)
}

#[test]
fn a_request_goes_out_and_its_reply_comes_in() {
    let (mut connection, mut peer) = connect();
    for request_id in 1..4 {
        op_msg::request(connection.request(), request_id, |writer| writer.int32("ping", 1));
        assert!(connection.receive().unwrap().is_none(), "the last reply is consumed and no other has come");
        assert_eq!(connection.send().unwrap(), SendState::Done);
        let expected = message(request_id, 0, 0, &doc! { "ping": 1 });
        let mut arrived = vec![0; expected.len()];
        peer.read_exact(&mut arrived).unwrap();
        assert_eq!(arrived, expected);

        let reply = message(100, request_id, 0, &doc! { "ok": 1, "n": request_id });
        peer.write_all(&reply).unwrap();
        assert_eq!(receive(&mut connection).unwrap(), reply);
        let again = connection.receive().unwrap().map(|received| received.message);
        assert_eq!(again, Some(reply.as_slice()), "it stays until the next request");
    }
}

#[test]
fn a_reply_in_single_bytes_is_put_together() {
    let (mut connection, mut peer) = connect();
    connection.request();
    let reply = message(1, 1, 0, &doc! { "ok": 1 });
    for (index, byte) in reply.iter().enumerate() {
        peer.write_all(&[*byte]).unwrap();
        wait_readable(&connection);
        let message = connection.receive().unwrap();
        assert_eq!(message.is_some(), index + 1 == reply.len());
    }
}

#[test]
fn a_long_request_blocks_and_is_resumed() {
    let (mut connection, mut peer) = connect();
    let text = "x".repeat(8 * 1024 * 1024);
    op_msg::request(connection.request(), 1, |writer| writer.string("text", &text));
    assert_eq!(connection.send().unwrap(), SendState::Blocked, "no socket buffer takes 8 MiB unread");
    let expected = message(1, 0, 0, &doc! { "text": &text });
    let length = expected.len();
    let reader = thread::spawn(move || {
        let mut arrived = vec![0; length];
        peer.read_exact(&mut arrived).unwrap();
        arrived
    });
    while connection.send().unwrap() == SendState::Blocked {
        wait_writable(&connection);
    }
    assert!(reader.join().unwrap() == expected, "what arrived differs from what was sent");
}

#[test]
fn replies_of_any_size_arrive_one_after_another() {
    let (mut connection, mut peer) = connect();
    let lengths = [10, 4_096, 4_075, 70_000, 3_000_000, 10, 10];
    let replies = lengths.map(|length| message(1, 1, 0, &doc! { "text": "y".repeat(length), "ok": 1 }));
    for reply in &replies {
        connection.request();
        thread::scope(|scope| {
            scope.spawn(|| peer.write_all(reply).unwrap());
            assert!(receive(&mut connection).unwrap() == *reply);
        });
    }
}

#[test]
fn a_closed_connection_is_told_from_a_cut_message() {
    assert!(matches!(receive_from_closing_peer(b""), Err(ConnectionError::Stream(StreamError::Closed))));
    let reply = message(1, 1, 0, &doc! { "ok": 1 });
    for cut in [1, 15, 16, 17, reply.len() - 1] {
        let error = receive_from_closing_peer(&reply[..cut]).unwrap_err();
        assert!(
            matches!(error, ConnectionError::Stream(StreamError::Truncated { arrived }) if arrived == cut),
            "{cut}: {error}"
        );
    }
}

#[test]
fn lying_lengths_are_errors() {
    for length in [0, 15, -1, i32::MIN, 48_000_001, i32::MAX] {
        let mut reply = message(1, 1, 0, &doc! { "ok": 1 });
        reply[..4].copy_from_slice(&i32::to_le_bytes(length));
        let error = receive_from_closing_peer(&reply).unwrap_err();
        let expected = FrameError::Length(i64::from(length));
        assert!(matches!(error, ConnectionError::Frame(frame) if frame == expected), "{length}: {error}");
    }
    let error = receive_from_closing_peer(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap_err();
    assert!(matches!(error, ConnectionError::Frame(FrameError::Length(_))));
}

#[test]
fn more_than_one_message_is_an_error() {
    let reply = message(1, 1, 0, &doc! { "ok": 1 });
    let error = receive_from_closing_peer(&[reply.clone(), b"!".to_vec()].concat()).unwrap_err();
    let (declared, sent) = (reply.len(), reply.len() + 1);
    assert!(
        matches!(error, ConnectionError::Excess { message_bytes, arrived } if (message_bytes, arrived) == (declared, sent))
    );
}

#[test]
fn a_request_longer_than_any_server_takes_is_not_sent() {
    let (mut connection, mut peer) = connect();
    connection.request().resize(MESSAGE_BYTES_MAX + 1, 0);
    assert!(matches!(connection.send(), Err(ConnectionError::Frame(FrameError::Length(48_000_001)))));
    drop(connection);
    assert_eq!(peer.read(&mut [0]).unwrap(), 0, "nothing of it went out");
}

#[test]
fn the_outgoing_buffer_is_given_back_after_a_giant_request() {
    let (mut connection, _peer) = connect();
    connection.request().resize(3_000_000, 0);
    connection.request().resize(100, 0);
    assert_eq!(connection.request().capacity(), 0);
    connection.request().resize(200_000, 0);
    connection.request().resize(100, 0);
    assert!(connection.request().capacity() >= 200_000, "a buffer of ordinary size is kept");
}

#[test]
fn a_refused_connection_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = match Connection::open(address) {
        Err(error) => error,
        Ok(mut connection) => {
            wait_writable(&connection);
            connection.finish_connect().unwrap_err()
        }
    };
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}
