//! Totals of a worker, and of a run when merged.

use brimline_datagen::Verified;

use crate::clock::Nanos;
use crate::command::{Command, Opcounter};
use crate::command::{Part, StepRef};
use crate::connects::ConnectTimes;
use crate::failure::CommandFailure;
use crate::failure_tally::FailureTally;
use crate::finished::Ending;
use crate::flight::InFlight;
use crate::kinds::OperationKind;
use crate::looks::Looks;
use crate::outage::Outage;
use crate::standstill::Standstill;
use crate::target::{ReplyFacts, RunnerReport};

/// Totals of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the counters are the recorder's")]
pub struct Totals {
    pub sent: u64,
    pub ok: u64,
    pub miss: u64,
    pub failed: u64,
    pub unfinished: u64,
    /// Commands of these operations that were sent once more.
    pub retried: u64,
}

/// Totals of one step. Its commands are those that the server has answered, in whatever way, and those of which that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the counters are the recorder's")]
pub struct StepTotals {
    pub ok: u64,
    pub miss: u64,
    pub failed: u64,
    pub answered: u64,
    pub uncertain: u64,
    /// Further commands of its cursors, likewise.
    pub more_answered: u64,
    pub more_uncertain: u64,
    /// Commands that ended its transaction.
    pub aborts: u64,
    /// What its replies brought.
    pub documents: u64,
}

impl StepTotals {
    fn merge(&mut self, other: Self) {
        self.ok += other.ok;
        self.miss += other.miss;
        self.failed += other.failed;
        self.answered += other.answered;
        self.uncertain += other.uncertain;
        self.more_answered += other.more_answered;
        self.more_uncertain += other.more_uncertain;
        self.aborts += other.aborts;
        self.documents += other.documents;
    }
}

/// What replies to steps said of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are MongoDB's")]
pub struct DocumentCounts {
    pub inserted: u64,
    pub matched: u64,
    pub modified: u64,
    pub deleted: u64,
    pub upserted: u64,
    pub returned: u64,
}

impl DocumentCounts {
    fn merge(&mut self, other: Self) {
        self.inserted += other.inserted;
        self.matched += other.matched;
        self.modified += other.modified;
        self.deleted += other.deleted;
        self.upserted += other.upserted;
        self.returned += other.returned;
    }
}

/// What became of the documents of insert commands: sent = inserted + failed + skipped + unknown. Commands are counted
/// apart, in [`Totals`]: one command may insert most of its documents and count as failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InsertTotals {
    /// Documents in the commands that were sent.
    pub sent: u64,
    /// The server says that it has inserted them.
    pub inserted: u64,
    /// Refused one by one: `writeErrors`.
    pub failed: u64,
    /// Not attempted, because an ordered command stops at its first failure.
    pub skipped: u64,
    /// In a command that failed as a whole or was not answered: the server may have inserted any of them.
    pub unknown: u64,
}

impl InsertTotals {
    /// Counts the documents of an answered command: `documents` were sent, the reply says `inserted` and `failed`.
    pub fn answered(&mut self, documents: u64, inserted: u64, failed: u64) {
        self.inserted += inserted;
        self.failed += failed;
        self.skipped += documents.saturating_sub(inserted + failed);
    }

    fn merge(&mut self, other: Self) {
        self.sent += other.sent;
        self.inserted += other.inserted;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.unknown += other.unknown;
    }
}

/// What a server must have counted of the commands that went to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTotals {
    /// Commands it has answered, by opcounter.
    pub commands: [u64; Opcounter::ALL.len()],
    /// Commands whose effect on its counters is not known.
    pub commands_uncertain: [u64; Opcounter::ALL.len()],
    /// Of each step of the plan's own operations.
    pub steps: Vec<StepTotals>,
    /// What replies to its steps said of documents.
    pub documents: DocumentCounts,
}

impl ServerTotals {
    fn new(step_count: usize) -> Self {
        Self { steps: vec![StepTotals::default(); step_count], ..Self::default() }
    }

    /// Adds what another worker, or another server, counted.
    pub fn merge(&mut self, other: &Self) {
        self.documents.merge(other.documents);
        for (mine, theirs) in self.steps.iter_mut().zip(&other.steps) {
            mine.merge(*theirs);
        }
        for (mine, theirs) in self.commands.iter_mut().zip(other.commands) {
            *mine += theirs;
        }
        for (mine, theirs) in self.commands_uncertain.iter_mut().zip(other.commands_uncertain) {
            *mine += theirs;
        }
    }
}

