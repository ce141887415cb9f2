//! The least a client can do: sends one ready-made find on each connection, and again as soon as its reply has come back whole. It
//! draws no keys, looks into no reply, reads no clock per operation and records nothing, so its rate is what the kernel and
//! the server allow a client that waits for each reply; one that rests between looks may reach more. Prints operations per second.
//!
//! `cargo run --release -p brimline-engine --example ping_pong -- ADDRESS CONNECTIONS SECONDS [REQUESTS]`
//!
//! With a file of recorded messages, one behind another, it sends these in turn in place of the find.

use std::error::Error;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::net::TcpStream;

use brimline_engine::clock::{Clock, NANOS_PER_S};
use brimline_wire::template::TemplateBuilder;
use rustix::event::epoll;
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// Replies between two looks at the clock.
const REPLIES_PER_LOOK: u64 = 1_000;
/// More than a reply with one record of 1 KB has.
const REPLY_BYTES_MAX: usize = 16 * 1024;
/// Bytes that say how long a message is.
const LENGTH_BYTES: usize = 4;

#[expect(clippy::disallowed_methods, reason = "no time is waited for: the least that a client can do")]
fn main() -> Result<(), Box<dyn Error>> {
    let ([address, connections, seconds], recorded) = arguments()?;
    let requests = match recorded {
        Some(path) => messages(&std::fs::read(path)?)?,
        None => vec![find_by_key("user6284781860667377211")],
    };
    let mut turn = requests.iter().cycle().map(Vec::as_slice);
    let mut request = || turn.next().unwrap_or_default();
    let poller = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut streams = Vec::new();
    for index in 0..connections.parse()? {
        let mut stream = TcpStream::connect(&address)?;
        stream.set_nodelay(true)?;
        stream.write_all(request())?;
        require_reply(&mut stream, requests.len() == 1)?;
        stream.set_nonblocking(true)?;
        epoll::add(&poller, &stream, epoll::EventData::new_u64(index), epoll::EventFlags::IN)?;
        streams.push(stream);
    }
    let duration_s: f64 = seconds.parse()?;
    // Bytes of its reply that a connection still waits for.
    let mut left = vec![0; streams.len()];
    let clock = Clock::start();
    for stream in &streams {
        send(stream, request(), SendFlags::NOSIGNAL)?;
    }
    let (mut replies, mut next_look) = (0, REPLIES_PER_LOOK);
    let mut events = [MaybeUninit::uninit(); 64];
    let mut reply = [0; REPLY_BYTES_MAX];
    loop {
        let (ready, _) = epoll::wait(&poller, &mut events, None)?;
        for event in ready {
            let (stream, left) = (&streams[event.data.u64() as usize], &mut left[event.data.u64() as usize]);
            let received = recv(stream, &mut reply, RecvFlags::empty())?.0;
            if received == 0 {
                return Err("the server closed a connection".into());
            }
            if *left == 0 {
                *left = length(&reply[..received])?;
            }
            *left = left.saturating_sub(received);
            if *left > 0 {
                continue;
            }
            replies += 1;
            send(stream, request(), SendFlags::NOSIGNAL)?;
        }
        if replies >= next_look {
            next_look = replies + REPLIES_PER_LOOK;
            let elapsed_s = clock.now() as f64 / NANOS_PER_S as f64;
            if elapsed_s >= duration_s {
                writeln!(io::stdout(), "{:.0}", replies as f64 / elapsed_s)?;
                return Ok(());
            }
        }
    }
}

fn arguments() -> Result<([String; 3], Option<String>), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let recorded = (arguments.len() == 4).then(|| arguments.pop()).flatten();
    let arguments = arguments.try_into();
    arguments
        .map(|arguments| (arguments, recorded))
        .map_err(|_| "usage: ping_pong ADDRESS CONNECTIONS SECONDS [REQUESTS]".into())
}

/// The messages of a recording.
fn messages(mut recorded: &[u8]) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut found = Vec::new();
    while !recorded.is_empty() {
        let (message, rest) =
            recorded.split_at_checked(length(recorded)?).ok_or("the recording is cut off")?;
        found.push(message.to_vec());
        recorded = rest;
    }
    if found.is_empty() { Err("the recording is empty".into()) } else { Ok(found) }
}

/// How long the message is that begins here.
fn length(message: &[u8]) -> Result<usize, Box<dyn Error>> {
    let bytes = message.first_chunk::<LENGTH_BYTES>().ok_or("a message is cut off")?;
    let length = u32::from_le_bytes(*bytes) as usize;
    if length > LENGTH_BYTES { Ok(length) } else { Err("a message has no length".into()) }
}

/// The command that brimline sends for a read.
fn find_by_key(key: &str) -> Vec<u8> {
    let mut message = Vec::new();
    TemplateBuilder::new()
        .fixed(|writer| writer.string("find", "usertable"))
        .begin_subdocument("filter")
        .fixed(|writer| writer.string("_id", key))
        .end()
        .fixed(|writer| {
            writer.int32("limit", 1);
            writer.boolean("singleBatch", true);
            writer.string("$db", "ycsb");
        })
        .finish(0)
        .render(1, &mut message, |_, _| ());
    message
}

/// The record must be there, and no reply be an error: otherwise the two clients would not do the same.
fn require_reply(stream: &mut TcpStream, is_by_key: bool) -> Result<(), Box<dyn Error>> {
    let mut reply = vec![0; LENGTH_BYTES];
    stream.read_exact(&mut reply)?;
    reply.resize(length(&reply)?, 0);
    stream.read_exact(&mut reply[LENGTH_BYTES..])?;
    let facts = brimline_wire::reply::scan(&reply)?;
    match facts.documents {
        _ if !facts.ok => Err("the server refuses what was recorded".into()),
        1 => Ok(()),
        _ if !is_by_key => Ok(()),
        documents => Err(format!("the server has {documents} documents where it should have 1").into()),
    }
}
