"""Owns how YCSB's measurements become series: names with prefixes, returned states, and four kinds of times.

The same run can be printed in several ways: every time (`raw`), histograms (`.hdr` files, or buckets of a verbose
summary), or a summary alone. The most exact one that is there is taken.
"""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from brimline.compat.results.foreign import foreign
from brimline.compat.results.hdr_log import HdrLog
from brimline.compat.results.hdr_run import ToolRun, log_end_ns, log_rows, log_start_unix_ns, log_warnings, merged
from brimline.compat.results.source import COUNT_MAX, SPAN_S_MAX, bad_file, decimal_number, whole_number
from brimline.compat.results.tally import Batch, Tally
from brimline.compat.results.ycsb_lines import YcsbOutput, head_text
from brimline.compat.results.ycsb_measured import OPERATION, Key, Measured, all_measured, bucket_times
from brimline.record.imported import READ_MODIFY_WRITE, Clock, Printed, Series, TimeRow, TimesFrom
from brimline.record.model import ErrorRow
from brimline.record.scaled import ScaledHistogram
from brimline.units import NS_PER_MS, NS_PER_S, NS_PER_US

CALLS = ("READ", "UPDATE", "INSERT", "DELETE", "SCAN")
"""Calls of the database binding."""
_BESIDE = (READ_MODIFY_WRITE, "SCAN-LATENCY-PER-RECORD", "VERIFY")
"""What is measured beside them. Closing (CLEANUP) and the JVM's own figures are no operations."""


def ycsb_run(output: YcsbOutput, logs: Sequence[HdrLog], path: Path) -> ToolRun:
    """The run whose files were read; `path` is named in errors. Raises UsageError where there is no result."""
    command = _Command.of(output.command)
    measured = all_measured(output.metrics, command.clock)
    tally = _raw_tally(output)
    duration_ns = _duration_ns(output, tally, logs, path)
    times = [*tally.times(command.clock), *(each for log in logs for each in log.intervals)]
    times = [each for each in times if each.operation in (*CALLS, *_BESIDE)]
    known = {(each.operation, each.clock) for each in times}
    times += bucket_times(measured, known, duration_ns)
    histograms = merged(times)
    series = _series(measured, histograms, tally, _failures_in(logs), command) or _status_series(output, command)
    if logs and not any(each.counted for each in series):
        names = ", ".join(sorted({log.operation for log in logs})[:3])
        raise bad_file(
            path, f"it holds no time of an operation: {names} is none", hint="give the logs of calls as well"
        )
    if not any(each.counted for each in series):
        stopped = "it holds no measurement: YCSB stopped before it measured"
        raise foreign(path, head_text(path)) or bad_file(path, stopped, hint="look at its messages")
    started = tally.first_ms * NS_PER_MS if tally.first_ms is not None else log_start_unix_ns(logs)
    return ToolRun(
        started_unix_ns=started,
        duration_ns=duration_ns,
        series=series,
        rows=_raw_rows(tally) or _status_rows(output) or log_rows([log for log in logs if log.operation in CALLS]),
        times=times,
        errors=_errors(measured),
        printed=Printed(
            throughput_per_s=_overall(output, "Throughput(ops/sec)", most=COUNT_MAX),
            threads=command.threads,
            target_ops_per_s=command.target,
            phase=command.phase,
        ),
        notes=_notes(output, measured, series),
        warnings=[*_warnings(output, measured), *log_warnings(logs)],
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
            threads=whole_number(threads, most=COUNT_MAX),
            target=decimal_number(target, most=COUNT_MAX),
            phase=phase,
        )


def _raw_tally(output: YcsbOutput) -> Tally:
    tally = Tally(NS_PER_US)
    for name, (ends, times) in output.raw.items():
        match = OPERATION.fullmatch(name)
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
    run_time_ms = _overall(output, "RunTime(ms)", most=1000 * SPAN_S_MAX)
    if run_time_ms:
        return round(run_time_ms * NS_PER_MS)
    spans = [log_end_ns(logs)]
    if output.status:
        spans.append(output.status[-1].second * NS_PER_S)
    if tally.first_ms is not None and tally.last_ms is not None:
        spans.append((tally.last_ms - tally.first_ms) * NS_PER_MS)
    if not any(spans):
        raise bad_file(path, "it has no [OVERALL], RunTime(ms): is it cut short?")
    return max(spans)


def _overall(output: YcsbOutput, measurement: str, *, most: float) -> float | None:
    """What YCSB says of the whole run; None also where it divided by a run of 0 ms. Raises UsageError."""
    for name, text, path, number in output.metrics.get("OVERALL", ()):
        if name == measurement and text not in ("NaN", "Infinity"):
            value = decimal_number(text, most=most)
            if value is None:
                raise bad_file(path, f"{measurement} can't be {text[:40]!r}", line=number)
            return value
    return None


def _is_failure(operation: str) -> bool:
    """Whether a measurement is of calls that did not return OK: READ-FAILED, or READ-ERROR and the like."""
    call, separator, state = operation.partition("-")
    return bool(separator) and call in CALLS and state not in ("MODIFY-WRITE", "LATENCY-PER-RECORD")


