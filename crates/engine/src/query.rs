//! One command on a connection of its own, its cursor drained to the end: what it took and how much came back.
//!
//! For single queries that are timed as a whole. Nothing is decoded but what [`reply::scan`] reads, so that the server is
//! what is measured: draining costs some ten ns per document, where a driver that makes objects takes about 1 µs.

use std::fmt::Display;

use brimline_net::wait::is_ready;
use brimline_wire::connection::{Connection, SendState};
use brimline_wire::endpoint::Endpoint;
use brimline_wire::handshake::{Handshake, Step};
use brimline_wire::{op_msg, reply};
use rustix::event::PollFlags;
use thiserror::Error;

use crate::clock::{Clock, Nanos, thread_cpu_ns};
use crate::message::Message;
use crate::terms::Terms;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The command as one BSON document, `$db` included.
    pub body: Vec<u8>,
    /// Database of the cursor it opens, if it opens one.
    pub database: String,
    /// Collection of that cursor.
    pub collection: String,
}

/// What came of it so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Replies with a batch, empty ones too.
    pub batches: u64,
    /// Documents in them.
    pub documents: u64,
    /// Bytes of the replies.
    pub bytes: u64,
    /// From sending the command to its reply.
    pub first_reply_ns: Nanos,
    /// From sending the command to the last reply.
    pub elapsed_ns: Nanos,
    /// CPU time of the thread that drained.
    pub client_cpu_ns: Nanos,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum QueryError {
    /// The server answered with an error.
    #[error("{message} (code {code} {code_name})")]
    Refused {
        /// Error code.
        code: i32,
        /// Name of the error code, empty when the server gives none.
        code_name: String,
        /// Error message.
        message: String,
    },
    /// The connection broke, or what came is no answer.
    #[error("{0}")]
    Lost(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The connection is being made.
    Opening,
    Answering,
    Done,
}

/// A command under way. Dropping it closes the connection, upon which the server ends the command.
pub struct Query {
    clock: Clock,
    connection: Connection,
    handshake: Handshake,
    /// The command as one BSON document.
    body: Vec<u8>,
    get_more: Message,
    state: State,
    sending: bool,
    request_id: i32,
    sent_at: Nanos,
    drained: Drained,
    answer: Vec<u8>,
}

impl Query {
    /// Starts connecting to `endpoint`.
    ///
    /// # Errors
    /// When the system has no socket or no route, or the login was refused before.
    pub fn start(endpoint: &Endpoint, command: Command) -> Result<Self, QueryError> {
        let (connection, handshake) = endpoint.connect().map_err(lost)?;
        Ok(Self {
            clock: Clock::start(),
            connection,
            handshake,
            body: command.body,
            get_more: Message::get_more(&command.database, &command.collection, None, &Terms::default()),
            state: State::Opening,
            sending: true,
            request_id: 0,
            sent_at: 0,
            drained: Drained::default(),
            answer: Vec::new(),
        })
    }

    /// Works for about `timeout_ns`; returns whether all is there.
    ///
    /// # Errors
    /// When the server refuses or is gone: the query is then over.
    pub fn advance(&mut self, timeout_ns: Nanos) -> Result<bool, QueryError> {
        let cpu_before = thread_cpu_ns();
        let end = self.clock.now() + timeout_ns;
        let outcome = self.work_until(end);
        self.drained.client_cpu_ns += thread_cpu_ns() - cpu_before;
        outcome
    }

    fn work_until(&mut self, end: Nanos) -> Result<bool, QueryError> {
        while self.state != State::Done {
            let now = self.clock.now();
            if now >= end {
                return Ok(false);
            }
            if self.is_ready(end - now)? {
                self.follow()?;
            }
        }
        Ok(true)
    }

    /// What came of it so far.
    pub fn drained(&self) -> Drained {
        self.drained
    }

    /// The body of the reply of a command that opened no cursor; else empty.
    pub fn answer(&self) -> &[u8] {
        &self.answer
    }

    /// Waits at most `timeout_ns` for the socket. Sooner without it when a signal arrives.
    fn is_ready(&self, timeout_ns: Nanos) -> Result<bool, QueryError> {
        let flags = if self.sending { PollFlags::OUT } else { PollFlags::IN };
        is_ready(&self.connection, flags, timeout_ns).map_err(lost)
    }

    /// Does what the ready socket allows.
    fn follow(&mut self) -> Result<(), QueryError> {
        if self.state == State::Opening {
            return self.shake_hands();
        }
        if self.sending {
            return self.send();
        }
        match self.state {
            State::Answering => self.take_reply(),
            State::Opening | State::Done => Ok(()),
        }
    }

    fn shake_hands(&mut self) -> Result<(), QueryError> {
        let step = self.handshake.advance(&mut self.connection).map_err(lost)?;
        self.sending = step == Step::AwaitsRoom;
        if matches!(step, Step::Done(_)) {
            self.state = State::Answering;
            return self.ask();
        }
        Ok(())
    }

    fn ask(&mut self) -> Result<(), QueryError> {
        self.request_id += 1;
        let body = elements(&self.body)?;
        op_msg::request(self.connection.request(), self.request_id, |writer| writer.encoded_elements(body));
        self.sent_at = self.clock.now();
        self.send()
    }

    fn send(&mut self) -> Result<(), QueryError> {
        self.sending = self.connection.send().map_err(lost)? == SendState::Blocked;
        Ok(())
    }

    fn take_reply(&mut self) -> Result<(), QueryError> {
        let Some(received) = self.connection.receive().map_err(lost)? else {
            return Ok(());
        };
        let elapsed_ns = self.clock.now() - self.sent_at;
        let reply = reply::scan(received.message).map_err(|error| QueryError::Lost(error.to_string()))?;
        if reply.response_to != self.request_id {
            return Err(QueryError::Lost("the server answered another request".to_owned()));
        }
        if !reply.ok {
            return Err(QueryError::Refused {
                code: reply.code,
                code_name: reply::words(reply.code_name),
                message: reply::words(reply.message),
            });
        }
        let drained = &mut self.drained;
        if drained.batches == 0 {
            drained.first_reply_ns = elapsed_ns;
        }
        drained.batches += 1;
        drained.documents += u64::from(reply.documents);
        drained.bytes += received.message.len() as u64;
        drained.elapsed_ns = elapsed_ns;
        let cursor = reply.cursor_id;
        if cursor != 0 {
            return self.ask_for_more(cursor);
        }
        if drained.batches == 1 && drained.documents == 0 {
            let message =
                op_msg::parse(received.message).map_err(|error| QueryError::Lost(error.to_string()))?;
            self.answer = message.body.to_vec();
        }
        self.state = State::Done;
        Ok(())
    }

    fn ask_for_more(&mut self, cursor: i64) -> Result<(), QueryError> {
        self.request_id += 1;
        self.get_more.render(self.request_id, cursor, self.connection.request(), |_, _| ());
        self.send()
    }
}

/// The elements of a document, without its length and its end.
fn elements(document: &[u8]) -> Result<&[u8], QueryError> {
    match brimline_bson::split_document(document) {
        Ok((document, [])) => Ok(&document[4..document.len() - 1]),
        _ => Err(QueryError::Lost("the command is no BSON document".to_owned())),
    }
}

fn lost(error: impl Display) -> QueryError {
    QueryError::Lost(error.to_string())
}
