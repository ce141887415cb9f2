"""The page of `brimline ui` in a real browser: read, compared, watched, with the keyboard, on a phone, in Chinese."""

import re
import signal
from collections.abc import Iterator

import pytest

pytest.importorskip("uvicorn")

from brimline.study.writing.browser import find_chromium
from tests.browser.chromium import Chromium
from tests.support.command_line import CommandLine
from tests.support.repetitions import each_once
from tests.support.waiting import eventually

pytestmark = pytest.mark.browser

EXECUTABLE = find_chromium()
if EXECUTABLE is None:
    pytest.skip("no Chromium on this machine: install the package chromium", allow_module_level=True)

READY = "document.documentElement?.dataset.script === 'ready'"
SHORT = ("--null", "--records", "100", "--warmup", "0s", "-q")
WIDTHS_PX = (390, 1280)


@pytest.fixture(scope="module")
def command_line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    with CommandLine.below(tmp_path_factory.mktemp("ui")) as started:
        for workload in ("ycsb-c", "ycsb-b"):
            started.run("run", workload, "--rate", "500/s", "--duration", "300ms", *SHORT)
        yield started


@pytest.fixture(scope="module")
def address(command_line: CommandLine) -> Iterator[str]:
    """The first address of a page over two records."""
    running = command_line.start("ui", "--port", "0")
    assert running.process.stdout is not None
    yield running.process.stdout.readline().strip()
    running.send(signal.SIGTERM)
    running.end(timeout_s=30)


@pytest.fixture(scope="module")
def browser(address: str) -> Iterator[Chromium]:
    assert EXECUTABLE is not None
    with Chromium(EXECUTABLE) as chromium:
        chromium.open(address, width=1280, offline=False, ready=READY)
        assert chromium.evaluate("location.search") == "", "the token leaves the address"
        yield chromium
        own = re.match(r"http://[^/]+", address)
        assert own is not None
        assert not [each for each in chromium.requests if not each.startswith((own[0], "data:"))]
        assert not [each for each in chromium.problems if "404" not in each], "but for the page that there is none of"


@pytest.fixture
def base(address: str) -> str:
    return address.partition("/?")[0]


def go(browser: Chromium, url: str, *, width: int = 1280) -> None:
    browser.evaluate("delete document.documentElement.dataset.script")
    browser.open(url, width=width, offline=False, ready=READY)


@pytest.mark.parametrize(("language", "width"), each_once(["en", "zh"], WIDTHS_PX))
def test_nothing_is_wider_than_the_window(width: int, language: str, browser: Chromium, base: str) -> None:
    names = browser_names(browser, base)
    for path in ("/", "/records/{}", "/compare?r={}&r={}", "/start", "/start/run", "/start/ab", "/nothing"):
        url = base + path.format(*names[: path.count("{}")])
        go(browser, f"{url}{'&' if '?' in url else '?'}lang={language}", width=width)
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), url


def browser_names(browser: Chromium, base: str) -> list[str]:
    go(browser, f"{base}/?lang=en")
    names: list[str] = browser.evaluate("[...document.querySelectorAll('input[name=r]')].map(each => each.value)")
    return names


def test_two_are_ticked_and_compared_with_the_keyboard(browser: Chromium, base: str) -> None:
    names = browser_names(browser, base)
    assert len(names) >= 2
    browser.press("Tab")
    assert browser.evaluate("document.activeElement.className") == "skip"
    browser.evaluate(f"document.getElementById('tick-{names[0]}').focus()")
    browser.press(" ")
    browser.evaluate(f"document.getElementById('tick-{names[1]}').focus()")
    browser.press(" ")
    assert browser.evaluate("document.querySelectorAll('input:checked').length") == 2
    browser.press("Enter")
    browser.wait_for("location.pathname === '/compare'")
    browser.wait_for(READY)
    assert browser.evaluate("document.querySelector('iframe').src.includes('/compare/report')")


