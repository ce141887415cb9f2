"""A report whose derived figures were put wrong says so itself."""

import copy
import io
from dataclasses import replace
from typing import Any

import pytest

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lint import contradictions, lint
from brimline.report import Report, print_report
from brimline.report.lint_section import SECTION_ID, linted_run, linted_search
from brimline.report.own_claims import probe_claims, run_claims
from brimline.report.printed import printed_figure
from brimline.report.view import Cell, Table
from tests.unit.report.report_samples import Reports


def found_in_run(report: Report, reports: Reports) -> tuple[Finding, ...]:
    return contradictions(lint(run_claims(report, reports.record)))


@pytest.mark.parametrize("kind", ["run", "capacity", "sweep"])
def test_a_sound_report_holds_and_shows_it(reports: Reports, kind: str) -> None:
    report = getattr(reports, kind)
    section = next(each for each in report.sections if each.id == SECTION_ID)
    table = section.blocks[0]
    assert isinstance(table, Table)
    assert {row[1].text for row in table.rows} == {"pass"}
    assert report.data["lint"] and {each["result"] for each in report.data["lint"]} == {"pass"}
    assert not report.verdict.badges or "contradict" not in str(report.verdict.badges)


def with_cell(report: Report, row: int, column: str, text: str) -> Report:
    """The report with another text in one cell of its statistics table."""
    sections = list(report.sections)
    index = next(number for number, each in enumerate(sections) if each.id == "operations")
    table = sections[index].blocks[0]
    assert isinstance(table, Table)
    place = [each.label for each in table.columns].index(column)
    rows = [list(each) for each in table.rows]
    rows[row][place] = Cell(text=text)
    sections[index] = replace(sections[index], blocks=[replace(table, rows=rows)])
    return replace(report, sections=sections)


@pytest.mark.parametrize("row", [0, 1, 2])
@pytest.mark.parametrize(
    "column", ["Samples", "Fail", "Error %", "Average", "Min", "Max", "Median", "90th", "95th", "99th", "Throughput"]
)
def test_every_cell_of_the_statistics_is_recomputed(reports: Reports, row: int, column: str) -> None:
    section = next(each for each in reports.run.sections if each.id == "operations")
    table = section.blocks[0]
    assert isinstance(table, Table)
    text = table.rows[row][[each.label for each in table.columns].index(column)].text
    figure = printed_figure(text)
    assert figure is not None
    wrong = with_cell(reports.run, row, column, f"{figure.value * 1.5 + 1:.2f}" if "." in text else
                      f"{int(figure.value * 1.5 + 1)}")  # fmt: skip
    assert found_in_run(wrong, reports)


def test_swapped_rows_are_found(reports: Reports) -> None:
    """Both rows are right in themselves: only their labels are exchanged."""
    swapped = with_cell(with_cell(reports.run, 1, "Label", "update"), 2, "Label", "read")
    assert any(each.name == "restated" for each in found_in_run(swapped, reports))


@pytest.mark.parametrize(
    "path",
    [
        ("throughput_ops_per_s",),
        ("error_rate",),
        ("service", "mean_ns"),
        ("operations", "read", "response", "p99_ns"),
        ("operations", "update", "service", "mean_ns"),
        ("operations", "read", "lag", "p50_ns"),
    ],
)
def test_figures_for_machines_are_recomputed(reports: Reports, path: tuple[str, ...]) -> None:
    data: dict[str, Any] = copy.deepcopy(dict(reports.run.data))
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = place[path[-1]] * 10 + 1
    assert found_in_run(replace(reports.run, data=data), reports)


def test_the_headline_is_recomputed(reports: Reports) -> None:
    verdict = replace(reports.run.verdict, figure="9 999")
    wrong = replace(reports.run, verdict=verdict)
    assert [each.name for each in found_in_run(wrong, reports)] == ["restated"]


def test_a_contradiction_is_a_badge_and_a_row(reports: Reports) -> None:
    wrong = linted_run(replace(reports.run, verdict=replace(reports.run.verdict, figure="9 999")), reports.record)
    assert [each.text for each in wrong.verdict.badges if "contradict" in each.text]
    sections = [each for each in wrong.sections if each.id == SECTION_ID]
    table = sections[0].blocks[0]
    assert isinstance(table, Table)
    failed = [row[2].text for row in table.rows if row[1].text == "fail"]
    assert len(failed) == 1 and failed[0].startswith("headline: says 9 999, but the same figure elsewhere is ")


@pytest.mark.parametrize("kind", ["capacity", "sweep"])
def test_experiments_hold_their_headline_and_probes(reports: Reports, kind: str) -> None:
    report = getattr(reports, kind)
    wrong = linted_search(replace(report, verdict=replace(report.verdict, figure="1 234")))
    assert any(each["name"] == "restated" and each["result"] == "fail" for each in wrong.data["lint"])
    data = copy.deepcopy(dict(report.data))
    closed = next(each for each in data["probes"] if each["closed_loop"])
    closed["throughput_ops_per_s"] *= 2
    failed = [each for each in lint(probe_claims(replace(report, data=data))) if each.verdict is Standing.FAIL]
    assert [each.name for each in failed] == ["littles_law"]


def test_nothing_else_is_printed_of_it(reports: Reports) -> None:
    from rich.console import Console

    out = io.StringIO()
    print_report(reports.run, Console(file=out, width=160))
    assert "Lint" not in out.getvalue()


@pytest.mark.parametrize(
    ("text", "value", "tolerance"),
    [("1 543.50", 1543.5, 0.005), ("19 000", 19_000.0, 0.5), ("0.07", 0.07, 0.005)],
)
def test_printed_figures(text: str, value: float, tolerance: float) -> None:
    figure = printed_figure(text)
    assert figure is not None
    assert (figure.value, figure.tolerance) == (pytest.approx(value), pytest.approx(tolerance))


@pytest.mark.parametrize("text", ["—", "≥ 49.00", "", "1.2.3", "nan"])
def test_what_is_no_figure(text: str) -> None:
    assert printed_figure(text) is None
