"""Owns arithmetic on the monitor's rows of the measured window: rates of counters, means of gauges.

A column that is missing or empty gives None, never 0. A counter that fell back (the server was started again) has no
rate.
"""

from collections.abc import Iterable, Sequence
from typing import Self

from brimline.analysis.server_column import number
from brimline.record.model import ServerRow


class ServerWindow:
    """The rows between two instants of the run's clock."""

    def __init__(self, rows: Sequence[ServerRow]) -> None:
        self._rows = rows

    @classmethod
    def of(cls, rows: Sequence[ServerRow], *, start_ns: int, end_ns: int) -> Self:
        """The rows whose `at_ns` lies in the window, both ends included."""
        timed = ((number(row, "at_ns"), row) for row in rows)
        return cls([row for at_ns, row in timed if at_ns is not None and start_ns <= at_ns <= end_ns])

    @property
    def rows(self) -> Sequence[ServerRow]:
        """The rows themselves, in order."""
        return self._rows

    def rate(self, *columns: str) -> float | None:
        """Growth per second of the sum of some counters, between the first and the last row that have all of them."""
        ends = self._ends(columns)
        if ends is None:
            return None
        first, last, elapsed_s = ends
        return _growth(first, last, columns, per=elapsed_s)

    def ratio(self, counted: Iterable[str], per: Iterable[str]) -> float | None:
        """Growth of some counters for each step of others, over the rows that have all of them; None without a step."""
        above, below = tuple(counted), tuple(per)
        ends = self._ends((*above, *below))
        if ends is None:
            return None
        first, last, _ = ends
        steps = _growth(first, last, below, per=1)
        return _growth(first, last, above, per=steps) if steps else None

    def mean(self, column: str) -> float | None:
        """Mean of a gauge over the rows that have it."""
        values = self.values(column)
        return sum(values) / len(values) if values else None

    def highest(self, column: str) -> float | None:
        """Largest value of a gauge."""
        return max(self.values(column), default=None)

    def lowest(self, column: str) -> float | None:
        """Smallest value of a gauge."""
        return min(self.values(column), default=None)

    def last(self, column: str) -> float | None:
        """The last value of a column."""
        return next(iter(self.values(column)[::-1]), None)

    def mean_share(self, part: str, whole: str) -> float | None:
        """Mean of a gauge divided by another one of the same row."""
        pairs = [(number(row, part), number(row, whole)) for row in self._rows]
        shares = [above / below for above, below in pairs if above is not None and below]
        return sum(shares) / len(shares) if shares else None

    def values(self, column: str) -> list[float]:
        """What the rows that have a column say."""
        return [value for row in self._rows if (value := number(row, column)) is not None]

    def _ends(self, columns: Iterable[str]) -> tuple[ServerRow, ServerRow, float] | None:
        """First and last row that have all of the columns, and the seconds between them; None without two of them."""
        names = tuple(columns)
        whole = [row for row in self._rows if all(number(row, name) is not None for name in names)]
        if len(whole) < 2:
            return None
        elapsed_s = ((number(whole[-1], "at_ns") or 0) - (number(whole[0], "at_ns") or 0)) / 1e9
        return (whole[0], whole[-1], elapsed_s) if elapsed_s > 0 else None


def _growth(first: ServerRow, last: ServerRow, columns: Iterable[str], *, per: float | None) -> float | None:
    """Sum of the growth of some counters divided by `per`; None when one fell back."""
    steps = [(number(last, name) or 0) - (number(first, name) or 0) for name in columns]
    return None if not per or min(steps) < 0 else sum(steps) / per
