//! A server by way of an official driver in a process of its own, a runner: the engine says what is sent and when, the runner has
//! its driver do it and says when it did. Frames go to and fro over two pipes ([`frame`]); the page docs/reference/runners.md is
//! what a runner is written by.
//!
//! A connection here is a place for one command at a time. Which socket a command goes out on is the driver's affair, and so is
//! how many there are. The runner has as many workers as operations may be under way. Where a closed loop has no pauses, two
//! places share a worker, so that its next command lies there when the one before is done.

mod frame;
mod opening;
mod process;
mod statements;

use std::collections::VecDeque;
use std::io;

use brimline_bson::find;
use brimline_net::link::{Looks as ReplyLooks, Request};
use brimline_wire::{op_msg, reply};

use self::frame::{Frame, Outcome, to_runner};
pub use self::opening::Opening;
use self::process::Process;
pub use self::process::cpu_ns;
pub use self::statements::Statements;
use super::replies::facts;
use super::{ConnectionIndex, Event, KeptReply, Target};
use crate::clock::{Clock, NANOS_PER_MS, NANOS_PER_S, Nanos, monotonic_ns, thread_cpu_ns};
use crate::failure::{Failure, FailureClass};
use crate::plan::Plan;
use crate::poller::{Ending, Interest, Poller};
use crate::standstill::{Reading, Standstill, StandstillLog};

/// How long a place whose connection was lost rests before the next try.
const RECONNECT_AFTER_NS: Nanos = NANOS_PER_S / 10;
/// How often the runner's clock is read before the run, and after it.
const CLOCK_ROUNDS: u32 = 16;
/// How long a runner may take to start: a JVM on a busy machine takes seconds.
const START_WITHIN_NS: Nanos = 30 * NANOS_PER_S;
/// How long a runner may take to close its connections and to end.
const CLOSE_WITHIN_NS: Nanos = 2 * NANOS_PER_S;
/// By how much a stamp may be outside of what is possible: less is what clocks and their comparison are off by.
const STAMP_ERROR_NS: Nanos = NANOS_PER_MS;
/// Most that a runner may ask to be told beforehand.
const AHEAD_NS_MAX: Nanos = NANOS_PER_MS;
/// More than that is no time that it can mean.
const AHEAD_NS_TOLD_MAX: Nanos = NANOS_PER_S;
/// How often its clock is asked for during the run: a runner whose driver waits for the server still tells the time, one that stands
/// still doesn't.
const QUESTION_EVERY_NS: Nanos = NANOS_PER_S / 20;
/// How long it may be silent before it is said to hang.
const HANGS_AFTER_NS: Nanos = NANOS_PER_S;

const FROM_RUNNER: u32 = 0;
const TO_RUNNER: u32 = 1;
const END_OF_RUNNER: u32 = 2;

/// What a runner said of itself, and how its clock compares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunnerReport {
    /// What it is, as BSON: driver, runtime and their versions.
    pub ready: Vec<u8>,
    /// What it had used when the run began, as BSON; empty when it did not say.
    pub used_before: Vec<u8>,
    /// What it had used at the end, as BSON; empty when it did not say.
    pub used_after: Vec<u8>,
    /// Its clock before the run.
    pub clock_before: Option<ClockReading>,
    /// Its clock after the run.
    pub clock_after: Option<ClockReading>,
    /// How many commands its driver has at once.
    pub workers: usize,
    /// When it did not run, on the run's clock.
    pub standstills: Vec<Standstill>,
}

/// How far a runner's clock is ahead of the engine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// How far, by the round trip that took least.
    pub ahead_ns: i64,
    /// By how much that may be wrong: half of the round trip.
    pub error_ns: Nanos,
}

impl ClockReading {
    /// A reading `now_ns` that was asked for at `asked_ns` and had arrived at `arrived_ns`.
    fn new(asked_ns: u64, now_ns: u64, arrived_ns: u64) -> Self {
        let error_ns = (arrived_ns - asked_ns).div_ceil(2);
        Self { ahead_ns: now_ns.cast_signed().wrapping_sub((asked_ns + error_ns).cast_signed()), error_ns }
    }

    /// How far it is to be taken for ahead: not at all while both clocks may be one.
    fn correction_ns(self) -> i64 {
        if self.ahead_ns.unsigned_abs() <= self.error_ns { 0 } else { self.ahead_ns }
    }
}

