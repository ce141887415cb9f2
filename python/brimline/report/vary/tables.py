"""Tables of a factor sweep: combinations, differences, curves over the connections, loads, servers."""

from collections.abc import Sequence
from statistics import fmean

from brimline.analysis.change_text import change_text, interval_text, p_text
from brimline.analysis.compared_run import Metric
from brimline.analysis.factorial import LevelDifference, Mean
from brimline.analysis.figure import COUNTED, known_text
from brimline.experiments.vary.conclusion import Cell, Curve, VaryConclusion, at_text
from brimline.experiments.vary.factor_kinds import CONNECTIONS
from brimline.experiments.vary.order import VarySettings, VaryTrial
from brimline.report.comparison.figures import VERDICT_TONES, metric_text
from brimline.report.view import Cell as TableCell
from brimline.report.view import Column, Table, Text
from brimline.stats.estimate import interval_tells
from brimline.units import NS_PER_S, UNKNOWN_TEXT, format_count, format_duration, format_percentage
from brimline.wording import Verbatim, joined, message

_EVERYWHERE = "all"


def combinations_table(conclusion: VaryConclusion, settings: VarySettings) -> Table:
    """Every combination with its means and intervals."""
    names = [factor.name for factor in settings.factors]
    if settings.is_nested:
        return _measured_table(conclusion, settings, names)
    return Table(
        columns=[*_level_columns(names), *_mean_columns(conclusion.metrics), *_count_columns()],
        rows=[_cell_row(cell, conclusion.metrics) for cell in conclusion.cells],
        caption=message(
            "Means over runs, ± half their 95 % interval as a share of the mean. Precise: the mean of {metric} is "
            "known within {precision}. A dash for a percentile: a run had too few operations beyond it to state it.",
            metric=conclusion.main.label,
            precision=format_percentage(settings.precision),
        ),
    )


def _measured_table(conclusion: VaryConclusion, settings: VarySettings, names: Sequence[str]) -> Table:
    """What was measured at each combination, with the interval that it carries, or that of its repeats."""
    columns = [
        column
        for metric in conclusion.metrics
        for column in (
            Column(label=metric.label, unit=metric.unit if metric.unit in COUNTED else ""),
            Column(label="95 % CI", numeric=False),
        )
    ]
    return Table(
        columns=[
            *_level_columns(names),
            *columns,
            Column(label="Left out", numeric=False, optional=True),
        ],
        rows=[
            [
                *(TableCell(text=Verbatim(level)) for level in cell.levels),
                *(
                    each
                    for metric in conclusion.metrics
                    for each in (
                        TableCell(text=mean_text(cell, metric)),
                        TableCell(text=ends_text(cell.means.get(metric.key), metric)),
                    )
                ),
                TableCell(text=joined("; ", cell.left_out), tone="warn" if cell.left_out else ""),
            ]
            for cell in conclusion.cells
        ],
        caption=message(
            "What brimline {verb} found at each combination; its own record is below trials/.",
            verb=Verbatim(settings.measure),
        ),
    )


def matrix_table(conclusion: VaryConclusion, settings: VarySettings) -> Table | None:
    """The main figure of two crossed factors as a matrix; None of other designs."""
    if len(settings.factors) != 2 or settings.listed:
        return None
    rows, columns = settings.factors
    metric = conclusion.main
    known = {cell.levels: cell.main.value for cell in conclusion.cells if cell.main is not None}
    best = (max if metric.higher_is_better else min)(known.values(), default=None)
    names = message("{rows} \\ {columns}", rows=rows.name, columns=columns.name)
    return Table(
        columns=[
            Column(label=names, numeric=False, leading=True),
            *(Column(label=Verbatim(level)) for level in columns.levels),
        ],
        rows=[
            [
                TableCell(text=Verbatim(row)),
                *(
                    TableCell(text=UNKNOWN_TEXT, tone="muted")
                    if (value := known.get((row, column))) is None
                    else TableCell(text=metric_text(metric, value), tone="pass" if value == best else "")
                    for column in columns.levels
                ),
            ]
            for row in rows.levels
        ],
        caption=message("{metric} of each combination; the best is marked.", metric=metric.label),
    )


def ends_text(mean: Mean | None, metric: Metric) -> str:
    """The interval of a figure: both ends, a bound, that it tells nothing, or a dash."""
    if mean is None or (mean.low is None and mean.high is None):
        return UNKNOWN_TEXT
    if mean.low is None or mean.high is None:
        end = mean.low if mean.high is None else mean.high
        told = metric_text(metric, 0.0 if end is None else end)
        return message("at least {value}" if mean.high is None else "at most {value}", value=told)
    if not interval_tells(mean.value, mean.low, mean.high):
        return "can't be told"
    if mean.low == 0 < mean.high:
        return message("at most {value}", value=metric_text(metric, mean.high))
    _, low, high = known_text(mean.value, mean.low, mean.high, metric.unit)
    return message("{low} to {high}", low=low, high=high)


