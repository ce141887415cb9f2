//! How a worker goes through the steps of operations of the person's own: completes their commands, follows cursors, judges replies,
//! pauses between steps, and ends the transaction of an operation that failed within it.

use brimline_net::link::{self, Looks as ReplyLooks, Request};

use super::Worker;
use crate::clock::{NANOS_PER_MS, Nanos, wall_now_ms};
use crate::command::{Command, Opcounter};
use crate::command::{Part, StepRef};
use crate::failure::{CommandFailure, Failure, FailureClass};
use crate::finished::{Ending, Finished};
use crate::flight::InFlight;
use crate::mission::Sink;
use crate::operation::Operation;
use crate::own::plan::{AtEnd, StepAccess};
use crate::own::replies::{Brought, Values};
use crate::own::state::StepSoFar;
use crate::own::state::draw_index;
use crate::pacer::Closed;
use crate::target::{ConnectionIndex, ReplyFacts, Target};
use crate::users::Next;

/// Rest of a connection whose operation ended before anything of it was sent.
const MISFIT_REST_NS: Nanos = NANOS_PER_MS;

impl<T: Target, S: Sink> Worker<'_, T, S> {
    /// Begins an operation of the person's own.
    #[inline(never)]
    pub(super) fn begin_steps(
        &mut self,
        connection: ConnectionIndex,
        operation: Operation,
        place: u8,
        due: Option<Nanos>,
    ) {
        let own = self.mission.commands.own();
        let settled = self.inserts_settled();
        self.own_states[connection].begin(own, place, self.stream.counters(), settled);
        let step = own.first_step(place).reference();
        let request_id = self.next_request_id();
        let rendered = self.render_step(connection, (step, Part::Main), &operation, request_id, true);
        let (sent, inserts_before) = (self.target.now(), self.stream.inserts_before_next());
        let command = Command::Step(step, Part::Main);
        let flight = InFlight::new(operation, 0, command, due, sent, inserts_before);
        let bytes_out = match rendered {
            Ok(bytes_out) => bytes_out,
            Err(misfit) => return self.misfit_at_once(connection, &flight, step, &misfit),
        };
        self.note_step_sent(connection, (step, Part::Main), sent, bytes_out, false);
        self.launch(connection, InFlight { bytes_out, ..flight }, request_id);
    }

    /// Sends a batch of a load as a request behind a link.
    #[inline(never)]
    pub(super) fn begin_bulk(
        &mut self,
        connection: ConnectionIndex,
        operation: Operation,
        record: u64,
        due: Option<Nanos>,
    ) {
        let request_id = self.next_request_id();
        let command = self.mission.commands.first(&operation);
        self.values.clear();
        self.mission.commands.append_batch(&operation, record, &mut self.values);
        let request = Request { step: 0, part: link::Part::Bulk };
        let rendered = self.target.render(connection, request, &self.values, ReplyLooks::default());
        let sent = self.target.now();
        let flight = InFlight::new(operation, record, command, due, sent, self.stream.inserts_before_next());
        match rendered {
            Ok(bytes_out) => self.launch(connection, InFlight { bytes_out, ..flight }, request_id),
            Err(reason) => {
                self.launch_failed(connection, &flight, &reason);
            }
        }
    }

    /// Counts an operation as failed whose request can't be made, and lets its connection rest.
    fn launch_failed(&mut self, connection: ConnectionIndex, flight: &InFlight, reason: &str) {
        let held_back = flight.due.is_some_and(|due| self.slots.held_back(due));
        self.note_sent_apart(flight, held_back);
        self.slots.occupy(connection, *flight);
        let failure = Failure::new(FailureClass::Unexpected, format!("a document can't be a row: {reason}"));
        self.finish_apart(flight, flight.sent, Ending::Failed);
        self.summary.failed(flight.operation.kind, flight.command, failure.into());
        self.rest_a_moment(connection, flight.operation.index, flight.sent);
    }

    /// Sends a message of a step of the operation on `connection`, or the same once more.
    #[inline(never)]
    pub(super) fn go_on_with_step(
        &mut self,
        connection: ConnectionIndex,
        mut flight: InFlight,
        step: StepRef,
        part: Part,
    ) {
        let command = Command::Step(step, part);
        let request_id = self.next_request_id();
        let advances = command.is_numbered() && !flight.is_retry && !command.continues();
        let rendered = self.render_step(connection, (step, part), &flight.operation, request_id, advances);
        flight.command = command;
        flight.command_sent = self.target.now();
        let bytes_out = match rendered {
            Ok(bytes_out) => bytes_out,
            Err(misfit) => return self.misfit(connection, &flight, step, &misfit),
        };
        flight.bytes_out += bytes_out;
        self.note_step_sent(connection, (step, part), flight.command_sent, bytes_out, flight.is_retry);
        self.slots.update(connection, flight);
        if let Err(failure) = self.target.send(connection, request_id, flight.operation.documents) {
            self.fail_connection(connection, failure);
        }
    }

    /// Whether rows that operations take have come to their end.
    pub(super) fn is_dry(&mut self) -> bool {
        if self.dry_at.is_some() {
            return true;
        }
        let Some(end) = self.stream.end_of_rows() else { return false };
        self.dry_at = Some(self.stream.peek_index());
        if end == AtEnd::Error {
            self.mission.control.run_dry("the rows that operations take have come to their end".to_owned());
        }
        true
    }

    /// Appends the message `part` of a step to the request of `connection`.
    #[inline(never)]
    pub(super) fn render_step(
        &mut self,
        connection: ConnectionIndex,
        (step, part): (StepRef, Part),
        operation: &Operation,
        request_id: i32,
        advances: bool,
    ) -> Result<u64, String> {
        let own = self.mission.commands.own();
        let index = draw_index(self.mission.load, operation.index);
        let worker = (self.first_connection + connection) as u32;
        let prepared = own.step(step.number);
        if let Some(looks) = prepared.request_looks() {
            return self.render_request(connection, (step, part), index, looks);
        }
        self.target.keep_reply(connection, prepared.looks_into_replies());
        let cursor = self.own_states[connection].cursor;
        let mut draw = self.own_states[connection].draw(own, index, worker, wall_now_ms());
        self.target.route(connection, step.is_read(), prepared.record(own.world(), &draw));
        let request = self.target.request(connection);
        prepared
            .render((part, cursor), own.world(), &mut draw, request_id, request)
            .map_err(|misfit| misfit.to_string())?;
        self.mission.stamp(Command::Step(step, part), self.sessions.get_mut(connection), advances, request);
        Ok(request.len() as u64)
    }

    /// Renders the request of a step of another protocol.
    fn render_request(
        &mut self,
        connection: ConnectionIndex,
        (step, part): (StepRef, Part),
        index: u64,
        looks: ReplyLooks,
    ) -> Result<u64, String> {
        let own = self.mission.commands.own();
        let worker = (self.first_connection + connection) as u32;
        let mut draw = self.own_states[connection].draw(own, index, worker, wall_now_ms());
        let values = own.step(step.number).values(own.world(), &mut draw, &mut self.values);
        let values = values.map_err(|misfit| misfit.to_string())?;
        let part = if part == Part::Abort { link::Part::Rollback } else { link::Part::Main };
        let request = Request { step: step.number, part };
        self.target.render(connection, request, values, looks)
    }

    /// A value of a step is of a type that its place can't have: the operation has failed, and nothing of the step was sent.
    #[inline(never)]
    pub(super) fn misfit(
        &mut self,
        connection: ConnectionIndex,
        flight: &InFlight,
        step: StepRef,
        misfit: &str,
    ) {
        let now = self.target.now();
        let message = format!("a value can't be made: {misfit}");
        let failure = Failure::new(FailureClass::Unexpected, message);
        self.own_states[connection].step = StepSoFar { sent: now, ..StepSoFar::default() };
        if self.end_failed(connection, flight, step, failure.into(), now) {
            self.rest_a_moment(connection, flight.operation.index, now);
        }
    }

    /// Lets a connection rest whose operation ended without a word to the target. At once, a closed loop of such operations would
    /// never look at the time.
    fn rest_a_moment(&mut self, connection: ConnectionIndex, index: u64, now: Nanos) {
        if self.pace.finished(connection, index, now) == Next::Send {
            self.pauses.add(now + MISFIT_REST_NS, connection);
        }
        self.slots.release_to_rest(connection, now);
    }

    /// The same of an operation that was not begun.
    fn misfit_at_once(
        &mut self,
        connection: ConnectionIndex,
        flight: &InFlight,
        step: StepRef,
        misfit: &str,
    ) {
        let held_back = flight.due.is_some_and(|due| self.slots.held_back(due));
        self.note_sent_apart(flight, held_back);
        self.slots.occupy(connection, *flight);
        self.misfit(connection, flight, step, misfit);
    }

    /// Notes that a message of a step was sent.
    fn note_step_sent(
        &mut self,
        connection: ConnectionIndex,
        (step, part): (StepRef, Part),
        sent: Nanos,
        bytes_out: u64,
        is_retry: bool,
    ) {
        let so_far = &mut self.own_states[connection].step;
        if part == Part::Main && !is_retry {
            *so_far = StepSoFar { sent, ..StepSoFar::default() };
            if step.opcounter == Opcounter::Insert {
                self.summary.inserts.sent += u64::from(step.statements);
            }
        }
        so_far.bytes_out += bytes_out;
    }

    /// Follows the reply to a message of a step.
    #[inline(never)]
    pub(super) fn step_replied(
        &mut self,
        connection: ConnectionIndex,
        mut flight: InFlight,
        (step, part): (StepRef, Part),
        done: Nanos,
        mut reply: ReplyFacts,
        offering: bool,
    ) {
        let server = self.target.server(connection);
        self.summary.step_answered(server, step, part);
        if part == Part::Abort {
            // Its operation was counted when it failed.
            return self.free(connection, &flight, done, offering);
        }
        let is_trouble = reply.failure.is_some() || flight.is_retry || self.outages.is_troubled();
        if is_trouble && !self.is_final(connection, &flight, done, &mut reply) {
            return;
        }
        self.summary.answered(server, &flight, &reply);
        self.summary.step_brought(server, step, &reply);
        let own = self.mission.commands.own();
        let prepared = own.step(step.number);
        let state = &mut self.own_states[connection];
        state.step.documents += reply.documents;
        state.step.bytes_in += reply.bytes;
        flight.documents += handled(step, &reply);
        // A driver says when a result is whole, and not when its first bytes came.
        if !T::STAMPS_SENT && prepared.request_looks().is_some() {
            let times = self.target.times(connection);
            let phase = self.mission.intervals.offering_phase(flight.due.unwrap_or(flight.sent));
            self.recorder.request(phase, flight.operation.kind, times, flight.command_sent, done);
        }
        if let Some(failure) = reply.failure {
            return self.step_failed(connection, &flight, step, *failure, done, offering);
        }
        if reply.cursor != 0 && prepared.has_cursor() {
            flight.is_retry = false;
            state.cursor = reply.cursor;
            return self.go_on(connection, flight, Command::Step(step, Part::More));
        }
        if let Some(checks) = prepared.checks() {
            let index = draw_index(self.mission.load, flight.operation.index);
            let worker = (self.first_connection + connection) as u32;
            let kept = self.target.kept_reply(connection);
            let brought = Brought { documents: state.step.documents, facts: &reply, kept };
            let draw = state.draw(own, index, worker, wall_now_ms());
            let mut values = Values { world: own.world(), draw, scratch: &mut self.values };
            let judged = checks.judge(&brought, &mut values);
            if let Err(failure) = judged.and_then(|()| checks.save(&brought, &mut state.saved)) {
                return self.step_failed(connection, &flight, step, failure.into(), done, offering);
            }
        }
        let ending = self.own_states[connection].note_found(prepared, &reply);
        self.record_step(connection, &flight, step, done, ending);
        if let Some(next) = prepared.next() {
            flight.is_retry = false;
            return self.take_step(connection, flight, next, done);
        }
        let ending = self.own_states[connection].ending();
        self.finish_apart(&flight, done, ending);
        self.free(connection, &flight, done, offering);
    }

    /// Sends step `next`, at once or after its pause.
    fn take_step(&mut self, connection: ConnectionIndex, mut flight: InFlight, next: u16, done: Nanos) {
        let step = self.mission.commands.own().step(next);
        let command = Command::Step(step.reference(), Part::Main);
        let Some(think_time) = step.think_time() else { return self.go_on(connection, flight, command) };
        // Each step of an operation thinks for itself.
        let index = flight.operation.index.wrapping_mul(1 << 12).wrapping_add(u64::from(next));
        let until = done + Closed::new(Some(think_time), self.mission.seed).think_ns(index);
        flight.command = command;
        flight.command_sent = Nanos::MAX; // nothing is awaited
        self.slots.update(connection, flight);
        self.pauses.add(until, connection);
    }

    /// Sends the steps whose pause is over at `now`.
    #[inline(never)]
    pub(super) fn end_pauses(&mut self, now: Nanos) {
        while let Some(connection) = self.pauses.over(now) {
            // A connection that broke meanwhile has taken its operation with it.
            if let Some(flight) =
                self.slots.in_flight(connection).filter(|flight| flight.command_sent == Nanos::MAX)
            {
                self.go_on(connection, flight, flight.command);
            } else if self.slots.is_resting(connection) {
                self.slots.wake(connection, now);
            }
        }
    }

    /// The operation ends with a failure of `step`, and its connection takes the next one.
    fn step_failed(
        &mut self,
        connection: ConnectionIndex,
        flight: &InFlight,
        step: StepRef,
        failure: CommandFailure,
        done: Nanos,
        offering: bool,
    ) {
        if self.end_failed(connection, flight, step, failure, done) {
            self.free(connection, flight, done, offering);
        }
    }

    /// The operation ends with a failure of `step`. Whether its connection is free: it isn't while a transaction that was open is
    /// being ended.
    fn end_failed(
        &mut self,
        connection: ConnectionIndex,
        flight: &InFlight,
        step: StepRef,
        failure: CommandFailure,
        done: Nanos,
    ) -> bool {
        self.record_step(connection, flight, step, done, Ending::Failed);
        self.finish_apart(flight, done, Ending::Failed);
        let is_open = step.transaction.is_some() && failure.leaves_transaction_open();
        self.summary.failed(flight.operation.kind, flight.command, failure);
        if !is_open || self.mission.control.aborted() {
            return true;
        }
        let over = InFlight { is_retry: false, ..*flight };
        self.go_on(connection, over, Command::Step(step, Part::Abort));
        false
    }

    /// `finish`, out of line: the path of the operations that every plan knows stays as short as it was.
    #[inline(never)]
    pub(super) fn finish_apart(&mut self, flight: &InFlight, done: Nanos, ending: Ending) {
        self.finish(flight, done, ending);
    }

    /// `note_sent`, likewise.
    #[inline(never)]
    pub(super) fn note_sent_apart(&mut self, flight: &InFlight, held_back: bool) {
        self.note_sent(flight, held_back);
    }

    /// `release`, likewise.
    #[inline(never)]
    fn release_apart(&mut self, connection: ConnectionIndex, index: u64, done: Nanos, offering: bool) {
        self.release(connection, index, done, offering);
    }

    /// Gives a connection whose operation is over its next one.
    fn free(&mut self, connection: ConnectionIndex, flight: &InFlight, done: Nanos, offering: bool) {
        if self.target.retire(connection) {
            self.leave(connection, self.target.now(), true);
        } else {
            self.release_apart(connection, flight.operation.index, done, offering);
        }
    }

    /// Records a step that finished, of an operation of several.
    pub(super) fn record_step(
        &mut self,
        connection: ConnectionIndex,
        flight: &InFlight,
        step: StepRef,
        done: Nanos,
        ending: Ending,
    ) {
        self.summary.step_ended(self.target.server(connection), step, ending);
        if self.mission.commands.own().step(step.number).is_alone() {
            return;
        }
        let StepSoFar { sent, documents, bytes_out, bytes_in } = self.own_states[connection].step;
        let phase = self.mission.intervals.offering_phase(flight.due.unwrap_or(flight.sent));
        let done = done.max(sent);
        let finished =
            Finished { due: None, sent, done, ending, documents, bytes_out, bytes_in, second: None };
        self.recorder.step(phase, usize::from(step.number), &finished);
    }
}

/// How many documents a reply says that it returned or changed.
fn handled(step: StepRef, reply: &ReplyFacts) -> u64 {
    match step.access {
        StepAccess::Read => reply.documents,
        StepAccess::Write | StepAccess::Command => reply.documents.max(reply.n),
    }
}
