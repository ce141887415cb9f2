"""Owns the question whether a run was in a steady state: its warm-up, as found, and what moved after it.

The client's side decides: throughput per interval in a closed loop, response time in an open one, by the quantiles that
are promised. Where that is p99, the mean is looked at too: by Little's law, it is the backlog over the rate. A lower
quantile is promised by who can bear single pauses; a backlog that grows shows in it as well. The server's side can only
take a "steady" back: a cache that still fills will behave otherwise once it is full.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.interval_series import Series, Times, between, throughput_series, time_series
from brimline.analysis.loads import main_load
from brimline.analysis.objective import P99, LatencyObjective, Statistic
from brimline.analysis.server_settling import server_checks
from brimline.analysis.window import until_last_reply
from brimline.plan.model import ClosedPacer, ConstantPacer, LoadWork, NullTarget, PoissonPacer
from brimline.record.batches import condensed
from brimline.record.model import CLOCKS, Clock, OperationRow, RunRecord
from brimline.record.time_histogram import IntervalHistogram
from brimline.stats.mser import mser5
from brimline.stats.stationarity import VALUE_COUNT_MIN, level_change, level_difference, slope_change, spread_change
from brimline.units import NS_PER_S, format_duration, format_percentage
from brimline.wording import Message, joined, message

WINDOW_S_MIN = 30.0
"""Length of a window below which nothing is said."""
INTERVAL_COUNT_MIN = 30
"""Sample intervals below which nothing is said: a test on fewer finds what is there too rarely."""
ALPHA = 0.01
"""How often a single check may be wrong about a run that is steady. There are three of each figure looked at."""
PERIOD_S_MIN = 60.0
"""WiredTiger's default time between checkpoints: what is left of a window must span one."""
RESTLESS_FACTOR = 5
"""A change that much larger than one that matters, and still not sure: the window is too restless to tell."""
_CHANCE_MIN = 0.001
"""A smaller chance is told as below it."""
VARIANCE_RATIO_MAX = 2.0
"""The variance of one half in terms of the other's, from which it counts as another one."""


class Steadiness(StrEnum):
    """`not_steady` is an answer, not a failure to find one; `unknown`: the window can't tell."""

    STEADY = "steady"
    NOT_STEADY = "not_steady"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyState:
    """What was found. Times are on the run's clock.

    `warmup_end_ns` is where the warm-up that was found ends, None where the planned one was enough; only of a steady
    run. `restless`: what may be a large change can't be told from noise. `times` are those of the intervals after the
    warm-up, `warmup_times` those of the warm-up that was found; both of an open loop.
    """

    verdict: Steadiness
    planned_end_ns: int
    warmup_end_ns: int | None
    checks: tuple[Finding, ...]
    evidence: str
    restless: bool = False
    times: Mapping[Statistic, tuple[int, ...]] = field(default_factory=dict)
    warmup_times: Mapping[Statistic, tuple[int, ...]] = field(default_factory=dict)
    left_ns: int = 0

    @property
    def warmup_found_ns(self) -> int:
        """How much longer the warm-up was than planned."""
        return 0 if self.warmup_end_ns is None else self.warmup_end_ns - self.planned_end_ns

    @property
    def finding(self) -> Finding:
        """As a check of validity. An unsteady run is no broken one: its counts hold, and nothing follows from them."""
        standing = {
            Steadiness.STEADY: Standing.PASS,
            Steadiness.NOT_STEADY: Standing.WARN,
            Steadiness.UNKNOWN: Standing.UNKNOWN,
        }
        return Finding("steady_state", standing[self.verdict], self.evidence)

    def missed_share(self, limit: LatencyObjective) -> float:
        """Share of the intervals that miss `limit`, by the quantile that they are known by for it."""
        times_ns = _known_by(self.times, limit)
        return sum(each > limit.limit_ns for each in times_ns) / len(times_ns) if times_ns else 0.0

    def excuses(self, limit: LatencyObjective) -> bool:
        """Whether the warm-up that was found takes away what missed `limit`, and leaves less than a period.

        A pause that comes once a minute looks like warm-up in a window that begins with it.
        """
        times_ns = _known_by(self.warmup_times, limit)
        return self.left_ns < PERIOD_S_MIN * NS_PER_S and any(each > limit.limit_ns for each in times_ns)


def _known_by(times: Mapping[Statistic, tuple[int, ...]], limit: LatencyObjective) -> tuple[int, ...]:
    """The times that `limit` is held against: of its own quantile, or of a higher one where that wasn't asked for."""
    wanted = limit.interval_quantile
    if wanted is None:
        return times.get(None, ())
    known = [quantile for quantile in times if quantile is not None and quantile >= wanted]
    return times[min(known)] if known else ()


