//! What is said of a run when it is over.

use std::iter;

use brimline_datagen::Verified;

use crate::clock::Nanos;
use crate::command::Opcounter;
use crate::commands::Commands;
use crate::connects::ConnectTimes;
use crate::failure_tally::FailureCount;
use crate::kinds::OperationKind;
use crate::looks::Looks;
use crate::operation_log::LogTotals;
use crate::outage::{self, Outage};
use crate::own::Own;
use crate::own::steps::Step;
use crate::plan::Plan;
use crate::shared::Control;
use crate::standstill::{self, Standstill};
use crate::target::RunnerReport;
use crate::totals::{DocumentCounts, InsertTotals, ServerTotals, StepTotals, Totals, WorkerSummary};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// As planned.
    Completed,
    /// By [`Run::stop`](crate::Run::stop).
    Stopped,
    /// By [`Run::abort`](crate::Run::abort).
    Aborted,
    /// The target could not be reached any more; why.
    TargetLost(String),
    /// The rows that operations take have come to their end, which the plan calls an error.
    RanDry(String),
}

/// Totals of a run, warm-up and drain included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How it ended.
    pub ended_by: EndedBy,
    /// Wall-clock time of its start.
    pub started_unix_ns: u64,
    /// Length, drain included.
    pub elapsed_ns: Nanos,
    /// How long it took to close the connections after that.
    pub close_ns: Nanos,
    /// Operations that became due: `sent + overdue`.
    pub due: u64,
    /// Of those sent, how many were further attempts of inserts that had failed.
    pub attempted_again: u64,
    /// Due and never sent.
    pub overdue: u64,
    /// Age of the oldest of them at the end.
    pub oldest_overdue_ns: Nanos,
    /// Age of the oldest operation sent and never finished.
    pub oldest_unfinished_ns: Nanos,
    /// By kind, in the order of their rows.
    pub kinds: Vec<Totals>,
    /// Names of the plan's own operations.
    pub own_names: Vec<String>,
    /// Of each step of the plan's own operations.
    pub steps: Vec<StepSummary>,
    /// What replies to steps said of documents.
    pub documents: DocumentCounts,
    /// What the object ids that this run made begin with; none of a plan without own operations.
    pub run_identity: Option<String>,
    /// Documents of insert commands.
    pub inserts: InsertTotals,
    /// What verified reads showed, in the order of [`Verified::ALL`].
    pub verified: [u64; Verified::ALL.len()],
    /// Documents that were refused one by one, most frequent failure first.
    pub document_failures: Vec<FailureCount>,
    /// Commands the server has answered, in the order of [`Opcounter::ALL`].
    pub commands: [u64; Opcounter::ALL.len()],
    /// Commands whose effect on the server's counters is not known.
    pub commands_uncertain: [u64; Opcounter::ALL.len()],
    /// Of each of several servers among which the records were shared out, in their order: what it must have counted, steps
    /// in the order of `steps`. Empty of one server.
    pub servers: Vec<ServerTotals>,
    /// Wrapping sum of the digests of all operations sent.
    pub digest: u64,
    /// Failures, most frequent first.
    pub failures: Vec<FailureCount>,
    /// When the target could not be used, in the order of time.
    pub outages: Vec<Outage>,
    /// When the generator did not run, in the order of time.
    pub standstills: Vec<Standstill>,
    /// How long connections took to make; none of a target without any.
    pub connects: ConnectTimes,
    /// How replies were looked for and timed.
    pub looks: Looks,
    /// What runners said of themselves.
    pub runners: Vec<RunnerReport>,
    /// Sessions that may have left a transaction open at the server.
    pub unsettled_sessions: Vec<[u8; 16]>,
    /// What became of the log of operations; `None` where nobody asked for one.
    pub operation_log: Option<LogTotals>,
    /// Engine threads used.
    pub threads: u32,
    /// Whether the run was on a virtual clock.
    pub virtual_clock: bool,
}

/// Totals of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepSummary {
    /// The operation that it belongs to.
    pub operation: OperationKind,
    /// What it is recorded under.
    pub name: String,
    /// The server's name of its command.
    pub command: String,
    /// Whether it is all that its operation does.
    pub is_alone: bool,
    /// Counts.
    pub totals: StepTotals,
}

/// How a run began.
#[derive(Clone, Copy)]
pub struct Begun {
    /// See [`Summary`].
    pub started_unix_ns: u64,
    /// See [`Summary`].
    pub virtual_clock: bool,
    /// See [`Summary::threads`].
    pub thread_count: u32,
}

/// What the totals of all workers say of a run.
pub fn summarise(
    totals: WorkerSummary,
    control: &Control,
    plan: &Plan,
    commands: &Commands,
    begun: Begun,
    operation_log: Option<LogTotals>,
) -> Summary {
    let Begun { started_unix_ns, virtual_clock, thread_count } = begun;
    let ended_by = match (control.loss(), control.dry()) {
        (Some(reason), _) => EndedBy::TargetLost(reason),
        (None, Some(reason)) => EndedBy::RanDry(reason),
        (None, None) if control.aborted() => EndedBy::Aborted,
        (None, None) if control.stopped() => EndedBy::Stopped,
        (None, None) => EndedBy::Completed,
    };
    let mut of_all = totals.first_server.clone();
    totals.further_servers.iter().for_each(|server| of_all.merge(server));
    let are_several = !totals.further_servers.is_empty();
    let servers = iter::once(totals.first_server).chain(totals.further_servers).filter(|_| are_several);
    Summary {
        ended_by,
        started_unix_ns,
        elapsed_ns: totals.elapsed_ns,
        close_ns: totals.close_ns,
        due: totals.due,
        attempted_again: totals.attempted_again,
        overdue: totals.overdue,
        oldest_overdue_ns: totals.oldest_overdue_ns,
        oldest_unfinished_ns: totals.oldest_unfinished_ns,
        kinds: totals.kinds,
        own_names: plan.own_names(),
        steps: if commands.has_own() { step_summaries(commands.own(), &of_all.steps) } else { Vec::new() },
        documents: of_all.documents,
        run_identity: commands.has_own().then(|| object_id_head(commands.own())),
        inserts: totals.inserts,
        verified: totals.verified,
        document_failures: totals.document_failures.into_counts(),
        commands: of_all.commands,
        commands_uncertain: of_all.commands_uncertain,
        servers: servers.collect(),
        digest: totals.digest,
        failures: totals.failures.into_counts(),
        outages: outage::merged(totals.outages),
        standstills: standstill::merged(totals.standstills),
        connects: totals.connects,
        looks: totals.looks,
        runners: totals.runners,
        unsettled_sessions: totals.unsettled_sessions,
        operation_log,
        threads: thread_count,
        virtual_clock,
    }
}

fn step_summaries(own: &Own, totals: &[StepTotals]) -> Vec<StepSummary> {
    let summary = |(step, totals): (&Step, &StepTotals)| StepSummary {
        operation: step.operation(),
        name: step.name().to_owned(),
        command: step.command().to_owned(),
        is_alone: step.is_alone(),
        totals: *totals,
    };
    own.steps().iter().zip(totals).map(summary).collect()
}

/// What the object ids of the run begin with, in hex.
fn object_id_head(own: &Own) -> String {
    let head = own.run().object_id_head().iter().fold(0_u64, |head, &byte| head << 8 | u64::from(byte));
    format!("{head:012x}")
}
