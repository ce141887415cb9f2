//! What a worker does about what fails: commands that are sent once more, connections that break, operations that no server
//! takes, and replies that don't come. Kept out of line: the path of an operation without trouble stays as short as it was.

use std::sync::atomic::Ordering::Relaxed;

use super::Worker;
use crate::clock::Nanos;
use crate::command::Command;
use crate::command::Part;
use crate::failure::{CommandFailure, Failure, FailureClass, Signs};
use crate::finished::Ending;
use crate::flight::InFlight;
use crate::mission::Sink;
use crate::own::plan::{StepAccess, TransactionPlace};
use crate::target::{ConnectionIndex, ReplyFacts, Target};

/// The first failures of commands that are sent once more, by connection.
#[derive(Debug, Default)]
pub(super) struct Retries {
    first_failures: Vec<Option<Box<FirstFailure>>>,
}

#[derive(Debug)]
struct FirstFailure {
    at: Nanos,
    failure: CommandFailure,
}

impl Retries {
    fn keep(&mut self, connection: ConnectionIndex, at: Nanos, failure: CommandFailure) {
        if self.first_failures.len() <= connection {
            self.first_failures.resize_with(connection + 1, || None);
        }
        self.first_failures[connection] = Some(Box::new(FirstFailure { at, failure }));
    }

    fn take(&mut self, connection: ConnectionIndex) -> Option<CommandFailure> {
        Some(self.first_failures.get_mut(connection)?.take()?.failure)
    }

    fn failed_at(&self, connection: ConnectionIndex) -> Option<Nanos> {
        Some(self.first_failures.get(connection)?.as_ref()?.at)
    }
}

