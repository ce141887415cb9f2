//! A server that speaks MongoDB's protocol: one socket per connection, all of a worker's sockets in one epoll instance, a
//! handshake before the first request, a new connection for each that breaks. Where reads go to other servers than writes a
//! connection is a pair of sockets, one for each.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;

use brimline_wire::connection::{Connection, ConnectionError, Received, SendState};
use brimline_wire::endpoint::Endpoint;
use brimline_wire::handshake::{Handshake, HandshakeError, Step};
use brimline_wire::reply::{self, Reply, WriteError};

use super::{ConnectionIndex, Event, ReplyFacts, Target};
use crate::arrivals::Arrivals;
use crate::clock::{Clock, NANOS_PER_S, Nanos, thread_cpu_ns};
use crate::failure::{CommandFailure, FAILURES_DISTINCT_MAX, Failure, FailureClass};
use crate::poller::{Ending, Interest, Poller};

/// How long a connection that broke, or could not be made, rests before the next try.
const RECONNECT_AFTER_NS: Nanos = NANOS_PER_S / 10;

/// Where requests go: connection *i* goes to server *i* modulo their number.
#[derive(Clone, Debug)]
pub struct Routes {
    /// Servers that take writes, at least one.
    pub writes: Vec<Endpoint>,
    /// Servers that take reads; empty: those that take writes.
    pub reads: Vec<Endpoint>,
}

/// Servers behind their addresses.
pub struct WireTarget {
    clock: Clock,
    arrivals: Arrivals,
    poller: Poller,
    /// One lane per connection for writes, or for everything; then, where reads have servers of their own, one per connection
    /// for reads, in the same order.
    lanes: Vec<Lane>,
    connections: usize,
    /// Whether the current request of a connection is a read; empty where that makes no difference.
    is_reading: Vec<bool>,
    are_all_here: bool,
    /// Lanes that are down and when each is tried again, earliest first.
    resting: Vec<(Nanos, LaneIndex)>,
    /// Events that did not come from a socket.
    events: Vec<Event>,
    /// Where requests are rendered while a lane has no socket.
    spare: Vec<u8>,
}

/// Index of a lane within its worker.
type LaneIndex = usize;

/// One socket through all its lives.
struct Lane {
    endpoint: Endpoint,
    state: LaneState,
    connection: Option<Connection>,
    /// While the connection is being made.
    handshake: Option<Box<Handshake>>,
    awaited: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneState {
    Down,
    /// It is being made, and waits for room to write.
    Opening,
    /// It is being made, and waits for an answer.
    Greeting,
    Idle,
    Sending,
    Waiting,
}

/// From how many processors on a generator may look at the clock although the server is on the same machine.
const SPARE_PROCESSORS: usize = 4;

/// A generator that shares a small machine with the server would take from the server what it spends on being punctual.
fn ending(are_all_here: bool) -> Ending {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let has_room = !are_all_here || processors >= SPARE_PROCESSORS;
    if has_room { Ending::ByClock } else { Ending::ByTimer }
}

impl WireTarget {
    /// Starts connecting; each connection reports when it is up. `first` is the number of the first of them among those of
    /// all workers.
    ///
    /// # Errors
    /// When the system gives no poller.
    pub fn new(routes: &Routes, first: usize, connections: usize) -> io::Result<Self> {
        let are_all_here =
            routes.writes.iter().chain(&routes.reads).all(|endpoint| endpoint.address().ip().is_loopback());
        let mut target = Self {
            clock: Clock::start(),
            arrivals: Arrivals::default(),
            poller: Poller::new(ending(are_all_here))?,
            lanes: Vec::new(),
            connections,
            is_reading: if routes.reads.is_empty() { Vec::new() } else { vec![false; connections] },
            are_all_here,
            resting: Vec::new(),
            events: Vec::new(),
            spare: Vec::new(),
        };
        for endpoints in [&routes.writes, &routes.reads] {
            let endpoints = endpoints.iter().cycle().skip(first % endpoints.len().max(1)).take(connections);
            target.lanes.extend(endpoints.map(|endpoint| Lane {
                endpoint: endpoint.clone(),
                state: LaneState::Down,
                connection: None,
                handshake: None,
                awaited: 0,
            }));
        }
        for lane in 0..target.lanes.len() {
            target.open(lane);
        }
        Ok(target)
    }

