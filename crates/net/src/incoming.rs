//! The receiving buffer of a connection: puts one message together from whatever pieces arrive.

use std::io::{ErrorKind, Read};

use crate::outcome::{Extent, Filled, StreamError};

/// A buffer up to this size is never given back; a larger one is, once messages need less than a quarter of it.
pub const BUFFER_BYTES_KEPT: usize = 256 * 1024;
/// What a receiving buffer starts with; enough for the replies of most operations.
const BUFFER_BYTES_START: usize = 4 * 1024;
/// What a buffer grows to whose content is taken piece by piece.
const BUFFER_BYTES_OF_PIECES: usize = 32 * 1024;

/// Grows only when it is full, and then at most to twice its size: a peer that announces a long message has to send it.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// Initialised bytes; `bytes[taken..filled]` have arrived and are still looked at.
    bytes: Vec<u8>,
    taken: usize,
    filled: usize,
}

impl Incoming {
    pub(crate) fn new() -> Self {
        Self { bytes: vec![0; BUFFER_BYTES_START], taken: 0, filled: 0 }
    }

    /// Forgets the message, and gives memory back when the buffer is large and the message was not.
    pub(crate) fn clear(&mut self) {
        if self.bytes.len() > BUFFER_BYTES_KEPT && self.filled < self.bytes.len() / 4 {
            self.bytes = vec![0; BUFFER_BYTES_START];
        }
        (self.taken, self.filled) = (0, 0);
    }

    /// What has arrived and was not taken.
    #[inline]
    pub(crate) fn arrived(&self) -> &[u8] {
        &self.bytes[self.taken..self.filled]
    }

    /// Is done with the first `bytes` of what has arrived. A buffer that was full grows, so that long replies take fewer reads.
    pub(crate) fn take(&mut self, bytes: usize) {
        if self.filled == self.bytes.len() && self.filled < BUFFER_BYTES_OF_PIECES {
            self.bytes.resize(2 * self.filled, 0);
        }
        self.taken = (self.taken + bytes).min(self.filled);
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
        }
    }

    /// Makes sure that there is space for more, of a message that has at least so many bytes.
    #[inline]
    fn make_space(&mut self, bytes_at_least: usize) {
        if self.filled == self.bytes.len() {
            self.grow(bytes_at_least);
        }
    }

    #[cold]
    fn grow(&mut self, bytes_at_least: usize) {
        if self.taken > 0 {
            self.bytes.copy_within(self.taken..self.filled, 0);
            self.filled -= self.taken;
            self.taken = 0;
            // Half a buffer of space is worth the copying.
            if self.filled <= self.bytes.len() / 2 {
                return;
            }
        }
        let grown = bytes_at_least.clamp(self.filled + 1, 2 * self.bytes.len());
        self.bytes.reserve_exact(grown - self.bytes.len());
        self.bytes.resize(grown, 0);
    }

    /// Reads once, of a message that has at least so many bytes.
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        source: &mut impl Read,
        bytes_at_least: usize,
    ) -> Result<Filled, StreamError> {
        self.make_space(bytes_at_least);
        loop {
            let space = &mut self.bytes[self.filled..];
            match source.read(space) {
                Ok(0) => return Ok(Filled::End),
                Ok(arrived) => {
                    // Less than asked for: asking again would cost a system call to hear "not now".
                    let is_drained = arrived < space.len();
                    self.filled += arrived;
                    return Ok(if is_drained { Filled::Last } else { Filled::Bytes });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Filled::Nothing),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads until a message is whole or `source` has no more for now; how long the message is.
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    pub(crate) fn receive<E: From<StreamError>>(
        &mut self,
        source: &mut impl Read,
        mut extent: impl FnMut(&[u8]) -> Result<Extent, E>,
    ) -> Result<Option<usize>, E> {
        let mut is_drained = false;
        loop {
            let bytes_at_least = match extent(self.arrived())? {
                Extent::Whole(bytes) => return Ok(Some(bytes)),
                Extent::More { bytes_at_least } => bytes_at_least,
            };
            if is_drained {
                return Ok(None);
            }
            match self.fill(source, bytes_at_least)? {
                Filled::Bytes => {}
                Filled::Last => is_drained = true,
                Filled::Nothing => return Ok(None),
                Filled::End => return Err(StreamError::ended(self.filled).into()),
            }
        }
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

    fn extent(bytes: &[u8]) -> Extent {
        let Some(length) = bytes.first_chunk::<4>() else { return Extent::More { bytes_at_least: 16 } };
        let length = u32::from_le_bytes(*length) as usize;
        if bytes.len() < length { Extent::More { bytes_at_least: length } } else { Extent::Whole(length) }
    }

    fn receive(incoming: &mut Incoming, source: &mut impl Read) -> Result<Option<Vec<u8>>, StreamError> {
        let whole = incoming.receive(source, |bytes| Ok::<_, StreamError>(extent(bytes)))?;
        Ok(whole.map(|bytes| incoming.arrived()[..bytes].to_vec()))
    }

    #[test]
    fn the_buffer_is_given_back_after_a_giant_message() {
        let mut incoming = Incoming::new();
        let (giant, small) = (message(3_000_000), message(100));
        assert_eq!(receive(&mut incoming, &mut giant.as_slice()).unwrap(), Some(giant));
        incoming.clear();
        assert_eq!(receive(&mut incoming, &mut small.as_slice()).unwrap(), Some(small));
        assert_eq!(incoming.bytes.len(), 3_000_000, "another giant may follow at once");
        incoming.clear();
        assert_eq!(incoming.bytes.len(), BUFFER_BYTES_START);
    }

    #[test]
    fn a_buffer_of_ordinary_size_is_kept() {
        let mut incoming = Incoming::new();
        for length in [200_000, 100, 100] {
            receive(&mut incoming, &mut message(length).as_slice()).unwrap();
            incoming.clear();
        }
        assert_eq!(incoming.bytes.len(), 200_000);
    }

    /// A reply of many parts that are taken one by one needs no more memory than pieces are read in.
    #[test]
    fn what_was_taken_makes_space() {
        let parts: Vec<u8> = (0..1_000).flat_map(|_| message(1_000)).collect();
        let (mut incoming, mut source) = (Incoming::new(), parts.as_slice());
        for _ in 0..1_000 {
            assert_eq!(receive(&mut incoming, &mut source).unwrap(), Some(message(1_000)));
            incoming.take(1_000);
        }
        assert_eq!((incoming.bytes.len(), incoming.arrived()), (BUFFER_BYTES_OF_PIECES, [].as_slice()));
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
            assert_eq!(receive(&mut incoming, &mut source).unwrap(), None);
            assert_eq!(source.1, reads);
        }
        assert_eq!(receive(&mut incoming, &mut source).unwrap(), Some(whole.clone()));
        assert_eq!(source.1, 4);
        incoming.clear();
        assert!(matches!(receive(&mut incoming, &mut source), Err(StreamError::Closed)));
        let mut cut = Pieces(vec![&whole[..10]], 0);
        assert_eq!(receive(&mut incoming, &mut cut).unwrap(), None);
        assert!(matches!(receive(&mut incoming, &mut cut), Err(StreamError::Truncated { arrived: 10 })));
    }
}
