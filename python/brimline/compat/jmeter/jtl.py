"""A run as a JTL file: JMeter's CSV results, for tools and people that have those.

A JTL row is one sample. brimline keeps histograms, so rows are made from them: up to `ROWS_MAX` operations one row
each, whose `elapsed` is that of a histogram's bucket (exact to 0.1 %, and whole milliseconds, as JTL has it) and whose
place within its sampling interval is not known: they are spread evenly over it. Longer runs have one row per interval,
operation kind and outcome, and JMeter's own columns `SampleCount` and `ErrorCount` say how many it stands for: as in
JMeter's `StatisticalSampleResult`, `elapsed` and bytes are then sums, and percentiles can't be made from those.

An operation of several steps has a row as JMeter's Transaction Controllers have, and each of its steps one that is
labelled by the step's name. How many of a step's samples failed is known, which of its times were theirs is not: they
are spread evenly over it.

Only operations that were due in the measured window. `elapsed` is response time, in a closed loop service time.
`Latency` (to the first byte), `IdleTime` and `Connect` were not measured: 0. Columns as in JMeter's
`CSVSaveService` with its default `saveservice` properties.
"""

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from brimline.errors import UsageError
from brimline.record import hlog
from brimline.record.layout import LATENCY_FILE
from brimline.record.model import ErrorRow, IntervalRow, OperationRow, RunRecord, StepRow, finished_count, step_of
from brimline.record.time_histogram import Histogram
from brimline.report.csv_text import harmless
from brimline.report.statistics import report_clock
from brimline.stats.quantile_interval import Buckets
from brimline.units import NS_PER_MS

COLUMNS = (
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
)
"""JMeter's columns in its order."""
COUNT_COLUMNS = ("SampleCount", "ErrorCount")
"""What JMeter adds where a row stands for several samples."""
ROWS_MAX = 1_000_000
"""Operations up to which each has a row of its own."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """What one interval's operations of one kind, or steps of one name, have in common.

    `times` are (ns, count, failed) by bucket.
    """

    start_ns: int
    end_ns: int
    operation: str
    label: str
    times: list[tuple[int, int, bool]]
    bytes_in: float
    bytes_out: float
    active: int


def jtl_lines(record: RunRecord, *, rows_max: int = ROWS_MAX) -> Iterator[str]:
    """The lines of the file, header first. Raises UsageError where a record can't be written as JTL."""
    measured = [row for row in record.operations if row["phase"] == "measure"]
    steps = [row for row in record.steps if row["phase"] == "measure"]
    count = finished_count((*measured, *steps))
    single = count <= rows_max
    started_ms = _started_ms(record) if measured else 0
    failures = {operation: _failure(record, operation) for operation in {row["operation"] for row in measured}}
    yield _line(COLUMNS if single else (*COLUMNS, *COUNT_COLUMNS))
    for cut in _cuts(record, measured):
        rows = _single_rows(cut) if single else _summed_rows(cut)
        for at_ns, elapsed_ms, failed, counts in rows:
            stands_for = counts[0] if counts else 1
            code, text, reason = failures[cut.operation] if failed else ("OK", "OK", "")
            yield _line(
                (
                    started_ms + at_ns // NS_PER_MS,
                    elapsed_ms,
                    cut.label,
                    code,
                    text,
                    f"{cut.operation} 1-1",
                    "",
                    "false" if failed else "true",
                    reason,
                    round(cut.bytes_in * stands_for),
                    round(cut.bytes_out * stands_for),
                    cut.active,
                    cut.active,
                    "null",
                    0,
                    0,
                    0,
                    *counts,
                )
            )


def _cuts(record: RunRecord, measured: Sequence[OperationRow]) -> Iterator[_Cut]:
    clock = report_clock(record)
    rows = {(row["start_ns"], row["operation"]): row for row in measured}
    steps = {(row["start_ns"], row["operation"], row["step"]): row for row in record.steps if row["phase"] == "measure"}
    intervals = {row["start_ns"]: row for row in record.intervals}
    lines = (each for each in record.interval_histograms() if each.phase == "measure")
    for start_ns, of_interval in groupby(lines, key=lambda each: each.start_ns):
        found: dict[str, dict[str, Histogram]] = {}
        for line in of_interval:
            found.setdefault(line.operation, {})[line.clock] = line.histogram
        interval = intervals.get(start_ns)
        for operation, by_clock in found.items():
            row = rows.get((start_ns, operation))
            if clock in by_clock and row is not None:
                yield _cut(row, interval, by_clock[clock], by_clock.get(f"failed_{clock}"))
            # Steps end also where no operation does.
            for name, histogram in by_clock.items():
                of_step = steps.get((start_ns, operation, step_of(name) or ""))
                if of_step is not None:
                    yield _step_cut(of_step, interval, histogram)


