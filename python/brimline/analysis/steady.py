"""Owns the question whether a run was in a steady state: its warm-up, as found, and what moved after it.

The client's side decides: throughput per interval in a closed loop, response time in an open one (its mean is, by
Little's law, the backlog over the rate, so that a growing backlog shows there too). The server's side can only take a
"steady" back: a cache that still fills will behave otherwise once it is full.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import groupby

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.server_settling import server_checks
from brimline.plan.model import ClosedPacer, ConstantPacer, LoadWork, NullTarget, PoissonPacer
from brimline.record.batches import condensed
from brimline.record.model import CLOCKS, Clock, Histogram, IntervalHistogram, IntervalRow, OperationRow, RunRecord
from brimline.stats.mser import mser5
from brimline.stats.stationarity import VALUE_COUNT_MIN, level_change, level_difference, slope_change, spread_change
from brimline.units import NS_PER_S, format_duration, format_percentage
from brimline.wording import Message, joined, message

WINDOW_S_MIN = 30.0
"""Length of a window below which nothing is said."""
INTERVAL_COUNT_MIN = 30
"""Sample intervals below which nothing is said: a test on fewer finds what is there too rarely."""
ALPHA = 0.01
"""How often a single check may be wrong about a run that is steady. There are three, or six in an open loop."""
THROUGHPUT_CHANGE_MIN = 0.05
"""Share of the throughput below which a change doesn't matter, however sure it is."""
TIME_CHANGE_MIN = 0.20
"""Likewise of a response time; between two runs of the same server it differs by as much."""
PERIOD_S_MIN = 60.0
"""WiredTiger's default time between checkpoints: what is left of a window must span one."""
RESTLESS_FACTOR = 5
"""A change that much larger than one that matters, and still not sure: the window is too restless to tell."""
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
    run. `restless`: what may be a large change can't be told from noise. `p99s_ns` are those of the intervals after the
    warm-up, `warmup_p99s_ns` those of the warm-up that was found; both of an open loop.
    """

    verdict: Steadiness
    planned_end_ns: int
    warmup_end_ns: int | None
    checks: tuple[Finding, ...]
    evidence: str
    restless: bool = False
    p99s_ns: tuple[int, ...] = ()
    warmup_p99s_ns: tuple[int, ...] = ()
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

    def missed_share(self, limit_ns: int) -> float:
        """Share of the intervals whose p99 lies above `limit_ns`."""
        return sum(each > limit_ns for each in self.p99s_ns) / len(self.p99s_ns) if self.p99s_ns else 0.0

    def excuses(self, limit_ns: int) -> bool:
        """Whether the warm-up that was found takes away what missed `limit_ns`, and leaves less than a period.

        A pause that comes once a minute looks like warm-up in a window that begins with it.
        """
        return self.left_ns < PERIOD_S_MIN * NS_PER_S and any(each > limit_ns for each in self.warmup_p99s_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Series:
    """A figure per interval, in a scale where a difference is a share: relative to the median, or a logarithm."""

    name: str
    key: str
    starts_ns: tuple[int, ...]
    values: tuple[float, ...]
    change_min: float
    logarithmic: bool

    def share(self, difference: float) -> float:
        """A difference of two values as a share."""
        return math.expm1(difference) if self.logarithmic else difference

    def size(self, difference: float) -> float:
        """How large a difference is as a share, the same upwards and downwards."""
        return self.share(abs(difference))

    def since(self, start_ns: int) -> "_Series":
        """The part from `start_ns` on."""
        kept = [index for index, each in enumerate(self.starts_ns) if each >= start_ns]
        first = kept[0] if kept else len(self.values)
        return replace(self, starts_ns=self.starts_ns[first:], values=self.values[first:])


def steady_state(record: RunRecord) -> SteadyState | None:
    """Whether the measured window of `record` was steady; None of a run that isn't meant to be.

    Not meant to be: a load, which makes its collection grow, a load model whose rate changes, T-L-R, and the null
    target.
    """
    plan = record.plan
    changing = not isinstance(plan.pacer, ClosedPacer | ConstantPacer | PoissonPacer)
    if changing or isinstance(plan.work, LoadWork) or isinstance(plan.target, NullTarget):
        return None
    intervals = [row for row in record.intervals if row["phase"] == "measure"]
    start_ns = intervals[0]["start_ns"] if intervals else plan.warmup_ns
    if record.measured_s < WINDOW_S_MIN or len(intervals) < INTERVAL_COUNT_MIN:
        return _unknown(start_ns, record.measured_s)
    series, p99s_ns = _throughput(record, intervals) if record.closed_loop else _response_times(record, intervals)
    if not series or any(len(each.values) < INTERVAL_COUNT_MIN for each in series):
        return _unknown(start_ns, record.measured_s)
    return _judged(record, series, p99s_ns, start_ns=start_ns, end_ns=intervals[-1]["end_ns"])


def counted(record: RunRecord, steady: SteadyState | None) -> RunRecord:
    """`record` with the warm-up that was found told apart as the planned one is; itself where there is none to tell.

    An operation belongs to the interval in which it ended: of those that are in flight at the border, some thousandths
    of a window, it isn't known when they were due. Every histogram is read anew for this, but only once: of a record
    that this made, nothing is left to tell apart.
    """
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


def _throughput(record: RunRecord, intervals: Sequence[IntervalRow]) -> tuple[list[_Series], dict[int, int]]:
    answered = dict.fromkeys((row["start_ns"] for row in intervals), 0)
    for row in record.operations:
        if row["start_ns"] in answered:
            answered[row["start_ns"]] += row["ok"] + row["miss"]
    rates = [answered[row["start_ns"]] / (row["end_ns"] - row["start_ns"]) for row in intervals]
    usual = sorted(rates)[len(rates) // 2]
    if not usual:
        return [], {}
    throughput = _Series(
        name="throughput",
        key="throughput",
        starts_ns=tuple(answered),
        values=tuple(rate / usual for rate in rates),
        change_min=THROUGHPUT_CHANGE_MIN,
        logarithmic=False,
    )
    return [throughput], {}


def _response_times(record: RunRecord, intervals: Sequence[IntervalRow]) -> tuple[list[_Series], dict[int, int]]:
    """The mean and the p99 of each interval; one in which nothing ended has neither, and the next one shows why."""
    counted_ns = {row["start_ns"] for row in intervals}
    means_ns: dict[int, float] = {}
    p99s_ns: dict[int, int] = {}
    measured = (each for each in record.interval_histograms("response") if each.phase == "measure")
    # Interval by interval, as the log is written: all of a long run's histograms would fill the memory.
    for start_ns, of_interval in groupby(measured, key=lambda each: each.start_ns):
        histogram = _merged(each.histogram for each in of_interval)
        if start_ns in counted_ns:
            means_ns[start_ns], p99s_ns[start_ns] = histogram.mean(), histogram.quantile(0.99)
    series = [
        _Series(
            name=name,
            key=key,
            starts_ns=tuple(values_ns),
            values=tuple(math.log(max(value_ns, 1)) for value_ns in values_ns.values()),
            change_min=TIME_CHANGE_MIN,
            logarithmic=True,
        )
        for name, key, values_ns in (
            ("mean response time", "response_mean", means_ns),
            ("p99 response time", "response_p99", p99s_ns),
        )
    ]
    return series, p99s_ns


def _merged(histograms: Iterator[Histogram]) -> Histogram:
    """All of them in the first, which is read for this."""
    first = next(histograms)
    for each in histograms:
        first.merge(each)
    return first


def _judged(
    record: RunRecord, series: Sequence[_Series], p99s_ns: dict[int, int], *, start_ns: int, end_ns: int
) -> SteadyState:
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
        p99s_ns=tuple(value for at_ns, value in p99s_ns.items() if not cut or at_ns >= found_ns),
        warmup_p99s_ns=tuple(value for at_ns, value in p99s_ns.items() if cut and at_ns < found_ns),
        left_ns=end_ns - (found_ns if cut else start_ns),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Warmup:
    ends_ns: tuple[int, ...]
    checks: tuple[Finding, ...]


def _warmup(series: Sequence[_Series]) -> _Warmup:
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
            change=_change_text(each.share(difference.amount), "higher", "lower"),
            end=format_duration(each.starts_ns[point.index]),
        )
        checks.append(Finding(f"{each.key}_warmup", Standing.PASS, evidence))
    return _Warmup(ends_ns=tuple(ends_ns), checks=tuple(checks))


def _checks(series: _Series) -> Iterable[Finding]:
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
            change=_change_text(series.share(level.amount), "higher", "lower"),
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
            change=_change_text(series.share(slope.amount), "up", "down"),
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
    series: Sequence[_Series], server: Sequence[Finding], *, found_ns: int, start_ns: int, end_ns: int
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


def _change_text(share: float, more: str, less: str) -> Message:
    return message("{share} {direction}", share=format_percentage(abs(share)), direction=more if share >= 0 else less)


def _chance_text(p_value: float) -> str:
    """How often as much comes about in a run that is steady."""
    return "< 0.1 %" if p_value < 0.001 else format_percentage(p_value, digits=2)


def _ratio(ratio: float) -> str:
    return f"{ratio:.2g}" if math.isfinite(ratio) else "endlessly many"
