"""The site as a reader opens it: from the disk, without a network, on a phone and on a desktop, in both languages."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from brimline.study.writing.browser import find_chromium
from tests.browser.chromium import Chromium

SITE = Path(__file__).parents[2] / "target" / "site"
PAGES = (
    "index.html",
    "docs/index.html",
    "docs/start/your-server.html",
    "docs/reference/spec.html",
    "docs/reference/options.html",
    "ARCHITECTURE.html",
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_chromium() is None, reason="no Chromium is installed: make browser"),
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built: make test-docs"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    executable = find_chromium()
    assert executable is not None
    with Chromium(executable) as chromium:
        yield chromium


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("page", [*PAGES, *(f"zh/{page}" for page in PAGES)])
def test_a_page_asks_for_nothing_and_complains_of_nothing(browser: Chromium, page: str, width: int) -> None:
    browser.problems.clear()
    browser.requests.clear()
    browser.open(SITE / page, width=width, ready="document.readyState === 'complete'")
    assert browser.problems == []
    assert [each for each in browser.requests if not each.startswith(("file:", "data:"))] == []
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    options = "[...document.querySelectorAll('article .option')]"
    assert browser.evaluate(f"{options}.filter(each => each.getClientRects().length > 1).length") == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_names_in_a_table_stay_whole(browser: Chromium, width: int) -> None:
    """Of `unlimited` a phone showed `unlimit` and `ed`."""
    browser.open(SITE / "zh/docs/concepts/load-models.html", width=width, ready="document.readyState === 'complete'")
    names = "[...document.querySelectorAll('td code')].filter(each => /^\\w+$/.test(each.textContent))"
    assert browser.evaluate(f"{names}.length") > 5
    assert browser.evaluate(f"{names}.filter(each => each.getClientRects().length > 1).length") == 0


@pytest.mark.parametrize(("page", "words"), [("index.html", "hotspot"), ("zh/index.html", "区间")])
def test_the_search_finds(browser: Chromium, page: str, words: str) -> None:
    browser.open(SITE / page, width=1280, ready="document.readyState === 'complete'")
    browser.evaluate(
        "(() => { const field = document.querySelector('.md-search__input'); field.focus();"
        f" field.value = '{words}'; field.dispatchEvent(new Event('keyup', {{bubbles: true}}));"
        " field.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    browser.wait_for("document.querySelectorAll('.md-search-result__item').length > 0")


def test_the_menu_leads_to_the_same_page_in_chinese(browser: Chromium) -> None:
    browser.open(SITE / "docs/start/your-server.html", width=1280, ready="document.readyState === 'complete'")
    target = browser.evaluate("document.querySelector('.md-select__link[hreflang=zh]').href")
    assert target == (SITE / "zh/docs/start/your-server.html").as_uri()
