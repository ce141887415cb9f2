"""Owns raw measurements: every latency as a line of text, and the summary that YCSB computes of them.

A record's log of operations has each operation; here it becomes YCSB's lines, one measurement after the other,
appended to a file or said on standard output. Timestamps are the wall clock's when the call was over.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from brimline.compat.ycsb.java import ratio
from brimline.compat.ycsb.measurements import (
    CLEANUP,
    Clocks,
    Times,
    logged_calls,
    measurement_name,
    named_measurements,
)
from brimline.errors import RecordError
from brimline.record.layout import unwritable
from brimline.record.model import RunRecord
from brimline.record.operation_log import LoggedTimes, Selection
from brimline.spec import YcsbOutput
from brimline.units import NS_PER_MS, NS_PER_US

_INTENDED = "Intended-"
_SHARES = {"p1": 0.01, "p5": 0.05, "p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}


@dataclass(slots=True)
class RawTimes:
    """Latencies in µs by how often they were there, for each measurement; `error` is why they are not all written."""

    values_us: dict[str, Mapping[int, int]] = field(default_factory=dict)
    error: RecordError | None = None


def raw_prefix(output: YcsbOutput) -> str:
    """What names of raw measurements begin with."""
    return "" if output.measurement_type == "raw" else "Raw"


def write_raw(record: RunRecord, output: YcsbOutput, *, say: Callable[[str], None]) -> RawTimes:
    """Writes every latency to `output.raw_file`, or says it where there is none; with YCSB's words about where.

    Where the file can't be written, the latencies are counted all the same. Raises RecordError where the log of
    operations can't be read.
    """
    names = _names(record, output)
    place = f"result file: {output.raw_file}" if output.raw_file else "stdout."
    say(f"Raw data measurement: will output to {place}\n" * len(names))
    raw = RawTimes()
    if output.raw_file is None:
        _write_all(record, output, names, say, raw)
        return raw
    path = Path(output.raw_file)
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raw.error = unwritable(path, error)
        _write_all(record, output, names, lambda _: None, raw)
        return raw
    writer = _FileWriter(path, file, raw)
    try:
        _write_all(record, output, names, writer.write, raw)
    finally:
        writer.close()
    return raw


class _FileWriter:
    """Writes to a file until that fails, and keeps the reason."""

    def __init__(self, path: Path, file: TextIO, raw: RawTimes) -> None:
        self._path, self._file, self._raw = path, file, raw

    def write(self, text: str) -> None:
        if self._raw.error is None:
            try:
                self._file.write(text)
            except OSError as error:
                self._raw.error = unwritable(self._path, error)

    def close(self) -> None:
        try:
            self._file.close()
        except OSError as error:
            self._raw.error = self._raw.error or unwritable(self._path, error)


def _write_all(
    record: RunRecord, output: YcsbOutput, names: list[str], write: Callable[[str], None], raw: RawTimes
) -> None:
    for name in names:
        label = f"{raw_prefix(output)}{name}"
        write(f"{label} latency raw data: op, timestamp(ms), latency(us)\n")
        if name.removeprefix(_INTENDED) == CLEANUP:
            raw.values_us[name] = _cleanup(record, label, write)
            continue
        times = LoggedTimes(record.directory, _selections(record, output, name), label=label)
        for text in times.text():
            write(text)
        raw.values_us[name] = times.counts_us()


def _names(record: RunRecord, output: YcsbOutput) -> list[str]:
    close_ns = record.summary.get("close_ns") if record.summary else None
    clocks = Clocks.of(record.plan)
    return [name for name, _ in named_measurements(Times.of_record(record), output, clocks=clocks, close_ns=close_ns)]


def _selections(record: RunRecord, output: YcsbOutput, name: str) -> list[Selection]:
    """What of the log belongs to the measurement `name`."""
    is_intended = output.measurement_interval == "intended" or name.startswith(_INTENDED)
    clocks = Clocks.of(record.plan)
    clock = clocks.intended if is_intended else clocks.own
    wanted = name.removeprefix(_INTENDED)
    operations = sorted({row["operation"] for row in record.operations})
    return [
        (operation, part, ending, clock)
        for operation in operations
        for call, status, part, ending in logged_calls(operation)
        if measurement_name(call, status, output) == wanted
    ]


def _cleanup(record: RunRecord, label: str, write: Callable[[str], None]) -> dict[int, int]:
    assert record.summary is not None  # noqa: S101 - without one there is no such measurement
    summary = record.summary
    close_ns = summary.get("close_ns", 0)
    end_ms = (summary["started_unix_ns"] + summary["elapsed_ns"] + close_ns) // NS_PER_MS
    write(f"{label},{end_ms},{close_ns // NS_PER_US}\n")
    return {close_ns // NS_PER_US: 1}


def raw_summary(name: str, values_us: Mapping[int, int], output: YcsbOutput) -> Iterator[tuple[str, str, int | float]]:
    """The rows of a raw measurement: its number, and unless unwanted its mean and percentiles, exact to the µs."""
    count = sum(values_us.values())
    yield name, "Total Operations", count
    if not count or not output.raw_summary:
        return
    yield name, "Below is a summary of latency in microseconds:", -1
    yield name, "Average", ratio(float(sum(value * number for value, number in values_us.items())), count)
    yield name, "Min", min(values_us)
    yield name, "Max", max(values_us)
    # The value at place share x count of all values in ascending order, from 0 on.
    places = {label: int(count * share) for label, share in _SHARES.items()}
    found = _at_places(values_us, sorted(set(places.values())))
    for label, place in places.items():
        yield name, label, found[place]


def _at_places(values_us: Mapping[int, int], places: list[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    waiting = iter(places)
    place = next(waiting, None)
    reached = 0
    for value, number in sorted(values_us.items()):
        reached += number
        while place is not None and place < reached:
            found[place] = value
            place = next(waiting, None)
    return found
