//! A protocol on real sockets and real time: one thread, many connections, each answer sent when it is due.

mod connection;
mod event_loop;
pub mod front;
mod poller;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::{fmt, io};

use crate::commands::Backend;
use crate::counts::Counts;
use crate::http::HttpFront;
use crate::mysql::MysqlFront;
use crate::script::Script;
use event_loop::{EventLoop, lock};
use front::Front;
use poller::Waker;

/// What a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// MongoDB's wire protocol.
    #[default]
    Mongodb,
    /// HTTP/1.1.
    Http,
    /// MySQL's.
    Mysql,
}

impl Protocol {
    /// All of them, with their names.
    const NAMES: [(&str, Self); 3] =
        [("mongodb", Self::Mongodb), ("http", Self::Http), ("mysql", Self::Mysql)];

    /// The protocol of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(each, _)| *each == name).map(|&(_, protocol)| protocol)
    }
}

/// A running server on 127.0.0.1. Dropping it closes every connection and ends its thread.
pub struct Server {
    address: SocketAddr,
    counted: Arc<Mutex<dyn Counted>>,
    waker: Waker,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Server {
    /// Starts on a free port, with MongoDB's protocol.
    ///
    /// # Errors
    /// When the script is not valid (`InvalidInput`), or no socket or thread can be had.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_on(script, Protocol::default(), 0)
    }

    /// Starts on `port`, or on a free one if it is 0.
    ///
    /// # Errors
    /// As [`Self::start`], and when the port is in use.
    pub fn start_on(script: Script, protocol: Protocol, port: u16) -> io::Result<Self> {
        script.validate().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        match protocol {
            Protocol::Mongodb => Self::serve(Backend::new(script), port),
            Protocol::Http => Self::serve(HttpFront::new(&script), port),
            Protocol::Mysql => Self::serve(MysqlFront::new(&script), port),
        }
    }

    fn serve<F: Front>(front: F, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let front = Arc::new(Mutex::new(front));
        let mut event_loop = EventLoop::new(listener, Arc::clone(&front))?;
        let waker = event_loop.waker();
        let thread = std::thread::Builder::new().name("testserver".to_owned()).spawn(move || {
            poller::sharpen_timers()?;
            event_loop.run()
        })?;
        Ok(Self { address, counted: front, waker, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has seen; includes every request whose reply was received.
    pub fn counts(&self) -> Counts {
        lock(&self.counted).counted()
    }

    /// Closes every connection and ends the thread.
    ///
    /// # Errors
    /// What had already ended the thread.
    pub fn stop(mut self) -> io::Result<()> {
        self.join()
    }

    fn join(&mut self) -> io::Result<()> {
        self.waker.wake();
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(_)) => Err(io::Error::other("the test server's thread panicked")),
            Some(Ok(result)) => result,
            None => Ok(()),
        }
    }
}

/// A front, whichever it is, that is asked what it has seen.
trait Counted: Send {
    fn counted(&self) -> Counts;
}

impl<F: Front> Counted for F {
    fn counted(&self) -> Counts {
        self.counts().clone()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error has nowhere to go from here; `stop` reports it.
        let _ = self.join();
    }
}
