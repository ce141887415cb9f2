"""Writes the pages of docs/reference that follow from the code, the schema of results, and a figure of two tables."""

from pathlib import Path

from tools.reference.pages import PAGES_DIRECTORY, generated_pages
from tools.reference.result_schema import SCHEMA_FILE, result_schema_text
from tools.reference.searches_figure import FIGURE_FILE, PAGE_FILE, searches_figure

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Writes every page and removes those that nothing makes any more."""
    pages = generated_pages()
    for name, text in pages.items():
        file = ROOT / PAGES_DIRECTORY / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    figure = searches_figure((ROOT / PAGE_FILE).read_text(encoding="utf-8"))
    (ROOT / FIGURE_FILE).write_text(figure, encoding="utf-8")
    (ROOT / SCHEMA_FILE).write_text(result_schema_text(), encoding="utf-8")
    for file in (ROOT / PAGES_DIRECTORY / "verbs").glob("*.md"):
        if f"verbs/{file.name}" not in pages:
            file.unlink()


main()
