"""What was asked for and never went out can't be missed, wherever a report is read."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from brimline.analysis.observation import observe
from brimline.report import Report, print_report, render_html, run_report
from brimline.report.markdown import render_markdown
from tests.unit.report.report_samples import script, simulated_plan, write_run

FIRST = (
    "Planned 200 000, sent 179 960: 20 040 (10 %) never went out, the oldest was due 1.00 s before the end; "
    "all 20 places for operations in flight were taken."
)
BADGE = "20 040 never sent"


def run_at(directory: Path, rate_ops_per_s: float) -> Report:
    """Ten seconds on 20 connections to a server that takes just so long that 179 960 operations go out at most."""
    answers = script(service={"kind": "fixed", "ns": 1_111_368}, servers=None)
    plan = simulated_plan(rate_ops_per_s=rate_ops_per_s, connections=20, warmup_s=0, script=answers)
    record = write_run(directory, plan)
    return run_report(record, observe(record))


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return run_at(tmp_path_factory.mktemp("behind") / "run", 20_000.0)


def printed(report: Report) -> str:
    console = Console(file=io.StringIO(), width=300, no_color=True)
    print_report(report, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def plain(text: str) -> str:
    """A browser's spaces that no line breaks at, as spaces."""
    return text.replace("\u202f", " ").replace("\u00a0", " ")


def test_it_is_the_first_sentence_and_the_first_badge(behind: Report) -> None:
    assert behind.verdict.sentence.startswith(FIRST)
    assert (behind.verdict.badges[0].text, behind.verdict.badges[0].tone) == (BADGE, "fail")


@pytest.mark.parametrize("render", [printed, render_html, render_markdown])
def test_every_rendering_says_both_before_any_latency(behind: Report, render: Callable[[Report], str]) -> None:
    head, found, _ = plain(render(behind)).partition("p99 response time")
    assert found
    assert FIRST in head and BADGE in head


def test_a_run_that_sent_what_was_planned_says_neither(tmp_path: Path) -> None:
    report = run_at(tmp_path / "run", 2_000.0)
    assert "never" not in report.verdict.sentence and "lanned" not in report.verdict.sentence
    assert not [each.text for each in report.verdict.badges if "never sent" in each.text]
    assert "never sent" not in plain(printed(report) + render_html(report))
