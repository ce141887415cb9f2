//! One thread of a run: its share of the operations, its connections, its recorder. Workers share nothing while they
//! work; what they have in common is computed, not agreed upon.

mod attempts;
mod closing;
mod news;
mod stepping;
mod trouble;
mod verifying;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use brimline_wire::session::Session;

use self::attempts::Attempts;
use self::trouble::Retries;
use crate::clock::{Clock, NANOS_PER_S, Nanos};
use crate::command::Command;
use crate::finished::{Ending, Finished, SecondStep};
use crate::flight::{InFlight, Patience, Step, judge};
use crate::load::Places;
use crate::mission::{Mission, Sink};
use crate::operation::Operation;
use crate::outage::OutageLog;
use crate::own::state::{OwnState, Pauses};
use crate::pace::{Due, Pace};
use crate::recorder::Recorder;
use crate::rhythm::Rhythm;
use crate::slots::Slots;
use crate::standstill::{Reading, StandstillLog};
use crate::target::{ConnectionIndex, Event, ReplyFacts, Target};
use crate::totals::WorkerSummary;
use crate::users::Next;
use crate::workload::OperationStream;

/// Longest wait without a look at the controls.
const LOOK_UP_NS: Nanos = NANOS_PER_S / 50;
/// An open loop leaves replies alone until the next operation is due when that is no longer than this.
const NEXT_DUE_NS_MAX: Nanos = NANOS_PER_S / 1_000;
/// Most events followed before the clock and the controls are looked at again. A target that answers at once would
/// otherwise never let the worker go.
const EVENTS_PER_TURN: usize = 256;

/// One worker.
pub struct Worker<'r, T: Target, S: Sink> {
    mission: &'r Mission<'r>,
    target: T,
    sink: S,
    shard: u64,
    stream: OperationStream<'r>,
    pace: Pace<'r>,
    slots: Slots,
    request_id: i32,
    recorder: Recorder,
    summary: WorkerSummary,
    /// When the last operation could have been due; `None` while operations are offered.
    offer_end: Option<Nanos>,
    /// Of a closed loop that may leave replies alone for a moment.
    rhythm: Option<Rhythm>,
    /// Whether replies of an open loop may lie until the next operation is due: they are timed by their arrival, and nothing
    /// waits for them while a connection is free.
    may_lie: bool,
    /// Until when to leave events alone.
    next_look: Option<Nanos>,
    /// When a closed loop looked last. Replies may have arrived well before, and the window may be over by now.
    looked_at: Nanos,
    notes_looks: bool,
    interval_start: Nanos,
    next_cut: Nanos,
    patience: Patience,
    cpu_at_cut: Nanos,
    /// One per connection where writes are sent again or there are transactions, else none.
    sessions: Vec<Session>,
    retries: Retries,
    attempts: Attempts,
    outages: OutageLog,
    standstills: StandstillLog,
    /// When operations were last refused for want of a server.
    refused_at: Nanos,
    /// What connections keep for operations of the person's own: one each, none of a plan without such.
    own_states: Vec<OwnState>,
    /// Where what a request's slots hold is written before the request is rendered.
    values: Vec<u8>,
    pauses: Pauses,
    /// The operation for which there was no row any more.
    dry_at: Option<u64>,
    /// The number of its first connection among those of the run.
    first_connection: usize,
}

