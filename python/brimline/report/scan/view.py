"""Owns a scan as a report: the rule, each query with its plan and counts, first touch and steady apart."""

from collections.abc import Sequence

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.scan_figures import ScanTrial
from brimline.analysis.scan_rule import RangeFit, Validity, entries_per_s, entries_text
from brimline.record.experiment import ExperimentRecord
from brimline.report import blocks
from brimline.report.frame import experiment_report
from brimline.report.lint_section import linted
from brimline.report.scan.as_json import scan_document
from brimline.report.scan.charts import range_chart, rates_chart, touch_chart
from brimline.report.scan.claims import scan_claims
from brimline.report.scan.figures import (
    count_or_dash,
    estimate,
    rate_number,
    time_text,
    trial_name,
    volume_text,
)
from brimline.report.view import Badge, Block, Cell, Column, Fact, Facts, Report, Section, Table, Text, Tone, Verdict
from brimline.servers.lab.names import CLIENT_ROUTED
from brimline.spec.scans import ScansSpec
from brimline.units import (
    UNKNOWN_TEXT,
    format_bytes,
    format_count,
    format_duration,
    format_number,
    format_percentage,
)
from brimline.wording import joined, message

_CHECKS_INTRO = "A failed check means that the figures and the server contradict each other."
DEFINITIONS = (
    Fact(
        label="First touch",
        value="the first execution of a query; what the caches held before it is said above the chart.",
    ),
    Fact(label="Steady", value="the mean of the executions after the first, with its 95 % confidence interval."),
    Fact(
        label="Entries",
        value="keys of an index or documents that the server went through, whichever are more, by its own explain.",
    ),
    Fact(label="Cache read", value="of the pages that a query needed, the share that WiredTiger's cache had to read."),
    Fact(label="Volume/s", value="documents examined per second times the mean size of the collection's documents."),
)


_OVER_SHARDS = (
    "Each query is asked of all shards at once, and what they bring is one answer: counts add up, and the slowest "
    "shard says how long it took. A router would do more."
)


def scan_report(
    experiment: ExperimentRecord,
    scans: ScansSpec,
    trials: Sequence[ScanTrial],
    fits: Sequence[RangeFit],
    findings: Sequence[Finding],
) -> Report:
    """The report of a scan."""
    sections = [
        _rules(fits, trials),
        Section(
            id="scenarios",
            title="Every query",
            short="Plans",
            intro="Counts are the server's, by explain; times are of the real query, its cursor drained.",
            blocks=[_plans(trials), *_over_shards(experiment), _times(trials)] if trials else [],
        ),
        Section(
            id="touches",
            title="First touch and steady",
            short="Touch",
            blocks=[*_first_touches(trials), *(chart for chart in (touch_chart(trials),) if chart is not None)],
        ),
        Section(
            id="rates",
            title="Entries per second",
            short="Rates",
            blocks=[chart for chart in (rates_chart(trials),) if chart is not None],
        ),
        blocks.checks(findings, intro=_CHECKS_INTRO),
    ]
    documents = experiment.settings.get("document_count")
    report = experiment_report(
        experiment,
        kind="scan",
        kind_title="Scan",
        subtitle=message(
            "{queries} queries over {documents} documents",
            queries=len(trials),
            documents=format_count(documents) if isinstance(documents, int) else UNKNOWN_TEXT,
        ),
        verdict=_verdict(experiment, trials, fits, findings),
        sections=sections,
        data=scan_document(experiment, scans, trials, fits, findings),
        definitions=DEFINITIONS,
    )
    return linted(report, scan_claims(report))