def plans_blocks(trials: Sequence[VaryTrial], settings: VarySettings) -> list[Table | Text]:
    """How the server executed the steps that it executes otherwise in some combination; nothing without such steps."""
    last = {trial.probe.levels: trial.plans for trial in trials if trial.plans}
    steps = list(dict.fromkeys(step for plans in last.values() for step in plans))
    changing = [step for step in steps if len({plans.get(step) for plans in last.values()}) > 1]
    if not last:
        return []
    if not changing:
        return [Text(text="Every step had the same plan in every combination.")]
    names = [factor.name for factor in settings.factors]
    return [
        Table(
            columns=[
                Column(label="Step", numeric=False, leading=True),
                *(Column(label=name, numeric=False) for name in [*names, "Query plan"]),
            ],
            rows=[
                [
                    TableCell(text=Verbatim(step)),
                    *(TableCell(text=Verbatim(level)) for level in levels),
                    TableCell(text=plans.get(step, UNKNOWN_TEXT)),
                ]
                for step in changing
                for levels, plans in last.items()
            ],
            caption=message(
                "Of the last run of each combination. {same} of {count} steps had the same plan in all.",
                same=len(steps) - len(changing),
                count=len(steps),
            ),
        )
    ]


def loads_table(conclusion: VaryConclusion) -> Table | None:
    """What loading came to on each server and shape of the data; None where nothing was loaded."""
    if not conclusion.loads:
        return None
    names = [factor.name for factor in conclusion.load_factors]
    return Table(
        columns=[
            *_level_columns(names),
            Column(label="Took"),
            *_mean_columns(conclusion.load_metrics),
            *_count_columns(),
        ],
        rows=[_load_row(cell, conclusion.load_metrics) for cell in conclusion.loads],
        caption="Documents per second; times are those of insert commands. Took: a load, on average. Data is loaded "
        "once on a server, as the combination has it that ran there first, over the most connections that are varied. "
        "One that could not have them all is in no difference, and in no mean beside others.",
    )


_OF_ONE_ALONE = (
    "p is adjusted for all differences of a factor in a table, and decides. An interval is of one difference alone: "
    "it may leave out 0 where no change is shown."
)


def differences_table(found: Sequence[LevelDifference], *, caption: str) -> Table | None:
    """Each level against the first; None without any."""
    if not found:
        return None
    return Table(
        columns=[
            Column(label="Factor", numeric=False, leading=True),
            Column(label="Level", numeric=False),
            Column(label="Against", numeric=False),
            Column(label="At", numeric=False),
            Column(label="Metric", numeric=False),
            Column(label="Change"),
            Column(label="95 % CI", numeric=False),
            Column(label="Adjusted p", optional=True),
            Column(label="Verdict", numeric=False, tag=True),
        ],
        rows=[_difference_row(each) for each in found],
        caption=joined(" ", [caption, _OF_ONE_ALONE]),
    )


def curves_table(conclusion: VaryConclusion, settings: VarySettings) -> Table | None:
    """The best number of connections at each combination of the other factors; None where they aren't varied."""
    if not conclusion.curves:
        return None
    names = [name for name in (factor.name for factor in settings.factors) if name != CONNECTIONS]
    throughput, *times = conclusion.metrics
    return Table(
        columns=[
            *_level_columns(names),
            *([Column(label="Load rate")] if conclusion.loads else []),
            Column(label="Highest throughput"),
            Column(label="Reached with", unit="connections"),
            *(Column(label=metric.label) for metric in times),
            Column(label="Recommended", numeric=False),
        ],
        rows=[_curve_row(each, conclusion, settings, throughput, times) for each in conclusion.curves],
        caption="Recommended: from the fewest connections with 95 % of the highest throughput to where the p99 rises "
        "and throughput doesn't.",
    )


def servers_table(trials: Sequence[VaryTrial], settings: VarySettings) -> Table:
    """Which runs shared a server."""
    by_server: dict[int, list[tuple[int, VaryTrial]]] = {}
    for number, trial in enumerate(trials, start=1):
        by_server.setdefault(trial.server, []).append((number, trial))
    names = [factor.name for factor in settings.factors if factor.name in settings.apart]
    return Table(
        columns=[
            Column(label="Server", leading=True),
            Column(label="Version", numeric=False),
            *(Column(label=name, numeric=False) for name in names),
            Column(label="Block", numeric=False),
            Column(label="Runs", numeric=False),
        ],
        rows=[
            [
                TableCell(text=format_count(server)),
                TableCell(text=own[0][1].server_version or UNKNOWN_TEXT),
                *(TableCell(text=Verbatim(level)) for level in settings.server_levels(own[0][1].probe.levels)),
                TableCell(text=_span([trial.probe.block for _, trial in own])),
                TableCell(text=_span([number for number, _ in own])),
            ]
            for server, own in by_server.items()
        ],
        caption="Runs of the same server are next to each other in time; numbers count all runs.",
    )


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}–{high}"


def _level_columns(names: Sequence[str]) -> list[Column]:
    return [Column(label=name, numeric=False, leading=place == 0) for place, name in enumerate(names)]


