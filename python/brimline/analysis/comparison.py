"""Owns the comparison of two sets of runs: what was configured differently, what changed by how much, how sure that is.

The unit is the run. One run on a side shows a figure and no spread, so nothing is claimed from it. A change is called
when Holm's adjusted p is below 5 %; a change that is surely smaller than the margin is equivalence, however significant
it may be; anything else is inconclusive.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from brimline.analysis.compared_run import ComparedRun, LoadKind, Metric, metrics
from brimline.analysis.configuration import Difference, configuration_differences, plan_differences
from brimline.analysis.judged_change import CLAIMS, ChangeVerdict, adjusted_p_values, change_verdict
from brimline.analysis.spoilt import lag_warnings, spoilt_metrics
from brimline.errors import InvalidRun, UsageError
from brimline.stats.change import RUNS_MIN, Change, absolute_change, geometric_mean, relative_change
from brimline.stats.quantile_shift import QUANTILES, QuantileShift, shift_function
from brimline.wording import Verbatim, joined, message

MARGIN = 0.03
"""Share below which a change doesn't matter. Where runs vary by 1.5 %, five a side prove equivalence within 3 % four
times in five and within 2 % once."""
ERROR_MARGIN = 0.001
"""The margin of a share of errors, which is compared by difference."""
RUNS_ADVISED = 5
"""Runs a side from which a change of 5 % is found reliably."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChange:
    """One metric: a typical run of A and of B, and what changed.

    `a` and `b` are geometric means over runs, means where the metric is absolute. `change` is None, and the verdict
    "no claim", where a side has fewer than two runs with this figure. `floor` is what runs of A differ by among
    themselves (see `noise_floor`): no change within it is called one, nor is it equivalence, which asks for `margin`
    however noisy the machine is. `of_every_run`: no run lacks the figure; in a closed loop those that lack a percentile
    are the slow ones.
    """

    metric: Metric
    a: float
    b: float
    a_runs: tuple[float, ...]
    b_runs: tuple[float, ...]
    change: Change | None
    adjusted_p: float | None
    verdict: ChangeVerdict
    margin: float
    floor: float | None
    of_every_run: bool = True

    @property
    def worsening(self) -> Change | None:
        """The change with its sign turned so that more is worse."""
        return self.change.reversed if self.change is not None and self.metric.higher_is_better else self.change


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileChange:
    """One quantile of the whole distribution, with what is said of its shift; see `QuantileShift`.

    A quantile that is a metric of every run has the metric's change, p and verdict: it is the same figure.
    """

    quantile: float
    a_ns: int
    b_ns: int
    change: Change | None
    adjusted_p: float | None
    verdict: ChangeVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A run that has no part in the comparison, and why. `broken`: see `ComparedRun`."""

    side: str
    name: str
    reason: str
    broken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """B against A. `a` and `b` are the runs that count, in the order of time."""

    kind: LoadKind
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


def compare_runs(
    a: Sequence[ComparedRun],
    b: Sequence[ComparedRun],
    *,
    margin: float = MARGIN,
    floors: Mapping[str, float] | None = None,
) -> Comparison:
    """Compares the runs of B with those of A.

    `margin`: share below which a change doesn't matter. `floors`: by metric key, what A differs by from itself.

    Raises UsageError where the two can't be compared: an open and a closed loop, a load and a run, a server and none,
    or runs of one side that are not repeats of each other. Raises InvalidRun where a side has no run that counts.
    """
    kind = _common_kind(a, b)
    for side, runs in (("A", a), ("B", b)):
        _check_repeats(side, runs)
    left_out = tuple(LeftOut(side=side, name=run.name, reason=joined("; ", run.problems), broken=run.broken)
                     for side, runs in (("A", a), ("B", b)) for run in runs if run.problems)  # fmt: skip
    valid_a, valid_b = (_in_order(run for run in runs if not run.problems) for runs in (a, b))
    for side, valid in (("A", valid_a), ("B", valid_b)):
        if not valid:
            reasons = "; ".join(dict.fromkeys(each.reason for each in left_out if each.side == side))
            raise InvalidRun(f"no run of {side} counts: {reasons}", hint="repeat them; brimline show says more of each")
    found = shift_function(
        [run.distribution for run in valid_a],
        [run.distribution for run in valid_b],
        quantiles=[each for each in QUANTILES if not any(run.spoilt(each) for run in (*valid_a, *valid_b))],
    )
    changes, shift = _judged(kind, valid_a, valid_b, found, margin=margin, floors=floors or {})
    unknown = _unknown(kind, changes)
    verdict, reason = _overall(changes, len(valid_a), len(valid_b), unknown)
    return Comparison(
        kind=kind,
        a=valid_a,
        b=valid_b,
        left_out=left_out,
        differences=configuration_differences(valid_a, valid_b),
        changes=changes,
        shift=shift,
        verdict=verdict,
        reason=reason,
        warnings=tuple(_warnings(valid_a, valid_b, left_out, changes)),
        has_floor=floors is not None,
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


def _common_kind(a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> LoadKind:
    kinds = dict.fromkeys(run.kind for run in (*a, *b))
    if len(kinds) == 1:
        return next(iter(kinds))
    first = {kind: next(run.name for run in (*a, *b) if run.kind == kind) for kind in kinds}
    named = ", ".join(f"{name} is {_KIND_TEXTS[kind]}" for kind, name in first.items())
    hint = "compare runs of the same kind"
    if kinds.keys() == {"closed loop", "open loop"}:
        hint = "a closed loop has no response time and adapts its load to the server: give both a rate, or neither"
    raise UsageError(f"these runs can't be compared: {named}", hint=hint)


_KIND_TEXTS: Mapping[LoadKind, str] = {
    "closed loop": "a closed loop",
    "open loop": "an open loop",
    "load": "a load",
    "null target": "without a server",
}


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
    kind: LoadKind,
    a: Sequence[ComparedRun],
    b: Sequence[ComparedRun],
    shift: Sequence[QuantileShift],
    *,
    margin: float,
    floors: Mapping[str, float],
) -> tuple[tuple[MetricChange, ...], tuple[QuantileChange, ...]]:
    """Every metric that at least one run of either side has, and every quantile of the distribution.

    There are two families: the metrics that decide, and all else that is shown, which explains.
    """
    found = [
        _metric_change(metric, a, b, margin=margin, floor=floors.get(metric.key))
        for metric in metrics(kind)
        if _values(metric, a) and _values(metric, b)
    ]
    of_every_run = {each.metric.key for each in found if each.change is not None and each.of_every_run}
    further = [each for each in shift if quantile_name(each.quantile) not in of_every_run]
    decide = [each for each in found if each.metric.decides]
    explain = [each for each in found if not each.metric.decides]
    p_values = [
        *adjusted_p_values([each.change for each in decide]),
        *adjusted_p_values([*(each.change for each in explain), *(each.change for each in further)]),
    ]
    names = [*(each.metric.key for each in (*decide, *explain)), *(quantile_name(each.quantile) for each in further)]
    of = dict(zip(names, p_values, strict=True))
    changes = {each.metric.key: _with_verdict(each, of[each.metric.key]) for each in found}
    quantiles = [
        _quantile_change(each, changes[name] if (name := quantile_name(each.quantile)) in of_every_run else None,
                         of[name], margin=margin, floor=floors.get(name, 0.0))
        for each in shift
    ]  # fmt: skip
    return tuple(changes.values()), tuple(quantiles)


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


def _values(metric: Metric, runs: Sequence[ComparedRun]) -> tuple[float, ...]:
    return tuple(run.figures[metric.key] for run in runs if metric.key in run.figures)


def _change(metric: Metric, a: Sequence[float], b: Sequence[float]) -> Change | None:
    if min(len(a), len(b)) < RUNS_MIN:
        return None
    if metric.absolute:
        return absolute_change(a, b)
    return relative_change(a, b) if min(*a, *b) > 0 else None


def _metric_change(
    metric: Metric, a: Sequence[ComparedRun], b: Sequence[ComparedRun], *, margin: float, floor: float | None
) -> MetricChange:
    """The change before it is judged among its family."""
    values_a, values_b = _values(metric, a), _values(metric, b)
    typical = _mean if metric.absolute else geometric_mean
    return MetricChange(
        metric=metric,
        a=typical(values_a),
        b=typical(values_b),
        a_runs=values_a,
        b_runs=values_b,
        change=_change(metric, values_a, values_b),
        adjusted_p=None,
        verdict=ChangeVerdict.NO_CLAIM,
        margin=ERROR_MARGIN if metric.absolute else margin,
        floor=floor,
        of_every_run=len(values_a) == len(a) and len(values_b) == len(b),
    )


def _with_verdict(each: MetricChange, adjusted_p: float | None) -> MetricChange:
    verdict = change_verdict(each.change, adjusted_p, higher_is_better=each.metric.higher_is_better,
                             margin=each.margin, floor=each.floor or 0.0)  # fmt: skip
    return replace(each, adjusted_p=adjusted_p, verdict=verdict)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _unknown(kind: LoadKind, changes: Sequence[MetricChange]) -> list[str]:
    """Metrics that decide and of which some run has no figure: what is shown of them is of the other runs."""
    known = {each.metric.key for each in changes if each.change is not None and each.of_every_run}
    return [metric.label for metric in metrics(kind) if metric.decides and metric.key not in known]


def _overall(
    changes: Sequence[MetricChange], count_a: int, count_b: int, unknown: Sequence[str]
) -> tuple[ChangeVerdict, str]:
    """What the metrics that decide say together. `unknown`: those that nothing is shown of, or not of every run."""
    if min(count_a, count_b) < RUNS_MIN:
        which = "either side" if max(count_a, count_b) < RUNS_MIN else "A" if count_a < RUNS_MIN else "B"
        return ChangeVerdict.NO_CLAIM, message(
            "One run of {which} shows no spread, so that nothing is claimed from the difference.", which=which
        )
    deciding = [each for each in changes if each.metric.decides and each.change is not None]
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
    if deciding and len(of[ChangeVerdict.EQUIVALENT]) == len(deciding):
        if unknown:
            return ChangeVerdict.EQUIVALENT, message(
                "Every difference that is known is surely too small to matter; not known of every run: {unknown}.",
                unknown=joined(", ", unknown),
            )
        return ChangeVerdict.EQUIVALENT, "Every difference is surely too small to matter."
    return ChangeVerdict.INCONCLUSIVE, message(
        "No change is shown and equivalence isn't either: {open}.", open=_named(of[ChangeVerdict.INCONCLUSIVE])
    )


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
    return "At no quantile a shift is shown." if known else ""


def quantile_name(quantile: float) -> str:
    """`p50`, `p99.9`."""
    return f"p{quantile * 100:g}"


def _warnings(
    a: Sequence[ComparedRun],
    b: Sequence[ComparedRun],
    left_out: Sequence[LeftOut],
    changes: Sequence[MetricChange],
) -> Iterator[str]:
    """What the reader must know before believing the figures; first of all what these are not of."""
    for side, runs in (("A", a), ("B", b)):
        for run in runs:
            if run.unsent:
                yield message("{name} ({side}): {evidence}", name=Verbatim(run.name), side=side, evidence=run.unsent)
    yield from lag_warnings(a, b)
    for each in left_out:
        yield message("{name} ({side}) is left out: {reason}", name=each.name, side=each.side, reason=each.reason)
    if _apart(a, b):
        yield (
            "All runs of one side were made before those of the other: what else changed in between, on the machine or "
            "in the data, is part of the difference, and no interval holds it. brimline ab runs them in turns."
        )
    if RUNS_MIN <= min(len(a), len(b)) < RUNS_ADVISED:
        yield message(
            "{count} runs a side find large changes only; {advised} a side find 5 % where runs vary by 1.5 %.",
            count=min(len(a), len(b)),
            advised=RUNS_ADVISED,
        )
    if min(len(a), len(b)) < RUNS_MIN:
        return
    spoilt = {metric.key for run in (*a, *b) for metric in spoilt_metrics(run)}
    if few := [each.metric.label for each in changes if each.change is None and each.metric.key not in spoilt]:
        yield message("Too few runs have enough operations for: {few}.", few=joined(", ", few))
    partly = [each.metric for each in changes if each.change is not None and not each.of_every_run]
    if some := [each.label for each in partly if each.key not in spoilt]:
        yield message(
            "Not every run has the figure, and those without may be the slow ones: {some}.", some=joined(", ", some)
        )


def _apart(a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> bool:
    """Whether the runs were made side after side; not known without their times."""
    times = [[run.started_ns for run in runs if run.started_ns is not None] for runs in (a, b)]
    if not all(times) or len(a) + len(b) < 2 * RUNS_MIN:
        return False
    return max(times[0]) < min(times[1]) or max(times[1]) < min(times[0])