def _series(
    measured: Mapping[Key, Measured],
    histograms: Mapping[tuple[str, str], ScaledHistogram],
    tally: Tally,
    failures_in_logs: Mapping[Key, int],
    command: _Command,
) -> list[Series]:
    """One per operation and clock; failures are counted with their operation, and their times left apart."""
    keys = list(measured)
    keys += [(operation, command.clock) for operation in tally.operations if (operation, command.clock) not in measured]
    # Failures of a call of which nothing else is told: as where somebody kept only some of the lines.
    alone = {(name.partition("-")[0], clock): each.operations for (name, clock), each in measured.items()
             if _is_failure(name)}  # fmt: skip
    alone = {**failures_in_logs, **alone}
    keys += [key for key in alone if key not in keys]
    for operation, clock in histograms:
        as_key: Key = (operation, "response" if clock == "response" else "service")
        if as_key not in keys:
            keys.append(as_key)
    found = []
    for operation, clock in keys:
        if operation not in (*CALLS, *_BESIDE):
            continue
        each = measured.get((operation, clock)) or Measured()
        histogram = histograms.get((operation, clock))
        timed = histogram.count() if histogram is not None else each.operations
        # Of two clocks the times of sending have the states.
        states = each if each.returned else measured.get((operation, "service"), each)
        failed = sum(states.failures.values()) if states.returned else _raw_failures(operation, tally)
        if not states.returned:
            failed = failed or alone.get((operation, clock), 0)
        beside = 0 if states.times_failures else states.misses + failed
        found.append(_one_series(operation, clock, each, histogram, samples=timed + beside, timed=timed,
                                 misses=states.misses, failed=failed, counted=operation in CALLS))  # fmt: skip
    return found


def _failures_in(logs: Sequence[HdrLog]) -> dict[Key, int]:
    """Failures that have a log of their own (READ-FAILED), by the call that failed."""
    found: Counter[Key] = Counter()
    for log in logs:
        if _is_failure(log.operation):
            count = sum(each.histogram.count() for each in log.intervals)
            found[log.operation.partition("-")[0], log.clock] += count
    return {key: count for key, count in found.items() if count}


def _raw_failures(operation: str, tally: Tally) -> int:
    return sum(
        sums.samples for name, sums in tally.totals.items() if _is_failure(name) and name.startswith(f"{operation}-")
    )


def _one_series(
    operation: str,
    clock: Clock,
    each: Measured,
    histogram: ScaledHistogram | None,
    *,
    samples: int,
    timed: int,
    misses: int,
    failed: int,
    counted: bool,
) -> Series:
    source: TimesFrom = "summary" if histogram is None else "histogram"
    return Series(
        operation=operation,
        clock=clock,
        samples=samples,
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


def _ns(value_us: float | None, each: Measured) -> float | None:
    return None if value_us is None or not each.operations else value_us * NS_PER_US


def _whole_ns(value_us: float | None, each: Measured) -> int | None:
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


def _status_series(output: YcsbOutput, command: _Command) -> list[Series]:
    """What a run that was cut off had counted, by operation; its times are gone."""
    counts: Counter[str] = Counter()
    for each in output.status:
        counts.update(each.counts)
    found = []
    for call in CALLS:
        failed = sum(count for name, count in counts.items() if _is_failure(name) and name.startswith(f"{call}-"))
        if counts[call] or failed:
            measured = Measured()
            found.append(_one_series(call, command.clock, measured, None, samples=counts[call] + failed,
                                     timed=counts[call], misses=0, failed=failed, counted=True))  # fmt: skip
    return found


def _errors(measured: Mapping[Key, Measured]) -> list[ErrorRow]:
    return [
        ErrorRow(operation=operation, outcome="failed", code=0, count=count, example="",
                 label=f"Return={state}" if each.times_failures else state)
        for (operation, clock), each in measured.items()
        for state, count in each.failures.items()
    ]  # fmt: skip


def _notes(output: YcsbOutput, measured: Mapping[Key, Measured], series: Sequence[Series]) -> list[str]:
    notes = []
    if not measured and output.status:
        notes.append("only status lines are there: YCSB did not come to its end, and its times are gone")
    if any(each.in_steps_of_ms for each in measured.values()):
        notes.append("YCSB's histogram has steps of 1 ms: its percentiles are rounded down to whole milliseconds")
    if any(each.counted_percentiles for each in measured.values()):
        notes.append("percentiles that YCSB did not print are counted from its buckets")
    if any(each.times_failures and each.failures for each in measured.values()):
        notes.append("YCSB before 0.5.0 measured failed calls like others: their times are among those shown")
    if any(each.operation == READ_MODIFY_WRITE for each in series):
        notes.append("the calls of each READ-MODIFY-WRITE are among READ and UPDATE as well; the total counts it once")
    return notes


def _warnings(output: YcsbOutput, measured: Mapping[Key, Measured]) -> list[str]:
    warnings = []
    if any(each.lacks_times for each in measured.values()):
        warnings.append(
            "buckets of an operation don't add up to its operations, and are left out: was the file cut or edited?"
        )
    if output.has_decimal_commas:
        warnings.append("the file has decimal commas: its figures were read as such")
    return warnings
