//! Servers behind sockets: one socket per connection, all of a worker's sockets in one epoll instance, what a protocol wants said
//! before the first request, a new connection for each that breaks. Where reads go to other servers than writes, or
//! the generator shares out the records among servers, a connection is as many sockets, of which a request takes one. Where
//! the server is a replica set's primary, sockets follow it.

pub mod broken;
pub mod channel;
mod following;
mod kept;
mod routes;

use std::collections::BTreeSet;
use std::io;

use brimline_net::link::{Looks as ReplyLooks, Request};
use brimline_net::stream::{Received, SendState};
use brimline_wire::connection::Connection;
use brimline_wire::reply;

use self::broken::Broken;
pub use self::channel::Destination;
use self::channel::{Channel, Greeted};
pub use self::following::Followed;
use self::following::Following;
use self::kept::Kept;
use self::routes::Choice;
pub use self::routes::Routes;
use super::replies::{answered, facts};
use super::{ConnectionIndex, Event, KeptReply, Redirects, ReplyTimes, Target};
use crate::arrivals::Arrivals;
use crate::clock::{Clock, NANOS_PER_S, Nanos, thread_cpu_ns};
use crate::connects::ConnectTimes;
use crate::failure::{Failure, FailureClass};
use crate::looks::Looks;
use crate::poller::{Ending, Interest, Poller};

/// How long a connection that broke, or could not be made, rests before the next try.
const RECONNECT_AFTER_NS: Nanos = NANOS_PER_S / 10;

/// Servers behind their addresses.
pub struct SocketTarget {
    clock: Clock,
    arrivals: Arrivals,
    looks: Looks,
    poller: Poller,
    /// One lane per connection to the first group of servers; then as many to the next group, in the same order.
    lanes: Vec<Lane>,
    connections: usize,
    choice: Choice,
    /// The lane of the current request of each connection; empty where each has one.
    chosen: Vec<LaneIndex>,
    are_all_here: bool,
    has_several: bool,
    /// Lanes that are down and when each is tried again, earliest first.
    resting: Vec<(Nanos, LaneIndex)>,
    connects: ConnectTimes,
    /// Events that did not come from a socket.
    events: Vec<Event>,
    /// Where requests are rendered while a lane has no socket.
    spare: Vec<u8>,
    /// Boxed: a target of one server stays as small as it was.
    following: Option<Box<Following>>,
    /// Servers that are alike, so that a lane may go to another of them; empty where each is there for something of its own.
    routers: Vec<Destination>,
    /// What reads brought; boxed, because most runs look at none of it.
    kept: Option<Box<Kept>>,
    /// How the last reply of each connection behind a link came; empty without such.
    times: Vec<ReplyTimes>,
}

/// Index of a lane within its worker.
type LaneIndex = usize;

