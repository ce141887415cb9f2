//! One TCP connection to a server that never blocks: requests go out and replies come in as far as the socket takes and
//! gives them. One request is under way at a time. The caller owns the poller, the clock and what the bytes mean.

use std::io::{self, ErrorKind, IoSliceMut, Read};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use nix::sys::socket::{MsgFlags, recvmsg, setsockopt, sockopt};
use rustix::io::Errno;
use rustix::net::SendFlags;
use socket2::{Domain, Protocol, Socket, Type};

use crate::arrival;
pub use crate::incoming::BUFFER_BYTES_KEPT;
use crate::incoming::Incoming;
pub use crate::outcome::{Extent, Filled, SendState, StreamError};
use crate::tls;

/// A connection. Dropping it closes the socket.
#[derive(Debug)]
pub struct Stream {
    socket: TcpStream,
    outgoing: Vec<u8>,
    /// How much of `outgoing` the socket has taken.
    sent: usize,
    incoming: Incoming,
    ancillary: arrival::Ancillary,
    /// Boxed: most connections are plain, and theirs stays small.
    tls: Option<Box<tls::Session>>,
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

impl Stream {
    /// Starts connecting and returns at once. When the socket becomes writable, call [`Stream::finish_connect`].
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

    fn over(socket: TcpStream) -> Self {
        // A kernel that refuses gives no times of arrival, and the caller does without.
        let _ = setsockopt(&socket, sockopt::ReceiveTimestampns, &true);
        let ancillary = arrival::Ancillary::default();
        Self { socket, outgoing: Vec::new(), sent: 0, incoming: Incoming::new(), ancillary, tls: None }
    }

    /// Makes it a TLS connection: whatever is sent from now on, and all that comes after what has arrived.
    pub fn secure(&mut self, session: tls::Session) {
        self.tls = Some(Box::new(session));
    }

    /// Whether it is a TLS connection.
    pub fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether a handshake of TLS is still under way. It goes on with whatever is sent and received.
    pub fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Tells whether connecting worked; to be called once, after the socket first became writable.
    ///
    /// # Errors
    /// Why connecting failed, such as `ConnectionRefused`.
    pub fn finish_connect(&mut self) -> io::Result<()> {
        if let Some(error) = self.socket.take_error()? {
            return Err(error);
        }
        // A dead server's port may be given to the connecting socket itself, which then meets itself (TCP simultaneous
        // open) and would hold the port against the server's return.
        if self.socket.local_addr()? == self.socket.peer_addr()? {
            return Err(ErrorKind::ConnectionRefused.into());
        }
        Ok(())
    }

    /// Drops the last request and its reply, and lends the outgoing buffer, empty, to render the next request into.
    pub fn request(&mut self) -> &mut Vec<u8> {
        self.incoming.clear();
        self.next_request()
    }

    /// The same where a peer may send more than replies: what has arrived and was not taken stays.
    #[inline]
    pub fn next_request(&mut self) -> &mut Vec<u8> {
        self.sent = 0;
        let capacity = self.outgoing.capacity();
        if capacity > BUFFER_BYTES_KEPT && self.outgoing.len() < capacity / 4 {
            self.outgoing = Vec::new();
        }
        self.outgoing.clear();
        &mut self.outgoing
    }

    /// The request as it was rendered.
    #[inline]
    pub fn outgoing(&self) -> &[u8] {
        &self.outgoing
    }

    /// Sends the request, or what is left of it.
    ///
    /// # Errors
    /// When the connection is lost.
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    pub fn send(&mut self) -> Result<SendState, StreamError> {
        match &mut self.tls {
            None => send_plain(&self.socket, &self.outgoing, &mut self.sent),
            Some(tls) => tls.send(&self.socket, &self.outgoing, &mut self.sent),
        }
    }

    /// How much of the request, or of `bytes` in its place, has been taken.
    #[inline]
    pub fn sent(&self) -> usize {
        self.sent
    }

    /// Sends `bytes` in place of the request, or what is left of them.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn send_instead(&mut self, bytes: &[u8]) -> Result<SendState, StreamError> {
        match &mut self.tls {
            None => send_plain(&self.socket, bytes, &mut self.sent),
            Some(tls) => tls.send(&self.socket, bytes, &mut self.sent),
        }
    }