def steady_state(record: RunRecord, quantiles: Sequence[Statistic] = (P99,)) -> SteadyState | None:
    """Whether the measured window of `record` was steady; None of a run that isn't meant to be.

    `quantiles`: those of the response time by which the intervals of an open loop are known (`interval_quantiles`).
    Not meant to be: a load, which makes its collection grow, a load model whose rate changes, T-L-R, and the null
    target.
    """
    record = main_load(record)
    plan = record.plan
    changing = not isinstance(plan.pacer, ClosedPacer | ConstantPacer | PoissonPacer)
    if changing or isinstance(plan.work, LoadWork) or isinstance(plan.target, NullTarget):
        return None
    intervals = [row for row in record.intervals if row["phase"] == "measure"]
    start_ns = intervals[0]["start_ns"] if intervals else plan.warmup_ns
    if record.measured_s < WINDOW_S_MIN or len(intervals) < INTERVAL_COUNT_MIN:
        return _unknown(start_ns, record.measured_s)
    series, times = (
        throughput_series(record, intervals) if record.closed_loop else time_series(record, intervals, quantiles)
    )
    if not series or any(len(each.values) < INTERVAL_COUNT_MIN for each in series):
        return _unknown(start_ns, record.measured_s)
    return _judged(record, series, times, start_ns=start_ns, end_ns=intervals[-1]["end_ns"])


def counted(record: RunRecord, steady: SteadyState | None) -> RunRecord:
    """`record` with what counts told apart; itself where there is nothing to tell.

    That is up to the last reply where the run ended with its operations (`until_last_reply`), and without the warm-up
    that was found, as without the planned one.
    An operation belongs to the interval in which it ended: of those that are in flight at the border, some thousandths
    of a window, it isn't known when they were due. Every histogram is read anew for this, but only once: of a record
    that this made, nothing is left to tell apart.
    """
    record = until_last_reply(record)
    if steady is None or steady.warmup_end_ns is None:
        return record
    end_ns = steady.warmup_end_ns
    if all(row["start_ns"] >= end_ns for row in record.intervals if row["phase"] == "measure"):
        return record
    load = partial(_relabelled, record, end_ns)
    operations: list[OperationRow] = [
        {**row, "phase": "warmup"} if row["start_ns"] < end_ns else row for row in record.operations
    ]
    codec = None if record.batches is None else record.batches.codec
    merged, batches = condensed(load(None), operations, codec)
    return replace(
        record,
        operations=operations,
        steps=[{**row, "phase": "warmup"} if row["start_ns"] < end_ns else row for row in record.steps],
        intervals=[{**row, "phase": "warmup"} if row["start_ns"] < end_ns else row for row in record.intervals],
        histograms={key: each for key, each in merged.items() if key[1] in CLOCKS},
        breakdown={key: each for key, each in merged.items() if key[1] not in CLOCKS},
        load_interval_histograms=load,
        batches=batches,
    )


def _relabelled(record: RunRecord, end_ns: int, clock: Clock | None) -> Iterator[IntervalHistogram]:
    for each in record.interval_histograms(clock):
        yield replace(each, phase="warmup") if each.start_ns < end_ns else each


def _unknown(start_ns: int, measured_s: float) -> SteadyState:
    evidence = message(
        "a window of {length} is too short to tell: {needed} and {intervals} intervals with answers are needed",
        length=format_duration(measured_s * NS_PER_S),
        needed=format_duration(WINDOW_S_MIN * NS_PER_S),
        intervals=INTERVAL_COUNT_MIN,
    )
    return SteadyState(
        verdict=Steadiness.UNKNOWN,
        planned_end_ns=start_ns,
        warmup_end_ns=None,
        checks=(Finding("window", Standing.UNKNOWN, evidence),),
        evidence=evidence,
    )


