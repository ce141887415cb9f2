"""A report on a terminal: the verdict, the figures behind it, and the tables that fit.

Plain text without colour when the output is no terminal or `NO_COLOR` is set; rich sees to both.
"""

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from brimline.report.view import Cell, Facts, Report, Section, Table, Text, Tone, Verdict

_STYLES: dict[Tone, str] = {"": "", "pass": "green", "fail": "bold red", "warn": "yellow", "muted": "dim"}
WIDE_COLUMNS = 110
"""Terminal width from which tables are shown whole."""
PIPE_COLUMNS = 160
"""Width of a line when the output is no terminal: nothing needs to fit a screen there."""

_SERIES_ID = "series-"
"""What the sections of a trend's series begin with."""
_SHOWN_SECTIONS = (
    "background", "server-beside",
    "configuration", "warnings", "gate", "changes", "plans", "distribution", "probes", "documents", "operations",
    "accounting", "errors", "validity", "bottleneck",
    "rule", "scenarios",
    "level-differences", "best-connections", "combinations", "loading", "breakpoints",
)  # fmt: skip


def print_report(report: Report, console: Console, *, full: bool = True) -> None:
    """Prints the verdict, and with `full` the tables. `console` decides on colour."""
    console_width = console.width
    if not console.is_terminal:
        console.width = max(console_width, PIPE_COLUMNS)
    console.print(_heading(report))
    console.print(Padding(_verdict(report.verdict), (1, 0, 1, 2), expand=False))
    for section in report.sections if full else ():
        if section.id in _SHOWN_SECTIONS or _says_of_a_series(section):
            console.print(_section(section, wide=console.width >= WIDE_COLUMNS))
    console.width = console_width


def _says_of_a_series(section: Section) -> bool:
    """Of a trend: runs that are left out, or too few. Where there is nothing to say there are charts only."""
    return section.id.startswith(_SERIES_ID) and any(isinstance(block, Text) for block in section.blocks)


def _heading(report: Report) -> RichText:
    return RichText.assemble((report.kind_title, "bold"), " · ", (report.name, "bold"), "\n", (report.subtitle, "dim"))


def _verdict(verdict: Verdict) -> RenderableType:
    style = _STYLES[verdict.tone]
    headline = (
        RichText(f"{verdict.caption}: ", style="bold")
        if verdict.figure
        else RichText(verdict.caption, style=f"bold {style}")
    )
    if verdict.figure:
        headline.append(f"{verdict.figure} {verdict.unit}".rstrip(), style=f"bold {style}")
        headline.append(f" ({verdict.interval})" if verdict.interval else "")
    for badge in verdict.badges:
        headline.append("  ")
        headline.append(f"[{badge.text}]", style=_STYLES[badge.tone])
    facts = RichTable.grid(padding=(0, 2, 0, 0))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for fact in verdict.facts:
        facts.add_row(
            fact.label,
            RichText.assemble((fact.value, _STYLES[fact.tone]), (f"  {fact.note}" if fact.note else "", "dim")),
        )
    return Group(headline, RichText(verdict.sentence), RichText(""), facts)


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
        elif isinstance(block, Facts):
            parts += [RichText(f"{fact.label}  {fact.value}".strip(), style="dim") for fact in block.facts]
    return Padding(Group(*parts), (0, 0, 1, 0), expand=False)


def _table(table: Table, *, wide: bool) -> RichTable:
    rendered = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    shown = [index for index, column in enumerate(table.columns) if wide or not column.optional]
    # Units of grouped columns stand in a line of their own, so that a narrow screen has room for them.
    below = "\n" if any(column.group and column.unit for column in table.columns) else " "
    for column in (table.columns[index] for index in shown):
        label = RichText(f"{column.label}{below}{column.unit}" if column.unit else f"{column.label}{below}".rstrip(" "))
        rendered.add_column(label, justify="right" if column.numeric else "left", overflow="fold")
    for index, row in enumerate(table.rows):
        rendered.add_row(*(_cell(row[place]) for place in shown), style="bold" if index in table.emphasised else "")
    return rendered


def _cell(cell: Cell) -> RichText:
    return RichText(cell.text, style=_STYLES[cell.tone])
