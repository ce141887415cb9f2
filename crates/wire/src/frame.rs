//! The 16 bytes in front of every message, and the bounds of a message.

use thiserror::Error;

/// Length of a message header.
pub const HEADER_BYTES: usize = 16;
/// Opcode of `OP_MSG`, the only kind of message since server version 5.1, apart from compressed ones.
pub const OP_MSG: i32 = 2013;
/// Opcode of `OP_COMPRESSED`, which holds another message.
pub const OP_COMPRESSED: i32 = 2012;
/// Longest message, header included: what every server announces as `maxMessageSizeBytes`.
pub const MESSAGE_BYTES_MAX: usize = 48_000_000;

/// Header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Length of the whole message, header included: [`HEADER_BYTES`] to [`MESSAGE_BYTES_MAX`].
    pub message_bytes: usize,
    /// The sender's number of this message.
    pub request_id: i32,
    /// In a reply, the `request_id` it answers; else 0.
    pub response_to: i32,
    /// Kind of message.
    pub opcode: i32,
}

/// Why bytes are no message header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// There are fewer than [`HEADER_BYTES`] bytes.
    #[error("message ends inside its header")]
    Truncated,
    /// A length that no message has.
    #[error("message length {0} is outside {HEADER_BYTES} to {MESSAGE_BYTES_MAX} bytes")]
    Length(i64),
}

impl Header {
    /// Reads the header that `bytes` begin with; what follows it is ignored.
    ///
    /// # Errors
    /// When there are too few bytes, or when the declared length is impossible.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        let bytes = bytes.first_chunk::<HEADER_BYTES>().ok_or(FrameError::Truncated)?;
        let field = |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let length = field(0);
        match usize::try_from(length) {
            Ok(message_bytes @ HEADER_BYTES..=MESSAGE_BYTES_MAX) => {
                Ok(Self { message_bytes, request_id: field(4), response_to: field(8), opcode: field(12) })
            }
            _ => Err(FrameError::Length(i64::from(length))),
        }
    }

    /// The header's bytes.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..4].copy_from_slice(&(self.message_bytes as u32).to_le_bytes());
        bytes[4..8].copy_from_slice(&self.request_id.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.response_to.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.opcode.to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_four_little_endian_integers() {
        let header =
            Header { message_bytes: 0x0102_0304 & 0xff_ffff, request_id: 7, response_to: -2, opcode: OP_MSG };
        let bytes = header.encode();
        assert_eq!(bytes, *b"\x04\x03\x02\x00\x07\0\0\0\xfe\xff\xff\xff\xdd\x07\0\0");
        assert_eq!(Header::decode(&bytes), Ok(header));
    }

    #[test]
    fn the_bounds_of_a_length_are_exact() {
        let decode = |length: i32| {
            let mut bytes = [0; HEADER_BYTES + 1];
            bytes[..4].copy_from_slice(&length.to_le_bytes());
            Header::decode(&bytes).map(|header| header.message_bytes)
        };
        assert_eq!(decode(16), Ok(16));
        assert_eq!(decode(48_000_000), Ok(MESSAGE_BYTES_MAX));
        for impossible in [15, 0, -1, i32::MIN, 48_000_001, i32::MAX] {
            assert_eq!(decode(impossible), Err(FrameError::Length(i64::from(impossible))));
        }
    }

    #[test]
    fn fewer_bytes_than_a_header_are_truncated() {
        assert_eq!(Header::decode(&[16; HEADER_BYTES - 1]), Err(FrameError::Truncated));
    }
}
