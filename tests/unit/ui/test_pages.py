"""The pages over a directory of records: what is listed, what is found, and names that are attacks."""

import os
import re
import shutil
from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from brimline.record.directory_lock import lock_directory
from brimline.ui.application import application
from brimline.ui.guard import Access
from brimline.ui.live import progress_of
from brimline.ui.pages import Pages
from brimline.ui.shelf import Shelf
from tests.support.asgi import Visitor
from tests.unit.report.report_samples import simulated_plan, write_run

SCRIPT = "<script>alert(1)</script>"
NAME = "20261126t080000z-order-service-00000001"
OTHER = "20261126t090000z-order-service-00000002"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("written") / "run", simulated_plan(rate_ops_per_s=2000.0)).directory


@pytest.fixture
def runs(written: Path, tmp_path: Path) -> Path:
    for name in (NAME, OTHER):
        shutil.copytree(written, tmp_path / "runs" / name)
    return tmp_path / "runs"


@pytest.fixture
def visitor(runs: Path) -> Visitor:
    access = Access(port=8170)
    return Visitor(application(Pages(Shelf(runs), access)), access).let_in()


def test_records_are_listed_newest_first(visitor: Visitor) -> None:
    text = visitor.get("/").text
    assert re.findall(r'<td class="leading long"><a id="record-([^"]+)"', text) == [OTHER, NAME]
    assert '<option value="run">' in text and "Compare two" in text


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("kind=run", 2),
        ("kind=sweep", 0),
        ("text=ORDER", 2),
        ("text=00000002", 1),
        ("outcome=killed", 0),
        ("text=%25", 0),
    ],
)
def test_filters_narrow_the_list(query: str, count: int, visitor: Visitor) -> None:
    assert visitor.get(f"/?{query}").text.count('class="leading long"') == count
    assert visitor.get(f"/rows?{query}").text.count('class="leading long"') == count


def test_a_directory_without_records_says_so(tmp_path: Path) -> None:
    access = Access(port=8170)
    for place in (tmp_path, tmp_path / "none"):
        text = Visitor(application(Pages(Shelf(place), access)), access).let_in().get("/").text
        assert "There are no records yet." in text


def test_a_report_is_made_when_it_is_asked_for_and_is_shut_in(visitor: Visitor, runs: Path) -> None:
    page = visitor.get(f"/records/{NAME}").text
    assert f'<iframe sandbox="allow-scripts" src="/records/{NAME}/report?lang=en"' in page
    answer = visitor.get(f"/records/{NAME}/report?lang=en")
    assert answer.status == 200 and "<h1>order-service</h1>" in answer.text
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts; default-src 'none'")
    assert not (runs / NAME / "report.html").exists(), "who reads writes nothing"
    assert '<html lang="zh-CN">' in visitor.get(f"/records/{NAME}/report?lang=zh").text


def test_a_report_that_is_there_is_shown_as_it_is(visitor: Visitor, runs: Path) -> None:
    (runs / NAME / "report.html").write_text('<html lang="en">stored')
    assert visitor.get(f"/records/{NAME}/report?lang=en").text == '<html lang="en">stored'
    assert "stored" not in visitor.get(f"/records/{NAME}/report?lang=zh").text


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../secret",
        "%2e%2e",
        "..%2fsecret",
        "%2fetc%2fpasswd",
        ".",
        "%00",
        "nothing",
        "a" * 300,
        "linked",
        "..%5c",
    ],
)
def test_nothing_outside_of_the_directory_is_found(path: str, visitor: Visitor, runs: Path, written: Path) -> None:
    shutil.copytree(written, runs.parent / "secret")
    (runs / "linked").symlink_to(runs.parent / "secret")
    for url in (f"/records/{path}", f"/records/{path}/report", f"/compare?r={path}&r={NAME}"):
        answer = visitor.get(url)
        assert answer.status in (400, 404), (url, answer.status)
        assert "order-service</h1>" not in answer.text


def test_a_name_is_text(visitor: Visitor, runs: Path) -> None:
    state = runs / NAME / "record.json"
    state.write_text(state.read_text().replace('"order-service"', f'"{SCRIPT}"'))
    (runs / NAME).rename(runs / "20261126t080000z-<b>-00000001")
    text = visitor.get("/").text
    assert "<script>alert" not in text and "<b>" not in text and SCRIPT in unescape(text)
    assert "<script>alert" not in visitor.get(f"/?text={SCRIPT}&kind={SCRIPT}").text
    assert "<script>alert" not in visitor.get(f"/records/{SCRIPT}").text
    assert visitor.get("/records/20261126t080000z-%3Cb%3E-00000001").status == 200


