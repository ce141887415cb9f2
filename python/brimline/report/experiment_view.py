"""A capacity search or a sweep as a report.

What it concluded and the probes that show it, in words and tables.
"""

import shlex
from collections import defaultdict
from collections.abc import Sequence

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.verdict import Slo
from brimline.experiments.conclusion import CapacityConclusion, ConclusionKind
from brimline.experiments.settings import CapacitySettings
from brimline.experiments.sweep import SweepConclusion
from brimline.experiments.trial import Trial
from brimline.record.experiment import ExperimentRecord
from brimline.record.layout import SPEC_FILE
from brimline.record.model import RunRecord
from brimline.report import blocks, run_sections
from brimline.report.experiment_json import capacity_document, sweep_document
from brimline.report.figures import duration_label
from brimline.report.probe_charts import capacity_curve, sweep_curve
from brimline.report.probes import ProbeRow, probe_points, probe_rows, probe_table
from brimline.report.statistics import operation_statistics
from brimline.report.view import Badge, Block, Fact, Facts, Report, Section, Text, Verdict
from brimline.stats.estimate import Estimate
from brimline.units import (
    UNKNOWN_TEXT,
    format_count,
    format_duration,
    format_percentage,
    format_rate,
)

_NO_FIGURE = {
    ConclusionKind.SLO_UNREACHABLE: "The objective can't be met",
    ConclusionKind.CLIENT_LIMITED: "No capacity: the generator was the limit",
    ConclusionKind.INCONCLUSIVE: "No capacity: inconclusive",
    ConclusionKind.INVALID: "No capacity: the probes are invalid",
    ConclusionKind.TARGET_LOST: "No capacity: the target was lost",
    ConclusionKind.INCOMPLETE: "No capacity: the search was not finished",
}
_RANK = {Standing.FAIL: 0, Standing.WARN: 1, Standing.UNKNOWN: 2, Standing.PASS: 3}


def capacity_report(
    experiment: ExperimentRecord,
    trials: Sequence[Trial],
    conclusion: CapacityConclusion,
    settings: CapacitySettings,
    *,
    detail: RunRecord | None = None,
) -> Report:
    """The report of a capacity search.

    `detail` is the run of one probe that is shown more closely, see `detail_trial`.
    """
    slo = settings.slo
    rows = probe_rows(trials, slo, null_ceiling_ops_per_s=conclusion.null_ceiling_ops_per_s)
    curves = [
        capacity_curve(probe_points(rows), slo_p99_ns=slo.response_p99_ns, capacity=conclusion.sustained),
        _sweep_curve(rows, conclusion.sweep),
    ]
    sections = [
        Section(
            id="curve",
            title="Load, throughput, latency",
            short="Curve",
            blocks=[c for c in curves if c is not None],
        ),
        Section(
            id="probes",
            title="Every probe",
            short="Probes",
            intro="In the order in which they ran. Nothing is left out.",
            blocks=[probe_table(rows)],
        ),
        _why(conclusion),
        *_detail_sections(detail, slo),
        blocks.checks(worst_findings(trials), subject="the search"),
        blocks.environment(experiment.environment),
        blocks.reproduce(_command(experiment), experiment.spec_text, _identity(experiment)),
        blocks.definitions(),
    ]
    return Report(
        kind="capacity",
        kind_title="Capacity",
        name=experiment.name,
        subtitle=f"{settings.preset} · objective: p99 ≤ {duration_label(slo.response_p99_ns)}, "
        f"errors ≤ {format_percentage(slo.error_rate_max)}",
        verdict=_capacity_verdict(conclusion, settings),
        sections=[section for section in sections if section.blocks],
        footer=f"brimline {experiment.brimline_version} · {experiment.directory.name}",
        data=capacity_document(experiment, rows, conclusion, slo),
    )


def sweep_report(
    experiment: ExperimentRecord,
    trials: Sequence[Trial],
    conclusion: SweepConclusion,
    *,
    detail: RunRecord | None = None,
) -> Report:
    """The report of a closed-loop sweep."""
    rows = probe_rows(trials, Slo(), null_ceiling_ops_per_s=None)
    curve = _sweep_curve(rows, conclusion)
    sections = [
        Section(id="curve", title="Load, throughput, latency", short="Curve", blocks=[curve] if curve else []),
        Section(id="probes", title="Every probe", short="Probes", blocks=[probe_table(rows)]),
        *_detail_sections(detail, None),
        blocks.checks(worst_findings(trials), subject="the sweep"),
        blocks.environment(experiment.environment),
        blocks.reproduce(_command(experiment), experiment.spec_text, _identity(experiment)),
        blocks.definitions(),
    ]
    return Report(
        kind="sweep",
        kind_title="Sweep",
        name=experiment.name,
        subtitle="closed loop, throughput against connections",
        verdict=_sweep_verdict(conclusion),
        sections=[section for section in sections if section.blocks],
        footer=f"brimline {experiment.brimline_version} · {experiment.directory.name}",
        data=sweep_document(experiment, rows, conclusion),
    )


