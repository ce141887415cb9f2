"""The reference says what the code says: its generated pages are not stale, and nothing in them lacks a meaning."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tools.reference.pages import PAGES_DIRECTORY, generated_pages
from tools.reference.spec_keys import undescribed

DIRECTORY = Path(__file__).parents[2] / PAGES_DIRECTORY
MARK = "<!-- Written by `make docs-reference`"


@pytest.fixture(scope="module")
def pages() -> Mapping[str, str]:
    return generated_pages()


def test_no_page_is_stale(pages: Mapping[str, str]) -> None:
    stale = [
        name
        for name, text in pages.items()
        if not (DIRECTORY / name).exists() or (DIRECTORY / name).read_text(encoding="utf-8") != text
    ]
    assert not stale, "run make docs-reference"


def test_nothing_is_left_over(pages: Mapping[str, str]) -> None:
    marked = {
        str(file.relative_to(DIRECTORY)) for file in DIRECTORY.rglob("*.md") if MARK in file.read_text(encoding="utf-8")
    }
    assert marked == set(pages), "run make docs-reference"


def test_every_key_of_a_spec_has_a_meaning() -> None:
    assert undescribed() == [], "write a docstring behind the field"


def test_every_row_says_what_it_means(pages: Mapping[str, str]) -> None:
    empty = {
        name: rows for name, text in pages.items() if (rows := re.findall(r"^\|[^|]*\|  \|.*$", text, re.MULTILINE))
    }
    assert empty == {}