def _judged(record: RunRecord, series: Sequence[Series], times: Times, *, start_ns: int, end_ns: int) -> SteadyState:
    warmup = _warmup(series)
    found_ns = max(warmup.ends_ns, default=start_ns)
    rest = [each.since(found_ns) for each in series]
    checks = [*warmup.checks, *(check for each in rest for check in _checks(each))]
    server = server_checks(record.server, start_ns=found_ns, end_ns=end_ns)
    problems = [check.evidence for check in checks if check.verdict is Standing.WARN]
    restless = [check.evidence for check in checks if check.verdict is Standing.UNKNOWN]
    unsettled = [check.evidence for check in server if check.verdict is Standing.WARN]
    evidence: str
    if problems:
        verdict = Steadiness.NOT_STEADY
        evidence = message("no steady state: {problems}", problems=joined("; ", problems))
    elif restless:
        verdict = Steadiness.UNKNOWN
        evidence = message("too restless to tell: {why}", why=joined("; ", restless))
    elif unsettled:
        verdict = Steadiness.UNKNOWN
        evidence = message("the client's side is steady, the server's is not: {why}", why=joined("; ", unsettled))
    else:
        verdict = Steadiness.STEADY
        evidence = _steady_text(series, server, found_ns=found_ns, start_ns=start_ns, end_ns=end_ns)
    cut = verdict is not Steadiness.NOT_STEADY and found_ns > start_ns
    return SteadyState(
        verdict=verdict,
        planned_end_ns=start_ns,
        warmup_end_ns=found_ns if cut else None,
        checks=(*checks, *server),
        evidence=evidence,
        restless=verdict is Steadiness.UNKNOWN and bool(restless),
        times=between(times, found_ns if cut else 0, end_ns),
        warmup_times=between(times, 0, found_ns) if cut else {},
        left_ns=end_ns - (found_ns if cut else start_ns),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Warmup:
    ends_ns: tuple[int, ...]
    checks: tuple[Finding, ...]


def _warmup(series: Sequence[Series]) -> _Warmup:
    """Where MSER-5 cuts, as far as what it cuts off differs from the rest: it finds some point in any noise."""
    ends_ns: list[int] = []
    checks: list[Finding] = []
    for each in series:
        point = mser5(each.values)
        before, after = each.values[: point.index], each.values[point.index :]
        if not before or len(after) < VALUE_COUNT_MIN:
            continue
        difference = level_difference(before, after)
        if difference.p_value >= ALPHA or each.size(difference.amount) < each.change_min:
            continue
        if point.at_limit:
            evidence = message("{what} had not settled by the middle of the window", what=each.name)
            checks.append(Finding(f"{each.key}_warmup", Standing.WARN, evidence))
            continue
        ends_ns.append(each.starts_ns[point.index])
        evidence = message(
            "{what} was {change} until {end}",
            what=each.name,
            change=_other_text(each.share(difference.amount)),
            end=format_duration(each.starts_ns[point.index]),
        )
        checks.append(Finding(f"{each.key}_warmup", Standing.PASS, evidence))
    return _Warmup(ends_ns=tuple(ends_ns), checks=tuple(checks))


def _checks(series: Series) -> Iterable[Finding]:
    """Level, slope and spread of what is left after the warm-up."""
    level, slope, spread = level_change(series.values), slope_change(series.values), spread_change(series.values)

    def moved(amount: float, p_value: float) -> Standing:
        size = series.size(amount)
        if p_value < ALPHA:
            return Standing.WARN if size >= series.change_min else Standing.PASS
        return Standing.UNKNOWN if size >= RESTLESS_FACTOR * series.change_min else Standing.PASS

    yield Finding(
        f"{series.key}_level",
        moved(level.amount, level.p_value),
        message(
            "{what} is {change} from {start} on (by chance: {chance})",
            what=series.name,
            change=_other_text(series.share(level.amount)),
            start=format_duration(series.starts_ns[level.at]),
            chance=_chance_text(level.p_value),
        ),
    )
    yield Finding(
        f"{series.key}_slope",
        moved(slope.amount, slope.p_value),
        message(
            "{what} drifts {change} over the window (by chance: {chance})",
            what=series.name,
            change=_drift_text(series.share(slope.amount)),
            chance=_chance_text(slope.p_value),
        ),
    )
    another = not 1 / VARIANCE_RATIO_MAX <= spread.ratio <= VARIANCE_RATIO_MAX
    matters = series.share(spread.larger) >= series.change_min / 2
    yield Finding(
        f"{series.key}_spread",
        Standing.WARN if another and matters and spread.p_value < ALPHA else Standing.PASS,
        message(
            "{what} varies {ratio} times as much (variance) in the second half (by chance: {chance})",
            what=series.name,
            ratio=_ratio(spread.ratio),
            chance=_chance_text(spread.p_value),
        ),
    )


def _steady_text(
    series: Sequence[Series], server: Sequence[Finding], *, found_ns: int, start_ns: int, end_ns: int
) -> str:
    parts: list[str] = [
        message(
            "{what} kept level, slope and spread for {length}",
            what=joined(" and ", [each.name for each in series]),
            length=format_duration(end_ns - found_ns),
        )
    ]
    if found_ns > start_ns:
        parts.insert(
            0,
            message(
                "steady from {start} on, {found} of warm-up more than planned are not counted",
                start=format_duration(found_ns),
                found=format_duration(found_ns - start_ns),
            ),
        )
    return joined("; ", [*parts, *(check.evidence for check in server)])


def _other_text(share: float) -> Message:
    size = format_percentage(abs(share))
    return message("{share} higher", share=size) if share >= 0 else message("{share} lower", share=size)


def _drift_text(share: float) -> Message:
    size = format_percentage(abs(share))
    return message("{share} up", share=size) if share >= 0 else message("{share} down", share=size)


def _chance_text(p_value: float) -> str:
    """How often as much comes about in a run that is steady."""
    if p_value < _CHANCE_MIN:
        return message("< {chance}", chance=format_percentage(_CHANCE_MIN))
    return format_percentage(p_value, digits=2)


def _ratio(ratio: float) -> str:
    return f"{ratio:.2g}" if math.isfinite(ratio) else "endlessly many"
