//! The engine's results as plain Python values, named and typed as in `_native.pyi`.

use std::collections::BTreeMap;

use brimline_engine::clock::Nanos;
use brimline_engine::command::Opcounter;
use brimline_engine::connects::ConnectTimes;
use brimline_engine::failure_tally::FailureCount;
use brimline_engine::finished::Phase;
use brimline_engine::kinds::OperationKind;
use brimline_engine::looks::Looks;
use brimline_engine::operation_log::LogTotals;
use brimline_engine::outage::Outage;
use brimline_engine::packed::{PackedHistogram, PackedTally};
use brimline_engine::standstill::Standstill;
use brimline_engine::target::RunnerReport;
use brimline_engine::totals::{DocumentCounts, InsertTotals, ServerTotals, StepTotals};
use brimline_engine::{EndedBy, Interval, Progress, Stage, StepSummary, Summary, Verified};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::histogram::encode;

/// Names of a person's own operations, and of their steps, each with its operation.
#[derive(Clone, Copy)]
pub struct RunNames<'r> {
    pub operations: &'r [String],
    pub steps: &'r [(String, String)],
}

pub fn progress<'py>(py: Python<'py>, progress: &Progress) -> PyResult<Bound<'py, PyDict>> {
    let stage = match progress.stage {
        Stage::Connecting => "connecting",
        Stage::Ready => "ready",
        Stage::Running => "running",
        Stage::Finished => "finished",
    };
    let row = PyDict::new(py);
    row.set_item("stage", stage)?;
    row.set_item("elapsed_ns", progress.elapsed_ns)?;
    row.set_item("sent", progress.sent)?;
    row.set_item("ok", progress.ok)?;
    row.set_item("miss", progress.miss)?;
    row.set_item("failed", progress.failed)?;
    row.set_item("documents", progress.documents)?;
    row.set_item("in_flight", progress.in_flight)?;
    row.set_item("connections_up", progress.connections_up)?;
    row.set_item("inserts_settled", progress.inserts_settled)?;
    Ok(row)
}

pub fn samples<'py>(
    py: Python<'py>,
    intervals: &[Interval],
    names: RunNames<'_>,
) -> PyResult<Bound<'py, PyDict>> {
    let operation_rows = PyList::empty(py);
    let step_rows = PyList::empty(py);
    let interval_rows = PyList::empty(py);
    for interval in intervals {
        for (phase, kind, tally) in &interval.tallies.kinds {
            operation_rows.append(sample(py, interval, *phase, kind.name(names.operations), tally)?)?;
        }
        for (phase, step, tally) in &interval.tallies.steps {
            let (operation, step) = &names.steps[*step];
            let row = sample(py, interval, *phase, operation, tally)?;
            row.set_item("step", step)?;
            step_rows.append(row)?;
        }
        let row = PyDict::new(py);
        span(&row, interval.phase, interval.start_ns, interval.end_ns)?;
        row.set_item("in_flight", interval.in_flight)?;
        row.set_item("connections_up", interval.connections_up)?;
        row.set_item("backlog", interval.backlog)?;
        row.set_item("workers_active", interval.users_active)?;
        row.set_item("engine_cpu_ns", interval.engine_cpu_ns)?;
        row.set_item("busiest_thread_cpu_ns", interval.busiest_thread_cpu_ns)?;
        row.set_item("process_cpu_ns", interval.process_cpu_ns)?;
        interval_rows.append(row)?;
    }
    let samples = PyDict::new(py);
    samples.set_item("operations", operation_rows)?;
    if !names.steps.is_empty() {
        samples.set_item("steps", step_rows)?;
    }
    samples.set_item("intervals", interval_rows)?;
    Ok(samples)
}

fn sample<'py>(
    py: Python<'py>,
    interval: &Interval,
    phase: Phase,
    operation: &str,
    tally: &PackedTally,
) -> PyResult<Bound<'py, PyDict>> {
    let PackedTally { counts, service, response, lag, breakdown } = tally;
    let row = PyDict::new(py);
    span(&row, phase, interval.start_ns, interval.end_ns)?;
    row.set_item("operation", operation)?;
    row.set_item("sent", counts.sent)?;
    row.set_item("ok", counts.ok)?;
    row.set_item("miss", counts.miss)?;
    row.set_item("failed", counts.failed)?;
    row.set_item("held_back", counts.held_back)?;
    row.set_item("documents", counts.documents)?;
    row.set_item("bytes_out", counts.bytes_out)?;
    row.set_item("bytes_in", counts.bytes_in)?;
    row.set_item("in_flight_ns", counts.in_flight_ns)?;
    row.set_item("service", histogram(service)?)?;
    row.set_item("response", histogram(response)?)?;
    row.set_item("lag", histogram(lag)?)?;
    let parts = PyDict::new(py);
    for (name, times) in breakdown {
        parts.set_item(name, histogram(times)?)?;
    }
    row.set_item("breakdown", parts)?;
    Ok(row)
}

