"""Owns what runs of crossed factors show: the mean of each combination, and what each level differs by from the first.

The unit is the run: a block has one of each combination. A difference *everywhere* takes from each block the mean
logarithm over the combinations of the other factors, so that it is a ratio of geometric means and no combination weighs
more than another; a difference *within* compares at one combination alone. Intervals are Welch's over blocks, as in
`comparison.py`, p values Holm's over the family of all differences of one factor that are asked for together. A figure
that carries an interval of its own, as that of a search does, needs no second block: then it is that of the ratio.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from brimline.analysis.compared_run import Metric
from brimline.analysis.judged_change import ChangeVerdict, adjusted_p_values, change_verdict
from brimline.stats.batch_means import mean_interval
from brimline.stats.change import RUNS_MIN, Change, geometric_mean, relative_change
from brimline.stats.estimate import Estimate
from brimline.stats.ratio import Interval, intervals_ratio

Levels = tuple[str, ...]
Design = Mapping[str, tuple[str, ...]]
"""The levels of each factor, in the order of the factors."""
_Table = dict[Levels, dict[int, Interval]]
"""Of one level of a factor: its values by the levels of the other factors and by block."""
_MeanOf = Callable[[Sequence[float]], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorRun:
    """A run that counts: its level of each factor, its block, its figures by metric key.

    `ends`: of figures that carry an interval of their own, its ends; None where one isn't known.
    """

    levels: Levels
    block: int
    figures: Mapping[str, float]
    ends: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)

    def interval(self, key: str) -> Interval:
        """A figure with the ends that are known."""
        return (self.figures[key], *self.ends.get(key, (None, None)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """The mean of a figure over the runs of one combination; `estimate` is None below two runs.

    `low` and `high` are the ends of its interval, as far as they are known; a single figure may carry its own.
    """

    value: float
    run_count: int
    estimate: Estimate | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelDifference:
    """What `level` of a factor has more of a metric than `base`, the first level.

    `at`: level of each other factor by name where the comparison is within one combination; else only those that are
    never averaged over. `a` and `b` are means of base and level: geometric ones where all values of the two are above
    0, else, as of a drift, arithmetic ones, which have no ratio and so no `change`. `averaged_over` counts the
    combinations that both levels have in common, of `combinations` that there are.
    """

    factor: str
    level: str
    base: str
    at: Mapping[str, str]
    everywhere: bool
    metric: Metric
    a: float
    b: float
    change: Change | None
    adjusted_p: float | None
    verdict: ChangeVerdict
    averaged_over: int = 1
    combinations: int = 1


def stated_by_all(runs: Sequence[FactorRun]) -> list[FactorRun]:
    """The runs without figures that another run of their combination lacks.

    A run with few operations has a bound in place of a p99. What is left out are so the slow runs, and a mean over the
    others would be a figure of the fast ones alone: a p99 below the p95 beside it.
    """
    shared: dict[Levels, set[str]] = {}
    for run in runs:
        shared[run.levels] = shared.get(run.levels, set(run.figures)) & set(run.figures)
    return [
        replace(run, figures={key: value for key, value in run.figures.items() if key in shared[run.levels]})
        for run in runs
    ]


def mean_of(runs: Sequence[FactorRun], metric: Metric) -> Mean | None:
    """The mean over `runs` with Student's interval; None where no run has the figure.

    The interval ends at 0 unless a run's figure, or the interval that it carries, is below: then the figure can be.
    """
    values = [run.figures[metric.key] for run in runs if metric.key in run.figures]
    if not values:
        return None
    mean = sum(values) / len(values)
    if len(values) < RUNS_MIN:
        low, high = next(run.ends.get(metric.key, (None, None)) for run in runs if metric.key in run.figures)
        known = low is not None and high is not None
        own = Estimate(value=mean, low=low, high=high, unit=metric.unit) if known else None  # type: ignore[arg-type]
        return Mean(value=mean, run_count=len(values), estimate=own, low=low, high=high)
    found = mean_interval(values, unit=metric.unit, independent=True)
    lows = [low for run in runs if (low := run.ends.get(metric.key, (None, None))[0]) is not None]
    least = -math.inf if min((*values, *lows)) < 0 else 0.0
    bounded = Estimate(value=found.value, low=max(found.low, least), high=found.high, unit=metric.unit)
    return Mean(value=mean, run_count=len(values), estimate=bounded, low=bounded.low, high=bounded.high)


def differences(
    runs: Sequence[FactorRun],
    design: Design,
    metrics: Sequence[Metric],
    *,
    margin: float,
    strata: Sequence[str] = (),
    within: bool = False,
    follows: Callable[[str, Metric], bool] = lambda _factor, _metric: False,
) -> tuple[LevelDifference, ...]:
    """The difference of each level from the first of its factor, in each metric.

    Over all combinations of the other factors, or `within` each of them; never over those of `strata`, which have no
    differences of their own. What `follows` from a factor, as latency of a closed loop does from how much is in flight,
    is shown and not judged.
    """
    found = list(_differences(runs, design, metrics, strata, within=within))
    by_factor = [[each for each in found if each.factor == factor] for factor in dict.fromkeys(e.factor for e in found)]
    return tuple(judged for family in by_factor for judged in _judged(family, margin, follows))


def _judged(
    family: Sequence[LevelDifference], margin: float, follows: Callable[[str, Metric], bool]
) -> Iterator[LevelDifference]:
    """In their order; only what is judged is a test among the others."""
    judged = _adjusted([each for each in family if not follows(each.factor, each.metric)], margin)
    for each in family:
        if not follows(each.factor, each.metric):
            yield next(judged)
        else:  # what nothing is known of claims nothing, whatever it follows from
            yield each if each.change is None else replace(each, verdict=ChangeVerdict.NOT_JUDGED)


def _adjusted(family: Sequence[LevelDifference], margin: float) -> Iterator[LevelDifference]:
    """The differences of one factor, each judged beside the others."""
    for each, adjusted_p in zip(family, adjusted_p_values([each.change for each in family]), strict=True):
        verdict = change_verdict(each.change, adjusted_p, higher_is_better=each.metric.higher_is_better, margin=margin)
        yield replace(each, adjusted_p=adjusted_p, verdict=verdict)


def _differences(
    runs: Sequence[FactorRun], design: Design, metrics: Sequence[Metric], strata: Sequence[str], *, within: bool
) -> Iterator[LevelDifference]:
    names = list(design)
    for factor, (base, *others) in ((name, levels) for name, levels in design.items() if name not in strata):
        fixed = [name for name in names if name != factor and (within or name in strata)]
        whole = math.prod(len(design[name]) for name in names if name not in (factor, *fixed))
        for at in _combinations(design, fixed):
            for level, metric in itertools.product(others, metrics):
                sides = _sides(runs, design, factor, (base, level), at, metric)
                if sides is None:
                    continue
                a, b, count, mean = sides
                yield LevelDifference(
                    factor=factor,
                    level=level,
                    base=base,
                    at=at,
                    everywhere=not within,
                    metric=metric,
                    a=mean([value for value, *_ in a]),
                    b=mean([value for value, *_ in b]),
                    change=_change(a, b) if mean is geometric_mean else None,
                    adjusted_p=None,
                    verdict=ChangeVerdict.NO_CLAIM,
                    averaged_over=count,
                    combinations=whole,
                )


def _mean_over(tables: Sequence[_Table], wanted: Sequence[Levels]) -> _MeanOf:
    """How the values of two levels are averaged, both the same way; those of other levels don't matter."""
    has_ratio = all(value > 0 for table in tables for rest in wanted for value, *_ in table[rest].values())
    return geometric_mean if has_ratio else fmean


