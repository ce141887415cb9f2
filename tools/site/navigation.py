"""Owns the site's navigation: that of the index, docs/README.md, so that it is told once."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_INDEX = "docs/README.md"
_INDEX_IN_CHINESE = "docs/README.zh.md"
_PROJECT = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "BENCHMARKS.md", "examples/README.md"]
_HEADING = re.compile(r"^## (.*)$", re.MULTILINE)


def navigation(staged: Path) -> list[Any]:
    """The `nav` of mkdocs: the README, the index, a section for each of its headings, and the project's own pages."""
    text = (staged / _INDEX).read_text(encoding="utf-8")
    parts = _HEADING.split(text)[1:]
    sections = [{title: _linked(body)} for title, body in zip(parts[::2], parts[1::2], strict=True)]
    verbs = sorted(str(page.relative_to(staged)) for page in (staged / "docs/reference/verbs").glob("*.md"))
    decisions = sorted(str(page.relative_to(staged)) for page in (staged / "docs/decisions").glob("0*.md"))
    sections[-2]["Reference"].append({"brimline …": verbs})
    sections[-1]["Decisions"] += decisions
    return ["README.md", _INDEX, *sections, {"Project": _PROJECT}]


def translated_titles(staged: Path) -> Mapping[str, str]:
    """The titles of the sections in Chinese."""
    english, chinese = (
        _HEADING.findall((staged / page).read_text(encoding="utf-8")) for page in (_INDEX, _INDEX_IN_CHINESE)
    )
    return {**dict(zip(english, chinese, strict=True)), "Project": "项目"}


def _linked(body: str) -> list[Any]:
    found = [str(Path("docs") / link) for link in re.findall(r"\]\(([^)#:]+)\)", body)]
    return [page for page in found if not page.startswith("docs/..")]