def test_a_damaged_record_is_in_the_list_and_hides_no_other(visitor: Visitor, runs: Path) -> None:
    (runs / NAME / "record.json").write_text("{")
    text = visitor.get("/").text
    assert text.count('class="leading long"') == 2 and '<span class="tag fail">damaged</span>' in text
    assert visitor.get(f"/records/{NAME}/report").status in (400, 404)


def test_what_is_wrong_with_a_report_is_shown_within_its_frame(visitor: Visitor, runs: Path) -> None:
    """A browser doesn't show a page in a frame that forbids it, and nothing is loaded there."""
    (runs / NAME / "record.json").write_text("{")
    for url in (f"/records/{NAME}/report", f"/compare/report?a={NAME}&b={OTHER}"):
        answer = visitor.get(url)
        assert answer.status in (400, 404) and '<p class="text fail">' in answer.text
        assert answer.headers["content-security-policy"].startswith("sandbox")
        assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]
        assert "/static/" not in answer.text and "<a " not in answer.text and "<style>" in answer.text
    assert "frame-ancestors 'none'" in visitor.get("/nothing").headers["content-security-policy"]


def test_two_records_are_compared_the_older_one_first(visitor: Visitor) -> None:
    page = visitor.get(f"/compare?r={OTHER}&r={NAME}").text
    assert f"A: {NAME}<br>B: {OTHER}" in page
    answer = visitor.get(f"/compare/report?a={NAME}&b={OTHER}&lang=en")
    assert answer.status == 200 and "One run of either side shows no spread" in answer.text
    for query in ("", f"r={NAME}", f"r={NAME}&r={OTHER}&r=x", f"r={NAME}&r={NAME}"):
        assert visitor.get(f"/compare?{query}").status == 404


def test_what_is_being_written_is_running_with_what_is_known_of_it(visitor: Visitor, runs: Path) -> None:
    assert "Running now" not in visitor.get("/running").text
    descriptor = lock_directory(runs / NAME)
    try:
        text = visitor.get("/running").text
        assert "Running now" in text and f'data-names="{NAME} 0"' in text
        assert re.search(r'<progress max="1" value="\d', text)
    finally:
        os.close(descriptor)


def test_how_far_a_run_has_come_follows_from_its_files(runs: Path) -> None:
    whole = progress_of(runs / NAME)
    assert whole.share == 1.0 and whole.elapsed_s and whole.rate_ops_per_s is not None and whole.trials is None
    lines = (runs / NAME / "intervals.csv").read_text().splitlines(keepends=True)
    (runs / NAME / "intervals.csv").write_text("".join(lines[:3]) + lines[3][:5])
    half = progress_of(runs / NAME)
    assert half.share is not None and half.share < 1.0 and half.elapsed_s == int(lines[2].split(",")[2]) / 1e9
    (runs / NAME / "intervals.csv").unlink()
    assert progress_of(runs / NAME).share is None


def test_the_page_is_in_the_language_that_was_asked_for(visitor: Visitor) -> None:
    answer = visitor.get("/?lang=zh")
    assert '<html lang="zh-CN">' in answer.text and "比较两条运行记录" in answer.text
    assert "SameSite=strict" in answer.headers["set-cookie"]
    assert "比较两条运行记录" in visitor.get("/", cookie=f"{visitor.cookie}; brimline-lang=zh").text
    assert '<html lang="en">' in visitor.get("/?lang=xx").text


def test_a_study_is_listed_with_its_document(visitor: Visitor, runs: Path) -> None:
    name = "20261126t100000z-study-s1-drivers"
    inside = runs / name / "experiments" / "first" / NAME
    shutil.copytree(runs / NAME, inside)
    (runs / name / "study.json").write_text("{}")
    text = visitor.get("/?kind=study").text
    assert ">s1-drivers</a>" in text and '<span class="tag warn">stopped</span>' in text
    assert "has no document yet" in visitor.get(f"/records/{name}/report").text
    descriptor = lock_directory(inside)
    try:
        assert "study · s1-drivers" in visitor.get("/running").text
    finally:
        os.close(descriptor)
    (runs / name / "document.html").write_text("<h1>whole</h1>")
    assert '<span class="tag muted">completed</span>' in visitor.get("/rows?kind=study").text
    answer = visitor.get(f"/records/{name}/report")
    assert answer.text == "<h1>whole</h1>" and answer.headers["content-security-policy"].startswith("sandbox")


def test_no_page_asks_for_anything_from_elsewhere(visitor: Visitor) -> None:
    for url in ("/", f"/records/{NAME}", f"/compare?r={NAME}&r={OTHER}", "/nothing", "/static/ui.css", "/static/ui.js"):
        assert not re.search(r"(https?:)?//[a-z]", visitor.get(url).text.replace("// ", "")), url


def test_what_there_is_no_page_for_is_said(visitor: Visitor) -> None:
    for url in ("/nothing", "/static/", "/static/..%2fpages.py", "/static/pages.py", "/records/"):
        assert visitor.get(url).status == 404, url
