"""Writes the pages of docs/reference that follow from the code, the schema of results, and figures of tables."""

from pathlib import Path

from tools.reference.page_figures import FIGURES
from tools.reference.pages import PAGES_DIRECTORY, generated_pages
from tools.reference.result_schema import SCHEMA_FILE, result_schema_text

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Writes every page and removes those that nothing makes any more."""
    pages = generated_pages()
    for name, text in pages.items():
        file = ROOT / PAGES_DIRECTORY / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for each in FIGURES:
        (ROOT / each.file).write_text(each.draw((ROOT / each.page).read_text(encoding="utf-8")), encoding="utf-8")
    (ROOT / SCHEMA_FILE).write_text(result_schema_text(), encoding="utf-8")
    for file in (ROOT / PAGES_DIRECTORY / "verbs").glob("*.md"):
        if f"verbs/{file.name}" not in pages:
            file.unlink()


main()
