"""Owns what the document shows of each experiment: its prose with figures, then tables and charts of its report."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from brimline.report.grid_charts import grid_charts
from brimline.report.lint_section import SECTION_ID as LINT
from brimline.report.showing import FIGURES
from brimline.report.vary.breakpoints import MOVED
from brimline.report.view import Block, Cell, Chart, Column, Drawing, Heading, Section, Table, Text, Verdict
from brimline.study.document.made import Made
from brimline.study.figures import FigureMissing, figure_of, headline, references, said
from brimline.study.spec import Words, in_words
from brimline.units import UNKNOWN_TEXT
from brimline.wording import Verbatim, message

BREAKPOINTS = frozenset({"breakpoints", MOVED, "best-connections"})
"""Sections of reports that say where something breaks."""
STABILITY_VERBS = frozenset({"failover", "soak"})
"""What is measured of how a deployment lasts: its results stand in the part on stability."""
_FRAME = frozenset({
    "accounting", "bottleneck", "charts", "configuration", "cost", "definitions", "environment", "errors", "further",
    "probes", "reproduce", "servers", "summary", "validity", "warnings", LINT,
})  # fmt: skip
"""Sections of reports that a document has elsewhere, or not."""


_IN_CHINESE = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef]) (?=[\u3000-\u9fff\uff00-\uffef])")


@dataclass(slots=True)
class NotShown:
    """What the document would say and can't: each as a pair of what and why."""

    found: list[tuple[str, str]] = field(default_factory=list)

    def note(self, what: str, why: str) -> None:
        """One more."""
        if (what, why) not in self.found:
            self.found.append((what, why))


@dataclass(frozen=True, slots=True)
class Prose:
    """Prose of a study in one language, with figures from reports; what refers to one that isn't there is left out."""

    made: Sequence[Made]
    language: str
    not_shown: NotShown

    def title(self, made: Made) -> str:
        """What an experiment is called."""
        return Verbatim(in_words(made.experiment.title, self.language))

    def plain(self, words: Words) -> Text:
        """A paragraph without figures."""
        return Text(text=Verbatim(self._words(words)))

    def _words(self, words: Words) -> str:
        """On one line; a line that is broken between Chinese characters has no blank there."""
        return _IN_CHINESE.sub("", " ".join(in_words(words, self.language).split()))

    def with_figures(self, words: Words) -> Text | None:
        """A paragraph with its figures; None where one of them isn't there."""
        text = self._words(words)
        reports = {each.experiment.name: each for each in self.made}

        def figure(name: str, what: str) -> str:
            report = reports[name].report
            if report is None:
                raise FigureMissing(message("{name} was not measured", name=name))
            return figure_of(report, what)

        try:
            return Text(text=said(text, figure))
        except FigureMissing as missing:
            self.not_shown.note(Verbatim(references.sub("…", text)), missing.args[0])
            return None


def results(made: Sequence[Made], prose: Prose) -> Section:
    """Every experiment that has any, in order."""
    blocks: list[Block] = []
    for each in made:
        if each.experiment.verb not in STABILITY_VERBS:
            blocks += shown_of(each, prose)
    return Section(id="results", title="Results", short="Results", blocks=blocks)


def shown_of(made: Made, prose: Prose) -> list[Block]:
    """The part of one experiment; nothing where there is no report."""
    if made.shown is None:
        return []
    for name in made.not_there:
        prose.not_shown.note(prose.title(made), message("it has no figure {what}", what=Verbatim(name)))
    blocks: list[Block] = [text for words in made.experiment.text if (text := prose.with_figures(words)) is not None]
    sections = [each for each in made.shown.sections if _is_wanted(made, each)]
    for section in sections:
        blocks += titled(section.blocks, prose.title(made) if section.id == FIGURES else section.title)
    if not any(isinstance(each, Chart) for each in blocks):
        blocks += _charts_of_figures(made)
    if not any(isinstance(each, Table) for each in blocks):
        prose.not_shown.note(prose.title(made), "its report has no table")
    return [Heading(text=prose.title(made)), *blocks] if blocks else []


def _is_wanted(made: Made, section: Section) -> bool:
    wanted = made.experiment.sections
    if section.id == FIGURES and made.experiment.show:
        return True
    if wanted is not None or made.experiment.show:
        return section.id in (wanted or ())
    return section.id not in _FRAME | BREAKPOINTS


def _charts_of_figures(made: Made) -> Iterator[Chart]:
    """A chart of the main figure where the report has none."""
    if made.report is None:
        return
    for grid in made.report.grids:
        if grid.axes and len(grid.rows) > 1:
            yield from grid_charts(grid, grid.known[:1])


def titled(blocks: Sequence[Block], title: str) -> Iterator[Block]:
    """`blocks` of a section of a report, whose tables are called as it is."""
    for block in blocks:
        if isinstance(block, Table):
            if _says_something(block):
                yield replace(block, title=block.title or title)
        elif not isinstance(block, Heading | Drawing):
            yield block


_SEARCHES = frozenset({"capacity", "grow", "sweep"})


def _is_search(made: Made) -> bool:
    """Whether its verdict is where something breaks; that of a design is what differs."""
    return made.experiment.verb in _SEARCHES and not made.experiment.vary


def _break_row(title: str, verdict: Verdict) -> list[Cell]:
    return [
        Cell(text=title),
        Cell(text=headline(replace(verdict, interval="")) or verdict.caption),
        Cell(text=verdict.interval or UNKNOWN_TEXT),
        Cell(text=verdict.sentence),
    ]


def _says_something(table: Table) -> bool:
    """Whether a table has any figure: one of dashes alone is as good as empty."""
    numeric = [place for place, column in enumerate(table.columns) if column.numeric and not column.leading]
    if not numeric:
        return bool(table.rows)
    return any(row[place].text not in ("", UNKNOWN_TEXT) for row in table.rows for place in numeric)


def breakpoints(made: Sequence[Made], prose: Prose) -> Section:
    """Where something breaks: verdicts of searches, then what growths and sweeps say of it."""
    rows = [
        _break_row(prose.title(each), each.report.verdict)
        for each in made
        if each.report is not None and _is_search(each)
    ]
    table = Table(
        columns=[
            Column(label="Experiment", numeric=False, leading=True),
            Column(label="Figure", numeric=False),
            Column(label="Interval", numeric=False),
            Column(label="What it means", numeric=False),
        ],
        rows=rows,
        title="Limits and breakpoints",
    )
    blocks: list[Block] = [table] if rows else []
    for each in made:
        if each.report is None:
            continue
        found = [block for section in each.report.sections if section.id in BREAKPOINTS
                 for block in titled(section.blocks, section.title)]  # fmt: skip
        if found:
            blocks += [Heading(text=prose.title(each)), *found]
    return Section(id="breakpoints", title="Performance breakpoints", short="Breakpoints", blocks=blocks)