def _verdict(
    experiment: ExperimentRecord,
    trials: Sequence[ScanTrial],
    fits: Sequence[RangeFit],
    findings: Sequence[Finding],
) -> Verdict:
    refused = [trial for trial in trials if trial.refusal is not None]
    broken = [trial for trial in trials if trial.broken]
    wrong = any(finding.verdict is Standing.FAIL for finding in findings)
    unfinished = experiment.ended_by != "completed"
    tone: Tone = "fail" if refused or broken or wrong else "warn" if unfinished else "pass"
    known = [fit for fit in fits if fit.rule.validity is not Validity.BOUND]
    slowest = min(known, key=lambda fit: fit.rule.entries.value, default=None)
    badges = []
    if broken:
        badges.append(Badge(text="not as expected", tone="fail"))
    if refused:
        badges.append(Badge(text="query refused", tone="fail"))
    if wrong:
        badges.append(Badge(text="counts disagree", tone="fail"))
    if unfinished:
        badges.append(Badge(text="unfinished", tone="warn"))
    if slowest is not None and slowest.rule.validity is Validity.EXTRAPOLATED:
        badges.append(Badge(text="extrapolated", tone="warn"))
    if any(not fit.linear for fit in fits):
        badges.append(Badge(text="not linear", tone="warn"))
    quoted = None if slowest is None else estimate(slowest.rule.entries, unit="entries")
    return Verdict(
        tone=tone,
        caption="No rule" if slowest is None else "Entries within the time to answer",
        figure="" if slowest is None else entries_text(slowest.rule.entries),
        unit="" if slowest is None else "entries",
        interval="" if quoted is None else quoted.interval_text,
        sentence=_sentence(trials, fits, slowest),
        badges=badges,
        facts=_facts(trials, fits),
    )


def _sentence(trials: Sequence[ScanTrial], fits: Sequence[RangeFit], slowest: RangeFit | None) -> str:
    if slowest is not None:
        return slowest.rule_text
    if fits:
        return fits[0].rule_text
    if not trials:
        return "Nothing was measured."
    return "A rule needs a range of at least three widths that were measured."


def _facts(trials: Sequence[ScanTrial], fits: Sequence[RangeFit]) -> list[Fact]:
    facts = []
    for trial in trials:
        name = trial_name(trial)
        if trial.refusal is not None:
            text = message("{text} (code {code} {name})", text=trial.refusal.text, code=trial.refusal.code,
                           name=trial.refusal.code_name)  # fmt: skip
            facts.append(Fact(label="Refused", value=message("{name}: {what}", name=name, what=text), tone="fail"))
        facts += [
            Fact(label="Not as expected", value=message("{name}: {what}", name=name, what=problem), tone="fail")
            for problem in trial.broken
        ]
    for fit in fits:
        rate = message("{scenario}: {rate}", scenario=fit.scenario, rate=fit.rate_text)
        facts.append(Fact(label="Along the line", value=rate, note=fit.linearity_text))
    slower = [(trial.first_to_steady, trial) for trial in trials if trial.first_to_steady is not None]
    if slower:
        ratio, trial = max(slower, key=lambda each: each[0] or 0.0)
        text = message(
            "up to {ratio} times as long as steady ({name})", ratio=format_number(ratio or 0.0), name=trial_name(trial)
        )
        facts.append(Fact(label="First touch", value=text))
    return facts


def _rules(fits: Sequence[RangeFit], trials: Sequence[ScanTrial]) -> Section:
    found: list[Block] = []
    for number, fit in enumerate(fits, start=1):
        found += [
            Text(text=message("{scenario}: {rule}", scenario=fit.scenario, rule=fit.rule_text)),
            range_chart(fit, trials, number=number),
            Facts(title="", facts=_line_facts(fit)),
        ]
    return Section(id="rule", title="How many entries in what time", short="Rule", blocks=found)


def _line_facts(fit: RangeFit) -> list[Fact]:
    per_entry = fit.line.slope_bounds()
    start = fit.line.intercept_bounds()
    rule = fit.rule
    facts = [
        Fact(label="Per entry", value=_duration_text(per_entry.value, per_entry.low, per_entry.high)),
        Fact(label="Before the first entry", value=_duration_text(start.value, start.low, start.high)),
        Fact(label="Line", value=fit.linearity_text),
        Fact(label="Entries per second", value=_rates_text(fit)),
    ]
    if rule.validity is not Validity.BOUND and (quoted := estimate(rule.entries, unit="entries")) is not None:
        facts.append(Fact(label="Rule", value=quoted.text))
    return facts


def _rates_text(fit: RangeFit) -> str:
    """Whether they fall as ranges grow."""
    first, last = fit.places[0], fit.places[-1]
    return message(
        "{first} at {smallest} entries, {last} at {largest}",
        first=format_number(entries_per_s(first)),
        smallest=format_count(round(first.x)),
        last=format_number(entries_per_s(last)),
        largest=format_count(round(last.x)),
    )


