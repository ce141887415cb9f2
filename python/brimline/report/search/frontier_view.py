"""An SLO frontier as a report: the capacity for each limit, in a table and as a curve."""

from collections.abc import Sequence
from dataclasses import replace

from brimline.analysis.objective import quantile_name
from brimline.experiments.capacity.conclusion import CapacityConclusion, ConclusionKind
from brimline.experiments.capacity.frontier import FrontierConclusion, FrontierSettings
from brimline.experiments.settings import Grade
from brimline.experiments.trial import SEARCH_STAGES, Trial, null_ceiling
from brimline.record.experiment import ExperimentRecord
from brimline.record.model import RunRecord
from brimline.report import blocks, figures
from brimline.report.frame import experiment_report
from brimline.report.lint_section import linted
from brimline.report.run.step_sections import with_remarks
from brimline.report.search.as_json import frontier_document
from brimline.report.search.frontier_claims import frontier_claims
from brimline.report.search.further import windows_fact
from brimline.report.search.grids import loads_grid
from brimline.report.search.levels import levels_table
from brimline.report.search.plateau_facts import plateau_facts
from brimline.report.search.probe_charts import capacity_curve
from brimline.report.search.probe_findings import search_findings
from brimline.report.search.probes import ProbeRow, probe_rows, probe_table, search_points
from brimline.report.search.view import (
    detail_sections,
    lacked_facts,
    not_watched,
    search_figure,
    sweep_chart,
)
from brimline.report.showing import figures_section
from brimline.report.view import Badge, Cell, Chart, Column, Fact, Key, Report, Section, Sketch, Table, Tone, Verdict
from brimline.units import UNKNOWN_TEXT, duration_label, format_duration
from brimline.wording import capitalised, joined, message

_TONES: dict[ConclusionKind, Tone] = {
    ConclusionKind.SUSTAINED: "pass",
    ConclusionKind.BOUNDED: "pass",
    ConclusionKind.SLO_UNREACHABLE: "fail",
}


def frontier_report(
    experiment: ExperimentRecord,
    trials: Sequence[Trial],
    conclusion: FrontierConclusion,
    settings: FrontierSettings,
    *,
    detail: RunRecord | None = None,
) -> Report:
    """The report of a frontier. `detail` is the run of one probe that is shown more closely."""
    rows = frontier_rows(trials, conclusion)
    first = conclusion.points[0]
    grid = loads_grid(trials, first.settings.axis)
    limited = any(each.generator_ended for each in conclusion.points)
    shown = [
        frontier_table(conclusion.points),
        frontier_chart(conclusion.points),
        levels_table(conclusion.points),
        _load_curve(rows, conclusion.points),
        sweep_chart(rows, first.sweep),
    ]
    sections = [
        Section(
            id="frontier",
            title="Capacity against objective",
            short="Frontier",
            blocks=[block for block in shown if block is not None],
        ),
        Section(
            id="probes",
            title="Every probe",
            short="Probes",
            intro="In the order in which they ran, each judged by the limit that asked for it. Nothing is left out.",
            blocks=[probe_table(rows)],
        ),
        figures_section(grid),
        *detail_sections(detail, first.settings.slo),
        blocks.checks(search_findings(trials, client_limited=limited), intro=blocks.SEARCH_CHECKS_INTRO),
    ]
    limits = joined(", ", [each.settings.slo.leading.short_text for each in conclusion.points])
    report = experiment_report(
        experiment,
        kind="frontier",
        kind_title="SLO frontier",
        subtitle=message("{preset} · objectives: {limits}", preset=settings.search.preset, limits=limits),
        verdict=frontier_verdict(conclusion),
        sections=sections,
        data=frontier_document(experiment, rows, conclusion, settings, [grid]),
        grids=[grid],
        more=not_watched(detail),
    )
    return linted(with_remarks(report, detail), frontier_claims(report))


def frontier_rows(trials: Sequence[Trial], conclusion: FrontierConclusion) -> list[ProbeRow]:
    """Every trial in order, judged by the limit that asked for it."""
    by_goal = {each.settings.goal: each for each in conclusion.points}
    rows = []
    for number, trial in enumerate(trials, start=1):
        goal = trial.probe.goal if trial.probe.stage in SEARCH_STAGES else conclusion.points[0].settings.goal
        point = by_goal[goal]
        (row,) = probe_rows(
            [trial],
            point.settings.slo,
            axis=point.settings.axis,
            null_ceiling_ops_per_s=null_ceiling(trials),
            plateau_connections=point.sweep.knee_connections,
        )
        rows.append(replace(row, number=number))
    return rows


def frontier_table(points: Sequence[CapacityConclusion]) -> Table:
    """One row per limit."""
    return Table(
        columns=[
            Column(label="Objective", numeric=False, leading=True),
            Column(label="Result", numeric=False, tag=True),
            Column(label="Capacity", unit=points[0].settings.axis.unit),
            Column(label="Interval", numeric=False),
            Column(label="Stopped by", numeric=False, optional=True),
            Column(label="Why", numeric=False),
        ],
        rows=[_cells(point) for point in points],
        caption="The loosest limit first. All other limits of the objective hold as well.",
    )


