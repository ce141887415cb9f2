"""Owns arithmetic on the monitor's rows of the measured window: rates of counters, means of gauges.

A column that is missing or empty gives None, never 0. A counter that fell back (the server was started again) has no
rate. Where a followed set got another primary, the next row's counters are those of another server: they are never
subtracted across the change, and what grew is added up over the stays at each server. Each column is converted once,
however often it is asked for: a long run has thousands of rows and dozens of questions.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from brimline.record.model import Scalar, ServerRow
from brimline.record.named_times import read_named_times
from brimline.servers.deployment import CPU_COUNT_MAX
from brimline.units import NS_PER_S

Column: TypeAlias = NDArray[np.float64]
"""What a column says row by row; NaN where the monitor saw nothing, or something that is no number."""

_NUMBERS = (int, float)
_BELOW = 2.0**63
"""What no counter or gauge reaches, whoever tells: a server, its host, or a file."""
_CPU_COUNTS = ("server_cpu_count", "host_cpu_count")
_PER_S_MAX = {
    **dict.fromkeys(("host_busy_ns", "host_iowait_ns", "server_cpu_ns", "members_cpu_ns"), CPU_COUNT_MAX * NS_PER_S),
    **dict.fromkeys(("host_network_bytes_in", "host_network_bytes_out"), 1e13),
    "disk_busy_ms": 10_000,
}
"""What no counter of a host grows by in a second, whoever tells: a look may be off its instant, but not ten times."""


class ServerWindow:
    """The rows between two instants of the run's clock."""

    def __init__(self, rows: Sequence[ServerRow]) -> None:
        self._rows = rows
        self._columns: dict[str, Column] = {}
        self._stays = _stays(rows)

    @classmethod
    def of(cls, rows: Sequence[ServerRow], *, start_ns: int, end_ns: int) -> Self:
        """The rows whose `at_ns` lies in the window, both ends included."""
        return cls([row for row in rows if start_ns <= _number(row.get("at_ns")) <= end_ns])

    def column(self, name: str) -> Column:
        """One column of all rows."""
        if name not in self._columns:
            column = np.array([_number(row.get(name)) for row in self._rows], dtype=np.float64)
            # Only instants can lie before the zero of their clock.
            cant_be = ((column < 0) & (name != "at_ns")) | ((column > CPU_COUNT_MAX) & (name in _CPU_COUNTS))
            self._columns[name] = np.where(cant_be, np.nan, column)
        return self._columns[name]

    @property
    def times_s(self) -> Column:
        """When each row was seen, since the run's start."""
        return np.nan_to_num(self.column("at_ns")) / NS_PER_S

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Of each row but the first, whether another server is watched from it on."""
        stays: NDArray[np.bool_] = np.diff(self._stays) != 0
        return stays

    def latest_stay(self) -> "ServerWindow":
        """The rows since the last change of the server; all where there was none."""
        return ServerWindow([row for row, stay in zip(self._rows, self._stays, strict=True) if stay == self._stays[-1]])

    def growth(self, column: str) -> float | None:
        """What a counter grew by while the same servers were watched; None without two rows of one, or when it fell."""
        ends = self._ends((column,))
        return self._growth(ends, (column,), per=1) if ends else None

    def rate(self, *columns: str) -> float | None:
        """Growth per second of the sum of some counters, between the first and the last row that have all of them.

        Where the server changed, between those of each stay at one.
        """
        ends = self._ends(columns)
        at_ns = np.nan_to_num(self.column("at_ns"))
        elapsed_s = sum(float(at_ns[last] - at_ns[first]) / NS_PER_S for first, last in ends)
        return self._growth(ends, columns, per=elapsed_s) if elapsed_s > 0 else None

    def named_rates(self, column: str, *, absent_is_zero: bool) -> dict[str, float]:
        """By name, growth per second of the times in the cells of a column (`record.named_times`), over each stay.

        `absent_is_zero`: a name that a cell lacks had no time yet; else it is known from its first cell on.
        """
        grown, elapsed_s = Counter[str](), 0.0
        at_ns = np.nan_to_num(self.column("at_ns"))
        told = [(place, times) for place, row in enumerate(self._rows) if (times := row.get(column)) is not None]
        for _, stay in groupby(told, key=lambda each: int(self._stays[each[0]])):
            cells = [(place, read_named_times(text)) for place, text in stay]
            elapsed_s += float(at_ns[cells[-1][0]] - at_ns[cells[0][0]]) / NS_PER_S
            for name, last_ns in cells[-1][1].items():
                first_ns = next((times[name] for _, times in cells if name in times), 0)
                grown[name] += last_ns - (cells[0][1].get(name, 0) if absent_is_zero else first_ns)
        return {name: max(time_ns, 0) / elapsed_s for name, time_ns in grown.most_common()} if elapsed_s > 0 else {}

    def ratio(self, counted: Iterable[str], per: Iterable[str]) -> float | None:
        """Growth of some counters for each step of others, over the rows that have all of them; None without a step."""
        above, below = tuple(counted), tuple(per)
        ends = self._ends((*above, *below))
        steps = self._growth(ends, below, per=1)
        return self._growth(ends, above, per=steps) if steps else None

    def mean(self, column: str) -> float | None:
        """Mean of a gauge over the rows that have it."""
        return _mean(self.values(column))

    def highest(self, column: str) -> float | None:
        """Largest value of a gauge."""
        return max(self.values(column), default=None)

    def lowest(self, column: str) -> float | None:
        """Smallest value of a gauge."""
        return min(self.values(column), default=None)

    def last(self, column: str) -> float | None:
        """The last value of a column."""
        return next(iter(self.values(column)[::-1]), None)

    def last_text(self, column: str) -> str:
        """The last that a column of words says; "" where none does."""
        return next((text for row in reversed(self._rows) if isinstance(text := row.get(column), str) and text), "")

    def shares(self, part: str, whole: str) -> list[float]:
        """One gauge divided by another one of the same row, of the rows that have both."""
        return _known(quotients(self.column(part), self.column(whole)))

    def mean_share(self, part: str, whole: str) -> float | None:
        """Mean of a gauge divided by another one of the same row."""
        return _mean(self.shares(part, whole))

    def values(self, column: str) -> list[float]:
        """What the rows that have a column say."""
        return _known(self.column(column))

    def told_count(self, column: str) -> int:
        """How many rows say something in a column, be it what no counter says."""
        return sum(row.get(column) is not None for row in self._rows)

    def _ends(self, columns: Iterable[str]) -> list[tuple[int, int]]:
        """First and last row that have all of the columns, of each stay at a server that has two of them."""
        whole = np.flatnonzero(~np.any([np.isnan(self.column(name)) for name in columns], axis=0))
        stays = np.split(whole, np.flatnonzero(np.diff(self._stays[whole])) + 1)
        return [(int(stay[0]), int(stay[-1])) for stay in stays if len(stay) > 1]

    def _growth(self, ends: Sequence[tuple[int, int]], columns: Iterable[str], *, per: float | None) -> float | None:
        """Sum of the growth of some counters divided by `per`; None when one can't be, and without any growth seen."""
        names = tuple(columns)
        steps = [float(self.column(name)[last] - self.column(name)[first]) for name in names for first, last in ends]
        cant_be = any(self._cant_be(name, first, last) for name in names for first, last in ends)
        return None if not per or not steps or cant_be else sum(steps) / per

    def _cant_be(self, name: str, first: int, last: int) -> bool:
        """Whether a counter fell back between two rows, or grew by more than one does."""
        column = self.column(name)[first : last + 1]
        most = _PER_S_MAX.get(name, np.inf) * float(self.times_s[last] - self.times_s[first])
        return _falls(column) or float(column[-1] - column[0]) > most


