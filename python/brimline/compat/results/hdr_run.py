"""Owns what histogram logs alone make of a run: series, times and counts over time, of tools whose logs have tags."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from brimline.compat.results.hdr_log import HdrLog
from brimline.compat.results.source import bad_file
from brimline.record.imported import IntervalTimes, Printed, Series, TimeRow
from brimline.record.model import ErrorRow
from brimline.record.scaled import ScaledHistogram


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """What the files of one run hold; figures as in `ImportedRun`. `warnings` are not among the `notes` yet."""

    started_unix_ns: int | None
    duration_ns: int
    series: Sequence[Series]
    rows: Sequence[TimeRow]
    times: Sequence[IntervalTimes]
    errors: Sequence[ErrorRow]
    printed: Printed
    notes: Sequence[str]
    warnings: Sequence[str]


def hdr_run(logs: Sequence[HdrLog], path: Path) -> ToolRun:
    """The run that tagged logs are of; `path` is named in errors. Raises UsageError where they hold nothing."""
    times = [each for log in logs for each in log.intervals]
    if not times:
        raise bad_file(path, "no interval of the log holds a time")
    return ToolRun(
        started_unix_ns=log_start_unix_ns(logs),
        duration_ns=log_end_ns(logs) - min(each.start_ns for each in times),
        series=log_series(logs),
        rows=log_rows(logs),
        times=times,
        errors=[],
        printed=Printed(),
        notes=["the log has the times of operations, and doesn't say which of them failed"],
        warnings=log_warnings(logs),
    )


def merged(times: Iterable[IntervalTimes]) -> dict[tuple[str, str], ScaledHistogram]:
    """Each operation and clock over the whole run."""
    found: dict[tuple[str, str], ScaledHistogram] = {}
    for each in times:
        key = (each.operation, each.clock)
        if key in found:
            found[key].merge(each.histogram)
        else:
            found[key] = each.histogram
    return found


def log_rows(logs: Sequence[HdrLog]) -> list[TimeRow]:
    """Operations over time; only of logs that were cut into intervals. Each operation by one of its clocks."""
    chosen = {log.operation: log for log in logs if log.counted and len(log.intervals) > 1}
    return [
        TimeRow(start_ns=each.start_ns, end_ns=each.end_ns, operation=each.operation,
                samples=each.histogram.count(), failed=0)
        for log in chosen.values()
        for each in log.intervals
    ]  # fmt: skip


def log_series(logs: Sequence[HdrLog]) -> list[Series]:
    """One per operation and clock. Where no log is one of operations, all of them are."""
    histograms = merged(each for log in logs for each in log.intervals)
    is_any_counted = any(log.counted for log in logs)
    return [
        Series(
            operation=log.operation,
            clock=log.clock,
            samples=histogram.count(),
            misses=0,
            failed=0,
            timed=histogram.count(),
            counted=log.counted or not is_any_counted,
            times_from="histogram",
            mean_ns=histogram.mean(),
            min_ns=histogram.min(),
            max_ns=histogram.max(),
        )
        for log in logs
        if (histogram := histograms.get((log.operation, log.clock))) is not None
    ]


def log_warnings(logs: Sequence[HdrLog]) -> list[str]:
    """What is unusual in them, once each."""
    return list(dict.fromkeys(warning for log in logs for warning in log.warnings))


def log_end_ns(logs: Sequence[HdrLog]) -> int:
    """When the last interval ended, on the run's clock; 0 without any."""
    return max((each.end_ns for log in logs for each in log.intervals), default=0)


def log_start_unix_ns(logs: Sequence[HdrLog]) -> int | None:
    """When the first log began; None where none says it."""
    return min((log.started_unix_ns for log in logs if log.started_unix_ns is not None), default=None)
