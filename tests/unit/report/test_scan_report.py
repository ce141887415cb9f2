"""The report of a scan with known answers: JSON, Markdown, HTML, terminal, Chinese, and the errors that follow."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from brimline.analysis.lint import contradictions, lint
from brimline.api.reopen import open_result
from brimline.api.scan import ScanResult, scan_result
from brimline.errors import GateFailed, Interrupted, InvalidRun
from brimline.record.scan import read_scan_trial, write_scan_trial
from brimline.report import in_language, print_report, render_html, render_json
from brimline.report.markdown import render_markdown
from brimline.report.scan.claims import scan_claims
from brimline.report.view import Cell, Table
from tests.unit.report.language.test_chinese_report import QUOTED, _english
from tests.unit.report.scan_samples import make_scan

NAMES = (
    "$foo",
    "FETCH",
    "IXSCAN",
    "COLLSCAN",
    "SORT",
    "time",
    "level",
    "BadValue",
    "unknown operator",
    "explain",
)


@pytest.fixture
def result(tmp_path: Path) -> ScanResult:
    return scan_result(make_scan(tmp_path / "scan"))


def test_json_has_the_rule_every_execution_and_the_unit_in_each_key(result: ScanResult) -> None:
    document = json.loads(render_json(result.report))
    (rule,) = document["rules"]
    # 2 ms to begin with and 1 µs per entry leave 9 998 000 entries in 10 s, beyond the million that was measured.
    assert rule["entries_max"] == pytest.approx(9_998_000, rel=0.02)
    assert rule["entries_interval"][0] < 9_998_000 < rule["entries_interval"][1]
    assert rule["validity"] == "extrapolated" and rule["linear"] is True
    assert rule["slope_ns_per_entry"] == pytest.approx(1_000, rel=0.02)
    largest = document["scenarios"][2]
    assert largest["entries_per_s"] == pytest.approx(1_000_000 / 1.002, rel=1e-6)
    assert largest["bytes_examined_per_s"] == pytest.approx(500_000_000 / 1.002, rel=1e-6)
    assert largest["first_over_steady"] == pytest.approx(5)
    assert [each["cache_read_share"] for each in largest["executions"]] == [0.9, 0.0, 0.0, 0.0]
    assert document["scenarios"][4]["refusal"]["code_name"] == "BadValue"
    assert {check["name"]: check["verdict"] for check in document["checks"]} == {
        "scan_counts": "pass",
        "scan_client": "pass",
    }


def test_what_the_terminal_and_markdown_say(result: ScanResult) -> None:
    output = io.StringIO()
    print_report(result.report, Console(file=output, width=200, no_color=True))
    said = output.getvalue()
    for words in (
        "if the line goes on beyond what was measured: 10 000 to 1 000 000 entries",
        "A, 100k",
        "B: the plan is FETCH ← IXSCAN {time: 1}, which is not IXSCAN {level: 1}",
        "B: 7 documents came, not 8",
        "C: unknown operator: $foo (code 2 BadValue)",
        "up to 5.00 times as long as steady",
    ):
        assert words in said, said
    assert "How many entries in what time" in render_markdown(result.report)


def test_a_rate_of_ten_times_its_own_figures_is_found_by_the_reports_own_lint(result: ScanResult) -> None:
    """The slip in S2's tables."""
    assert contradictions(lint(scan_claims(result.report))) == ()
    assert {each["result"] for each in result.report.data["lint"]} == {"pass"}
    index = next(number for number, each in enumerate(result.report.sections) if each.id == "scenarios")
    section = result.report.sections[index]
    times = section.blocks[1]
    assert isinstance(times, Table)
    column = [each.label for each in times.columns].index("Documents/s")
    rows = [list(row) for row in times.rows]
    assert rows[2][column].text == "998 000"
    rows[2][column] = Cell(text="9 980 000")
    sections = list(result.report.sections)
    sections[index] = replace(section, blocks=[section.blocks[0], replace(times, rows=rows)])
    (found,) = contradictions(lint(scan_claims(replace(result.report, sections=sections))))
    assert "ten times" in found.evidence


def test_the_charts_are_there_and_say_what_they_show(result: ScanResult) -> None:
    html = render_html(result.report)
    for name in ("scan-range-1", "scan-rates", "scan-touches"):
        assert f'"{name}"' in html or f"{name}" in html
    charts = [block for section in result.report.sections for block in section.blocks if block.kind == "chart"]
    assert [chart.id for chart in charts] == ["scan-range-1", "scan-touches", "scan-rates"]
    assert all(chart.summary for chart in charts)


def test_no_english_word_is_left(result: ScanResult) -> None:
    assert _english(in_language(result.report, "zh"), *QUOTED, *NAMES) == set()


def test_a_refused_query_then_a_contradiction_then_a_broken_expectation(tmp_path: Path) -> None:
    experiment = make_scan(tmp_path / "scan")
    refused = scan_result(experiment).error
    assert isinstance(refused, InvalidRun) and "C: the server refuses the query" in refused.message
    refusal = experiment.trials[4].directory
    write_scan_trial(refusal, {**read_scan_trial(refusal), "refusal": None}, ended_by="completed")
    broken = scan_result(experiment).error
    assert isinstance(broken, GateFailed) and "B: the plan is" in broken.message
    counted = experiment.trials[0].directory
    values = dict(read_scan_trial(counted))
    values["executions"][1]["documents"] -= 1
    write_scan_trial(counted, values, ended_by="completed")
    wrong = scan_result(experiment).error
    assert isinstance(wrong, InvalidRun) and "documents drained 9 999, by explain 10 000" in wrong.message
    interrupted = replace(scan_result(experiment), interrupted=Interrupted())
    assert interrupted.exit_code == 130


def test_it_can_be_opened_again_also_when_it_was_cut_short(tmp_path: Path) -> None:
    make_scan(tmp_path / "scan", ended_by="interrupt")
    opened = open_result(tmp_path / "scan", runs_dir=tmp_path)
    assert isinstance(opened, ScanResult)
    assert [badge.text for badge in opened.report.verdict.badges] == [
        "not as expected",
        "query refused",
        "unfinished",
        "extrapolated",
    ]