/// A server behind a runner.
pub struct RunnerTarget {
    clock: Clock,
    process: Process,
    opening: Opening,
    /// The runner that was asked for.
    client: String,
    poller: Poller,
    places: Vec<Place>,
    /// When each worker was last done with a command.
    workers_done: Vec<Nanos>,
    stage: Stage,
    /// How far ahead of its due time a command may be handed over.
    ahead_ns: Nanos,
    report: RunnerReport,
    /// When the runner's clock was last asked for, and how often.
    asked: (u64, u32),
    answers: u32,
    reading: Option<ClockReading>,
    /// When to ask next; `None` while the run has not begun.
    next_question: Option<Nanos>,
    standstills: StandstillLog,
    /// How far its clock is ahead, and by how much that may be wrong.
    correction_ns: i64,
    correction_error_ns: Nanos,
    /// The statements of an SQL database.
    statements: Option<Statements>,
    request: Vec<u8>,
    message: Vec<u8>,
    events: VecDeque<Event>,
    /// Places that are tried again, and when, earliest first.
    resting: VecDeque<(Nanos, ConnectionIndex)>,
    /// Why there is no runner any more.
    lost: Option<String>,
    is_blocked: bool,
}

/// How far a runner is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It connects.
    Opening,
    /// Its clock is compared.
    Comparing,
    /// It takes commands.
    Ready,
}

/// A place for one command at a time.
#[derive(Default)]
struct Place {
    state: PlaceState,
    /// The number of the command that is or was under way.
    number: u32,
    /// When it was handed over.
    handed_over: Nanos,
    /// When it is due, if it is to wait.
    due: Option<Nanos>,
    /// When the driver was called.
    sent: Nanos,
    keeps: bool,
    kept: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PlaceState {
    #[default]
    Idle,
    Busy,
    /// Its command was given up; the driver still has it.
    Stale,
    /// It is seen whether the server can be reached again.
    Probing,
    Resting,
}

impl RunnerTarget {
    /// Starts the runner `command` and has it connect; each place reports when it is up.
    ///
    /// # Errors
    /// When the runner can't be started.
    pub fn new(
        command: &[String],
        opening: Opening,
        statements: Option<Statements>,
        plan: &Plan,
        places: usize,
    ) -> io::Result<Self> {
        // First: the runner inherits timers without slack.
        let poller = Poller::new(Ending::ByTimer)?;
        let process = Process::start(command)?;
        poller.add(process.from(), FROM_RUNNER, Interest::Readable)?;
        if let Some(end) = process.end() {
            poller.add(end, END_OF_RUNNER, Interest::Readable)?;
        }
        let workers = places.div_ceil(plan.places_per_user());
        let mut target = Self {
            clock: Clock::start(),
            process,
            opening,
            client: plan.target.client().unwrap_or_default().to_owned(),
            poller,
            places: (0..places).map(|_| Place::default()).collect(),
            workers_done: vec![0; workers],
            stage: Stage::Opening,
            ahead_ns: 0,
            report: RunnerReport { workers, ..RunnerReport::default() },
            asked: (0, 0),
            answers: 0,
            reading: None,
            next_question: None,
            standstills: StandstillLog::new(0, Reading::default()),
            correction_ns: 0,
            correction_error_ns: 0,
            statements,
            request: Vec::new(),
            message: Vec::new(),
            events: VecDeque::new(),
            resting: VecDeque::new(),
            lost: None,
            is_blocked: false,
        };
        let Self { process, opening, .. } = &mut target;
        frame::append(process.outgoing(), to_runner::OPEN, |out| opening.append(out, plan, workers));
        target.flush();
        Ok(target)
    }

    /// The number of its process.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Sends what waits, and watches for room where the pipe is full.
    fn flush(&mut self) {
        let is_blocked = match self.process.flush() {
            Ok(is_sent) => !is_sent,
            // It has ended, or will: what it says by the other pipe tells why.
            Err(_) => return,
        };
        if is_blocked != self.is_blocked {
            let watched = if is_blocked {
                self.poller.add(self.process.to(), TO_RUNNER, Interest::Writable)
            } else {
                self.poller.remove(self.process.to())
            };
            if let Err(error) = watched {
                self.lose(&format!("can't be watched: {error}"));
            }
            self.is_blocked = is_blocked;
        }
    }

