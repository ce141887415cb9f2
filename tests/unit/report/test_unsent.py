"""What was asked for and never went out can't be missed, wherever a report is read."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from brimline.analysis.compared_run import compared_run
from brimline.analysis.comparison import compare_runs
from brimline.analysis.gate import GateVerdict
from brimline.analysis.observation import observe
from brimline.analysis.run_trend import run_series
from brimline.api.comparison import compare
from brimline.record import RunRecord
from brimline.report import Report, in_language, print_report, render_html, render_json, run_report
from brimline.report.comparison.trend_view import trend_report
from brimline.report.comparison.view import comparison_report
from brimline.report.csv_export import statistics_csv
from brimline.report.markdown import render_markdown
from brimline.report.printed import table_cells
from tests.unit.report.report_samples import overloaded_run, script, simulated_plan, write_run

FIRST = (
    "Planned 200 000, sent 179 960: 20 040 (10 %) never went out, the oldest was due 1.00 s before the end; "
    "all 20 places for operations in flight were taken."
)
BADGE = "20 040 never sent"
EVIDENCE = FIRST[0].lower() + FIRST[1:].removesuffix(".")
CHINESE = "计划 200 000，发送 179 960：20 040（10%）始终未发出"
CHINESE_BADGE = "20 040 个操作始终未发出"


def record_at(directory: Path, rate_ops_per_s: float) -> RunRecord:
    """Ten seconds on 20 connections to a server that takes just so long that 179 960 operations go out at most."""
    answers = script(service={"kind": "fixed", "ns": 1_111_368}, servers=None)
    plan = simulated_plan(rate_ops_per_s=rate_ops_per_s, connections=20, warmup_s=0, script=answers)
    return write_run(directory, plan)


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return record_at(tmp_path_factory.mktemp("runs") / "late", 20_000.0)


@pytest.fixture(scope="module")
def on_time(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return record_at(tmp_path_factory.mktemp("runs") / "on-time", 2_000.0)


@pytest.fixture(scope="module")
def behind(late: RunRecord) -> Report:
    return run_report(late, observe(late))


def compared(a: RunRecord, b: RunRecord) -> Report:
    return comparison_report(compare_runs([compared_run(a)], [compared_run(b)]), ())


def followed(*records: RunRecord) -> Report:
    return trend_report(run_series(map(compared_run, records)), floor=0.03, cases=())


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


def test_a_run_that_sent_what_was_planned_says_neither(on_time: RunRecord) -> None:
    report = run_report(on_time, observe(on_time))
    assert "never" not in report.verdict.sentence and "lanned" not in report.verdict.sentence
    assert not [each.text for each in report.verdict.badges if "never sent" in each.text]
    assert "never sent" not in plain(printed(report) + render_html(report))


def test_csv_has_planned_and_overdue_once(late: RunRecord) -> None:
    total, *kinds = csv.DictReader(io.StringIO(statistics_csv(late, observe(late))))
    assert (total["planned_whole_run"], total["overdue_whole_run"]) == ("200000", "20040")
    assert {(row["planned_whole_run"], row["overdue_whole_run"]) for row in kinds} == {("", "")}


# between runs


@pytest.mark.parametrize("render", [printed, render_html, render_markdown])
def test_a_comparison_names_the_run_and_the_reason_before_any_figure(
    on_time: RunRecord, late: RunRecord, render: Callable[[Report], str]
) -> None:
    head, found, _ = plain(render(compared(on_time, late))).partition("Response p50")
    assert found
    assert f"late (B): {EVIDENCE}" in head and BADGE in head
    assert "on-time (A)" not in head


def test_the_table_of_runs_has_planned_and_sent(on_time: RunRecord, late: RunRecord) -> None:
    rows = table_cells(compared(on_time, late), "runs")
    sent = {row["Run"].text: (row["Planned"].text, row["Sent"].text, row["Sent"].tone) for row in rows}
    assert sent == {"on-time": ("20 000", "20 000", ""), "late": ("200 000", "179 960", "fail")}


def test_the_json_of_a_comparison_has_both(on_time: RunRecord, late: RunRecord) -> None:
    document = json.loads(render_json(compared(on_time, late)))
    (a,), (b,) = document["a"], document["b"]
    of_a = {"planned": 20_000, "due": 20_000, "sent": 20_000, "overdue": 0, "not_begun": 0}
    of_b = {"planned": 200_000, "due": 200_000, "sent": 179_960, "overdue": 20_040, "not_begun": 0}
    assert (a["unsent"], a["counts_whole_run"]) == (None, of_a)
    assert (b["unsent"], b["counts_whole_run"]) == (EVIDENCE, of_b)
    assert document["warnings"][0] == f"late (B): {EVIDENCE}"


def test_runs_that_sent_what_was_planned_are_compared_as_ever(on_time: RunRecord) -> None:
    report = compared(on_time, on_time)
    assert "never went out" not in plain(printed(report) + render_html(report))
    assert all("Planned" not in row for row in table_cells(report, "runs"))
    assert [badge.text for badge in report.verdict.badges] == ["no claim"]


def test_no_gate_passes_for_what_was_never_sent(tmp_path: Path) -> None:
    """Both sides are the same, and their p99 lies among what never went out."""
    a, b = ([record_at(tmp_path / f"{side}{number}", 20_000.0).directory for number in (1, 2)] for side in "ab")
    result = compare(a, b, gate={"p99": 0.05})
    assert [case.verdict for case in result.cases] == [GateVerdict.INCONCLUSIVE] * 5
    assert result.error is not None and result.error.exit_code == 4
    assert "a1 (A) sent 179 960 of the 200 000 planned" in result.error.message
    assert "b2 (B) sent 179 960 of the 200 000 planned" in result.error.message
    assert result.error.hint == (
        "longer runs, at a load that is answered, give it a figure; offer a rate that every run can send"
    )
    assert "计划 200 000，只发送 179 960" in plain(printed(in_language(result.report, "zh")))


@pytest.mark.parametrize("render", [printed, render_html, render_markdown])
def test_a_trend_names_the_run_too(on_time: RunRecord, late: RunRecord, render: Callable[[Report], str]) -> None:
    text = plain(render(followed(on_time, late)))
    assert f"late: {EVIDENCE}" in text and f"{BADGE} in 1 of 2 records" in text
    assert "on-time: " not in text
    assert "never went out" not in plain(render(followed(on_time)))


def test_the_json_of_a_trend_has_both(on_time: RunRecord, late: RunRecord) -> None:
    series = json.loads(render_json(followed(on_time, late)))["series"]
    runs = {run["name"]: (run["unsent"], run["counts_whole_run"]["overdue"]) for each in series for run in each["runs"]}
    assert runs == {"on-time": (None, 0), "late": (EVIDENCE, 20_040)}


@pytest.mark.parametrize("render", [printed, render_html, render_markdown])
def test_chinese_says_it_too(on_time: RunRecord, late: RunRecord, render: Callable[[Report], str]) -> None:
    comparison = plain(render(in_language(compared(on_time, late), "zh")))
    trend = plain(render(in_language(followed(late), "zh")))
    assert f"late（B）：{CHINESE}" in comparison and f"{CHINESE_BADGE}（2 个记录中的 1 个）" in comparison
    assert f"late：{CHINESE}" in trend and CHINESE_BADGE in trend


@pytest.mark.parametrize("ended_by", ["completed", "interrupt"])
def test_of_a_closed_loop_by_count_what_was_not_begun_is_planned_all_the_same(tmp_path: Path, ended_by: str) -> None:
    plan = simulated_plan(rate_ops_per_s=None, warmup_s=0, duration_s=1.0, operation_count=50_000)
    record = replace(write_run(tmp_path / "run", plan), ended_by=ended_by)
    assert record.summary is not None and record.imbalances == () and record.summary["overdue"] == 0
    sent = record.summary["sent"]
    assert 5_000 < sent < 20_000
    report = run_report(record, observe(record))
    table = {
        row["Operations"].text: int(row["Count"].text.replace(" ", "")) for row in table_cells(report, "accounting")
    }
    assert (table["Planned"], table["Sent"], table["Not begun"]) == (50_000, sent, 50_000 - sent)
    assert table["Planned"] == table["Sent"] + table["Overdue"] + table["Not begun"]
    assert "Planned = sent + overdue + not begun" in render_markdown(report)
    assert "未开始" in render_markdown(in_language(report, "zh"))
    counts = json.loads(render_json(report))["counts_whole_run"]
    assert (counts["planned"], counts["due"], counts["not_begun"]) == (50_000, sent, 50_000 - sent)
    total, *kinds = csv.DictReader(io.StringIO(statistics_csv(record, observe(record))))
    columns = ("planned_whole_run", "overdue_whole_run", "not_begun_whole_run")
    assert [total[each] for each in columns] == ["50000", "0", str(50_000 - sent)]
    assert {kind[each] for kind in kinds for each in columns} == {""}, "no split by kind was planned"


def test_inserts_attempted_again_are_planned_besides(tmp_path: Path) -> None:
    plan = simulated_plan(rate_ops_per_s=None, warmup_s=0, duration_s=1.0, operation_count=50_000)
    record = write_run(tmp_path / "run", plan)
    assert record.summary is not None
    again = replace(record, summary={**record.summary, "attempted_again": 7})
    report = run_report(again, observe(again))
    (planned,) = (row for row in table_cells(report, "accounting") if row["Operations"].text == "Planned")
    assert planned["Count"].text == "50 007"
    assert planned["Note"].text == "as many as were asked for, and inserts attempted again"


def test_of_a_closed_loop_by_count_that_came_to_its_end_all_were_begun(tmp_path: Path) -> None:
    record = write_run(tmp_path / "run", simulated_plan(rate_ops_per_s=None, warmup_s=0, operation_count=5_000))
    report = run_report(record, observe(record))
    table = {row["Operations"].text: row["Count"].text for row in table_cells(report, "accounting")}
    assert table["Planned"] == table["Sent"] == "5 000" and "Not begun" not in table
    total = next(csv.DictReader(io.StringIO(statistics_csv(record, observe(record)))))
    assert (total["planned_whole_run"], total["not_begun_whole_run"]) == ("5000", "0")


def test_figures_of_the_window_and_of_the_whole_run_say_which_they_are(tmp_path: Path) -> None:
    """Samples are not throughput times the window, and what was planned not the rate times it."""
    report = overloaded_run(tmp_path / "record")
    facts = {fact.label: fact.note for fact in report.verdict.facts}
    assert facts["p99 response time"].endswith("of what was due in the window never completed")
    assert facts["Errors"] == "of those due in the window that completed"
    assert "of the whole run, its warm-up of 2.00 s included) never went out" in report.verdict.sentence
    text = plain(render_html(report))
    assert "Measured window of 15.0 s only. Samples, errors and times are of operations that were due in it" in text
    assert "due by the end of the run, in its warm-up of 2.00 s too" in text
    chinese = plain(render_html(in_language(report, "zh")))
    assert "仅测量窗口，长 15" in chinese and "到运行结束时应发出的操作，包括 2" in chinese
