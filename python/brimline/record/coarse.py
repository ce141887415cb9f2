"""Owns reading a record of any length in the same memory: neighbouring intervals are put together as they are read.

Of each block of intervals there is one row, as if intervals had been as long as that: counts are added up, histograms
merged, of the looks at the server the last one stays (its counters lose nothing by that). So all that is asked of a run
can be asked of a soak of days. What happens within seconds would be lost in a block; for that a few figures of every
interval are kept as arrays, 32 bytes each.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from brimline.record.host_rows import with_host
from brimline.record.layout import HOST_FILE, INTERVALS_FILE, LATENCY_FILE, OPERATIONS_FILE, SERVER_FILE, STEPS_FILE
from brimline.record.model import Clock, IntervalRow, OperationRow, RunRecord, ServerRow, StepRow
from brimline.record.reader import Rows, interval_histograms, read_record, server_rows, typed_rows
from brimline.record.time_histogram import Histogram, HistogramCodec, IntervalHistogram

BLOCKS_MAX = 600
"""Rows of a phase at most: as many as a chart has points."""
_ADDED_OF_INTERVAL = ("engine_cpu_ns", "busiest_thread_cpu_ns", "process_cpu_ns")
_KEYS = ("phase", "start_ns", "end_ns", "operation", "step")

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fine:
    """Of each measured interval: when it began and ended, what was answered in it, the slowest service in it.

    In s on the run's clock, operations, ns. `looks`: what was kept of the server.
    """

    starts_s: Array
    ends_s: Array
    answered: Array
    slowest_ns: Array
    looks: "Looks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """Columns of every look at the server, by name: NaN where a look doesn't have them; `at_s` on the run's clock."""

    at_s: Array
    columns: dict[str, Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coarse:
    """A record in blocks, and what is kept of every interval."""

    record: RunRecord
    fine: Fine


def read_coarse(
    directory: Path, *, looked_at: Sequence[str] = (), codec: HistogramCodec | None = None, blocks: int = BLOCKS_MAX
) -> Coarse:
    """The run in `directory` in at most so many blocks a phase. Raises RecordError.

    `looked_at`: columns of the looks at the server that are kept of every look.
    """
    reader = _Reader(looked_at, blocks)
    record = read_record(directory, codec=codec, rows=reader.rows)
    return Coarse(record=record, fine=reader.fine())


class _Encoded(NamedTuple):
    """A histogram of a block as it is kept."""

    start_ns: int
    end_ns: int
    phase: str
    operation: str
    clock: str
    text: str


class _Reader:
    def __init__(self, looked_at: Sequence[str], blocks_max: int) -> None:
        self._blocks_max = blocks_max
        self._measured: list[tuple[int, int]] = []
        self._answered: dict[int, int] = {}
        self._slowest: dict[int, int] = {}
        self._at_ns: list[float] = []
        self._looks: dict[str, list[float]] = {name: [] for name in looked_at}

    def rows(self, directory: Path, codec: HistogramCodec) -> Rows:
        """One pass over each file."""
        blocks = _Blocks.of(typed_rows(directory / INTERVALS_FILE, IntervalRow), self._blocks_max)
        self._measured = [(row["start_ns"], row["end_ns"]) for row in
                          typed_rows(directory / INTERVALS_FILE, IntervalRow) if row["phase"] == "measure"]  # fmt: skip
        self._answered = dict.fromkeys((start_ns for start_ns, _ in self._measured), 0)
        texts = self._histograms(directory / LATENCY_FILE, blocks, codec)
        return Rows(
            intervals=blocks.intervals,
            operations=cast(
                "list[OperationRow]",
                _added(blocks, self._noted(typed_rows(directory / OPERATIONS_FILE, OperationRow))),
            ),
            steps=cast("list[StepRow]", _added(blocks, typed_rows(directory / STEPS_FILE, StepRow))),
            server=with_host(self._server(directory / SERVER_FILE, blocks), _thinned(directory / HOST_FILE, blocks)),
            load=_decoding(texts, codec),
        )

    def fine(self) -> Fine:
        """What was kept of every interval."""
        spans = np.asarray(self._measured, dtype=float).reshape(-1, 2) / 1e9
        return Fine(
            starts_s=spans[:, 0],
            ends_s=spans[:, 1],
            answered=np.asarray([self._answered[start_ns] for start_ns, _ in self._measured], dtype=float),
            slowest_ns=np.asarray([self._slowest.get(start_ns, 0) for start_ns, _ in self._measured], dtype=float),
            looks=Looks(
                at_s=np.asarray(self._at_ns) / 1e9,
                columns={name: np.asarray(values) for name, values in self._looks.items()},
            ),
        )

    def _noted(self, rows: Iterator[OperationRow]) -> Iterator[OperationRow]:
        for row in rows:
            if row["start_ns"] in self._answered:
                self._answered[row["start_ns"]] += row["ok"] + row["miss"]
            yield row

    def _histograms(self, path: Path, blocks: "_Blocks", codec: HistogramCodec) -> list["_Encoded"]:
        """One for each block, phase, operation and clock, in the order of time."""
        done: list[_Encoded] = []
        opened: dict[tuple[str, str, str], tuple[int, Histogram]] = {}

        def close(key: tuple[str, str, str]) -> None:
            number, merged = opened.pop(key)
            done.append(_Encoded(*blocks.span(number), *key, merged.encode()))

        for each in interval_histograms(path, blocks.whole_until_ns, codec, None):
            if each.clock == "service" and each.start_ns in self._answered:
                self._slowest[each.start_ns] = max(self._slowest.get(each.start_ns, 0), each.histogram.max())
            number = blocks.number_of(each.start_ns)
            key = (each.phase, each.operation, each.clock)
            if key in opened and opened[key][0] != number:
                close(key)
            if key in opened:
                opened[key][1].merge(each.histogram)
            else:
                opened[key] = (number, each.histogram)
        for key in list(opened):
            close(key)
        return sorted(done)

    def _server(self, path: Path, blocks: "_Blocks") -> list[ServerRow]:
        """The first look of all, and the last of each block."""
        return _thinned(path, blocks, each=self._note_look)

    def _note_look(self, row: ServerRow) -> None:
        at_ns = row.get("at_ns")
        self._at_ns.append(float(at_ns) if isinstance(at_ns, int | float) else np.nan)
        for name, values in self._looks.items():
            value = row.get(name)
            values.append(float(value) if isinstance(value, int | float) else np.nan)


def _thinned(path: Path, blocks: "_Blocks", each: Callable[[ServerRow], None] = lambda _row: None) -> list[ServerRow]:
    """The first look of a file, and the last of each block; `each` is shown all."""
    kept: dict[int, ServerRow] = {}
    for row in server_rows(path):
        each(row)
        at_ns = row.get("at_ns")
        number = blocks.number_of(at_ns) if isinstance(at_ns, int | float) and at_ns >= 0 else -1
        kept[number if kept else -2] = row
    return list(kept.values())


@dataclass(frozen=True, slots=True)
class _Blocks:
    """The rows of the blocks, and where each begins."""

    intervals: list[IntervalRow]
    starts_ns: list[int]
    whole_until_ns: int

    @classmethod
    def of(cls, rows: Iterator[IntervalRow], blocks_max: int) -> "_Blocks":
        """Neighbours are put together whenever there are twice as many rows as wanted, so that memory stays level."""
        kept: list[IntervalRow] = []
        size, open_size = 1, 0
        for row in rows:
            if kept and kept[-1]["phase"] == row["phase"] and open_size < size:
                kept[-1] = _together(kept[-1], row)
                open_size += 1
            else:
                kept.append(row)
                open_size = 1
            if len(kept) >= 2 * blocks_max:
                kept, open_size, size = _halved(kept), 2 * open_size, 2 * size
        while len(kept) > blocks_max and (fewer := _halved(kept)) and len(fewer) < len(kept):
            kept = fewer
        return cls(kept, [row["start_ns"] for row in kept], kept[-1]["end_ns"] if kept else 0)

    def number_of(self, at_ns: float) -> int:
        """The block that holds this instant; the first for one before all."""
        return max(0, bisect_right(self.starts_ns, at_ns) - 1)

    def span(self, number: int) -> tuple[int, int]:
        """From when to when a block lasts."""
        return self.intervals[number]["start_ns"], self.intervals[number]["end_ns"]


def _halved(rows: Sequence[IntervalRow]) -> list[IntervalRow]:
    """Each two neighbours of one phase as one."""
    halved: list[IntervalRow] = []
    is_single = False
    for row in rows:
        if is_single and halved[-1]["phase"] == row["phase"]:
            halved[-1] = _together(halved[-1], row)
            is_single = False
        else:
            halved.append(row)
            is_single = True
    return halved


def _together(first: IntervalRow, second: IntervalRow) -> IntervalRow:
    """Two neighbours as one row: it ends as the second does, and took what both took."""
    added = {name: cast("Any", first)[name] + cast("Any", second)[name] for name in _ADDED_OF_INTERVAL}
    return cast("IntervalRow", {**second, "start_ns": first["start_ns"], **added})


def _added(blocks: _Blocks, rows: Iterator[Any]) -> list[dict[str, Any]]:
    """Rows of operations or steps, added up over each block, in the order of time."""
    sums: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        if row["end_ns"] > blocks.whole_until_ns:
            continue
        number = blocks.number_of(row["start_ns"])
        key = (number, row["phase"], row["operation"], row.get("step"))
        if key not in sums:
            start_ns, end_ns = blocks.span(number)
            sums[key] = {**row, "start_ns": start_ns, "end_ns": end_ns}
            continue
        of_block = sums[key]
        for name, value in row.items():
            if name not in _KEYS:
                of_block[name] += value
    return list(sums.values())


def _decoding(
    encoded: Sequence["_Encoded"], codec: HistogramCodec
) -> Callable[[Clock | None], Iterator[IntervalHistogram]]:
    """Each time anew, because who asks may merge into what comes."""

    def load(clock: Clock | None) -> Iterator[IntervalHistogram]:
        for each in encoded:
            if clock in (None, each.clock):
                yield IntervalHistogram(phase=each.phase, start_ns=each.start_ns, end_ns=each.end_ns,
                                        operation=each.operation, clock=each.clock,
                                        histogram=codec.decode(each.text))  # fmt: skip

    return load
