"""Owns a comparison as a report: what was configured differently first, then what changed, then the runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from brimline.analysis.change_text import change_text, interval_text, p_text
from brimline.analysis.changes import MetricChange
from brimline.analysis.compared_run import Noun
from brimline.analysis.comparison import Comparison, quantile_name, shift_text
from brimline.analysis.configuration import Difference
from brimline.analysis.gate import GateCase, overall
from brimline.analysis.judged_change import ALPHA, ChangeVerdict
from brimline.analysis.unlike_loads import capacity_commands, same_load_commands
from brimline.record.experiment import ExperimentRecord
from brimline.record.model import Environment
from brimline.report import blocks
from brimline.report.comparison.as_json import comparison_document
from brimline.report.comparison.charts import changes_chart, shift_chart
from brimline.report.comparison.claims import comparison_claims
from brimline.report.comparison.figures import (
    GATE_TONES,
    VERDICT_TONES,
    floor_text,
    is_figure,
    margin_text,
    metric_text,
    quantile_text,
    unsent_badges,
)
from brimline.report.comparison.grid import sides_grid
from brimline.report.comparison.runs_table import sides_table
from brimline.report.frame import experiment_report, framed
from brimline.report.lint_section import linted
from brimline.report.view import Badge, Block, Cell, Code, Column, Fact, Report, Section, Table, Text, Verdict
from brimline.units import UNKNOWN_TEXT
from brimline.wording import Verbatim, joined, message

_CAPTIONS = {
    ChangeVerdict.IMPROVED: "B is better",
    ChangeVerdict.REGRESSED: "B is worse",
    ChangeVerdict.EQUIVALENT: "A and B are equivalent",
    ChangeVerdict.INCONCLUSIVE: "Inconclusive",
    ChangeVerdict.MIXED: "B is better in one, worse in another",
    ChangeVerdict.NO_CLAIM: "No claim",
    ChangeVerdict.NOT_JUDGED: "No verdict: the loads differ",
}
_SUBTITLES: Mapping[Noun, str] = {
    "run": "B against A, {a} and {b} runs, {kind}",
    "search": "B against A, {a} and {b} searches, {kind}",
    "experiment": "B against A, {a} and {b} experiments, {kind}",
    "import": "B against A, {a} and {b} imports",
}
_EVERY: Mapping[Noun, tuple[str, str]] = {
    "run": ("Every run, in the order of time", "Runs"),
    "search": ("Every search, in the order of time", "Searches"),
    "experiment": ("Every experiment, in the order of time", "Experiments"),
    "import": ("Every import, in the order of time", "Imports"),
}
_CHANGES_INTRO = (
    "Of a typical run: geometric means over runs. The interval is Welch's over the logarithms of the runs' figures. "
    "Improved and regressed: p below 0.05. Equivalent: surely within the margin. p is adjusted by Holm over the "
    "metrics that decide, and apart from them over all that explains: p99.9, CPU and the quantiles below that are no "
    "metric. What explains has no say in the verdict."
)
_SEARCHES_INTRO = (
    "The interval is that of the ratio: from the figures' own intervals, of several a side from their spread where "
    "that is wider. Improved and regressed: p below 0.05. Equivalent: surely within the margin. p is adjusted by Holm "
    "over the figures that decide, and apart from them over all that explains. ≥ and ≤: a bound, beyond which nothing "
    "was looked for; the change is a bound then too."
)
_CAPTION = (
    "p below {alpha:g} is a change. p is adjusted for all figures that are looked at, and decides; an interval is of "
    "one figure alone: it may leave out 0 where no change is shown."
)
_TYPICAL = "Typical runs: geometric means over the runs of a side"
_BOUND = (
    "≥: in a run of this side too few operations lie above the quantile for a figure; the lower end of its 95 % "
    "interval. The shift is that of the quantiles themselves."
)


def comparison_report(
    comparison: Comparison, cases: Sequence[GateCase], *, experiment: ExperimentRecord | None = None
) -> Report:
    """The report of B against A. `experiment`: the A/B comparison that made the runs, if one did."""
    typed = str(experiment.environment.get("command") or "") if experiment else ""
    same_load = same_load_commands(comparison.a, comparison.b, typed=typed) if comparison.loads else ()
    capacity: tuple[str, ...] = ()
    if comparison.loads is not None:
        capacity = capacity_commands(comparison.loads, comparison.a, comparison.b, typed=typed)
    sections = [
        _configuration(comparison.differences),
        _loads(same_load, capacity),
        _warnings(comparison.warnings),
        gate_section(cases),
        _changes(comparison),
        _distribution(comparison),
        _runs(comparison),
    ]
    report = _framed(
        experiment,
        comparison.a[0].environment,
        kind="comparison",
        kind_title="Comparison",
        name=experiment.name if experiment else _names(comparison),
        subtitle=message(_SUBTITLES[comparison.noun], a=len(comparison.a), b=len(comparison.b), kind=comparison.kind),
        verdict=_verdict(comparison, cases, same_load, capacity),
        sections=sections,
        data=comparison_document(comparison, cases, same_load, capacity, experiment=experiment),
        grids=[sides_grid(comparison)],
    )
    return linted(report, comparison_claims(report, comparison))


def gate_section(cases: Sequence[GateCase]) -> Section:
    """Each gated metric; empty without a gate."""
    table = Table(
        columns=[
            Column(label="Gate", numeric=False),
            Column(label="Result", numeric=False, tag=True),
            Column(label="Evidence", numeric=False),
        ],
        rows=[
            [Cell(text=case.name), Cell(text=case.verdict.value, tone=GATE_TONES[case.verdict]), Cell(text=case.text)]
            for case in cases
        ],
    )
    return Section(id="gate", title="Gate", short="Gate", blocks=[table] if cases else [])


def _verdict(
    comparison: Comparison, cases: Sequence[GateCase], same_load: Sequence[str], capacity: Sequence[str]
) -> Verdict:
    first = comparison.changes[0] if comparison.changes else None
    badges = [
        Badge(text=comparison.verdict.value, tone=VERDICT_TONES[comparison.verdict]),
        *unsent_badges((*comparison.a, *comparison.b)),
    ]
    if cases:
        badges.append(
            Badge(text=message("gate: {verdict}", verdict=overall(cases).value), tone=GATE_TONES[overall(cases)])
        )
    floor = first.floor if first is not None else None
    facts = [
        Fact(
            label=each.metric.label,
            value=change_text(each.change),
            note=message(
                "{verdict}; 95 % interval {interval}", verdict=each.verdict.value, interval=interval_text(each.change)
            ),
            tone=VERDICT_TONES[each.verdict],
        )
        for each in comparison.changes
        if each.metric.decides and each.change is not None
    ]
    facts += [
        Fact(label=each.metric.label, value=UNKNOWN_TEXT, note=message("left out: {reason}", reason=each.reason),
             tone="warn")
        for each in comparison.absent
    ]  # fmt: skip
    if floor is not None:
        facts.append(
            Fact(
                label="A against itself",
                value=floor_text(floor),
                note="throughput; smaller differences show up here between equal runs",
            )
        )
    return Verdict(
        tone=VERDICT_TONES[comparison.verdict],
        caption=_CAPTIONS[comparison.verdict],
        figure="",
        unit="",
        interval="",
        sentence=joined(" ", [comparison.reason, *([comparison.loads.text] if comparison.loads else [])]),
        badges=badges,
        facts=facts,
        next_step=_next_step(comparison, same_load, capacity),
    )


def _next_step(comparison: Comparison, same_load: Sequence[str], capacity: Sequence[str]) -> str:
    steps = [blocks.WAIT_FOR_QUIET] if any(run.crowded for run in comparison.runs) else []
    if same_load:
        steps.append(message("compare at one rate: {command}", command=Verbatim("; ".join(same_load))))
    if capacity:
        steps.append(message("compare both capacities: {command}", command=Verbatim("; ".join(capacity))))
    return joined("; ", steps)


def _names(comparison: Comparison) -> str:
    return joined(" and ", map(Verbatim, dict.fromkeys(run.title for run in comparison.runs)))


def _configuration(differences: Sequence[Difference]) -> Section:
    table = Table(
        columns=[
            Column(label="Setting", numeric=False, leading=True),
            Column(label="Of", numeric=False),
            Column(label="A", numeric=False),
            Column(label="B", numeric=False),
        ],
        rows=[
            [Cell(text=text) for text in (each.name, each.where, joined(", ", each.a), joined(", ", each.b))]
            for each in differences
        ],
    )
    same = Text(text="Nothing that brimline knows of: plan, server, its options, hosts and versions are the same.")
    return Section(
        id="configuration",
        title="What is configured differently",
        short="Configuration",
        blocks=[table] if differences else [same],
    )


def _loads(same_load: Sequence[str], capacity: Sequence[str]) -> Section:
    """What makes the latencies of unlike loads comparable, and what says which side bears more."""
    asked: list[Block] = []
    for text, commands in (
        ("At one rate, which both bear, latency can be compared:", same_load),
        ("Which of both bears more within an objective, their capacities say:", capacity),
    ):
        asked += [Text(text=text), *(Code(text=each) for each in commands)] if commands else []
    return Section(id="loads", title="The loads differ", short="Loads", blocks=asked)


def _warnings(warnings: Sequence[str]) -> Section:
    return Section(
        id="warnings",
        title="Before believing it",
        short="Warnings",
        blocks=[Text(text=warning, tone="warn") for warning in warnings],
    )


def _changes(comparison: Comparison) -> Section:
    has_floor = comparison.has_floor
    columns = [
        Column(label="Metric", numeric=False, leading=True),
        Column(label="A"),
        Column(label="B"),
        Column(label="Change"),
        Column(label="95 % interval"),
        Column(label="p", optional=True),
        Column(label="Margin", optional=True),
        *([Column(label="A against itself", optional=True)] if has_floor else []),
        Column(label="Verdict", numeric=False, tag=True),
    ]
    rows = [_change_row(each, has_floor=has_floor) for each in comparison.changes]
    found: list[Block] = [
        Table(columns=columns, rows=rows, caption=message(_CAPTION, alpha=ALPHA)),
        *(
            Text(
                text=message("{metric} is left out: {reason}.", metric=each.metric.label, reason=each.reason),
                tone="warn",
            )
            for each in comparison.absent
        ),
    ]
    chart = changes_chart(comparison.changes)
    return Section(
        id="changes",
        title="What changed",
        short="Changes",
        intro=_SEARCHES_INTRO if comparison.noun in ("search", "experiment") else _CHANGES_INTRO,
        blocks=[*found, *([chart] if chart else [])],
    )


def _change_row(each: MetricChange, *, has_floor: bool) -> list[Cell]:
    floor = UNKNOWN_TEXT if each.floor is None else floor_text(each.floor)
    return [
        Cell(text=each.metric.label),
        Cell(text=metric_text(each.metric, each.a, bound=each.a_bound)),
        Cell(text=metric_text(each.metric, each.b, bound=each.b_bound)),
        Cell(text=change_text(each.change)),
        Cell(text=interval_text(each.change)),
        Cell(text=p_text(each.adjusted_p)),
        Cell(text=margin_text(each)),
        *([Cell(text=floor)] if has_floor else []),
        Cell(text=each.verdict.value, tone=VERDICT_TONES[each.verdict]),
    ]


def _distribution(comparison: Comparison) -> Section:
    clock = comparison.clock
    margin = max((each.margin for each in comparison.changes if not each.metric.absolute), default=0.0)
    chart = shift_chart(comparison.shift, clock=clock, margin=margin)
    told = "" if comparison.loads else shift_text(comparison.shift)
    all_figures = all(is_figure(each.quantile, (*comparison.a, *comparison.b)) for each in comparison.shift)
    table = Table(
        columns=[
            Column(label="Quantile", numeric=False, leading=True),
            Column(label="A"),
            Column(label="B"),
            Column(label="Shift"),
            Column(label="95 % interval"),
            Column(label="p", optional=True),
            Column(label="Verdict", numeric=False, tag=True),
        ],
        rows=[
            [
                Cell(text=quantile_name(each.quantile)),
                Cell(text=quantile_text(each.quantile, each.a_ns, comparison.a)),
                Cell(text=quantile_text(each.quantile, each.b_ns, comparison.b)),
                Cell(text=change_text(each.change)),
                Cell(text=interval_text(each.change)),
                Cell(text=p_text(each.adjusted_p)),
                Cell(text=each.verdict.value, tone=VERDICT_TONES[each.verdict]),
            ]
            for each in comparison.shift
        ],
        caption=_TYPICAL if all_figures else message("{typical}. {bound}", typical=_TYPICAL, bound=_BOUND),
    )
    return Section(
        id="distribution",
        title=message("Shift of the whole distribution of {clock} times", clock=clock),
        short="Distribution",
        blocks=[
            *([Text(text=told)] if told else []),
            *([chart] if chart else []),
            *([table] if comparison.shift else []),
        ],
    )


def _runs(comparison: Comparison) -> Section:
    """Every run that counts, in the order of time, so that drift can be seen."""
    sides = [("A", run) for run in comparison.a] + [("B", run) for run in comparison.b]
    sides.sort(key=lambda each: (each[1].started_ns or 0, each[1].name))
    of_runs = ("throughput", "p50", "p99", "errors")
    shown = [each.metric for each in comparison.changes if comparison.noun != "run" or each.metric.key in of_runs]
    title, short = _EVERY[comparison.noun]
    return Section(id="runs", title=title, short=short, blocks=[sides_table(sides, shown)])


def _framed(
    experiment: ExperimentRecord | None, environment: Environment, *, sections: Sequence[Section], **parts: Any
) -> Report:
    """Of runs that were made for it a report of that experiment, else one without a record."""
    if experiment is not None:
        return experiment_report(experiment, sections=sections, **parts)
    whole = [*sections, blocks.environment(environment), blocks.definitions()]
    return framed(None, sections=whole, **parts)
