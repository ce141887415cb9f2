//! The backend on real sockets and real time: one thread, many connections, each answer sent when it is due.

mod connection;
mod event_loop;
mod poller;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::commands::{Backend, Counts};
use crate::script::Script;
use event_loop::{EventLoop, lock};
use poller::Waker;

/// A running server on 127.0.0.1. Dropping it closes every connection and ends its thread.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    backend: Arc<Mutex<Backend>>,
    waker: Waker,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Server {
    /// Starts on a free port.
    ///
    /// # Errors
    /// When the script is not valid (`InvalidInput`), or no socket or thread can be had.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_on(script, 0)
    }

    /// Starts on `port`, or on a free one if it is 0.
    ///
    /// # Errors
    /// As [`Self::start`], and when the port is in use.
    pub fn start_on(script: Script, port: u16) -> io::Result<Self> {
        script.validate().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let backend = Arc::new(Mutex::new(Backend::new(script)));
        let mut event_loop = EventLoop::new(listener, Arc::clone(&backend))?;
        let waker = event_loop.waker();
        let thread = std::thread::Builder::new().name("testserver".to_owned()).spawn(move || {
            poller::sharpen_timers()?;
            event_loop.run()
        })?;
        Ok(Self { address, backend, waker, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has seen; includes every request whose reply was received.
    pub fn counts(&self) -> Counts {
        lock(&self.backend).counts.clone()
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

impl Drop for Server {
    fn drop(&mut self) {
        // An error has nowhere to go from here; `stop` reports it.
        let _ = self.join();
    }
}