impl<'r, T: Target, S: Sink> Worker<'r, T, S> {
    /// A worker for shard `shard` on a target with as many connections as it has places.
    ///
    /// # Errors
    /// When the system has no randomness for the sessions of its writes.
    pub fn new(
        mission: &'r Mission<'r>,
        shard: u64,
        mut target: T,
        places: Places,
        mut sink: S,
    ) -> io::Result<Self> {
        if mission.verifies_reads {
            target.keep_documents();
        }
        let Places { first, connections, in_flight_max } = places;
        let session_count = if mission.has_sessions { connections } else { 0 };
        let recorder = Recorder::logging(sink.logger());
        Ok(Self {
            mission,
            target,
            sink,
            shard,
            stream: mission.workload.stream(shard, mission.shard_count),
            pace: Pace::new(mission.pacer, places, shard, mission.shard_count),
            slots: Slots::new(connections, in_flight_max as u64),
            request_id: 0,
            recorder,
            summary: mission.workload.empty_summary(mission.server_count),
            offer_end: None,
            rhythm: mission.pacer.may_rest().then(|| Rhythm::new(connections)),
            may_lie: mission.pacer.open().is_some() && !mission.workload.awaits_replies(),
            next_look: None,
            looked_at: 0,
            notes_looks: mission.pacer.is_back_to_back(),
            interval_start: 0,
            next_cut: mission.intervals.next_cut(0),
            patience: Patience::new(mission.operation_timeout_ns),
            cpu_at_cut: 0,
            sessions: (0..session_count).map(|_| Session::start()).collect::<io::Result<_>>()?,
            retries: Retries::default(),
            attempts: Attempts::new(mission.perseverance, connections),
            outages: OutageLog::default(),
            standstills: StandstillLog::new(LOOK_UP_NS, Reading::default()),
            refused_at: 0,
            values: Vec::new(),
            own_states: match mission.workload.own() {
                Some(mix) => (0..connections).map(|_| OwnState::new(mix.own())).collect(),
                None => Vec::new(),
            },
            pauses: Pauses::default(),
            dry_at: None,
            first_connection: first,
        })
    }

    /// Waits until every connection is up.
    ///
    /// # Errors
    /// The last reason why one is not, once the time to connect is over.
    pub fn connect(&mut self) -> Result<(), String> {
        let deadline = self.target.now() + self.target.start_within_ns() + self.mission.connect_timeout_ns;
        let mut reason = "no answer to the handshake".to_owned();
        while self.slots.up_count() < self.slots.count() {
            if self.mission.control.stopped() {
                return Err("stopped while connecting".to_owned());
            }
            if let Some(reason) = self.target.lost() {
                return Err(reason.to_owned());
            }
            if self.target.now() >= deadline {
                let (up, wanted) = (self.slots.up_count(), self.slots.count());
                return Err(format!("{reason} ({up} of {wanted} connections are up)"));
            }
            let until = deadline.min(self.target.now() + LOOK_UP_NS);
            self.target.wait(until).map_err(|error| error.to_string())?;
            while let Some(event) = self.target.next_event() {
                match event {
                    Event::Up(connection) => self.up(connection, 0),
                    Event::Down(connection, failure) => {
                        reason = failure.message;
                        self.slots.down(connection, 0);
                    }
                    Event::Reply { .. } => {}
                }
            }
            self.progress().connections_up.store(self.slots.up_count(), Relaxed);
        }
        Ok(())
    }

    /// Offers operations until the plan or the controls end it, drains, and returns the totals.
    ///
    /// # Errors
    /// When waiting for sockets fails.
    pub fn run(mut self, clock: Clock) -> io::Result<WorkerSummary> {
        self.target.begin(clock);
        self.cpu_at_cut = self.target.cpu_ns();
        let suspended_ns = self.target.suspended_ns();
        let begun = Reading { now: self.target.now(), cpu_ns: self.cpu_at_cut, suspended_ns };
        self.standstills = StandstillLog::new(LOOK_UP_NS, begun);
        while let Some(now) = self.offering_at() {
            self.send_due(now);
            if self.is_exhausted() && !self.may_attempt_again() {
                break;
            }
            let until = self.next_look(now);
            self.turn(until, true)?;
        }
        self.close_offer();
        self.drain()?;
        self.settle_unfinished();
        self.settle_sessions();
        self.summary.outages = self.outages.finish(|| self.target.primary(None));
        self.summary.connects = self.target.connects();
        self.summary.looks = self.target.looks();
        self.summary.log_lost = self.recorder.finish_log();
        self.summary.runners.extend(self.target.finish());
        let Self { target, standstills, mut summary, .. } = self;
        summary.standstills = standstills.finish();
        let closing = clock.now();
        drop(target);
        summary.close_ns = clock.now() - closing;
        Ok(summary)
    }