    /// Takes what has arrived until `extent`, which is given all of it, says that a message is whole. That stays until the next
    /// [`Self::request`]; `None` means that more must come: call again when the socket is readable. Polling must be level-triggered,
    /// because not every call reads until the socket is empty.
    ///
    /// Memory follows the bytes that arrived, whatever length `extent` tells.
    ///
    /// # Errors
    /// When the connection is lost, or `extent` refuses what arrived; it must then be dropped.
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    pub fn receive<E: From<StreamError>>(
        &mut self,
        extent: impl FnMut(&[u8]) -> Result<Extent, E>,
    ) -> Result<Option<Received<'_>>, E> {
        let mut receiver =
            Receiver { socket: &self.socket, ancillary: &mut self.ancillary, arrived_unix_ns: None };
        let bytes = match &mut self.tls {
            None => self.incoming.receive(&mut receiver, extent)?,
            Some(tls) => receive_secure(tls, &self.socket, &mut self.incoming, &mut receiver, extent)?,
        };
        let arrived_unix_ns = receiver.arrived_unix_ns;
        Ok(bytes.map(|bytes| Received { message: &self.incoming.arrived()[..bytes], arrived_unix_ns }))
    }

    /// Reads once, and tells what that brought, and when it had arrived. For replies that are followed piece by piece.
    ///
    /// # Errors
    /// When the connection is lost.
    #[inline]
    pub fn fill(&mut self, bytes_at_least: usize) -> Result<(Filled, Option<u64>), StreamError> {
        let mut receiver =
            Receiver { socket: &self.socket, ancillary: &mut self.ancillary, arrived_unix_ns: None };
        let filled = match &mut self.tls {
            None => self.incoming.fill(&mut receiver, bytes_at_least)?,
            Some(tls) => self.incoming.fill(&mut tls.reader(&self.socket, &mut receiver), bytes_at_least)?,
        };
        Ok((filled, receiver.arrived_unix_ns))
    }

    /// What has arrived since the last request and was not taken.
    #[inline]
    pub fn arrived(&self) -> &[u8] {
        self.incoming.arrived()
    }

    /// Is done with the first `bytes` of what has arrived, so that their room can be used again.
    pub fn take(&mut self, bytes: usize) {
        self.incoming.take(bytes);
    }
}

// Apart, so that plain connections, whose path is inlined, don't carry it along.
#[inline(never)]
fn receive_secure<E: From<StreamError>>(
    tls: &mut tls::Session,
    socket: &TcpStream,
    incoming: &mut Incoming,
    receiver: &mut Receiver<'_>,
    extent: impl FnMut(&[u8]) -> Result<Extent, E>,
) -> Result<Option<usize>, E> {
    incoming.receive(&mut tls.reader(socket, receiver), extent)
}

/// Sends `bytes` from `sent` on as far as the socket takes them.
#[expect(clippy::inline_always, reason = "out of line it costs every operation some dozens of instructions")]
#[inline(always)]
fn send_plain(socket: &TcpStream, bytes: &[u8], sent: &mut usize) -> Result<SendState, StreamError> {
    while *sent < bytes.len() {
        match rustix::net::send(socket, &bytes[*sent..], SendFlags::NOSIGNAL) {
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
    socket: &'a TcpStream,
    ancillary: &'a mut arrival::Ancillary,
    arrived_unix_ns: Option<u64>,
}

impl Read for Receiver<'_> {
    #[inline]
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let mut spaces = [IoSliceMut::new(space)];
        let ancillary = Some(self.ancillary.space());
        let bytes = recvmsg::<()>(self.socket.as_raw_fd(), &mut spaces, ancillary, MsgFlags::empty())?.bytes;
        if bytes > 0 {
            self.arrived_unix_ns = self.ancillary.arrived_unix_ns();
        }
        Ok(bytes)
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
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
        let mut near = Stream::open(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        // The first socket that asks for it makes the kernel switch stamping on, which takes it a moment.
        std::thread::sleep(Duration::from_millis(30));
        let unix_ns = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        let before = unix_ns();
        far.write_all(&[0; 20]).unwrap();
        let after = unix_ns();
        std::thread::sleep(Duration::from_millis(30));
        let extent = |bytes: &[u8]| {
            let is_whole = bytes.len() >= 20;
            Ok::<_, StreamError>(if is_whole {
                Extent::Whole(20)
            } else {
                Extent::More { bytes_at_least: 20 }
            })
        };
        let received = near.receive(extent).unwrap().expect("the message is there");
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
        let error = Stream::over(socket.into()).finish_connect().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    }
}
