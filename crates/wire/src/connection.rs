//! One TCP connection to a server that never blocks: requests go out and replies come in as far as the socket takes and
//! gives them. One request is under way at a time. The caller owns the poller, the clock and the request numbers.

use std::io::{self, ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use socket2::{Domain, Protocol, Socket, Type};
use thiserror::Error;

use crate::frame::{FrameError, MESSAGE_BYTES_MAX};
use crate::incoming::Incoming;

/// What a receiving buffer starts with; enough for the replies of most operations.
pub(crate) const BUFFER_BYTES_START: usize = 4 * 1024;
/// A buffer up to this size is never given back; a larger one is, once messages need less than a quarter of it.
pub(crate) const BUFFER_BYTES_KEPT: usize = 256 * 1024;

/// A connection. Dropping it closes the socket.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    outgoing: Vec<u8>,
    /// How much of `outgoing` the socket has taken.
    sent: usize,
    incoming: Incoming,
}

/// How far [`Connection::send`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendState {
    /// The socket has the whole request.
    Done,
    /// The socket is full: call again when it is writable.
    Blocked,
}

/// Why a connection can't be used any more.
#[derive(Debug, Error)]
pub enum ConnectionError {
    /// The peer closed it, with no part of a message sent.
    #[error("connection closed by the server")]
    Closed,
    /// The peer closed it in the middle of a message.
    #[error("connection closed by the server after {arrived} bytes of a message")]
    Truncated {
        /// How many bytes of the message had arrived.
        arrived: usize,
    },
    /// More arrived than the one message that was asked for.
    #[error("{arrived} bytes arrived where the server declared a message of {message_bytes}")]
    Excess {
        /// Declared length of the message.
        message_bytes: usize,
        /// How many bytes arrived.
        arrived: usize,
    },
    /// A message of impossible length: the peer's, or the request to be sent.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The socket.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Connection {
    /// Starts connecting and returns at once. When the socket becomes writable, call [`Connection::finish_connect`].
    ///
    /// # Errors
    /// When the system has no socket or no route, or refuses at once.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        match socket.connect(&address.into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(Self::over(socket.into())),
        }
    }

    fn over(stream: TcpStream) -> Self {
        Self { stream, outgoing: Vec::new(), sent: 0, incoming: Incoming::new() }
    }

    /// Tells whether connecting worked; to be called once, after the socket first became writable.
    ///
    /// # Errors
    /// Why connecting failed, such as `ConnectionRefused`.
    pub fn finish_connect(&mut self) -> io::Result<()> {
        if let Some(error) = self.stream.take_error()? {
            return Err(error);
        }
        // A dead server's port may be given to the connecting socket itself, which then meets itself (TCP simultaneous
        // open) and would hold the port against the server's return.
        if self.stream.local_addr()? == self.stream.peer_addr()? {
            return Err(ErrorKind::ConnectionRefused.into());
        }
        Ok(())
    }

    /// Drops the last request and its reply, and lends the outgoing buffer, empty, to render the next request into.
    pub fn request(&mut self) -> &mut Vec<u8> {
        self.incoming.clear();
        self.sent = 0;
        let capacity = self.outgoing.capacity();
        if capacity > BUFFER_BYTES_KEPT && self.outgoing.len() < capacity / 4 {
            self.outgoing = Vec::new();
        }
        self.outgoing.clear();
        &mut self.outgoing
    }

    /// Sends the request, or what is left of it.
    ///
    /// # Errors
    /// When the connection is lost, or when the request is longer than [`MESSAGE_BYTES_MAX`].
    pub fn send(&mut self) -> Result<SendState, ConnectionError> {
        if self.outgoing.len() > MESSAGE_BYTES_MAX {
            return Err(FrameError::Length(self.outgoing.len() as i64).into());
        }
        while self.sent < self.outgoing.len() {
            match rustix::net::send(&self.stream, &self.outgoing[self.sent..], SendFlags::NOSIGNAL) {
                Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero).into()),
                Ok(taken) => self.sent += taken,
                Err(Errno::AGAIN) => return Ok(SendState::Blocked),
                Err(Errno::INTR) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
        Ok(SendState::Done)
    }

    /// Takes what has arrived. A whole message, header included, stays until the next [`Connection::request`]; `None`
    /// means that more must come: call again when the socket is readable. Polling must be level-triggered, because not
    /// every call reads until the socket is empty.
    ///
    /// Memory follows the bytes that arrived, whatever length the peer announces.
    ///
    /// # Errors
    /// When the connection is lost or out of step; it must then be dropped.
    pub fn receive(&mut self) -> Result<Option<&[u8]>, ConnectionError> {
        self.incoming.receive(&mut Receiver(&self.stream))
    }
}

/// Reads as [`TcpStream`] does, with the system call alone: the C library's wrapper also makes it a point where a thread
/// may be cancelled, which costs more than the rest of the call in user space.
struct Receiver<'a>(&'a TcpStream);

impl Read for Receiver<'_> {
    #[inline]
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::net::recv(self.0, space, RecvFlags::empty())?.0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_that_met_itself_counts_as_refused() {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        let own_address = socket.local_addr().unwrap();
        socket.connect(&own_address).unwrap();
        let error = Connection::over(socket.into()).finish_connect().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    }
}