def _cells(found: CapacityConclusion) -> list[Cell]:
    figure, interval, _ = search_figure(found)
    why = found.reason or joined("; ", found.reasons_not_quotable)
    result = found.grade.value if figure and found.grade else found.kind.value
    verified, tone = found.grade is Grade.VERIFIED, _TONES.get(found.kind, "warn")
    return [
        Cell(text=found.settings.slo.leading.text),
        Cell(text=result.replace("_", " "), tone="warn" if tone == "pass" and not verified else tone),
        Cell(text=figure or UNKNOWN_TEXT),
        Cell(text=interval),
        Cell(text=UNKNOWN_TEXT if found.bottleneck is None else found.bottleneck.text),
        Cell(text=why, tone="muted"),
    ]


def _load_curve(rows: Sequence[ProbeRow], points: Sequence[CapacityConclusion]) -> Chart | None:
    """Every probe that was held to a limit, by load, with all limits."""
    axis, limits = points[0].settings.axis, [each.settings.slo.leading for each in points]
    probes = search_points(rows, axis=axis, limit=limits[0])
    return capacity_curve(probes, limit=limits[0], axis=axis, capacity=None, more_limits=limits[1:])


def frontier_chart(points: Sequence[CapacityConclusion]) -> Chart | None:
    """Capacity with its interval over the limit; None with fewer than two capacities."""
    known = sorted(
        (each for each in points if each.sustained is not None), key=lambda each: each.settings.slo.leading.limit_ns
    )
    if len(known) < 2:
        return None
    estimates = [each.sustained for each in known if each.sustained is not None]
    axis, leading = known[0].settings.axis, known[0].settings.slo.leading
    limits_ms = [each.settings.slo.leading.limit_ns / 1e6 for each in known]
    values = [each.value for each in estimates]
    texts = [
        message("{limit}: {what}", limit=each.settings.slo.leading.text, what=axis.text(each.figure or 0))
        for each in known
    ]
    data = [
        figures.line("capacity", limits_ms, values, figures.THROUGHPUT)
        | {
            "mode": "lines+markers",
            "marker": {"size": 9},
            "error_y": {
                "type": "data",
                "symmetric": False,
                "array": [each.high - each.value for each in estimates],
                "arrayminus": [each.value - each.low for each in estimates],
            },
            "text": texts,
            "hovertemplate": "%{text}<extra></extra>",
        }
    ]
    name = quantile_name(leading.quantile)
    layout = figures.layout(
        xaxis=figures.axis(
            message("limit on the {clock} {quantile}, log scale", clock=f"{leading.clock} time", quantile=name),
            type="log",
            tickvals=limits_ms,
            ticktext=[duration_label(each.settings.slo.leading.limit_ns) for each in known],
        ),
        yaxis=figures.zero_based(message("capacity, {unit}", unit=axis.unit), max(each.high for each in estimates)),
    )
    return Chart(
        id="frontier-curve",
        title="What a tighter objective costs",
        caption="Capacity for each limit, with its 95 % interval.",
        summary=message("{points}.", points=joined("; ", texts)),
        figure={"data": data, "layout": layout},
        legend=[Key(name="capacity", color=figures.THROUGHPUT, mark="line")],
        height_px=360,
        sketch=Sketch(axis="y", caption=message("capacity, {unit}, over the limit", unit=axis.unit)),
    )


def frontier_verdict(conclusion: FrontierConclusion) -> Verdict:
    """The loosest limit's figure and grade, and the tightest beside it; a bound is said as one."""
    known = [each for each in conclusion.points if search_figure(each)[0]]
    count = len(conclusion.points)
    all_answered = conclusion.worst.exit_code == 0
    if not known:
        return Verdict(
            tone="fail" if conclusion.worst.kind is ConclusionKind.SLO_UNREACHABLE else "warn",
            caption="No capacity for any of the limits",
            figure="",
            unit="",
            interval="",
            sentence=capitalised(conclusion.worst.reason),
            badges=[Badge(text=conclusion.worst.kind.value.replace("_", " "), tone="fail")],
            facts=_facts(conclusion),
        )
    quotable = all(each.quotable for each in known)
    loosest, tightest = known[0], known[-1]
    axis = loosest.settings.axis
    figure, interval, unit = search_figure(loosest)
    grade = loosest.grade or Grade.ESTIMATED
    return Verdict(
        tone="pass" if quotable and all_answered else "warn",
        caption=message("Capacity at {limit}", limit=loosest.settings.slo.leading.text),
        figure=figure,
        unit=unit,
        interval=interval,
        sentence=message(
            "{load} ({grade}) at {limit}; {known} of {count} limits have a capacity.",
            load=message("{figure} {unit}", figure=search_figure(tightest)[0], unit=axis.unit),
            grade=tightest.grade or Grade.ESTIMATED,
            limit=tightest.settings.slo.leading.text,
            known=len(known),
            count=count,
        ),
        badges=[
            Badge(text=grade.value, tone="pass" if grade is Grade.VERIFIED else "warn"),
            *([] if quotable else [Badge(text="not quotable", tone="warn")]),
        ],
        facts=_facts(conclusion),
    )


def _facts(conclusion: FrontierConclusion) -> list[Fact]:
    unsettled = [
        message("{limit}: {what}", limit=each.settings.slo.leading.short_text, what=what)
        for each in conclusion.points
        for what in each.unsettled
    ]
    spent_s = max(each.state.spent_s for each in conclusion.points)
    return [
        *lacked_facts(conclusion.points),
        windows_fact(conclusion.points[0].settings),
        *plateau_facts(conclusion.points[0].sweep),
        *([Fact(label="Not settled", value=joined("; ", unsettled))] if unsettled else []),
        Fact(label="Probe time", value=format_duration(spent_s * 1e9)),
    ]
