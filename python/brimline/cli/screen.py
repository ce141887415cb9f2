"""Owns the live screen as lines: what is measured now, the last intervals, and what a search knows until now."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from brimline.execution import Outcome, Recent, SoFar
from brimline.units import UNKNOWN_TEXT, format_count, format_duration, format_number, format_percentage, format_rate
from brimline.wording import message

WIDTH_MIN, HEIGHT_MIN = 40, 16
"""What the screen needs; a smaller terminal has plain lines."""
OUTCOMES_SHOWN = 2
OPERATIONS_SHOWN = 8
_SPARKS = "▁▂▃▄▅▆▇█"
_MARKS: Mapping[Outcome, tuple[str, str]] = {
    "met": ("●", "green"),
    "missed": ("×", "bold red"),
    "unsettled": ("◇", "yellow"),
    "measured": ("●", "cyan"),
}
_LABEL_COLUMNS, _VALUE_COLUMNS = 14, 20
_OPERATION_COLUMNS = 46
"""What the figures of an operation need beside its name."""
Say = Callable[[str], str]
"""Puts a text into the language of the screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What is shown. `recent` has None between two runs; `offered` is empty where nothing is said of it."""

    title: str
    state: str  # "43 %, about 32 s left"
    unit: str  # "ops/s" | "documents/s"
    offered: str
    clock: str  # "response" | "service"
    recent: Sequence[Recent | None]
    so_far: SoFar | None
    outcomes: Sequence[str]
    operations: Sequence[tuple[str, Recent | None]] = ()  # those that have names of their author's, in a fixed order
    operations_max: int = OPERATIONS_SHOWN
    say: Say = str

    def lines(self, width: int) -> list[Text]:
        """At most `width` columns wide; the last line is empty, so that what is said next begins there."""
        lines = [self._heading(width), *self._figures(width), *self._by_operation(width)]
        if self.so_far is not None:
            lines += _known(self.so_far, width, self.say)
        lines += [Text(self.say(each), style="dim") for each in self.outcomes[-OUTCOMES_SHOWN:]]
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return [*lines, Text("")]

    def _heading(self, width: int) -> Text:
        state = self.say(self.state)
        room = max(width - cell_len(state) - 2, 0)
        title = Text(self.say(self.title), style="bold")
        title.truncate(room, overflow="ellipsis")
        return Text.assemble(title, " " * (width - title.cell_len - cell_len(state)), (state, "cyan"))

    def _figures(self, width: int) -> list[Text]:
        by_document = self.unit == "documents/s"

        def rate(each: Recent) -> float:
            return each.documents_per_s if by_document else each.answered_per_s

        return [
            self._row("answered", lambda each: format_rate(rate(each), unit=self.unit), rate, width, "green"),
            self._line("offered", self.say(self.offered)) if self.offered else Text(""),
            self._row(f"{self.clock} p50", lambda each: _time(each.p50_ns), lambda each: each.p50_ns, width, "cyan"),
            self._row(f"{self.clock} p99", lambda each: _time(each.p99_ns), lambda each: each.p99_ns, width, "magenta"),
            self._row(
                "errors",
                lambda each: format_percentage(each.failed_share),
                lambda each: each.failed_share or None,
                width,
                "red",
            ),
        ]

    def _by_operation(self, width: int) -> list[Text]:
        """A line for each operation, or for as many as have room; a long name is cut."""
        left = len(self.operations) - self.operations_max
        shown = self.operations if left <= 0 else self.operations[: max(self.operations_max - 1, 0)]
        room = max(_LABEL_COLUMNS, width - _OPERATION_COLUMNS)
        names = [Text(name, style="dim") for name, _ in shown]
        for name in names:
            name.truncate(room, overflow="ellipsis")
        columns = max((name.cell_len for name in names), default=0)
        lines = [
            Text.assemble(name, " " * (columns - name.cell_len), "  ", self._latest(latest))
            for name, (_, latest) in zip(names, shown, strict=True)
        ]
        rest = len(self.operations) - len(shown)
        more = self.say(message("and {count} more operations", count=format_count(rest)))
        return [*lines, *([Text(more, style="dim")] if rest and shown else [])]

    def _row(
        self, label: str, text: Callable[[Recent], str], value: Callable[[Recent], float | None], width: int, style: str
    ) -> Text:
        now = next((each for each in reversed(self.recent) if each is not None), None)
        line = self._line(label, UNKNOWN_TEXT if now is None else self.say(text(now)))
        room = width - _VALUE_COLUMNS - _LABEL_COLUMNS
        if room > 0:
            line.pad_right(max(_LABEL_COLUMNS + _VALUE_COLUMNS - line.cell_len, 0))
            line.append(sparkline([None if each is None else value(each) for each in self.recent[-room:]]), style=style)
        return line

    def _line(self, label: str, value: str) -> Text:
        return _line(self.say(label), value)

    def _latest(self, latest: Recent | None) -> Text:
        if latest is None:
            return Text(UNKNOWN_TEXT)
        rate = set_cell_size(self.say(format_rate(latest.answered_per_s)), _LABEL_COLUMNS)
        p99 = set_cell_size(f"p99 {_time(latest.p99_ns)}", _LABEL_COLUMNS)
        failed = message("{share} failed", share=format_percentage(latest.failed_share)) if latest.failed_share else ""
        return Text.assemble(rate, (p99, "magenta"), (self.say(failed), "red"))


def sparkline(values: Sequence[float | None]) -> str:
    """One character for each value, its height from 0 to the highest; a blank where there is none."""
    highest = max((value for value in values if value is not None), default=0.0)
    top = len(_SPARKS) - 1
    return "".join(
        " " if value is None else _SPARKS[math.ceil(value / highest * top) if highest else 0] for value in values
    )


def _line(label: str, value: str) -> Text:
    return Text.assemble((set_cell_size(label, _LABEL_COLUMNS), "dim"), value)


def _time(value_ns: int | None) -> str:
    return UNKNOWN_TEXT if value_ns is None else format_duration(value_ns)


def _known(so_far: SoFar, width: int, say: Say) -> list[Text]:
    """The estimate and, on one axis below it, its interval and every probe."""
    loads = [load for load, _ in so_far.probes]
    bounds = [bound for bound in (so_far.low, so_far.high) if bound is not None]
    searched = so_far.figure is not None or bounds or any(outcome != "measured" for _, outcome in so_far.probes)
    lines = [_line(say("estimate"), say(_estimate(so_far)))] if searched or not loads else []
    if not loads:
        return lines
    axis = _Axis(min(loads + bounds), max(loads + bounds), width - _LABEL_COLUMNS)
    if bounds:
        lines.append(Text.assemble(_line("", ""), axis.interval(so_far)))
    lines.append(Text.assemble(_line(say("probes"), ""), axis.marks(so_far.probes)))
    return [*lines, Text.assemble(_line("", ""), axis.ends(so_far, say))]


def _estimate(so_far: SoFar) -> str:
    unit = so_far.unit
    low, high = (None if bound is None else _load(bound, unit, digits=4) for bound in (so_far.low, so_far.high))
    if so_far.figure is not None:
        figure = _load(so_far.figure, unit, digits=4)
        return message("{figure} {unit}, 95 % interval {low}–{high}", figure=figure, unit=unit, low=low, high=high)
    if low is not None and high is not None:
        return message("{low} {unit} met the objective, {high} missed it", low=low, unit=unit, high=high)
    if low is not None:
        return message("at least {low} {unit}", low=low, unit=unit)
    return "not known yet" if high is None else message("below {high} {unit}", high=high, unit=unit)


def _load(load: float, unit: str, *, digits: int = 3) -> str:
    """A rate to so many digits; connections and threads are whole."""
    return format_number(load, digits=digits) if unit == "ops/s" else format_count(round(load))


class _Axis:
    """Loads from left to right, on a logarithmic scale."""

    def __init__(self, low: float, high: float, columns: int) -> None:
        self._low, self._high, self._columns = low, high, max(columns, 1)

    def _place(self, load: float) -> int:
        if self._high <= self._low or self._low <= 0:
            return (self._columns - 1) // 2
        share = math.log(load / self._low) / math.log(self._high / self._low)
        return round(min(max(share, 0.0), 1.0) * (self._columns - 1))

    def interval(self, so_far: SoFar) -> Text:
        """From the lower to the upper end, `┤` and `├` where there is one, and the figure between."""
        left = 0 if so_far.low is None else self._place(so_far.low)
        right = self._columns - 1 if so_far.high is None else self._place(so_far.high)
        cells = [" "] * self._columns
        for column in range(left, right + 1):
            cells[column] = "─"
        if so_far.low is not None:
            cells[left] = "├"
        if so_far.high is not None:
            cells[right] = "┤"
        if so_far.figure is not None:
            cells[self._place(so_far.figure)] = "┼"
        return Text("".join(cells), style="cyan")

    def marks(self, probes: Sequence[tuple[float, Outcome]]) -> Text:
        """A mark for each probe; of several at one place the last."""
        cells: list[tuple[str, str]] = [(" ", "")] * self._columns
        for load, outcome in probes:
            cells[self._place(load)] = _MARKS[outcome]
        return Text.assemble(*cells)

    def ends(self, so_far: SoFar, say: Say) -> Text:
        """The lowest and the highest load, and what the marks are."""
        low, high = (say(_load(end, so_far.unit)) for end in (self._low, self._high))
        seen = dict.fromkeys(outcome for _, outcome in so_far.probes)
        legend = "  ".join(f"{_MARKS[each][0]} {say(each)}" for each in seen if each != "measured")
        text = f"{legend}  {say(so_far.unit)}".strip()
        if low == high:
            return Text(f"{high}  {text}", style="dim")
        space = self._columns - cell_len(low) - cell_len(high) - cell_len(text)
        if space < 2:
            text, space = "", space + cell_len(text)
        return Text(f"{low}{' ' * (space // 2)}{text}{' ' * (space - space // 2)}{high}", style="dim")
