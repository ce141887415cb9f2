//! What operations are sent to. One trait: an encoded command goes in, the facts of a reply come out. A target owns the
//! clock its replies are timed on, so that a simulated one can run on a virtual clock.

#[cfg(feature = "driver")]
mod driver;
mod null;
mod replies;
mod simulated;
mod wire;

#[cfg(feature = "driver")]
pub use driver::DriverTarget;
pub use null::NullTarget;
pub use simulated::SimulatedTarget;
pub use wire::{Followed, Routes, WireTarget};

use std::io;

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

    /// The emptied buffer that the next request of `connection` is rendered into.
    fn request(&mut self, connection: ConnectionIndex) -> &mut Vec<u8>;

    /// Sends the rendered request. `documents` is how many documents a faithful reply is about.
    ///
    /// # Errors
    /// When the connection broke; it counts as down then.
    fn send(&mut self, connection: ConnectionIndex, request_id: i32, documents: u32) -> Result<(), Failure>;

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
    fn kept_reply(&self, _connection: ConnectionIndex) -> Option<&[u8]> {
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