def is_of_another_server(later: ServerRow, earlier: ServerRow) -> bool:
    """Whether two rows are of different servers; rows that don't say are of the same."""
    before, after = earlier.get("server"), later.get("server")
    return bool(before) and bool(after) and before != after


def _stays(rows: Sequence[ServerRow]) -> NDArray[np.int64]:
    """Numbers the stays at a server: one more from the row on that is of another than the last row that says."""
    numbers = np.zeros(len(rows), dtype=np.int64)
    number, earlier = 0, None
    for place, row in enumerate(rows):
        if row.get("server"):
            number += earlier is not None and is_of_another_server(row, earlier)
            earlier = row
        numbers[place] = number
    return numbers


def quotients(parts: Column, wholes: Column) -> Column:
    """Each of `parts` divided by its whole; NaN where either is missing or the whole is 0."""
    shares: Column = np.divide(parts, wholes, out=np.full(len(parts), np.nan), where=wholes != 0)
    return shares


def _number(value: Scalar) -> float:
    return float(value) if isinstance(value, _NUMBERS) and -_BELOW < value < _BELOW else np.nan


def _falls(counter: Column) -> bool:
    """Whether a counter ever says less than before: its server was started again, or what it says can't be."""
    return bool(np.any(np.diff(counter[~np.isnan(counter)]) < 0))


def _known(column: Column) -> list[float]:
    known: list[float] = column[~np.isnan(column)].tolist()
    return known


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
