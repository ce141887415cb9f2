//! Owns the server's errors.

use brimline_net::link::{Lost, LostKind, Refusal, RefusalKind};

use crate::fields::Fields;

/// SQLSTATEs of a login that the next try may not meet: a class of resources that are used up, and of a server that starts or stops.
const PASSING: [&[u8]; 2] = [b"53", b"57P"];

/// An error as it stands in a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerError<'a> {
    /// Its SQLSTATE.
    pub state: &'a [u8],
    message: &'a [u8],
    detail: &'a [u8],
}

impl<'a> ServerError<'a> {
    /// Reads the body of an error.
    pub fn read(body: &'a [u8]) -> Result<Self, Lost> {
        let mut fields = Fields(body);
        let mut error = Self::default();
        loop {
            let kind = fields.u8().ok_or_else(cut)?;
            if kind == 0 {
                return Ok(error);
            }
            let text = fields.text().ok_or_else(cut)?;
            match kind {
                b'C' => error.state = text,
                b'M' => error.message = text,
                b'D' => error.detail = text,
                _ => {}
            }
        }
    }

    fn message(&self) -> String {
        let message = String::from_utf8_lossy(self.message);
        if self.detail.is_empty() {
            return message.into_owned();
        }
        format!("{message}: {}", String::from_utf8_lossy(self.detail))
    }

    /// The error in words, its SQLSTATE behind.
    pub fn words(&self) -> String {
        format!("{} ({})", self.message(), String::from_utf8_lossy(self.state))
    }

    /// As what a request failed with. A SQLSTATE of digits alone is its code as well.
    pub fn refusal(&self) -> Refusal {
        let label = String::from_utf8_lossy(self.state).into_owned();
        Refusal { kind: RefusalKind::Error, code: label.parse().unwrap_or(0), label, message: self.message() }
    }

    /// As what a login failed with.
    pub fn lost(&self) -> Lost {
        let is_passing = PASSING.iter().any(|class| self.state.starts_with(class));
        let kind = if is_passing { LostKind::Io } else { LostKind::Refused };
        Lost { kind, message: self.words() }
    }
}

fn cut() -> Lost {
    Lost::bad("an error that is cut")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_a_state_and_words() {
        let error =
            ServerError::read(b"SERROR\0C23505\0Mduplicate key\0DKey (id)=(1) already exists.\0\0").unwrap();
        let refusal = error.refusal();
        assert_eq!((refusal.code, refusal.label.as_str()), (23_505, "23505"));
        assert_eq!(refusal.message, "duplicate key: Key (id)=(1) already exists.");
        let deadlock = ServerError::read(b"C40P01\0Mdeadlock detected\0\0").unwrap();
        assert_eq!((deadlock.refusal().code, deadlock.words().as_str()), (0, "deadlock detected (40P01)"));
        let full = ServerError::read(b"SFATAL\0C53300\0Msorry, too many clients already\0\0").unwrap();
        assert_eq!(full.lost().kind, LostKind::Io);
        let denied = ServerError::read(b"C28P01\0Mpassword authentication failed\0\0").unwrap();
        assert_eq!(denied.lost(), Lost::refused("password authentication failed (28P01)"));
        for body in [b"".as_slice(), b"C", b"C23505", b"C23505\0"] {
            assert!(ServerError::read(body).is_err());
        }
    }
}