    /// Takes what the runner has told.
    fn receive(&mut self) {
        let goes_on = self.process.receive();
        let arrived = std::mem::take(&mut self.process.arrived);
        let now_ns = monotonic_ns();
        let mut taken = 0;
        while self.lost.is_none() {
            match frame::first(&arrived[taken..]) {
                Ok(Some((found, length))) => {
                    self.follow(found, &arrived[taken..taken + length], now_ns);
                    taken += length;
                }
                Ok(None) => break,
                Err(reason) => {
                    let shown =
                        String::from_utf8_lossy(&arrived[taken..arrived.len().min(taken + 60)]).into_owned();
                    self.lose(&format!("sent what is no frame, {reason}: {}", shown.escape_debug()));
                }
            }
        }
        self.process.arrived = arrived;
        self.process.arrived.drain(..taken);
        if !matches!(goes_on, Ok(true)) {
            self.ended();
        }
    }

    /// It tells nothing more.
    fn ended(&mut self) {
        if self.lost.is_none() {
            match self.process.status() {
                Some(status) => self.lose(&format!("has ended with {status}")),
                None => self.lose("has closed its output, and goes on"),
            }
        }
    }

    fn follow(&mut self, found: Frame, bytes: &[u8], now_ns: u64) {
        match found {
            Frame::Ready(range) if self.stage == Stage::Opening => self.ready(&bytes[range]),
            Frame::Reply(reply) if self.stage == Stage::Ready => self.replied(&reply, bytes),
            Frame::Clock { number, now_ns: told_ns } if number == self.asked.1 => {
                self.answers += 1;
                if !self.can_be_now(told_ns, now_ns) {
                    return self.lose("tells a time that can't be: before it was asked, or after now");
                }
                let reading = ClockReading::new(self.asked.0, told_ns, now_ns.max(self.asked.0));
                let is_better = self.reading.is_none_or(|best| reading.error_ns < best.error_ns);
                self.reading = if is_better { Some(reading) } else { self.reading };
                if self.stage == Stage::Comparing {
                    self.compare_on();
                } else {
                    self.ran(self.corrected(told_ns));
                }
            }
            Frame::Use(range) => {
                let used = if self.report.used_before.is_empty() {
                    &mut self.report.used_before
                } else {
                    &mut self.report.used_after
                };
                *used = bytes[range].to_vec();
            }
            Frame::Failed(range) => {
                let message = text(&bytes[range], "message").unwrap_or_default();
                let message = self.opening.shown(&message);
                self.give_up(message);
            }
            other => self.lose(&format!("sent a frame that nobody asked for: {}", name(&other))),
        }
    }

    fn ready(&mut self, document: &[u8]) {
        let number = |name: &str| find(document, &[name]).and_then(brimline_bson::RawElement::integer);
        if number("version") != Some(frame::VERSION) {
            return self.lose(&format!("speaks another version of the protocol than {}", frame::VERSION));
        }
        let client = text(document, "client").unwrap_or_default();
        if client != self.client {
            let message = format!("says that it is {client:?}, and not {:?}", self.client);
            return self.lose(&message);
        }
        let told = number("ahead_ns").and_then(|told| u64::try_from(told).ok());
        let Some(ahead_ns) = told.filter(|&told| told <= AHEAD_NS_TOLD_MAX) else {
            return self
                .lose("asks for commands at a time that can't be: ahead_ns is not from 0 to a second");
        };
        self.ahead_ns = ahead_ns.min(AHEAD_NS_MAX);
        self.report.ready = document.to_vec();
        self.stage = Stage::Comparing;
        self.ask_clock();
    }

    fn ask_clock(&mut self) {
        self.asked = (monotonic_ns(), self.asked.1 + 1);
        let number = self.asked.1;
        frame::append(self.process.outgoing(), to_runner::CLOCK, |out| {
            out.extend_from_slice(&number.to_le_bytes());
        });
        self.flush();
    }

    /// Asks for the clock where that is due, to see whether the runner is let run.
    fn look_after(&mut self, now: Nanos) {
        if self.answers < self.asked.1 || self.next_question.is_none_or(|at| now < at) {
            return;
        }
        self.next_question = Some(now + QUESTION_EVERY_NS);
        self.standstills.resume(Reading { now, cpu_ns: self.used_ns(), suspended_ns: 0 });
        self.ask_clock();
    }

    /// It ran at `now`, on the run's clock. What lies between that and the question is counted by its own stamp, so that an engine
    /// that stood still itself is not taken for it.
    fn ran(&mut self, now: Nanos) {
        let used_ns = self.used_ns();
        self.standstills.look(now, || (used_ns, 0));
    }

    /// Processor time of the runner.
    fn used_ns(&self) -> Nanos {
        cpu_ns(self.process.id()).unwrap_or(0)
    }

