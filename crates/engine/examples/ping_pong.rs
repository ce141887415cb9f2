//! The least a client can do: sends one ready-made find on each connection, and again as soon as anything has come back. It
//! draws no keys, looks into no reply, reads no clock per operation and records nothing, so its rate is what the kernel and
//! the server allow a client that waits for each reply; one that rests between looks may reach more. Prints operations per second.
//!
//! `cargo run --release -p brimline-engine --example ping_pong -- ADDRESS CONNECTIONS SECONDS`

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
const REPLY_BYTES_MAX: usize = 4 * 1024;

#[expect(clippy::disallowed_methods, reason = "no time is waited for: the least that a client can do")]
fn main() -> Result<(), Box<dyn Error>> {
    let [address, connections, seconds] = arguments()?;
    let request = find_by_key("user6284781860667377211");
    let poller = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut streams = Vec::new();
    for index in 0..connections.parse()? {
        let mut stream = TcpStream::connect(&address)?;
        stream.set_nodelay(true)?;
        stream.write_all(&request)?;
        require_reply(&mut stream)?;
        stream.set_nonblocking(true)?;
        epoll::add(&poller, &stream, epoll::EventData::new_u64(index), epoll::EventFlags::IN)?;
        streams.push(stream);
    }
    let duration_s: f64 = seconds.parse()?;
    let clock = Clock::start();
    for stream in &streams {
        send(stream, &request, SendFlags::NOSIGNAL)?;
    }
    let (mut replies, mut next_look) = (0, REPLIES_PER_LOOK);
    let mut events = [MaybeUninit::uninit(); 64];
    let mut reply = [0; REPLY_BYTES_MAX];
    loop {
        let (ready, _) = epoll::wait(&poller, &mut events, None)?;
        for event in ready {
            let stream = &streams[event.data.u64() as usize];
            if recv(stream, &mut reply, RecvFlags::empty())?.0 == 0 {
                return Err("the server closed a connection".into());
            }
            replies += 1;
            send(stream, &request, SendFlags::NOSIGNAL)?;
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

fn arguments() -> Result<[String; 3], Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    arguments.try_into().map_err(|_| "usage: ping_pong ADDRESS CONNECTIONS SECONDS".into())
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

/// The record must be there, and its reply come whole: otherwise the two clients would not do the same.
fn require_reply(stream: &mut TcpStream) -> Result<(), Box<dyn Error>> {
    let mut reply = [0; REPLY_BYTES_MAX];
    let received = stream.read(&mut reply)?;
    match brimline_wire::reply::scan(&reply[..received])?.documents {
        1 => Ok(()),
        documents => Err(format!("the server has {documents} documents where it should have 1").into()),
    }
}
