//! One connection to a server that never blocks: whole messages over a [`Stream`], compressed where both sides want that. One request
//! is under way at a time. The caller owns the poller, the clock and the request numbers.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use brimline_net::stream::{Extent, Stream};
pub use brimline_net::stream::{Received, SendState};
use brimline_net::tls;

use crate::compression::Codec;
pub use crate::connection_error::ConnectionError;
use crate::frame::{FrameError, HEADER_BYTES, Header, MESSAGE_BYTES_MAX};

/// A connection. Dropping it closes the socket.
#[derive(Debug)]
pub struct Connection {
    stream: Stream,
    /// Boxed: most connections have none, and theirs stays small.
    codec: Option<Box<Codec>>,
}

/// Where a message ends; nothing may follow it.
#[expect(clippy::inline_always, reason = "out of line it costs every operation some dozens of instructions")]
#[inline(always)]
fn extent(arrived: &[u8]) -> Result<Extent, ConnectionError> {
    if arrived.len() < HEADER_BYTES {
        return Ok(Extent::More { bytes_at_least: HEADER_BYTES });
    }
    let message_bytes = Header::decode(arrived)?.message_bytes;
    if arrived.len() > message_bytes {
        return Err(ConnectionError::Excess { message_bytes, arrived: arrived.len() });
    }
    let is_whole = arrived.len() == message_bytes;
    Ok(if is_whole { Extent::Whole(message_bytes) } else { Extent::More { bytes_at_least: message_bytes } })
}

impl Connection {
    /// Starts connecting and returns at once. When the socket becomes writable, call [`Connection::finish_connect`].
    ///
    /// # Errors
    /// When the system has no socket or no route, or refuses at once.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        Ok(Self { stream: Stream::open(address)?, codec: None })
    }

    /// Makes it a TLS connection, before the first byte is sent.
    pub(crate) fn secure(&mut self, session: tls::Session) {
        self.stream.secure(session);
    }

    /// Compresses whatever is sent from now on; the handshake never is.
    pub(crate) fn compress(&mut self, codec: Codec) {
        self.codec = Some(Box::new(codec));
    }

    /// Tells whether connecting worked; to be called once, after the socket first became writable.
    ///
    /// # Errors
    /// Why connecting failed, such as `ConnectionRefused`.
    pub fn finish_connect(&mut self) -> io::Result<()> {
        self.stream.finish_connect()
    }

    /// Drops the last request and its reply, and lends the outgoing buffer, empty, to render the next request into.
    #[inline]
    pub fn request(&mut self) -> &mut Vec<u8> {
        self.stream.request()
    }

    /// Sends the request, or what is left of it.
    ///
    /// # Errors
    /// When the connection is lost, or when the request is longer than [`MESSAGE_BYTES_MAX`].
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    pub fn send(&mut self) -> Result<SendState, ConnectionError> {
        if self.stream.outgoing().len() > MESSAGE_BYTES_MAX {
            return Err(FrameError::Length(self.stream.outgoing().len() as i64).into());
        }
        if self.codec.is_some() {
            return self.send_packed();
        }
        Ok(self.stream.send()?)
    }

    /// Takes what has arrived. A whole message, header included, stays until the next [`Connection::request`]; `None`
    /// means that more must come: call again when the socket is readable. Polling must be level-triggered, because not
    /// every call reads until the socket is empty.
    ///
    /// Memory follows the bytes that arrived, whatever length the peer announces.
    ///
    /// # Errors
    /// When the connection is lost or out of step; it must then be dropped.
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    pub fn receive(&mut self) -> Result<Option<Received<'_>>, ConnectionError> {
        let received = self.stream.receive(extent)?;
        match (&mut self.codec, received) {
            (Some(codec), Some(Received { message, arrived_unix_ns })) => {
                Ok(Some(Received { message: codec.unpack(message)?, arrived_unix_ns }))
            }
            (_, received) => Ok(received),
        }
    }

    // Apart, so that plain connections, whose path is inlined, don't carry it along.
    #[inline(never)]
    fn send_packed(&mut self) -> Result<SendState, ConnectionError> {
        let Some(codec) = &mut self.codec else { return Ok(SendState::Done) };
        // The same message makes the same bytes, should none of them have been taken yet.
        if self.stream.sent() == 0 {
            codec.pack(self.stream.outgoing())?;
        }
        Ok(self.stream.send_instead(codec.packed())?)
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl AsRawFd for Connection {
    fn as_raw_fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }
}
