//! Owns the server's errors.

use brimline_net::link::{Lost, LostKind, Refusal, RefusalKind};

use crate::fields::Fields;

/// First byte of an error.
pub const ERROR: u8 = 0xff;
/// Errors of a login that the next try may not meet: too many connections, of the server or of the user, a server that shuts
/// down, a host name that isn't found, a network that fails.
const PASSING: [u16; 10] = [1040, 1042, 1053, 1152, 1158, 1159, 1160, 1161, 1203, 1226];

/// An error as it stands in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerError<'a> {
    pub code: u16,
    /// Empty before the server knows the client.
    pub state: &'a [u8],
    pub message: &'a [u8],
}

impl<'a> ServerError<'a> {
    /// Reads a packet that begins with [`ERROR`].
    pub fn read(payload: &'a [u8]) -> Result<Self, Lost> {
        let mut fields = Fields(payload);
        let code =
            fields.u8().and_then(|_| fields.u16()).ok_or_else(|| Lost::bad("an error without a number"))?;
        let mut state: &[u8] = b"";
        if fields.0.first() == Some(&b'#')
            && let Some(found) = fields.0.get(1..6)
        {
            state = found;
            fields.0 = &fields.0[6..];
        }
        Ok(Self { code, state, message: fields.0 })
    }

    /// The error in words, its number behind.
    pub fn words(&self) -> String {
        format!("{} ({})", String::from_utf8_lossy(self.message), self.code)
    }

    /// As what a request failed with.
    pub fn refusal(&self) -> Refusal {
        Refusal {
            kind: RefusalKind::Error,
            code: i32::from(self.code),
            label: String::from_utf8_lossy(self.state).into_owned(),
            message: String::from_utf8_lossy(self.message).into_owned(),
        }
    }

    /// As what a login failed with.
    pub fn lost(&self) -> Lost {
        let kind = if PASSING.contains(&self.code) { LostKind::Io } else { LostKind::Refused };
        Lost { kind, message: self.words() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_with_and_without_a_state() {
        let error = ServerError::read(b"\xff\xbd\x04#40001Deadlock found").unwrap();
        let refusal = error.refusal();
        assert_eq!((refusal.code, refusal.label.as_str()), (1213, "40001"));
        assert_eq!(error.words(), "Deadlock found (1213)");
        let early = ServerError::read(b"\xff\x10\x04Too many connections").unwrap();
        assert_eq!((early.code, early.state, early.lost().kind), (1040, b"".as_slice(), LostKind::Io));
        let denied = ServerError::read(b"\xff\x15\x04#28000Access denied").unwrap();
        assert_eq!(denied.lost(), Lost::refused("Access denied (1045)"));
        assert!(ServerError::read(b"\xff\x15").is_err());
    }
}
