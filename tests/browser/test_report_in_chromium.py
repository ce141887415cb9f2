"""The report in a real browser, from disk, with the network off."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from brimline.report import Report, in_language, write_html
from brimline.study.writing.browser import find_chromium
from tests.browser.chromium import Chromium
from tests.support.repetitions import each_once, repetitions
from tests.unit.report.every_kind import every_kind_once
from tests.unit.report.report_samples import make_reports, overloaded_run

pytestmark = pytest.mark.browser

EXECUTABLE = find_chromium()
if EXECUTABLE is None:
    pytest.skip("no Chromium on this machine: install the package chromium", allow_module_level=True)

PLOTS = {
    "run": 9,
    "own": 6,
    "load": 8,
    "sweep": 1,
    "capacity": 11,
    "frontier": 3,
    "ab": 2,
    "comparison": 2,
    "trend": 2,
    "imported": 3,
    "import": 2,
    "growth": 5,
    "interference": 3,
    "scan": 3,
    "failover": 3,
    "vary": 4,
    "soak": 6,
}
"""How many charts each kind of report has."""
CHINESE = tuple(f"{kind}-zh" for kind in PLOTS)
PHONE_PX, TABLET_PX, DESK_PX = 390, 768, 1440
PAPER_PX = 703
"""A4 between its margins."""


POINTING = """
    const plot = id => document.getElementById('chart-' + id);
    const hoverable = (id, name) => {
        const drawn = charts.drawn[id];
        return [drawn, drawn.hoverable.filter(each => each.trace.name === name)[4]];
    };
    const send = (kind, drawn, x, y) => {
        const element = document.getElementById(drawn.id), box = element.getBoundingClientRect();
        element.setPointerCapture = () => {};
        element.dispatchEvent(new PointerEvent(kind, {
            clientX: box.left + x, clientY: box.top + y, pointerType: 'mouse', button: 0,
            bubbles: true, cancelable: true,
        }));
    };
    const texts = () => [...document.querySelectorAll('.hover text')].map(each => each.textContent);
"""
"""A pointer's events at places of a chart, and what is shown for them."""


class Files:
    """The HTML of each kind of report, written when a test asks for it."""

    def __init__(self, reports: Mapping[str, Report], directory: Path) -> None:
        self._reports = reports
        self._directory = directory

    def __getitem__(self, kind: str) -> Path:
        path = self._directory / f"{kind}.html"
        if not path.exists():
            name, _, language = kind.partition("-")
            write_html(in_language(self._reports[name], language or "en"), path)
        return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    directory = tmp_path_factory.mktemp("reports")
    return Files(every_kind_once(tmp_path_factory, lambda: make_reports(directory)), directory)


