//! Why a connection ends before it is closed.

use std::io;

use brimline_net::stream::StreamError;
use thiserror::Error;

use crate::frame::FrameError;

/// Why a connection can't be used any more.
#[derive(Debug, Error)]
pub enum ConnectionError {
    /// The stream.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// More arrived than the one message that was asked for.
    #[error("{arrived} bytes arrived where the server declared a message of {message_bytes}")]
    Excess {
        /// Declared length of the message.
        message_bytes: usize,
        /// How many bytes arrived.
        arrived: usize,
    },
    /// A compressed message that is none.
    #[error("a compressed message is unusable: {0}")]
    Compressed(&'static str),
    /// A message of impossible length: the peer's, or the request to be sent.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

impl From<io::Error> for ConnectionError {
    fn from(error: io::Error) -> Self {
        Self::Stream(error.into())
    }
}
