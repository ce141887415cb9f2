//! The seam between connections and a protocol. A protocol says how a connection is made ready, how a request is rendered, where a
//! reply ends and what that says; due times, waiting, recording and all else are the same for each.
//!
//! A [`Connector`] makes a [`Link`] for each connection. Then, in turn: [`Link::greet`] whenever the socket is ready, until the link is;
//! [`Link::render`], [`Link::send`] until the socket has all of it, and [`Link::receive`] until a reply is whole. One request is under way
//! at a time.

use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use crate::stream::{SendState, StreamError};

/// Where connections of a protocol are made to, and with what.
pub trait Connector: Send + Sync {
    /// `host:port` as it was given.
    fn name(&self) -> &str;

    /// Where it is.
    fn address(&self) -> SocketAddr;

    /// Starts connecting and returns at once, or makes a link that has no socket until it is needed.
    ///
    /// # Errors
    /// When the system has no socket or no route, or when a login was refused before: it is not sent again.
    fn connect(&self) -> io::Result<Box<dyn Link>>;
}

/// One connection that speaks a protocol.
pub trait Link {
    /// Its socket, which the caller watches; `None`: it has none, and [`Self::open`] makes one.
    fn socket(&self) -> Option<BorrowedFd<'_>>;

    /// Starts connecting anew after the socket was closed in good order. What was rendered and what the link keeps over its sockets
    /// (cookies) stay.
    ///
    /// # Errors
    /// As [`Connector::connect`].
    fn open(&mut self) -> io::Result<()>;

    /// Goes on with what comes before the first request: to be called when the socket is first writable, then whenever it is ready
    /// for what was awaited.
    ///
    /// # Errors
    /// When the connection can't be made; it must then be dropped.
    fn greet(&mut self) -> Result<Greeting, Lost>;

    /// Forgets the last reply and renders a request; how many bytes it has. `values` is a BSON array: what the request's slots hold,
    /// in order. `looks`: what of the reply [`Self::view`] will be asked for.
    ///
    /// # Errors
    /// When a value can't stand in its slot; nothing is to be sent then.
    fn render(&mut self, request: Request, values: &[u8], looks: Looks) -> Result<u64, String>;

    /// Sends what was rendered, or what is left of it.
    ///
    /// # Errors
    /// When the connection is lost; it must then be dropped.
    fn send(&mut self) -> Result<SendState, Lost>;

    /// Takes what has arrived; a whole reply, judged, or `None`: more must come. A link whose peer ends the socket in good order
    /// closes it as well, and has none from then on: with a request under way that asks for [`Self::open`] and to send it again.
    ///
    /// # Errors
    /// When the connection is lost or out of step; it must then be dropped. Without a request under way [`LostKind::Closed`] is the
    /// peer's good right.
    fn receive(&mut self) -> Result<Option<Answer>, Lost>;

    /// Whether, after [`Self::receive`] gave nothing, there is something to send first: the request that follows a redirection.
    fn has_more_to_send(&self) -> bool {
        false
    }

    /// Appends the last reply, as far as [`Self::render`] was told that it is looked at, as a BSON document.
    fn view(&mut self, out: &mut Vec<u8>);
}

/// How far making a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// Call again when the socket is writable.
    AwaitsRoom,
    /// Call again when the socket is readable.
    AwaitsReply,
    /// It takes requests.
    Ready,
}

/// A request to render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The number of its step among all of the plan.
    pub step: u16,
    /// Which of the requests of that step.
    pub part: Part,
}

/// Which of the requests of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The step's own.
    Main,
    /// What ends the transaction of a step that failed.
    Rollback,
    /// The documents of a load; `values` are these. Its step is 0.
    Bulk,
}

/// What of a reply is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// Its status and headers, or how many rows it is about.
    pub at_head: bool,
    /// What it holds: its body as JSON, or its first row.
    pub at_content: bool,
    /// Its body as text.
    pub at_text: bool,
}

/// A whole reply.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// Why what was asked for was not done; `None`: it was. Boxed: refusals are rare, replies are many.
    pub refusal: Option<Box<Refusal>>,
    /// Rows that it holds.
    pub rows: u64,
    /// Rows that were changed, in the server's words.
    pub affected: u64,
    /// Bytes of the reply.
    pub bytes: u64,
    /// Whether it leads elsewhere, and was not followed.
    pub leads_elsewhere: bool,
    /// When its first bytes had reached this machine, by the kernel's wall clock; `None` where the kernel doesn't say.
    pub first_arrived_unix_ns: Option<u64>,
    /// When its last bytes had.
    pub arrived_unix_ns: Option<u64>,
}

/// Why a server did not do what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// How it says so.
    pub kind: RefusalKind,
    /// Its number of the error or status, 0 where there is none.
    pub code: i32,
    /// Its short name of it, such as `404 Not Found` or an SQLSTATE; empty where there is none.
    pub label: String,
    /// The server's words.
    pub message: String,
}

/// How a server says that it did not do what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// An error.
    Error,
    /// A status of 400 to 499.
    ClientStatus,
    /// A status of 500 to 599.
    ServerStatus,
    /// Another status that is not what was wanted.
    OtherStatus,
}

/// Why a connection can't be used any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// What happened.
    pub kind: LostKind,
    /// In words.
    pub message: String,
}

/// What happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostKind {
    /// The peer closed it, with no part of a reply sent.
    Closed,
    /// The socket.
    Io,
    /// What arrived is no reply.
    BadReply,
    /// The server lets nobody in, or refuses what has to be prepared: the next try would end the same way.
    Refused,
}

impl Lost {
    /// A peer whose bytes are no reply.
    pub fn bad(message: impl Into<String>) -> Self {
        Self { kind: LostKind::BadReply, message: message.into() }
    }

    /// A server that refuses for good.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { kind: LostKind::Refused, message: message.into() }
    }
}

impl From<StreamError> for Lost {
    fn from(error: StreamError) -> Self {
        let kind = match error {
            StreamError::Closed => LostKind::Closed,
            StreamError::Truncated { .. } => LostKind::BadReply,
            StreamError::Io(_) => LostKind::Io,
        };
        Self { kind, message: error.to_string() }
    }
}

impl From<io::Error> for Lost {
    fn from(error: io::Error) -> Self {
        Self { kind: LostKind::Io, message: error.to_string() }
    }
}