@pytest.fixture(scope="module")
def overloaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By language: a server that answers a quarter of what it is asked, after more than 10 s."""
    directory = tmp_path_factory.mktemp("overloaded")
    report = overloaded_run(directory / "record")
    paths = {language: directory / f"{language}.html" for language in ("en", "zh")}
    for language, path in paths.items():
        write_html(in_language(report, language), path)
    return paths


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    assert EXECUTABLE is not None
    with Chromium(EXECUTABLE) as chromium:
        yield chromium


@dataclass(frozen=True, slots=True)
class Page:
    """A report that is shown, and what there was of it until it was drawn."""

    browser: Chromium
    kind: str
    width: int
    problems: tuple[str, ...]
    requests: tuple[str, ...]

    def evaluate(self, expression: str) -> Any:
        return self.browser.evaluate(expression)


@pytest.fixture(scope="module")
def page(request: pytest.FixtureRequest, browser: Chromium, files: Files) -> Page:
    """Opened once for all tests that ask for the same: pytest puts them one after the other."""
    kind, width, medium = request.param
    browser.problems.clear()
    browser.requests.clear()
    browser.open(files[kind], width=width, medium=medium)
    return Page(browser, kind, width, tuple(browser.problems), tuple(browser.requests))


Look = tuple[str, int, str]
"""A kind of report, how wide the window is, and its medium where that is no screen."""


def looks(kinds: Iterable[str], *each: tuple[int, str]) -> list[Look]:
    return [(kind, *look) for kind in kinds for look in each]


def pages(every: Sequence[Look]) -> pytest.MarkDecorator:
    """Those that `make test` looks at, and the same reports in other windows and in Chinese for `make test-all`."""
    quick = looks(PLOTS, PHONE) + looks(MIXED, DESK, PAPER) + looks(IN_CHINESE, PHONE)
    names = ["-".join(map(str, filter(None, each))) for each in every]
    marks = [[] if each in quick else [pytest.mark.long] for each in every]
    cases = [pytest.param(each, id=name, marks=mark) for each, name, mark in zip(every, names, marks, strict=True)]
    return pytest.mark.parametrize("page", cases, indirect=True)


PHONE, TABLET, DESK, PAPER = (PHONE_PX, ""), (TABLET_PX, ""), (DESK_PX, ""), (PAPER_PX, "print")
MIXED = ("run", "vary")
"""Between them they have each kind of chart and of table."""
IN_CHINESE = ("run-zh", "capacity-zh")


@pages(looks((*PLOTS, *CHINESE), PHONE, DESK) + looks(PLOTS, TABLET))
def test_page_draws_everything_and_fits_its_window(page: Page) -> None:
    assert page.problems == ()
    assert {url.partition(":")[0] for url in page.requests} <= {"file", "data", "blob"}
    assert page.evaluate("document.documentElement.scrollWidth") <= page.width
    plots = page.evaluate(
        """[...document.querySelectorAll('.plot')].map(plot => ({
            id: plot.id,
            width: plot.clientWidth,
            drawn: plot.querySelector('svg.chart-drawing').clientWidth,
            marks: plot.querySelectorAll('.trace path, .trace rect').length,
        }))"""
    )
    assert len(plots) == PLOTS[page.kind.removesuffix("-zh")]
    for plot in plots:
        assert plot["drawn"] == plot["width"] > 0, plot
        assert plot["marks"] > 0, plot


@pages(looks((*PLOTS, *CHINESE), PHONE))
def test_no_text_of_a_chart_is_cut_at_its_edge(page: Page) -> None:
    cut = page.evaluate(
        """[...document.querySelectorAll('.plot text')].filter(text => {
            const own = text.getBoundingClientRect(), plot = text.closest('.plot').getBoundingClientRect();
            return own.width && (own.left < plot.left - 1 || own.right > plot.right + 1
                || own.top < plot.top - 1 || own.bottom > plot.bottom + 1);
        }).map(text => text.textContent)"""
    )
    assert cut == []


@pages(looks((*PLOTS, *CHINESE), PHONE))
def test_text_is_never_wider_than_its_box(page: Page) -> None:
    overflowing = page.evaluate(
        """[...document.querySelectorAll('td, dd, p, h1, h2, h3, figcaption, pre, li')]
            .filter(element => element.getClientRects().length)
            .filter(element => element.scrollWidth > element.clientWidth + 1)
            .map(element => element.textContent.slice(0, 60))"""
    )
    assert overflowing == []


@pages(looks(PLOTS, PHONE, DESK, PAPER))
def test_tables_stay_in_their_cards_and_words_in_one_piece(page: Page) -> None:
    wide = page.evaluate(
        """[...document.querySelectorAll('.table')]
            .map(card => ({
                section: card.closest('section').id,
                over: card.querySelector('table').getBoundingClientRect().right - card.getBoundingClientRect().right
                    + parseFloat(getComputedStyle(card).paddingRight),
            }))
            .filter(each => each.over > 1)"""
    )
    assert wide == []
    broken = page.evaluate(
        """[...document.querySelectorAll('td')].filter(cell => cell.getClientRects().length).flatMap(cell => {
            const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
            while (texts.nextNode()) {
                for (const word of texts.currentNode.data.matchAll(/(?<![\\w./:-])[A-Za-z]{2,13}(?![\\w./:-])/g)) {
                    const range = document.createRange();
                    range.setStart(texts.currentNode, word.index);
                    range.setEnd(texts.currentNode, word.index + word[0].length);
                    if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) {
                        found.push(word[0]);
                    }
                }
            }
            return found;
        })"""
    )
    assert broken == []


@pytest.mark.parametrize(("language", "width"), each_once(["en", "zh"], [390, 900, 1280]))
def test_wide_figures_of_an_overloaded_server_stay_on_the_page(
    browser: Chromium, overloaded: dict[str, Path], language: str, width: int
) -> None:
    """At 1 280 px the table of operations fits; in a narrower window its card scrolls."""
    browser.open(overloaded[language], width=width)
    assert "≥" in browser.evaluate("document.querySelector('#operations table').textContent")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    over = browser.evaluate(
        """[...document.querySelectorAll('.table')]
            .filter(card => card.scrollWidth > card.clientWidth)
            .map(card => getComputedStyle(card).overflowX)"""
    )
    assert over == ([] if width != 900 else ["auto"])


@pytest.mark.parametrize("width", [1440, *repetitions(390)])
def test_charts_over_time_begin_and_end_at_the_same_place(browser: Chromium, files: Files, width: int) -> None:
    browser.open(files["run"], width=width)
    edges = browser.evaluate(
        """Object.entries(charts.drawn).filter(([id]) => id !== 'percentiles')
            .map(([, drawn]) => [drawn.left, drawn.right])"""
    )
    assert len(edges) == 8
    assert {tuple(edge) for edge in edges} == {tuple(edges[0])}


def test_turning_the_phone_draws_the_charts_anew(browser: Chromium, files: Files) -> None:
    browser.open(files["sweep"], width=390)
    browser.resize(width=844, height=390)
    browser.wait_for(
        """[...document.querySelectorAll('.plot')].every(plot =>
            plot.clientWidth > 600 && plot.querySelector('svg.chart-drawing').clientWidth === plot.clientWidth)"""
    )


def test_a_pointer_near_a_point_shows_its_figures(browser: Chromium, files: Files) -> None:
    browser.open(files["run"], width=1440)
    chart, _, shown = browser.evaluate(f"""(() => {{ {POINTING}
        const [drawn, point] = hoverable('over-time', 'answered');
        send('pointermove', drawn, point.x + 3, point.y + 3);
        return [drawn.width, point.x, texts()];
    }})()""")
    assert chart > 600
    assert re.fullmatch(r"[\d.]+ s: [\d\u202f]+ ops/s", shown[0]) and shown[1:] == ["answered"]
    assert (
        browser.evaluate(f"""(() => {{ {POINTING}
        const [drawn, point] = hoverable('over-time', 'answered');
        send('pointermove', drawn, point.x, 1);
        return texts();
    }})()""")
        == []
    )


def test_a_drag_of_the_mouse_zooms_and_a_double_click_shows_all_again(browser: Chromium, files: Files) -> None:
    browser.open(files["run"], width=1440)
    ranges = browser.evaluate(f"""(() => {{ {POINTING}
        const [first, point] = hoverable('over-time', 'answered');
        const range = () => charts.drawn['over-time'].axes.xaxis.range.slice(), found = [range()];
        send('pointerdown', first, 300, 100);
        send('pointermove', first, 500, 104);
        found.push(document.querySelectorAll('.selection').length);
        send('pointerup', first, 500, 104);
        found.push(range());
        send('dblclick', first, 400, 100);
        return [...found, range()];
    }})()""")
    all_, selections, zoomed, again = ranges
    assert selections == 1
    assert all_[0] < zoomed[0] < zoomed[1] < all_[1]
    assert again == all_


def test_policy_stops_what_is_not_in_the_file(browser: Chromium, files: Files) -> None:
    browser.open(files["run"], width=1440, offline=False)
    browser.problems.clear()
    browser.evaluate(
        """(() => {
            const script = document.createElement('script');
            script.textContent = 'window.intruder = true';
            document.body.append(script);
            const picture = document.createElement('img');
            picture.src = 'http://127.0.0.1:9/x.png';
            document.body.append(picture);
        })()"""
    )
    browser.wait_for("document.querySelector('img') !== null")
    assert browser.evaluate("window.intruder") is None
    assert len([problem for problem in browser.problems if "Content Security Policy" in problem]) == 2


def test_it_prints_with_its_charts(browser: Chromium, files: Files, tmp_path: Path) -> None:
    browser.problems.clear()
    browser.open(files["run"], width=1440)
    browser.print(tmp_path / "report.pdf")
    content = (tmp_path / "report.pdf").read_bytes()
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 10
    assert browser.problems == []