    /// The connection that a lane belongs to.
    #[inline]
    fn connection_of(&self, lane: LaneIndex) -> ConnectionIndex {
        if lane < self.connections { lane } else { lane - self.connections }
    }

    /// The lane of the current request of a connection.
    #[inline]
    fn lane_of(&self, connection: ConnectionIndex) -> LaneIndex {
        if self.is_reading.get(connection) == Some(&true) {
            connection + self.connections
        } else {
            connection
        }
    }

    /// The other lane of a pair.
    fn mate(&self, lane: LaneIndex) -> Option<LaneIndex> {
        if self.is_reading.is_empty() {
            return None;
        }
        Some(if lane < self.connections { lane + self.connections } else { lane - self.connections })
    }

    fn open(&mut self, index: LaneIndex) {
        let opened = self.lanes[index].endpoint.connect().and_then(|(connection, handshake)| {
            self.poller.add(connection.as_fd(), index as u32, Interest::Writable)?;
            Ok((connection, handshake))
        });
        match opened {
            Ok((connection, handshake)) => {
                let lane = &mut self.lanes[index];
                lane.connection = Some(connection);
                lane.handshake = Some(Box::new(handshake));
                lane.state = LaneState::Opening;
            }
            Err(error) => {
                let broken = Broken { class: FailureClass::ConnectionLost, message: error.to_string() };
                let down = self.lost(index, &broken);
                self.events.push(down);
            }
        }
    }

    /// A socket broke, and with it its connection. An operation that is under way on the other socket of the pair is given up:
    /// a connection is up as a whole or not at all.
    fn lost(&mut self, index: LaneIndex, Broken { class, message }: &Broken) -> Event {
        let failure = self.close(index, *class, message);
        if let Some(mate) = self.mate(index)
            && matches!(self.lanes[mate].state, LaneState::Sending | LaneState::Waiting)
        {
            self.close(mate, *class, message);
        }
        Event::Down(self.connection_of(index), failure)
    }

    /// Drops the socket, which also ends its being watched, and schedules the next try.
    fn close(&mut self, index: LaneIndex, class: FailureClass, message: &str) -> Failure {
        let lane = &mut self.lanes[index];
        lane.connection = None;
        lane.handshake = None;
        lane.state = LaneState::Down;
        self.resting.push((self.clock.now() + RECONNECT_AFTER_NS, index));
        Failure::new(class, message)
    }

    fn reopen_rested(&mut self) {
        let now = self.clock.now();
        while let Some(&(at, index)) = self.resting.first() {
            if at > now {
                return;
            }
            self.resting.remove(0);
            self.open(index);
        }
    }

    /// Follows what a ready socket has to say.
    fn advance(&mut self, index: LaneIndex) -> Option<Event> {
        let outcome = match self.lanes[index].state {
            LaneState::Down | LaneState::Idle if self.lanes[index].connection.is_none() => return None,
            LaneState::Sending => self.transmit(index).map(|()| None),
            LaneState::Opening | LaneState::Greeting => self.shake_hands(index),
            LaneState::Down | LaneState::Idle | LaneState::Waiting => self.take_reply(index),
        };
        match outcome {
            Ok(event) => event,
            Err(broken) => Some(self.lost(index, &broken)),
        }
    }

    /// Sends what the connection's buffer holds.
    fn transmit(&mut self, index: LaneIndex) -> Result<(), Broken> {
        let lane = &mut self.lanes[index];
        let was_watched_for_room = lane.state == LaneState::Sending;
        let connection = lane.connection.as_mut().ok_or_else(Broken::no_socket)?;
        let needs_room = connection.send()? == SendState::Blocked;
        if needs_room != was_watched_for_room {
            let interest = if needs_room { Interest::Writable } else { Interest::Readable };
            self.poller.modify(connection.as_fd(), index as u32, interest)?;
        }
        lane.state = if needs_room { LaneState::Sending } else { LaneState::Waiting };
        Ok(())
    }

