"""A report whose derived figures were put wrong says so itself."""

import copy
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline.analysis.compared_run import ComparedRun
from brimline.analysis.comparison import compare_runs
from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lint import Claims, contradictions, lint
from brimline.analysis.objective import Slo
from brimline.analysis.observation import observe
from brimline.analysis.verdict import judge
from brimline.report import Report, print_report, run_report
from brimline.report.comparison.claims import comparison_claims, trend_claims
from brimline.report.lint_section import SECTION_ID, linted
from brimline.report.own_claims import probe_claims, run_claims
from brimline.report.printed import printed_figure, printed_quantity
from brimline.report.run.as_json import observation_document
from brimline.report.search.frontier_claims import frontier_claims
from brimline.report.view import Cell, Table
from tests.unit.report.comparison_samples import dropped, regressed, report_of, trend_of
from tests.unit.report.every_kind import CLAIMING
from tests.unit.report.report_samples import Reports, simulated_plan, write_run


def found_in_run(report: Report, reports: Reports) -> tuple[Finding, ...]:
    return contradictions(lint(run_claims(report, reports.record)))


@pytest.mark.parametrize("kind", CLAIMING)
def test_a_sound_report_of_every_kind_holds_and_shows_it(every_kind: Mapping[str, Report], kind: str) -> None:
    report = every_kind[kind]
    section = next(each for each in report.sections if each.id == SECTION_ID)
    table = section.blocks[0]
    assert isinstance(table, Table)
    few = {"warn"} if kind == "load" else set()  # ten commands have no median worth the name
    assert table.rows and {row[1].text for row in table.rows} == {"pass"} | few
    assert report.data["lint"] and {each["result"] for each in report.data["lint"]} == {"pass"} | few
    assert not report.verdict.badges or "contradict" not in str(report.verdict.badges)


def with_cell(report: Report, row: int, column: str, text: str, *, section_id: str = "operations") -> Report:
    """The report with another text in one cell of its statistics table, or of another section's first."""
    sections = list(report.sections)
    index = next(number for number, each in enumerate(sections) if each.id == section_id)
    at = next(number for number, each in enumerate(sections[index].blocks) if isinstance(each, Table))
    blocks = list(sections[index].blocks)
    table = blocks[at]
    assert isinstance(table, Table)
    place = [each.label for each in table.columns].index(column)
    rows = [list(each) for each in table.rows]
    rows[row][place] = Cell(text=text)
    blocks[at] = replace(table, rows=rows)
    sections[index] = replace(sections[index], blocks=blocks)
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


def with_fact(report: Report, label: str, value: str) -> Report:
    facts = [replace(fact, value=value) if fact.label == label else fact for fact in report.verdict.facts]
    return replace(report, verdict=replace(report.verdict, facts=facts))


def test_the_rate_of_the_headline_is_recomputed(reports: Reports) -> None:
    wrong = with_fact(reports.run, "Throughput", "9 999 ops/s")
    assert [each.name for each in found_in_run(wrong, reports)] == ["restated"]


def test_the_percentile_of_the_headline_is_recomputed(reports: Reports) -> None:
    slo = Slo(errors=())
    report = run_report(reports.record, reports.observation, slo=slo, judgement=judge(reports.observation, slo))
    assert report.verdict.caption == "Response p99" and not found_in_run(report, reports)
    wrong = replace(report, verdict=replace(report.verdict, figure="1.23 s"))
    assert [each.name for each in found_in_run(wrong, reports)] == ["restated"]


def test_a_contradiction_is_a_badge_and_a_row(reports: Reports) -> None:
    spoilt = with_fact(reports.run, "Throughput", "9 999 ops/s")
    wrong = linted(spoilt, run_claims(spoilt, reports.record))
    assert [each.text for each in wrong.verdict.badges if "contradict" in each.text]
    sections = [each for each in wrong.sections if each.id == SECTION_ID]
    table = sections[0].blocks[0]
    assert isinstance(table, Table)
    failed = [row[2].text for row in table.rows if row[1].text == "fail"]
    assert len(failed) == 1 and failed[0].startswith("headline: says 9 999, but the same figure elsewhere is ")


@pytest.mark.parametrize("kind", ["capacity", "sweep"])
def test_experiments_hold_their_headline_and_probes(reports: Reports, kind: str) -> None:
    report = getattr(reports, kind)
    spoilt = replace(report, verdict=replace(report.verdict, figure="1 234"))
    wrong = linted(spoilt, probe_claims(spoilt))
    assert any(each["name"] == "restated" and each["result"] == "fail" for each in wrong.data["lint"])
    data = copy.deepcopy(dict(report.data))
    closed = next(each for each in data["probes"] if each["closed_loop"] and each["target"] == "server")
    closed["throughput_ops_per_s"] *= 2
    failed = [each for each in lint(probe_claims(replace(report, data=data))) if each.verdict is Standing.FAIL]
    assert [each.name for each in failed] == ["littles_law"]


@pytest.mark.parametrize(
    ("pacer", "held"),
    [
        ({"kind": "closed"}, True),
        ({"kind": "closed", "think_time": {"mean_ns": 4_000_000, "law": "constant"}}, False),
        ({"kind": "tlr", "loops": 100, "ramp_up_ns": 1_000_000_000}, False),
    ],
    ids=["back to back", "think time", "T-L-R"],
)
def test_only_connections_that_are_always_busy_are_held_to_littles_law(
    reports: Reports, tmp_path: Path, pacer: dict[str, Any], held: bool
) -> None:
    """With pauses, or threads that come and go, connections / throughput is not the time that an operation takes."""
    ends = {"duration_ns": None, "operation_count": 800, "warmup_ns": 0} if pacer["kind"] == "tlr" else {}
    plan = simulated_plan(rate_ops_per_s=None, connections=8, **{"pacer": pacer, **ends})
    data = copy.deepcopy(dict(reports.sweep.data))
    probe = next(each for each in data["probes"] if each["closed_loop"] and each["target"] == "server")
    probe.update(observation_document(observe(write_run(tmp_path / "run", plan))))
    claims = probe_claims(replace(reports.sweep, data=data))
    claimed = next(each for each in claims.results if each.name == f"probe {probe['number']}")
    assert (claimed.threads is not None) is held
    assert not [each.name for each in lint(claims) if each.verdict is Standing.FAIL]


