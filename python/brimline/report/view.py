"""The report as plain values.

What every output shows, with all words and numbers ready. Templates only lay it out.

A report is a verdict and sections; a section is a list of blocks: charts, tables, facts, text, code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from brimline.errors import on_one_line, visible
from brimline.report.marks import comma_of, labelled, noted

if TYPE_CHECKING:
    from brimline.report.grid import Grid

Tone: TypeAlias = Literal["", "pass", "fail", "warn", "muted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A short remark that must not be overlooked."""

    text: str
    tone: Tone = ""


UNDER_WAY = Badge(text="still under way", tone="warn")
"""Of a record that is still being written: what it shows is what there is so far."""


def _keep_on_one_line(part: object, *names: str) -> None:
    """Whatever a server, a file or a person wrote: in every format and language no text steers what shows it."""
    for name in names:
        text = getattr(part, name)
        if (kept := on_one_line(text)) is not text:
            object.__setattr__(part, name, kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A labelled figure; `note` says what it means."""

    label: str
    value: str
    note: str = ""
    tone: Tone = ""

    def __post_init__(self) -> None:
        _keep_on_one_line(self, "label", "value", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the report says in one look. `figure` is empty when nothing may be quoted."""

    tone: Tone
    caption: str  # what the figure is: "Sustained throughput"
    figure: str  # "9 400"
    unit: str  # "ops/s"
    interval: str  # "95 % CI 9 100–9 700"
    sentence: str
    badges: Sequence[Badge] = ()
    facts: Sequence[Fact] = ()
    next_step: str = ""  # what to do next; where it is empty, what every report of its kind says

    @property
    def quoted(self) -> str:
        """`13 610 ops/s`; "" where nothing may be quoted."""
        return f"{self.figure} {self.unit}".rstrip() if self.figure else ""

    @property
    def headline(self) -> str:
        """`Sustained throughput: 13 610 ops/s (95 % CI 11 500–15 700)`, in plain text."""
        if not self.quoted:
            return self.caption
        return noted(labelled(self.caption, self.quoted), self.interval)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table. Wide tables become cards on a phone; a `leading` column is a card's heading."""

    label: str
    numeric: bool = True
    unit: str = ""
    group: str = ""
    leading: bool = False
    tag: bool = False  # shown as a coloured word
    optional: bool = False  # left out on a narrow terminal


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One figure or word."""

    text: str
    tone: Tone = ""

    def __post_init__(self) -> None:
        _keep_on_one_line(self, "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells under columns. `emphasised` rows (totals) stand out. `title` names it where tables have numbers."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    title: str = ""
    emphasised: frozenset[int] = frozenset()
    kind: Literal["table"] = "table"

    @property
    def headings(self) -> list[str]:
        """What each column is called where it stands alone: with its unit, and its group where others are called so."""
        labels = [column.label for column in self.columns]
        comma = comma_of(labels)
        return [
            comma.join(filter(None, [each.group if labels.count(each.label) > 1 else "", each.label, each.unit]))
            for each in self.columns
        ]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Headings over neighbouring columns, with how many each spans; empty when no column has one."""
        spans: list[tuple[str, int]] = []
        for column in self.columns:
            if spans and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1)
            else:
                spans.append((column.group, 1))
        return spans if any(name for name, _ in spans) else []


Mark: TypeAlias = Literal["line", "dash", "dot", "circle", "x", "diamond", "square", "cross", "hatch", "band"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One entry of a chart's legend, which stands above the chart as text and wraps on a phone."""

    name: str
    color: str
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """That a terminal draws a chart in characters: which vertical axis of it, and what is seen then."""

    axis: str  # "y" | "y2"
    caption: str  # "p99 over offered ops/s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A figure as plain JSON, in plotly's form. `summary` says in words what it shows, for readers who can't see it."""

    id: str
    title: str
    caption: str
    summary: str
    figure: Mapping[str, Any]
    legend: Sequence[Key] = ()
    height_px: int = 320
    sketch: Sketch | None = None
    kind: Literal["chart"] = "chart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Labelled values under a heading."""

    title: str
    facts: Sequence[Fact]
    kind: Literal["facts"] = "facts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A paragraph."""

    text: str
    tone: Tone = ""
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Something to copy. It keeps its lines; whatever else steers what shows it is a mark, as in all other parts."""

    text: str
    title: str = ""
    kind: Literal["code"] = "code"

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", visible(self.text.replace("\r\n", "\n")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A part within a section, as documents have them."""

    text: str
    kind: Literal["heading"] = "heading"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A picture that brimline draws itself, as SVG. `summary` says in words what it shows."""

    id: str
    title: str
    summary: str
    svg: str
    kind: Literal["drawing"] = "drawing"


Block: TypeAlias = Table | Chart | Facts | Text | Code | Heading | Drawing


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the report; `short` names it in the navigation."""

    id: str
    title: str
    short: str
    blocks: Sequence[Block]
    intro: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole report."""

    kind: str  # "run" | "sweep" | "capacity"
    kind_title: str  # "Capacity search"
    name: str
    subtitle: str
    verdict: Verdict
    sections: Sequence[Section]
    footer: str
    language: str = "en"
    words: str = ""  # those of its target, where it has others than documents and commands: "tables"
    data: Mapping[str, Any] = field(default_factory=dict)  # the same findings with stable keys, for JSON
    grids: Sequence["Grid"] = ()  # all figures, of which tables and charts show those that were chosen
