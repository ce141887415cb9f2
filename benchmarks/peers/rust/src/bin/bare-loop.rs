//! No load generator: one epoll loop over sockets that sends messages made before and looks at little more than the
//! length of a reply. What it costs is what the kernel asks of any client with one request at a time on each socket;
//! it rests between looks as long as brimline may at most, so that it is woken no more often either.

use std::error::Error;
use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, doc};
use fastrand::Rng;
use rustix::event::{Timespec, epoll};

use rust_peers::arguments::{Arguments, Workload};
use rust_peers::records::Records;
use rust_peers::{answer, locked_version, say};

/// Messages that are made before and sent in turn; more would be dearer to read from memory, fewer a poorer law.
const MESSAGES: usize = 65_536;
const OP_MSG: i32 = 2013;
const HEADER_BYTES: usize = 16;
const REPLY_BYTES_MAX: usize = 16_384;
/// A found record is longer than any reply without one.
const FOUND_BYTES_MIN: usize = 1_000;
const SESSION_BYTES: usize = 16;
/// `n: 1` as BSON has it: what an update that found its record answers.
const ONE_MATCHED: &[u8] = b"\x10n\0\x01\0\0\0";
/// As in brimline: a quarter of an operation's time, and never longer than this.
const PART_OF_CYCLE: u32 = 4;
const REST_MAX: Duration = Duration::from_micros(350);
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let mut bare = BareLoop::new(&arguments)?;
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    say("ready")?;
    bare.start()?;
    bare.run_for(arguments.warmup)?;
    (bare.operations, bare.failed) = (0, 0);
    say("begin")?;
    let begin = Instant::now();
    bare.run_for(arguments.measured)?;
    let window = begin.elapsed();
    say("end")?;
    Ok(answer(&serde_json::json!({
        "operations": bare.operations,
        "failed": bare.failed,
        "window_ns": u64::try_from(window.as_nanos())?,
        "p50_ns": null,
        "p99_ns": null,
        "versions": {"rustix": locked_version("rustix")},
    }))?)
}

struct BareLoop {
    messages: Vec<Message>,
    next: usize,
    connections: Vec<Connection>,
    epoll: rustix::fd::OwnedFd,
    operations: u64,
    failed: u64,
}

struct Message {
    bytes: Vec<u8>,
    /// Where an update has its value: a new one each time, or the server has nothing to do.
    value_at: Option<usize>,
}

struct Connection {
    socket: TcpStream,
    /// What is still to come of a reply that came in parts.
    missing: usize,
    sent_update: bool,
}

impl BareLoop {
    fn new(arguments: &Arguments) -> Result<Self, Box<dyn Error>> {
        let records = Records::new(arguments.records);
        let mut random = Rng::with_seed(arguments.seed);
        let sessions = sessions(arguments.threads, &mut random);
        let messages = (0..MESSAGES)
            .zip(sessions.iter().cycle())
            .map(|(_, session)| match arguments.workload {
                Workload::ReadAndUpdate if random.bool() => update(arguments, session, &records, &mut random),
                Workload::Read | Workload::ReadAndUpdate => find(arguments, session, &records, &mut random),
                Workload::Load => Err("loads are not for the bare loop".into()),
            })
            .collect::<Result<_, _>>()?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let address =
            arguments.uri.trim_start_matches("mongodb://").split(['/', '?']).next().unwrap_or_default();
        let mut connections = Vec::new();
        for number in 0..arguments.threads {
            let socket = TcpStream::connect(address)?;
            socket.set_nodelay(true)?;
            socket.set_nonblocking(true)?;
            epoll::add(&epoll, &socket, epoll::EventData::new_u64(number), epoll::EventFlags::IN)?;
            connections.push(Connection { socket, missing: 0, sent_update: false });
        }
        Ok(Self { messages, next: 0, connections, epoll, operations: 0, failed: 0 })
    }

    /// Puts a request under way on each connection.
    fn start(&mut self) -> std::io::Result<()> {
        (0..self.connections.len()).try_for_each(|number| self.send(number))
    }

