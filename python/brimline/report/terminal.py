"""A report on a terminal: a summary of at most 15 lines, or the verdict and the tables that fit.

Plain text without colour when the output is no terminal or `NO_COLOR` is set; rich sees to both.
"""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from brimline.report.marks import labelled
from brimline.report.showing import FIGURES
from brimline.report.sketch import LIMIT, sketched
from brimline.report.view import Cell, Chart, Code, Fact, Facts, Report, Section, Table, Text, Tone, Verdict

_STYLES: dict[Tone, str] = {"": "", "pass": "green", "fail": "bold red", "warn": "yellow", "muted": "dim"}
WIDE_COLUMNS = 110
"""Terminal width from which tables are shown whole."""
NARROW_COLUMNS = 60
"""Terminal width below which figures don't stand in a column of their own."""
PIPE_COLUMNS = 160
"""Width of a line when the output is no terminal: nothing needs to fit a screen there."""
SKETCH_ROWS, SKETCH_COLUMNS_MAX = (4, 3), 100
"""How high a chart in characters is, and how high where words need the room."""
_TEXT_LINES_MIN, _TEXT_LINES_GOOD = 4, 6
"""Lines for words that a chart must leave, and that a high one must."""
_SENTENCE_LINES_MAX = 3
_NAME_COLUMNS_MAX = 16
"""How wide the column of names stays on a narrow terminal."""
_LEADING = 2
"""Facts at the beginning, why and how sure, that may have two lines."""
_LINES_OF_LEADING = ((2, 2), (2, 1), (1, 1))
"""How many lines each of them has at most, as tried one after the other."""

_SERIES_ID = "series-"
"""What the sections of a trend's series begin with."""
_SHOWN_SECTIONS = (
    "background", "server-beside", "faults", "ledger", "objectives",
    "configuration", "warnings", "gate", "drift", "changes", "stalls", "parts",
    "plans", "distribution", "probes", "documents", "operations",
    "steps",
    "loads", FIGURES, "accounting", "errors", "nodes", "validity", "bottleneck",
    "rule", "scenarios",
    "moved-breakpoints", "level-differences", "best-connections", "combinations", "loading", "breakpoints",
)  # fmt: skip


def print_report(report: Report, console: Console) -> None:
    """Prints the verdict and the tables. `console` decides on colour."""
    console_width = console.width
    if not console.is_terminal:
        console.width = max(console_width, PIPE_COLUMNS)
    console.print(_heading(report))
    console.print(Padding(_verdict(report.verdict), (1, 0, 1, 2), expand=False))
    for section in report.sections:
        if section.id in _SHOWN_SECTIONS or _says_of_a_series(section):
            console.print(_section(section, wide=console.width >= WIDE_COLUMNS))
    console.width = console_width


def print_figures(report: Report, console: Console) -> None:
    """Prints the figures that were asked for."""
    for section in report.sections:
        if section.id == FIGURES:
            console.print(_section(section, wide=console.width >= WIDE_COLUMNS or not console.is_terminal))


