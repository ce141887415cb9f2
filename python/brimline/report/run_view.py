"""A run as a report: the record and what the analysis found, put into words and tables."""

import shlex

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.observation import Observation
from brimline.analysis.quantile_text import p99_text
from brimline.analysis.verdict import Judgement, Slo, Verdict, proves_nothing
from brimline.plan.model import LoadWork
from brimline.plan.pacing import short_load
from brimline.record.layout import SPEC_FILE
from brimline.record.model import RunRecord
from brimline.report import blocks, run_sections
from brimline.report.figures import duration_label
from brimline.report.run_json import run_document
from brimline.report.statistics import operation_statistics
from brimline.report.view import Badge, Fact, Report, Tone
from brimline.report.view import Verdict as VerdictView
from brimline.units import (
    format_count,
    format_duration,
    format_number,
    format_percentage,
    format_rate,
)

_TONES: dict[Verdict, Tone] = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "fail",
    Verdict.INCONCLUSIVE: "warn",
    Verdict.INVALID: "fail",
}


def run_report(
    record: RunRecord, observation: Observation, *, slo: Slo | None = None, judgement: Judgement | None = None
) -> Report:
    """The report of one run. `slo` and `judgement` are given when the run had an objective."""
    statistics = operation_statistics(record)
    sections = [
        run_sections.charts(record, slo_p99_ns=slo.response_p99_ns if slo else None),
        run_sections.operations(record, statistics),
        run_sections.accounting(record),
        run_sections.errors(record),
        blocks.checks(observation.findings, intro=blocks.RUN_CHECKS_INTRO),
        blocks.environment(record.environment),
        blocks.reproduce(_command(record), _spec_text(record), _identity(record)),
        blocks.definitions(),
    ]
    return Report(
        kind="run",
        kind_title="Run",
        name=record.name,
        subtitle=_subtitle(record),
        verdict=_verdict(record, observation, slo, judgement),
        sections=[section for section in sections if section.blocks],
        footer=f"brimline {record.brimline_version} · {record.directory.name}",
        data=run_document(record, observation, statistics, slo=slo, judgement=judgement),
    )


def _subtitle(record: RunRecord) -> str:
    namespace = f"{record.plan.namespace.database}.{record.plan.namespace.collection}"
    return f"{short_load(record.plan)} · {format_count(record.plan.connections)} connections · {namespace}"


def _verdict(record: RunRecord, observation: Observation, slo: Slo | None, judgement: Judgement | None) -> VerdictView:
    nothing = proves_nothing(observation, judgement)
    figure = "" if nothing else format_number(_headline_rate(record, observation), digits=4)
    return VerdictView(
        tone=_tone(observation, judgement),
        caption="No figure: the run proves nothing" if nothing else _caption(record, observation),
        figure=figure,
        unit="documents/s" if _is_load(record) else "ops/s",
        interval="" if nothing or _is_load(record) else _interval(observation),
        sentence=_sentence(record, observation, judgement),
        badges=_badges(record, observation, judgement),
        facts=_headline_facts(observation, slo),
    )


def _is_load(record: RunRecord) -> bool:
    """Whether the operations are batches of documents, which is what people count a load in."""
    return record.plan.work.kind == "load"


def _caption(record: RunRecord, observation: Observation) -> str:
    if observation.target == "null":
        return "Encode-and-record ceiling, without sockets"
    return "Loaded" if _is_load(record) else "Throughput"


def _headline_rate(record: RunRecord, observation: Observation) -> float:
    if not _is_load(record):
        return observation.throughput_ops_per_s
    documents = sum(row["documents"] for row in record.operations)
    elapsed_s = max((row["end_ns"] for row in record.operations), default=0) / 1e9
    return documents / elapsed_s if elapsed_s else 0.0


def _interval(observation: Observation) -> str:
    estimate = observation.throughput
    if estimate is None:
        return ""
    return f"95 % CI {format_number(estimate.low, digits=4)}–{format_number(estimate.high, digits=4)}"