/// Totals of one worker, or of a run when merged.
#[derive(Debug, Default)]
pub struct WorkerSummary {
    /// Operations that became due; in T-L-R all that the users have to perform.
    pub due: u64,
    /// Due and never sent.
    pub overdue: u64,
    /// Age of the oldest of them.
    pub oldest_overdue_ns: Nanos,
    /// Age of the oldest operation that was sent and never finished.
    pub oldest_unfinished_ns: Nanos,
    /// Of those sent, how many were further attempts of what had failed.
    pub attempted_again: u64,
    /// By kind.
    pub kinds: Vec<Totals>,
    /// Documents of insert commands.
    pub inserts: InsertTotals,
    /// What verified reads showed, in the order of [`Verified::ALL`].
    pub verified: [u64; Verified::ALL.len()],
    /// Documents that were refused one by one.
    pub document_failures: FailureTally,
    /// Of the server, or of the first of several among which the records are shared out. In place: all other runs have this one.
    pub first_server: ServerTotals,
    /// Of the others.
    pub further_servers: Vec<ServerTotals>,
    /// Wrapping sum of the digests of all operations sent.
    pub digest: u64,
    /// Failures.
    pub failures: FailureTally,
    /// When the target could not be used.
    pub outages: Vec<Outage>,
    /// When the generator did not run.
    pub standstills: Vec<Standstill>,
    /// How long connections took to make.
    pub connects: ConnectTimes,
    /// How replies were looked for and timed.
    pub looks: Looks,
    /// What runners said of themselves.
    pub runners: Vec<RunnerReport>,
    /// Sessions that may have left a transaction open at the server.
    pub unsettled_sessions: Vec<[u8; 16]>,
    /// Operations for which the log had no room.
    pub log_lost: u64,
    /// When the worker was done.
    pub elapsed_ns: Nanos,
    /// How long it took to close the connections after that; of several workers, the longest.
    pub close_ns: Nanos,
}

impl WorkerSummary {
    /// Operations sent, of all kinds.
    pub fn sent(&self) -> u64 {
        self.kinds.iter().map(|totals| totals.sent).sum()
    }

    /// Room for the kinds and the steps of a plan, and for the servers among which it shares out the records.
    pub fn new(kind_count: usize, step_count: usize, server_count: usize) -> Self {
        Self {
            kinds: vec![Totals::default(); kind_count],
            first_server: ServerTotals::new(step_count),
            further_servers: vec![ServerTotals::new(step_count); server_count - 1],
            ..Self::default()
        }
    }

    /// Those of server `server`.
    #[inline]
    fn of_server(&mut self, server: usize) -> &mut ServerTotals {
        match server.checked_sub(1) {
            None => &mut self.first_server,
            Some(further) => &mut self.further_servers[further],
        }
    }

    /// Counts a command of a step that the server has answered, in whatever way.
    pub fn step_answered(&mut self, server: usize, step: StepRef, part: Part) {
        let totals = &mut self.of_server(server).steps[usize::from(step.number)];
        match part {
            Part::Main | Part::Again => totals.answered += 1,
            Part::More => totals.more_answered += 1,
            Part::Abort => totals.aborts += 1,
        }
    }

    /// Counts a command of a step that may have reached the server, and has no answer.
    pub fn step_unanswered(&mut self, server: usize, step: StepRef, part: Part) {
        let totals = &mut self.of_server(server).steps[usize::from(step.number)];
        match part {
            Part::Main | Part::Again => totals.uncertain += 1,
            Part::More => totals.more_uncertain += 1,
            Part::Abort => {}
        }
    }

    /// Counts what the last reply to a message of a step says of documents.
    pub fn step_brought(&mut self, server: usize, step: StepRef, reply: &ReplyFacts) {
        let ServerTotals { documents, steps, .. } = self.of_server(server);
        steps[usize::from(step.number)].documents += reply.documents;
        match step.opcounter {
            Opcounter::Insert => documents.inserted += reply.n,
            Opcounter::Delete => documents.deleted += reply.n,
            Opcounter::Update => {
                documents.matched += reply.n.saturating_sub(reply.upserted);
                documents.modified += reply.modified;
                documents.upserted += reply.upserted;
            }
            // Of a request behind a link both are known: an insert of SQL may return rows as well.
            Opcounter::Command => {
                documents.returned += reply.documents;
                documents.modified += reply.modified;
            }
            Opcounter::Query | Opcounter::Getmore | Opcounter::Commit => {
                documents.returned += reply.documents;
            }
        }
    }

    /// Counts a step that is over.
    pub fn step_ended(&mut self, server: usize, step: StepRef, ending: Ending) {
        let totals = &mut self.of_server(server).steps[usize::from(step.number)];
        match ending {
            Ending::Ok => totals.ok += 1,
            Ending::Miss => totals.miss += 1,
            Ending::Failed => totals.failed += 1,
        }
    }

