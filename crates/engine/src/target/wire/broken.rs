//! Why a connection can't be used any more, as operations are told.

use std::io;

use brimline_net::stream::StreamError;
use brimline_wire::connection::ConnectionError;
use brimline_wire::handshake::HandshakeError;

use crate::failure::FailureClass;

/// Why a connection can't be used any more.
pub(super) struct Broken {
    pub class: FailureClass,
    pub message: String,
}

impl Broken {
    pub fn bad(error: &dyn std::fmt::Display) -> Self {
        Self { class: FailureClass::BadReply, message: error.to_string() }
    }

    pub fn no_socket() -> Self {
        Self { class: FailureClass::ConnectionLost, message: "the connection is down".to_owned() }
    }

    pub fn other_role() -> Self {
        let message = "the server has another role in its replica set by now".to_owned();
        Self { class: FailureClass::ConnectionLost, message }
    }
}

impl From<ConnectionError> for Broken {
    fn from(error: ConnectionError) -> Self {
        let class = match error {
            ConnectionError::Stream(StreamError::Io(_) | StreamError::Closed) => FailureClass::ConnectionLost,
            _ => FailureClass::BadReply,
        };
        Self { class, message: error.to_string() }
    }
}

impl From<HandshakeError> for Broken {
    fn from(error: HandshakeError) -> Self {
        match error {
            HandshakeError::Connection(error) => error.into(),
            error => Self::bad(&error),
        }
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self { class: FailureClass::ConnectionLost, message: error.to_string() }
    }
}
