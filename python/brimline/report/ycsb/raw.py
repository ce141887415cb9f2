"""Owns YCSB's `raw` measurements: every single latency, composed from the log of operations that such a run keeps."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from brimline.errors import RecordError
from brimline.record.model import RunRecord
from brimline.record.operation_log import ENDINGS, KINDS, NEVER, read_operation_log
from brimline.report.ycsb.measurements import CLEANUP, PER_RECORD, clocks, measurement_name, operation_name, status_of
from brimline.spec import YcsbOutput
from brimline.units import NS_PER_MS, NS_PER_US

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.void]
    Numbers = NDArray[np.uint64]

_LINES_AT_ONCE = 100_000


class Points(NamedTuple):
    """The calls of one measurement by their ends: when each ended (ms since 1970), how long it took (µs)."""

    ended_ms: "Numbers"
    latency_us: "Numbers"


class _Calls(NamedTuple):
    """Calls of one operation and status; instants and times in ns."""

    name: str
    status: str | None
    done_ns: "Numbers"
    took_ns: "Numbers"


def logged_points(record: RunRecord, output: YcsbOutput) -> dict[str, Points]:
    """The calls of a run by measurement, named as in the text without `Raw`. Raises RecordError without a log."""
    import numpy as np  # not above: a load does without

    rows = read_operation_log(record.directory)
    started_ns = record.summary["started_unix_ns"] if record.summary else 0
    gathered: dict[str, list[_Calls]] = {}
    for intended in clocks(output):
        prefix = "Intended-" if intended and output.measurement_interval == "both" else ""
        begin = "due_ns" if intended and not record.closed_loop else "sent_ns"
        for calls in (*_calls(rows, begin), *_cleanup(record)):
            if not (intended and calls.name == PER_RECORD):
                name = prefix + measurement_name(calls.name, calls.status, output)
                gathered.setdefault(name, []).append(calls)
    points = {}
    for name, parts in gathered.items():
        done_ns = np.concatenate([part.done_ns for part in parts])
        order = np.argsort(done_ns, kind="stable")
        took_ns = np.concatenate([part.took_ns for part in parts])[order]
        points[name] = Points((done_ns[order] + np.uint64(started_ns)) // NS_PER_MS, took_ns // NS_PER_US)
    return points


def _calls(rows: "Rows", begin: str) -> Iterator[_Calls]:
    for code, operation in enumerate(KINDS):
        of_kind = rows[rows["kind"] == code]
        if not len(of_kind):
            continue
        if operation == "read_modify_write":
            yield from _steps(of_kind, begin)
            continue
        name = operation_name(operation)
        for status, some in _by_status(operation, of_kind):
            yield _spans(name, status, some, begin, "done_ns")
        if operation == "scan":
            found = of_kind[of_kind["documents"] > 0]
            whole = _spans(PER_RECORD, None, found, "sent_ns", "done_ns")
            yield whole._replace(took_ns=whole.took_ns // found["documents"])


def _steps(rows: "Rows", begin: str) -> Iterator[_Calls]:
    """A read-modify-write as YCSB measures it: as a whole, its read, and its update where there was one."""
    yield _spans("READ-MODIFY-WRITE", None, rows, begin, "done_ns")
    in_two = rows["second_sent_ns"] != NEVER
    yield _spans("READ", "OK", rows[in_two], begin, "first_done_ns")
    for status, some in _by_status("read", rows[~in_two]):
        yield _spans("READ", status, some, begin, "done_ns")
    for status, some in _by_status("update", rows[in_two]):
        yield _spans("UPDATE", status, some, "second_sent_ns" if begin == "sent_ns" else begin, "done_ns")


def _by_status(operation: str, rows: "Rows") -> Iterator[tuple[str, "Rows"]]:
    for code, ending in enumerate(ENDINGS):
        yield status_of(operation, ending), rows[rows["ending"] == code]


def _spans(name: str, status: str | None, rows: "Rows", begin: str, end: str) -> _Calls:
    return _Calls(name, status, rows[end], rows[end] - rows[begin])


def _cleanup(record: RunRecord) -> Iterator[_Calls]:
    import numpy as np

    summary = record.summary
    if summary is not None and (close_ns := summary.get("close_ns")) is not None:
        at = np.array([summary["elapsed_ns"] + close_ns], dtype=np.uint64)
        yield _Calls(CLEANUP, None, at, np.array([close_ns], dtype=np.uint64))


def raw_lines(points: dict[str, Points], names: list[str], *, prefix: str) -> Iterator[str]:
    """The text of the raw data, in pieces: a line over each measurement, and one for each of its calls."""
    for name in names:
        shown = f"{prefix}{name}"
        yield f"{shown} latency raw data: op, timestamp(ms), latency(us)\n"
        if name not in points:
            continue
        ended_ms, latency_us = points[name]
        for first in range(0, len(ended_ms), _LINES_AT_ONCE):
            piece = slice(first, first + _LINES_AT_ONCE)
            pairs = zip(ended_ms[piece].tolist(), latency_us[piece].tolist(), strict=True)
            yield "".join(f"{shown},{at},{took}\n" for at, took in pairs)


def write_raw_file(path: Path, lines: Iterator[str]) -> None:
    """Writes the raw data. Raises RecordError."""
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as error:
        raise RecordError(f"can't write {path}: {(error.strerror or str(error)).lower()}") from error


def raw_summary(latency_us: "Numbers") -> Iterator[tuple[str, Any]]:
    """YCSB's figures of the calls: of a sorted list the place at share × number, counted from 0 and rounded down."""
    import numpy as np

    ordered = np.sort(latency_us)
    count = len(ordered)
    yield "Below is a summary of latency in microseconds:", -1
    yield "Average", int(ordered.sum()) / count
    yield "Min", int(ordered[0])
    yield "Max", int(ordered[-1])
    for name, share in _SHARES:
        yield name, int(ordered[int(count * share)])


_SHARES = (
    ("p1", 0.01), ("p5", 0.05), ("p50", 0.5), ("p90", 0.9),
    ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999),
)  # fmt: skip