def test_a_report_is_drawn_and_can_reach_nothing(browser: Chromium, base: str) -> None:
    (name, *_) = browser_names(browser, base)
    browser.open(
        f"{base}/records/{name}/report?lang=en",
        width=1280,
        offline=False,
        ready="document.readyState === 'complete' && document.documentElement.dataset.charts === 'drawn'",
    )
    assert browser.evaluate("window.origin") == "null", "it has no origin, and so no cookie"


AT_WORK = "#running > ul > li"
"""Not what was started from the page and ended: that is listed below."""


@pytest.mark.slow("starts brimline as a process")
def test_what_runs_is_shown_and_what_ended_comes_into_the_list(
    browser: Chromium, base: str, command_line: CommandLine
) -> None:
    before = len(browser_names(browser, base))
    running = command_line.start("run", "ycsb-a", "--rate", "500/s", "--duration", "1min", *SHORT)
    browser.wait_for(f"document.querySelector('{AT_WORK}') !== null")
    browser.wait_for(f"/\\d+ s|ms/.test(document.querySelector('{AT_WORK}')?.textContent ?? '')")
    assert browser.evaluate(f"document.querySelector('{AT_WORK} a').textContent").endswith("ycsb-a")
    running.send(signal.SIGTERM)
    running.end()
    browser.wait_for(f"document.querySelector('{AT_WORK}') === null")
    browser.wait_for(f"document.querySelectorAll('input[name=r]').length === {before + 1}")


@pytest.mark.slow("starts brimline as a process")
def test_a_run_is_started_from_its_form_and_stopped(browser: Chromium, base: str, command_line: CommandLine) -> None:
    go(browser, f"{base}/start/run?lang=en")
    browser.evaluate(
        """for (const [name, value] of Object.entries({'WORKLOAD': 'ycsb-c', '--records': '100', '--rate': '200/s',
                                                       '--duration': '10min', '--warmup': '0s'}))
             document.getElementsByName(name)[0].value = value;
           document.getElementsByName('--null')[0].checked = true;
           document.querySelector('form.verb button').focus()"""
    )
    browser.press("Enter")
    browser.wait_for("/^.jobs.\\d+$/.test(location.pathname)")
    browser.wait_for("document.querySelector('#its-record') !== null")
    browser.wait_for("Number(document.querySelector('#state progress')?.value) > 0")
    browser.evaluate("document.getElementById('stop').focus()")
    browser.press("Enter")
    browser.wait_for("document.querySelector('#state .tag')?.textContent === 'stopped'")
    record = command_line.record_directories()[-1]
    assert '"interrupt"' in (record / "record.json").read_text()


STUDY = """\
name: tiny
title: {en: Tiny, zh: 小测试}
purpose: [{en: To see., zh: 试一试。}]
experiments:
  - name: one
    title: {en: One, zh: 一}
    verb: run
    workload: ycsb-c
    options: {null: true, records: 100, rate: 200/s, duration: 200ms, warmup: 0s}
"""


def tab_to(browser: Chromium, what: str, *, stops_max: int = 60) -> None:
    """Goes on with the Tab key until the element that is `what` has the focus."""
    for _ in range(stops_max):
        if browser.evaluate(f"document.activeElement.matches({what!r})"):
            return
        browser.press("Tab")
    raise AssertionError(f"the Tab key does not come to {what}")


