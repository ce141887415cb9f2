//! Why a connection can't be used any more, as operations are told.

use std::io;

use brimline_net::link::{Lost, LostKind};
use brimline_net::stream::StreamError;
use brimline_wire::connection::ConnectionError;
use brimline_wire::handshake::HandshakeError;

use crate::failure::FailureClass;

/// Why a connection can't be used any more.
pub struct Broken {
    pub class: FailureClass,
    pub message: String,
    /// Whether the next try would end the same way, and might lock an account.
    pub is_final: bool,
}

impl Broken {
    pub fn new(class: FailureClass, message: String) -> Self {
        Self { class, message, is_final: false }
    }

    pub fn bad(error: &dyn std::fmt::Display) -> Self {
        Self::new(FailureClass::BadReply, error.to_string())
    }

    pub fn no_socket() -> Self {
        Self::new(FailureClass::ConnectionLost, "the connection is down".to_owned())
    }

    pub fn other_role() -> Self {
        let message = "the server has another role in its replica set by now".to_owned();
        Self::new(FailureClass::ConnectionLost, message)
    }
}

impl From<ConnectionError> for Broken {
    fn from(error: ConnectionError) -> Self {
        let class = match error {
            ConnectionError::Stream(StreamError::Io(_) | StreamError::Closed) => FailureClass::ConnectionLost,
            _ => FailureClass::BadReply,
        };
        Self::new(class, error.to_string())
    }
}

impl From<HandshakeError> for Broken {
    fn from(error: HandshakeError) -> Self {
        let is_final = error.is_final();
        match error {
            HandshakeError::Connection(error) => error.into(),
            error => Self { is_final, ..Self::bad(&error) },
        }
    }
}

impl From<Lost> for Broken {
    fn from(Lost { kind, message }: Lost) -> Self {
        let class = match kind {
            LostKind::Closed | LostKind::Io | LostKind::Refused => FailureClass::ConnectionLost,
            LostKind::BadReply => FailureClass::BadReply,
        };
        Self { class, message, is_final: kind == LostKind::Refused }
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::new(FailureClass::ConnectionLost, error.to_string())
    }
}
