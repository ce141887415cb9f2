"""Owns what the monitor's rows say over time: gauges as they are, counters as rates, gaps where nothing was seen."""

from collections.abc import Sequence
from itertools import pairwise

from brimline.analysis.server_column import number
from brimline.record.model import ServerRow
from brimline.report.panels import Point
from brimline.units import NS_PER_S


def gauge(rows: Sequence[ServerRow], column: str, *, scale: float = 1.0) -> list[Point]:
    """The column's value at each look, times `scale`."""
    return [(_time_s(row), _times(number(row, column), scale)) for row in rows]


def share(rows: Sequence[ServerRow], part: str, whole: str, *, scale: float = 1.0) -> list[Point]:
    """One gauge as a part of another one at each look, times `scale`."""
    return [(_time_s(row), _times(_ratio(number(row, part), number(row, whole)), scale)) for row in rows]


def rate(rows: Sequence[ServerRow], column: str, *, scale: float = 1.0) -> list[Point]:
    """A counter's growth per second between looks, times `scale`; drawn in the middle between them."""
    return ratio_of_growth(rows, column, "at_ns", scale=scale * NS_PER_S)


def cpu_share(rows: Sequence[ServerRow], busy: str, cpu_count: str) -> list[Point]:
    """CPU time in ns that was used between looks, in per cent of what that many CPUs have."""
    return [
        (time_s, _times(_ratio(cpus, number(after, cpu_count)), 100.0))
        for (time_s, cpus), (_, after) in zip(ratio_of_growth(rows, busy, "at_ns"), pairwise(rows), strict=True)
    ]


def ratio_of_growth(rows: Sequence[ServerRow], part: str, whole: str, *, scale: float = 1.0) -> list[Point]:
    """Growth of one counter per growth of another between looks, times `scale`; a gap where either fell or stood."""
    return [
        (
            (_time_s(before) + _time_s(after)) / 2,
            _times(_ratio(_growth(before, after, part), _growth(before, after, whole)), scale),
        )
        for before, after in pairwise(rows)
    ]


def grown_between(rows: Sequence[ServerRow], column: str, *, while_gauge: str) -> list[tuple[float, float]]:
    """Spans between looks in which a counter grew or `while_gauge` was not 0, neighbouring ones joined."""
    spans: list[tuple[float, float]] = []
    for before, after in pairwise(rows):
        if not (_growth(before, after, column) or number(after, while_gauge)):
            continue
        start, end = _time_s(before), _time_s(after)
        if spans and spans[-1][1] >= start:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _time_s(row: ServerRow) -> float:
    return (number(row, "at_ns") or 0.0) / NS_PER_S


def _growth(before: ServerRow, after: ServerRow, column: str) -> float | None:
    """None also where it fell: the server was started again."""
    first, last = number(before, column), number(after, column)
    return None if first is None or last is None or last < first else last - first


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