def test_workers_that_share_connections_are_not_held_to_the_number_of_these(reports: Reports) -> None:
    """Their times are response times, in which they wait for a connection."""
    data = copy.deepcopy(dict(reports.sweep.data))
    probe = next(each for each in data["probes"] if each["closed_loop"] and each["target"] == "server")
    probe.update({"closed_loop": False, "response": probe["service"]})
    claims = probe_claims(replace(reports.sweep, data=data))
    assert next(each for each in claims.results if each.name == f"probe {probe['number']}").threads is None


@pytest.mark.parametrize(
    ("section_id", "column", "text"),
    [
        ("changes", "A", "12 000 ops/s"),
        ("changes", "B", "7.5 ops/s"),
        ("changes", "Change", "-12 %"),
        ("distribution", "A", "9.0 ms"),
        ("distribution", "B", "1.5 s"),
    ],
)
def test_every_figure_of_a_comparison_is_worked_out_from_its_runs(section_id: str, column: str, text: str) -> None:
    comparison = regressed()
    sound = report_of(comparison)
    assert not contradictions(lint(comparison_claims(sound, comparison)))
    wrong = with_cell(sound, 0, column, text, section_id=section_id)
    assert [each.name for each in contradictions(lint(comparison_claims(wrong, comparison)))] == ["restated"]


def test_runs_of_a_side_that_differ_are_no_contradiction() -> None:
    """A side's value is that of a typical run, and not of all its runs' operations together."""
    sound = regressed()
    sides = [[_slower(run, by=1 + place / 2) for place, run in enumerate(runs)] for runs in (sound.a, sound.b)]
    comparison = compare_runs(*sides)
    assert comparison.shift
    assert not contradictions(lint(comparison_claims(report_of(comparison), comparison)))


def _slower(run: ComparedRun, *, by: float) -> ComparedRun:
    return replace(run, distribution=[(round(value_ns * by), count) for value_ns, count in run.distribution])


def test_the_changes_beside_the_verdict_are_recomputed() -> None:
    comparison = regressed()
    sound = report_of(comparison)
    facts = [replace(each, value="+0.2 %") for each in sound.verdict.facts]
    wrong = replace(sound, verdict=replace(sound.verdict, facts=facts))
    deciding = [each for each in comparison.changes if each.metric.decides and each.metric.key != "errors"]
    assert len(contradictions(lint(comparison_claims(wrong, comparison)))) >= len(deciding)


@pytest.mark.parametrize(("column", "text"), [("Before", "900 ops/s"), ("After", "1 ops/s"), ("Change", "+10 %")])
def test_every_level_of_a_trend_is_worked_out_from_its_runs(column: str, text: str) -> None:
    series = dropped()
    wrong = with_cell(trend_of(series), 0, column, text, section_id="changes")
    assert [each.name for each in contradictions(lint(trend_claims(wrong, series)))] == ["restated"]


def test_capacities_of_a_frontier_are_the_same_in_every_place(every_kind: Mapping[str, Report]) -> None:
    sound = every_kind["frontier"]
    wrong = with_cell(sound, 1, "Capacity", "12", section_id="frontier")
    assert [each.name for each in contradictions(lint(frontier_claims(wrong)))] == ["restated"]
    wrong = replace(sound, verdict=replace(sound.verdict, figure="12"))
    assert [each.name for each in contradictions(lint(frontier_claims(wrong)))] == ["restated"]


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


@pytest.mark.parametrize(
    ("text", "value", "tolerance"),
    [
        ("1.50 ms", 1.5e6, 5e3),
        ("250 µs", 250e3, 500.0),
        ("9 430 ops/s", 9430.0, 0.5),
        ("+5.12 %", 0.0512, 5e-5),
        ("-0.1 points", -0.001, 5e-4),
    ],
)
def test_printed_quantities(text: str, value: float, tolerance: float) -> None:
    figure = printed_quantity(text)
    assert figure is not None
    assert (figure.value, figure.tolerance) == (pytest.approx(value), pytest.approx(tolerance))


@pytest.mark.parametrize("text", ["—", "2 min 5 s", "up to 3 %", ""])
def test_what_is_no_quantity(text: str) -> None:
    assert printed_quantity(text) is None


@pytest.mark.parametrize("text", ["—", "≥ 49.00", "", "1.2.3", "nan"])
def test_what_is_no_figure(text: str) -> None:
    assert printed_figure(text) is None


def test_a_count_of_the_servers_that_differs_is_no_contradiction_of_figures(
    every_kind: Mapping[str, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another client may have sent the rest; that the counts differ stays in the table."""
    for name, told in (("counted", False), ("parts", True)):
        finding = Finding(name, Standing.FAIL, "load: 10 documents claimed, 20 counted by the server")
        monkeypatch.setattr("brimline.report.lint_section.lint", lambda _claims, finding=finding: [finding])
        report = linted(replace(every_kind["load"], sections=list(every_kind["load"].sections)), Claims())
        assert any(each["result"] == "fail" for each in report.data["lint"])
        assert ("contradict" in str(report.verdict.badges)) is told