    /// Follows the handshake; once it is done, on both sockets of a pair, the connection is up.
    fn shake_hands(&mut self, index: LaneIndex) -> Result<Option<Event>, Broken> {
        let lane = &mut self.lanes[index];
        let (Some(connection), Some(handshake)) = (&mut lane.connection, &mut lane.handshake) else {
            return Err(Broken::no_socket());
        };
        let (state, interest) = match handshake.advance(connection)? {
            Step::AwaitsRoom => (LaneState::Opening, Interest::Writable),
            Step::AwaitsReply => (LaneState::Greeting, Interest::Readable),
            Step::Done(_) => (LaneState::Idle, Interest::Readable),
        };
        if (state == LaneState::Opening) != (lane.state == LaneState::Opening) {
            self.poller.modify(connection.as_fd(), index as u32, interest)?;
        }
        lane.state = state;
        if state != LaneState::Idle {
            return Ok(None);
        }
        lane.handshake = None;
        let is_whole = self.mate(index).is_none_or(|mate| self.lanes[mate].state == LaneState::Idle);
        Ok(is_whole.then(|| Event::Up(self.connection_of(index))))
    }

    fn take_reply(&mut self, index: LaneIndex) -> Result<Option<Event>, Broken> {
        let clock = self.clock;
        let lane = &mut self.lanes[index];
        let (awaited, waiting) = (lane.awaited, lane.state == LaneState::Waiting);
        let Some(Received { message, arrived_unix_ns }) = lane.connection()?.receive()? else {
            return Ok(None);
        };
        let done = self.arrivals.instant(arrived_unix_ns, || clock.now());
        if !waiting {
            return Err(Broken::bad(&"the server sent a message nobody asked for"));
        }
        let reply = reply::scan(message).map_err(|error| Broken::bad(&error))?;
        if reply.response_to != awaited {
            return Err(Broken::bad(&"the server answered another request"));
        }
        let reply = facts(&reply, message.len());
        lane.state = LaneState::Idle;
        Ok(Some(Event::Reply { connection: self.connection_of(index), done, reply }))
    }
}

impl Lane {
    fn connection(&mut self) -> Result<&mut Connection, Broken> {
        self.connection.as_mut().ok_or_else(Broken::no_socket)
    }
}

impl Target for WireTarget {
    #[inline]
    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn begin(&mut self, clock: Clock) {
        self.clock = clock;
        for (at, _) in &mut self.resting {
            *at = 0;
        }
    }

    /// Only a server on this machine is left alone: to one further away a rest is time in which it may have nothing to do.
    fn rest(&mut self, until: Nanos) -> io::Result<()> {
        let rest_ns = until.saturating_sub(self.clock.now());
        if rest_ns == 0 || !self.are_all_here || !self.events.is_empty() {
            return Ok(());
        }
        self.poller.rest(rest_ns)
    }

    fn wait(&mut self, until: Nanos) -> io::Result<()> {
        let mut until = until;
        if let Some(&(at, _)) = self.resting.first() {
            self.reopen_rested();
            until = until.min(at);
        }
        let timeout_ns = if self.events.is_empty() { until.saturating_sub(self.clock.now()) } else { 0 };
        self.poller.wait(timeout_ns)?;
        self.arrivals.compare(self.clock);
        Ok(())
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        if let Some(event) = self.events.pop() {
            return Some(event);
        }
        while let Some(token) = self.poller.next_ready() {
            if let Some(event) = self.advance(token as LaneIndex) {
                return Some(event);
            }
        }
        None
    }

    #[inline]
    fn route(&mut self, connection: ConnectionIndex, is_read: bool) {
        if let Some(is_reading) = self.is_reading.get_mut(connection) {
            *is_reading = is_read;
        }
    }

