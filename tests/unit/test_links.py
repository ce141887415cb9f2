"""Links between the pages lead to files and headings that exist, and so do the paths of pages that code names."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\((?P<file>[^)\s#]*)(?:#(?P<heading>[^)\s]*))?\)")
PAGE_IN_WORDS = re.compile(r"(?<![\w/.])docs/[\w./-]*\.md\b")
FILE_IN_WORDS = re.compile(r"`((?:[\w.-]+/)+[\w-]+\.(?:py|rs))`")
CODE = (".py", ".rs", ".toml", ".yaml", ".yml", ".md")


def tracked(*endings: str) -> list[Path]:
    """Files of the project and such as were just made, but not what is recorded of other tools."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [
        ROOT / name for name in listed if name.endswith(endings) and "golden" not in name and (ROOT / name).is_file()
    ]


PAGES = tracked(".md")


@cache
def prose(page: Path) -> str:
    """The page without its code, in which brackets mean something else."""
    without_blocks = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "code", without_blocks)


@cache
def headings(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub makes them; a second one of a name has a number."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    found: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
        found.append(f"{anchor}-{found.count(anchor)}" if anchor in found else anchor)
    return frozenset(found)


def dead(page: Path) -> Iterator[str]:
    for link in LINK.finditer(prose(page)):
        if re.match(r"[a-z]+:", link["file"]):
            continue
        target = (page.parent / link["file"]).resolve() if link["file"] else page
        if not target.exists():
            yield f"{link['file']}: no such file"
        elif link["heading"] and link["heading"] not in headings(target):
            yield f"{link['file']}#{link['heading']}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert list(dead(page)) == []


def test_pages_that_code_names_exist() -> None:
    missing = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in tracked(*CODE)
        for name in PAGE_IN_WORDS.findall(file.read_text(encoding="utf-8", errors="replace"))
        if not (ROOT / name).exists()
    }
    assert missing == set()


def test_files_that_pages_name_exist() -> None:
    """By their path, or by its end where the page is about one crate or package."""
    files = [f"/{file.relative_to(ROOT)}" for file in tracked(".py", ".rs")]
    missing = {
        f"{page.relative_to(ROOT)}: {name}"
        for page in PAGES
        for name in FILE_IN_WORDS.findall(page.read_text(encoding="utf-8"))
        if not (ROOT / name).exists() and not any(file.endswith(f"/{name}") for file in files)
    }
    assert missing == set()
