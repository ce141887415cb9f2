//! The scripted server on a virtual clock. No time passes but what the script and the generator's own cost make pass, so
//! that a run of an hour takes moments and its result is exact.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;

use brimline_testserver::{Fate, FaultKind, Script, ServiceModel};

use super::{ConnectionIndex, Event, ReplyFacts, Target};
use crate::clock::{Clock, Nanos};
use crate::failure::{CommandFailure, Failure, FailureClass, Signs};
use crate::plan::target::PlannedStandstill;

/// A reply that is on its way: when, its number (ties keep their order), on which connection and in which of the
/// connection's lives.
type Pending = Reverse<(Nanos, u64, ConnectionIndex, u32)>;

/// A target on a virtual clock. It belongs to one worker: two virtual clocks would not agree.
pub struct SimulatedTarget {
    model: ServiceModel,
    generator_ns: Nanos,
    /// Those that are still to come.
    standstills: VecDeque<PlannedStandstill>,
    now: Nanos,
    cpu_ns: Nanos,
    request: Vec<u8>,
    request_count: u64,
    pending: BinaryHeap<Pending>,
    /// What the pending reply of each connection says, and how often the connection was made anew.
    replies: Vec<Option<Outcome>>,
    lives: Vec<u32>,
    events: VecDeque<Event>,
}

/// What a pending reply will be.
enum Outcome {
    Reply(ReplyFacts),
    Close,
}

impl SimulatedTarget {
    /// The server of `script`, reached over `connections` connections by a generator that takes `generator_ns` for each
    /// command.
    pub fn new(
        script: &Script,
        generator_ns: Nanos,
        standstills: &[PlannedStandstill],
        connections: usize,
    ) -> Self {
        Self {
            model: ServiceModel::new(script),
            generator_ns,
            standstills: standstills.iter().copied().collect(),
            now: 0,
            cpu_ns: 0,
            request: Vec::new(),
            request_count: 0,
            pending: BinaryHeap::new(),
            replies: (0..connections).map(|_| None).collect(),
            lives: vec![0; connections],
            events: (0..connections).map(Event::Up).collect(),
        }
    }

    fn outcome(&self, fate: Fate, documents: u64) -> Option<Outcome> {
        let answer = |failure: Option<CommandFailure>, documents: u64| {
            let failure = failure.map(Box::new);
            Some(Outcome::Reply(ReplyFacts {
                failure,
                documents,
                n: documents,
                modified: documents,
                upserted: 0,
                cursor: 0,
                bytes: 0,
            }))
        };
        let reply =
            |failure: Option<Failure>, documents| answer(failure.map(CommandFailure::from), documents);
        let Fate::Faulty { fault } = fate else {
            return reply(None, documents);
        };
        match self.model.fault(fault) {
            FaultKind::Error { code, name, .. } => {
                let failure = Failure {
                    class: FailureClass::ServerError,
                    code: *code,
                    label: name.clone(),
                    message: "scripted error".to_owned(),
                };
                reply(Some(failure), 0)
            }
            // As the server answers an unordered command: the other statements are executed.
            FaultKind::WriteError { code, statements } => {
                let failed = documents.min(u64::from(*statements));
                let first = coded(FailureClass::WriteError, *code, "scripted write error");
                let statements = vec![(first.clone(), failed)];
                answer(Some(CommandFailure { first, statements, signs: Signs::NONE }), documents - failed)
            }
            FaultKind::WriteConcernError { code, .. } => reply(
                Some(coded(FailureClass::WriteConcernError, *code, "scripted write concern error")),
                documents,
            ),
            FaultKind::NoDocument => reply(None, 0),
            FaultKind::Garbage | FaultKind::WrongLength => {
                reply(Some(Failure::new(FailureClass::BadReply, "scripted bad reply")), 0)
            }
            FaultKind::Close => Some(Outcome::Close),
            FaultKind::Silence => None,
        }
    }

    /// Time passes in which the generator does not run, once it is due.
    fn stand_still(&mut self) {
        while let Some(next) = self.standstills.front().filter(|next| next.at_ns <= self.now) {
            self.now = self.now.max(next.at_ns + next.length_ns);
            self.standstills.pop_front();
        }
    }

    /// Turns the earliest pending reply into an event, and gives its time back; `None` when it was given up meanwhile.
    fn deliver(&mut self, pending: Pending) {
        let Reverse((done, _, connection, life)) = pending;
        if self.lives[connection] != life {
            return;
        }
        match self.replies[connection].take() {
            Some(Outcome::Reply(reply)) => self.events.push_back(Event::Reply { connection, done, reply }),
            Some(Outcome::Close) => {
                let failure = Failure::new(FailureClass::ConnectionLost, "scripted close");
                self.events.push_back(Event::Down(connection, failure));
                self.reset(connection);
            }
            None => {}
        }
    }
}

impl Target for SimulatedTarget {
    fn now(&self) -> Nanos {
        self.now
    }

    fn begin(&mut self, _clock: Clock) {
        self.now = 0;
    }

    fn wait(&mut self, until: Nanos) -> io::Result<()> {
        if !self.events.is_empty() {
            return Ok(());
        }
        match self.pending.peek() {
            Some(&Reverse((done, ..))) if done <= until.max(self.now) => {
                self.now = self.now.max(done);
                self.stand_still();
                while let Some(&next) = self.pending.peek().filter(|next| next.0.0 <= self.now) {
                    self.pending.pop();
                    self.deliver(next);
                }
            }
            _ => {
                self.now = self.now.max(until);
                self.stand_still();
            }
        }
        Ok(())
    }

    fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn request(&mut self, _connection: ConnectionIndex) -> &mut Vec<u8> {
        self.request.clear();
        &mut self.request
    }

    fn send(&mut self, connection: ConnectionIndex, _request_id: i32, documents: u32) -> Result<(), Failure> {
        let admission = self.model.admit(self.now);
        self.replies[connection] = self.outcome(admission.fate, u64::from(documents));
        self.pending.push(Reverse((
            admission.done_ns,
            self.request_count,
            connection,
            self.lives[connection],
        )));
        self.request_count += 1;
        self.now += self.generator_ns;
        self.cpu_ns += self.generator_ns;
        Ok(())
    }

    fn reset(&mut self, connection: ConnectionIndex) {
        self.lives[connection] += 1;
        self.replies[connection] = None;
        self.events.push_back(Event::Up(connection));
    }

    fn suspended_ns(&self) -> Nanos {
        0
    }

    fn cpu_ns(&self) -> Nanos {
        self.cpu_ns
    }
}

fn coded(class: FailureClass, code: i32, message: &str) -> Failure {
    Failure { code, ..Failure::new(class, message) }
}
