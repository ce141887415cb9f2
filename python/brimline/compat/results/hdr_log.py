"""Owns histogram logs (`.hdr`) as load generators write them: YCSB one file an operation, others tags in one file.

Source: HdrHistogram's log formats 1.0 to 1.3 and its `HistogramLogReader`; YCSB's `OneMeasurementHdrHistogram`, whose
first line names the operation, values in µs; cassandra-stress's `StressMetrics` and NoSQLBench's interval logger, whose
tags name it, values in ns. A log doesn't say its unit: it follows from who wrote it.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from brimline.compat.results.source import EPOCH_MS_MAX, SPAN_S_MAX, bad_file, decimal_number, lines_of, open_text
from brimline.record.imported import Clock, IntervalTimes
from brimline.record.scaled import ScaledHistogram
from brimline.units import NS_PER_S, NS_PER_US

YCSB, CASSANDRA_STRESS, NOSQLBENCH = "YCSB", "cassandra-stress", "NoSQLBench"
_INTERVAL = r"(?:Tag=[^,\n]*,)?(?:[0-9.]+,[0-9.]+,[0-9.]+|(?:[0-9]+,){5}[0-9]+),HIST"
_BEGINS = re.compile(rf'#\[Histogram log format version|#\[Logging for: |"StartTimestamp"|{_INTERVAL}')
_VERSION = re.compile(r"#\[Histogram log format version *(?P<version>[^\]]*)")
_VERSIONS = ("1.0", "1.1", "1.2", "1.3")
_DECIMAL_COMMAS = re.compile(
    r"(?P<tag>(?:Tag=[^,]*, *)?)(?P<start>[0-9]+,[0-9]+), *(?P<length>[0-9]+,[0-9]+), *(?P<most>[0-9]+,[0-9]+)"
    r",(?P<rest>.*)"
)
"""An interval as releases of HdrHistogram wrote it that took the machine's way of writing numbers."""
_COMMENT = re.compile(r"#\[(?P<name>[^:]+): (?P<value>\S+)")
_FILE_NAME = re.compile(r"(?:^|[^A-Za-z])(?P<operation>(?:Intended-)?(?:READ-MODIFY-WRITE|[A-Z]+(?:-FAILED)?))\.hdr$")
_INTENDED = "Intended-"
_CLOCK_OF_TAG = re.compile(r"(?P<operation>.+)-(?P<clock>st|rt|wt)")
_TIMER = re.compile(r"(?P<operation>.*cycles)(?:[._](?P<clock>servicetime|responsetime))?")
_CLOCKS: Mapping[str, Clock] = {
    "st": "service", "rt": "response", "servicetime": "service", "responsetime": "response",
}  # fmt: skip
_NO_TIMES = re.compile(r".*(?:tries|size|rows|bytes|tokens|count)")
_YEAR_S = 365 * 86_400
_ONE_BY_ONE = "import the runs one by one: percentiles of several runs can't be merged"
_CUT_SHORT = "if what wrote it was ended, delete the last line"


@dataclass(frozen=True, slots=True, kw_only=True)
class HdrLog:
    """The intervals of one operation, on the run's clock; `counted` as in `Series`. `started_unix_ns` is that of 0."""

    tool: str
    operation: str
    clock: Clock
    counted: bool
    unit_ns: int
    started_unix_ns: int | None
    intervals: list[IntervalTimes]
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Found:
    """What a file said so far; intervals as (line, its text, tag, start s, length s)."""

    comments: dict[str, str] = field(default_factory=dict)
    version: str | None = None
    has_decimal_commas: bool = False
    titles: list[str] = field(default_factory=list)
    intervals: list[tuple[int, str, str, float, float]] = field(default_factory=list)


def is_hdr_log(head: str) -> bool:
    """Whether a file begins as a histogram log, behind comments or without any."""
    for line in head.splitlines():
        if _BEGINS.match(line):
            return True
        if line and not line.startswith("#"):
            return False
    return False


