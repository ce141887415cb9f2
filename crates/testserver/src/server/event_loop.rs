//! The server's thread: accepts, reads, answers at once or when due, sends.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::{self, ErrorKind};
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::connection::{Connection, Exchange};
use super::front::{Answer, Ending, Front};
use super::poller::{Interest, Poller, Waker};
use crate::clock::Clock;

/// Name of the listener's events; connections have names from 1.
const LISTENER: u64 = 0;
/// Bytes read at once.
const READ_BYTES: usize = 64 * 1024;

/// State of the thread.
pub struct EventLoop<F: Front> {
    listener: TcpListener,
    poller: Poller,
    front: Arc<Mutex<F>>,
    clock: Clock,
    connections: HashMap<u64, Connection<F::Client>>,
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

impl<F: Front> EventLoop<F> {
    /// Prepares to serve what connects to `listener`.
    pub fn new(listener: TcpListener, front: Arc<Mutex<F>>) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let poller = Poller::new()?;
        poller.add(&listener, LISTENER, Interest::Read)?;
        let clock = lock(&front).clock();
        Ok(Self {
            listener,
            poller,
            front,
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
        let front = Arc::clone(&self.front);
        let mut names = Vec::new();
        while !self.poller.wait(self.time_to_next(), &mut names)? {
            // Held for the whole round, so that counts that are asked for include every reply that was sent.
            let mut front = lock(&front);
            self.send_due(&mut front)?;
            for &name in &names {
                if name == LISTENER {
                    self.accept(&mut front)?;
                } else {
                    self.serve(name, &mut front)?;
                }
                self.send_due(&mut front)?;
            }
        }
        Ok(())
    }

    fn time_to_next(&self) -> Option<Duration> {
        let Reverse(next) = self.pending.peek()?;
        Some(Duration::from_nanos(next.due_ns.saturating_sub(self.clock.now_ns())))
    }

    fn accept(&mut self, front: &mut F) -> io::Result<()> {
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
            let mut connection = Connection::new(stream)?;
            let (client, output) = connection.client();
            front.greet(client, output);
            self.connections_made += 1;
            self.poller.add(&connection, self.connections_made, Interest::Read)?;
            self.connections.insert(self.connections_made, connection);
            let counts = front.counts_mut();
            counts.connections_created += 1;
            counts.connections_current += 1;
            self.flush(self.connections_made, front)?;
        }
    }

    /// Reads or goes on sending, whichever the connection waits for.
    fn serve(&mut self, name: u64, front: &mut F) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&name) else {
            return Ok(());
        };
        if connection.interest == Interest::Write {
            return self.flush(name, front);
        }
        match connection.receive(&mut self.scratch) {
            Ok(0) => return Ok(()),
            Ok(count) => front.counts_mut().bytes_in += count as u64,
            Err(_) => return self.close(name, front),
        }
        let arrival_ns = self.clock.now_ns();
        loop {
            let Exchange { client, message, output } = match connection.next_message::<F>() {
                Ok(Some(exchange)) => exchange,
                Ok(None) => break,
                Err(_) => return self.close(name, front),
            };
            let start = output.len();
            let Ok(answer) = front.answer(client, message, arrival_ns, output) else {
                return self.close(name, front);
            };
            let Answer { due_ns, ending } = answer;
            if due_ns <= arrival_ns {
                connection.closing |= ending.closes();
            } else if ending != Ending::Nothing {
                let bytes = output.split_off(start);
                self.answers_made += 1;
                let closes = ending.closes();
                let pending = Pending { due_ns, number: self.answers_made, connection: name, closes, bytes };
                self.pending.push(Reverse(pending));
            }
        }
        self.flush(name, front)
    }

    /// Sends every answer that has fallen due.
    fn send_due(&mut self, front: &mut F) -> io::Result<()> {
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
                self.flush(due.connection, front)?;
            }
        }
        Ok(())
    }

    /// Sends what can be sent, and waits for what is left. Nothing more is read from a client that does not read.
    fn flush(&mut self, name: u64, front: &mut F) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&name) else {
            return Ok(());
        };
        let Ok(sent) = connection.send() else {
            return self.close(name, front);
        };
        front.counts_mut().bytes_out += sent as u64;
        if connection.is_flushed() && connection.closing {
            return self.close(name, front);
        }
        let interest = if connection.is_flushed() { Interest::Read } else { Interest::Write };
        if interest != connection.interest {
            connection.interest = interest;
            self.poller.change(connection, name, interest)?;
        }
        Ok(())
    }

    fn close(&mut self, name: u64, front: &mut F) -> io::Result<()> {
        if let Some(connection) = self.connections.remove(&name) {
            self.poller.remove(&connection)?;
            front.counts_mut().connections_current -= 1;
        }
        if self.is_full {
            self.is_full = false;
            self.poller.add(&self.listener, LISTENER, Interest::Read)?;
        }
        Ok(())
    }
}

/// The front; a panic of the server's thread leaves nothing that could be half done and matter.
pub fn lock<F: ?Sized>(front: &Mutex<F>) -> MutexGuard<'_, F> {
    front.lock().unwrap_or_else(PoisonError::into_inner)
}