def print_summary(report: Report, console: Console, *, closing: Sequence[str], lines_max: int) -> None:
    """Prints a `summarised` report in at most `lines_max` lines, the `closing` ones and the next step the last of them.

    A line that has no room ends with an ellipsis, and what comes last among the facts is left out: the report has all.
    """
    width = console.width if console.is_terminal else max(console.width, PIPE_COLUMNS)
    blocks = report.sections[0].blocks
    next_steps = [f"{fact.label}: {fact.value}" for each in blocks if isinstance(each, Facts) for fact in each.facts]
    last = [*map(RichText, closing), *_wrapped(console, RichText("\n".join(next_steps)), width, 2 * len(next_steps))]
    verdict = report.verdict
    first = _wrapped(console, _one_line_heading(report), width, 1) + _wrapped(console, _headline(verdict), width, 2)
    room = lines_max - len(first) - sum(max(1, -(-line.cell_len // width)) for line in last)
    charts = [each for each in blocks if isinstance(each, Chart)]
    high, low = (_sketch(charts, width, console.encoding, rows) for rows in SKETCH_ROWS)
    needed = min(_TEXT_LINES_MIN, bool(verdict.sentence) + len(verdict.facts[:_LEADING]))
    chart = high if room - len(high) >= _TEXT_LINES_GOOD else low if room - len(low) >= needed else []
    room -= len(chart)
    text = _words(console, verdict, width, room)
    for line in [*first, *text, *chart, *last]:
        console.print(line, soft_wrap=True)


def _one_line_heading(report: Report) -> RichText:
    return RichText.assemble((report.kind_title, "bold"), " · ", (report.name, "bold"), " · ", (report.subtitle, "dim"))


def _words(console: Console, verdict: Verdict, width: int, room: int) -> list[RichText]:
    """The sentence and the facts in at most `room` lines, of which the leading facts have one each at least."""
    leading = len(verdict.facts[:_LEADING])
    text = _wrapped(console, RichText(verdict.sentence), width, max(1, min(_SENTENCE_LINES_MAX, room - leading)))
    return [*text, *_fact_lines(console, verdict.facts, width, room - len(text))]


def _fact_lines(console: Console, facts: Sequence[Fact], width: int, room: int) -> list[RichText]:
    """As many facts as there is room for; the leading ones in two lines before others have any, the first of all."""
    for most in _LINES_OF_LEADING if room > 0 else ():
        for count in range(min(room, len(facts)), min(room, _LEADING, len(facts)) - 1, -1):
            labels = max((cell_len(fact.label) for fact in facts[:count]), default=0) + 2
            lines = [
                line
                for index, fact in enumerate(facts[:count])
                for line in _one_fact(console, fact, width, labels, most[index] if index < _LEADING else 1)
            ]
            if len(lines) <= room:
                return lines
    return []


def _one_fact(console: Console, fact: Fact, width: int, labels: int, count: int) -> list[RichText]:
    """A fact with its value beside its label, or on a narrow terminal behind it, in at most `count` lines."""
    value = RichText.assemble((fact.value, _STYLES[fact.tone]), (f"  {fact.note}" if fact.note else "", "dim"))
    if width < NARROW_COLUMNS:
        return _wrapped(console, RichText.assemble((labelled(fact.label, ""), "dim"), value), width, count)
    lines = _wrapped(console, value, max(width - labels, 1), count)
    before = [fact.label, *[""] * (len(lines) - 1)]
    return [
        RichText.assemble((set_cell_size(label, labels), "dim"), line)
        for label, line in zip(before, lines, strict=True)
    ]


def _wrapped(console: Console, text: RichText, width: int, count: int) -> list[RichText]:
    """`text` in at most `count` lines; what doesn't fit ends with an ellipsis."""
    if not text.plain:
        return []
    lines = list(text.wrap(console, width))
    for line in lines:
        line.rstrip()
    if len(lines) > count:
        rest = RichText(" ").join(lines[count - 1 :])
        rest.truncate(width, overflow="ellipsis")
        lines = [*lines[: count - 1], rest]
    return lines


def _sketch(charts: Sequence[Chart], width: int, encoding: str, rows: int) -> list[RichText]:
    """The first of the charts that has anything to draw, where the terminal has the characters and the columns."""
    if not encoding.lower().startswith("utf"):
        return []
    for chart in charts:
        if lines := sketched(chart, width=min(width - 1, SKETCH_COLUMNS_MAX), rows=rows):
            drawn = [RichText(line) for line in lines]
            for line in drawn:
                line.highlight_regex("[●]", "green")
                line.highlight_regex("×", "bold red")
                line.highlight_regex(f"[◇{LIMIT}]+", "yellow")
            return drawn
    return []


def _says_of_a_series(section: Section) -> bool:
    """Of a trend: runs that are left out, or too few. Where there is nothing to say there are charts only."""
    return section.id.startswith(_SERIES_ID) and any(isinstance(block, Text) for block in section.blocks)


def _heading(report: Report) -> RichText:
    return RichText.assemble((report.kind_title, "bold"), " · ", (report.name, "bold"), "\n", (report.subtitle, "dim"))


def _verdict(verdict: Verdict) -> RenderableType:
    facts = RichTable.grid(padding=(0, 2, 0, 0))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for fact in verdict.facts:
        facts.add_row(
            fact.label,
            RichText.assemble((fact.value, _STYLES[fact.tone]), (f"  {fact.note}" if fact.note else "", "dim")),
        )
    return Group(_headline(verdict), RichText(verdict.sentence), RichText(""), facts)


def _headline(verdict: Verdict) -> RichText:
    style = _STYLES[verdict.tone]
    headline = RichText(verdict.headline)
    headline.stylize("bold", 0, len(verdict.caption))
    headline.stylize(f"bold {style}", *_span(verdict.headline, verdict.quoted or verdict.caption))
    for badge in verdict.badges:
        headline.append("  ")
        headline.append(f"[{badge.text}]", style=_STYLES[badge.tone])
    return headline


def _span(text: str, part: str) -> tuple[int, int]:
    """Where `part` stands last in `text`."""
    start = text.rindex(part)
    return start, start + len(part)


def _section(section: Section, *, wide: bool) -> RenderableType:
    parts: list[RenderableType] = [RichText(section.title, style="bold")]
    first = next((block for block in section.blocks if isinstance(block, Table)), None)
    for block in section.blocks:
        if isinstance(block, Table):
            # The section's title says what its first table is.
            if block is not first and block.caption:
                parts.append(RichText(f"\n{block.caption}", style="dim"))
            parts.append(_table(block, wide=wide))
        elif isinstance(block, Text):
            parts.append(RichText(block.text, style=_STYLES[block.tone]))
        elif isinstance(block, Code):
            parts.append(RichText(block.text, no_wrap=True, overflow="ignore"))
        elif isinstance(block, Facts):
            parts += [RichText(f"{fact.label}  {fact.value}".strip(), style="dim") for fact in block.facts]
    return Padding(Group(*parts), (0, 0, 1, 0), expand=False)


def _table(table: Table, *, wide: bool) -> RichTable:
    rendered = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    shown = [index for index, column in enumerate(table.columns) if wide or not column.optional]
    # Units of grouped columns stand in a line of their own, so that a narrow screen has room for them.
    below = "\n" if any(column.group and column.unit for column in table.columns) else " "
    labels = [column.label for column in table.columns]
    for place in shown:
        column = table.columns[place]
        named = f"{column.group}\n{column.label}" if column.group and labels.count(column.label) > 1 else column.label
        label = RichText(f"{named}{below}{column.unit}" if column.unit else f"{named}{below}".rstrip(" "))
        least = _longest_word(row[place] for row in table.rows) if column.leading else None
        rendered.add_column(label, justify="right" if column.numeric else "left", overflow="fold", min_width=least)
    for index, row in enumerate(table.rows):
        rendered.add_row(*(_cell(row[place]) for place in shown), style="bold" if index in table.emphasised else "")
    return rendered


def _longest_word(cells: Iterable[Cell]) -> int:
    """What a column needs so that no name is broken within, as far as there is room for one."""
    words = (word for cell in cells for word in cell.text.split())
    return min(max(map(cell_len, words), default=0), _NAME_COLUMNS_MAX)


def _cell(cell: Cell) -> RichText:
    return RichText(cell.text, style=_STYLES[cell.tone])