    /// Whether its clock, asked for last, can say `told_ns` where the answer came at `now_ns`. Until it was compared it may be any.
    fn can_be_now(&self, told_ns: u64, now_ns: u64) -> bool {
        let Ok(told_ns) = i64::try_from(told_ns) else { return false };
        if self.stage != Stage::Ready {
            return true;
        }
        let own_ns = told_ns.saturating_sub(self.correction_ns);
        let error_ns = (STAMP_ERROR_NS + self.correction_error_ns).cast_signed();
        (self.asked.0.cast_signed() - error_ns..=now_ns.cast_signed() + error_ns).contains(&own_ns)
    }

    /// The runner's `stamp` on the run's clock.
    fn corrected(&self, stamp: u64) -> Nanos {
        self.clock.at(stamp.wrapping_add_signed(self.correction_ns.wrapping_neg()))
    }

    /// Asks for the clock once more, or takes the comparison for made.
    fn compare_on(&mut self) {
        if self.asked.1 < CLOCK_ROUNDS {
            return self.ask_clock();
        }
        self.report.clock_before = self.reading.take();
        if let Some(reading) = self.report.clock_before {
            (self.correction_ns, self.correction_error_ns) = (reading.correction_ns(), reading.error_ns);
        }
        self.stage = Stage::Ready;
        self.events.extend((0..self.places.len()).map(Event::Up));
    }

    fn replied(&mut self, told: &frame::Reply, bytes: &[u8]) {
        let connection = told.place as usize;
        let is_awaited = self.places.get(connection).is_some_and(|place| {
            place.number == told.number && !matches!(place.state, PlaceState::Idle | PlaceState::Resting)
        });
        if !is_awaited {
            return self.lose("sent a reply to what nobody asked");
        }
        let before = std::mem::replace(&mut self.places[connection].state, PlaceState::Idle);
        match (before, told.outcome) {
            // A statement that was given up may have been in a transaction.
            (PlaceState::Stale, Outcome::Answered | Outcome::Refused) if self.statements.is_some() => {
                let mut request = Vec::new();
                statements::append_rollback(&mut request);
                self.hand_over(connection, &request, PlaceState::Probing);
            }
            (PlaceState::Stale, Outcome::Lost) => self.rest(connection),
            (PlaceState::Stale, _) | (PlaceState::Probing, Outcome::Answered) => {
                self.events.push_back(Event::Up(connection));
            }
            (PlaceState::Probing, _) => self.failed(connection, told.outcome, &bytes[told.body.clone()]),
            (_, Outcome::Answered) => self.answered(connection, told, bytes),
            (_, outcome) => {
                if self.stamp(connection, told).is_some() {
                    self.failed(connection, outcome, &bytes[told.body.clone()]);
                }
            }
        }
    }

    /// When the command of a place was done, on the run's clock; `None`: the runner's stamps can't be, and it is lost.
    fn stamp(&mut self, connection: ConnectionIndex, told: &frame::Reply) -> Option<Nanos> {
        let (sent, done) = (self.corrected(told.sent_ns), self.corrected(told.done_ns));
        let now = self.clock.now();
        let place = &mut self.places[connection];
        let earliest = place.handed_over.saturating_sub(STAMP_ERROR_NS);
        if sent < earliest || done < sent || done > now + STAMP_ERROR_NS {
            self.lose("stamps what can't be: a command was done before it was sent, or after now");
            return None;
        }
        place.sent = sent;
        let worker = connection % self.workers_done.len();
        if sent < std::mem::replace(&mut self.workers_done[worker], done) {
            self.lose("stamps what can't be: a worker was sent a command before it was done with the last");
            return None;
        }
        Some(done)
    }

    fn answered(&mut self, connection: ConnectionIndex, told: &frame::Reply, bytes: &[u8]) {
        let Some(done) = self.stamp(connection, told) else { return };
        let body = &bytes[told.body.clone()];
        self.message.clear();
        op_msg::request(&mut self.message, 0, |writer| writer.encoded_elements(&body[4..body.len() - 1]));
        let mut reply = match reply::scan(&self.message) {
            Ok(reply) => facts(&reply, body.len()),
            Err(error) => return self.lose(&format!("sent a reply that is none: {error}")),
        };
        reply.cursor = 0;
        if self.statements.is_some() {
            let affected = find(body, &["affected"]).and_then(brimline_bson::RawElement::integer);
            reply.n = affected.and_then(|affected| u64::try_from(affected).ok()).unwrap_or(0);
            reply.modified = reply.n;
        }
        reply.documents = reply.documents.max(told.documents.into());
        reply.bytes += told.bytes;
        let place = &mut self.places[connection];
        if place.keeps {
            place.kept.clone_from(&self.message);
        }
        self.events.push_back(Event::Reply { connection, done, reply });
    }