    /// The time, as long as operations are still offered.
    fn offering_at(&self) -> Option<Nanos> {
        let now = self.target.now();
        self.offers_at(now).then_some(now)
    }

    fn offers_at(&self, now: Nanos) -> bool {
        let goes_on = self.mission.load == 0 || !self.mission.control.main_is_over();
        goes_on && !self.mission.control.stopped() && self.mission.intervals.end().is_none_or(|end| now < end)
    }

    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    fn is_exhausted(&mut self) -> bool {
        let is_counted = self.mission.operation_count.is_some_and(|count| self.stream.peek_index() >= count);
        is_counted || (self.mission.has_ends && self.is_dry())
    }

    /// Sends what is due at `now` as long as connections are free.
    fn send_due(&mut self, now: Nanos) {
        self.pace.wake(&mut self.slots, now);
        self.attempt_again(now);
        while let Some(connection) = self.slots.next_free() {
            if self.is_exhausted() {
                return;
            }
            let soon = now + self.target.ahead_ns();
            let due = match self.pace.due_at(self.stream.peek_index(), connection, soon) {
                Due::Since(due) if self.is_offered(due) => Some(due),
                Due::WhenFree => None,
                Due::Since(_) | Due::Later => {
                    self.slots.caught_up();
                    return;
                }
            };
            self.start(connection, due);
        }
    }

    /// When the next operation is due; `None` when nothing more will be, or it goes out when a connection is free.
    fn next_due(&mut self) -> Option<Nanos> {
        if self.is_exhausted() { None } else { self.pace.due(self.stream.peek_index()) }
    }

    fn is_offered(&self, due: Nanos) -> bool {
        self.mission.intervals.end().is_none_or(|end| due < end)
    }

    /// How long to wait for events.
    fn next_look(&mut self, now: Nanos) -> Nanos {
        let until = self.next_cut.min(now + LOOK_UP_NS);
        let until = self.pauses.next().map_or(until, |next| next.min(until));
        let next_due = if self.slots.next_free().is_some() { self.next_due() } else { None };
        let next_due = next_due.map(|due| due.saturating_sub(self.target.ahead_ns()));
        if self.may_lie {
            self.next_look = next_due.filter(|&due| due <= now + NEXT_DUE_NS_MAX);
        }
        let next_send = next_due.or_else(|| self.pace.next_wake());
        next_send.into_iter().chain(self.next_attempt()).fold(until, Nanos::min)
    }

    /// Waits once, follows every event, and does what the time asks for. Connections that become free get the next
    /// operation at once while `offering`.
    fn turn(&mut self, until: Nanos, offering: bool) -> io::Result<()> {
        if let Some(next_look) = self.next_look {
            self.target.rest(next_look.min(until))?;
            if self.may_lie && offering {
                self.send_due(self.target.now());
            }
        }
        self.target.wait(until)?;
        if self.notes_looks {
            self.looked_at = self.target.now();
        }
        let mut replies = 0;
        while replies < EVENTS_PER_TURN {
            match self.target.next_event() {
                None => break,
                Some(Event::Reply { connection, done, reply }) => {
                    replies += 1;
                    self.reply(connection, done, reply, offering);
                }
                Some(Event::Up(connection)) => self.up(connection, self.target.now()),
                // Followed however many there are, so that nothing is sent on a connection that is down.
                Some(Event::Down(connection, failure)) => self.fail_connection(connection, failure),
            }
        }
        let now = self.target.now();
        if self.pauses.next().is_some_and(|next| next <= now) {
            self.end_pauses(now);
        }
        self.standstills.look(now, || (self.target.cpu_ns(), self.target.suspended_ns()));
        if let Some(rhythm) = &mut self.rhythm {
            self.next_look = rhythm.next_look(now);
        }
        self.check_timeouts(now);
        if self.slots.up_count() < self.slots.count() {
            self.look_after_lost(now);
        }
        while now >= self.next_cut {
            self.cut(self.next_cut);
        }
        self.publish();
        Ok(())
    }

