//! What the kernel says beside received bytes: when they arrived (`SO_TIMESTAMPNS`, socket(7), cmsg(3)).
//!
//! The one control message that was asked for is read here, because a general reader costs several times as much per operation.

const NANOS_PER_S: u64 = 1_000_000_000;
/// A header (length, level, type) and a time (seconds, nanoseconds), as on every 64-bit Linux.
const HEADER_BYTES: usize = 16;
const MESSAGE_BYTES: usize = HEADER_BYTES + 16;

/// Room for one control message.
#[derive(Debug, Default)]
pub(crate) struct Ancillary([u8; MESSAGE_BYTES]);

impl Ancillary {
    /// Forgets the last message, and lends the room for the next.
    #[inline]
    pub(crate) fn space(&mut self) -> &mut [u8] {
        self.0[..8].fill(0);
        &mut self.0
    }

    /// When the last bytes arrived, by the kernel's wall clock, in ns since 1970; `None`: the kernel didn't say.
    #[inline]
    pub(crate) fn arrived_unix_ns(&self) -> Option<u64> {
        let long = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| self.0[at + byte]));
        let int = |at: usize| i32::from_ne_bytes(std::array::from_fn(|byte| self.0[at + byte]));
        let is_time =
            long(0) == MESSAGE_BYTES as u64 && (int(8), int(12)) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS);
        is_time.then(|| long(16) * NANOS_PER_S + long(24))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(level: i32, kind: i32) -> Ancillary {
        let mut bytes = (MESSAGE_BYTES as u64).to_ne_bytes().to_vec();
        bytes.extend([level, kind].iter().flat_map(|field| field.to_ne_bytes()));
        bytes.extend([1_700_000_000_u64, 5].iter().flat_map(|field| field.to_ne_bytes()));
        Ancillary(bytes.try_into().unwrap())
    }

    #[test]
    fn a_time_is_read() {
        let ancillary = message(libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS);
        assert_eq!(ancillary.arrived_unix_ns(), Some(1_700_000_000_000_000_005));
    }

    #[test]
    fn other_messages_and_none_are_no_time() {
        assert_eq!(message(libc::SOL_SOCKET, libc::SCM_RIGHTS).arrived_unix_ns(), None);
        assert_eq!(message(libc::IPPROTO_TCP, libc::SCM_TIMESTAMPNS).arrived_unix_ns(), None);
        let mut earlier = message(libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS);
        earlier.space();
        assert_eq!(earlier.arrived_unix_ns(), None, "a message is read once");
    }
}
