//! The least that a client can do: sends the same bytes on each connection, again when a reply has come or when the next is due,
//! and looks at no more of a reply than its length. It draws nothing, reads no header and records nothing, so what it costs is
//! what the kernel asks of any client. It rests between looks as long as the engine may at most, so that it is woken no more often.
//!
//! `cargo run --release -p brimline-http --example bare_loop -- ADDRESS CONNECTIONS SECONDS RATE < request`
//!
//! `RATE` 0: one request after the other on each connection. Prints requests, seconds and CPU time as JSON.

use std::error::Error;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use brimline_net::wait::{sleep, wait};
use rustix::event::epoll;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::{ClockId, clock_gettime};

const REPLY_BYTES_MAX: usize = 16 * 1024;
/// As in the engine: a quarter of a request's time, and never longer than this.
const PART_OF_CYCLE: u32 = 4;
const REST_MAX: Duration = Duration::from_micros(350);

struct Loop {
    epoll: rustix::fd::OwnedFd,
    sockets: Vec<TcpStream>,
    /// What is still to come of the reply on each connection.
    missing: Vec<usize>,
    idle: Vec<usize>,
    request: Vec<u8>,
    /// How long each reply is.
    reply_bytes: usize,
    replies: u64,
    sent: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments = arguments.try_into();
    let [address, connections, seconds, rate]: [String; 4] =
        arguments.map_err(|_| "usage: bare_loop ADDRESS CONNECTIONS SECONDS RATE < request")?;
    let (connections, rate) = (connections.parse()?, rate.parse::<f64>()?);
    let length = Duration::from_secs_f64(seconds.parse()?);
    let mut request = Vec::new();
    io::stdin().read_to_end(&mut request)?;
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    let mut bare = Loop::new(&address, connections, request)?;
    let before = cpu();
    let took = if rate > 0.0 { bare.paced(length, rate)? } else { bare.closed(length)? };
    let cpu_ns = cpu().saturating_sub(before).as_nanos();
    let (requests, seconds) = (bare.replies, took.as_secs_f64());
    writeln!(io::stdout(), "{{\"requests\": {requests}, \"seconds\": {seconds}, \"cpu_ns\": {cpu_ns}}}")?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

impl Loop {
    fn new(address: &str, connections: usize, request: Vec<u8>) -> Result<Self, Box<dyn Error>> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut sockets = Vec::new();
        let mut reply_bytes = 0;
        for index in 0..connections {
            let mut socket = TcpStream::connect(address)?;
            socket.set_nodelay(true)?;
            socket.write_all(&request)?;
            reply_bytes = socket.read(&mut [0; REPLY_BYTES_MAX])?;
            socket.set_nonblocking(true)?;
            epoll::add(&epoll, &socket, epoll::EventData::new_u64(index as u64), epoll::EventFlags::IN)?;
            sockets.push(socket);
        }
        let (missing, idle) = (vec![0; connections], (0..connections).collect());
        Ok(Self { epoll, sockets, missing, idle, request, reply_bytes, replies: 0, sent: 0 })
    }

    /// One request after the other on each connection.
    fn closed(&mut self, length: Duration) -> Result<Duration, Box<dyn Error>> {
        let begin = now();
        while now() - begin < length {
            while let Some(socket) = self.idle.pop() {
                self.send(socket)?;
            }
            self.look(None)?;
            if let Ok(done @ 1..) = u32::try_from(self.replies) {
                let connections = u32::try_from(self.sockets.len())?;
                let rest = ((now() - begin) * connections / done / PART_OF_CYCLE).min(REST_MAX);
                sleep(rest.as_nanos() as u64)?;
            }
        }
        Ok(now() - begin)
    }

    /// Requests at a rate, each on a connection that is free; it looks for replies when one is due.
    fn paced(&mut self, length: Duration, rate: f64) -> Result<Duration, Box<dyn Error>> {
        let begin = now();
        loop {
            let elapsed = now() - begin;
            if elapsed >= length {
                return Ok(elapsed);
            }
            // Where all are busy, a reply comes before the next request can go.
            self.look(if self.idle.is_empty() { None } else { Some(0) })?;
            while self.sent as f64 <= elapsed.as_secs_f64() * rate
                && let Some(socket) = self.idle.pop()
            {
                self.send(socket)?;
            }
            let due = Duration::from_secs_f64(self.sent as f64 / rate);
            sleep(due.saturating_sub(now() - begin).as_nanos() as u64)?;
        }
    }

    fn send(&mut self, socket: usize) -> io::Result<()> {
        send(&self.sockets[socket], &self.request, SendFlags::NOSIGNAL)?;
        self.missing[socket] = self.reply_bytes;
        self.sent += 1;
        Ok(())
    }

    /// Takes what has come.
    fn look(&mut self, timeout_ns: Option<u64>) -> Result<(), Box<dyn Error>> {
        let mut events = [MaybeUninit::uninit(); 256];
        let mut reply = [MaybeUninit::uninit(); REPLY_BYTES_MAX];
        for event in wait(&self.epoll, &mut events, timeout_ns)? {
            let socket = event.data.u64() as usize;
            let bytes = recv(&self.sockets[socket], &mut reply, RecvFlags::empty())?.1;
            if bytes == 0 {
                return Err("the server closed a connection".into());
            }
            let missing = self.missing[socket].checked_sub(bytes);
            self.missing[socket] = missing.ok_or("a reply is longer than the first")?;
            if self.missing[socket] == 0 {
                self.replies += 1;
                self.idle.push(socket);
            }
        }
        Ok(())
    }
}
