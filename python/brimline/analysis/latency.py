"""Owns latency over all operation kinds of a run: merged histograms in, quantiles with an interval out."""

from collections.abc import Sequence
from dataclasses import dataclass

from brimline.analysis.never_completed import due_buckets
from brimline.record.batches import batch_numbers
from brimline.record.model import Clock, Histogram, RunRecord
from brimline.stats.quantile_interval import (
    Buckets,
    QuantileInterval,
    known_quantile,
    merge_buckets,
    quantile_interval,
    quantile_of,
    without_never,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Quantiles over the measured window in ns; `p99` is the same figure as `p99_ns`, with its interval.

    Quantiles are of all that was due in the window, None where they lie among the `missing`: what never completed, and
    is taken for slower than all that did. `count`, least, mean and most are of what completed, and so is
    `completed_p99_ns`: how slow the survivors were, which is no figure of the run.
    """

    count: int
    missing: int
    min_ns: int
    mean_ns: float
    p50_ns: int | None
    p95_ns: int | None
    p99_ns: int | None
    p999_ns: int | None
    max_ns: int
    completed_p99_ns: int
    p99: QuantileInterval


def latency(record: RunRecord, clock: Clock) -> Latency | None:
    """What `clock` (service, response or lag) shows over all operations; None where it recorded nothing.

    The intervals' own histograms tell how far the p99 can be trusted.
    """
    merged = merge_buckets(list(due_buckets(record, clock).values()))
    if not merged:
        return None
    p99 = quantile_interval(merged, 0.99, batches=_batches(record, clock), seed=record.plan.seed)
    completed = without_never(merged)
    count = sum(each for _, each in completed)
    return Latency(
        count=count,
        missing=p99.count - count,
        min_ns=completed[0][0],
        mean_ns=sum(value * each for value, each in completed) / count,
        p50_ns=known_quantile(merged, 0.5),
        p95_ns=known_quantile(merged, 0.95),
        p99_ns=p99.known_ns,
        p999_ns=known_quantile(merged, 0.999),
        max_ns=completed[-1][0],
        completed_p99_ns=quantile_of(completed, 0.99),
        p99=p99,
    )


def own_late_share(record: RunRecord, later_than_ns: float) -> float:
    """Share of the operations that the generator itself sent later than due by more than this; 0 without any lag.

    Those that waited for a connection don't count. Records of before their lag was kept say only how many they were,
    and then each counts as one of the late.
    """
    lags = merge_buckets([each.buckets() for (_, clock), each in record.histograms.items() if clock == "lag"])
    waits = merge_buckets([each.buckets() for (_, of), each in record.breakdown.items() if of == "held_back_lag"])
    if not lags:
        return 0.0
    waited = _later(waits, later_than_ns) if waits else _held_back(record)
    return max(0, _later(lags, later_than_ns) - waited) / sum(count for _, count in lags)


def _later(lags: Buckets, than_ns: float) -> int:
    return sum(count for lag_ns, count in lags if lag_ns > than_ns)


def _held_back(record: RunRecord) -> int:
    return sum(row["held_back"] for row in record.operations if row["phase"] == "measure")


def quantile_intervals(
    record: RunRecord, clock: Clock, quantiles: Sequence[float], *, operation: str | None = None
) -> dict[float, QuantileInterval]:
    """Quantiles of `clock` with their intervals, of one operation kind or of all (None); empty without values."""
    merged = merge_buckets([each for kind, each in due_buckets(record, clock).items() if operation in (None, kind)])
    if not merged:
        return {}
    batches = _batches(record, clock, operation)
    return {each: quantile_interval(merged, each, batches=batches, seed=record.plan.seed) for each in quantiles}


def _batches(record: RunRecord, clock: Clock, operation: str | None = None) -> list[Buckets]:
    """The measured window cut into stretches of time, all operations merged, or one kind."""
    if record.batches is not None:
        return [each.buckets() for each in record.batches.of(clock, operation)]
    number_of = batch_numbers(record.operations)
    merged: dict[int, Histogram] = {}
    for each in record.interval_histograms(clock):
        if each.phase != "measure" or each.start_ns not in number_of or operation not in (None, each.operation):
            continue
        number = number_of[each.start_ns]
        if number in merged:
            merged[number].merge(each.histogram)
        else:
            merged[number] = each.histogram
    return [merged[number].buckets() for number in sorted(merged)]
