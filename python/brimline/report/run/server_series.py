"""Owns what the monitor's rows say over time: gauges as they are, counters as rates, gaps where nothing was seen."""

import numpy as np

from brimline.analysis.server_window import Column, ServerWindow, quotients
from brimline.report.panels import Point
from brimline.units import NS_PER_S


def gauge(window: ServerWindow, column: str, *, scale: float = 1.0) -> list[Point]:
    """The column's value at each look, times `scale`."""
    return _looks(window, window.column(column) * scale)


def share(window: ServerWindow, part: str, whole: str, *, scale: float = 1.0) -> list[Point]:
    """One gauge as a part of another one at each look, times `scale`."""
    return _looks(window, quotients(window.column(part), window.column(whole)) * scale)


def rate(window: ServerWindow, column: str, *, scale: float = 1.0) -> list[Point]:
    """A counter's growth per second between looks, times `scale`; drawn in the middle between them."""
    return ratio_of_growth(window, column, "at_ns", scale=scale * NS_PER_S)


def cpu_share(window: ServerWindow, busy: str, cpu_count: str) -> list[Point]:
    """CPU time in ns that was used between looks, in per cent of what that many CPUs have."""
    cpus = quotients(_growth(window, busy), _growth(window, "at_ns"))
    return _points(_middles_s(window), quotients(cpus, window.column(cpu_count)[1:]) * 100.0)


def ratio_of_growth(window: ServerWindow, part: str, whole: str, *, scale: float = 1.0) -> list[Point]:
    """Growth of one counter per growth of another between looks, times `scale`; a gap where either fell or stood."""
    return _points(_middles_s(window), quotients(_growth(window, part), _growth(window, whole)) * scale)


def grown_between(window: ServerWindow, column: str, *, while_gauge: str) -> list[tuple[float, float]]:
    """Spans between looks in which a counter grew or `while_gauge` was not 0, neighbouring ones joined."""
    times_s = window.times_s.tolist()
    at_work = (_growth(window, column) > 0) | (np.nan_to_num(window.column(while_gauge)[1:]) != 0)
    at_work &= ~window.moved
    spans: list[tuple[float, float]] = []
    for place in np.flatnonzero(at_work):
        start, end = times_s[place], times_s[place + 1]
        if spans and spans[-1][1] >= start:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _middles_s(window: ServerWindow) -> Column:
    times_s = window.times_s
    middles: Column = (times_s[:-1] + times_s[1:]) / 2
    return middles


def _growth(window: ServerWindow, column: str) -> Column:
    """Between neighbouring looks; NaN also where it fell (the server was started again) or the server changed."""
    grown = np.diff(window.column(column))
    grown[(grown < 0) | window.moved] = np.nan
    return grown


def _looks(window: ServerWindow, values: Column) -> list[Point]:
    """A value for each look, and a gap at each change of the server."""
    places = np.flatnonzero(window.moved)
    return _points(
        np.insert(window.times_s, places + 1, _middles_s(window)[places]), np.insert(values, places + 1, np.nan)
    )


def _points(times_s: Column, values: Column) -> list[Point]:
    known = [None if missing else value for value, missing in zip(values.tolist(), np.isnan(values), strict=True)]
    return list(zip(times_s.tolist(), known, strict=True))