impl<T: Target, S: Sink> Worker<'_, T, S> {
    /// Whether the operation ends with this reply, of a run in which not all goes well; else its command is sent once more.
    #[inline(never)]
    pub(super) fn is_final(
        &mut self,
        connection: ConnectionIndex,
        flight: &InFlight,
        done: Nanos,
        reply: &mut ReplyFacts,
    ) -> bool {
        let Some(failure) = reply.failure.take() else {
            self.answered_at_last(connection, flight, done);
            return true;
        };
        reply.failure = self.failed_reply(connection, flight, failure);
        reply.failure.is_some()
    }

    /// Follows a reply that is an error: sends the command once more, or hands out the failure that the operation ends with.
    fn failed_reply(
        &mut self,
        connection: ConnectionIndex,
        flight: &InFlight,
        failure: Box<CommandFailure>,
    ) -> Option<Box<CommandFailure>> {
        let now = self.target.now();
        let Signs { state_changed, wrote_nothing, .. } = failure.signs;
        if state_changed {
            self.outages.lost(now, !self.mission.is_spread);
        }
        if let Some(again) = self.another_try(flight, &failure, now) {
            self.gave_up(connection, flight, &again);
            self.retries.keep(connection, now, *failure);
            if self.target.retire(connection) {
                self.slots.park(connection, again, now);
            } else {
                self.send_again(connection, again);
            }
            return None;
        }
        if state_changed {
            self.outages.failed();
        }
        let first = self.retries.take(connection).filter(|_| flight.is_retry && wrote_nothing);
        Some(first.map_or(failure, Box::new))
    }

    /// Counts an attempt that is followed by another. Where that begins the transaction anew, the documents are sent once more.
    fn gave_up(&mut self, connection: ConnectionIndex, flight: &InFlight, again: &InFlight) {
        self.summary.gave_up_attempt(self.target.server(connection), flight);
        if !again.is_retry {
            self.summary.unknown(flight);
        }
    }

    /// Follows a reply that is no error, after something was lost or of a command that was sent twice.
    fn answered_at_last(&mut self, connection: ConnectionIndex, flight: &InFlight, done: Nanos) {
        self.outages.answered(flight.command_sent, done, || self.target.primary(Some(connection)));
        if flight.is_retry {
            self.retries.take(connection);
        }
    }

    /// What is sent after `failure`, if anything: the same command once more, or the transaction anew.
    fn another_try(&self, flight: &InFlight, failure: &CommandFailure, now: Nanos) -> Option<InFlight> {
        if self.may_send_again(flight, failure.signs, now) {
            return Some(InFlight { is_retry: true, command: flight.command.again(), ..*flight });
        }
        self.may_begin_anew(flight, failure, now)
            .then(|| flight.anew(self.mission.commands.begins_with(flight.command, &flight.operation)))
    }

    /// Each command at most once, and never a `getMore`: its cursor may have moved on. A commit is sent again whatever is said
    /// of other writes, since nothing else tells what became of it, and as often as there is time.
    fn may_send_again(&self, flight: &InFlight, signs: Signs, now: Nanos) -> bool {
        let policy = self.mission.retries;
        match flight.command {
            Command::Find | Command::Scan => policy.reads && signs.allows_read && !flight.is_retry,
            Command::Update | Command::Insert | Command::Upsert => {
                policy.writes && signs.allows_write && !flight.is_retry
            }
            Command::Commit => signs.allows_write,
            Command::CommitAgain => signs.allows_write && self.has_time(flight, now),
            Command::Step(step, part) => match step.access {
                _ if step.transaction == Some(TransactionPlace::Commit) => {
                    signs.allows_write && (part == Part::Main || self.has_time(flight, now))
                }
                _ if !step.may_repeat || part != Part::Main || flight.is_retry => false,
                StepAccess::Read => policy.reads && signs.allows_read,
                StepAccess::Write | StepAccess::Command => policy.writes && signs.allows_write,
            },
            Command::GetMore(_) | Command::Statement(_) => false,
        }
    }

    /// Whether a transaction may still be repeated, in part or as a whole: for as long as one command may take.
    fn has_time(&self, flight: &InFlight, now: Nanos) -> bool {
        now.saturating_sub(flight.sent) < self.mission.operation_timeout_ns
    }

    /// A transaction is done anew as often as the server says that it may be. What a lost connection leaves of one that was
    /// not to be committed yet is void as well.
    fn may_begin_anew(&self, flight: &InFlight, failure: &CommandFailure, now: Nanos) -> bool {
        let is_void = match flight.command {
            Command::Statement(_) => {
                failure.signs.voids_transaction || failure.first.class == FailureClass::ConnectionLost
            }
            Command::Commit | Command::CommitAgain => failure.signs.voids_transaction,
            Command::Step(step, Part::Main | Part::More | Part::Again) if step.transaction.is_some() => {
                let is_commit = step.transaction == Some(TransactionPlace::Commit);
                let is_lost = failure.first.class == FailureClass::ConnectionLost && !is_commit;
                failure.signs.voids_transaction || is_lost
            }
            _ => false,
        };
        is_void && self.has_time(flight, now)
    }

    fn send_again(&mut self, connection: ConnectionIndex, flight: InFlight) {
        self.summary.kinds[flight.operation.kind.row()].retried += 1;
        self.outages.retried();
        self.go_on(connection, flight, flight.command);
    }

    /// A connection is ready for its first operation, or again; what waits for it goes first.
    #[inline(never)]
    pub(super) fn up(&mut self, connection: ConnectionIndex, now: Nanos) {
        self.outages.up(now);
        if let Some(flight) = self.slots.up(connection) {
            return self.send_again(connection, flight);
        }
        self.wake(connection, now);
    }

    /// A connection is down, and with it the command that was under way on it, which is sent again once it is up if it may be.
    #[inline(never)]
    pub(super) fn fail_connection(&mut self, connection: ConnectionIndex, failure: Failure) {
        let now = self.target.now();
        let failure = CommandFailure::from(failure);
        let flight = self.slots.in_flight(connection);
        let server = self.target.server(connection);
        if let Some(Command::Step(step, part)) =
            flight.filter(|flight| flight.command_sent != Nanos::MAX).map(|flight| flight.command)
        {
            self.summary.step_unanswered(server, step, part);
        }
        let again = flight.and_then(|flight| Some((flight, self.another_try(&flight, &failure, now)?)));
        if let Some((flight, again)) = again {
            self.gave_up(connection, &flight, &again);
            self.retries.keep(connection, now, failure);
            self.slots.park(connection, again, now);
            self.outages.lost(now, self.nothing_is_up());
            return;
        }
        let lost = self.slots.down(connection, now);
        self.outages.lost(now, self.nothing_is_up());
        if let Some(flight) = lost {
            if flight.has_ended() {
                return self.give_back(connection, &flight, now);
            }
            self.summary.unanswered(server, &flight);
            self.retries.take(connection);
            if let Command::Step(step, _) = flight.command {
                self.record_step(connection, &flight, step, now, Ending::Failed);
            }
            self.fail(&flight, now, failure.first);
            self.give_back(connection, &flight, now);
        }
    }

    /// The operation that failed on `connection` has gone down with it: over for its user unless it is attempted again.
    fn give_back(&mut self, connection: ConnectionIndex, flight: &InFlight, now: Nanos) {
        if !self.perseveres(connection, flight, now) {
            self.pace.lost(connection, now);
        }
    }

    /// The server of `connection`, which was answered, is no longer the one that operations go to. Its operation `is_over` or
    /// is attempted again once the connection is up.
    #[inline(never)]
    pub(super) fn leave(&mut self, connection: ConnectionIndex, now: Nanos, is_over: bool) {
        self.slots.down(connection, now);
        if is_over {
            self.pace.lost(connection, now);
        }
        self.outages.lost(now, self.nothing_is_up());
    }

    /// Whether the target is gone, as far as this worker knows: of several routers those of the other workers may be there.
    fn nothing_is_up(&self) -> bool {
        let own = self.progress();
        let others = self.mission.progress.iter().filter(|&each| !std::ptr::eq(each, own));
        let asks_others = self.mission.has_routers;
        self.slots.up_count() == 0
            && !(asks_others && others.map(|each| each.connections_up.load(Relaxed)).any(|up| up > 0))
    }

    pub(super) fn check_timeouts(&mut self, now: Nanos) {
        let Some(sent_before) = self.patience.late_if_sent_before(now) else { return };
        let late: Vec<ConnectionIndex> = self
            .slots
            .all_in_flight()
            .filter_map(|(connection, flight)| (flight.awaited_since() < sent_before).then_some(connection))
            .collect();
        for connection in late {
            let message = format!("no reply within {} ms", self.mission.operation_timeout_ns / 1_000_000);
            self.fail_connection(connection, Failure::new(FailureClass::Timeout, message));
            self.target.reset(connection);
        }
    }

    /// Looks after operations that wait for a server while connections are down, and ends the run when none comes back.
    #[inline(never)]
    pub(super) fn look_after_lost(&mut self, now: Nanos) {
        if let Some(reason) = self.target.lost() {
            return self.mission.control.lose_target(reason.to_owned());
        }
        let timeout_ns = self.mission.retries.selection_timeout_ns;
        if let Some(waited_since) = now.checked_sub(timeout_ns.unwrap_or(self.mission.lost_after_ns)) {
            self.give_up_parked(waited_since, now);
            if timeout_ns.is_some() && self.slots.down_since().is_some_and(|since| since <= waited_since) {
                self.refuse(waited_since, now);
            }
        }
        if let Some(since) = self.slots.down_since()
            && now.saturating_sub(since) > self.mission.lost_after_ns
        {
            let missing = self.target.missing().map(|servers| format!(": {servers}")).unwrap_or_default();
            let message =
                format!("no connection to the target for {} ms{missing}", (now - since) / 1_000_000);
            self.mission.control.lose_target(message);
        }
    }

    /// Operations whose command failed before `waited_since` and found no server for its second try: they end with the failure.
    fn give_up_parked(&mut self, waited_since: Nanos, now: Nanos) {
        let is_late = |connection| self.retries.failed_at(connection).is_some_and(|at| at <= waited_since);
        let late: Vec<ConnectionIndex> =
            self.slots.all_parked().map(|(connection, _)| connection).filter(|&each| is_late(each)).collect();
        for connection in late {
            let Some(flight) = self.slots.give_up(connection) else { continue };
            let Some(first) = self.retries.take(connection) else { continue };
            self.summary.unknown(&flight);
            self.fail(&flight, now, first.first);
            self.give_back(connection, &flight, now);
        }
    }

    /// Operations that have waited for a server since `waited_since` or longer fail without being sent: in an open loop those
    /// that are due since then, in a closed one the next of each user that waits.
    fn refuse(&mut self, waited_since: Nanos, now: Nanos) {
        let down_since = self.slots.down_since().unwrap_or(now);
        while self.offers_at(now)
            && let Some(due) = self.next_due().filter(|&due| due <= waited_since && self.is_offered(due))
        {
            self.refuse_next(Some(due), due.max(down_since), now);
            self.pace.refused(now);
        }
        let since = down_since.max(self.refused_at);
        if since > waited_since {
            return;
        }
        for connection in 0..self.slots.count() as usize {
            let waits = self.slots.is_down(connection)
                && self.pace.awaits(connection, now)
                && !self.attempts.awaited_on(connection);
            if waits && self.offers_at(now) && !self.is_exhausted() {
                self.refuse_next(None, since, now);
                self.pace.lost(connection, now);
                self.refused_at = now;
            }
        }
    }

    fn refuse_next(&mut self, due: Option<Nanos>, since: Nanos, now: Nanos) {
        let operation = self.next_operation();
        let record = self.mission.workload.resolve(operation.key, self.inserts_settled());
        let command = self.mission.commands.first(&operation);
        let inserts_before = self.stream.inserts_before_next();
        let flight = InFlight::new(operation, record, command, due, since, inserts_before);
        self.note_sent_apart(&flight, false);
        self.summary.not_attempted(&flight);
        let message = format!("no server took operations for {} ms", (now - since) / 1_000_000);
        self.fail(&flight, now, Failure::new(FailureClass::ServerSelection, message));
    }

    fn fail(&mut self, flight: &InFlight, now: Nanos, failure: Failure) {
        self.outages.failed();
        self.finish_apart(flight, now, Ending::Failed);
        if self.mission.verifies_reads {
            self.verify(flight, None);
        }
        self.summary.failures.add(flight.operation.kind, failure);
    }

    /// Operations that wait to be sent again when the run is over are unfinished.
    pub(super) fn settle_parked(&mut self) {
        let parked: Vec<InFlight> = self.slots.all_parked().map(|(_, flight)| *flight).collect();
        for flight in parked {
            self.summary.unknown(&flight);
            self.note_unfinished(&flight);
        }
    }
}