def _tone(observation: Observation, judgement: Judgement | None) -> Tone:
    if proves_nothing(observation, judgement):
        return "fail"
    return _TONES[judgement.verdict] if judgement else ""


def _sentence(record: RunRecord, observation: Observation, judgement: Judgement | None) -> str:
    """What was asked for and did not go out comes first: a figure must not be read without it."""
    unsent = [f"{_upper_first(finding.evidence)}. " for finding in _unsent(observation)]
    return "".join(unsent) + _judgement_sentence(record, observation, judgement)


def _unsent(observation: Observation) -> list[Finding]:
    return [each for each in observation.findings if each.name == "sent" and each.verdict is not Standing.PASS]


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _judgement_sentence(record: RunRecord, observation: Observation, judgement: Judgement | None) -> str:
    if proves_nothing(observation, judgement):
        reasons = [finding.evidence for finding in observation.findings if finding.verdict.value == "fail"]
        seen = f"Seen, and not to be used: {format_rate(observation.throughput_ops_per_s)}."
        return f"{'; '.join(reasons)}. {seen}"
    if judgement is None:
        if isinstance(record.plan.work, LoadWork):
            return (
                f"In batches of {format_count(record.plan.work.batch_size)}: the tables below count and time batches."
            )
        return "Measured, without an objective to judge it by."
    if judgement.verdict is Verdict.PASS:
        return "The objective is met."
    words = {Verdict.FAIL: "The objective is missed", Verdict.INCONCLUSIVE: "The run can't tell"}
    return f"{words.get(judgement.verdict, 'The run proves nothing')}: {'; '.join(judgement.reasons)}."


def _badges(record: RunRecord, observation: Observation, judgement: Judgement | None) -> list[Badge]:
    badges = []
    if proves_nothing(observation, judgement):
        badges.append(Badge(text="invalid", tone="fail"))
    elif judgement is not None:
        badges.append(Badge(text=judgement.verdict.value, tone=_TONES[judgement.verdict]))
    if _unsent(observation):
        badges.append(Badge(text=f"{format_count(observation.overdue)} never sent", tone="fail"))
    if not record.complete:
        badges.append(Badge(text=f"ended early: {record.ended_by.replace('_', ' ')}", tone="warn"))
    if record.files_changed:
        badges.append(Badge(text="record changed since it was sealed", tone="fail"))
    if record.summary is not None and record.summary["virtual_clock"]:
        badges.append(Badge(text="simulated on a virtual clock", tone="warn"))
    return badges


def _headline_facts(observation: Observation, slo: Slo | None) -> list[Fact]:
    latency = observation.service if observation.closed_loop else observation.response
    clock = "service" if observation.closed_loop else "response"
    facts = []
    if latency is not None:
        facts.append(Fact(label=f"p99 {clock} time", value=p99_text(latency), note=_p99_note(observation)))
        facts.append(Fact(label=f"Median {clock} time", value=format_duration(latency.p50_ns)))
    facts.append(Fact(label="Errors", value=format_percentage(observation.error_rate)))
    if slo is not None:
        facts.append(
            Fact(
                label="Objective",
                value=f"p99 ≤ {duration_label(slo.response_p99_ns)}",
                note="not judged: a closed loop has no response time"
                if observation.closed_loop
                else f"errors ≤ {format_percentage(slo.error_rate_max)}",
            )
        )
    if observation.client_cpu_ns_per_op is not None:
        facts.append(
            Fact(
                label="Generator CPU",
                value=format_duration(observation.client_cpu_ns_per_op),
                note="per operation",
            )
        )
    return facts


def _p99_note(observation: Observation) -> str:
    latency = observation.service if observation.closed_loop else observation.response
    if latency is None or not latency.p99.enough or latency.p99.low_ns is None or latency.p99.high_ns is None:
        return "too few operations for a figure"
    return f"95 % CI {format_duration(latency.p99.low_ns)} – {format_duration(latency.p99.high_ns)}"


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
