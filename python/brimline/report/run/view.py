"""A run as a report: the record and what the analysis found, put into words and tables."""

import shlex
from dataclasses import replace

from brimline.analysis.compared_run import load_kind, record_figures
from brimline.analysis.held import held
from brimline.analysis.metrics import all_metrics, operations_of
from brimline.analysis.objective import Slo
from brimline.analysis.observation import Observation
from brimline.analysis.steady import counted
from brimline.analysis.step_truth import step_truths
from brimline.analysis.unwatched import unwatched
from brimline.analysis.verdict import Judgement
from brimline.plan import SqlTarget
from brimline.plan.model import OperationsWork
from brimline.plan.pacing import connections_text, short_load
from brimline.record.layout import SPEC_FILE
from brimline.record.model import RunRecord
from brimline.report import blocks
from brimline.report.distribution import distribution_section
from brimline.report.frame import framed
from brimline.report.grid import Grid, GridRow
from brimline.report.limit import limit_facts, limit_section
from brimline.report.lint_section import linted
from brimline.report.own_claims import run_claims
from brimline.report.put_back import put_back
from brimline.report.run import (
    first_screen,
    load_sections,
    objective_sections,
    run_sections,
    step_sections,
)
from brimline.report.run.apdex import JMETER_THRESHOLDS, ApdexThresholds
from brimline.report.run.as_json import run_document
from brimline.report.run.driver_facts import driver_facts
from brimline.report.run.step_sections import first_facts
from brimline.report.run_nodes import nodes
from brimline.report.statistics import operation_statistics
from brimline.report.view import Fact, Facts, Report
from brimline.units import (
    format_count,
    format_duration,
    format_number,
    format_percentage,
)
from brimline.wording import Verbatim, joined, message

_COLLECTIONS_NAMED = 3


def run_report(
    record: RunRecord,
    observation: Observation,
    *,
    slo: Slo | None = None,
    judgement: Judgement | None = None,
    apdex: ApdexThresholds = JMETER_THRESHOLDS,
) -> Report:
    """The report of one run. `slo` and `judgement` are given when the run had an objective."""
    record = counted(record, observation.steady)
    statistics = operation_statistics(record, observation)
    truths = step_truths(record, observation)
    before_loss = held(record, objectives=slo.latencies if slo else ())
    sections = [
        run_sections.charts(record, limit=slo.leading if slo else None),
        objective_sections.objectives(judgement),
        load_sections.documents(record),
        run_sections.operations(record, statistics, apdex=apdex),
        step_sections.steps(truths, step_sections.profile(record)),
        distribution_section(record.server_facts),
        run_sections.accounting(record),
        nodes(record),
        run_sections.outages(record),
        run_sections.errors(record),
        limit_section(observation),
        blocks.checks(observation.findings, intro=blocks.RUN_CHECKS_INTRO),
        blocks.environment(
            record.environment,
            more=[
                driver_facts(record),
                _connects(record),
                _looks(record),
                put_back(record.events),
                blocks.sizes(record.server_facts),
                blocks.not_watched(unwatched(record)),
            ],
        ),
        blocks.reproduce(_command(record), _spec_text(record), _identity(record)),
        blocks.definitions(),
    ]
    made = framed(
        record,
        kind="run",
        kind_title="Run",
        name=record.name,
        subtitle=_subtitle(record, observation),
        verdict=first_screen.verdict(
            record,
            observation,
            slo,
            judgement,
            before_loss,
            [*limit_facts(observation), *first_facts(truths, record)],
        ),
        sections=sections,
        data=run_document(
            record, observation, statistics, slo=slo, judgement=judgement, held=before_loss, truths=truths
        ),
        grids=[_grid(record, observation)],
    )
    report = replace(made, words="tables") if isinstance(record.plan.target, SqlTarget) else made
    return linted(report, run_claims(report, record))