def _change(a: Sequence[Interval], b: Sequence[Interval]) -> Change | None:
    """From the values of blocks: as they spread, and no better known than the intervals that they carry."""
    if min(value for value, *_ in (*a, *b)) <= 0:
        return None
    if any((low, high) != (None, None) for _, low, high in (*a, *b)):
        return intervals_ratio(a, b).change(a_count=len(a), b_count=len(b))
    enough = min(len(a), len(b)) >= RUNS_MIN
    return relative_change([value for value, *_ in a], [value for value, *_ in b]) if enough else None


def _combinations(design: Design, names: Sequence[str]) -> Iterator[dict[str, str]]:
    for levels in itertools.product(*(design[name] for name in names)):
        yield dict(zip(names, levels, strict=True))


def _sides(
    runs: Sequence[FactorRun],
    design: Design,
    factor: str,
    levels: tuple[str, str],
    at: Mapping[str, str],
    metric: Metric,
) -> tuple[list[Interval], list[Interval], int, _MeanOf] | None:
    """One value a block for either level, over how many combinations that both have, by which mean; None without any.

    A combination that lacks runs would take its blocks with it: then those that have a run in every block count alone.
    """
    names = list(design)
    place = names.index(factor)
    tables: list[_Table] = [{}, {}]
    for run in runs:
        fits = all(run.levels[names.index(name)] == level for name, level in at.items())
        if fits and run.levels[place] in levels and metric.key in run.figures:
            rest = run.levels[:place] + run.levels[place + 1 :]
            tables[levels.index(run.levels[place])].setdefault(rest, {})[run.block] = run.interval(metric.key)
    common = [rest for rest in tables[0] if rest in tables[1]]
    if not common:
        return None
    mean = _mean_over(tables, common)
    sides = [_block_values(table, common, mean) for table in tables]
    if min(map(len, sides)) < RUNS_MIN:
        most = max(len(table[rest]) for table in tables for rest in common)
        whole = [rest for rest in common if all(len(table[rest]) == most for table in tables)]
        common = whole or common
        mean = _mean_over(tables, common)
        sides = [_block_values(table, common, mean) for table in tables]
    return None if not all(sides) else (sides[0], sides[1], len(common), mean)


def _block_values(table: _Table, wanted: Sequence[Levels], mean: _MeanOf) -> list[Interval]:
    """The mean over `wanted` of each block that has all of them."""
    blocks = set.intersection(*(set(table[rest]) for rest in wanted))
    return [_mean_interval([table[rest][block] for rest in wanted], mean) for block in sorted(blocks)]


def _mean_interval(figures: Sequence[Interval], mean: _MeanOf) -> Interval:
    """The mean of independent figures; its ends are known where all of theirs are, and it is a geometric one."""
    value = mean([each for each, *_ in figures])
    if mean is not geometric_mean:
        return value, None, None
    return (
        value,
        _end(figures, [low for _, low, _ in figures], value),
        _end(figures, [high for *_, high in figures], value),
    )


def _end(figures: Sequence[Interval], ends: Sequence[float | None], value: float) -> float | None:
    """An end of the mean of figures: their distances to their ends, each on the log scale, add up as variances do."""
    known = [end for end in ends if end is not None and end > 0]
    if value <= 0 or len(known) < len(ends):
        return None
    reaches = [math.log(end / figure) for (figure, *_), end in zip(figures, known, strict=True)]
    reach = math.sqrt(sum(each**2 for each in reaches)) / len(reaches)
    return value * math.exp(math.copysign(reach, sum(reaches)))