    fn failed(&mut self, connection: ConnectionIndex, outcome: Outcome, body: &[u8]) {
        let class = match outcome {
            Outcome::TimedOut => FailureClass::Timeout,
            Outcome::NoConnection => FailureClass::ServerSelection,
            Outcome::Refused => FailureClass::BadReply,
            Outcome::Answered | Outcome::Lost => FailureClass::ConnectionLost,
        };
        let message = self.opening.shown(&text(body, "message").unwrap_or_default());
        let label = text(body, "label").unwrap_or_default();
        let failure = Failure { class, code: 0, label, message };
        self.events.push_back(Event::Down(connection, failure));
        if class == FailureClass::ConnectionLost {
            self.rest(connection);
        } else {
            self.events.push_back(Event::Up(connection));
        }
    }

    /// Has a place try for the server again, but not at once.
    fn rest(&mut self, connection: ConnectionIndex) {
        self.places[connection].state = PlaceState::Resting;
        self.resting.push_back((self.clock.now() + RECONNECT_AFTER_NS, connection));
    }

    /// Sees whether the server can be reached again, for the places that have rested.
    fn probe(&mut self, now: Nanos) {
        while let Some(&(at, connection)) = self.resting.front() {
            if at > now || self.lost.is_some() {
                return;
            }
            self.resting.pop_front();
            let mut ping = Vec::new();
            op_msg::request(&mut ping, 0, |writer| {
                writer.int32("ping", 1);
                writer.string("$db", "admin");
            });
            self.hand_over(connection, &ping, PlaceState::Probing);
        }
    }

    fn hand_over(&mut self, connection: ConnectionIndex, message: &[u8], state: PlaceState) {
        let now = self.clock.now();
        let place = &mut self.places[connection];
        place.number = place.number.wrapping_add(1);
        place.handed_over = now;
        place.state = state;
        let due_ns = place.due.take().filter(|&due| due > now).map_or(0, |due| self.clock.monotonic_at(due));
        let due_ns = if due_ns == 0 { 0 } else { due_ns.wrapping_add_signed(self.correction_ns) };
        let (number, keeps) = (place.number, place.keeps);
        let appended = frame::append_command(
            self.process.outgoing(),
            frame::Handed { place: connection as u32, number, due_ns, wants_documents: keeps },
            message,
        );
        match appended {
            Ok(()) => self.flush(),
            Err(error) => self.lose(&format!("can't be told: {error}")),
        }
    }

    /// There is no runner any more, for `reason`, with its last words.
    fn lose(&mut self, reason: &str) {
        if self.lost.is_none() {
            let words = self.process.last_words().map(|line| format!(": {line}")).unwrap_or_default();
            let message = self.opening.shown(&format!("the runner {reason}{words}"));
            self.give_up(message);
        }
    }

    fn give_up(&mut self, message: String) {
        let down =
            |connection| Event::Down(connection, Failure::new(FailureClass::ConnectionLost, message.clone()));
        self.events.extend((0..self.places.len()).map(down));
        for place in &mut self.places {
            place.state = PlaceState::Resting;
        }
        self.resting.clear();
        self.lost.get_or_insert(message);
    }

    /// Waits until `is_done`, at most until `deadline`, for what comes after the run.
    fn await_end(&mut self, deadline: Nanos, is_done: impl Fn(&Self) -> bool) {
        while !is_done(self) && self.lost.is_none() && self.clock.now() < deadline {
            if self.wait(deadline).is_err() {
                return;
            }
        }
    }
}

fn text(document: &[u8], name: &str) -> Option<String> {
    find(document, &[name])?.string().map(reply::words)
}

fn name(found: &Frame) -> &'static str {
    match found {
        Frame::Ready(_) => "ready",
        Frame::Reply(_) => "a reply",
        Frame::Clock { .. } => "a clock",
        Frame::Use(_) => "what it has used",
        Frame::Failed(_) => "a failure",
    }
}

impl Target for RunnerTarget {
    const STAMPS_SENT: bool = true;

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn begin(&mut self, clock: Clock) {
        self.clock = clock;
        self.next_question = Some(clock.now());
        frame::append(self.process.outgoing(), to_runner::USE, |_| ());
        self.flush();
    }