    fn start(&mut self, connection: ConnectionIndex, due: Option<Nanos>) {
        let operation = self.next_operation();
        let record = self.mission.workload.resolve(operation.key, self.inserts_settled());
        self.begin(connection, operation, record, due);
    }

    /// The stream's next operation.
    #[inline]
    fn next_operation(&mut self) -> Operation {
        let operation = self.stream.next();
        self.summary.digest = self.summary.digest.wrapping_add(operation.digest());
        operation
    }

    /// Sends the first command of `operation` on a free connection.
    #[inline]
    fn begin(&mut self, connection: ConnectionIndex, operation: Operation, record: u64, due: Option<Nanos>) {
        if let Some(place) = operation.kind.place() {
            return self.begin_steps(connection, operation, place, due);
        }
        if self.mission.is_bulk {
            return self.begin_bulk(connection, operation, record, due);
        }
        let command = self.mission.commands.first(&operation);
        let request_id = self.next_request_id();
        self.target.route(connection, command.is_read(), record);
        let request = self.target.request(connection);
        self.mission.commands.render(command, &operation, record, request_id, request);
        self.mission.stamp(command, self.sessions.get_mut(connection), command.is_numbered(), request);
        let bytes_out = request.len() as u64;
        let sent = self.target.now();
        let flight = InFlight::new(operation, record, command, due, sent, self.stream.inserts_before_next());
        self.launch(connection, InFlight { bytes_out, ..flight }, request_id);
    }

    /// Sends the rendered first command of an operation.
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    fn launch(&mut self, connection: ConnectionIndex, flight: InFlight, request_id: i32) {
        if let Some(rhythm) = &mut self.rhythm {
            rhythm.sent(connection, flight.sent);
        }
        let held_back = flight.due.is_some_and(|due| self.slots.held_back(due));
        self.note_sent(&flight, held_back);
        self.slots.occupy(connection, flight);
        self.target.set_due(connection, flight.due);
        if let Err(failure) = self.target.send(connection, request_id, flight.operation.documents) {
            self.fail_connection(connection, failure);
        }
    }

    /// Counts an operation that begins.
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    fn note_sent(&mut self, flight: &InFlight, held_back: bool) {
        let InFlight { operation, due, sent, .. } = *flight;
        let phase = self.mission.intervals.offering_phase(due.unwrap_or(sent));
        let lagging = if T::STAMPS_SENT { None } else { due };
        self.recorder.sent(phase, operation.kind, lagging, sent, held_back);
        self.summary.kinds[operation.kind.row()].sent += 1;
        if flight.command.inserts() && !flight.command.is_step() {
            self.summary.inserts.sent += flight.statements();
        }
    }

    /// Sends the next command of the operation on `connection`, or the same once more under the number it had.
    fn go_on(&mut self, connection: ConnectionIndex, mut flight: InFlight, command: Command) {
        if let Command::Step(step, part) = command {
            return self.go_on_with_step(connection, flight, step, part);
        }
        let request_id = self.next_request_id();
        let InFlight { operation, record, .. } = flight;
        let record = self.mission.workload.record_for(command, &operation, record);
        self.target.route(connection, command.is_read(), record);
        let request = self.target.request(connection);
        self.mission.commands.render(command, &operation, record, request_id, request);
        let advances = command.is_numbered() && !flight.is_retry && !command.continues();
        self.mission.stamp(command, self.sessions.get_mut(connection), advances, request);
        flight.bytes_out += request.len() as u64;
        flight.command = command;
        flight.command_sent = self.target.now();
        self.slots.update(connection, flight);
        if let Err(failure) = self.target.send(connection, request_id, flight.operation.documents) {
            self.fail_connection(connection, failure);
        }
    }

