"""Owns latency over all operation kinds of a run: merged histograms in, quantiles with an interval out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from operator import itemgetter, mul
from typing import cast

from brimline.analysis.never_completed import due_buckets, waited
from brimline.record.batches import batch_numbers
from brimline.record.model import Clock, RunRecord, step_clock
from brimline.record.time_histogram import Histogram
from brimline.stats.batch_means import ratio_interval
from brimline.stats.estimate import Estimate
from brimline.stats.quantile_interval import (
    NEVER_NS,
    Buckets,
    QuantileInterval,
    merge_buckets,
    quantile_intervals,
    quantile_of,
    whole_between,
    without_never,
)

QUANTILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999)
"""Those that some output shows of a run: found together, so that none contradicts another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Quantiles over the measured window in ns, each with its interval: every output takes them from here.

    Quantiles are of all that was due in the window, those `p…_ns` None where they lie among the `missing`: what never
    completed, and is taken for slower than all that did. `count`, least, mean and most are of what completed, and so is
    `completed_p99_ns`: how slow the survivors were, which is no figure of the run. `oldest_missing_ns` is how long the
    oldest of the missing had waited at least when the run ended. `mean` is the mean of what completed with its interval
    from stretches of time; None where there are too few of them. `least_mean_ns` is the mean with what the missing had
    waited at least.
    """

    count: int
    missing: int
    min_ns: int
    mean_ns: float
    max_ns: int
    completed_p99_ns: int
    quantiles: Mapping[float, QuantileInterval]
    oldest_missing_ns: int = 0
    mean: Estimate | None = None
    least_mean_ns: float = 0.0

    @property
    def average(self) -> QuantileInterval:
        """The mean of all that was due. Of what never completed it is only known how long it had waited at least."""
        spread = self.mean
        if self.missing:
            return QuantileInterval(
                quantile=None,
                value_ns=NEVER_NS,
                low_ns=round(self.least_mean_ns),
                high_ns=None,
                count=self.count + self.missing,
                never=self.missing,
            )
        return QuantileInterval(
            quantile=None,
            value_ns=round(self.mean_ns),
            low_ns=None if spread is None else round(spread.low),
            high_ns=None if spread is None else round(spread.high),
            count=self.count,
        )

    @property
    def p50(self) -> QuantileInterval:
        """The median."""
        return self.quantiles[0.5]

    @property
    def p99(self) -> QuantileInterval:
        """The p99."""
        return self.quantiles[0.99]

    @property
    def p50_ns(self) -> int | None:
        """The median as a figure."""
        return self.p50.known_ns

    @property
    def p95_ns(self) -> int | None:
        """The p95, however thin its tail."""
        return self.quantiles[0.95].known_ns

    @property
    def p99_ns(self) -> int | None:
        """The p99, however thin its tail."""
        return self.p99.known_ns

    @property
    def p999_ns(self) -> int | None:
        """The p99.9, however thin its tail."""
        return self.quantiles[0.999].known_ns


def latency(record: RunRecord, clock: Clock) -> Latency | None:
    """What `clock` (service, response or lag) shows over all operations; None where it recorded nothing."""
    return latencies(record, clock).get(None)


def latencies(
    record: RunRecord, clock: Clock, *, quantiles: Mapping[str | None, Sequence[float]] | None = None
) -> dict[str | None, Latency]:
    """The same of all operations (None) and of each kind; empty where the clock recorded nothing.

    The intervals' own histograms tell how far quantiles can be trusted. The whole stands between its parts, also where
    it is a bound: it is as slow at least as what its fastest kind is bound by. `quantiles` are wanted besides
    `QUANTILES`, by kind.
    """
    due, ages = due_buckets(record, clock), waited(record, clock)
    if not due:
        return {}
    wanted = {kind: (*QUANTILES, *(quantiles or {}).get(kind, ())) for kind in (None, *due)}
    kinds: dict[str | None, Latency] = {
        kind: _latency(
            buckets,
            wanted[kind] if len(due) > 1 else (*wanted[kind], *wanted[None]),
            batches=_batches(record, clock, kind),
            waited=ages.get(kind, ()),
            seed=record.plan.seed,
        )
        for kind, buckets in due.items()
    }
    if len(kinds) == 1:
        return {None: next(iter(kinds.values()))} | kinds
    whole = _latency(
        merge_buckets(list(due.values())),
        wanted[None],
        batches=_batches(record, clock),
        waited=merge_buckets(list(ages.values())),
        seed=record.plan.seed,
    )
    between = whole_between(whole.quantiles, [each.quantiles for each in kinds.values()])
    found: dict[str | None, Latency] = {None: replace(whole, quantiles=between)}
    return found | kinds


def _latency(
    buckets: Buckets, quantiles: Sequence[float], *, batches: Sequence[Buckets], waited: Buckets, seed: int
) -> Latency:
    completed = without_never(buckets)
    count = _count(completed)
    return Latency(
        count=count,
        missing=_count(buckets) - count,
        min_ns=completed[0][0],
        mean_ns=_sum(completed) / count,
        max_ns=completed[-1][0],
        completed_p99_ns=quantile_of(completed, 0.99),
        quantiles=quantile_intervals(buckets, quantiles, batches=batches, waited=waited, seed=seed),
        oldest_missing_ns=waited[-1][0] if waited else 0,
        least_mean_ns=(_sum(completed) + _sum(waited)) / _count(buckets),
        mean=ratio_interval([_sum(each) for each in batches], [_count(each) for each in batches], unit="ns"),
    )


def _sum(buckets: Buckets) -> float:
    return float(sum(starmap(mul, buckets)))


def _count(buckets: Buckets) -> int:
    return sum(map(itemgetter(1), buckets))


def part_latency(record: RunRecord, operation: str, part: str) -> Latency | None:
    """The service times of a part of `operation` that went well, such as the `commit`; None without any."""
    return _of_breakdown(record, operation, f"{part}_ok_service")


def request_part_latency(record: RunRecord, operation: str, part: str) -> Latency | None:
    """The times of one of `REQUEST_CLOCKS`, of all requests of `operation`; None without any."""
    return _of_breakdown(record, operation, part)


def step_latency(record: RunRecord, operation: str, step: str) -> Latency | None:
    """The service times of a step of `operation`, however it ended; None without any."""
    return _of_breakdown(record, operation, step_clock(step))


def _of_breakdown(record: RunRecord, operation: str, clock: str) -> Latency | None:
    times = record.breakdown.get((operation, clock))
    if times is None or not times.count():
        return None
    batches = _batches(record, clock, operation)
    return _latency(times.buckets(), QUANTILES, batches=batches, waited=(), seed=record.plan.seed)


def _batches(record: RunRecord, clock: str, operation: str | None = None) -> list[Buckets]:
    """The measured window cut into stretches of time, all operations merged, or one kind."""
    if record.batches is not None:
        return [each.buckets() for each in record.batches.of(clock, operation)]
    number_of = batch_numbers(record.operations)
    merged: dict[int, Histogram] = {}
    for each in record.interval_histograms(cast("Clock", clock)):
        if each.phase != "measure" or each.start_ns not in number_of or operation not in (None, each.operation):
            continue
        number = number_of[each.start_ns]
        if number in merged:
            merged[number].merge(each.histogram)
        else:
            merged[number] = each.histogram
    return [merged[number].buckets() for number in sorted(merged)]
