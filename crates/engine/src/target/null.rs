//! Answers at once. What a run against it reaches is the generator's own ceiling: commands are encoded and recorded, but
//! nothing is sent.

use std::collections::VecDeque;
use std::io;

use super::{ConnectionIndex, Event, ReplyFacts, Target};
use crate::clock::{Clock, Nanos, thread_cpu_ns};
use crate::failure::Failure;
use crate::poller::{Ending, Poller};

/// A target without a server.
pub struct NullTarget {
    clock: Clock,
    poller: Poller,
    request: Vec<u8>,
    events: VecDeque<Event>,
}

impl NullTarget {
    /// A target with `connections` connections, all up at once, whose waits end like `ending`.
    ///
    /// # Errors
    /// When the system gives no poller.
    pub fn new(connections: usize, ending: Ending) -> io::Result<Self> {
        Ok(Self {
            clock: Clock::start(),
            poller: Poller::new(ending)?,
            request: Vec::new(),
            events: (0..connections).map(Event::Up).collect(),
        })
    }
}

impl Target for NullTarget {
    #[inline]
    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn begin(&mut self, clock: Clock) {
        self.clock = clock;
    }

    fn wait(&mut self, until: Nanos) -> io::Result<()> {
        if self.events.is_empty() {
            self.poller.wait(until.saturating_sub(self.now()))?;
        }
        Ok(())
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    #[inline]
    fn request(&mut self, _connection: ConnectionIndex) -> &mut Vec<u8> {
        self.request.clear();
        &mut self.request
    }

    #[inline]
    fn send(&mut self, connection: ConnectionIndex, _request_id: i32, documents: u32) -> Result<(), Failure> {
        let documents = u64::from(documents);
        let reply = ReplyFacts {
            failure: None,
            documents,
            n: documents,
            modified: documents,
            upserted: 0,
            cursor: 0,
            bytes: 0,
        };
        self.events.push_back(Event::Reply { connection, done: self.clock.now(), reply });
        Ok(())
    }

    fn reset(&mut self, connection: ConnectionIndex) {
        self.events.push_back(Event::Up(connection));
    }

    fn cpu_ns(&self) -> Nanos {
        thread_cpu_ns()
    }
}
