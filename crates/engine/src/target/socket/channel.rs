//! What a socket speaks: MongoDB's protocol, whose requests the engine writes itself, or any other behind a [`Link`].

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::{fmt, io};

use brimline_net::link::{Connector, Greeting, Link};
use brimline_wire::connection::Connection;
use brimline_wire::endpoint::Endpoint;
use brimline_wire::handshake::{Handshake, Step};
use brimline_wire::hello::Hello;

use super::broken::Broken;

/// Where sockets are made to.
#[derive(Clone)]
pub enum Destination {
    /// A server that speaks MongoDB's protocol.
    Mongo(Endpoint),
    /// Any other.
    Linked(Arc<dyn Connector>),
}

/// A socket that speaks a protocol.
pub enum Channel {
    Mongo {
        connection: Connection,
        /// While the connection is being made.
        handshake: Option<Box<Handshake>>,
    },
    Linked {
        link: Box<dyn Link>,
        is_ready: bool,
    },
}

/// How far making a channel is.
pub enum Greeted {
    AwaitsRoom,
    AwaitsReply,
    /// It takes requests; what a server of MongoDB's said of itself.
    Ready(Option<Box<Hello>>),
}

impl Destination {
    /// `host:port` as it was given.
    pub fn name(&self) -> &str {
        match self {
            Self::Mongo(endpoint) => endpoint.name(),
            Self::Linked(connector) => connector.name(),
        }
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        match self {
            Self::Mongo(endpoint) => endpoint.address(),
            Self::Linked(connector) => connector.address(),
        }
    }

    /// The server, of one that speaks MongoDB's protocol.
    pub(super) fn mongo(&self) -> Option<&Endpoint> {
        match self {
            Self::Mongo(endpoint) => Some(endpoint),
            Self::Linked(_) => None,
        }
    }

    /// Starts connecting and returns at once.
    ///
    /// # Errors
    /// As [`Connector::connect`].
    pub fn connect(&self) -> io::Result<Channel> {
        match self {
            Self::Mongo(endpoint) => {
                let (connection, handshake) = endpoint.connect()?;
                Ok(Channel::Mongo { connection, handshake: Some(Box::new(handshake)) })
            }
            Self::Linked(connector) => {
                let link = connector.connect()?;
                // One without a socket gets it with its first request.
                let is_ready = link.socket().is_none();
                Ok(Channel::Linked { link, is_ready })
            }
        }
    }
}

impl fmt::Debug for Destination {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Channel {
    /// Its socket; `None` of one that makes it with the next request.
    #[inline]
    pub fn socket(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Mongo { connection, .. } => Some(connection.as_fd()),
            Self::Linked { link, .. } => link.socket(),
        }
    }

    /// Whether it takes requests.
    pub fn is_ready(&self) -> bool {
        match self {
            Self::Mongo { handshake, .. } => handshake.is_none(),
            Self::Linked { is_ready, .. } => *is_ready,
        }
    }

    /// Starts connecting anew.
    pub fn open(&mut self) -> io::Result<()> {
        match self {
            Self::Mongo { .. } => Err(io::ErrorKind::NotConnected.into()),
            Self::Linked { link, is_ready } => {
                *is_ready = false;
                link.open()
            }
        }
    }

    /// Goes on with what comes before the first request.
    #[inline(never)]
    pub fn greet(&mut self) -> Result<Greeted, Broken> {
        match self {
            Self::Mongo { connection, handshake } => {
                let under_way = handshake.as_mut().ok_or_else(Broken::no_socket)?;
                Ok(match under_way.advance(connection)? {
                    Step::AwaitsRoom => Greeted::AwaitsRoom,
                    Step::AwaitsReply => Greeted::AwaitsReply,
                    Step::Done(hello) => {
                        *handshake = None;
                        Greeted::Ready(Some(hello))
                    }
                })
            }
            Self::Linked { link, is_ready } => Ok(match link.greet()? {
                Greeting::AwaitsRoom => Greeted::AwaitsRoom,
                Greeting::AwaitsReply => Greeted::AwaitsReply,
                Greeting::Ready => {
                    *is_ready = true;
                    Greeted::Ready(None)
                }
            }),
        }
    }
}
