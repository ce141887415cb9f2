//! The receiving buffer of a connection: puts one message together from whatever pieces arrive.

use std::io::{ErrorKind, Read};

use crate::connection::{BUFFER_BYTES_KEPT, BUFFER_BYTES_START, ConnectionError};
use crate::frame::{HEADER_BYTES, Header};

/// Grows only when it is full, and then at most to twice its size: a peer that announces a long message has to send it.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// Initialised bytes; `bytes[..filled]` have arrived.
    bytes: Vec<u8>,
    filled: usize,
}

impl Incoming {
    pub(crate) fn new() -> Self {
        Self { bytes: vec![0; BUFFER_BYTES_START], filled: 0 }
    }

    /// Forgets the message, and gives memory back when the buffer is large and the message was not.
    pub(crate) fn clear(&mut self) {
        if self.bytes.len() > BUFFER_BYTES_KEPT && self.filled < self.bytes.len() / 4 {
            self.bytes = vec![0; BUFFER_BYTES_START];
        }
        self.filled = 0;
    }

    /// Reads until a message is whole or `source` has no more for now.
    #[inline]
    pub(crate) fn receive(&mut self, source: &mut impl Read) -> Result<Option<&[u8]>, ConnectionError> {
        let mut is_drained = false;
        loop {
            if let Some(message_bytes) = self.whole_message()? {
                return Ok(Some(&self.bytes[..message_bytes]));
            }
            if is_drained {
                return Ok(None);
            }
            let space = &mut self.bytes[self.filled..];
            match source.read(space) {
                Ok(0) if self.filled == 0 => return Err(ConnectionError::Closed),
                Ok(0) => return Err(ConnectionError::Truncated { arrived: self.filled }),
                Ok(arrived) => {
                    // Less than asked for: asking again would cost a system call to hear "not now".
                    is_drained = arrived < space.len();
                    self.filled += arrived;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Length of the message when it has arrived; else makes sure that there is space for more of it.
    #[inline]
    fn whole_message(&mut self) -> Result<Option<usize>, ConnectionError> {
        if self.filled < HEADER_BYTES {
            return Ok(None);
        }
        let message_bytes = Header::decode(&self.bytes)?.message_bytes;
        if self.filled > message_bytes {
            return Err(ConnectionError::Excess { message_bytes, arrived: self.filled });
        }
        if self.filled == message_bytes {
            return Ok(Some(message_bytes));
        }
        if self.filled == self.bytes.len() {
            let grown = message_bytes.min(2 * self.bytes.len());
            self.bytes.reserve_exact(grown - self.bytes.len());
            self.bytes.resize(grown, 0);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of `length` bytes, of which nothing but the length field means anything.
    fn message(length: usize) -> Vec<u8> {
        let mut bytes = vec![7; length];
        bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
        bytes
    }

    #[test]
    fn the_buffer_is_given_back_after_a_giant_message() {
        let mut incoming = Incoming::new();
        let (giant, small) = (message(3_000_000), message(100));
        assert_eq!(incoming.receive(&mut giant.as_slice()).unwrap(), Some(giant.as_slice()));
        incoming.clear();
        assert_eq!(incoming.receive(&mut small.as_slice()).unwrap(), Some(small.as_slice()));
        assert_eq!(incoming.bytes.len(), 3_000_000, "another giant may follow at once");
        incoming.clear();
        assert_eq!(incoming.bytes.len(), BUFFER_BYTES_START);
    }

    #[test]
    fn a_buffer_of_ordinary_size_is_kept() {
        let mut incoming = Incoming::new();
        for length in [200_000, 100, 100] {
            incoming.receive(&mut message(length).as_slice()).unwrap();
            incoming.clear();
        }
        assert_eq!(incoming.bytes.len(), 200_000);
    }

    /// Gives bytes in pieces; an empty piece is "not now", and the end is the end of the stream.
    struct Pieces<'a>(Vec<&'a [u8]>, usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, space: &mut [u8]) -> std::io::Result<usize> {
            self.1 += 1;
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0);
            match piece.len() {
                0 => Err(ErrorKind::WouldBlock.into()),
                length => {
                    space[..length].copy_from_slice(piece);
                    Ok(length)
                }
            }
        }
    }

    #[test]
    fn a_call_reads_once_when_less_comes_than_fits() {
        let whole = message(40);
        let mut source = Pieces(vec![&whole[..10], &[], &whole[10..30], &whole[30..]], 0);
        let mut incoming = Incoming::new();
        for reads in 1..=3 {
            assert_eq!(incoming.receive(&mut source).unwrap(), None);
            assert_eq!(source.1, reads);
        }
        assert_eq!(incoming.receive(&mut source).unwrap(), Some(whole.as_slice()));
        assert_eq!(source.1, 4);
        incoming.clear();
        assert!(matches!(incoming.receive(&mut source), Err(ConnectionError::Closed)));
    }
}