def detail_trial(trials: Sequence[Trial], conclusion: CapacityConclusion | SweepConclusion) -> int | None:
    """Index of the trial worth a closer look.

    The last verification at the highest rate that was not above the sustained one, else the busiest probe.
    """
    sustained = conclusion.sustained if isinstance(conclusion, CapacityConclusion) else None
    if sustained is not None:
        held = [
            (trial.probe.rate_ops_per_s or 0.0, index)
            for index, trial in enumerate(trials)
            if trial.probe.stage == "verify" and (trial.probe.rate_ops_per_s or 0.0) <= sustained.value
        ]
        if held:
            return max(held)[1]
    measured = [index for index, trial in enumerate(trials) if trial.probe.target == "server"]
    return max(measured, key=lambda index: trials[index].observation.throughput_ops_per_s, default=None)


def worst_findings(trials: Sequence[Trial]) -> list[Finding]:
    """Each check once: its worst result over all probes of the server, and how often it came out so."""
    by_name: dict[str, list[tuple[Finding, str]]] = defaultdict(list)
    for number, trial in enumerate(trials, start=1):
        if trial.probe.target == "server":
            for finding in trial.observation.findings:
                by_name[finding.name].append((finding, f"probe {number}"))
    return [_worst(name, found) for name, found in by_name.items()]


def _worst(name: str, found: Sequence[tuple[Finding, str]]) -> Finding:
    worst, where = min(found, key=lambda each: _RANK[each[0].verdict])
    same = sum(1 for finding, _ in found if finding.verdict is worst.verdict)
    if worst.verdict is Standing.PASS:
        return Finding(name, worst.verdict, f"in all {len(found)} probes")
    return Finding(name, worst.verdict, f"in {same} of {len(found)} probes; {where}: {worst.evidence}")


def _capacity_verdict(conclusion: CapacityConclusion, settings: CapacitySettings) -> Verdict:
    objective = f"response p99 ≤ {duration_label(settings.slo.response_p99_ns)}"
    if conclusion.sustained is None:
        return Verdict(
            tone="warn" if conclusion.kind in (ConclusionKind.INCONCLUSIVE, ConclusionKind.INCOMPLETE) else "fail",
            caption=_NO_FIGURE.get(conclusion.kind, "No capacity"),
            figure="",
            unit="",
            interval="",
            sentence=_capitalised(conclusion.reason),
            badges=[Badge(text=conclusion.kind.value.replace("_", " "), tone="fail")],
            facts=_capacity_facts(conclusion, settings),
        )
    figure, interval = _figure(conclusion.sustained)
    not_quotable = conclusion.reasons_not_quotable
    quick = "quick look, not quotable" if settings.preset == "quick" else "not quotable"
    because = f" Not quotable: {'; '.join(not_quotable)}." if not_quotable else ""
    return Verdict(
        tone="pass" if conclusion.quotable else "warn",
        caption="Sustained throughput",
        figure=figure,
        unit=conclusion.sustained.unit,
        interval=interval,
        sentence=f"At {objective}, held in {conclusion.verifications} verification windows.{because}",
        badges=[Badge(text="verified", tone="pass")] if conclusion.quotable else [Badge(text=quick, tone="warn")],
        facts=_capacity_facts(conclusion, settings),
    )