@pytest.mark.slow("starts brimline as a process, whose study is made to its end")
def test_a_study_is_started_on_a_phone_by_the_keyboard_alone(browser: Chromium, base: str) -> None:
    go(browser, f"{base}/?lang=zh", width=390)
    tab_to(browser, "a[href^='/start']")
    browser.press("Enter")
    browser.wait_for("location.pathname === '/start'")
    browser.wait_for(READY)
    tab_to(browser, "a[href='/start/study%20run']")
    browser.press("Enter")
    browser.wait_for("location.pathname === '/start/study%20run'")
    browser.wait_for(READY)
    tab_to(browser, "select[name=STUDY]")
    browser.press("自")  # what the choice of a text of one's own begins with
    assert browser.evaluate("document.querySelector('.own').checkVisibility()")
    tab_to(browser, ".own textarea")
    browser.call("Input.insertText", text=STUDY)
    tab_to(browser, "summary:not(details[open] > summary)")
    browser.press("Enter")
    tab_to(browser, "input[name='--scale']")
    browser.call("Input.insertText", text="ci")
    tab_to(browser, "input[name='--format']")
    browser.call("Input.insertText", text="html")
    tab_to(browser, "form.verb button")
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    browser.press("Enter")
    browser.wait_for("/^.jobs.\\d+$/.test(location.pathname)")
    browser.wait_for("document.querySelector('#state a') !== null && !document.querySelector('#state progress')")
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab_to(browser, "#state a[href*=study-tiny]")
    browser.press("Enter")
    browser.wait_for("/study-tiny$/.test(location.pathname)")
    browser.wait_for(READY)
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    document = browser.evaluate("fetch(document.querySelector('iframe').src).then(each => each.text())")
    assert "小测试" in document and "测试目的" in document


def test_why_there_is_no_report_is_seen_in_its_frame(browser: Chromium, base: str, command_line: CommandLine) -> None:
    (name, *_) = browser_names(browser, base)
    damaged = command_line.directory / "runs" / f"{name}-damaged"
    damaged.mkdir()
    (damaged / "record.json").write_text("{")
    try:
        go(browser, f"{base}/records/{damaged.name}?lang=en")
        source = browser.evaluate("document.querySelector('iframe').src")
        browser.open(source, width=1280, offline=False, ready="document.querySelector('.fail') !== null")
        assert browser.evaluate("document.querySelector('style') !== null && window.origin === 'null'")
        assert not [each for each in browser.problems if "Framing" in each], "the page that framed it was let to"
        refused = "a status of 400"
        assert [each for each in browser.problems if refused in each], "a damaged record has no report"
        browser.problems[:] = [each for each in browser.problems if refused not in each]
    finally:
        (damaged / "record.json").unlink()
        damaged.rmdir()


def test_a_file_becomes_the_text_that_is_sent(browser: Chromium, base: str) -> None:
    go(browser, f"{base}/start/run")
    own = "document.querySelector('.own').checkVisibility()"
    assert not browser.evaluate(own)
    browser.evaluate("document.getElementsByName('WORKLOAD')[0].value = 'own text'")
    assert browser.evaluate(own)
    browser.evaluate(
        """const given = new DataTransfer();
           given.items.add(new File(['operations: {read: 1}'], 'own.yaml'));
           const chosen = document.querySelector('.own input[type=file]');
           chosen.files = given.files;
           chosen.dispatchEvent(new Event('change'))"""
    )
    browser.wait_for("document.querySelector('.own textarea').value === 'operations: {read: 1}'")


def test_without_a_script_all_can_be_read(browser: Chromium, base: str) -> None:
    names = browser_names(browser, base)
    browser.scripts(allowed=False)
    try:
        browser.open(f"{base}/", width=1280, offline=False, ready="document.readyState === 'complete'")
        shown = browser.evaluate("document.body.innerText")
        assert all(name.split("-", 1)[1].rsplit("-", 1)[0] in shown for name in names)
        assert browser.evaluate("document.documentElement.dataset.script === undefined")
    finally:
        browser.scripts(allowed=True)


@pytest.mark.slow("starts brimline as a process")
def test_the_server_ends_when_it_is_told_to(command_line: CommandLine) -> None:
    running = command_line.start("ui", "--port", "0")
    assert running.process.stdout is not None and running.process.stdout.readline().startswith("http://127.0.0.1:")
    running.send(signal.SIGTERM)
    assert eventually(lambda: running.process.poll() is not None)
    assert "Traceback" not in running.end().stderr
