//! Owns how a worker's sockets follow a replica set: those to a server that operations no longer go to are replaced, at once
//! when nothing is under way on them, else when that is over.

use std::sync::Arc;

use brimline_wire::endpoint::Endpoint;
use brimline_wire::hello::Hello;

use super::{Destination, Event, LaneIndex, LaneState, SocketTarget};
use crate::clock::{NANOS_PER_S, Nanos};
use crate::failure::{Failure, FailureClass};
use crate::replica_set::{Servers, View};

/// How often news are looked for while a socket waits for them.
const NEWS_NS: Nanos = NANOS_PER_S / 1_000;

/// A replica set that is followed.
#[derive(Clone, Debug)]
pub struct Followed {
    /// What is known of it.
    pub view: Arc<View>,
    /// Its name.
    pub name: String,
}

/// What one worker knows of it.
pub(super) struct Following {
    pub set: Followed,
    version: u64,
    servers: Servers,
    /// Lanes that wait for a server.
    waiting: Vec<LaneIndex>,
    /// Number of the worker's first connection.
    first: usize,
}

impl Following {
    pub fn new(set: Followed, first: usize) -> Self {
        let (version, servers) = set.view.servers();
        Self { set, version, servers, waiting: Vec::new(), first }
    }

    pub fn primary(&self) -> Option<&Endpoint> {
        self.servers.primary.as_ref()
    }

    /// Where the reads of a lane go: on where they went, as long as that takes them.
    fn reader(&self, now_at: &str, lane: usize) -> Option<&Endpoint> {
        let readers = &self.servers.readers;
        let same = readers.iter().find(|reader| reader.name() == now_at);
        same.or_else(|| readers.get((self.first + lane) % readers.len().max(1)))
    }

    /// Whether a server that greets so is the one that was looked for.
    pub fn accepts(&self, hello: &Hello, for_writes: bool) -> bool {
        let has_role = hello.is_writable_primary || (!for_writes && hello.is_secondary);
        has_role && hello.set_name.as_deref() == Some(&self.set.name)
    }
}

impl SocketTarget {
    /// The server that a lane goes to; `None` while there is none.
    fn server_for(&self, index: LaneIndex) -> Option<&Endpoint> {
        let lane = &self.lanes[index];
        match &self.following {
            None => lane.destination.mongo(),
            Some(following) if index < self.connections => following.primary(),
            Some(following) => following.reader(lane.destination.name(), index - self.connections),
        }
    }

    /// Aims a lane at its server; false: there is none, and the lane waits for one.
    pub(super) fn aim(&mut self, index: LaneIndex) -> bool {
        if self.following.is_none() {
            return true;
        }
        let Some(server) = self.server_for(index).cloned() else {
            if let Some(following) = &mut self.following {
                following.waiting.push(index);
            }
            return false;
        };
        let lane = &mut self.lanes[index];
        lane.destination = Destination::Mongo(server);
        lane.is_spent = false;
        true
    }

    /// Takes news of the set, and opens lanes that waited for them. Returns until when to wait at most.
    #[inline(never)]
    pub(super) fn follow(&mut self, until: Nanos) -> Nanos {
        self.take_news();
        let Some(following) = &mut self.following else { return until };
        for index in std::mem::take(&mut following.waiting) {
            self.open(index);
        }
        let is_waiting = self.following.as_ref().is_some_and(|following| !following.waiting.is_empty());
        if is_waiting { until.min(self.clock.now() + NEWS_NS) } else { until }
    }

    fn take_news(&mut self) {
        let Some(following) = &mut self.following else { return };
        if following.set.view.version() == following.version {
            return;
        }
        (following.version, following.servers) = following.set.view.servers();
        // What rested for its server's sake has another one now, or waits for it.
        following.waiting.extend(self.resting.drain(..).map(|(_, index)| index));
        for index in 0..self.lanes.len() {
            let current = self.server_for(index).map(Endpoint::name);
            if current != Some(self.lanes[index].destination.name()) {
                self.lanes[index].is_spent = true;
                self.replace_unused(index);
            }
        }
    }

    /// Drops a spent lane that no operation is using.
    fn replace_unused(&mut self, index: LaneIndex) {
        match self.lanes[index].state {
            LaneState::Opening | LaneState::Greeting => self.drop_spent(index),
            LaneState::Idle if !self.mates(index).any(|mate| self.is_in_use(mate)) => {
                self.drop_spent(index);
                let failure =
                    Failure::new(FailureClass::ConnectionLost, "the replica set has no such primary");
                self.events.push(Event::Down(self.connection_of(index), failure));
            }
            LaneState::Down | LaneState::Idle | LaneState::Sending | LaneState::Waiting => {}
        }
    }

    /// Closes a lane that is to be opened to another server.
    fn drop_spent(&mut self, index: LaneIndex) {
        let lane = &mut self.lanes[index];
        lane.channel = None;
        lane.state = LaneState::Down;
        if let Some(following) = &mut self.following {
            following.waiting.push(index);
        }
    }

    /// The server of a lane answers that it is no primary any more, or ends. The lane is in use until its reply is handed on.
    #[inline(never)]
    pub(super) fn state_changed(&mut self, index: LaneIndex) {
        self.lanes[index].is_spent = true;
        let Some(following) = &self.following else { return };
        let is_of_primary =
            following.primary().map(Endpoint::name) == Some(self.lanes[index].destination.name());
        if index < self.connections && is_of_primary {
            following.set.view.stepped_down(following.version);
        } else {
            following.set.view.doubt();
        }
        self.take_news();
    }

    /// Drops what is spent of a connection whose operation is over; whether it is down now.
    #[inline(never)]
    pub(super) fn drop_retired(&mut self, connection: usize) -> bool {
        let mut is_down = false;
        for index in std::iter::once(connection).chain(self.mates(connection)) {
            if self.lanes[index].is_spent && self.lanes[index].state == LaneState::Idle {
                self.drop_spent(index);
            }
            is_down |= self.lanes[index].channel.is_none();
        }
        is_down
    }
}