def read_hdr_log(path: Path) -> list[HdrLog]:
    """The logs in a file, one an operation and clock. Raises UsageError for damage, and where the unit isn't known."""
    found = _Found()
    with open_text(path) as stream:
        for number, line in enumerate(lines_of(stream, path), start=1):
            _read_line(path, number, line.rstrip("\r\n"), found)
    tool, titled = _written_by(path, found)
    if not found.intervals:
        raise bad_file(path, "the log holds no interval")
    _require_one_run(path, found)
    origin_s, started_unix_ns = _clock_zero(path, found)
    unit_ns = NS_PER_US if tool == YCSB else 1
    warnings = _warnings(tool, found)
    logs: dict[tuple[str, Clock], HdrLog] = {}
    for number, text, tag, start_s, length_s in found.intervals:
        kind = _kind(tool, tag or titled)
        if kind is None:
            continue
        operation, clock, counted = kind
        log = logs.setdefault(
            (operation, clock),
            HdrLog(tool=tool, operation=operation, clock=clock, counted=counted, unit_ns=unit_ns,
                   started_unix_ns=started_unix_ns, intervals=[], warnings=warnings),
        )  # fmt: skip
        try:
            histogram = ScaledHistogram.decode(text.rpartition(",")[2].strip(), unit_ns)
        except ValueError as error:
            raise _no_interval(path, number, text, found) from error
        if histogram.count():
            start_ns = max(round((start_s - origin_s) * NS_PER_S), 0)
            end_ns = start_ns + max(round(length_s * NS_PER_S), 1)
            # Anew, so that a record has one encoding, whichever one the log has.
            log.intervals.append(
                IntervalTimes(operation=operation, clock=clock, start_ns=start_ns, end_ns=end_ns, unit_ns=unit_ns,
                              text=histogram.encode())
            )  # fmt: skip
    if not logs:
        left_out = sorted({tag for _, _, tag, _, _ in found.intervals})
        raise bad_file(path, f"it holds no time of an operation: {', '.join(left_out[:3])} is none",
                       hint="give a log with service (-st) or response times (-rt)" if tool == CASSANDRA_STRESS else
                       "give a log with the timers of operations")  # fmt: skip
    return [log for log in logs.values() if log.intervals or tool == YCSB]


def _warnings(tool: str, found: _Found) -> tuple[str, ...]:
    """What is unusual in a log that is read all the same."""
    warnings = []
    if found.version not in (None, *_VERSIONS):
        warnings.append("the histogram log says a version of its format that is not known: it was read like 1.3")
    if tool == YCSB and any(tag for _, _, tag, _, _ in found.intervals):
        warnings.append(
            "intervals of the histogram log have tags, which YCSB does not write: those that name none of its "
            "operations are left out"
        )
    if found.has_decimal_commas:
        warnings.append("the file has decimal commas: its figures were read as such")
    return tuple(warnings)


def _read_line(path: Path, number: int, text: str, found: _Found) -> None:
    if text.startswith("#"):
        match = _COMMENT.match(text)
        if (version := _VERSION.match(text)) is not None:
            found.version = version["version"]
        elif match is None:
            found.titles.append(text.lstrip("#").strip())
        elif found.intervals and _begins_another(match, found):
            raise _another(path, number, match, found)
        elif match["name"] in ("StartTime", "BaseTime"):
            value = match["value"].replace(",", ".")
            time_s = decimal_number(value, most=EPOCH_MS_MAX / 1000)
            if time_s is None:
                raise bad_file(path, f"{match['name']} can't be {match['value'][:40]!r}", line=number)
            found.comments[match["name"]] = value
        else:
            found.comments[match["name"]] = match["value"].rstrip("]")
    elif text and not text.startswith('"'):
        if (comma := _DECIMAL_COMMAS.fullmatch(text)) is not None:
            found.has_decimal_commas = True
            figures = (comma[name].replace(",", ".") for name in ("start", "length", "most"))
            text = f"{comma['tag']}{','.join(figures)},{comma['rest']}"
        *tagged, start, length, most, _ = ["", "", "", "", *map(str.strip, text.split(","))][-5:]
        tag = tagged[0]
        start_s, length_s = (decimal_number(each, most=EPOCH_MS_MAX / 1000) for each in (start, length))
        is_interval = decimal_number(most, most=float(1 << 62)) is not None and (not tag or tag.startswith("Tag="))
        if start_s is None or length_s is None or length_s > SPAN_S_MAX or not is_interval:
            raise bad_file(path, f"{text[:60]!r} is no interval of a histogram log", line=number)
        found.intervals.append((number, text, tag.removeprefix("Tag="), start_s, length_s))


def _begins_another(comment: re.Match[str], found: _Found) -> bool:
    """Whether a comment behind intervals begins another log: a file has one clock, and YCSB's one operation."""
    name, value = comment.group("name", "value")
    known = found.comments.get(name)
    return name in ("StartTime", "BaseTime", "Logging for") and known not in (
        value.rstrip("]"),
        value.replace(",", "."),
    )