def _mean_columns(metrics: Sequence[Metric]) -> list[Column]:
    return [column for metric in metrics for column in (Column(label=metric.label), Column(label="±"))]


def _count_columns() -> list[Column]:
    return [
        Column(label="Runs"),
        Column(label="Precise", numeric=False),
        Column(label="Left out", numeric=False, optional=True),
    ]


def _cell_row(cell: Cell, metrics: Sequence[Metric]) -> list[TableCell]:
    left_out = (*cell.left_out, *cell.spoilt)
    figures = [
        each
        for metric in metrics
        for each in (
            TableCell(text=mean_text(cell, metric)),
            TableCell(text=half_width_text(cell.means.get(metric.key))),
        )
    ]
    return [
        *(TableCell(text=Verbatim(level)) for level in cell.levels),
        *figures,
        TableCell(text=format_count(cell.run_count), tone="" if cell.run_count else "fail"),
        TableCell(text="yes", tone="pass") if cell.precise else TableCell(text="no", tone="warn"),
        TableCell(text=joined("; ", left_out), tone="warn" if left_out else ""),
    ]


def _load_row(cell: Cell, metrics: Sequence[Metric]) -> list[TableCell]:
    row = _cell_row(cell, metrics)
    took = format_duration(fmean(cell.took_s) * NS_PER_S) if cell.took_s else UNKNOWN_TEXT
    return [*row[: len(cell.levels)], TableCell(text=took), *row[len(cell.levels) :]]


def _load_rate(curve: Curve, conclusion: VaryConclusion, settings: VarySettings) -> str:
    """What loading came to at the best combination; a dash where nothing was loaded so, over all connections."""
    if curve.best is None:
        return UNKNOWN_TEXT
    best = settings.named(curve.best.levels)
    wanted = tuple(best[factor.name] for factor in conclusion.load_factors)
    load = next((each for each in conclusion.loads if each.levels == wanted), None)
    return UNKNOWN_TEXT if load is None or load.spoilt else mean_text(load, conclusion.load_metrics[0])


def mean_text(cell: Cell, metric: Metric) -> str:
    """The mean of a combination in its unit, as a bound where it is no more; a dash where no run counts."""
    mean = cell.means.get(metric.key)
    if mean is None:
        return UNKNOWN_TEXT
    is_top, is_bottom = mean.low is None and mean.high == mean.value, mean.high is None and mean.low == mean.value
    return metric_text(metric, mean.value, bound="≤" if is_top else "≥" if is_bottom else "")


def half_width_text(mean: Mean | None) -> str:
    """Half the interval as a share of the mean; a dash below two runs. From all of the mean on it tells nothing."""
    if mean is None or mean.estimate is None or not mean.value:
        return UNKNOWN_TEXT
    share = (mean.estimate.high - mean.value) / mean.value
    return format_percentage(share, digits=2) if share < 1 else "can't be told"


def _difference_row(each: LevelDifference) -> list[TableCell]:
    return [
        TableCell(text=each.factor),
        TableCell(text=Verbatim(each.level)),
        TableCell(text=Verbatim(each.base)),
        TableCell(text=_where(each)),
        TableCell(text=each.metric.label),
        TableCell(text=change_text(each.change)),
        TableCell(text=interval_text(each.change)),
        TableCell(text=p_text(each.adjusted_p)),
        TableCell(text=each.verdict.value, tone=VERDICT_TONES[each.verdict]),
    ]


def _where(each: LevelDifference) -> str:
    """What is fixed, and how many of the other factors' combinations stand behind the figure where not all do."""
    part = message(
        "{count} of {all} combinations", count=format_count(each.averaged_over), all=format_count(each.combinations)
    )
    if each.averaged_over < each.combinations:
        return joined(", ", [at_text(each.at), part]) if each.at else part
    return at_text(each.at) if each.at else _EVERYWHERE


def _curve_row(
    curve: Curve,
    conclusion: VaryConclusion,
    settings: VarySettings,
    throughput: Metric,
    times: Sequence[Metric],
) -> list[TableCell]:
    best = curve.best
    place = [factor.name for factor in settings.factors].index(CONNECTIONS)
    loaded = []
    if conclusion.loads:
        loaded = [TableCell(text=_load_rate(curve, conclusion, settings))]
    if best is None:
        unknown = [TableCell(text=UNKNOWN_TEXT) for _ in range(2 + len(times))]
        return [
            *(TableCell(text=Verbatim(level)) for level in curve.at.values()),
            *loaded,
            *unknown,
            TableCell(text=curve.reason),
        ]
    band = TableCell(text=curve.band.text) if curve.band is not None else TableCell(text=curve.reason, tone="muted")
    return [
        *(TableCell(text=Verbatim(level)) for level in curve.at.values()),
        *loaded,
        TableCell(text=mean_text(best, throughput)),
        TableCell(text=best.levels[place]),
        *(TableCell(text=mean_text(best, metric)) for metric in times),
        band,
    ]