/// One socket through all its lives.
struct Lane {
    destination: Destination,
    state: LaneState,
    /// When the last try to connect began.
    opened: Nanos,
    channel: Option<Channel>,
    awaited: i32,
    /// A request waits until the socket is made.
    is_wanted: bool,
    /// Its server is no longer the one that operations go to.
    is_spent: bool,
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

impl SocketTarget {
    /// Starts connecting; each connection reports when it is up. `first` is the number of the first of them among those of
    /// all workers.
    ///
    /// # Errors
    /// When the system gives no poller.
    pub fn new(routes: &Routes, first: usize, connections: usize) -> io::Result<Self> {
        let are_all_here =
            routes.groups.iter().flatten().all(|destination| destination.address().ip().is_loopback());
        let mut target = Self {
            clock: Clock::start(),
            arrivals: Arrivals::default(),
            looks: Looks::default(),
            poller: Poller::new(Ending::of_generator(are_all_here))?,
            lanes: Vec::new(),
            connections,
            choice: routes.choice,
            chosen: if routes.groups.len() == 1 { Vec::new() } else { (0..connections).collect() },
            are_all_here,
            has_several: routes.groups.iter().map(Vec::len).sum::<usize>() > 1,
            resting: Vec::new(),
            connects: ConnectTimes::default(),
            events: Vec::new(),
            spare: Vec::new(),
            following: routes.set.clone().map(|set| Box::new(Following::new(set, first))),
            routers: routes.routers().to_vec(),
            kept: None,
            times: Vec::new(),
        };
        for alike in &routes.groups {
            let alike = alike.iter().cycle().skip(first % alike.len().max(1)).take(connections);
            target.lanes.extend(alike.map(|destination| Lane {
                destination: destination.clone(),
                state: LaneState::Down,
                opened: 0,
                channel: None,
                awaited: 0,
                is_wanted: false,
                is_spent: false,
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
        if self.chosen.is_empty() { lane } else { lane % self.connections }
    }

    /// The lane of the current request of a connection.
    #[inline]
    fn lane_of(&self, connection: ConnectionIndex) -> LaneIndex {
        self.chosen.get(connection).copied().unwrap_or(connection)
    }

    /// The other lanes of the same connection.
    fn mates(&self, lane: LaneIndex) -> impl Iterator<Item = LaneIndex> + use<> {
        let lanes = (self.connection_of(lane)..self.lanes.len()).step_by(self.connections);
        lanes.filter(move |&mate| mate != lane)
    }

    fn open(&mut self, index: LaneIndex) {
        if !self.aim(index) {
            return;
        }
        self.lanes[index].opened = self.clock.now();
        let opened = self.lanes[index].destination.connect().and_then(|channel| {
            if let Some(socket) = channel.socket() {
                self.poller.add(socket, index as u32, Interest::Writable)?;
            }
            Ok(channel)
        });
        match opened {
            Ok(channel) => {
                let is_ready = channel.is_ready();
                self.lanes[index].channel = Some(channel);
                self.lanes[index].state = if is_ready { LaneState::Idle } else { LaneState::Opening };
                if is_ready && let Some(up) = self.up(index) {
                    self.events.push(up);
                }
            }
            Err(error) => {
                let broken = Broken::from(error);
                let down = self.lost(index, &broken);
                self.events.push(down);
            }
        }
    }

    /// A socket broke, and with it its connection. An operation that is under way on another of its sockets is given up: a
    /// connection is up as a whole or not at all.
    #[cold]
    fn lost(&mut self, index: LaneIndex, Broken { class, message, .. }: &Broken) -> Event {
        let failure = self.close(index, *class, message);
        for mate in self.mates(index) {
            if self.is_in_use(mate) {
                self.close(mate, *class, message);
            }
        }
        Event::Down(self.connection_of(index), failure)
    }

    /// Whether an operation is under way on a lane.
    fn is_in_use(&self, index: LaneIndex) -> bool {
        matches!(self.lanes[index].state, LaneState::Sending | LaneState::Waiting)
    }

    /// Drops the socket, which also ends its being watched, and schedules the next try, at the next router where there are several.
    fn close(&mut self, index: LaneIndex, class: FailureClass, message: &str) -> Failure {
        let lane = &mut self.lanes[index];
        lane.channel = None;
        lane.is_wanted = false;
        lane.state = LaneState::Down;
        if let Some(at) = self.routers.iter().position(|router| router.name() == lane.destination.name()) {
            lane.destination = self.routers[(at + 1) % self.routers.len()].clone();
        }
        self.resting.push((self.clock.now() + RECONNECT_AFTER_NS, index));
        if let Some(following) = &self.following {
            following.set.view.doubt();
        }
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
            LaneState::Down | LaneState::Idle if self.lanes[index].channel.is_none() => return None,
            LaneState::Sending => self.transmit(index).map(|()| None),
            LaneState::Opening | LaneState::Greeting => self.greet(index),
            LaneState::Down | LaneState::Idle | LaneState::Waiting => self.take_reply(index),
        };
        match outcome {
            Ok(event) => event,
            Err(broken) => Some(self.lost(index, &broken)),
        }
    }

    /// Sends what the connection's buffer holds.
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    fn transmit(&mut self, index: LaneIndex) -> Result<(), Broken> {
        let lane = &mut self.lanes[index];
        let Some(Channel::Mongo { connection, .. }) = &mut lane.channel else {
            return self.transmit_by_link(index);
        };
        let state = connection.send()?;
        if state == SendState::Done && lane.state != LaneState::Sending {
            lane.state = LaneState::Waiting;
            return Ok(());
        }
        self.watch_sending(index, state)
    }

    /// Notes how far sending came, where the socket was full, or was so before.
    #[cold]
    fn watch_sending(&mut self, index: LaneIndex, state: SendState) -> Result<(), Broken> {
        let lane = &mut self.lanes[index];
        let (is_full, was_full) = (state == SendState::Blocked, lane.state == LaneState::Sending);
        let socket = lane.channel.as_ref().and_then(Channel::socket).ok_or_else(Broken::no_socket)?;
        if is_full != was_full {
            let interest = if is_full { Interest::Writable } else { Interest::Readable };
            self.poller.modify(socket, index as u32, interest)?;
        }
        lane.state = if is_full { LaneState::Sending } else { LaneState::Waiting };
        Ok(())
    }

    /// The same of a protocol behind a link, whose socket may have to be made first.
    #[inline(never)]
    fn transmit_by_link(&mut self, index: LaneIndex) -> Result<(), Broken> {
        let Some(Channel::Linked { link, .. }) = &mut self.lanes[index].channel else {
            return Err(Broken::no_socket());
        };
        if link.socket().is_none() {
            return self.reopen(index);
        }
        let state = link.send()?;
        if state == SendState::Done && self.lanes[index].state != LaneState::Sending {
            self.lanes[index].state = LaneState::Waiting;
            return Ok(());
        }
        self.watch_sending(index, state)
    }

    /// Makes the socket that a request waits for.
    #[cold]
    fn reopen(&mut self, index: LaneIndex) -> Result<(), Broken> {
        let lane = &mut self.lanes[index];
        let channel = lane.channel.as_mut().ok_or_else(Broken::no_socket)?;
        lane.opened = self.clock.now();
        channel.open()?;
        self.poller.add(channel.socket().ok_or_else(Broken::no_socket)?, index as u32, Interest::Writable)?;
        lane.state = LaneState::Opening;
        lane.is_wanted = true;
        Ok(())
    }

    /// Follows what comes before the first request; once that is over, on all sockets of a connection, it is up.
    #[inline(never)]
    fn greet(&mut self, index: LaneIndex) -> Result<Option<Event>, Broken> {
        let lane = &mut self.lanes[index];
        let channel = lane.channel.as_mut().ok_or_else(Broken::no_socket)?;
        let (state, interest) = match channel.greet()? {
            Greeted::AwaitsRoom => (LaneState::Opening, Interest::Writable),
            Greeted::AwaitsReply => (LaneState::Greeting, Interest::Readable),
            Greeted::Ready(hello) => {
                if let (Some(following), Some(hello)) = (self.following.as_ref(), hello)
                    && !following.accepts(&hello, index < self.connections)
                {
                    return Err(Broken::other_role());
                }
                (LaneState::Idle, Interest::Readable)
            }
        };
        if (state == LaneState::Opening) != (lane.state == LaneState::Opening) {
            self.poller.modify(channel.socket().ok_or_else(Broken::no_socket)?, index as u32, interest)?;
        }
        lane.state = state;
        if state != LaneState::Idle {
            return Ok(None);
        }
        // Of one that was being made when the run's clock began, the time is not known, and stays out.
        let connect_ns = self.clock.now().checked_sub(lane.opened);
        if let Some(connect_ns) = connect_ns {
            self.connects.add(connect_ns);
        }
        if std::mem::take(&mut lane.is_wanted) {
            self.note_connected(index, connect_ns);
            return self.transmit(index).map(|()| None);
        }
        Ok(self.up(index))
    }

    /// The event of a lane that is ready, once all of its connection are.
    fn up(&self, index: LaneIndex) -> Option<Event> {
        let is_whole = self.mates(index).all(|mate| self.lanes[mate].state == LaneState::Idle);
        is_whole.then(|| Event::Up(self.connection_of(index)))
    }

    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    fn take_reply(&mut self, index: LaneIndex) -> Result<Option<Event>, Broken> {
        let lane = &mut self.lanes[index];
        let (awaited, waiting) = (lane.awaited, lane.state == LaneState::Waiting);
        let Some(Channel::Mongo { connection, .. }) = &mut lane.channel else {
            return self.take_answer(index);
        };
        let Some(Received { message, arrived_unix_ns }) = connection.receive()? else {
            return Ok(None);
        };
        let clock = self.clock;
        let done = self.arrivals.instant(arrived_unix_ns, || clock.now());
        if !waiting {
            return Err(Broken::bad(&"the server sent a message nobody asked for"));
        }
        let reply = reply::scan(message).map_err(|error| Broken::bad(&error))?;
        if reply.response_to != awaited {
            return Err(Broken::bad(&"the server answered another request"));
        }
        if let Some(kept) = &mut self.kept {
            kept.keep(index % self.connections, message);
        }
        let reply = facts(&reply, message.len());
        if self.following.is_some()
            && let Some(failure) = &reply.failure
            && failure.signs.state_changed
        {
            self.state_changed(index);
        }
        self.lanes[index].state = LaneState::Idle;
        Ok(Some(Event::Reply { connection: self.connection_of(index), done, reply }))
    }

    /// The reply of a protocol behind a link.
    #[inline(never)]
    fn take_answer(&mut self, index: LaneIndex) -> Result<Option<Event>, Broken> {
        let lane = &mut self.lanes[index];
        let waiting = lane.state == LaneState::Waiting;
        let Some(Channel::Linked { link, .. }) = &mut lane.channel else { return Err(Broken::no_socket()) };
        let Some(answer) = link.receive()? else {
            let (is_closed, is_redirected) = (link.socket().is_none(), link.has_more_to_send());
            if waiting && is_redirected {
                self.note_redirected(index);
            }
            // What the peer has closed in good order is made anew where a request needs it.
            return match (waiting, is_closed, is_redirected) {
                (true, true, _) => self.reopen(index).map(|()| None),
                (true, false, true) => self.transmit(index).map(|()| None),
                _ => Ok(None),
            };
        };
        if !waiting {
            return Err(Broken::bad(&"the server sent a reply nobody asked for"));
        }
        lane.state = LaneState::Idle;
        let clock = self.clock;
        let done = self.arrivals.instant(answer.arrived_unix_ns, || clock.now());
        let first = self.arrivals.placed(answer.first_arrived_unix_ns).unwrap_or(done);
        let connection = self.connection_of(index);
        if let Some(times) = self.times.get_mut(connection) {
            times.first_byte = first.min(done);
            times.leads_elsewhere = answer.leads_elsewhere;
        }
        Ok(Some(Event::Reply { connection, done, reply: answered(answer) }))
    }

    /// Notes how long the socket took to make that a request waited for.
    fn note_connected(&mut self, index: LaneIndex, connect_ns: Option<Nanos>) {
        let connection = self.connection_of(index);
        if let Some(times) = self.times.get_mut(connection)
            && let Some(connect_ns) = connect_ns
        {
            times.connect_ns = Some(times.connect_ns.unwrap_or_default() + connect_ns);
        }
    }

    /// Notes that a reply leads elsewhere, and is followed.
    #[cold]
    fn note_redirected(&mut self, index: LaneIndex) {
        let (connection, done) = (self.connection_of(index), self.clock.now());
        if let Some(times) = self.times.get_mut(connection) {
            let count = times.redirects.map_or(1, |before| before.count + 1);
            let connect_ns = times.connect_ns.unwrap_or_default();
            times.redirects = Some(Redirects { count, done, connect_ns });
        }
    }
}

impl Lane {
    /// The connection to a server of MongoDB's.
    fn mongo(&mut self) -> Option<&mut Connection> {
        match &mut self.channel {
            Some(Channel::Mongo { connection, .. }) => Some(connection),
            _ => None,
        }
    }
}

impl Target for SocketTarget {
    #[inline]
    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn begin(&mut self, clock: Clock) {
        self.clock = clock;
        for (at, _) in &mut self.resting {
            *at = 0;
        }
        for lane in &mut self.lanes {
            lane.opened = Nanos::MAX;
        }
    }

    /// Only a server on this machine is left alone: to one further away a rest is time in which it may have nothing to do. And
    /// only while the kernel says when replies arrived: else they would be timed by the look.
    fn rest(&mut self, until: Nanos) -> io::Result<()> {
        let rest_ns = until.saturating_sub(self.clock.now());
        let may_rest = self.are_all_here && self.events.is_empty() && self.arrivals.are_stamped();
        if rest_ns == 0 || !may_rest {
            return Ok(());
        }
        self.looks.rested(rest_ns);
        self.poller.rest(rest_ns)
    }

    fn wait(&mut self, until: Nanos) -> io::Result<()> {
        let mut until = until;
        if self.following.is_some() {
            until = self.follow(until);
        }
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

    fn keep_documents(&mut self) {
        self.kept = Some(Box::new(Kept::new(self.connections)));
    }

    fn take_document(&mut self, connection: ConnectionIndex) -> Option<&[u8]> {
        self.kept.as_mut()?.take(connection)
    }

    fn keep_reply(&mut self, connection: ConnectionIndex, is_kept: bool) {
        if is_kept && self.kept.is_none() {
            self.kept = Some(Box::new(Kept::new(self.connections)));
        }
        if let Some(kept) = &mut self.kept {
            kept.keep_whole(connection, is_kept);
        }
    }

    fn kept_reply(&mut self, connection: ConnectionIndex) -> Option<KeptReply<'_>> {
        let lane = self.lane_of(connection);
        if let Some(Channel::Linked { link, .. }) = &mut self.lanes[lane].channel {
            self.spare.clear();
            link.view(&mut self.spare);
            return Some(KeptReply::of_view(&self.spare));
        }
        KeptReply::of_message(self.kept.as_ref()?.whole(connection)?)
    }

    #[inline]
    fn route(&mut self, connection: ConnectionIndex, is_read: bool, record: u64) {
        let group = match self.choice {
            Choice::None => return,
            Choice::Kind => usize::from(is_read),
            Choice::Record(servers) => (record % servers) as usize,
        };
        if let Some(chosen) = self.chosen.get_mut(connection) {
            *chosen = group * self.connections + connection;
        }
    }

    #[inline]
    fn server(&self, connection: ConnectionIndex) -> usize {
        match self.choice {
            Choice::None | Choice::Kind => 0,
            Choice::Record(_) => self.lane_of(connection) / self.connections,
        }
    }

    #[inline]
    fn request(&mut self, connection: ConnectionIndex) -> &mut Vec<u8> {
        let lane = self.lane_of(connection);
        if let Some(connection) = self.lanes[lane].mongo() {
            return connection.request();
        }
        self.spare.clear();
        &mut self.spare
    }

    fn render(
        &mut self,
        connection: ConnectionIndex,
        request: Request,
        values: &[u8],
        looks: ReplyLooks,
    ) -> Result<u64, String> {
        if self.times.is_empty() {
            self.times = vec![ReplyTimes::default(); self.connections];
        }
        self.times[connection] = ReplyTimes::default();
        let lane = self.lane_of(connection);
        match &mut self.lanes[lane].channel {
            Some(Channel::Linked { link, .. }) => link.render(request, values, looks),
            _ => Ok(0),
        }
    }

    fn times(&self, connection: ConnectionIndex) -> ReplyTimes {
        self.times.get(connection).copied().unwrap_or_default()
    }

    #[inline]
    fn send(&mut self, connection: ConnectionIndex, request_id: i32, _documents: u32) -> Result<(), Failure> {
        let lane = self.lane_of(connection);
        self.lanes[lane].awaited = request_id;
        self.transmit(lane).map_err(|Broken { class, message, .. }| self.close(lane, class, &message))
    }

    fn reset(&mut self, connection: ConnectionIndex) {
        self.close(self.lane_of(connection), FailureClass::Timeout, "");
    }

    #[inline]
    fn retire(&mut self, connection: ConnectionIndex) -> bool {
        self.following.is_some() && self.drop_retired(connection)
    }

    fn primary(&self, answered: Option<ConnectionIndex>) -> Option<String> {
        let following = self.following.as_ref()?;
        let lane =
            answered.map(|connection| self.lane_of(connection)).filter(|&lane| lane < self.connections);
        let primary =
            lane.and_then(|lane| self.lanes[lane].destination.mongo()).or_else(|| following.primary());
        primary.map(|primary| primary.name().to_owned())
    }

    fn missing(&self) -> Option<String> {
        let is_down = |lane: &&Lane| !lane.channel.as_ref().is_some_and(Channel::is_ready);
        let down = self.lanes.iter().filter(is_down).map(|lane| &lane.destination);
        // A lane that found no router has tried all of them.
        let missing: BTreeSet<&str> = down.chain(&self.routers).map(Destination::name).collect();
        let is_told = self.following.is_none() && self.has_several && !missing.is_empty();
        is_told.then(|| missing.into_iter().collect::<Vec<_>>().join(", "))
    }

    fn connects(&self) -> ConnectTimes {
        self.connects
    }

    fn looks(&self) -> Looks {
        Looks { unstamped: self.arrivals.unstamped(), ..self.looks }
    }

    fn cpu_ns(&self) -> Nanos {
        thread_cpu_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_left_alone_only_while_the_kernel_stamps_replies() {
        let mut target = SocketTarget::new(&Routes::to(Vec::new()), 0, 0).unwrap();
        target.rest(target.now() + NANOS_PER_S / 1_000).unwrap();
        let looks = target.looks();
        assert!(looks.rests == 1 && looks.rested_ns > 0 && looks.unstamped == 0, "{looks:?}");

        target.arrivals.instant(None, || 0);
        let until = target.now() + 60 * NANOS_PER_S;
        target.rest(until).unwrap();
        assert!(target.now() < until);
        assert_eq!(target.looks(), Looks { unstamped: 1, ..looks });

        target.arrivals.instant(Some(0), || 0);
        target.rest(target.now() + NANOS_PER_S / 1_000).unwrap();
        assert_eq!(target.looks().rests, 2);
    }
}
