"""Owns the Markdown of the generated pages: headings, tables, text that must not be read as Markdown."""

from collections.abc import Iterable, Sequence


def page(title: str, *parts: str, source: str, translation: str = "") -> str:
    """A page. `source` names what it is written from, for whoever would edit it by hand; `translation` leads there."""
    note = f"<!-- Written by `make docs-reference` from {source}. Edit that, not this page. -->"
    return "\n\n".join([f"# {title}", *filter(None, (translation, note, *parts))]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; "" where there are no rows. A column in which no row says anything is left out."""
    body = [list(cells) for cells in rows]
    said = [place for place in range(len(head)) if any(cells[place] for cells in body)]
    lines = [_row([cells[place] for place in said]) for cells in (head, ["---"] * len(head), *body)]
    return "\n".join(lines) if body else ""


def code(text: str) -> str:
    """Text as it is typed; "" stays ""."""
    return f"`{text}`" if text else ""


def plain(text: str) -> str:
    """Text of the code in running text: one line, nothing of it markup but code between backticks."""
    parts = " ".join(text.split()).split("`")
    return "`".join(
        part if number % 2 else part.replace("<", "&lt;").replace("*", r"\*") for number, part in enumerate(parts)
    )


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
