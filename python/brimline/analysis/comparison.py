"""Owns the comparison of two sets of records: what was configured differently, what changed, how sure that is.

The unit is the run. One run on a side shows a figure and no spread, so nothing is claimed from it. A search is one as
well, but its figures carry intervals: one on a side is enough for an interval of the ratio. A change is called when
Holm's adjusted p is below 5 %; a change that is surely smaller than the margin is equivalence, however significant it
may be; anything else is inconclusive.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from brimline.analysis.caveats import caveats
from brimline.analysis.changes import Absent, Bound, LeftOut, MetricChange, QuantileChange
from brimline.analysis.compared_run import KIND_TEXTS, METRIC_QUANTILES, ComparedRun, Metric, Noun, noun_of
from brimline.analysis.configuration import Difference, configuration_differences, plan_differences
from brimline.analysis.judged_change import CLAIMS, ChangeVerdict, adjusted_p_values, change_verdict
from brimline.analysis.unlike_loads import UnlikeLoads, unlike_loads
from brimline.errors import InvalidRun, UsageError
from brimline.stats.change import RUNS_MIN, Change, absolute_change, geometric_mean
from brimline.stats.quantile_interval import NEVER_NS
from brimline.stats.quantile_shift import QUANTILES, QuantileShift, shift_function
from brimline.stats.ratio import intervals_ratio
from brimline.wording import joined, message

MARGIN = 0.03
"""Share below which a change doesn't matter. Where runs vary by 1.5 %, five a side prove equivalence within 3 % four
times in five and within 2 % once."""
ERROR_MARGIN = 0.001
"""The margin of a share of errors, which is compared by difference."""


UNANSWERED = "it lies among what was never answered or never sent"
"""Why a run has no figure, where a lower load would have given it one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """B against A. `a` and `b` are the runs that count, in the order of time. `loads`: how theirs differ, if so.

    `absent`: metrics that decide, and that are not among the `changes` because a side has no figure of them.
    """

    kind: str
    a: tuple[ComparedRun, ...]
    b: tuple[ComparedRun, ...]
    left_out: tuple[LeftOut, ...]
    differences: tuple[Difference, ...]
    changes: tuple[MetricChange, ...]
    shift: tuple[QuantileChange, ...]
    verdict: ChangeVerdict
    reason: str
    warnings: tuple[str, ...]
    has_floor: bool
    loads: UnlikeLoads | None = None
    absent: tuple[Absent, ...] = ()

    @property
    def runs(self) -> tuple[ComparedRun, ...]:
        """Those that count, of both sides."""
        return (*self.a, *self.b)

    @property
    def clock(self) -> Literal["service", "response"]:
        """Which times the distribution is of."""
        return "response" if self.kind == "pooled closed loop" or self.kind.endswith("open loop") else "service"

    @property
    def noun(self) -> Noun:
        """What one of them is."""
        return noun_of(self.kind)


