//! Owns one connection that waits: a request goes out whole, its answer is waited for.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use brimline_engine::clock::{Clock, Nanos};
use brimline_net::wait::is_ready;
use brimline_wire::connection::{Connection, ConnectionError, SendState};
use brimline_wire::endpoint::Endpoint;
use brimline_wire::handshake::{HandshakeError, Step};
use brimline_wire::hello::Hello;
use rustix::event::PollFlags;
use thiserror::Error;

/// How often a wait looks whether it is still wanted.
const LOOK_UP_NS: Nanos = 50_000_000;

/// How long a server may take to greet, authentication included.
const GREETING_TIMEOUT_NS: Nanos = 30_000_000_000;

/// Why a session can't be used any more.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The connection.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// What comes before the first command.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// The system.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// An answer that is none.
    #[error("the server's answer can't be read: {0}")]
    BadReply(String),
    /// It says that it goes away.
    #[error("the server shuts down, or is the primary no more: {0}")]
    Leaving(String),
    /// What was written is not in its journal.
    #[error("the server doesn't confirm what was written: {0}")]
    Unconfirmed(String),
    /// It took too long.
    #[error("the server has not answered for {0} s")]
    Silent(u64),
    /// Nobody waits any more.
    #[error("the wait was given up")]
    Abandoned,
}

/// A connection over which one thread talks.
pub struct Session<'a> {
    connection: Connection,
    clock: Clock,
    timeout_ns: Nanos,
    abandoned: &'a AtomicBool,
    request_id: i32,
}

impl<'a> Session<'a> {
    /// Connects and shakes hands, authentication included.
    pub fn open(
        endpoint: &Endpoint,
        timeout_ns: Nanos,
        abandoned: &'a AtomicBool,
    ) -> Result<(Self, Hello), SessionError> {
        let (connection, mut handshake) = endpoint.connect()?;
        let clock = Clock::start();
        let until = timeout_ns.min(GREETING_TIMEOUT_NS);
        let mut session = Self { connection, clock, timeout_ns: until, abandoned, request_id: 0 };
        session.wait_on(PollFlags::OUT, until, false)?;
        loop {
            let is_late = clock.now() > until;
            let wanted = match handshake.advance(&mut session.connection)? {
                Step::AwaitsRoom => PollFlags::OUT,
                Step::AwaitsReply => PollFlags::IN,
                Step::Done(hello) => return Ok((Self { timeout_ns, ..session }, *hello)),
            };
            session.wait_on(wanted, until, is_late)?;
        }
    }

    /// A connection to each of `endpoints`.
    pub fn open_all(
        endpoints: &[Endpoint],
        timeout_ns: Nanos,
        abandoned: &'a AtomicBool,
    ) -> Result<Vec<Self>, SessionError> {
        endpoints.iter().map(|endpoint| Ok(Self::open(endpoint, timeout_ns, abandoned)?.0)).collect()
    }

    /// The number of the next request.
    pub fn next_request_id(&mut self) -> i32 {
        self.request_id = self.request_id.wrapping_add(1);
        self.request_id
    }

    /// Sends `request`, which is left empty; waits while the socket is full.
    pub fn send(&mut self, request: &mut Vec<u8>) -> Result<(), SessionError> {
        std::mem::swap(self.connection.request(), request);
        self.transmit()
    }

    /// Waits for the answer and hands it to `read`.
    pub fn receive<T>(&mut self, read: impl FnOnce(&[u8]) -> T) -> Result<T, SessionError> {
        let until = self.clock.now() + self.timeout_ns;
        loop {
            let is_late = self.clock.now() > until;
            if let Some(received) = self.connection.receive()? {
                return Ok(read(received.message));
            }
            self.wait_on(PollFlags::IN, until, is_late)?;
        }
    }

    fn transmit(&mut self) -> Result<(), SessionError> {
        let until = self.clock.now() + self.timeout_ns;
        loop {
            let is_late = self.clock.now() > until;
            if self.connection.send()? == SendState::Done {
                return Ok(());
            }
            self.wait_on(PollFlags::OUT, until, is_late)?;
        }
    }

    /// Waits for the socket. `is_late`: it was looked at after `until`, and nothing whole was there. So a server whose bytes
    /// trickle is waited for no longer than a silent one, and what came while the process was stopped is read.
    fn wait_on(&self, wanted: PollFlags, until: Nanos, is_late: bool) -> Result<(), SessionError> {
        loop {
            if self.abandoned.load(Ordering::Relaxed) {
                return Err(SessionError::Abandoned);
            }
            if is_late {
                return Err(SessionError::Silent(self.timeout_ns / 1_000_000_000));
            }
            if is_ready(&self.connection, wanted, LOOK_UP_NS)? || self.clock.now() > until {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use brimline_net::wait::sleep;

    use super::*;

    /// Every byte comes in time, and the answer never.
    #[test]
    fn a_server_whose_bytes_trickle_is_waited_for_as_long_as_a_silent_one() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a loopback port is free");
        let address = listener.local_addr().expect("it has an address");
        let trickling = thread::spawn(move || {
            let (mut near, _) = listener.accept().expect("somebody connects");
            near.read_exact(&mut [0; 16]).expect("a request comes");
            let announced = 1_000_000_u32.to_le_bytes();
            // Until the client has had enough.
            for byte in announced.iter().chain(std::iter::repeat(&0)) {
                if near.write_all(&[*byte]).is_err() {
                    return;
                }
                sleep(5_000_000).expect("the thread can sleep");
            }
        });
        let abandoned = AtomicBool::new(false);
        let opened = Session::open(&address.into(), 300_000_000, &abandoned);
        assert!(matches!(opened, Err(SessionError::Silent(_))));
        drop(opened);
        trickling.join().expect("the client closed its connection");
    }
}
