"""The statistics of a run's operations over the measured window, in the columns that JMeter's users know."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from brimline.analysis.latency import latency
from brimline.analysis.never_completed import due_buckets
from brimline.analysis.window import done_in_window
from brimline.record.model import Clock, OperationRow, RunRecord
from brimline.report.load_figures import carries_documents, load_figures
from brimline.stats.quantile_interval import (
    Buckets,
    QuantileInterval,
    known_quantile,
    merge_buckets,
    quantile_interval,
    without_never,
)

TOTAL_LABEL = "Total"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationStatistics:
    """One operation kind, or all of them.

    Times in ns, response time in an open loop and service time in a closed one; None where nothing finished.
    Percentiles are of all that was due in the window, mean, least and most of what completed.
    `samples` are the operations due in the window that finished: ok, miss and failed, in the drain too. Rates are of
    what was done in the window, whenever it was due, as the run's own throughput is: answered (ok and miss), failed,
    bytes. `documents` of the samples were inserted, None where an operation is no command with a batch of them.
    """

    label: str
    samples: int
    misses: int
    failed: int
    mean_ns: float | None
    min_ns: int | None
    max_ns: int | None
    p50_ns: int | None
    p90: QuantileInterval | None
    p95: QuantileInterval | None
    p99: QuantileInterval | None
    throughput_ops_per_s: float
    failed_ops_per_s: float
    received_bytes_per_s: float
    sent_bytes_per_s: float
    documents: int | None = None
    documents_per_s: float | None = None

    @property
    def unit(self) -> Literal["operation", "command"]:
        """What the samples are, and what the rates of operations count."""
        return "operation" if self.documents is None else "command"

    @property
    def error_rate(self) -> float:
        """Share of the samples that failed."""
        return self.failed / self.samples if self.samples else 0.0


def report_clock(record: RunRecord) -> Clock:
    """The clock that a report quotes: what users feel where it exists."""
    return "service" if record.closed_loop else "response"


def operation_statistics(record: RunRecord) -> list[OperationStatistics]:
    """All operations first, as `Total`, then each kind by name; percentiles over every sample."""
    measured = [row for row in record.operations if row["phase"] == "measure"]
    clock = report_clock(record)
    kinds = sorted({row["operation"] for row in measured})
    load = load_figures(record)
    # Half of a short load's commands are answered after the last was sent.
    span_s = record.measured_s if load is None else load.elapsed_s
    done = done_in_window(record) if load is None else measured
    due = due_buckets(record, clock)
    buckets = {kind: due.get(kind, []) for kind in kinds}
    batched = [carries_documents(record, kind) for kind in kinds]
    all_batched = load is not None or (bool(kinds) and all(batched))
    all_buckets = merge_buckets(list(buckets.values()))
    total = _statistics(TOTAL_LABEL, measured, done, all_buckets, span_s, batched=all_batched)
    if total.p99 is not None and not total.p99.enough:
        # A bound is printed: the same one as everywhere else.
        over_time = latency(record, clock)
        total = total if over_time is None else replace(total, p99=over_time.p99)
    of_kinds = [
        _statistics(kind, _of(kind, measured), _of(kind, done), buckets[kind], span_s, batched=each)
        for kind, each in zip(kinds, batched, strict=True)
    ]
    return [total, *of_kinds]


def _of(kind: str, rows: Sequence[OperationRow]) -> list[OperationRow]:
    return [row for row in rows if row["operation"] == kind]


def _statistics(
    label: str,
    rows: Sequence[OperationRow],
    done: Sequence[OperationRow],
    buckets: Buckets,
    measured_s: float,
    *,
    batched: bool,
) -> OperationStatistics:
    """`rows` are of what was due in the window, `done` of what was done in it. `batched`: commands with documents."""
    samples = sum(row["ok"] + row["miss"] + row["failed"] for row in rows)
    per_s = 1 / measured_s if measured_s else 0.0
    completed = without_never(buckets)
    count = sum(each for _, each in completed)
    failed = sum(row["failed"] for row in rows)
    p90, p95, p99 = (quantile_interval(buckets, q) if count else None for q in (0.9, 0.95, 0.99))
    return OperationStatistics(
        label=label,
        samples=samples,
        misses=sum(row["miss"] for row in rows),
        failed=failed,
        mean_ns=sum(value * each for value, each in completed) / count if count else None,
        min_ns=completed[0][0] if completed else None,
        max_ns=completed[-1][0] if completed else None,
        p50_ns=known_quantile(buckets, 0.5) if count else None,
        p90=p90,
        p95=p95,
        p99=p99,
        throughput_ops_per_s=sum(row["ok"] + row["miss"] for row in done) * per_s,
        failed_ops_per_s=sum(row["failed"] for row in done) * per_s,
        received_bytes_per_s=sum(row["bytes_in"] for row in done) * per_s,
        sent_bytes_per_s=sum(row["bytes_out"] for row in done) * per_s,
        documents=sum(row["documents"] for row in rows) if batched else None,
        documents_per_s=sum(row["documents"] for row in done) * per_s if batched else None,
    )