    fn run_for(&mut self, length: Duration) -> Result<(), Box<dyn Error>> {
        let begin = Instant::now();
        let before = self.operations;
        let mut events = [MaybeUninit::uninit(); 256];
        while begin.elapsed() < length {
            let (ready, _) = epoll::wait(&self.epoll, &mut events, Some(&LOOK_EVERY))?;
            for event in ready {
                self.take(usize::try_from(event.data.u64())?)?;
            }
            if let Ok(done @ 1..) = u32::try_from(self.operations - before) {
                let connections = u32::try_from(self.connections.len())?;
                let rest = (begin.elapsed() * connections / done / PART_OF_CYCLE).min(REST_MAX);
                std::thread::sleep(rest);
            }
        }
        Ok(())
    }

    /// Reads what came on a connection, and sends its next message if that was all of a reply.
    fn take(&mut self, number: usize) -> Result<(), Box<dyn Error>> {
        let mut reply = [0; REPLY_BYTES_MAX];
        let connection = &mut self.connections[number];
        let length = connection.socket.read(&mut reply)?;
        let reply = &reply[..length];
        if connection.missing == 0 {
            let header = reply.first_chunk().ok_or("the server closed a connection, or tore a header")?;
            connection.missing = usize::try_from(i32::from_le_bytes(*header))?;
            let found = if connection.sent_update {
                reply.windows(ONE_MATCHED.len()).any(|part| part == ONE_MATCHED)
            } else {
                connection.missing >= FOUND_BYTES_MIN
            };
            self.failed += u64::from(!found);
        }
        connection.missing = connection.missing.checked_sub(length).ok_or("more came than was asked for")?;
        if connection.missing == 0 {
            self.operations += 1;
            self.send(number)?;
        }
        Ok(())
    }

    fn send(&mut self, number: usize) -> std::io::Result<()> {
        let message = &mut self.messages[self.next];
        self.next = (self.next + 1) % MESSAGES;
        let connection = &mut self.connections[number];
        connection.sent_update = message.value_at.is_some();
        if let Some(at) = message.value_at {
            message.bytes[at..at + 8].copy_from_slice(&self.operations.to_le_bytes());
        }
        // A message is far smaller than a socket's buffer, which is empty: it goes out whole.
        connection.socket.write_all(&message.bytes)
    }
}

/// As many as are in use at once, each as the value of `lsid`: official drivers put every command into one.
fn sessions(count: u64, random: &mut Rng) -> Vec<Document> {
    let mut session = || {
        let mut bytes = vec![0; SESSION_BYTES];
        random.fill(&mut bytes);
        doc! {"id": Binary { subtype: BinarySubtype::Uuid, bytes }}
    };
    (0..count).map(|_| session()).collect()
}

fn find(
    arguments: &Arguments,
    session: &Document,
    records: &Records,
    random: &mut Rng,
) -> Result<Message, Box<dyn Error>> {
    let command = doc! {
        "find": &arguments.collection,
        "filter": {"_id": records.choose(random)},
        "limit": 1,
        "singleBatch": true,
        "lsid": session,
        "$db": &arguments.database,
    };
    Ok(Message { bytes: message(&command)?, value_at: None })
}

fn update(
    arguments: &Arguments,
    session: &Document,
    records: &Records,
    random: &mut Rng,
) -> Result<Message, Box<dyn Error>> {
    let change = Records::change(random);
    let value = change.get_document("$set")?.values().next().and_then(|value| match value {
        Bson::Binary(binary) => Some(binary.bytes.clone()),
        _ => None,
    });
    let command = doc! {
        "update": &arguments.collection,
        "updates": [{"q": {"_id": records.choose(random)}, "u": change}],
        "lsid": session,
        "$db": &arguments.database,
    };
    let bytes = message(&command)?;
    let value = value.ok_or("an update without a value")?;
    let value_at =
        bytes.windows(value.len()).position(|part| part == value).ok_or("an update without its value")?;
    Ok(Message { bytes, value_at: Some(value_at) })
}

/// The command as an `OP_MSG` of one section.
fn message(command: &Document) -> Result<Vec<u8>, Box<dyn Error>> {
    let body = command.to_vec()?;
    let length = HEADER_BYTES + 4 + 1 + body.len();
    let header = [i32::try_from(length)?, 0, 0, OP_MSG, 0];
    let mut bytes: Vec<u8> = header.iter().flat_map(|part| part.to_le_bytes()).collect();
    bytes.push(0);
    bytes.extend(body);
    Ok(bytes)
}
