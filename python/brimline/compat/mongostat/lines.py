"""Owns lines of output: a table whose columns only ever grow wider, and JSON."""

import json
from collections.abc import Iterable, Iterator, Sequence

from brimline.compat.mongostat.columns import StatInterval
from brimline.compat.mongostat.fields import Field, chosen_fields
from brimline.errors import on_one_line

HEADINGS_EVERY = 10
"""Rows from one line of headings to the next."""


class StatTable:
    """Right-aligned columns, one blank apart. A column is as wide as its heading and every value so far."""

    def __init__(self, fields: Sequence[Field], *, headings: bool = True) -> None:
        self._fields = tuple(fields)
        self._headings = [field.heading for field in fields]
        self._shows_headings = headings
        self._widths = [len(heading) for heading in self._headings]
        self._row_count = 0

    def lines(self, interval: StatInterval, *, human: bool) -> list[str]:
        """The line of a row, with that of the headings before it when it is time for them."""
        values = [field.text(interval, human=human) for field in self._fields]
        self._widths = [max(width, len(value)) for width, value in zip(self._widths, values, strict=True)]
        due = self._shows_headings and self._row_count % HEADINGS_EVERY == 0
        self._row_count += 1
        return [self._line(each) for each in ([self._headings, values] if due else [values])]

    def _line(self, cells: Sequence[str]) -> str:
        return " ".join(cell.rjust(width) for cell, width in zip(cells, self._widths, strict=True))


def json_line(fields: Sequence[Field], interval: StatInterval, *, human: bool) -> str:
    """One object by host, with every value a string, as mongostat has it; the time of day without its date."""
    values = {
        field.heading: f"{interval.at:%H:%M:%S}" if field.source == "time" else field.text(interval, human=human)
        for field in fields
    }
    return json.dumps({interval.host: values}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def table_lines(
    intervals: Iterable[StatInterval], only: Sequence[Field], more: Sequence[Field], *, human: bool, headings: bool
) -> Iterator[str]:
    """The lines of all `intervals`; which columns there are is settled by what the first of them shows."""
    table: StatTable | None = None
    for interval in intervals:
        table = table or StatTable(chosen_fields(interval.after, only=only, more=more), headings=headings)
        yield from map(on_one_line, table.lines(interval, human=human))


def json_lines(
    intervals: Iterable[StatInterval], only: Sequence[Field], more: Sequence[Field], *, human: bool
) -> Iterator[str]:
    """An object a line for each of `intervals`."""
    for interval in intervals:
        yield json_line(chosen_fields(interval.after, only=only, more=more), interval, human=human)