    #[inline]
    fn request(&mut self, connection: ConnectionIndex) -> &mut Vec<u8> {
        let lane = self.lane_of(connection);
        if let Some(connection) = &mut self.lanes[lane].connection {
            return connection.request();
        }
        self.spare.clear();
        &mut self.spare
    }

    #[inline]
    fn send(&mut self, connection: ConnectionIndex, request_id: i32, _documents: u32) -> Result<(), Failure> {
        let lane = self.lane_of(connection);
        self.lanes[lane].awaited = request_id;
        self.transmit(lane).map_err(|Broken { class, message }| self.close(lane, class, &message))
    }

    fn reset(&mut self, connection: ConnectionIndex) {
        self.close(self.lane_of(connection), FailureClass::Timeout, "");
    }

    fn cpu_ns(&self) -> Nanos {
        thread_cpu_ns()
    }
}

/// Why a connection can't be used any more.
struct Broken {
    class: FailureClass,
    message: String,
}

impl Broken {
    fn bad(error: &dyn std::fmt::Display) -> Self {
        Self { class: FailureClass::BadReply, message: error.to_string() }
    }

    fn no_socket() -> Self {
        Self { class: FailureClass::ConnectionLost, message: "the connection is down".to_owned() }
    }
}

impl From<ConnectionError> for Broken {
    fn from(error: ConnectionError) -> Self {
        let class = match error {
            ConnectionError::Io(_) | ConnectionError::Closed => FailureClass::ConnectionLost,
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

/// What the worker needs of a reply. Texts are copied only when the command failed.
fn facts(reply: &Reply<'_>, bytes: usize) -> ReplyFacts {
    ReplyFacts {
        failure: failure(reply).map(Box::new),
        documents: u64::from(reply.documents),
        n: reply.n.max(0) as u64,
        cursor: reply.cursor_id,
        bytes: bytes as u64,
    }
}

fn failure(reply: &Reply<'_>) -> Option<CommandFailure> {
    if !reply.ok {
        let labels: Vec<&str> = reply.labels.names().collect();
        let label = match (reply.code_name, labels.as_slice()) {
            (code_name, []) => text(code_name),
            (b"", labels) => labels.join(" "),
            (code_name, labels) => format!("{} ({})", text(code_name), labels.join(" ")),
        };
        let message = text(reply.message);
        return Some(Failure { class: FailureClass::ServerError, code: reply.code, label, message }.into());
    }
    if let Some(first) = reply.first_write_error {
        return Some(CommandFailure { first: write_error(&first), statements: write_errors(reply) });
    }
    let error = reply.write_concern_error?;
    let failure = Failure {
        class: FailureClass::WriteConcernError,
        code: error.code,
        label: text(error.code_name),
        message: text(error.message),
    };
    Some(failure.into())
}

/// The failed statements by code, with the message of the first of each. Codes beyond what a run tells apart, and what
/// can't be read, count under code 0, so that no answer costs more than its length.
fn write_errors(reply: &Reply<'_>) -> Vec<(Failure, u64)> {
    let mut counts: Vec<(Failure, u64)> = Vec::new();
    let mut counted = 0;
    // What follows a damaged element is in the rest below.
    let _ = reply.each_write_error(|error| {
        if let Some((_, count)) = counts.iter_mut().find(|(failure, _)| failure.code == error.code) {
            *count += 1;
        } else if counts.len() < FAILURES_DISTINCT_MAX {
            counts.push((write_error(&error), 1));
        } else {
            return;
        }
        counted += 1;
    });
    let rest = u64::from(reply.write_errors).saturating_sub(counted);
    if rest > 0 {
        counts.push((write_error(&WriteError::default()), rest));
    }
    counts
}

fn write_error(error: &WriteError<'_>) -> Failure {
    let message = text(error.message);
    Failure { class: FailureClass::WriteError, code: error.code, label: String::new(), message }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