def _cut(row: OperationRow, interval: IntervalRow | None, every: Histogram, failed: Histogram | None) -> _Cut:
    if row["failed"] != (failed.count() if failed else 0):
        raise UsageError(
            "this record doesn't say how long its failed operations took, so it can't be written as JTL",
            hint="records made since that is recorded can; html, md, csv and json work",
        )
    times = _times(every.buckets(), failed.buckets() if failed else [])
    return _cut_of(row, row["operation"], interval, times)


def _cut_of(
    row: OperationRow | StepRow, label: str, interval: IntervalRow | None, times: list[tuple[int, int, bool]]
) -> _Cut:
    count = max(finished_count([row]), 1)
    return _Cut(
        start_ns=row["start_ns"],
        end_ns=row["end_ns"],
        operation=row["operation"],
        label=label,
        times=times,
        bytes_in=row["bytes_in"] / count,
        bytes_out=row["bytes_out"] / count,
        active=max(interval["workers_active"] or interval["in_flight"], 1) if interval else 1,
    )


def _step_cut(row: StepRow, interval: IntervalRow | None, every: Histogram) -> _Cut:
    return _cut_of(row, row["step"], interval, _some_failed(every.buckets(), row["failed"]))


def _some_failed(every: Buckets, failed: int) -> list[tuple[int, int, bool]]:
    """Buckets of which so many failed, of each as large a part as of the others."""
    total, before, made = sum(count for _, count in every), 0, []
    for value_ns, count in every:
        ours = (before + count) * failed // total - before * failed // total
        before += count
        made += [(value_ns, count - ours, False), (value_ns, ours, True)]
    return [each for each in made if each[1]]


def _times(every: Buckets, failed: Buckets) -> list[tuple[int, int, bool]]:
    """Buckets of those that were answered, then of those that failed, which `every` contains."""
    failed_at = dict(failed)
    answered = [(value_ns, count - failed_at.get(value_ns, 0), False) for value_ns, count in every]
    return [each for each in answered if each[1]] + [(value_ns, count, True) for value_ns, count in failed]


def _single_rows(cut: _Cut) -> Iterator[tuple[int, int, bool, tuple[int, ...]]]:
    """One row per operation, spread evenly over the interval, fast and slow ones mixed; in the order of time."""
    times = [(value_ns, failed) for value_ns, count, failed in cut.times for _ in range(count)]
    count = len(times)
    step = _coprime(count)
    for place in range(count):
        value_ns, failed = times[place * step % count]
        at_ns = cut.start_ns + (cut.end_ns - cut.start_ns) * place // count
        yield at_ns, round(value_ns / NS_PER_MS), failed, ()


def _summed_rows(cut: _Cut) -> Iterator[tuple[int, int, bool, tuple[int, ...]]]:
    """One row for those that were answered and one for those that failed."""
    for failed in (False, True):
        times = [(value_ns, count) for value_ns, count, has_failed in cut.times if has_failed is failed]
        count = sum(each for _, each in times)
        if count:
            sum_ns = sum(value_ns * each for value_ns, each in times)
            yield cut.start_ns, round(sum_ns / NS_PER_MS), failed, (count, count if failed else 0)


def _coprime(count: int) -> int:
    """A step that visits all of `count` places in a mixed order: near the golden section, without a common divisor."""
    step = max(round(count * 0.618), 1)
    while count > 1 and math.gcd(step, count) > 1:
        step += 1
    return step


def _failure(record: RunRecord, operation: str) -> tuple[str, str, str]:
    """Code, message and example of an operation's failures; which of several kinds one was is not known."""
    every: Sequence[ErrorRow] = record.summary["errors"] if record.summary else ()
    kinds = [row for row in every if row["operation"] == operation]
    if len(kinds) == 1:
        kind = kinds[0]
        return str(kind["code"] or kind["outcome"]), kind["label"] or kind["outcome"], kind["example"]
    names = ", ".join(f"{row['label'] or row['outcome']} ({row['code']}) x {row['count']}" for row in kinds)
    return "failed", "failed", f"one of the whole run's: {names}" if names else ""


def _started_ms(record: RunRecord) -> int:
    """When the run's clock was 0, in ms since 1970."""
    if record.summary is not None:
        return record.summary["started_unix_ns"] // NS_PER_MS
    started_ms = hlog.base_time_ms(record.directory / LATENCY_FILE)
    if started_ms is None:
        raise UsageError(
            "this record doesn't say when it was made, so it can't be written as JTL",
            hint="html, md, csv and json work",
        )
    return started_ms


class _Echo:
    """A file that hands back what is written to it."""

    def write(self, text: str) -> str:
        return text


_WRITER = csv.writer(_Echo(), lineterminator="\n")


def _line(values: Sequence[object]) -> str:
    line: str = _WRITER.writerow(harmless(values))  # what the echo returned
    return line
