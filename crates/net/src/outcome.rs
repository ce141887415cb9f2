//! What sending and receiving come to: how far they got, or why a connection is of no use any more.

use std::io;

use thiserror::Error;

/// How much of what has arrived is a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many bytes are a whole one.
    Whole(usize),
    /// It needs more bytes than are there.
    More {
        /// How many it has in all, as far as that is known.
        bytes_at_least: usize,
    },
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// Bytes, and there may be more.
    Bytes,
    /// Bytes, and no more of them yet.
    Last,
    /// Nothing yet.
    Nothing,
    /// The peer has closed.
    End,
}

/// How far sending came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendState {
    /// The socket has the whole request.
    Done,
    /// The socket is full: call again when it is writable.
    Blocked,
}

/// Why a connection can't be used any more.
#[derive(Debug, Error)]
pub enum StreamError {
    /// The peer closed it, with no part of a message sent.
    #[error("connection closed by the server")]
    Closed,
    /// The peer closed it in the middle of a message.
    #[error("connection closed by the server after {arrived} bytes of a message")]
    Truncated {
        /// How many bytes of the message had arrived.
        arrived: usize,
    },
    /// The socket.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl StreamError {
    /// The peer closed when so many bytes of a message had arrived.
    pub fn ended(arrived: usize) -> Self {
        if arrived == 0 { Self::Closed } else { Self::Truncated { arrived } }
    }
}