def _duration_text(value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return format_duration(value)
    return message(
        "{value} ({low} to {high})",
        value=format_duration(value),
        low=format_duration(low),
        high=format_duration(high),
    )


def _plans(trials: Sequence[ScanTrial]) -> Table:
    """What the server did for each query."""
    return Table(
        columns=[
            Column(label="Query", numeric=False, leading=True),
            Column(label="Plan", numeric=False),
            Column(label="Keys examined"),
            Column(label="Documents examined"),
            Column(label="Documents returned"),
            Column(label="Expected", numeric=False, tag=True),
        ],
        rows=[
            [
                Cell(text=trial_name(trial)),
                Cell(text=UNKNOWN_TEXT if trial.plan is None else trial.plan.summary),
                Cell(text=count_or_dash(None if trial.plan is None else trial.plan.keys_examined)),
                Cell(text=count_or_dash(None if trial.plan is None else trial.plan.documents_examined)),
                Cell(text=count_or_dash(trial.documents)),
                _expected(trial),
            ]
            for trial in trials
        ],
    )


def _expected(trial: ScanTrial) -> Cell:
    if trial.refusal is not None:
        return Cell(text="query refused", tone="fail")
    if trial.broken:
        return Cell(text="not as expected", tone="fail")
    if not trial.expected_plan and trial.expected_documents is None:
        return Cell(text="")
    return Cell(text="as expected", tone="pass") if trial.plan is not None else Cell(text="unknown", tone="muted")


def _over_shards(experiment: ExperimentRecord) -> list[Block]:
    server = experiment.environment.get("server") or {}
    return [Text(text=_OVER_SHARDS)] if server.get("kind") == CLIENT_ROUTED else []


def _times(trials: Sequence[ScanTrial]) -> Table:
    """How long each query took and what that means per second."""
    return Table(
        columns=[
            Column(label="Query", numeric=False, leading=True),
            Column(label="First touch"),
            Column(label="Steady, mean and 95 % interval"),
            Column(label="Times"),
            Column(label="Entries/s"),
            Column(label="Documents/s"),
            Column(label="Volume/s", optional=True),
            Column(label="Cache read, first", optional=True),
            Column(label="Cache read, steady", optional=True),
        ],
        rows=[_time_row(trial) for trial in trials],
        caption="Documents/s and volume/s: documents examined, not only those that came.",
    )


def _time_row(trial: ScanTrial) -> list[Cell]:
    first = trial.first
    return [
        Cell(text=trial_name(trial)),
        Cell(text=UNKNOWN_TEXT if first is None else format_duration(first.elapsed_ns)),
        Cell(text=time_text(trial.time_ns)),
        Cell(text=str(len(trial.steady))),
        Cell(text=rate_number(trial.entries_per_s)),
        Cell(text=rate_number(trial.documents_per_s)),
        Cell(text=volume_text(trial.bytes_per_s)),
        Cell(text=UNKNOWN_TEXT if first is None else _cache_text(first.cache_read_share, first.cache_read_bytes)),
        Cell(text=_cache_text(_mean_share(trial), None)),
    ]


def _mean_share(trial: ScanTrial) -> float | None:
    read = [each.cache_pages_read for each in trial.steady if each.cache_pages_read is not None]
    asked = [each.cache_pages_requested for each in trial.steady if each.cache_pages_requested]
    return sum(read) / sum(asked) if read and len(read) == len(asked) else None


def _cache_text(share: float | None, read_bytes: int | None) -> str:
    if share is None:
        return UNKNOWN_TEXT
    if read_bytes is None:
        return format_percentage(share)
    return message("{share}, {bytes}", share=format_percentage(share), bytes=format_bytes(read_bytes))


def _first_touches(trials: Sequence[ScanTrial]) -> list[Block]:
    """What the caches held before the first execution: usually the same for all."""
    states = list(dict.fromkeys(trial.first_touch for trial in trials if trial.first is not None and trial.first_touch))
    return [Text(text=message("Before the first touch: {states}.", states=joined("; ", states)))] if states else []
