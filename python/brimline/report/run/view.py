"""A run as a report: the record and what the analysis found, put into words and tables."""

import shlex

from brimline.analysis.objective import Slo
from brimline.analysis.observation import Observation
from brimline.analysis.quantile_text import median_text, p99_text
from brimline.analysis.steady import Steadiness, counted
from brimline.analysis.unwatched import unwatched
from brimline.analysis.verdict import Judgement, Verdict, proves_nothing
from brimline.plan.pacing import connections_text, short_load
from brimline.record.layout import RUNNING, SPEC_FILE
from brimline.record.model import RunRecord
from brimline.report import blocks
from brimline.report.limit import limit_section
from brimline.report.lint_section import linted
from brimline.report.load_figures import LoadFigures, is_load, load_figures
from brimline.report.own_claims import run_claims
from brimline.report.run import load_sections, objective_sections, run_sections
from brimline.report.run.apdex import JMETER_THRESHOLDS, ApdexThresholds
from brimline.report.run.as_json import run_document
from brimline.report.statistics import operation_statistics
from brimline.report.view import UNDER_WAY, Badge, Fact, Facts, Report, Tone
from brimline.report.view import Verdict as VerdictView
from brimline.units import (
    format_count,
    format_duration,
    format_number,
    format_percentage,
    format_rate,
)
from brimline.wording import capitalised, joined, message

_TONES: dict[Verdict, Tone] = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "fail",
    Verdict.INCONCLUSIVE: "warn",
    Verdict.INVALID: "fail",
}


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
    statistics = operation_statistics(record)
    sections = [
        run_sections.charts(record, limit=slo.leading if slo else None),
        objective_sections.objectives(judgement),
        load_sections.documents(record),
        run_sections.operations(record, statistics, apdex=apdex),
        run_sections.accounting(record),
        run_sections.outages(record),
        run_sections.errors(record),
        limit_section(observation),
        blocks.checks(observation.findings, intro=blocks.RUN_CHECKS_INTRO),
        blocks.environment(
            record.environment, more=[_connects(record), _looks(record), blocks.not_watched(unwatched(record))]
        ),
        blocks.reproduce(_command(record), _spec_text(record), _identity(record)),
        blocks.definitions(),
    ]
    report = Report(
        kind="run",
        kind_title="Run",
        name=record.name,
        subtitle=_subtitle(record, observation),
        verdict=_verdict(record, observation, slo, judgement),
        sections=[section for section in sections if section.blocks],
        footer=f"brimline {record.brimline_version} · {record.directory.name}",
        data=run_document(record, observation, statistics, slo=slo, judgement=judgement),
    )
    return linted(report, run_claims(report, record))


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
    namespace = f"{record.plan.namespace.database}.{record.plan.namespace.collection}"
    connections = connections_text(record.plan.connections)
    if record.plan.in_flight_max is not None:
        bound = format_count(record.plan.in_flight_max)
        connections = message("{connections}, at most {count} in flight", connections=connections, count=bound)
    if observation.closed_loop and observation.mean_in_flight:
        mean = format_number(observation.mean_in_flight)
        connections = message("{connections}, on average {mean} in flight", connections=connections, mean=mean)
    return blocks.subtitle([short_load(record.plan), connections, namespace], record.environment)


def _verdict(record: RunRecord, observation: Observation, slo: Slo | None, judgement: Judgement | None) -> VerdictView:
    nothing = proves_nothing(observation, judgement)
    figure = "" if nothing else format_number(_headline_rate(record, observation), digits=4)
    return VerdictView(
        tone=_tone(observation, judgement),
        caption="No figure: the run proves nothing" if nothing else _caption(record, observation),
        figure=figure,
        unit="documents/s" if is_load(record) else "ops/s",
        interval="" if nothing or is_load(record) else _interval(observation),
        sentence=_sentence(record, observation, slo, judgement),
        badges=_badges(record, observation, judgement),
        facts=_headline_facts(record, observation, slo),
    )


def _caption(record: RunRecord, observation: Observation) -> str:
    if observation.target == "null":
        # A rate that was offered, or pauses between operations, say nothing of what could be reached.
        full = observation.back_to_back
        return "Encode-and-record ceiling, without sockets" if full else "Throughput without a server"
    return "Loaded" if is_load(record) else "Throughput"


def _headline_rate(record: RunRecord, observation: Observation) -> float:
    figures = load_figures(record)
    return observation.throughput_ops_per_s if figures is None else figures.documents_per_s


def _interval(observation: Observation) -> str:
    estimate = observation.throughput
    if estimate is None:
        return ""
    return message(
        "95 % CI {low}–{high}",
        low=format_number(estimate.low, digits=4),
        high=format_number(estimate.high, digits=4),
    )


def _tone(observation: Observation, judgement: Judgement | None) -> Tone:
    if proves_nothing(observation, judgement):
        return "fail"
    return _TONES[judgement.verdict] if judgement else ""


def _sentence(record: RunRecord, observation: Observation, slo: Slo | None, judgement: Judgement | None) -> str:
    """What was asked for and did not go out comes first: a figure must not be read without it."""
    unsent = [message("{sentence}.", sentence=capitalised(observation.unsent))] if observation.unsent else []
    return joined(" ", [*unsent, _judgement_sentence(record, observation, slo, judgement)])


