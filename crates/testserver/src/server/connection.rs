//! One client: its socket, what it has sent and what it is to be sent.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};

use super::front::{Front, Unreadable};
use super::poller::Interest;

/// Capacity that an empty buffer may keep; more was for a giant message and is given back.
const KEPT_BYTES: usize = 256 * 1024;

/// A connection. Buffers grow with the bytes that were really sent.
pub struct Connection<C> {
    stream: TcpStream,
    /// What the protocol keeps of it.
    client: C,
    input: Vec<u8>,
    /// Bytes of `input` that were taken as messages.
    taken: usize,
    /// What is to be sent.
    pub output: Vec<u8>,
    /// Bytes of `output` that were sent.
    sent: usize,
    /// Whether to close once `output` is sent.
    pub closing: bool,
    /// What the poller waits for.
    pub interest: Interest,
}

/// A message and the buffer that its reply goes to.
pub struct Exchange<'a, C> {
    /// What the protocol keeps of the client.
    pub client: &'a mut C,
    /// The whole message.
    pub message: &'a [u8],
    /// What is to be sent; a reply is appended.
    pub output: &'a mut Vec<u8>,
}

impl<C: Default> Connection<C> {
    /// Takes an accepted socket.
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            client: C::default(),
            input: Vec::new(),
            taken: 0,
            output: Vec::new(),
            sent: 0,
            closing: false,
            interest: Interest::Read,
        })
    }

    /// Reads once, through `scratch`. Returns the number of bytes, 0 when there are none now.
    ///
    /// # Errors
    /// When the connection is lost; its end by the peer is `UnexpectedEof`.
    pub fn receive(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        match self.stream.read(scratch) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.input.extend_from_slice(&scratch[..count]);
                Ok(count)
            }
            Err(error) if is_retry(&error) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// What the protocol keeps of the client, and the buffer of what is to be sent.
    pub fn client(&mut self) -> (&mut C, &mut Vec<u8>) {
        (&mut self.client, &mut self.output)
    }

    /// The next whole message; `None` if more must come.
    ///
    /// # Errors
    /// When what was sent is no message.
    pub fn next_message<F: Front<Client = C>>(&mut self) -> Result<Option<Exchange<'_, C>>, Unreadable> {
        let Some(whole) = F::message_bytes(&mut self.client, &self.input[self.taken..])? else {
            self.forget_taken();
            return Ok(None);
        };
        let start = self.taken;
        self.taken += whole;
        let Self { client, input, output, .. } = self;
        Ok(Some(Exchange { client, message: &input[start..start + whole], output }))
    }

    /// Sends what can be sent now. Returns the number of bytes.
    ///
    /// # Errors
    /// When the connection is lost.
    pub fn send(&mut self) -> io::Result<usize> {
        let already_sent = self.sent;
        while self.sent < self.output.len() {
            match self.stream.write(&self.output[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(self.sent - already_sent),
                Err(error) => return Err(error),
            }
        }
        let count = self.sent - already_sent;
        self.sent = 0;
        self.output.clear();
        self.output.shrink_to(KEPT_BYTES);
        Ok(count)
    }

    /// Whether everything was sent.
    pub fn is_flushed(&self) -> bool {
        self.output.is_empty()
    }

    fn forget_taken(&mut self) {
        self.input.drain(..self.taken);
        self.taken = 0;
        if self.input.is_empty() {
            self.input.shrink_to(KEPT_BYTES);
        }
    }
}

impl<C> AsFd for Connection<C> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn is_retry(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