    fn reply(&mut self, connection: ConnectionIndex, done: Nanos, mut reply: ReplyFacts, offering: bool) {
        let Some(mut flight) = self.slots.in_flight(connection) else { return };
        if T::STAMPS_SENT {
            self.correct_sent(connection, &mut flight);
        }
        if flight.is_overstated(&reply) {
            reply = ReplyFacts::overstated(reply.bytes);
            self.target.distrust("claims more documents than the command was about");
        }
        let done = flight.done_at(done, || self.target.now());
        flight.bytes_in += reply.bytes;
        if let Command::Step(step, part) = flight.command {
            return self.step_replied(connection, flight, (step, part), done, reply, offering);
        }
        let is_trouble = reply.failure.is_some() || flight.is_retry || self.outages.is_troubled();
        if is_trouble && !self.is_final(connection, &flight, done, &mut reply) {
            return;
        }
        self.summary.answered(self.target.server(connection), &flight, &reply);
        match judge(&flight, &reply) {
            Step::Next(command) => {
                flight.documents += flight.command.handled(&reply);
                flight.first_done = (flight.operation.kind.second() == Some(command)).then_some(done);
                flight.is_retry = false;
                self.go_on(connection, flight, command);
            }
            Step::Finished(ending, documents) => {
                flight.documents += documents;
                self.finish(&flight, done, ending);
                if self.mission.verifies_reads {
                    self.verify(&flight, Some(connection));
                }
                let mut is_over = true;
                if let Some(failure) = reply.failure {
                    self.summary.failed(flight.operation.kind, flight.command, *failure);
                    is_over = !self.perseveres(connection, &flight, done);
                }
                if self.target.retire(connection) {
                    self.leave(connection, self.target.now(), is_over);
                } else if !is_over {
                    self.slots.release_to_rest(connection, done);
                } else {
                    self.release(connection, flight.operation.index, done, offering);
                }
            }
        }
    }

    /// Takes the instant that the target says for the one at which the request was handed to it.
    fn correct_sent(&mut self, connection: ConnectionIndex, flight: &mut InFlight) {
        let sent = self.target.sent(connection);
        if flight.sent == flight.command_sent {
            flight.sent = sent;
            if let Some(due) = flight.due {
                let phase = self.mission.intervals.offering_phase(due);
                self.recorder.lagged(phase, flight.operation.kind, sent.saturating_sub(due));
            }
        }
        flight.command_sent = sent;
        if let Some(state) = self.own_states.get_mut(connection) {
            state.step.sent = sent;
        }
    }

    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    fn finish(&mut self, flight: &InFlight, done: Nanos, ending: Ending) {
        let InFlight { operation, due, sent, documents, bytes_out, bytes_in, .. } = *flight;
        let phase = self.mission.intervals.offering_phase(due.unwrap_or(sent));
        let second = flight.first_done.map(|first_done| SecondStep { first_done, sent: flight.command_sent });
        let finished = Finished { due, sent, done, ending, documents, bytes_out, bytes_in, second };
        self.recorder.finished(phase, operation.kind, &finished);
        self.summary.ended(operation.kind, ending);
        let progress = self.progress();
        add(&progress.documents, documents);
    }

    /// A connection is free for its user, which may have to rest.
    fn wake(&mut self, connection: ConnectionIndex, now: Nanos) {
        if !self.resumes_attempt(connection) && self.pace.up(connection, now) == Next::Send {
            self.slots.wake(connection, now);
        }
    }

    /// Gives a connection whose operation was done at `done` its next one, or frees it, or lets its user rest.
    #[inline]
    fn release(&mut self, connection: ConnectionIndex, index: u64, done: Nanos, offering: bool) {
        match self.pace.finished(connection, index, done) {
            Next::Send => self.slots.release(connection, done),
            Next::Rest | Next::Leave => self.slots.release_to_rest(connection, done),
        }
        let now = done.max(self.looked_at);
        if offering && self.offers_at(now) {
            self.send_due(now);
        }
    }

    /// Request ids count up from 1; 0 is the handshake's.
    fn next_request_id(&mut self) -> i32 {
        self.request_id = self.request_id.checked_add(1).unwrap_or(1);
        self.request_id
    }
}

fn add(counter: &AtomicU64, value: u64) {
    counter.store(counter.load(Relaxed) + value, Relaxed);
}
