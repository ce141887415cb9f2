"""A report as Markdown, to be put into a test report: the verdict, every table and list, what was run.

Charts need a page that can draw them: they are in the HTML, unless there are pictures of them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from brimline.report.language import said_in
from brimline.report.marks import labelled, noted
from brimline.report.view import Chart, Code, Drawing, Fact, Facts, Heading, Report, Section, Table, Text, Verdict

_NO_PICTURES: Mapping[str, str] = MappingProxyType({})
_SPECIAL = re.compile(r"([\\`*_<>\[\]|#~])")


def render_markdown(report: Report, pictures: Mapping[str, str] = _NO_PICTURES) -> str:
    """The whole report as GitHub-flavoured Markdown; `pictures` are paths by the id of a chart or drawing."""
    return "\n\n".join(_parts(report, pictures)) + "\n"


def _parts(report: Report, pictures: Mapping[str, str]) -> Iterator[str]:
    yield f"# {labelled(_escaped(report.kind_title), _escaped(report.name))}"
    yield _escaped(report.subtitle)
    yield from _verdict(report.verdict)
    drawn = [block.id for each in report.sections for block in each.blocks if isinstance(block, Chart | Drawing)]
    if any(each not in pictures for each in drawn):
        yield f"*{_escaped(said_in(report.language, 'The charts are in the HTML report.'))}*"
    for section in report.sections:
        yield from _section(section, pictures)
    yield f"---\n\n{_escaped(report.footer)}"


def _verdict(verdict: Verdict) -> Iterator[str]:
    caption, figure = _escaped(verdict.caption), _escaped(verdict.quoted)
    headline = noted(f"**{labelled(caption, figure) if figure else caption}**", _escaped(verdict.interval))
    badges = "".join(f" `{badge.text.replace('`', '')}`" for badge in verdict.badges)
    yield f"{headline}{badges}"
    if verdict.sentence:
        yield _escaped(verdict.sentence)
    if verdict.facts:
        yield _facts(verdict.facts, strong=True)


def _section(section: Section, pictures: Mapping[str, str]) -> Iterator[str]:
    blocks = [block for block in section.blocks if not isinstance(block, Chart | Drawing) or block.id in pictures]
    if not blocks:
        return
    yield f"## {_escaped(section.title)}"
    if section.intro:
        yield _escaped(section.intro)
    for block in blocks:
        match block:
            case Heading():
                yield f"### {_escaped(block.text)}"
            case Chart() | Drawing():
                yield f"![{_escaped(block.title)}]({pictures[block.id]})"
                yield f"*{_escaped(block.title)}*"
            case Table():
                if block.title:
                    yield f"**{_escaped(block.title)}**"
                yield _table(block)
                if block.caption:
                    yield _escaped(block.caption)
            case Facts():
                if block.title:
                    yield f"### {_escaped(block.title)}"
                yield _facts(block.facts)
            case Code():
                if block.title:
                    yield f"### {_escaped(block.title)}"
                yield _fenced(block.text)
            case Text():
                yield _escaped(block.text)


def _table(table: Table) -> str:
    heading = _row([_escaped(heading) for heading in table.headings])
    rule = _row(["---:" if column.numeric else "---" for column in table.columns])
    rows = [
        _row([_strong(_escaped(cell.text), index in table.emphasised) for cell in row])
        for index, row in enumerate(table.rows)
    ]
    return "\n".join([heading, rule, *rows])


def _facts(facts: Sequence[Fact], *, strong: bool = False) -> str:
    return "\n".join(f"- {_fact(fact, strong=strong)}" for fact in facts)


def _fact(fact: Fact, *, strong: bool) -> str:
    value = noted(_strong(_escaped(fact.value), strong), _escaped(fact.note))
    return labelled(_escaped(fact.label), value) if fact.label else value


def _fenced(text: str) -> str:
    """A block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _strong(text: str, strong: bool) -> str:
    return f"**{text}**" if strong and text else text


def _escaped(text: str) -> str:
    """On one line, with nothing in it that Markdown would take for its own."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