    fn wait(&mut self, until: Nanos) -> io::Result<()> {
        let mut now = self.clock.now();
        self.probe(now);
        self.look_after(now);
        let until = self.resting.front().map_or(until, |&(at, _)| at.min(until));
        if self.lost.is_some() || !self.events.is_empty() {
            now = until;
        }
        self.poller.wait(until.saturating_sub(now))?;
        while let Some(token) = self.poller.next_ready() {
            match token {
                TO_RUNNER => self.flush(),
                _ if self.lost.is_some() => {}
                END_OF_RUNNER => {
                    self.receive();
                    // What it started may hold its output open.
                    self.ended();
                }
                _ => self.receive(),
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

    fn render(
        &mut self,
        connection: ConnectionIndex,
        request: Request,
        values: &[u8],
        looks: ReplyLooks,
    ) -> Result<u64, String> {
        let statements = self.statements.as_ref().ok_or("the plan's driver takes no statements")?;
        self.places[connection].keeps = looks != ReplyLooks::default();
        self.request.clear();
        statements.append(request, values, &mut self.request)?;
        Ok(self.request.len() as u64)
    }

    fn start_within_ns(&self) -> Nanos {
        START_WITHIN_NS
    }

    fn ahead_ns(&self) -> Nanos {
        self.ahead_ns
    }

    fn set_due(&mut self, connection: ConnectionIndex, due: Option<Nanos>) {
        self.places[connection].due = due;
    }

    fn sent(&self, connection: ConnectionIndex) -> Nanos {
        self.places[connection].sent
    }

    fn send(
        &mut self,
        connection: ConnectionIndex,
        _request_id: i32,
        _documents: u32,
    ) -> Result<(), Failure> {
        let request = std::mem::take(&mut self.request);
        self.hand_over(connection, &request, PlaceState::Busy);
        self.request = request;
        Ok(())
    }

    /// The driver keeps what it has; the place is up again when the driver is done with it.
    fn reset(&mut self, connection: ConnectionIndex) {
        let place = &mut self.places[connection];
        if place.state == PlaceState::Busy {
            place.state = PlaceState::Stale;
        }
    }

    fn missing(&self) -> Option<String> {
        let held = self.places.iter().filter(|place| place.state == PlaceState::Stale).count();
        if self.answers < self.asked.1 && monotonic_ns().saturating_sub(self.asked.0) >= HANGS_AFTER_NS {
            return Some("the runner stands still: it doesn't even tell what its clock says".to_owned());
        }
        (held > 0).then(|| format!("the driver still waits for the answers to {held} commands"))
    }

    fn distrust(&mut self, reason: &str) {
        self.lose(reason);
    }

    fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    fn keep_reply(&mut self, connection: ConnectionIndex, is_kept: bool) {
        self.places[connection].keeps = is_kept;
    }

    fn kept_reply(&mut self, connection: ConnectionIndex) -> Option<KeptReply<'_>> {
        let kept = &self.places[connection].kept;
        match self.statements {
            None => KeptReply::of_message(kept),
            Some(_) => op_msg::parse(kept).ok().map(|message| KeptReply::of_view(message.body)),
        }
    }

    fn finish(&mut self) -> Option<RunnerReport> {
        let deadline = self.clock.now() + CLOSE_WITHIN_NS;
        self.next_question = None;
        frame::append(self.process.outgoing(), to_runner::USE, |_| ());
        self.flush();
        self.await_end(deadline, |target| {
            !target.report.used_after.is_empty() && target.answers == target.asked.1
        });
        if self.answers < self.asked.1 {
            self.ran(self.clock.now());
        }
        let standstills = std::mem::replace(&mut self.standstills, StandstillLog::new(0, Reading::default()));
        self.report.standstills = standstills.finish();
        self.reading = None;
        for _ in 0..CLOCK_ROUNDS {
            if self.answers < self.asked.1 {
                break;
            }
            self.ask_clock();
            self.await_end(deadline, |target| target.answers == target.asked.1);
        }
        self.report.clock_after = self.reading.take();
        frame::append(self.process.outgoing(), to_runner::CLOSE, |_| ());
        self.flush();
        self.await_end(deadline, |_| false);
        Some(std::mem::take(&mut self.report))
    }

    fn cpu_ns(&self) -> Nanos {
        thread_cpu_ns()
    }
}
