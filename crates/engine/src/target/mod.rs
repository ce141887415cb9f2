//! What operations are sent to. One trait: an encoded command goes in, the facts of a reply come out. A target owns the
//! clock its replies are timed on, so that a simulated one can run on a virtual clock.

pub mod linked;
mod null;
mod replies;
pub mod runner;
mod simulated;
mod socket;

pub use null::NullTarget;
pub use runner::{RunnerReport, RunnerTarget};
pub use simulated::SimulatedTarget;
pub(crate) use socket::broken::Broken;
pub(crate) use socket::channel::Greeted;
pub use socket::{Destination, Followed, Routes, SocketTarget};

use std::io;

use brimline_bson::find;
use brimline_net::link::{Looks as ReplyLooks, Request};
use brimline_wire::{op_msg, reply};

use crate::clock::{Clock, Nanos, suspended_ns};
use crate::connects::ConnectTimes;
use crate::failure::{CommandFailure, Failure, FailureClass};
use crate::looks::Looks;

/// Index of a connection within its worker.
pub type ConnectionIndex = usize;

/// What the worker needs to know of a reply.
#[derive(Debug, PartialEq, Eq)]
pub struct ReplyFacts {
    /// Why the command failed, if it did. Boxed: failures are rare, replies are many.
    pub failure: Option<Box<CommandFailure>>,
    /// Documents in the batch of a find or getMore.
    pub documents: u64,
    /// Documents a write matched or inserted.
    pub n: u64,
    /// Documents an update changed.
    pub modified: u64,
    /// Documents an update inserted.
    pub upserted: u64,
    /// Cursor with more documents, 0 where there are none.
    pub cursor: i64,
    /// Bytes of the reply.
    pub bytes: u64,
}

impl ReplyFacts {
    /// A reply of so many bytes that speaks of more documents than it was asked about.
    pub fn overstated(bytes: u64) -> Self {
        let failure = Failure::new(
            FailureClass::BadReply,
            "the server speaks of more documents than it was asked about",
        );
        Self {
            failure: Some(Box::new(failure.into())),
            documents: 0,
            n: 0,
            modified: 0,
            upserted: 0,
            cursor: 0,
            bytes,
        }
    }
}

/// A reply that is looked into.
#[derive(Clone, Copy, Debug)]
pub struct KeptReply<'m> {
    /// All of it, as a BSON document.
    pub body: &'m [u8],
    /// The first document or row that it brought.
    pub document: Option<&'m [u8]>,
}

impl<'m> KeptReply<'m> {
    /// That of a server of MongoDB's: of its cursor, or the value of a findAndModify.
    fn of_message(message: &'m [u8]) -> Option<Self> {
        let body = op_msg::parse(message).ok()?.body;
        let value = || find(body, &["value"])?.document();
        Some(Self { body, document: reply::first_document(message).or_else(value) })
    }

    /// That of another protocol: its content as JSON, or its first row.
    fn of_view(body: &'m [u8]) -> Self {
        let under = |path: &[&str]| find(body, path)?.document();
        Self { body, document: under(&["json"]).or_else(|| under(&["rows", "0"])) }
    }
}

/// When parts of a reply were there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplyTimes {
    /// How long the sockets took to make that its requests waited for; `None`: they waited for none.
    pub connect_ns: Option<Nanos>,
    /// The replies before it that led elsewhere and were followed; `None`: it is the first.
    pub redirects: Option<Redirects>,
    /// Whether it leads elsewhere itself, and was not followed.
    pub leads_elsewhere: bool,
    /// When its first bytes had arrived.
    pub first_byte: Nanos,
}

/// Replies that led elsewhere and were followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redirects {
    /// How many.
    pub count: u32,
    /// When the last of them was whole.
    pub done: Nanos,
    /// How long the sockets took to make that their requests waited for.
    pub connect_ns: Nanos,
}

/// What happened on a connection.
#[derive(Debug)]
pub enum Event {
    /// It is ready for its first request, or again.
    Up(ConnectionIndex),
    /// A whole reply is there since `done`.
    Reply {
        /// Which connection.
        connection: ConnectionIndex,
        /// When the last byte had arrived.
        done: Nanos,
        /// What it says.
        reply: ReplyFacts,
    },
    /// It broke or could not be made; the target tries again by itself.
    Down(ConnectionIndex, Failure),
}

/// Something operations can be sent to, over a fixed number of connections with one request in flight each.
pub trait Target {
    /// Whether it says itself when a request was sent: see [`sent`](Self::sent).
    const STAMPS_SENT: bool = false;

    /// Time on the target's clock.
    fn now(&self) -> Nanos;

    /// Makes `clock` the target's clock: the run begins.
    fn begin(&mut self, clock: Clock);

    /// Leaves events alone until `until`, where that spares something; they are timed as if it did not.
    ///
    /// # Errors
    /// When waiting itself fails; the run can't go on.
    fn rest(&mut self, _until: Nanos) -> io::Result<()> {
        Ok(())
    }

