"""Owns YCSB's `.hdr` files: one HdrHistogram log per operation, values in µs.

Source: HdrHistogram's log format 1.3 and YCSB's `OneMeasurementHdrHistogram`, whose first line names the operation.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from brimline.record.imported import IntervalTimes
from brimline.record.importing.source import bad_file, lines_of, open_text
from brimline.record.scaled import ScaledHistogram
from brimline.units import NS_PER_S, NS_PER_US

_OPERATION = re.compile(r"#\[Logging for: (?P<operation>\S+)\]")
_START = re.compile(r"#\[StartTime: (?P<start>[0-9.]+)")
_INTENDED = "Intended-"


@dataclass(frozen=True, slots=True, kw_only=True)
class HdrLog:
    """The intervals of one operation, in s since its start."""

    operation: str
    clock: str
    started_unix_ns: int | None
    intervals: list[IntervalTimes]


def is_hdr_log(head: str) -> bool:
    """Whether a file begins as a histogram log."""
    return head.startswith(("#[", '"StartTimestamp"'))


def read_hdr_log(path: Path) -> HdrLog:
    """A log. Raises UsageError for one that isn't YCSB's, and for a damaged line."""
    operation, started = "", None
    intervals: list[IntervalTimes] = []
    with open_text(path) as stream:
        for number, line in enumerate(lines_of(stream, path), start=1):
            text = line.rstrip("\r\n")
            if match := _OPERATION.match(text):
                operation = match["operation"]
            elif match := _START.match(text):
                started = round(float(match["start"]) * 1000) * 1_000_000
            elif text and not text.startswith(("#", '"')):
                intervals += _interval(path, number, text, operation)
    if not operation:
        raise bad_file(
            path,
            "it has no line #[Logging for: OPERATION], so that its unit isn't known",
            hint="logs of histograms are read as YCSB writes them (hdrhistogram.fileoutput)",
        )
    if not intervals:
        raise bad_file(path, "the log holds no interval")
    clock = "response" if operation.startswith(_INTENDED) else "service"
    return HdrLog(
        operation=operation.removeprefix(_INTENDED), clock=clock, started_unix_ns=started, intervals=intervals
    )


def _interval(path: Path, number: int, text: str, operation: str) -> Iterator[IntervalTimes]:
    """The interval of a line; none where it holds no value."""
    parts = text.split(",")
    if parts[0].startswith("Tag="):
        parts = parts[1:]
    try:
        start, length, _, payload = parts
        start_ns, length_ns = round(float(start) * NS_PER_S), round(float(length) * NS_PER_S)
        histogram = ScaledHistogram.decode(payload, NS_PER_US)
    except ValueError as error:
        raise bad_file(path, f"{text[:60]!r} is no interval of a histogram log", line=number) from error
    if histogram.count():
        clock = "response" if operation.startswith(_INTENDED) else "service"
        yield IntervalTimes(
            operation=operation.removeprefix(_INTENDED),
            clock=clock,
            start_ns=start_ns,
            end_ns=start_ns + max(length_ns, 1),
            unit_ns=NS_PER_US,
            text=payload,
        )
