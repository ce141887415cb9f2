//! The server's thread: accepts, reads, answers at once or when due, sends.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::{self, ErrorKind};
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::connection::{Connection, Exchange};
use super::poller::{Interest, Poller, Waker};
use crate::clock::Clock;
use crate::commands::{Answer, Backend, Ending};

/// Name of the listener's events; connections have names from 1.
const LISTENER: u64 = 0;
/// Bytes read at once.
const READ_BYTES: usize = 64 * 1024;

/// State of the thread.
pub struct EventLoop {
    listener: TcpListener,
    poller: Poller,
    backend: Arc<Mutex<Backend>>,
    clock: Clock,
    connections: HashMap<u64, Connection>,
    connections_made: u64,
    /// Whether connections wait for another to be closed, because no more descriptors can be had.
    is_full: bool,
    pending: BinaryHeap<Reverse<Pending>>,
    answers_made: u64,
    scratch: Vec<u8>,
}

/// An answer that is not due yet. Ordered by its due time; answers of the same time in the order they were made.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pending {
    due_ns: u64,
    number: u64,
    connection: u64,
    closes: bool,
    bytes: Vec<u8>,
}

impl EventLoop {
    /// Prepares to serve what connects to `listener`.
    pub fn new(listener: TcpListener, backend: Arc<Mutex<Backend>>) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let poller = Poller::new()?;
        poller.add(&listener, LISTENER, Interest::Read)?;
        let clock = lock(&backend).clock;
        Ok(Self {
            listener,
            poller,
            backend,
            clock,
            connections: HashMap::new(),
            connections_made: 0,
            is_full: false,
            pending: BinaryHeap::new(),
            answers_made: 0,
            scratch: vec![0; READ_BYTES],
        })
    }

    /// Ends `run`.
    pub fn waker(&self) -> Waker {
        self.poller.waker()
    }

    /// Serves until the waker is used.
    pub fn run(&mut self) -> io::Result<()> {
        let backend = Arc::clone(&self.backend);
        let mut names = Vec::new();
        while !self.poller.wait(self.time_to_next(), &mut names)? {
            // Held for the whole round, so that counts that are asked for include every reply that was sent.
            let mut backend = lock(&backend);
            self.send_due(&mut backend)?;
            for &name in &names {
                if name == LISTENER {
                    self.accept(&mut backend)?;
                } else {
                    self.serve(name, &mut backend)?;
                }
                self.send_due(&mut backend)?;
            }
        }
        Ok(())
    }

    fn time_to_next(&self) -> Option<Duration> {
        let Reverse(next) = self.pending.peek()?;
        Some(Duration::from_nanos(next.due_ns.saturating_sub(self.clock.now_ns())))
    }

    fn accept(&mut self, backend: &mut Backend) -> io::Result<()> {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return Ok(()),
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => continue,
                    _ => {
                        self.is_full = true;
                        return self.poller.remove(&self.listener);
                    }
                },
            };
            let connection = Connection::new(stream)?;
            self.connections_made += 1;
            self.poller.add(&connection, self.connections_made, Interest::Read)?;
            self.connections.insert(self.connections_made, connection);
            backend.counts.connections_created += 1;
            backend.counts.connections_current += 1;
        }
    }

    /// Reads or goes on sending, whichever the connection waits for.
    fn serve(&mut self, name: u64, backend: &mut Backend) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&name) else {
            return Ok(());
        };
        if connection.interest == Interest::Write {
            return self.flush(name, backend);
        }
        match connection.receive(&mut self.scratch) {
            Ok(0) => return Ok(()),
            Ok(count) => backend.counts.bytes_in += count as u64,
            Err(_) => return self.close(name, backend),
        }
        let arrival_ns = self.clock.now_ns();
        loop {
            let Exchange { message, output } = match connection.next_message() {
                Ok(Some(exchange)) => exchange,
                Ok(None) => break,
                Err(_) => return self.close(name, backend),
            };
            let start = output.len();
            let Ok(answer) = backend.answer(message, arrival_ns, output) else {
                return self.close(name, backend);
            };
            let Answer { due_ns, ending } = answer;
            if due_ns <= arrival_ns {
                connection.closing |= ending == Ending::Close;
            } else if ending != Ending::Nothing {
                let bytes = output.split_off(start);
                self.answers_made += 1;
                let closes = ending == Ending::Close;
                let pending = Pending { due_ns, number: self.answers_made, connection: name, closes, bytes };
                self.pending.push(Reverse(pending));
            }
        }
        self.flush(name, backend)
    }

    /// Sends every answer that has fallen due.
    fn send_due(&mut self, backend: &mut Backend) -> io::Result<()> {
        while let Some(Reverse(next)) = self.pending.peek() {
            if next.due_ns > self.clock.now_ns() {
                break;
            }
            let Some(Reverse(due)) = self.pending.pop() else {
                break;
            };
            // The client may have gone away meanwhile.
            if let Some(connection) = self.connections.get_mut(&due.connection) {
                connection.output.extend_from_slice(&due.bytes);
                connection.closing |= due.closes;
                self.flush(due.connection, backend)?;
            }
        }
        Ok(())
    }

    /// Sends what can be sent, and waits for what is left. Nothing more is read from a client that does not read.
    fn flush(&mut self, name: u64, backend: &mut Backend) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&name) else {
            return Ok(());
        };
        let Ok(sent) = connection.send() else {
            return self.close(name, backend);
        };
        backend.counts.bytes_out += sent as u64;
        if connection.is_flushed() && connection.closing {
            return self.close(name, backend);
        }
        let interest = if connection.is_flushed() { Interest::Read } else { Interest::Write };
        if interest != connection.interest {
            connection.interest = interest;
            self.poller.change(connection, name, interest)?;
        }
        Ok(())
    }

    fn close(&mut self, name: u64, backend: &mut Backend) -> io::Result<()> {
        if let Some(connection) = self.connections.remove(&name) {
            self.poller.remove(&connection)?;
            backend.counts.connections_current -= 1;
        }
        if self.is_full {
            self.is_full = false;
            self.poller.add(&self.listener, LISTENER, Interest::Read)?;
        }
        Ok(())
    }
}

/// The backend; a panic of the server's thread leaves nothing that could be half done and matter.
pub fn lock(backend: &Mutex<Backend>) -> MutexGuard<'_, Backend> {
    backend.lock().unwrap_or_else(PoisonError::into_inner)
}
