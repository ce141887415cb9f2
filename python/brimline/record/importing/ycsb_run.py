"""Owns how YCSB's measurements become series: names with prefixes, returned states, and four kinds of times.

The same run can be printed in several ways: every time (`raw`), histograms (`.hdr` files, or buckets of a verbose
summary), or a summary alone. The most exact one that is there is taken.
"""

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from brimline.record.imported import READ_MODIFY_WRITE, IntervalTimes, Printed, Series, TimeRow, TimesFrom
from brimline.record.importing.hdr_log import HdrLog
from brimline.record.importing.source import bad_file
from brimline.record.importing.tally import Batch, Tally
from brimline.record.importing.ycsb_lines import YcsbOutput
from brimline.record.model import ErrorRow
from brimline.record.scaled import ScaledHistogram
from brimline.units import NS_PER_MS, NS_PER_S, NS_PER_US

CALLS = ("READ", "UPDATE", "INSERT", "DELETE", "SCAN")
"""Calls of the database binding."""
_BESIDE = (READ_MODIFY_WRITE, "SCAN-LATENCY-PER-RECORD", "VERIFY")
"""What is measured beside them. Closing (CLEANUP) and the JVM's own figures are no operations."""
_GOOD_RETURNS = ("OK", "BATCHED_OK")
_NAME = re.compile(r"(?:(?P<form>Hdr|Bucket|Raw))?(?P<intended>Intended-)?(?P<operation>[A-Z][A-Z_-]*)")
_PERCENTILE = re.compile(r"([0-9.]+)(?:th|st|nd|rd)?PercentileLatency\(us\)|p([0-9.]+)")
Clock = Literal["service", "response"]


@dataclass(slots=True)
class _Measured:
    """One measurement as it was printed; times in µs."""

    operations: int = 0
    mean: float | None = None
    least: float | None = None
    most: float | None = None
    percentiles: dict[float, float] = field(default_factory=dict)
    returned: dict[str, int] = field(default_factory=dict)
    buckets: list[tuple[float, float]] = field(default_factory=list)
    in_steps_of_ms: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class YcsbRun:
    """What the files of one run hold."""

    started_unix_ns: int | None
    duration_ns: int
    series: Sequence[Series]
    rows: Sequence[TimeRow]
    times: Sequence[IntervalTimes]
    errors: Sequence[ErrorRow]
    printed: Printed
    notes: Sequence[str]