def _grid(record: RunRecord, observation: Observation) -> Grid:
    """All figures of the run, in one row."""
    return Grid(
        axes=(),
        rows=[GridRow(levels=(), figures=record_figures(record, observation))],
        metrics=all_metrics(load_kind(record), operations_of(observation, record.plan.operation_names)),
    )


def _connects(record: RunRecord) -> Facts:
    """How long connections took to make; nothing of records that don't say."""
    times = record.summary.get("connects") if record.summary else None
    facts = []
    if times is not None and times["count"]:
        facts = [
            Fact(label="Made", value=format_count(times["count"]), note="those that took the place of others included"),
            Fact(label="Mean time to connect", value=format_duration(times["mean_ns"]), note="TLS and login included"),
            Fact(label="Longest", value=format_duration(times["max_ns"])),
        ]
    return Facts(title="Connecting", facts=facts)


def _looks(record: RunRecord) -> Facts:
    """How long sockets were left alone between looks at them; nothing where they never were."""
    summary = record.summary
    looks = summary.get("looks") if summary else None
    facts = []
    if summary and looks and looks["rests"]:
        share = looks["rested_ns"] / (summary["elapsed_ns"] * summary["threads"])
        until = (
            "a connection sends its next request after the look that sees its reply"
            if record.closed_loop
            else "until the next operation was due; none waited for it"
        )
        facts = [
            Fact(label="Mean rest", value=format_duration(looks["rested_ns"] / looks["rests"]), note=until),
            Fact(
                label="Share of the time",
                value=format_percentage(share),
                note="of the engine threads' time, warm-up included; replies are timed by when they arrived",
            ),
        ]
    return Facts(title="Rests between looks for replies", facts=facts)


def _subtitle(record: RunRecord, observation: Observation) -> str:
    namespace = _namespaces(record)
    connections = connections_text(record.plan.connections)
    if record.plan.is_pooled:
        workers = format_count(record.plan.worker_count)
        connections = message("{workers} workers share {connections}", workers=workers, connections=connections)
    elif record.plan.in_flight_max is not None:
        bound = format_count(record.plan.in_flight_max)
        connections = message("{connections}, at most {count} in flight", connections=connections, count=bound)
    if observation.closed_loop and observation.mean_in_flight:
        mean = format_number(observation.mean_in_flight)
        connections = message("{connections}, on average {mean} in flight", connections=connections, mean=mean)
    return blocks.subtitle([short_load(record.plan), connections, namespace], record.environment)


def _namespaces(record: RunRecord) -> str:
    """The collection that the operations are about; of an author's own as many as fit."""
    work = record.plan.work
    if not isinstance(work, OperationsWork):
        return f"{record.plan.namespace.database}.{record.plan.namespace.collection}"
    steps = [step for operation in work.operations for step in operation.steps if step.collection is not None]
    names = list(dict.fromkeys(f"{step.database}.{step.collection}" for step in steps))
    named = joined(", ", map(Verbatim, names[:_COLLECTIONS_NAMED]))
    left = len(names) - _COLLECTIONS_NAMED
    return named if left <= 0 else message("{named} and {more} more", named=named, more=left)


def _identity(record: RunRecord) -> list[Fact]:
    facts = [
        Fact(label="Record", value=str(record.directory)),
        Fact(label="Plan", value=record.plan.hash8(), note="equal for equal plans"),
        Fact(label="Seed", value=str(record.plan.seed)),
    ]
    if record.summary is not None:
        facts.append(
            Fact(
                label="Operations sent",
                value=record.summary["operations_hash"],
                note="equal for equal sets of operations",
            )
        )
    return facts


def _command(record: RunRecord) -> str:
    """The command line that was typed; for a run that wasn't started by one, a command that does the same."""
    typed = record.environment.get("command")
    if isinstance(typed, str) and typed:
        return typed
    return f"brimline run {shlex.quote(str(record.directory / SPEC_FILE))}"


def _spec_text(record: RunRecord) -> str:
    path = record.directory / SPEC_FILE
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