def _capacity_facts(conclusion: CapacityConclusion, settings: CapacitySettings) -> list[Fact]:
    facts = [
        Fact(
            label="Objective",
            value=f"p99 ≤ {duration_label(settings.slo.response_p99_ns)}",
            note=f"response time; errors ≤ {format_percentage(settings.slo.error_rate_max)}",
        )
    ]
    if conclusion.knee_connections is not None:
        facts.append(
            Fact(
                label="Knee",
                value=f"{format_count(conclusion.knee_connections)} connections",
                note="95 % of the plateau",
            )
        )
    if conclusion.bottleneck is not None:
        facts.append(Fact(label="Stopped by", value=conclusion.bottleneck.text))
    if conclusion.saturation is not None:
        figure, interval = _figure(conclusion.saturation)
        facts.append(
            Fact(
                label="Saturation",
                value=f"{figure} {conclusion.saturation.unit}",
                note=f"closed loop; {interval}",
            )
        )
    if conclusion.highest_passed_ops_per_s is not None or conclusion.lowest_failed_ops_per_s is not None:
        facts.append(
            Fact(
                label="Highest probe that passed",
                value=_rate(conclusion.highest_passed_ops_per_s),
                note=f"lowest that failed: {_rate(conclusion.lowest_failed_ops_per_s)}",
            )
        )
    facts.append(Fact(label="Probe time", value=format_duration(conclusion.spent_s * 1e9)))
    return facts


def _sweep_verdict(conclusion: SweepConclusion) -> Verdict:
    facts = []
    if conclusion.knee_connections is not None:
        facts.append(
            Fact(
                label="Knee",
                value=f"{format_count(conclusion.knee_connections)} connections",
                note="95 % of the plateau",
            )
        )
    if conclusion.bottleneck is not None:
        facts.append(Fact(label="Stopped by", value=conclusion.bottleneck.text))
    if conclusion.saturation is None:
        return Verdict(
            tone="warn",
            caption="No plateau",
            figure="",
            unit="",
            interval="",
            sentence=_capitalised(conclusion.text),
            badges=[Badge(text=conclusion.ended_by.value.replace("_", " "), tone="warn")],
            facts=facts,
        )
    figure, interval = _figure(conclusion.saturation)
    return Verdict(
        tone="pass",
        caption="Saturation throughput",
        figure=figure,
        unit=conclusion.saturation.unit,
        interval=interval,
        sentence="What the target does at most when each connection sends as soon as it is answered, "
        "whatever the latency.",
        badges=[Badge(text="service time only", tone="muted")],
        facts=facts,
    )


def _figure(estimate: Estimate) -> tuple[str, str]:
    """`9 400` and `95 % CI 9 100–9 700`, rounded as everywhere else the estimate is printed."""
    value, _, interval = str(estimate).partition(f" {estimate.unit} (")
    return value, interval.removesuffix(")")


def _why(conclusion: CapacityConclusion) -> Section:
    """What was full at the limit, with its evidence."""
    found: list[Block] = []
    limit = conclusion.bottleneck
    if limit is not None:
        found.append(Text(text=f"{_capitalised(limit.text)}."))
        found.append(Facts(title="Evidence", facts=[Fact(label="", value=line) for line in limit.evidence]))
    if conclusion.null_ceiling_ops_per_s is not None:
        ceiling = format_rate(conclusion.null_ceiling_ops_per_s)
        found.append(
            Text(
                text=f"The generator alone, against a target that answers at once, reached {ceiling}.",
                tone="muted",
            )
        )
    return Section(id="bottleneck", title="What stopped it", short="Limit", blocks=found)


def _detail_sections(detail: RunRecord | None, slo: Slo | None) -> list[Section]:
    if detail is None:
        return []
    charts = run_sections.charts(detail, slo_p99_ns=slo.response_p99_ns if slo else None)
    return [
        Section(
            id=charts.id,
            title="One probe, closely",
            short="Over time",
            intro=f"The run {detail.directory.name}.",
            blocks=charts.blocks,
        ),
        run_sections.operations(detail, operation_statistics(detail)),
        run_sections.accounting(detail),
        run_sections.errors(detail),
    ]


def _sweep_curve(rows: Sequence[ProbeRow], conclusion: SweepConclusion) -> Block | None:
    saturation = conclusion.saturation
    return sweep_curve(
        probe_points(rows, closed_loop=True),
        knee_connections=conclusion.knee_connections,
        plateau_ops_per_s=saturation.value if saturation else None,
    )


def _rate(value: float | None) -> str:
    return UNKNOWN_TEXT if value is None else format_rate(value)


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _command(experiment: ExperimentRecord) -> str:
    """The command line that was typed.

    For an experiment that wasn't started by one, a command that does the same.
    """
    typed = experiment.environment.get("command")
    if isinstance(typed, str) and typed:
        return typed
    return f"brimline {experiment.kind} {shlex.quote(str(experiment.directory / SPEC_FILE))}"


def _identity(experiment: ExperimentRecord) -> list[Fact]:
    return [
        Fact(label="Record", value=str(experiment.directory)),
        Fact(label="Ended", value=experiment.ended_by.replace("_", " "), note=experiment.message),
    ]