def ycsb_run(output: YcsbOutput, logs: Sequence[HdrLog], path: Path) -> YcsbRun:
    """The run whose files were read; `path` is named in errors. Raises UsageError where there is no result."""
    command = _Command.of(output.command)
    measured = _all_measured(output, command)
    tally = _raw_tally(output)
    duration_ns = _duration_ns(output, tally, logs, path)
    times = [*tally.times(command.clock), *(each for log in logs for each in log.intervals)]
    times = [each for each in times if each.operation in (*CALLS, *_BESIDE)]
    known = {(each.operation, each.clock) for each in times}
    times += _bucket_times(measured, known, duration_ns)
    histograms = _merged(times)
    series = _series(measured, histograms, tally, command) or _status_series(output, command)
    if not any(each.counted for each in series):
        raise bad_file(path, "it holds no measurement: YCSB stopped before it measured", hint="look at its messages")
    starts = [log.started_unix_ns for log in logs if log.started_unix_ns is not None]
    started = tally.first_ms * NS_PER_MS if tally.first_ms is not None else min(starts, default=None)
    return YcsbRun(
        started_unix_ns=started,
        duration_ns=duration_ns,
        series=series,
        rows=_raw_rows(tally) or _status_rows(output) or _log_rows(logs),
        times=times,
        errors=_errors(measured),
        printed=Printed(
            throughput_per_s=_overall(output, "Throughput(ops/sec)"),
            threads=command.threads,
            target_ops_per_s=command.target,
            phase=command.phase,
        ),
        notes=_notes(output, measured, series),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    """What the command line says; standard error holds it."""

    clock: Clock = "service"
    threads: int | None = None
    target: float | None = None
    phase: str = ""

    @classmethod
    def of(cls, words: Sequence[str]) -> "_Command":
        properties = dict(word.split("=", 1) for word in words if "=" in word)
        pairs = dict(itertools.pairwise(words))
        threads = pairs.get("-threads") or properties.get("threadcount") or ("1" if words else "")
        target = pairs.get("-target") or properties.get("target") or ""
        phase = "load" if "-load" in words else "run" if words else ""
        return cls(
            clock="response" if properties.get("measurement.interval") == "intended" and target else "service",
            threads=int(threads) if threads.isdecimal() else None,
            target=float(target) if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", target) else None,
            phase=phase,
        )


_Key = tuple[str, Clock]


def _all_measured(output: YcsbOutput, command: _Command) -> dict[_Key, _Measured]:
    """By operation and clock; of two forms of one measurement the histogram's wins, of buckets nothing is taken."""
    forms: dict[_Key, dict[str, _Measured]] = {}
    for metric, lines in output.metrics.items():
        match = _NAME.fullmatch(metric)
        names = {measurement for measurement, _, _, _ in lines}
        if match is None or not names & {"Operations", "Total Operations"}:
            continue
        clock: Clock = "response" if match["intended"] else command.clock
        forms.setdefault((match["operation"], clock), {})[match["form"] or ""] = _one_measured(lines)
    return {key: next(found[form] for form in ("", "Hdr", "Raw", "Bucket") if form in found)
            for key, found in forms.items()}  # fmt: skip


def _one_measured(lines: Sequence[tuple[str, str, Path, int]]) -> _Measured:
    found = _Measured()
    for measurement, text, path, number in lines:
        value = float(text)
        if measurement in ("Operations", "Total Operations"):
            if value != int(value) or value < 0:
                raise bad_file(path, f"{measurement} can't be {text!r}", line=number)
            found.operations = int(value)
        elif measurement in ("AverageLatency(us)", "Average"):
            found.mean = value
        elif measurement in ("MinLatency(us)", "Min"):
            found.least = value
        elif measurement in ("MaxLatency(us)", "Max"):
            found.most = value
        elif measurement == "LatencyVariance(us)":
            found.in_steps_of_ms = True
        elif match := _PERCENTILE.fullmatch(measurement):
            found.percentiles[round(float(match[1] or match[2]) / 100, 9)] = value
        elif measurement.startswith("Return="):
            found.returned[measurement.removeprefix("Return=")] = int(value)
        elif measurement.isdecimal():
            found.buckets.append((float(measurement), value))
    return found


def _raw_tally(output: YcsbOutput) -> Tally:
    tally = Tally(NS_PER_US)
    for name, (ends, times) in output.raw.items():
        match = _NAME.fullmatch(name)
        operation = match["operation"] if match else name
        if operation not in (*CALLS, *_BESIDE) and not _is_failure(operation):
            continue
        count = np.ones(len(ends), dtype=np.int64)
        failed = count if _is_failure(operation) else np.zeros_like(count)
        tally.add(
            Batch(
                operation=[operation] * len(ends),
                end_ms=np.array(ends, dtype=np.int64),
                time=np.array(times, dtype=np.int64),
                count=count,
                failed=failed,
            )
        )
    return tally


def _duration_ns(output: YcsbOutput, tally: Tally, logs: Sequence[HdrLog], path: Path) -> int:
    """The run's time as YCSB says it, else what its other lines span."""
    run_time_ms = _overall(output, "RunTime(ms)")
    if run_time_ms:
        return round(run_time_ms * NS_PER_MS)
    spans = [each.end_ns for log in logs for each in log.intervals]
    if output.status:
        spans.append(output.status[-1].second * NS_PER_S)
    if tally.first_ms is not None and tally.last_ms is not None:
        spans.append((tally.last_ms - tally.first_ms) * NS_PER_MS)
    if not any(spans):
        raise bad_file(path, "it has no [OVERALL], RunTime(ms): is it cut short?")
    return max(spans)


def _overall(output: YcsbOutput, measurement: str) -> float | None:
    return next((float(value) for name, value, _, _ in output.metrics.get("OVERALL", ()) if name == measurement), None)


def _bucket_times(
    measured: Mapping[_Key, _Measured], known: set[tuple[str, str]], duration_ns: int
) -> list[IntervalTimes]:
    """Histograms out of a verbose summary: one of the whole run, in µs.

    Buckets of 1 ms are no times, and a series of means over time has the same form but no percentiles.
    """
    found = []
    for (operation, clock), each in measured.items():
        is_histogram = each.buckets and each.percentiles and not each.in_steps_of_ms
        if not is_histogram or (operation, clock) in known or sum(n for _, n in each.buckets) != each.operations:
            continue
        histogram = ScaledHistogram(NS_PER_US)
        for time_us, count in each.buckets:
            histogram.record(int(time_us) * NS_PER_US, int(count))
        found.append(
            IntervalTimes(operation=operation, clock=clock, start_ns=0, end_ns=duration_ns, unit_ns=NS_PER_US,
                          text=histogram.encode())
        )  # fmt: skip
    return found


def _merged(times: Sequence[IntervalTimes]) -> dict[tuple[str, str], ScaledHistogram]:
    merged: dict[tuple[str, str], ScaledHistogram] = {}
    for each in times:
        key = (each.operation, each.clock)
        if key in merged:
            merged[key].merge(each.histogram)
        else:
            merged[key] = each.histogram
    return merged


def _is_failure(operation: str) -> bool:
    """Whether a measurement is of calls that did not return OK: READ-FAILED, or READ-ERROR and the like."""
    call, separator, state = operation.partition("-")
    return bool(separator) and call in CALLS and state not in ("MODIFY-WRITE", "LATENCY-PER-RECORD")


def _series(
    measured: Mapping[_Key, _Measured],
    histograms: Mapping[tuple[str, str], ScaledHistogram],
    tally: Tally,
    command: _Command,
) -> list[Series]:
    """One per operation and clock; failures are counted with their operation, and their times left apart."""
    keys = list(measured)
    keys += [(operation, command.clock) for operation in tally.operations if (operation, command.clock) not in measured]
    for operation, clock in histograms:
        as_key: _Key = (operation, "response" if clock == "response" else "service")
        if as_key not in keys:
            keys.append(as_key)
    found = []
    for operation, clock in keys:
        if operation not in (*CALLS, *_BESIDE):
            continue
        each = measured.get((operation, clock)) or _Measured()
        histogram = histograms.get((operation, clock))
        timed = histogram.count() if histogram is not None else each.operations
        returned = each.returned or measured.get((operation, "service"), each).returned
        misses = returned.get("NOT_FOUND", 0)
        failed = sum(n for state, n in returned.items() if state not in (*_GOOD_RETURNS, "NOT_FOUND"))
        if not returned:
            failed = _raw_failures(operation, tally)
        found.append(_one_series(operation, clock, each, histogram, timed=timed, misses=misses, failed=failed,
                                 counted=operation in CALLS))  # fmt: skip
    return found


def _raw_failures(operation: str, tally: Tally) -> int:
    return sum(
        sums.samples for name, sums in tally.totals.items() if _is_failure(name) and name.startswith(f"{operation}-")
    )


def _one_series(
    operation: str,
    clock: Clock,
    each: _Measured,
    histogram: ScaledHistogram | None,
    *,
    timed: int,
    misses: int,
    failed: int,
    counted: bool,
) -> Series:
    source: TimesFrom = "summary" if histogram is None else "histogram"
    return Series(
        operation=operation,
        clock=clock,
        samples=timed + misses + failed,
        misses=misses,
        failed=failed,
        timed=timed,
        counted=counted,
        times_from=source,
        mean_ns=histogram.mean() if histogram is not None else _ns(each.mean, each),
        min_ns=histogram.min() if histogram is not None else _whole_ns(each.least, each),
        max_ns=histogram.max() if histogram is not None else _whole_ns(each.most, each),
        printed_percentiles_ns={q: round(value * NS_PER_US) for q, value in each.percentiles.items()}
        if each.operations
        else {},
        printed_step_ns=NS_PER_MS if each.in_steps_of_ms else 0,
    )


def _ns(value_us: float | None, each: _Measured) -> float | None:
    return None if value_us is None or not each.operations else value_us * NS_PER_US


def _whole_ns(value_us: float | None, each: _Measured) -> int | None:
    return None if value_us is None or not each.operations else round(value_us * NS_PER_US)


def _raw_rows(tally: Tally) -> list[TimeRow]:
    """Calls and read-modify-writes over time; failures are of the call that failed."""
    return [
        replace(each, operation=each.operation.partition("-")[0]) if _is_failure(each.operation) else each
        for each in tally.rows()
        if _is_failure(each.operation) or each.operation in (*CALLS, READ_MODIFY_WRITE)
    ]


def _status_rows(output: YcsbOutput) -> list[TimeRow]:
    """Throughput over time as the status lines say it; failed operations are among their counts."""
    rows, before = [], None
    for each in output.status:
        if before is not None and each.second > before.second and each.operations >= before.operations:
            rows.append(
                TimeRow(start_ns=before.second * NS_PER_S, end_ns=each.second * NS_PER_S, operation="",
                        samples=each.operations - before.operations, failed=0)
            )  # fmt: skip
        if before is None or each.second > before.second:
            before = each
    return rows


def _log_rows(logs: Sequence[HdrLog]) -> list[TimeRow]:
    """Calls over time as histogram logs hold them; only where YCSB cut them into intervals, as it does with -s."""
    return [
        TimeRow(start_ns=each.start_ns, end_ns=each.end_ns, operation=each.operation,
                samples=each.histogram.count(), failed=0)
        for log in logs if len(log.intervals) > 1 and log.operation in CALLS
        for each in log.intervals
    ]  # fmt: skip


def _status_series(output: YcsbOutput, command: _Command) -> list[Series]:
    """What a run that was cut off had counted, by operation; its times are gone."""
    counts: Counter[str] = Counter()
    for each in output.status:
        counts.update(each.counts)
    found = []
    for call in CALLS:
        failed = sum(count for name, count in counts.items() if _is_failure(name) and name.startswith(f"{call}-"))
        if counts[call] or failed:
            measured = _Measured()
            found.append(_one_series(call, command.clock, measured, None, timed=counts[call], misses=0, failed=failed,
                                     counted=True))  # fmt: skip
    return found


def _errors(measured: Mapping[_Key, _Measured]) -> list[ErrorRow]:
    return [
        ErrorRow(operation=operation, outcome="failed", code=0, label=state, count=count, example="")
        for (operation, clock), each in measured.items()
        for state, count in each.returned.items()
        if state not in (*_GOOD_RETURNS, "NOT_FOUND") and count
    ]


def _notes(output: YcsbOutput, measured: Mapping[_Key, _Measured], series: Sequence[Series]) -> list[str]:
    notes = []
    if not measured and output.status:
        notes.append("only status lines are there: YCSB did not come to its end, and its times are gone")
    if any(each.in_steps_of_ms for each in measured.values()):
        notes.append("YCSB's histogram has steps of 1 ms: its percentiles are rounded down to whole milliseconds")
    if any(each.operation == READ_MODIFY_WRITE for each in series):
        notes.append("the calls of each READ-MODIFY-WRITE are among READ and UPDATE as well; the total counts it once")
    return notes
