//! Owns one connection that waits: a request goes out whole, its answer is waited for.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use brimline_engine::clock::{Clock, Nanos};
use brimline_wire::connection::{Connection, ConnectionError, SendState};
use brimline_wire::endpoint::Endpoint;
use brimline_wire::handshake::{HandshakeError, Step};
use brimline_wire::hello::Hello;
use brimline_wire::wait::is_ready;
use rustix::event::PollFlags;
use thiserror::Error;

/// How often a wait looks whether it is still wanted.
const LOOK_UP_NS: Nanos = 50_000_000;

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
        let mut session = Self { connection, clock: Clock::start(), timeout_ns, abandoned, request_id: 0 };
        let mut wanted = PollFlags::OUT;
        loop {
            session.wait(wanted)?;
            wanted = match handshake.advance(&mut session.connection)? {
                Step::AwaitsRoom => PollFlags::OUT,
                Step::AwaitsReply => PollFlags::IN,
                Step::Done(hello) => return Ok((session, hello)),
            };
        }
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
        loop {
            if let Some(received) = self.connection.receive()? {
                return Ok(read(received.message));
            }
            self.wait(PollFlags::IN)?;
        }
    }

    fn transmit(&mut self) -> Result<(), SessionError> {
        while self.connection.send()? == SendState::Blocked {
            self.wait(PollFlags::OUT)?;
        }
        Ok(())
    }

    fn wait(&self, wanted: PollFlags) -> Result<(), SessionError> {
        let began = self.clock.now();
        while !is_ready(&self.connection, wanted, LOOK_UP_NS)? {
            if self.abandoned.load(Ordering::Relaxed) {
                return Err(SessionError::Abandoned);
            }
            if self.clock.now() - began > self.timeout_ns {
                return Err(SessionError::Silent(self.timeout_ns / 1_000_000_000));
            }
        }
        Ok(())
    }
}
