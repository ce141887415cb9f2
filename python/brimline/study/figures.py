"""Owns figures by reference: what `{growth query_time records=last}` in prose stands for, taken from a report.

A figure that isn't there can't be written: `FigureMissing` says why, and the sentence stays out of the document.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from brimline.analysis.metrics import Known, Metric
from brimline.report.grid import Grid, GridRow
from brimline.report.grid_tables import figure_text
from brimline.report.view import Report, Verdict
from brimline.stats.estimate import interval_tells
from brimline.units import format_bytes, format_count, format_duration, format_number, format_percentage, format_rate
from brimline.wording import Message, Verbatim, joined, message

references = re.compile(r"\{(?P<name>[a-z0-9-]+)\s+(?P<what>[^{}]+?)\s*\}")
"""A reference in prose: the experiment, and which of its figures."""
NUMBER_IN_WORDS = re.compile(r"(?<![\w.])[0-9][0-9.,]*")
"""A figure that somebody typed: digits that are no part of a name such as p99."""
_VERDICT: Mapping[str, Callable[[Report], str]] = {
    "verdict": lambda report: headline(report.verdict),
    "figure": lambda report: quoted(report.verdict),
    "interval": lambda report: report.verdict.interval,
    "caption": lambda report: report.verdict.caption,
    "sentence": lambda report: report.verdict.sentence,
}
_UNITS: Mapping[str, Callable[[float], str]] = {
    "ns": format_duration,
    "s": lambda value: format_duration(value * 1e9),
    "bytes": format_bytes,
    "share": format_percentage,
    "count": lambda value: format_count(round(value)),
}
"""How a value of JSON is written, by the last of these that its key has as a word of its own."""
_PER = "_per_"
_RATES = {
    "ops": "ops/s",
    "documents": "documents/s",
    "entries": "entries/s",
    "queries": "queries/s",
    "commands": "commands/s",
}
"""Units of rates, by the word of their keys that says what is counted."""
_PICKS: Mapping[str, Callable[[list[str]], str]] = {
    "first": lambda levels: levels[0],
    "last": lambda levels: levels[-1],
}
_BEST: Mapping[str, Callable[..., GridRow]] = {"max": max, "min": min}
_ESCAPED = str.maketrans({"{": "{{", "}": "}}", "\0": "{", "\1": "}"})
"""What is written stays; what `name` put between marks is a value."""
_PATH = re.compile(r"\w+(\.\w+)*")


def quoted(verdict: Verdict) -> str:
    """The figure of a verdict with its unit, as words that can be translated; "" where nothing may be quoted."""
    return joined(" ", filter(None, (verdict.figure, verdict.unit))) if verdict.figure else ""


def headline(verdict: Verdict) -> str:
    """What a verdict says in one line, as words that can be translated; "" where nothing may be quoted."""
    if not verdict.figure:
        return ""
    if not verdict.interval:
        return message("{caption}: {figure}", caption=verdict.caption, figure=quoted(verdict))
    return message(
        "{caption}: {figure} ({interval})", caption=verdict.caption, figure=quoted(verdict), interval=verdict.interval
    )


class FigureMissing(Exception):
    """The report has no such figure; the message says why."""


def said(text: str, figure: Callable[[str, str], str]) -> Message:
    """Prose with its figures, each by `figure(experiment, what)`, which may raise FigureMissing."""
    values: dict[str, Any] = {}

    def name(found: re.Match[str]) -> str:
        key = f"figure{len(values)}"
        values[key] = figure(found["name"], found["what"])
        return f"\0{key}\1"

    template = references.sub(name, text).translate(_ESCAPED)
    return Message(template, **values)


def figure_of(report: Report, what: str) -> str:
    """A figure of a report, with its unit, so that it can still be translated.

    `what` is `verdict`, `figure`, `interval` or `sentence` of its verdict; a metric of its figures with levels, as in
    `p99 connections=8`, where a level may be `first` or `last`, and `max` or `min` behind them takes the row of the
    highest or lowest figure, and `at` then gives that row's levels; else a path of its JSON. Raises FigureMissing.
    """
    first, *rest = what.split()
    if first in _VERDICT and not rest:
        if not (text := _VERDICT[first](report)):
            raise FigureMissing(message("its verdict has no {what}", what=Verbatim(first)))
        return text
    for grid in report.grids:
        for metric in grid.known:
            if first in (metric.key, metric.document_key) and _fits(grid, rest):
                return _of_grid(grid, metric, rest)
    if not rest and _PATH.fullmatch(first):
        return _of_json(report.data, first)
    raise FigureMissing(message("it has no figure {what}", what=Verbatim(what)))


def _fits(grid: Grid, words: list[str]) -> bool:
    names = {axis.name for axis in grid.axes}
    return all(name in names for name, equals, _ in (word.partition("=") for word in words) if equals)


def _of_grid(grid: Grid, metric: Metric, words: list[str]) -> str:
    rows = [row for row in grid.rows if metric.key in row.figures]
    at: int | None = None
    for word in words:
        name, equals, level = word.partition("=")
        if equals:
            place = next(index for index, axis in enumerate(grid.axes) if axis.name == name)
            wanted = _PICKS[level](list(grid.levels_of(place))) if level in _PICKS else level
            rows = [row for row in rows if row.levels[place] == wanted]
        elif word in _BEST and rows:
            rows = [_BEST[word](rows, key=lambda row: row.figures[metric.key].value)]
        elif (index := _axis_asked(grid, word)) is not None:
            at = index
        else:
            raise FigureMissing(message("{word} says nothing of its figures", word=Verbatim(word)))
    if len(rows) != 1:
        raise FigureMissing(message("{what} has {count} figures there, not one", what=metric.key, count=len(rows)))
    return Verbatim(rows[0].levels[at]) if at is not None else _with_interval(metric, rows[0].figures[metric.key])


def _axis_asked(grid: Grid, word: str) -> int | None:
    """`at-connections` asks for the level of that axis."""
    return next((index for index, axis in enumerate(grid.axes) if word == f"at-{axis.name}"), None)


def _with_interval(metric: Metric, figure: Known) -> str:
    value = figure_text(metric, figure)
    if figure.low is None or figure.high is None:
        return value
    if not interval_tells(figure.value, figure.low, figure.high):
        return message("{value} (interval can't be told)", value=value)
    low, high = (figure_text(metric, Known(each)) for each in (figure.low, figure.high))
    return message("{value} ({low} to {high})", value=value, low=low, high=high)


def _of_json(document: Any, path: str) -> str:
    value = document
    for key in path.split("."):
        if isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, Mapping) and key in value:
            value = value[key]
        else:
            raise FigureMissing(message("it has no figure {what}", what=Verbatim(path)))
    if isinstance(value, bool) or not isinstance(value, int | float):
        if isinstance(value, str) and value:
            return value
        raise FigureMissing(message("it has no figure {what}", what=Verbatim(path)))
    return value_text(next(key for key in reversed(path.split(".")) if not key.isdigit()), value)


def value_text(key: str, value: float) -> str:
    """A value of JSON with the unit that its key says, as in `p99_ns`, `entries_per_s` and `cpu_ns_per_row`."""
    what, _, per = key.partition(_PER) if _PER in key else (key.removeprefix("per_"), "", "")
    words = what.split("_")
    unit = next((_UNITS[word] for word in reversed(words) if word in _UNITS), None)
    if unit is not None:
        text = unit(value)
    elif per == "s":
        return format_rate(value, unit=next((_RATES[word] for word in reversed(words) if word in _RATES), "/s"))
    else:
        text = format_count(value) if isinstance(value, int) else format_number(value)
    return joined("", (text, Verbatim(f"/{per.replace('_', ' ')}"))) if per else text