fn span(row: &Bound<'_, PyDict>, phase: Phase, start_ns: Nanos, end_ns: Nanos) -> PyResult<()> {
    row.set_item("phase", phase.name())?;
    row.set_item("start_ns", start_ns)?;
    row.set_item("end_ns", end_ns)
}

fn histogram(histogram: &PackedHistogram) -> PyResult<Option<String>> {
    if histogram.is_empty() { Ok(None) } else { encode(&histogram.unpack()).map(Some) }
}

pub fn summary<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let (ended_by, message) = match &summary.ended_by {
        EndedBy::Completed => ("completed", ""),
        EndedBy::Stopped => ("stopped", ""),
        EndedBy::Aborted => ("aborted", ""),
        EndedBy::TargetLost(reason) => ("target_lost", reason.as_str()),
        EndedBy::RanDry(reason) => ("ran_dry", reason.as_str()),
    };
    let row = PyDict::new(py);
    row.set_item("ended_by", ended_by)?;
    row.set_item("message", message)?;
    row.set_item("started_unix_ns", summary.started_unix_ns)?;
    row.set_item("elapsed_ns", summary.elapsed_ns)?;
    row.set_item("close_ns", summary.close_ns)?;
    row.set_item("due", summary.due)?;
    row.set_item("sent", summary.kinds.iter().map(|totals| totals.sent).sum::<u64>())?;
    row.set_item("attempted_again", summary.attempted_again)?;
    row.set_item("overdue", summary.overdue)?;
    row.set_item("oldest_overdue_ns", summary.oldest_overdue_ns)?;
    row.set_item("ok", summary.kinds.iter().map(|totals| totals.ok).sum::<u64>())?;
    row.set_item("miss", summary.kinds.iter().map(|totals| totals.miss).sum::<u64>())?;
    row.set_item("failed", summary.kinds.iter().map(|totals| totals.failed).sum::<u64>())?;
    row.set_item("unfinished", summary.kinds.iter().map(|totals| totals.unfinished).sum::<u64>())?;
    row.set_item("oldest_unfinished_ns", summary.oldest_unfinished_ns)?;
    row.set_item("operations", operations(py, summary)?)?;
    row.set_item("inserts", inserts(py, &summary.inserts)?)?;
    row.set_item("verified", verified(py, summary)?)?;
    row.set_item("document_errors", errors(py, &summary.document_failures, &summary.own_names)?)?;
    let has_own = !summary.own_names.is_empty();
    row.set_item("commands", commands(py, &summary.commands, has_own)?)?;
    row.set_item("commands_uncertain", commands(py, &summary.commands_uncertain, has_own)?)?;
    if has_own {
        row.set_item("steps", steps(py, summary)?)?;
        let totals = summary.steps.iter().map(|step| step.totals);
        row.set_item("command_names", command_names(py, summary, totals)?)?;
        row.set_item("document_counts", document_counts(py, &summary.documents)?)?;
        row.set_item("run_identity", summary.run_identity.as_deref())?;
    }
    if !summary.servers.is_empty() {
        let shards = summary.servers.iter().map(|server| shard(py, summary, server));
        row.set_item("shards", PyList::new(py, shards.collect::<PyResult<Vec<_>>>()?)?)?;
    }
    row.set_item("operations_hash", format!("{:016x}", summary.digest))?;
    row.set_item("errors", errors(py, &summary.failures, &summary.own_names)?)?;
    row.set_item("outages", outages(py, &summary.outages)?)?;
    if !summary.standstills.is_empty() {
        row.set_item("standstills", standstills(py, &summary.standstills)?)?;
    }
    if summary.connects.count > 0 {
        row.set_item("connects", connects(py, &summary.connects)?)?;
    }
    if summary.looks != Looks::default() {
        row.set_item("looks", looks(py, summary.looks)?)?;
    }
    if !summary.runners.is_empty() {
        let runners = summary.runners.iter().map(|report| runner(py, report));
        row.set_item("runners", PyList::new(py, runners.collect::<PyResult<Vec<_>>>()?)?)?;
    }
    if !summary.unsettled_sessions.is_empty() {
        let ids = summary.unsettled_sessions.iter().map(|id| PyBytes::new(py, id));
        row.set_item("unsettled_sessions", PyList::new(py, ids)?)?;
    }
    if let Some(log) = &summary.operation_log {
        row.set_item("operation_log", operation_log(py, log)?)?;
    }
    row.set_item("threads", summary.threads)?;
    row.set_item("virtual_clock", summary.virtual_clock)?;
    Ok(row)
}

