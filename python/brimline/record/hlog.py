"""Histogram logs: HdrHistogram's log format 1.3, read and written.

One line per interval, operation, clock and phase: `Tag=read.response,start s,length s,max ms,payload`.
Operations of the measured window have the plain tag, so that a public reader which is asked for
`read.response` gets what reports quote; those of the warm-up have `read.response.warmup`. Parts of these, such as
`read.failed_service`, have lines of their own (`record.model.BREAKDOWN_CLOCKS`), and so have steps:
`place_order/find%20customers.service`. A tag holds no blank, comma or line break, and points and the slash separate its
parts: in the names of operations and steps these, the percent sign, the equals sign, and what can't be printed are
percent-encoded UTF-8. Values are ns, the
interval maximum is in ms (the format's customary divisor of 10^6), and times are relative to `BaseTime`.
Times have nine decimals, so that an interval is found again to the nanosecond; the public readers parse any
number of them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

from brimline.errors import RecordError
from brimline.record.files import DAMAGED_HINT
from brimline.record.model import step_clock, step_of
from brimline.record.pieces import lines_of

MAX_VALUE_DIVISOR = 1e6
MEASURED_PHASE = "measure"
VERSION = "#[Histogram log format version 1.3]\n"
_BASE_TIME = re.compile(r"#\[BaseTime: (\d{1,11})\.(\d{3}) ")
_SEPARATING = " ,./%="
LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'


class _NotAnInterval(RecordError):
    """A line that can't be one of a log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One interval of one tag; `text` is the histogram as base64 of HdrHistogram V2 + deflate.

    `clock` may be that of a step (`record.model.step_clock`).
    """

    phase: str
    operation: str
    clock: str
    start_ns: int
    end_ns: int
    text: str


def header(started_unix_ns: int) -> str:
    """The lines before the first interval. Times in the log count from `started_unix_ns`."""
    return (
        f"{VERSION}"
        "#[Values are nanoseconds; tags are operation.clock, of a step operation/step.service]\n"
        "#[service = done - sent, response = done - due, lag = sent - due]\n"
        f"{start_time(started_unix_ns)}"
        f"#[BaseTime: {started_unix_ns / 1e9:.3f} (seconds since epoch)]\n"
        f"#[MaxValueDivisor: {MAX_VALUE_DIVISOR:.1f}]\n"
        f"{LEGEND}"
    )


def start_time(started_unix_ns: int) -> str:
    """The line that says when a log begins."""
    started_at = datetime.fromtimestamp(started_unix_ns / 1e9, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
    return f"#[StartTime: {started_unix_ns / 1e9:.3f} (seconds since epoch), {started_at}]\n"


def base_time_ms(path: Path) -> int | None:
    """What the times of the log at `path` count from, in ms since 1970; None where it doesn't say."""
    found = next(filter(None, map(_BASE_TIME.match, lines_of(path))), None)
    return None if found is None else int(found[1]) * 1000 + int(found[2])


def line(entry: LogLine, *, max_ns: int) -> str:
    """One interval as a line of the log."""
    step = step_of(entry.clock)
    own = f".{entry.clock}" if step is None else f"/{_escaped(step)}.service"
    tag = f"{_escaped(entry.operation)}{own}"
    if entry.phase != MEASURED_PHASE:
        tag += f".{entry.phase}"
    start = _seconds(entry.start_ns)
    length = _seconds(entry.end_ns - entry.start_ns)
    return f"Tag={tag},{start},{length},{max_ns / MAX_VALUE_DIVISOR:.3f},{entry.text}\n"


def parse(lines: Iterable[str], *, clock: str | None = None) -> Iterator[LogLine]:
    """The intervals of a log, in order; with `clock` only its own. Raises RecordError at a line that is none."""
    for number, text in enumerate(lines, start=1):
        content = text.rstrip("\r\n")
        if content and not content.startswith(("#", '"')) and (clock is None or _may_be_of(clock, content)):
            yield _parse_line(content, number)


def read(path: Path, *, clock: str | None = None) -> Iterator[LogLine]:
    """As `parse`, of the log at `path`; none where there is no such file."""
    try:
        yield from parse(lines_of(path), clock=clock)
    except _NotAnInterval as error:
        raise RecordError(f"{path} is damaged: {error.message}", hint=DAMAGED_HINT) from error


def _may_be_of(clock: str, content: str) -> bool:
    """Whether a line has to be taken apart: a glance at its tag, for a long run has a hundred thousand lines."""
    tag, comma, _ = content.partition(",")
    return not comma or f".{clock.rpartition('.')[2]}" in tag


def _parse_line(content: str, number: int) -> LogLine:
    parts = content.split(",")
    try:
        tag, start, length, _, payload = parts
        name, clock, *phase = tag.removeprefix("Tag=").split(".")
        operation, is_step, step = name.partition("/")
        start_ns = _nanoseconds(start)
        return LogLine(
            phase=phase[0] if phase else MEASURED_PHASE,
            operation=unquote(operation),
            clock=step_clock(unquote(step)) if is_step else clock,
            start_ns=start_ns,
            end_ns=start_ns + _nanoseconds(length),
            text=payload,
        )
    except ValueError as error:
        raise _NotAnInterval(f"line {number} is not an interval: {content[:60]!r}") from error


def _escaped(name: str) -> str:
    return "".join(
        "".join(f"%{byte:02X}" for byte in each.encode()) if each in _SEPARATING or not each.isprintable() else each
        for each in name
    )


def _seconds(time_ns: int) -> str:
    return f"{time_ns // 1_000_000_000}.{time_ns % 1_000_000_000:09d}"


def _nanoseconds(seconds: str) -> int:
    return round(float(seconds) * 1e9)