def _judgement_sentence(
    record: RunRecord, observation: Observation, slo: Slo | None, judgement: Judgement | None
) -> str:
    if proves_nothing(observation, judgement):
        reasons = [finding.evidence for finding in observation.findings if finding.verdict.value == "fail"]
        unit = "documents/s" if is_load(record) else "ops/s"
        rate = format_rate(_headline_rate(record, observation), unit=unit)
        return message("{reasons}. Seen, and not to be used: {rate}.", reasons=joined("; ", reasons), rate=rate)
    if judgement is None:
        if figures := load_figures(record):
            return message(
                "{rate} of {size} documents; times below are those of commands. Write concern {write_concern}.",
                rate=format_rate(figures.commands_per_s, unit="commands/s"),
                size=format_count(figures.batch_size),
                write_concern=figures.write_concern_text,
            )
        if slo is not None and record.closed_loop:
            return "Measured, and not judged by its objective: a closed loop has no response time."
        return "Measured, without an objective to judge it by."
    if judgement.verdict is Verdict.PASS and not observation.valid:
        return (
            "The objective is met in spite of a late generator, which only makes response times longer. "
            "Comparisons and trends leave this run out."
        )
    if judgement.verdict is Verdict.PASS:
        return "The objective is met."
    words = {Verdict.FAIL: "The objective is missed", Verdict.INCONCLUSIVE: "The run can't tell"}
    what = words.get(judgement.verdict, "The run proves nothing")
    return message("{what}: {reasons}.", what=what, reasons=joined("; ", judgement.reasons))


def _badges(record: RunRecord, observation: Observation, judgement: Judgement | None) -> list[Badge]:
    badges = []
    if proves_nothing(observation, judgement):
        badges.append(Badge(text="invalid", tone="fail"))
    elif judgement is not None:
        badges.append(Badge(text=judgement.verdict.value, tone=_TONES[judgement.verdict]))
    if observation.unsent:
        badges.append(blocks.unsent_badge(observation.overdue))
    if observation.steady is not None and observation.steady.verdict is Steadiness.NOT_STEADY:
        badges.append(Badge(text="no steady state", tone="warn"))
    if record.ended_by == RUNNING:
        badges.append(UNDER_WAY)
    elif not record.complete:
        badges.append(Badge(text=message("ended early: {how}", how=record.ended_by.replace("_", " ")), tone="warn"))
    if record.files_changed:
        badges.append(Badge(text="record changed since it was sealed", tone="fail"))
    if record.summary is not None and record.summary["virtual_clock"]:
        badges.append(Badge(text="simulated on a virtual clock", tone="warn"))
    return badges


def _headline_facts(record: RunRecord, observation: Observation, slo: Slo | None) -> list[Fact]:
    load = load_figures(record)
    of_what = "" if load is None else " of a command"
    latency = observation.service if observation.closed_loop else observation.response
    clock = "service" if observation.closed_loop else "response"
    facts = []
    if latency is not None:
        facts.append(Fact(label=f"p99 {clock} time{of_what}", value=p99_text(latency), note=_p99_note(observation)))
        facts.append(Fact(label=f"Median {clock} time{of_what}", value=median_text(latency)))
    if load is None:
        facts.append(Fact(label="Errors", value=format_percentage(observation.error_rate)))
    else:
        facts += _load_facts(load, observation)
    if observation.steady is not None and observation.steady.warmup_end_ns is not None:
        facts.append(
            Fact(
                label="Warm-up found",
                value=format_duration(observation.steady.warmup_found_ns),
                note=message(
                    "beyond the planned {planned}; not counted", planned=format_duration(record.plan.warmup_ns)
                ),
            )
        )
    if slo is not None:
        facts.append(
            Fact(
                label="Objective",
                value=slo.latency_text,
                note="not judged: a closed loop has no response time"
                if observation.closed_loop
                else joined(", ", [each.text for each in slo.errors]),
            )
        )
    if observation.client_cpu_ns_per_op is not None:
        facts.append(
            Fact(
                label="Generator CPU",
                value=format_duration(observation.client_cpu_ns_per_op),
                note="per operation" if load is None else "per command",
            )
        )
    return facts


def _load_facts(load: LoadFigures, observation: Observation) -> list[Fact]:
    inserts = load.inserts
    lost = 0 if inserts is None else inserts["failed"] + inserts["skipped"] + inserts["unknown"]
    return [
        Fact(
            label="Documents",
            value=message("{count} inserted", count=format_count(load.documents_inserted)),
            note=message("{count} sent and not known to be inserted", count=format_count(lost)) if lost else "",
            tone="fail" if lost else "",
        ),
        Fact(label="Commands failed", value=format_percentage(observation.error_rate)),
    ]


def _p99_note(observation: Observation) -> str:
    latency = observation.service if observation.closed_loop else observation.response
    if latency is not None and latency.p99.is_open:
        return message("{share} never completed", share=format_percentage(latency.p99.never_share))
    if latency is None or not latency.p99.enough or latency.p99.low_ns is None or latency.p99.high_ns is None:
        return "too few operations for a figure"
    low, high = format_duration(latency.p99.low_ns), format_duration(latency.p99.high_ns)
    return message("95 % CI {low} – {high}", low=low, high=high)


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
