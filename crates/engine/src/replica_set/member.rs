//! Owns what one member says: a connection of its own, without a login, on which it is asked, and asked again as soon as it has
//! answered. A server keeps that answer until something has changed, so that a new primary is known when it is one.

use std::os::fd::{AsFd, BorrowedFd};

use brimline_wire::connection::{Connection, ConnectionError, SendState};
use brimline_wire::endpoint::Endpoint;
use brimline_wire::handshake::{Handshake, Step};
use brimline_wire::hello::{self, Hello};
use rustix::event::PollFlags;

use super::selection::Answer;
use crate::clock::{NANOS_PER_S, Nanos};

/// How long an answer is waited for.
const ANSWER_NS: Nanos = NANOS_PER_S;
/// How long a server keeps its answer while nothing has changed; what it said before counts meanwhile.
const AWAIT_MS: i32 = 500;
const AWAIT_NS: Nanos = AWAIT_MS as Nanos * NANOS_PER_S / 1_000;
/// How long a server that can't keep its answer is left alone.
const REST_NS: Nanos = NANOS_PER_S / 100;
/// How long one is left alone that doesn't answer.
const SILENCE_NS: Nanos = NANOS_PER_S / 20;

/// A member and what it said last, while anybody listens.
pub struct Member {
    endpoint: Endpoint,
    stage: Stage,
    has_spoken: bool,
    hello: Option<Box<Hello>>,
    request_id: i32,
}

enum Stage {
    /// Without a connection; the next is made at this time.
    Away(Nanos),
    Greeting {
        line: Line,
        /// Boxed: it is larger than all else.
        handshake: Box<Handshake>,
    },
    /// It was asked again.
    Asked(Line),
    /// It is asked again at this time.
    Resting(Connection, Nanos),
}

/// A connection on which something is awaited, and until when.
struct Line {
    connection: Connection,
    awaited: PollFlags,
    until: Nanos,
}

impl Member {
    pub fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, stage: Stage::Away(0), has_spoken: false, hello: None, request_id: 0 }
    }

    pub fn name(&self) -> &str {
        self.endpoint.name()
    }

    /// What it said last; `None` while it says nothing.
    pub fn answer(&self) -> Option<Answer> {
        let hello = self.hello.as_deref()?.clone();
        Some(Answer { endpoint: self.endpoint.clone(), hello })
    }

    /// Whether it has answered since `forget`, or failed to.
    pub fn has_spoken(&self) -> bool {
        self.has_spoken
    }

    /// What it said counts no more, and nobody listens until `begin`.
    pub fn forget(&mut self) {
        *self = Self::new(self.endpoint.clone());
    }

    /// When it needs looking after at the latest, whatever its socket says.
    pub fn next_at(&self) -> Nanos {
        match &self.stage {
            Stage::Away(at) | Stage::Resting(_, at) => *at,
            Stage::Greeting { line, .. } | Stage::Asked(line) => line.until,
        }
    }

    /// What is awaited of its socket.
    pub fn socket(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match &self.stage {
            Stage::Greeting { line, .. } | Stage::Asked(line) => {
                Some((line.connection.as_fd(), line.awaited))
            }
            Stage::Away(_) | Stage::Resting(..) => None,
        }
    }

    /// Does what is due at `now`: connects, asks again, or gives up what doesn't answer.
    pub fn begin(&mut self, now: Nanos) {
        match &mut self.stage {
            Stage::Away(at) if *at <= now => match self.endpoint.connect() {
                Ok((connection, handshake)) => {
                    let line = Line { connection, awaited: PollFlags::OUT, until: now + ANSWER_NS };
                    self.stage = Stage::Greeting { line, handshake: Box::new(handshake) };
                }
                Err(_) => self.is_silent(now),
            },
            Stage::Resting(_, at) if *at <= now => {
                let Stage::Resting(connection, _) = std::mem::replace(&mut self.stage, Stage::Away(now))
                else {
                    return;
                };
                self.ask(connection, now);
            }
            Stage::Greeting { line, .. } | Stage::Asked(line) if line.until <= now => self.is_silent(now),
            _ => {}
        }
    }

    /// Follows its socket, which is ready.
    pub fn advance(&mut self, now: Nanos) {
        let heard = match &mut self.stage {
            Stage::Greeting { line, handshake } => match handshake.advance(&mut line.connection) {
                Ok(Step::AwaitsRoom) => return line.awaited = PollFlags::OUT,
                Ok(Step::AwaitsReply) => return line.awaited = PollFlags::IN,
                Ok(Step::Done(hello)) => Some(hello),
                Err(_) => None,
            },
            Stage::Asked(line) => match line.advance() {
                Ok(Some(message)) => hello::parse(&message).ok().map(Box::new),
                Ok(None) => return,
                Err(_) => None,
            },
            Stage::Away(_) | Stage::Resting(..) => return,
        };
        let stage = std::mem::replace(&mut self.stage, Stage::Away(now));
        match (heard, stage) {
            (Some(hello), Stage::Greeting { line, .. } | Stage::Asked(line)) => {
                let can_wait = hello.topology_version.is_some();
                self.hello = Some(hello);
                self.has_spoken = true;
                if can_wait {
                    self.ask(line.connection, now);
                } else {
                    self.stage = Stage::Resting(line.connection, now + REST_NS);
                }
            }
            _ => self.is_silent(now),
        }
    }

    /// Asks for what will differ from what it said.
    fn ask(&mut self, mut connection: Connection, now: Nanos) {
        self.request_id += 1;
        let known = self.hello.as_ref().and_then(|hello| hello.topology_version.as_deref());
        hello::request_change(connection.request(), self.request_id, known, AWAIT_MS);
        let mut line = Line { connection, awaited: PollFlags::IN, until: now + AWAIT_NS + ANSWER_NS };
        match line.send() {
            Ok(()) => self.stage = Stage::Asked(line),
            Err(_) => self.is_silent(now),
        }
    }

    /// It doesn't answer, or not so that it can be understood.
    fn is_silent(&mut self, now: Nanos) {
        self.stage = Stage::Away(now + SILENCE_NS);
        self.hello = None;
        self.has_spoken = true;
    }
}

impl Line {
    fn send(&mut self) -> Result<(), ConnectionError> {
        let is_full = self.connection.send()? == SendState::Blocked;
        self.awaited = if is_full { PollFlags::OUT } else { PollFlags::IN };
        Ok(())
    }

    /// The whole answer, once it is there.
    fn advance(&mut self) -> Result<Option<Vec<u8>>, ConnectionError> {
        if self.awaited == PollFlags::OUT {
            return self.send().map(|()| None);
        }
        Ok(self.connection.receive()?.map(|received| received.message.to_vec()))
    }
}
