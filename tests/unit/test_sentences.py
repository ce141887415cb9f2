"""Pages for who comes first, and guides, say one idea a sentence: none of their sentences is long."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs").glob("[gs]*/*.md")))
    if not page.name.endswith(".zh.md")
]
WORDS_MAX = 30
NO_PROSE = ("    ", "|", "#", "<!--")


def sentences(page: Path) -> Iterator[str]:
    """Code counts as a word, and a colon or a semicolon ends a sentence too."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`]*`", "code", text)
    lines = "\n".join(line for line in text.splitlines() if not line.startswith(NO_PROSE))
    for paragraph in re.split(r"\n\n|\n(?=- |\d\. )", lines):
        yield from re.split(r"(?<=[.!?:;])\s+", " ".join(paragraph.split()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_sentence_is_long(page: Path) -> None:
    assert [each for each in sentences(page) if len(each.split()) > WORDS_MAX] == []