def _another(path: Path, number: int, comment: re.Match[str], found: _Found) -> Exception:
    if comment["name"] != "Logging for":
        return bad_file(path, "a second run begins here", line=number, hint=_ONE_BY_ONE)
    operation, first = comment["value"].rstrip("]"), found.comments.get("Logging for")
    problem = f"a second log begins here, of {operation[:40]}" + (f"; the first is of {first[:40]}" if first else "")
    return bad_file(path, problem, line=number, hint="give each log a file of its own, and import them together")


def _require_one_run(path: Path, found: _Found) -> None:
    """Raises UsageError where intervals of one log overlap: what they hold happened in one time and not in two."""
    last: dict[str, tuple[float, float]] = {}
    for number, _, tag, start_s, length_s in sorted(found.intervals, key=lambda each: (*each[3:], each[0])):
        before_s, before_length_s = last.get(tag, (-math.inf, 0.0))
        # Ends are rounded, and a recorder may cut an interval late.
        if start_s + min(length_s, before_length_s) / 2 < before_s + before_length_s:
            problem = "the interval overlaps another one: a second run begins here, or lines are there twice"
            raise bad_file(path, problem, line=number, hint=_ONE_BY_ONE)
        last[tag] = (start_s, length_s)


def _written_by(path: Path, found: _Found) -> tuple[str, str]:
    """The tool that wrote a log, and the operation of what has no tag."""
    tags = {tag for _, _, tag, _, _ in found.intervals}
    titles = "\n".join(found.titles).lower()
    if "tags are operation.clock" in titles:
        raise bad_file(path, "this is the log of a record of brimline's own", hint="brimline show DIRECTORY shows it")
    if operation := found.comments.get("Logging for"):
        return YCSB, operation
    if tags - {""} and ("cassandra stress" in titles or all(_CLOCK_OF_TAG.fullmatch(tag) for tag in tags)):
        return CASSANDRA_STRESS, ""
    if tags - {""} and "histograms for session" in titles:
        return NOSQLBENCH, ""
    if not tags - {""} and (match := _FILE_NAME.search(path.name)):
        return YCSB, match["operation"]
    raise bad_file(
        path,
        "it has no line #[Logging for: OPERATION], so that its unit isn't known",
        hint="histogram logs are read as YCSB, cassandra-stress and NoSQLBench write them, with their comments; one of "
        "YCSB also where the file is named like run.READ.hdr",
    )


def _kind(tool: str, name: str) -> tuple[str, Clock, bool] | None:
    """Operation, clock and whether it counts, of a tag or an operation; None for what is no time of an operation."""
    if tool == YCSB:
        return name.removeprefix(_INTENDED), "response" if name.startswith(_INTENDED) else "service", True
    if tool == CASSANDRA_STRESS:
        match = _CLOCK_OF_TAG.fullmatch(name)
        if match is None:
            return name, "service", True
        return None if match["clock"] == "wt" else (match["operation"], _CLOCKS[match["clock"]], True)
    timer = _TIMER.fullmatch(name)
    if timer is not None:
        return timer["operation"], _CLOCKS[timer["clock"] or "servicetime"], True
    return None if _NO_TIMES.fullmatch(name) else (name, "service", False)


def _clock_zero(path: Path, found: _Found) -> tuple[float, int | None]:
    """What the log's times count from once they are the run's, and when that was.

    As HdrHistogram's own reader has it: without a base, times long before the start are relative to it.
    """
    starts = [start for _, _, _, start, _ in found.intervals]
    start_text, base_text = found.comments.get("StartTime"), found.comments.get("BaseTime")
    start_s = None if start_text is None else float(start_text)
    base_s = 0.0 if base_text is None else float(base_text)
    if base_text is None and start_s is not None and min(starts) < start_s - _YEAR_S:
        base_s = start_s
    first_s = base_s + min(starts)
    if first_s < _YEAR_S:
        zero_s, known = 0.0, None
    else:
        zero_s = start_s if start_s is not None and first_s - SPAN_S_MAX < start_s <= first_s else first_s
        known = round(zero_s * 1000) * 1_000_000
    if max(starts) + base_s - zero_s > SPAN_S_MAX:
        raise bad_file(path, "its intervals lie years apart: is a start time damaged?")
    return zero_s - base_s, known


def _no_interval(path: Path, number: int, text: str, found: _Found) -> Exception:
    is_last = number == found.intervals[-1][0]
    problem = f"{text[:60]!r} is no interval of a histogram log"
    return bad_file(path, problem, line=number, hint=_CUT_SHORT if is_last else None)
