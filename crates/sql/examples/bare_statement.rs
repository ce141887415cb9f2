//! The least a client of SQL can do: prepares one statement on each connection, sends its execution again and again as soon as the
//! reply is there, and looks for nothing but the reply's length, which is always the same. It waits for all connections at once, as
//! any client of several does. The server must want no password.
//!
//! `cargo run --release -p brimline-sql --example bare_statement -- mysql|postgres ADDRESS USER DATABASE STATEMENT CONNECTIONS TIMES`

use std::error::Error;
use std::io::{self, ErrorKind, Read, Write};
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::os::fd::OwnedFd;

use brimline_net::wait::wait;
use rustix::event::epoll;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [protocol, address, user, database, statement, connections, times] = arguments.as_slice() else {
        return Err(
            "usage: bare_statement mysql|postgres ADDRESS USER DATABASE STATEMENT CONNECTIONS TIMES".into()
        );
    };
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut streams = Vec::new();
    for index in 0..connections.parse()? {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let execution = match protocol.as_str() {
            "mysql" => mysql(&mut stream, user, database, statement)?,
            _ => postgres(&mut stream, user, database, statement)?,
        };
        let length = first_reply(&mut stream, &execution)?;
        epoll::add(&epoll, &stream, epoll::EventData::new_u64(index), epoll::EventFlags::IN)?;
        streams.push((stream, execution, length));
    }
    repeat(&epoll, &mut streams, times.parse()?)
}

/// Executes so many statements in all.
fn repeat(epoll: &OwnedFd, streams: &mut [(TcpStream, Vec<u8>, usize)], times: usize) -> Outcome<()> {
    let mut sent = 0;
    for (stream, execution, _) in streams.iter_mut().take(times) {
        stream.write_all(execution)?;
        sent += 1;
    }
    let (mut done, mut arrived) = (0, vec![0; streams.len()]);
    let mut reply = vec![0; 64 * 1024];
    let mut events = [MaybeUninit::uninit(); 256];
    while done < times {
        for event in wait(epoll, &mut events, None)? {
            let index = event.data.u64() as usize;
            let (stream, execution, length) = &mut streams[index];
            arrived[index] += stream.read(&mut reply)?;
            if arrived[index] < *length {
                continue;
            }
            (arrived[index], done) = (0, done + 1);
            if sent < times {
                stream.write_all(execution)?;
                sent += 1;
            }
        }
    }
    Ok(())
}

/// How long the reply is, of which nothing comes late on a loopback once it has begun.
#[expect(clippy::disallowed_methods, reason = "once, and not measured")]
fn first_reply(stream: &mut TcpStream, execution: &[u8]) -> io::Result<usize> {
    stream.set_read_timeout(Some(std::time::Duration::from_millis(200)))?;
    let mut length = 0;
    let mut bytes = vec![0; 64 * 1024];
    stream.write_all(execution)?;
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => length += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock && length > 0 => break,
            Err(error) => return Err(error),
        }
    }
    stream.set_read_timeout(None)?;
    Ok(length)
}

/// Logs in and prepares; what executes the statement.
fn mysql(stream: &mut TcpStream, user: &str, database: &str, statement: &str) -> Outcome<Vec<u8>> {
    // Protocol 4.1, a database, the login's plugin, and an OK at the end of rows.
    const CAPABILITIES: u32 = 0x0108_820d;
    let packet = |number: u8, payload: &[u8]| {
        let [low, middle, high, _] = (payload.len() as u32).to_le_bytes();
        [&[low, middle, high, number], payload].concat()
    };
    let read = |stream: &mut TcpStream| -> Outcome<Vec<u8>> {
        let mut head = [0; 4];
        stream.read_exact(&mut head)?;
        let mut payload = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
        stream.read_exact(&mut payload)?;
        match payload.first() {
            Some(0xff) => Err(String::from_utf8_lossy(&payload).into()),
            _ => Ok(payload),
        }
    };
    read(stream)?;
    let mut login = CAPABILITIES.to_le_bytes().to_vec();
    login.extend_from_slice(&[0, 0, 0, 1, 45]);
    login.extend_from_slice(&[0; 23]);
    login.extend_from_slice(format!("{user}\0\0{database}\0mysql_native_password\0").as_bytes());
    stream.write_all(&packet(1, &login))?;
    if read(stream)?.first() == Some(&0xfe) {
        stream.write_all(&packet(3, b""))?;
        read(stream)?;
    }
    stream.write_all(&packet(0, &[b"\x16", statement.as_bytes()].concat()))?;
    let prepared = read(stream)?;
    let (id, columns) = (&prepared[1..5], u16::from_le_bytes([prepared[5], prepared[6]]));
    for _ in 0..columns {
        read(stream)?;
    }
    Ok(packet(0, &[b"\x17", id, &[0, 1, 0, 0, 0]].concat()))
}

/// Logs in and prepares; what executes the statement.
fn postgres(stream: &mut TcpStream, user: &str, database: &str, statement: &str) -> Outcome<Vec<u8>> {
    let message = |letter: &[u8], body: &[u8]| {
        [letter, ((body.len() + 4) as u32).to_be_bytes().as_slice(), body].concat()
    };
    let until_ready = |stream: &mut TcpStream| -> Outcome<()> {
        loop {
            let mut head = [0; 5];
            stream.read_exact(&mut head)?;
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let mut body = vec![0; length - 4];
            stream.read_exact(&mut body)?;
            match head[0] {
                b'E' => return Err(String::from_utf8_lossy(&body).into()),
                b'Z' => return Ok(()),
                _ => {}
            }
        }
    };
    let start = format!("\0\x03\0\0user\0{user}\0database\0{database}\0\0");
    stream.write_all(&message(b"", start.as_bytes()))?;
    until_ready(stream)?;
    let parse = format!("s\0{statement}\0\0\0");
    stream.write_all(&[message(b"P", parse.as_bytes()), message(b"S", b"")].concat())?;
    until_ready(stream)?;
    let execution = [message(b"B", b"\0s\0\0\0\0\0\0\0"), message(b"E", b"\0\0\0\0\0"), message(b"S", b"")];
    Ok(execution.concat())
}
