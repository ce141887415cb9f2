"""What the site is made of: every page has a place in its navigation, and links of Chinese pages stay in Chinese."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.site.hooks import on_post_page
from tools.site.navigation import navigation, translated_titles
from tools.site.staging import stage

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("site")
    stage(ROOT, into)
    return into


def pages_of(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            for below in entry.values():
                yield from pages_of(below)


def test_every_page_of_the_documentation_has_its_place_once(staged: Path) -> None:
    placed = list(pages_of(navigation(staged)))
    assert len(placed) == len(set(placed))
    there = {str(page.relative_to(staged)) for page in (staged / "docs").rglob("*.md") if ".zh." not in page.name}
    assert there - set(placed) == set()
    assert [page for page in placed if not (staged / page).exists()] == []


def test_each_section_has_a_chinese_title(staged: Path) -> None:
    sections = {title for entry in navigation(staged) if isinstance(entry, dict) for title in entry}
    assert sections == set(translated_titles(staged))


def test_links_stay_in_the_site_and_in_the_language(staged: Path) -> None:
    for page in staged.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        links = re.findall(r"(?<!!)\[[^\]]*\]\(([^)\s#]+)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
        outside = [link for link in links if ":" not in link and not (page.parent / link).is_file()]
        assert not outside, f"{page}: {outside}"
        assert not [link for link in links if link.endswith(".zh.md")], page


def test_a_heading_of_a_chinese_page_is_found_by_its_english_name_too(staged: Path) -> None:
    """For pages that there are in English only. `## Prometheus` is one name in both languages, and comes once."""
    text = (staged / "docs/guides/failover.zh.md").read_text(encoding="utf-8")
    assert text.startswith("# 故障切换的代价\n") and '<div id="faults"></div>\n\n## 故障\n' in text
    telemetry = (staged / "docs/guides/telemetry.zh.md").read_text(encoding="utf-8")
    assert "prometheus" not in re.findall(r'<div id="([^"]*)">', telemetry)


def test_a_bar_in_a_table_shows_without_a_backslash(staged: Path) -> None:
    text = (staged / "docs/reference/verbs/run.md").read_text(encoding="utf-8")
    assert "`--client <wire|pymongo|" in text and r"\|" not in text


def test_files_that_pages_link_to_are_there(staged: Path) -> None:
    assert (staged / "docs/images/report.png").stat().st_size == (ROOT / "docs/images/report.png").stat().st_size
    assert (staged / "LICENSE").exists() and not (staged / "tests").exists()


def test_the_name_of_an_option_is_kept_on_one_line() -> None:
    marked = on_post_page("<code>run --rate 5000/s -q</code> and <code>a-b</code>, <pre><code>x --y\nz</code></pre>")
    rate, quiet = (f'<span class="option">{name}</span>' for name in ("--rate", "-q"))
    assert marked == f"<code>run {rate} 5000/s {quiet}</code> and <code>a-b</code>, <pre><code>x --y\nz</code></pre>"
