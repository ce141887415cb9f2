"""Owns the figure of docs/concepts/capacity-search.md: what its tables of simulated searches say, side by side."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from brimline.report.figures import GRID, INK, MUTED, OFFERED, THROUGHPUT

_TABLE = re.compile(r"^\| windows \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", re.MULTILINE)
_NAMES, _COLUMNS, _GAP, _ROW, _TOP = 236, 196, 24, 30, 74
"""Widths and heights in pixels."""


@dataclass(frozen=True, slots=True)
class _Panel:
    """One column of the tables: the share of its width that a cell takes."""

    title: str
    column: str
    share: Callable[[str], float]


def _percentage(cell: str) -> float:
    return abs(float(cell.removesuffix("%"))) / 100


def _of_all(cell: str) -> float:
    found, count = cell.split(" of ")
    return int(found) / int(count)


_PANELS = (
    _Panel("searches with a figure", "figures", _of_all),
    _Panel("95 % intervals that hold the truth", "coverage", _percentage),
    _Panel("mean size of errors, to 20 %", "mean size of errors", lambda cell: _percentage(cell) / 0.2),
    _Panel("probe time, to 100 s", "time", lambda cell: float(cell.removesuffix(" s")) / 100),
)


def searches_figure(page: str) -> str:
    """The SVG of a page whose first table is of the search in stages, and the last of today's in no more time."""
    before, *_, now = (_rows(each) for each in _TABLE.findall(page))
    both = [name for name in now if name in before]
    width, height = _NAMES + len(_PANELS) * (_COLUMNS + _GAP), _TOP + len(both) * _ROW + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="13" fill="{INK}" role="img">',
        "<title>Simulated searches of known servers: the search in stages, and today's in no more time</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *_key(),
    ]
    for place, name in enumerate(both):
        lines.append(f'<text x="8" y="{_TOP + place * _ROW + 18}">{name}</text>')
    for number, panel in enumerate(_PANELS):
        x = _NAMES + number * (_COLUMNS + _GAP)
        lines.append(f'<text x="{x}" y="{_TOP - 12}" font-size="11.5" fill="{MUTED}">{panel.title}</text>')
        for place, name in enumerate(both):
            y = _TOP + place * _ROW
            lines.append(f'<path d="M{x} {y + 26.5}h{_COLUMNS}" stroke="{GRID}"/>')
            lines += _bar(x, y + 3, panel, before[name], OFFERED)
            lines += _bar(x, y + 14, panel, now[name], THROUGHPUT)
    return "\n".join([*lines, "</svg>", ""])


def _rows(table: str) -> Mapping[str, Mapping[str, str]]:
    """The cells of each row by the head of their column."""
    heads = ("figures", "coverage", "mean error", "mean size of errors", "verified", "median width", "time")
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    return {name: dict(zip(heads, cells, strict=True)) for name, *cells in rows}


def _bar(x: int, y: int, panel: _Panel, row: Mapping[str, str], color: str) -> Iterator[str]:
    """A bar with the cell behind it, or inside of it where there is no room."""
    cell = row[panel.column]
    length = min(panel.share(cell), 1.0) * _COLUMNS
    inside = length > _COLUMNS - 52
    at, anchor, ink = (x + length - 4, "end", "#fff") if inside else (x + length + 4, "start", INK)
    yield f'<rect x="{x}" y="{y}" width="{max(length, 1):.1f}" height="10" fill="{color}"/>'
    yield f'<text x="{at:.1f}" y="{y + 9}" font-size="10" text-anchor="{anchor}" fill="{ink}">{cell}</text>'


def _key() -> Iterator[str]:
    for x, color, what in ((8, OFFERED, "in stages, up to November 2026"), (250, THROUGHPUT, "today, in no more time")):
        yield f'<rect x="{x}" y="16" width="14" height="10" fill="{color}"/><text x="{x + 20}" y="26">{what}</text>'
