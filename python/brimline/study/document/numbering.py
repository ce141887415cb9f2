"""Owns the numbers of sections, tables and figures: "Table 6-1" is the first table of section 6."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from brimline.report.view import Block, Chart, Drawing, Heading, Section, Table
from brimline.wording import message


def numbered(sections: Sequence[Section]) -> list[Section]:
    """Sections with something to show, with their numbers, and those of what is in them."""
    shown = [each for each in sections if each.blocks or each.intro]
    return [
        replace(
            section,
            title=message("{number} {title}", number=str(number), title=section.title),
            blocks=list(_blocks(number, section.blocks)),
        )
        for number, section in enumerate(shown, start=1)
    ]


def _blocks(section: int, blocks: Sequence[Block]) -> Iterator[Block]:
    tables = figures = parts = 0
    for block in blocks:
        match block:
            case Table():
                tables += 1
                number = f"{section}-{tables}"
                yield replace(
                    block,
                    title=message("Table {number}: {title}", number=number, title=block.title)
                    if block.title
                    else message("Table {number}", number=number),
                )
            case Chart() | Drawing():
                figures += 1
                title = message("Figure {number}: {title}", number=f"{section}-{figures}", title=block.title)
                name = f"{section}-{figures}-{block.id}"
                yield replace(block, title=title, id=name)
            case Heading():
                parts += 1
                number = f"{section}.{parts}"
                yield replace(block, text=message("{number} {title}", number=number, title=block.text))
            case _:
                yield block