    /// Counts what the counters of `server` must show for the command just answered, and what became of its documents.
    #[expect(
        clippy::inline_always,
        reason = "out of line it costs every operation some dozens of instructions"
    )]
    #[inline(always)]
    pub fn answered(&mut self, server: usize, flight: &InFlight, reply: &ReplyFacts) {
        if flight.is_retry || reply.failure.is_some() {
            return self.answered_in_part(server, flight, reply);
        }
        let statements = flight.statements();
        self.of_server(server).commands[flight.command.opcounter() as usize] += statements;
        if flight.command.inserts() {
            self.inserts.answered(statements, reply.n, 0);
        }
    }

    /// Counts a command that was sent again, or that the server refused wholly or in part.
    #[inline(never)] // most replies are whole
    fn answered_in_part(&mut self, server: usize, flight: &InFlight, reply: &ReplyFacts) {
        let opcounter = flight.command.opcounter() as usize;
        let statements = flight.statements();
        let inserts = flight.command.inserts();
        let failed = match reply.failure.as_deref() {
            None => 0,
            Some(failure) if failure.counts_statements() => failure.statement_count(),
            Some(_) => return self.unanswered(server, flight),
        };
        let counted = self.of_server(server);
        let done = if inserts && failed > 0 { reply.n } else { statements - failed.min(statements) };
        if flight.is_retry {
            // What the first attempt has done, the second does not count again; where the first was counted is not known.
            counted.commands_uncertain[opcounter] += statements;
        } else {
            counted.commands[opcounter] += done;
            // Servers differ in whether they count a statement that they have tried and refused.
            counted.commands_uncertain[opcounter] += failed;
        }
        if inserts {
            self.inserts.answered(statements, reply.n, failed);
        }
    }

    /// Counts an attempt that is followed by another: whether the server has counted it is not known.
    pub fn gave_up_attempt(&mut self, server: usize, flight: &InFlight) {
        let opcounter = flight.command.opcounter() as usize;
        self.of_server(server).commands_uncertain[opcounter] += flight.statements();
    }

    /// Counts a command of which nobody knows whether the server has done it.
    pub fn unanswered(&mut self, server: usize, flight: &InFlight) {
        self.gave_up_attempt(server, flight);
        self.unknown(flight);
    }

    /// Counts what nobody knows of the documents of a command whose attempts were counted.
    pub fn unknown(&mut self, flight: &InFlight) {
        if flight.command.inserts() {
            self.inserts.unknown += flight.statements();
        }
    }

    /// Counts a command that was never sent. Documents of steps count when those are sent.
    pub fn not_attempted(&mut self, flight: &InFlight) {
        if flight.command.inserts() && !flight.command.is_step() {
            self.inserts.skipped += flight.statements();
        }
    }

    /// Counts why `command` of an operation failed, and each document of an insert that was refused.
    pub fn failed(&mut self, kind: OperationKind, command: Command, failure: CommandFailure) {
        if command.inserts() {
            for (failure, count) in failure.statements {
                self.document_failures.add_many(kind, failure, count);
            }
        }
        self.failures.add(kind, failure.first);
    }

    /// Counts an operation that is over.
    #[inline]
    pub fn ended(&mut self, kind: OperationKind, ending: Ending) {
        let totals = &mut self.kinds[kind.row()];
        match ending {
            Ending::Ok => totals.ok += 1,
            Ending::Miss => totals.miss += 1,
            Ending::Failed => totals.failed += 1,
        }
    }

    /// Adds the totals of another worker.
    pub fn merge(&mut self, other: Self) {
        self.due += other.due;
        self.overdue += other.overdue;
        self.oldest_overdue_ns = self.oldest_overdue_ns.max(other.oldest_overdue_ns);
        self.oldest_unfinished_ns = self.oldest_unfinished_ns.max(other.oldest_unfinished_ns);
        self.elapsed_ns = self.elapsed_ns.max(other.elapsed_ns);
        self.close_ns = self.close_ns.max(other.close_ns);
        self.attempted_again += other.attempted_again;
        self.log_lost += other.log_lost;
        self.digest = self.digest.wrapping_add(other.digest);
        self.failures.merge(other.failures);
        self.outages.extend(other.outages);
        self.standstills.extend(other.standstills);
        self.connects.merge(other.connects);
        self.looks.merge(other.looks);
        self.runners.extend(other.runners);
        self.unsettled_sessions.extend(other.unsettled_sessions);
        self.inserts.merge(other.inserts);
        self.document_failures.merge(other.document_failures);
        self.first_server.merge(&other.first_server);
        for (mine, theirs) in self.further_servers.iter_mut().zip(&other.further_servers) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.kinds.iter_mut().zip(other.kinds) {
            mine.sent += theirs.sent;
            mine.ok += theirs.ok;
            mine.miss += theirs.miss;
            mine.failed += theirs.failed;
            mine.unfinished += theirs.unfinished;
            mine.retried += theirs.retried;
        }
        for (mine, theirs) in self.verified.iter_mut().zip(other.verified) {
            *mine += theirs;
        }
    }
}