/// What a runner said of itself, its documents as BSON.
fn runner<'py>(py: Python<'py>, report: &RunnerReport) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    for (name, document) in
        [("ready", &report.ready), ("used_before", &report.used_before), ("used_after", &report.used_after)]
    {
        row.set_item(name, PyBytes::new(py, document))?;
    }
    row.set_item("workers", report.workers)?;
    if !report.standstills.is_empty() {
        row.set_item("standstills", standstills(py, &report.standstills)?)?;
    }
    for (name, reading) in [("clock_before", report.clock_before), ("clock_after", report.clock_after)] {
        if let Some(reading) = reading {
            let of_clock = PyDict::new(py);
            of_clock.set_item("ahead_ns", reading.ahead_ns)?;
            of_clock.set_item("error_ns", reading.error_ns)?;
            row.set_item(name, of_clock)?;
        }
    }
    Ok(row)
}

fn operation_log<'py>(py: Python<'py>, log: &LogTotals) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("written", log.written)?;
    row.set_item("lost", log.lost)?;
    row.set_item("error", log.error.as_deref())?;
    Ok(row)
}

fn operations<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let rows = PyDict::new(py);
    for (place, totals) in summary.kinds.iter().enumerate() {
        if totals.sent > 0 {
            let row = PyDict::new(py);
            row.set_item("sent", totals.sent)?;
            row.set_item("ok", totals.ok)?;
            row.set_item("miss", totals.miss)?;
            row.set_item("failed", totals.failed)?;
            row.set_item("unfinished", totals.unfinished)?;
            row.set_item("retried", totals.retried)?;
            rows.set_item(OperationKind::of_row(place).name(&summary.own_names), row)?;
        }
    }
    Ok(rows)
}

/// Of each step of operations of several.
fn steps<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let operations = PyDict::new(py);
    for step in summary.steps.iter().filter(|step| !step.is_alone) {
        let StepTotals { ok, miss, failed, .. } = step.totals;
        let row = PyDict::new(py);
        row.set_item("sent", ok + miss + failed)?;
        row.set_item("ok", ok)?;
        row.set_item("miss", miss)?;
        row.set_item("failed", failed)?;
        put_step(&operations, summary, step, row)?;
    }
    Ok(operations)
}

/// Enters what is said of a step under its operation and its own name.
fn put_step<'py>(
    operations: &Bound<'py, PyDict>,
    summary: &Summary,
    step: &StepSummary,
    said: impl IntoPyObject<'py>,
) -> PyResult<()> {
    let name = step.operation.name(&summary.own_names);
    let of_operation = match operations.get_item(name)? {
        Some(rows) => rows.cast_into::<PyDict>()?,
        None => PyDict::new(operations.py()),
    };
    of_operation.set_item(&step.name, said)?;
    operations.set_item(name, of_operation)
}

/// What one of the servers among which the records were shared out must have counted.
fn shard<'py>(py: Python<'py>, summary: &Summary, server: &ServerTotals) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    let has_own = !summary.own_names.is_empty();
    row.set_item("commands", commands(py, &server.commands, has_own)?)?;
    row.set_item("commands_uncertain", commands(py, &server.commands_uncertain, has_own)?)?;
    if has_own {
        row.set_item("command_names", command_names(py, summary, server.steps.iter().copied())?)?;
        row.set_item("document_counts", document_counts(py, &server.documents)?)?;
        let documents = PyDict::new(py);
        for (step, totals) in summary.steps.iter().zip(&server.steps) {
            put_step(&documents, summary, step, totals.documents)?;
        }
        row.set_item("step_documents", documents)?;
    }
    Ok(row)
}

