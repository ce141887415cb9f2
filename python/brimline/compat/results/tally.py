"""Owns the counting of single samples: millions of them in bounded memory, every time kept.

Samples come in batches of columns. Kept are counts per interval and operation, and how often each time occurred in
it; when there are too many intervals, neighbours are merged. Times are exact up to the histogram at the end.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from brimline.errors import visible
from brimline.record.imported import ActiveRow, IntervalTimes, TimeRow
from brimline.record.scaled import ScaledHistogram

CELLS_MAX = 6_000
"""Intervals times operations, from which intervals are merged."""
ENTRIES_MAX = 4_000_000
"""Different times of all intervals, from which intervals are merged."""
OPERATIONS_MAX = 500
OTHER_OPERATIONS = "(other labels)"
INTERVAL_MS = 1_000

_Integers = NDArray[np.int64]


@dataclass(slots=True, kw_only=True)
class Batch:
    """Columns of samples, equally long. `end_ms` since the epoch, `time` in the tally's unit.

    A row may stand for `count` samples, `failed` of them failed, whose times add up to `time`; when the last of them
    ended isn't known, so that its `end_ms` is when the first began.
    """

    operation: list[str]
    end_ms: _Integers
    time: _Integers
    count: _Integers
    failed: _Integers
    bytes_in: _Integers | None = None
    bytes_out: _Integers | None = None
    active: _Integers | None = None


@dataclass(slots=True)
class OperationSums:
    """Totals of one operation; `grouped` rows stand for several samples each."""

    samples: int = 0
    failed: int = 0
    time: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    least: int | None = None
    most: int | None = None
    grouped: bool = False


@dataclass(slots=True)
class Tally:
    """Everything that was counted; `unit_ns` is that of times."""

    unit_ns: int
    first_ms: int | None = None  # earliest start
    last_ms: int | None = None  # latest end
    knows_bytes_in: bool = True
    knows_bytes_out: bool = True
    totals: dict[str, OperationSums] = field(default_factory=dict)
    _interval_ms: int = INTERVAL_MS
    _numbers: dict[str, int] = field(default_factory=dict)
    _cells: dict[int, _Integers] = field(default_factory=dict)  # cell -> samples, failed
    _active: dict[tuple[int, int], int] = field(default_factory=dict)  # (source, interval) -> most threads
    _entries: list[tuple[_Integers, _Integers, _Integers]] = field(default_factory=list)  # cell, time, count
    _entry_count: int = 0
    _source: int = 0

    @property
    def operations(self) -> list[str]:
        """Every operation, in the order of its first sample."""
        return list(self.totals)

    def next_source(self) -> None:
        """What follows comes from another generator: its active threads add up with those before."""
        self._source += 1

    def add(self, batch: Batch) -> None:
        """Counts a batch."""
        if not batch.operation:
            return
        self.knows_bytes_in &= batch.bytes_in is not None
        self.knows_bytes_out &= batch.bytes_out is not None
        duration_ms = -(-batch.time * self.unit_ns // 1_000_000)
        starts = batch.end_ms - np.where(batch.count == 1, duration_ms, 0)
        first, last = int(starts.min()), int(batch.end_ms.max())
        self.first_ms = first if self.first_ms is None else min(self.first_ms, first)
        self.last_ms = last if self.last_ms is None else max(self.last_ms, last)
        numbers = np.fromiter(
            (self._number(each) for each in batch.operation), dtype=np.int64, count=len(batch.operation)
        )
        self._add_totals(batch, numbers)
        interval = batch.end_ms // self._interval_ms
        self._add_cells(batch, interval * OPERATIONS_MAX + numbers)
        if batch.active is not None:
            self._add_active(interval, batch.active)
        if len(self._cells) > CELLS_MAX or self._entry_count > ENTRIES_MAX:
            self._compact()
            while len(self._cells) > CELLS_MAX or self._entry_count > ENTRIES_MAX // 2:
                if not self._coarsen():
                    break

    def _number(self, operation: str) -> int:
        """The number of an operation; a label that would steer a terminal gets a name that doesn't."""
        number = self._numbers.get(operation)
        if number is not None:
            return number
        is_other = len(self.totals) >= OPERATIONS_MAX - 1 and visible(operation) not in self.totals
        name = OTHER_OPERATIONS if is_other else visible(operation)
        self.totals.setdefault(name, OperationSums())
        number = self.operations.index(name)
        if not is_other:
            self._numbers[operation] = number
        return number

    def _add_totals(self, batch: Batch, numbers: _Integers) -> None:
        names = self.operations
        for number in np.unique(numbers):
            chosen = numbers == number
            sums = self.totals[names[number]]
            count, time = batch.count[chosen], batch.time[chosen]
            sums.samples += int(count.sum())
            sums.failed += int(batch.failed[chosen].sum())
            sums.time += int(time.sum())
            sums.bytes_in += 0 if batch.bytes_in is None else int(batch.bytes_in[chosen].sum())
            sums.bytes_out += 0 if batch.bytes_out is None else int(batch.bytes_out[chosen].sum())
            sums.grouped |= bool((count > 1).any())
            single = time[count == 1]
            if len(single):
                least, most = int(single.min()), int(single.max())
                sums.least = least if sums.least is None else min(sums.least, least)
                sums.most = most if sums.most is None else max(sums.most, most)

    def _add_cells(self, batch: Batch, cells: _Integers) -> None:
        columns = np.stack([batch.count, batch.failed])
        order = np.argsort(cells, kind="stable")
        ordered = cells[order]
        begins = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
        sums = np.add.reduceat(columns[:, order], begins, axis=1)
        for place, cell in enumerate(ordered[begins].tolist()):
            known = self._cells.get(cell)
            self._cells[cell] = sums[:, place].copy() if known is None else known + sums[:, place]
        single = batch.count == 1
        self._append_entries(cells[single], batch.time[single], np.ones(int(single.sum()), dtype=np.int64))

    def _add_active(self, interval: _Integers, active: _Integers) -> None:
        order = np.argsort(interval, kind="stable")
        ordered = interval[order]
        begins = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
        most = np.maximum.reduceat(active[order], begins)
        for each, count in zip(ordered[begins].tolist(), most.tolist(), strict=True):
            key = (self._source, each)
            self._active[key] = max(self._active.get(key, 0), count)

    def _append_entries(self, cells: _Integers, times: _Integers, counts: _Integers) -> None:
        """Adds times to what is kept, equal ones as one entry with their number."""
        if not len(cells):
            return
        order = np.lexsort((times, cells))
        cells, times, counts = cells[order], times[order], counts[order]
        is_new = np.concatenate(([True], (np.diff(cells) != 0) | (np.diff(times) != 0)))
        begins = np.flatnonzero(is_new)
        self._entries.append((cells[begins], times[begins], np.add.reduceat(counts, begins)))
        self._entry_count += len(begins)

    def _compact(self) -> None:
        entries = self._entries
        self._entries, self._entry_count = [], 0
        if entries:
            cells, times, counts = (np.concatenate([each[column] for each in entries]) for column in range(3))
            self._append_entries(cells, times, counts)

    def _coarsen(self) -> bool:
        """Makes intervals twice as long; False when one holds everything."""
        intervals = {cell // OPERATIONS_MAX for cell in self._cells}
        if len(intervals) <= 1:
            return False
        self._interval_ms *= 2
        cells: dict[int, _Integers] = {}
        for cell, sums in self._cells.items():
            place = cell // OPERATIONS_MAX // 2 * OPERATIONS_MAX + cell % OPERATIONS_MAX
            cells[place] = sums if place not in cells else cells[place] + sums
        self._cells = cells
        active: dict[tuple[int, int], int] = {}
        for (source, interval), most in self._active.items():
            key = (source, interval // 2)
            active[key] = max(active.get(key, 0), most)
        self._active = active
        self._entries = [
            (cell // OPERATIONS_MAX // 2 * OPERATIONS_MAX + cell % OPERATIONS_MAX, times, counts)
            for cell, times, counts in self._entries
        ]
        self._compact()
        return True

    def _span_ns(self, interval: int) -> tuple[int, int]:
        """The interval on the run's clock, cut where the run begins and ends."""
        first, last = self.first_ms or 0, self.last_ms or 0
        start = max(interval * self._interval_ms, first) - first
        end = min((interval + 1) * self._interval_ms, max(last, first + 1)) - first
        return start * 1_000_000, max(end, start + 1) * 1_000_000

    def rows(self) -> list[TimeRow]:
        """Counts over time."""
        names = self.operations
        found = []
        for cell, sums in sorted(self._cells.items()):
            start_ns, end_ns = self._span_ns(cell // OPERATIONS_MAX)
            samples, failed = int(sums[0]), int(sums[1])
            operation = names[cell % OPERATIONS_MAX]
            found.append(TimeRow(start_ns=start_ns, end_ns=end_ns, operation=operation, samples=samples, failed=failed))
        return found

    def active(self) -> list[ActiveRow]:
        """Active threads over time, all generators together."""
        most: dict[int, int] = {}
        for (_, interval), count in self._active.items():
            most[interval] = most.get(interval, 0) + count
        found = []
        for interval, count in sorted(most.items()):
            start_ns, end_ns = self._span_ns(interval)
            found.append(ActiveRow(start_ns=start_ns, end_ns=end_ns, active_threads=count))
        return found

    def times(self, clock: str) -> list[IntervalTimes]:
        """Times over time, of operations whose samples all came one by one."""
        self._compact()
        names, found = self.operations, []
        if not self._entries:
            return []
        cells, times, counts = self._entries[0]
        begins = np.flatnonzero(np.diff(cells, prepend=cells[0] - 1)).tolist()
        for begin, end in zip(begins, [*begins[1:], len(cells)], strict=True):
            operation = names[int(cells[begin]) % OPERATIONS_MAX]
            if self.totals[operation].grouped:
                continue
            histogram = ScaledHistogram(self.unit_ns)
            for time, count in zip(times[begin:end].tolist(), counts[begin:end].tolist(), strict=True):
                histogram.record(time * self.unit_ns, count)
            start_ns, end_ns = self._span_ns(int(cells[begin]) // OPERATIONS_MAX)
            found.append(
                IntervalTimes(operation=operation, clock=clock, start_ns=start_ns, end_ns=end_ns,
                              unit_ns=self.unit_ns, text=histogram.encode())
            )  # fmt: skip
        return found