def compare_runs(
    a: Sequence[ComparedRun],
    b: Sequence[ComparedRun],
    *,
    margin: float = MARGIN,
    floors: Mapping[str, float] | None = None,
) -> Comparison:
    """Compares the runs of B with those of A; or searches, imports and whatever else has figures.

    `margin`: share below which a change doesn't matter. `floors`: by metric key, what A differs by from itself.

    Raises UsageError where the two can't be compared: an open and a closed loop, a load and a run, a run and a search,
    a server and none, or runs of one side that are not repeats of each other. Raises InvalidRun where a side has no run
    that counts.
    """
    kind = _common_kind(a, b)
    for side, runs in (("A", a), ("B", b)):
        _check_repeats(side, runs)
    left_out = tuple(LeftOut(side=side, name=run.name, reason=joined("; ", run.problems), broken=run.broken,
                             ended_by=run.ended_by)
                     for side, runs in (("A", a), ("B", b)) for run in runs if run.problems)  # fmt: skip
    valid_a, valid_b = (_in_order(run for run in runs if not run.problems) for runs in (a, b))
    for side, valid in (("A", valid_a), ("B", valid_b)):
        if not valid:
            reasons = "; ".join(dict.fromkeys(each.reason for each in left_out if each.side == side))
            raise InvalidRun(
                f"no {noun_of(kind)} of {side} counts: {reasons}", hint="repeat them; brimline show says more of each"
            )
    differences = configuration_differences(valid_a, valid_b)
    loads = unlike_loads(kind, differences)
    judged_by = _metrics((*valid_a, *valid_b), loads)
    changes, shift = _judged(judged_by, valid_a, valid_b, loads, margin=margin, floors=floors or {})
    verdict, reason = _overall(changes, valid_a, valid_b, loads, unknown=_unknown(judged_by, changes))
    return Comparison(
        kind=kind,
        a=valid_a,
        b=valid_b,
        left_out=left_out,
        differences=differences,
        changes=changes,
        shift=shift,
        verdict=verdict,
        reason=reason,
        warnings=tuple(caveats(valid_a, valid_b, left_out, changes)),
        has_floor=floors is not None,
        loads=loads,
        absent=_absent(judged_by, valid_a, valid_b),
    )


def noise_floor(a: Sequence[ComparedRun], again: Sequence[ComparedRun]) -> dict[str, float]:
    """By metric key or quantile, how large a difference two sets of the same runs show: what their interval reaches to.

    What has no interval is absent. Raises as `compare_runs`.
    """
    same = compare_runs(a, again)
    known = [
        *((quantile_name(each.quantile), each.change) for each in same.shift),
        *((each.metric.key, each.change) for each in same.changes),
    ]
    return {name: change.reach for name, change in known if change is not None}


