"""Owns the figure of docs/guides/drivers.md: what its tables say of two drivers, beside the report that is repeated."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log10

from brimline.report.figures import FONT, GRID, INK, MUTED, SERIES

_CHINESE = {
    "blocking": "阻塞式",
    "asynchronous": "异步",
    "here, two cores": "此处，两个核",
    "the report, four cores": "原报告，四个核",
    "throughput, ops/s": "吞吐量，ops/s",
    "mean time, ms, logarithmic": "平均时间，ms，对数轴",
    "connections at the server": "服务器端的连接数",
    "threads": "线程数",
    "load": "加载",
    "run": "运行",
}
_ROW = re.compile(r"^\| (\d+) \|(.*)\|$", re.MULTILINE)
_ORIGINAL = re.compile(r"^\| (?:the report|原报告)[^\n]*\n\|[-:|]+\|\n((?:\|.*\n)+)", re.MULTILINE)
_LEFT, _TOP, _WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 58, 62, 330, 150, 74, 54
"""Widths and heights in pixels."""
_THREADS_MAX = 80


@dataclass(frozen=True, slots=True)
class _Point:
    """A figure at so many threads; `half` of its interval, as a share of it."""

    threads: int
    value: float
    half: float = 0.0
    label: str = ""


@dataclass(frozen=True, slots=True)
class _Panel:
    """A chart: the points of either driver, and the ends and marks of its vertical axis."""

    title: str
    drivers: Sequence[Sequence[_Point]]
    ticks: Sequence[float]
    logarithmic: bool = False

    def y(self, value: float) -> float:
        """Where `value` is, in pixels from the top of the chart."""
        scale = log10 if self.logarithmic else float
        low, high = scale(self.ticks[0]), scale(self.ticks[-1])
        return round(_HEIGHT * (1 - (scale(min(max(value, self.ticks[0]), self.ticks[-1])) - low) / (high - low)), 1)


def drivers_figure(page: str, *, chinese: bool) -> str:
    """The SVG of a page that has a table of threads, and behind it one of the report's own figures."""
    words: Mapping[str, str] = _CHINESE if chinese else {word: word for word in _CHINESE}
    width, height = _LEFT + 2 * _WIDTH + _GAP_X + 12, _TOP + 3 * (_HEIGHT + _GAP_Y) + 2
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family=\'{FONT}\' font-size="12" fill="{INK}" role="img">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, name in enumerate(("blocking", "asynchronous")):
        x = _LEFT + 130 * number
        lines.append(f'<path d="M{x} 14h22" stroke="{SERIES[number]}" stroke-width="2"/>')
        lines.append(f'<text x="{x + 28}" y="18">{words[name]}</text>')
    for column, (heading, panels) in enumerate(
        (("here, two cores", _here(page)), ("the report, four cores", _original(page)))
    ):
        x = _LEFT + column * (_WIDTH + _GAP_X)
        lines.append(f'<text x="{x}" y="40" font-weight="600">{words[heading]}</text>')
        for row, panel in enumerate(panels):
            y = _TOP + row * (_HEIGHT + _GAP_Y)
            lines += [f'<g transform="translate({x} {y})">', *_drawn(panel, words), "</g>"]
    return "\n".join([*lines, "</svg>", ""])


def _here(page: str) -> Iterator[_Panel]:
    """By the columns of the table of threads: throughput, mean of a read, and connections, of either as many."""
    rows = [(int(threads), [cell.strip() for cell in rest.split("|")]) for threads, rest in _ROW.findall(page)]

    def points(column: int) -> list[_Point]:
        return [_Point(threads, *_number(cells[column])) for threads, cells in rows]

    yield _Panel("throughput, ops/s", (points(0), points(1)), (0, 2500, 5000, 7500, 10_000))
    yield _Panel("mean time, ms, logarithmic", (points(2), points(3)), (0.1, 1, 10, 100), logarithmic=True)
    yield _Panel("connections at the server", (points(6), points(6)), (0, 10, 20, 30, 40))


def _original(page: str) -> Iterator[_Panel]:
    """What the report says of 20 threads: loading, running, the mean that follows from it, and connections."""
    found = _ORIGINAL.search(page)
    assert found is not None, "the page has a table of the report's figures"  # noqa: S101 - a test draws it
    load, run, mean, connections = (
        [_number(cell)[0] for cell in line.strip("|").split("|")[1:]] for line in found[1].splitlines()
    )
    at = 20
    both = [[_Point(at, load[place], label="load"), _Point(at, run[place], label="run")] for place in (0, 1)]
    yield _Panel("throughput, ops/s", both, (0, 10_000, 20_000, 30_000))
    yield _Panel(
        "mean time, ms, logarithmic", [[_Point(at, each)] for each in mean], (0.1, 1, 10, 100), logarithmic=True
    )
    yield _Panel("connections at the server", [[_Point(at, each)] for each in connections], (0, 10, 20, 30, 40))


def _number(cell: str) -> tuple[float, float]:
    """A figure and half of its interval as a share: `4 379 ± 1.6 %`, `0.20 ms ± 2.3 %`, `37`."""
    value, _, half = cell.partition("±")
    share = half.strip().removesuffix("%").replace(" ", "")
    return float(value.removesuffix("ms ").strip().removesuffix("ms").replace(" ", "")), float(share or 0) / 100


def _drawn(panel: _Panel, words: Mapping[str, str]) -> Iterator[str]:
    yield f'<text y="-8" fill="{MUTED}">{words[panel.title]}</text>'
    style = f'font-size="11" fill="{MUTED}"'
    for tick in panel.ticks:
        y = panel.y(tick)
        text = f"{tick:,g}".replace(",", "\u202f")
        yield f'<path d="M0 {y}h{_WIDTH}" stroke="{GRID}"/>'
        yield f'<text x="-8" y="{y + 4}" text-anchor="end" {style}>{text}</text>'
    for threads in (1, 20, 40, 60, _THREADS_MAX):
        yield f'<text x="{_x(threads)}" y="{_HEIGHT + 15}" text-anchor="middle" {style}>{threads}</text>'
    yield f'<text x="{_WIDTH}" y="{_HEIGHT + 30}" text-anchor="end" {style}>{words["threads"]}</text>'
    for number, points in enumerate(panel.drivers):
        yield from _line(panel, points, SERIES[number], 7 * number, words)


def _line(panel: _Panel, points: Sequence[_Point], color: str, aside: int, words: Mapping[str, str]) -> Iterator[str]:
    """A driver's points with their intervals; one after the other where they are at several numbers of threads."""
    if len({point.threads for point in points}) > 1:
        path = "L".join(f"{_x(point.threads)} {panel.y(point.value)}" for point in points)
        yield f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="1.5"/>'
    for point in points:
        x, y = _x(point.threads), panel.y(point.value)
        if point.half:
            low, high = panel.y(point.value * (1 - point.half)), panel.y(point.value * (1 + point.half))
            yield f'<path d="M{x} {low}V{high}" stroke="{color}" opacity="0.55"/>'
        yield f'<circle cx="{x}" cy="{y}" r="3" fill="{color}"/>'
        if point.label:
            anchor, at = ("end", x - 8) if aside == 0 else ("start", x + 8)
            yield f'<text x="{at}" y="{y + 4}" font-size="11" text-anchor="{anchor}">{words[point.label]}</text>'


def _x(threads: int) -> float:
    return round(8 + (_WIDTH - 16) * threads / _THREADS_MAX, 1)
