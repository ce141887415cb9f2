"""Writes the pages of docs/reference that follow from the code."""

from pathlib import Path

from tools.reference.pages import PAGES_DIRECTORY, generated_pages

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Writes every page and removes those that nothing makes any more."""
    pages = generated_pages()
    for name, text in pages.items():
        file = ROOT / PAGES_DIRECTORY / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for file in (ROOT / PAGES_DIRECTORY / "verbs").glob("*.md"):
        if f"verbs/{file.name}" not in pages:
            file.unlink()


main()