/// How often the server has answered each command, and how often that is not known.
fn command_names<'py>(
    py: Python<'py>,
    summary: &Summary,
    totals: impl Iterator<Item = StepTotals>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (StepSummary { command, .. }, totals) in summary.steps.iter().zip(totals) {
        let mut add = |command, answered, uncertain| {
            let count = counts.entry(command).or_default();
            count.0 += answered;
            count.1 += uncertain;
        };
        add(command.as_str(), totals.answered, totals.uncertain);
        if totals.more_answered + totals.more_uncertain > 0 {
            add("getMore", totals.more_answered, totals.more_uncertain);
        }
        if totals.aborts > 0 {
            add("abortTransaction", totals.aborts, 0);
        }
    }
    let rows = PyDict::new(py);
    for (command, (answered, uncertain)) in counts {
        let row = PyDict::new(py);
        row.set_item("answered", answered)?;
        row.set_item("uncertain", uncertain)?;
        rows.set_item(command, row)?;
    }
    Ok(rows)
}

fn document_counts<'py>(py: Python<'py>, counts: &DocumentCounts) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("inserted", counts.inserted)?;
    row.set_item("matched", counts.matched)?;
    row.set_item("modified", counts.modified)?;
    row.set_item("deleted", counts.deleted)?;
    row.set_item("upserted", counts.upserted)?;
    row.set_item("returned", counts.returned)?;
    Ok(row)
}

fn verified<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    for (kind, count) in Verified::ALL.into_iter().zip(summary.verified) {
        row.set_item(kind.name(), count)?;
    }
    Ok(row)
}

fn inserts<'py>(py: Python<'py>, totals: &InsertTotals) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("sent", totals.sent)?;
    row.set_item("inserted", totals.inserted)?;
    row.set_item("failed", totals.failed)?;
    row.set_item("skipped", totals.skipped)?;
    row.set_item("unknown", totals.unknown)?;
    Ok(row)
}

/// Those of a person's own operations only where there are some.
fn commands<'py>(py: Python<'py>, counts: &[u64], has_own: bool) -> PyResult<Bound<'py, PyDict>> {
    let rows = PyDict::new(py);
    let is_of_all = |counter: &Opcounter| !matches!(counter, Opcounter::Delete | Opcounter::Command);
    for (counter, count) in
        Opcounter::ALL.into_iter().zip(counts).filter(|(counter, _)| has_own || is_of_all(counter))
    {
        rows.set_item(counter.name(), count)?;
    }
    Ok(rows)
}

fn errors<'py>(py: Python<'py>, failures: &[FailureCount], names: &[String]) -> PyResult<Bound<'py, PyList>> {
    let rows = PyList::empty(py);
    for failure in failures {
        let row = PyDict::new(py);
        row.set_item("operation", failure.kind.name(names))?;
        row.set_item("outcome", failure.first.class.name())?;
        row.set_item("code", failure.first.code)?;
        row.set_item("label", &failure.first.label)?;
        row.set_item("count", failure.count)?;
        row.set_item("example", &failure.first.message)?;
        rows.append(row)?;
    }
    Ok(rows)
}

fn connects<'py>(py: Python<'py>, times: &ConnectTimes) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("count", times.count)?;
    row.set_item("mean_ns", times.mean_ns())?;
    row.set_item("max_ns", times.max_ns)?;
    Ok(row)
}

fn looks(py: Python<'_>, looks: Looks) -> PyResult<Bound<'_, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("rests", looks.rests)?;
    row.set_item("rested_ns", looks.rested_ns)?;
    row.set_item("unstamped", looks.unstamped)?;
    Ok(row)
}

fn standstills<'py>(py: Python<'py>, standstills: &[Standstill]) -> PyResult<Bound<'py, PyList>> {
    let rows = PyList::empty(py);
    for standstill in standstills {
        let row = PyDict::new(py);
        row.set_item("from_ns", standstill.from_ns)?;
        row.set_item("to_ns", standstill.to_ns)?;
        row.set_item("still_ns", standstill.still_ns)?;
        rows.append(row)?;
    }
    Ok(rows)
}

fn outages<'py>(py: Python<'py>, outages: &[Outage]) -> PyResult<Bound<'py, PyList>> {
    let rows = PyList::empty(py);
    for outage in outages {
        let row = PyDict::new(py);
        row.set_item("from_ns", outage.from_ns)?;
        row.set_item("to_ns", outage.to_ns)?;
        row.set_item("failed", outage.failed)?;
        row.set_item("retried", outage.retried)?;
        row.set_item("primary", outage.primary.as_deref())?;
        rows.append(row)?;
    }
    Ok(rows)
}