    /// Waits for events until `until`, or until it knows better.
    ///
    /// # Errors
    /// When waiting itself fails; the run can't go on.
    fn wait(&mut self, until: Nanos) -> io::Result<()>;

    /// The next event the last [`wait`](Self::wait) brought.
    fn next_event(&mut self) -> Option<Event>;

    /// Says whether the next request of `connection` is a read, and which record it is about, where that makes a difference.
    fn route(&mut self, _connection: ConnectionIndex, _is_read: bool, _record: u64) {}

    /// Which server the request of `connection` went to, of several among which the records are shared out; else 0.
    #[inline]
    fn server(&self, _connection: ConnectionIndex) -> usize {
        0
    }

    /// The emptied buffer that the next request of `connection` is rendered into.
    fn request(&mut self, connection: ConnectionIndex) -> &mut Vec<u8>;

    /// Renders a request of a protocol behind a link in place of [`Self::request`]; how many bytes it has. `values` is a BSON array of
    /// what its slots hold. `looks`: what of the reply [`Self::kept_reply`] will be asked for.
    ///
    /// # Errors
    /// When a value can't stand in its slot; nothing is to be sent then.
    fn render(
        &mut self,
        _connection: ConnectionIndex,
        _request: Request,
        values: &[u8],
        _looks: ReplyLooks,
    ) -> Result<u64, String> {
        Ok(values.len() as u64)
    }

    /// When parts of the last reply behind a link were there.
    fn times(&self, _connection: ConnectionIndex) -> ReplyTimes {
        ReplyTimes::default()
    }

    /// Sends the rendered request. `documents` is how many documents a faithful reply is about.
    ///
    /// # Errors
    /// When the connection broke; it counts as down then.
    fn send(&mut self, connection: ConnectionIndex, request_id: i32, documents: u32) -> Result<(), Failure>;

    /// How long it may take to start, before its connections begin to be made.
    fn start_within_ns(&self) -> Nanos {
        0
    }

    /// How long before it is due an operation of an open loop may be handed over, to wait where it is sent from.
    #[inline]
    fn ahead_ns(&self) -> Nanos {
        0
    }

    /// When the request that [`send`](Self::send) hands over next is due, where that may be later than now.
    #[inline]
    fn set_due(&mut self, _connection: ConnectionIndex, _due: Option<Nanos>) {}

    /// Of a target that [stamps](Self::STAMPS_SENT): when the request was sent whose reply was told last.
    fn sent(&self, _connection: ConnectionIndex) -> Nanos {
        0
    }

    /// Nothing that it says can be believed any more, for `reason`, where it is a program of its own.
    fn distrust(&mut self, _reason: &str) {}

    /// Why there is no target any more, where it knows that for good.
    fn lost(&self) -> Option<&str> {
        None
    }

    /// Ends it after the last reply; what the process says of itself that the requests went through.
    fn finish(&mut self) -> Option<RunnerReport> {
        None
    }

    /// Gives up a connection whose reply is no longer waited for, and makes a new one.
    fn reset(&mut self, connection: ConnectionIndex);

    /// Called when an operation is over on `connection`, or is to be sent once more: whether the connection goes down now, because
    /// its server is no longer the one that operations go to.
    #[inline]
    fn retire(&mut self, _connection: ConnectionIndex) -> bool {
        false
    }

    /// Where writes go now, when that may change: where the writes of `answered` went, which has just been answered, whatever
    /// is known of the set by now; without one, what is known.
    fn primary(&self, _answered: Option<ConnectionIndex>) -> Option<String> {
        None
    }

    /// The servers without a connection, where there are several and it has to be said which.
    fn missing(&self) -> Option<String> {
        None
    }

    /// How long its connections took to make.
    fn connects(&self) -> ConnectTimes {
        ConnectTimes::default()
    }

    /// From now on the document that a read brings is kept until [`take_document`](Self::take_document).
    fn keep_documents(&mut self) {}

    /// The document that the last read on `connection` brought, once; none without one, or from a target that keeps none.
    fn take_document(&mut self, _connection: ConnectionIndex) -> Option<&[u8]> {
        None
    }

    /// Whether the reply to the next request of `connection` is kept whole until the one after it.
    fn keep_reply(&mut self, _connection: ConnectionIndex, _is_kept: bool) {}

    /// The last reply on `connection` that was to be kept; none from a target that keeps none.
    fn kept_reply(&mut self, _connection: ConnectionIndex) -> Option<KeptReply<'_>> {
        None
    }

    /// How its replies were looked for and timed.
    fn looks(&self) -> Looks {
        Looks::default()
    }

    /// Time in which the generator's host was suspended, since any instant.
    fn suspended_ns(&self) -> Nanos {
        suspended_ns()
    }

    /// CPU time the generator has used on this worker's thread.
    fn cpu_ns(&self) -> Nanos;
}
