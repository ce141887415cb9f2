//! One TCP connection to a server that never blocks: requests go out and replies come in as far as the socket takes and
//! gives them. One request is under way at a time. The caller owns the poller, the clock and the request numbers.

use std::io::{self, ErrorKind, IoSliceMut, Read};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use nix::sys::socket::{MsgFlags, recvmsg, setsockopt, sockopt};
use rustix::io::Errno;
use rustix::net::SendFlags;
use socket2::{Domain, Protocol, Socket, Type};
use thiserror::Error;

use crate::arrival;
use crate::compression::Codec;
use crate::frame::{FrameError, MESSAGE_BYTES_MAX};
use crate::incoming::Incoming;
use crate::tls;

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
    ancillary: arrival::Ancillary,
    /// Boxed: most connections are plain, and theirs stays as small as it was.
    layers: Option<Box<Layers>>,
}

/// What lies between messages and the socket.
#[derive(Debug, Default)]
struct Layers {
    tls: Option<tls::Session>,
    codec: Option<Codec>,
}

/// A whole message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// Its bytes, header included.
    pub message: &'a [u8],
    /// When its last bytes had reached this machine, by the kernel's wall clock; `None` where the kernel doesn't say. Over TLS
    /// the last encrypted bytes: decrypting them is the client's own work and no part of the time.
    pub arrived_unix_ns: Option<u64>,
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
    /// A compressed message that is none.
    #[error("a compressed message is unusable: {0}")]
    Compressed(&'static str),
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
        // A kernel that refuses gives no times of arrival, and the caller does without.
        let _ = setsockopt(&stream, sockopt::ReceiveTimestampns, &true);
        let ancillary = arrival::Ancillary::default();
        Self { stream, outgoing: Vec::new(), sent: 0, incoming: Incoming::new(), ancillary, layers: None }
    }

    /// Makes it a TLS connection, before the first byte is sent.
    pub(crate) fn secure(&mut self, session: tls::Session) {
        self.layers.get_or_insert_default().tls = Some(session);
    }

    /// Compresses whatever is sent from now on; the handshake never is.
    pub(crate) fn compress(&mut self, codec: Codec) {
        self.layers.get_or_insert_default().codec = Some(codec);
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
    #[inline]
    pub fn send(&mut self) -> Result<SendState, ConnectionError> {
        if self.outgoing.len() > MESSAGE_BYTES_MAX {
            return Err(FrameError::Length(self.outgoing.len() as i64).into());
        }
        if self.layers.is_some() {
            return self.send_layered();
        }
        send_plain(&self.stream, &self.outgoing, &mut self.sent)
    }

    /// Takes what has arrived. A whole message, header included, stays until the next [`Connection::request`]; `None`
    /// means that more must come: call again when the socket is readable. Polling must be level-triggered, because not
    /// every call reads until the socket is empty.
    ///
    /// Memory follows the bytes that arrived, whatever length the peer announces.
    ///
    /// # Errors
    /// When the connection is lost or out of step; it must then be dropped.
    #[inline]
    pub fn receive(&mut self) -> Result<Option<Received<'_>>, ConnectionError> {
        if self.layers.is_some() {
            return self.receive_layered();
        }
        let mut receiver =
            Receiver { stream: &self.stream, ancillary: &mut self.ancillary, arrived_unix_ns: None };
        let message = self.incoming.receive(&mut receiver)?;
        Ok(message.map(|message| Received { message, arrived_unix_ns: receiver.arrived_unix_ns }))
    }

    // Apart, so that plain connections, whose path is inlined, don't carry it along.
    #[inline(never)]
    fn send_layered(&mut self) -> Result<SendState, ConnectionError> {
        let Some(Layers { tls, codec }) = self.layers.as_deref_mut() else { return Ok(SendState::Done) };
        let mut bytes = self.outgoing.as_slice();
        if let Some(codec) = codec {
            // The same message makes the same bytes, should none of them have been taken yet.
            if self.sent == 0 {
                codec.pack(bytes)?;
            }
            bytes = codec.packed();
        }
        match tls {
            Some(tls) => tls.send(&self.stream, bytes, &mut self.sent),
            None => send_plain(&self.stream, bytes, &mut self.sent),
        }
    }

    #[inline(never)]
    fn receive_layered(&mut self) -> Result<Option<Received<'_>>, ConnectionError> {
        let Some(Layers { tls, codec }) = self.layers.as_deref_mut() else { return Ok(None) };
        let mut receiver =
            Receiver { stream: &self.stream, ancillary: &mut self.ancillary, arrived_unix_ns: None };
        let message = match tls {
            Some(tls) => self.incoming.receive(&mut tls.reader(&self.stream, &mut receiver))?,
            None => self.incoming.receive(&mut receiver)?,
        };
        let Some(message) = message else { return Ok(None) };
        let message = match codec {
            Some(codec) => codec.unpack(message)?,
            None => message,
        };
        Ok(Some(Received { message, arrived_unix_ns: receiver.arrived_unix_ns }))
    }
}

/// Sends `bytes` from `sent` on as far as the socket takes them.
#[inline]
fn send_plain(stream: &TcpStream, bytes: &[u8], sent: &mut usize) -> Result<SendState, ConnectionError> {
    while *sent < bytes.len() {
        match rustix::net::send(stream, &bytes[*sent..], SendFlags::NOSIGNAL) {
            Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero).into()),
            Ok(taken) => *sent += taken,
            Err(Errno::AGAIN) => return Ok(SendState::Blocked),
            Err(Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
    }
    Ok(SendState::Done)
}

/// Reads as [`TcpStream`] does, and notes when the bytes arrived.
struct Receiver<'a> {
    stream: &'a TcpStream,
    ancillary: &'a mut arrival::Ancillary,
    arrived_unix_ns: Option<u64>,
}

impl Read for Receiver<'_> {
    #[inline]
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let mut spaces = [IoSliceMut::new(space)];
        let ancillary = Some(self.ancillary.space());
        let bytes = recvmsg::<()>(self.stream.as_raw_fd(), &mut spaces, ancillary, MsgFlags::empty())?.bytes;
        if bytes > 0 {
            self.arrived_unix_ns = self.ancillary.arrived_unix_ns();
        }
        Ok(bytes)
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
    use std::io::Write;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use super::*;

    /// The reply lies in the socket for a while before it is read; its arrival is when it came.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test compares with the wall clock")]
    fn bytes_arrive_when_they_come_and_not_when_they_are_read() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let mut near = Connection::open(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        // The first socket that asks for it makes the kernel switch stamping on, which takes it a moment.
        std::thread::sleep(Duration::from_millis(30));
        let unix_ns = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        let before = unix_ns();
        far.write_all(&20_u32.to_le_bytes()).unwrap();
        far.write_all(&[0; 16]).unwrap();
        let after = unix_ns();
        std::thread::sleep(Duration::from_millis(30));
        let received = near.receive().unwrap().expect("the message is there");
        let arrived = received.arrived_unix_ns.expect("the kernel says when");
        // The kernel's stamps are of a clock that goes on between interrupts; 1 ms is far below the 30.
        assert!((before - 1_000_000..after + 1_000_000).contains(&arrived), "{before} {arrived} {after}");
    }

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
