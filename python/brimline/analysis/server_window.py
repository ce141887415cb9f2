"""Owns arithmetic on the monitor's rows of the measured window: rates of counters, means of gauges.

A column that is missing or empty gives None, never 0. A counter that fell back (the server was started again) has no
rate. Each column is converted once, however often it is asked for: a long run has thousands of rows and dozens of
questions.
"""

from collections.abc import Iterable, Sequence
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from brimline.record.model import Scalar, ServerRow
from brimline.units import NS_PER_S

Column: TypeAlias = NDArray[np.float64]
"""What a column says row by row; NaN where the monitor saw nothing, or something that is no number."""

_NUMBERS = (int, float)


class ServerWindow:
    """The rows between two instants of the run's clock."""

    def __init__(self, rows: Sequence[ServerRow]) -> None:
        self._rows = rows
        self._columns: dict[str, Column] = {}

    @classmethod
    def of(cls, rows: Sequence[ServerRow], *, start_ns: int, end_ns: int) -> Self:
        """The rows whose `at_ns` lies in the window, both ends included."""
        return cls([row for row in rows if start_ns <= _number(row.get("at_ns")) <= end_ns])

    def column(self, name: str) -> Column:
        """One column of all rows."""
        if name not in self._columns:
            self._columns[name] = np.array([_number(row.get(name)) for row in self._rows], dtype=np.float64)
        return self._columns[name]

    @property
    def times_s(self) -> Column:
        """When each row was seen, since the run's start."""
        return np.nan_to_num(self.column("at_ns")) / NS_PER_S

    def rate(self, *columns: str) -> float | None:
        """Growth per second of the sum of some counters, between the first and the last row that have all of them."""
        ends = self._ends(columns)
        if ends is None:
            return None
        first, last, elapsed_s = ends
        return self._growth(first, last, columns, per=elapsed_s)

    def ratio(self, counted: Iterable[str], per: Iterable[str]) -> float | None:
        """Growth of some counters for each step of others, over the rows that have all of them; None without a step."""
        above, below = tuple(counted), tuple(per)
        ends = self._ends((*above, *below))
        if ends is None:
            return None
        first, last, _ = ends
        steps = self._growth(first, last, below, per=1)
        return self._growth(first, last, above, per=steps) if steps else None

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

    def shares(self, part: str, whole: str) -> list[float]:
        """One gauge divided by another one of the same row, of the rows that have both."""
        return _known(quotients(self.column(part), self.column(whole)))

    def mean_share(self, part: str, whole: str) -> float | None:
        """Mean of a gauge divided by another one of the same row."""
        return _mean(self.shares(part, whole))

    def values(self, column: str) -> list[float]:
        """What the rows that have a column say."""
        return _known(self.column(column))

    def _ends(self, columns: Iterable[str]) -> tuple[int, int, float] | None:
        """First and last row that have all of the columns, and the seconds between them; None without two of them."""
        whole = np.flatnonzero(~np.any([np.isnan(self.column(name)) for name in columns], axis=0))
        if len(whole) < 2:
            return None
        first, last = int(whole[0]), int(whole[-1])
        at_ns = np.nan_to_num(self.column("at_ns"))
        elapsed_s = float(at_ns[last] - at_ns[first]) / NS_PER_S
        return (first, last, elapsed_s) if elapsed_s > 0 else None

    def _growth(self, first: int, last: int, columns: Iterable[str], *, per: float | None) -> float | None:
        """Sum of the growth of some counters divided by `per`; None when one fell back."""
        steps = [float(self.column(name)[last] - self.column(name)[first]) for name in columns]
        return None if not per or min(steps) < 0 else sum(steps) / per


def quotients(parts: Column, wholes: Column) -> Column:
    """Each of `parts` divided by its whole; NaN where either is missing or the whole is 0."""
    shares: Column = np.divide(parts, wholes, out=np.full(len(parts), np.nan), where=wholes != 0)
    return shares


def _number(value: Scalar) -> float:
    return float(value) if isinstance(value, _NUMBERS) else np.nan


def _known(column: Column) -> list[float]:
    known: list[float] = column[~np.isnan(column)].tolist()
    return known


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