def _common_kind(a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> str:
    kinds = dict.fromkeys(run.kind for run in (*a, *b))
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds.keys() == {"closed loop", "pooled closed loop"}:
        return "pooled closed loop"
    first = {kind: next(run.name for run in (*a, *b) if run.kind == kind) for kind in kinds}
    named = ", ".join(f"{name} is {KIND_TEXTS.get(kind, kind)}" for kind, name in first.items())
    hint = "compare runs of the same kind"
    if kinds.keys() == {"closed loop", "open loop"}:
        hint = "a closed loop has no response time and adapts its load to the server: give both a rate, or neither"
    raise UsageError(f"these runs can't be compared: {named}", hint=hint)


def _check_repeats(side: str, runs: Sequence[ComparedRun]) -> None:
    """The runs of one side are repeats of each other; another seed is allowed."""
    for run in runs[1:]:
        if found := plan_differences(runs[0], run):
            first = found[0]
            raise UsageError(
                f"the runs of {side} are not repeats of each other: {first.name} is {first.a[0]} in {runs[0].name} and "
                f"{first.b[0]} in {run.name}",
                hint="put runs of one plan on each side",
            )


def _in_order(runs: Iterator[ComparedRun]) -> tuple[ComparedRun, ...]:
    return tuple(sorted(runs, key=lambda run: (run.started_ns or 0, run.name)))


def _judged(
    metrics: Sequence[Metric],
    a: Sequence[ComparedRun],
    b: Sequence[ComparedRun],
    loads: UnlikeLoads | None,
    *,
    margin: float,
    floors: Mapping[str, float],
) -> tuple[tuple[MetricChange, ...], tuple[QuantileChange, ...]]:
    """Every metric that at least one run of either side has, and every quantile of the distribution.

    There are two families: the metrics that decide, and all else that is shown, which explains.
    """
    found = [
        _metric_change(metric, a, b, margin=margin, floor=floors.get(metric.key))
        for metric in metrics
        if _having(metric, a) and _having(metric, b)
    ]
    shift = _shift(a, b)
    of_every_run = {each.metric.key for each in found if each.change is not None and each.of_every_run}
    further = [each for each in shift if quantile_name(each.quantile) not in of_every_run]
    judged = [each for each in found if loads is None or loads.judges(each.metric)]
    decide = [each for each in judged if each.metric.decides]
    explain = [each for each in judged if not each.metric.decides]
    further = [] if loads else further
    p_values = [
        *adjusted_p_values([each.change for each in decide]),
        *adjusted_p_values([*(each.change for each in explain), *(each.change for each in further)]),
    ]
    names = [*(each.metric.key for each in (*decide, *explain)), *(quantile_name(each.quantile) for each in further)]
    of = dict(zip(names, p_values, strict=True))
    changes = {each.metric.key: _with_verdict(each, of.get(each.metric.key), loads) for each in found}
    quantiles = [
        _quantile_change(each, changes[name] if (name := quantile_name(each.quantile)) in of_every_run else None,
                         of.get(name), margin=margin, floor=floors.get(name, 0.0))
        for each in shift
    ]  # fmt: skip
    if loads:
        quantiles = [replace(each, verdict=ChangeVerdict.NOT_JUDGED) for each in quantiles]
    return tuple(changes.values()), tuple(quantiles)


def _metrics(runs: Sequence[ComparedRun], loads: UnlikeLoads | None) -> tuple[Metric, ...]:
    """The metrics of all of these, each once; what follows from the load has no say."""
    every = {metric.key: metric for run in runs for metric in run.metrics}
    return tuple(
        replace(each, decides=each.decides and (loads is None or loads.judges(each))) for each in every.values()
    )


def _shift(a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> Sequence[QuantileShift]:
    """None of records without a distribution."""
    if not all(run.distribution for run in (*a, *b)):
        return ()
    return shift_function(
        [run.distribution for run in a],
        [run.distribution for run in b],
        quantiles=[each for each in QUANTILES if not any(run.spoilt(each) for run in (*a, *b))],
    )


def _quantile_change(
    each: QuantileShift, same: MetricChange | None, adjusted_p: float | None, *, margin: float, floor: float
) -> QuantileChange:
    """`same`: the metric that is this quantile of every run."""
    change = each.change if same is None else same.change
    return QuantileChange(
        quantile=each.quantile,
        a_ns=each.a_ns,
        b_ns=each.b_ns,
        change=change,
        adjusted_p=adjusted_p,
        verdict=change_verdict(change, adjusted_p, higher_is_better=False, margin=margin, floor=floor),
    )


def _having(metric: Metric, runs: Sequence[ComparedRun]) -> list[ComparedRun]:
    return [run for run in runs if metric.key in run.figures]


def change_of(metric: Metric, a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> Change | None:
    """How a metric changed from A to B, all of which have it; None where nothing tells how it varies."""
    sides = [[run.interval(metric.key) for run in runs] for runs in (a, b)]
    values = [[value for value, *_ in side] for side in sides]
    if metric.absolute:
        return absolute_change(*values) if min(map(len, values)) >= RUNS_MIN else None
    varies = all(len(runs) >= RUNS_MIN or metric.key in runs[0].ends for runs in (a, b))
    if not varies or min(map(min, values)) <= 0:
        return None
    ratio = intervals_ratio(*sides)
    # Two bounds on the same side say nothing of how the figures behind them differ.
    is_known = (ratio.low, ratio.high) != (0, math.inf) or not any(metric.key in run.ends for run in (*a, *b))
    return ratio.change(a_count=len(a), b_count=len(b)) if is_known else None


def _metric_change(
    metric: Metric, a: Sequence[ComparedRun], b: Sequence[ComparedRun], *, margin: float, floor: float | None
) -> MetricChange:
    """The change before it is judged among its family."""
    having_a, having_b = _having(metric, a), _having(metric, b)
    values_a, values_b = (tuple(run.figures[metric.key] for run in runs) for runs in (having_a, having_b))
    typical = _mean if metric.absolute else geometric_mean
    return MetricChange(
        metric=metric,
        a=typical(values_a),
        b=typical(values_b),
        a_runs=values_a,
        b_runs=values_b,
        change=change_of(metric, having_a, having_b),
        adjusted_p=None,
        verdict=ChangeVerdict.NO_CLAIM,
        margin=ERROR_MARGIN if metric.absolute else margin,
        floor=floor,
        of_every_run=len(values_a) == len(a) and len(values_b) == len(b),
        a_bound=_bound(metric, having_a),
        b_bound=_bound(metric, having_b),
    )


def _bound(metric: Metric, runs: Sequence[ComparedRun]) -> Bound:
    """Whether what is shown of a side is a bound, because one of its values is."""
    ends = [run.ends[metric.key] for run in runs if metric.key in run.ends]
    if any(high is None and low is not None for low, high in ends):
        return "≥"
    return "≤" if any(low is None and high is not None for low, high in ends) else ""


def _with_verdict(each: MetricChange, adjusted_p: float | None, loads: UnlikeLoads | None) -> MetricChange:
    if loads is not None and not loads.judges(each.metric):
        return replace(each, verdict=ChangeVerdict.NOT_JUDGED)
    verdict = change_verdict(each.change, adjusted_p, higher_is_better=each.metric.higher_is_better,
                             margin=each.margin, floor=each.floor or 0.0)  # fmt: skip
    return replace(each, adjusted_p=adjusted_p, verdict=verdict)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _unknown(metrics: Sequence[Metric], changes: Sequence[MetricChange]) -> list[str]:
    """Metrics that decide and of which some run has no figure: what is shown of them is of the other runs."""
    known = {each.metric.key for each in changes if each.change is not None and each.of_every_run}
    return [metric.label for metric in metrics if metric.decides and metric.key not in known]


def _absent(metrics: Sequence[Metric], a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> tuple[Absent, ...]:
    """Metrics that decide and that no run of a side has, with the reasons."""
    found = []
    for metric in metrics:
        lacking = [(name, runs) for name, runs in (("A", a), ("B", b)) if not _having(metric, runs)]
        if metric.decides and lacking:
            reasons = {side: dict.fromkeys(why_absent(metric, each) for each in runs) for side, runs in lacking}
            told = [message("in {side} {why}", side=side, why=joined(", ", each)) for side, each in reasons.items()]
            found.append(Absent(metric=metric, reason=joined("; ", told)))
    return tuple(found)


def why_absent(metric: Metric, run: ComparedRun) -> str:
    """Why a run has no figure of a metric that other runs have."""
    quantile = METRIC_QUANTILES.get(metric.key)
    if quantile is None or not run.distribution:
        return "it is not known"
    if run.spoilt(quantile):
        return "the generator's own lag may be most of it"
    count = sum(each for _, each in run.distribution)
    unanswered = sum(each for value_ns, each in run.distribution if value_ns == NEVER_NS)
    if unanswered > (1 - quantile) * count:
        return UNANSWERED
    return "too few operations lie above it"


def _overall(
    changes: Sequence[MetricChange],
    a: Sequence[ComparedRun],
    b: Sequence[ComparedRun],
    loads: UnlikeLoads | None,
    *,
    unknown: Sequence[str],
) -> tuple[ChangeVerdict, str]:
    """What the metrics that decide say together. `unknown`: those that nothing is shown of, or not of every run."""
    deciding = [each for each in changes if each.metric.decides and each.change is not None]
    if not deciding and min(len(a), len(b)) < RUNS_MIN:
        which = "either side" if max(len(a), len(b)) < RUNS_MIN else "A" if len(a) < RUNS_MIN else "B"
        return ChangeVerdict.NO_CLAIM, message(_NO_SPREAD_TEXTS[noun_of(a[0].kind)], which=which)
    of = {verdict: [each for each in deciding if each.verdict is verdict] for verdict in ChangeVerdict}
    better, worse = of[ChangeVerdict.IMPROVED], of[ChangeVerdict.REGRESSED]
    if better and worse:
        return ChangeVerdict.MIXED, message(
            "Better: {better}. Worse: {worse}.", better=_named(better), worse=_named(worse)
        )
    if worse:
        return ChangeVerdict.REGRESSED, message("Worse: {worse}.", worse=_named(worse))
    if better:
        return ChangeVerdict.IMPROVED, message("Better: {better}.", better=_named(better))
    if loads is not None and not loads.closed:
        return ChangeVerdict.NOT_JUDGED, "What differs is what was asked for."
    if deciding and len(of[ChangeVerdict.EQUIVALENT]) == len(deciding):
        of_times = any(each.metric.key in METRIC_QUANTILES for each in deciding)
        if unknown and not of_times and a[0].kind.endswith("open loop"):
            return ChangeVerdict.INCONCLUSIVE, message(
                "The throughput is what was asked for, and of the times nothing is known of every run: {unknown}.",
                unknown=joined(", ", unknown),
            )
        if unknown:
            return ChangeVerdict.EQUIVALENT, message(
                "Every difference that is known is surely too small to matter; not known of every run: {unknown}.",
                unknown=joined(", ", unknown),
            )
        return ChangeVerdict.EQUIVALENT, "Every difference is surely too small to matter."
    if not deciding:
        return ChangeVerdict.NO_CLAIM, message("Nothing that decides is known of both: {unknown}.",
                                               unknown=joined(", ", unknown))  # fmt: skip
    still_open = of[ChangeVerdict.INCONCLUSIVE]
    told = message("No change is shown and equivalence isn't either: {open}.", open=_named(still_open))
    alone = [each for each in still_open if each.change is not None and not each.change.low <= 0 <= each.change.high]
    if not alone:
        return ChangeVerdict.INCONCLUSIVE, told
    why = message(
        "p is adjusted for all figures that are looked at, and that decides. Of one alone, {names}, the interval holds "
        "no 0.",
        names=_named(alone),
    )
    return ChangeVerdict.INCONCLUSIVE, joined(" ", [told, why])


_NO_SPREAD_TEXTS: Mapping[Noun, str] = {
    "run": "One run of {which} shows no spread, so that nothing is claimed from the difference.",
    "search": "One search of {which} has no interval, so that nothing is claimed from the difference.",
    "experiment": "One experiment of {which} has no interval, so that nothing is claimed from the difference.",
    "import": "One import of {which} shows no spread, so that nothing is claimed from the difference.",
}


def _named(changes: Sequence[MetricChange]) -> str:
    return joined(", ", (each.metric.label for each in changes))


def shift_text(shift: Sequence[QuantileChange]) -> str:
    """Where the distribution moved, in words; "" without an interval."""
    known = [each for each in shift if each.change is not None]
    slower, faster = (
        [quantile_name(each.quantile) for each in known if each.verdict is verdict] for verdict in reversed(CLAIMS)
    )
    parts = [
        *([message("B is slower at {quantiles}", quantiles=joined(", ", slower))] if slower else []),
        *([message("B is faster at {quantiles}", quantiles=joined(", ", faster))] if faster else []),
    ]
    if parts and len(slower) + len(faster) == len(known):
        return message("{parts}: at every quantile shown.", parts=joined("; ", parts))
    if parts:
        return message("{parts}; elsewhere no shift is shown.", parts=joined("; ", parts))
    if alone := [each for each in known if each.change is not None and not each.change.low <= 0 <= each.change.high]:
        return message(
            "No quantile is shown to shift: p is adjusted for all that are looked at, and that decides. Of one alone, "
            "at {quantiles}, the interval holds no 0.",
            quantiles=joined(", ", [quantile_name(each.quantile) for each in alone]),
        )
    return "At no quantile a shift is shown." if known else ""


def quantile_name(quantile: float) -> str:
    """`p50`, `p99.9`."""
    return f"p{quantile * 100:g}"
