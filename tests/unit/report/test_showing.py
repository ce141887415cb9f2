"""Figures that somebody chose: in tables, charts, Markdown and CSV of every kind of report that has any."""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from brimline.analysis.metrics import Known, Metric, all_metrics, operations_of
from brimline.analysis.observation import observe
from brimline.errors import UsageError
from brimline.report import Report, render_html
from brimline.report.grid import Grid, GridAxis, GridRow
from brimline.report.grid_charts import grid_charts
from brimline.report.grid_tables import grid_document, metrics_table, operations_table
from brimline.report.markdown import render_markdown
from brimline.report.run.view import run_report
from brimline.report.showing import FIGURES, figures_csv, showing
from brimline.report.sketch import sketched
from brimline.report.view import Chart, Table
from tests.unit.report.report_samples import simulated_plan, write_run

METRICS = all_metrics("closed loop", ("read", "update"))


def grid_of(*, versions: tuple[str, ...] = ("6.0", "8.0")) -> Grid:
    rows = [
        GridRow(
            levels=(version, connections),
            figures={
                "update.p99": Known(1e6 * int(connections), 0.9e6 * int(connections), 1.1e6 * int(connections)),
                "update.p95": Known(5e5 * int(connections)),
                "read.mean": Known(2e5),
                "connections": Known(float(connections)),
            },
        )
        for version in versions
        for connections in ("16", "2")
    ]
    axes = (GridAxis(name="server-version"), GridAxis(name="connections", scale="log2"))
    return Grid(axes=axes, rows=rows, metrics=METRICS)


def metrics_of(*keys: str):
    return [next(each for each in METRICS if each.key == key) for key in keys]


def test_a_table_has_the_chosen_figures_in_their_order() -> None:
    table = metrics_table(grid_of(), metrics_of("update.p99", "connections", "read.p99"))
    assert table.headings == [
        "server-version", "connections", "update service p99", "±", "Connections of the client", "read service p99",
    ]  # fmt: skip
    assert [cell.text for cell in table.rows[0]] == ["6.0", "16", "16.00 ms", "10 %", "16", "—"]


def test_metrics_of_one_operation_share_a_chart_and_others_have_their_own() -> None:
    charts = grid_charts(grid_of(), metrics_of("update.p95", "read.mean", "update.p99", "connections"))
    over = [each for each in charts if each.id.startswith("shown-connections-")]
    assert [each.id for each in over] == [
        "shown-connections-update-p95",
        "shown-connections-read-mean",
        "shown-connections-connections",
    ]
    assert len(over[0].figure["data"]) == 4  # two versions, two metrics
    assert over[0].figure["data"][0]["x"] == [2.0, 16.0]
    assert over[0].figure["data"][1]["error_y"]["array"] == pytest.approx([0.2e6, 1.6e6])
    assert len(charts) == 6  # by version too


def test_a_grid_of_one_line_tells_its_metrics_apart_by_colour() -> None:
    chart = grid_charts(grid_of(versions=("8.0",)), metrics_of("update.p95", "update.p99"))[0]
    assert len({key.color for key in chart.legend}) == 2
    assert [key.name for key in chart.legend] == ["update service p95", "update service p99"]


def test_an_axis_of_a_figure_without_a_short_name_has_its_whole_name() -> None:
    rate = Metric(key="import_rate", label="Import", unit="documents/s", higher_is_better=True, decides=True)
    rows = [GridRow(levels=(network,), figures={"import_rate": Known(1e4)}) for network in ("local", "1ms")]
    (chart,) = grid_charts(Grid(axes=(GridAxis(name="network"),), rows=rows, metrics=(rate,)), [rate])
    assert chart.figure["layout"]["yaxis"]["title"]["text"] == "Import, documents/s"


def test_names_have_points_without_a_line_and_no_bar_that_tells_nothing() -> None:
    rate = Metric(key="import_rate", label="Import", unit="documents/s", higher_is_better=True, decides=True)
    known = {"wire": Known(3e3, 2.9e3, 3.1e3), "go": Known(1e3, 1.0, 5e4), "node": Known(2e3)}
    rows = [GridRow(levels=(client,), figures={"import_rate": each}) for client, each in known.items()]
    (chart,) = grid_charts(Grid(axes=(GridAxis(name="client"),), rows=rows, metrics=(rate,)), [rate])
    (trace,) = chart.figure["data"]
    assert trace["mode"] == "markers" and [key.mark for key in chart.legend] == ["circle"]
    assert trace["error_y"]["array"] == pytest.approx([100, 0, 0]) and "can't be told" in chart.caption
    drawn = "".join(sketched(chart, width=60, rows=4))
    assert drawn.count("●") == 3 and not re.search("[\u2801-\u28ff]", drawn)


def test_what_no_row_has_is_no_chart() -> None:
    assert grid_charts(grid_of(), metrics_of("read.p99")) == []


def test_operations_are_rows_of_the_table_that_nobody_asked_for() -> None:
    table = operations_table(grid_of())
    assert table is not None
    assert [column.label for column in table.columns] == [
        "server-version",
        "connections",
        "Operation",
        "mean",
        "p95",
        "p99",
    ]
    assert len(table.rows) == 8


def test_json_has_every_figure_with_its_interval() -> None:
    first = grid_document(grid_of())[0]
    assert first["levels"] == {"server-version": "6.0", "connections": "16"}
    assert first["values"]["update.service_p99_ns"] == {"value": 16e6, "low": 0.9e6 * 16, "high": 1.1e6 * 16}


HAVING = ("sweep", "vary", "capacity")


@pytest.mark.parametrize("kind", HAVING)
def test_reports_show_what_was_asked_for_first(every_kind: Mapping[str, Report], kind: str) -> None:
    report = every_kind[kind]
    shown = showing(report, ["p95", "throughput"])
    first = shown.sections[0]
    assert first.id == FIGURES and sum(section.id == FIGURES for section in shown.sections) == 1
    assert any(isinstance(each, Table) for each in first.blocks) and any(
        isinstance(each, Chart) for each in first.blocks
    )
    assert shown.data == report.data and "figures" in report.data
    assert showing(report, []) is report
    headings = [line for line in render_markdown(shown).splitlines() if line.startswith("## ")]
    assert headings[0] == "## Figures that were asked for"


@pytest.mark.parametrize("kind", HAVING)
def test_csv_has_the_chosen_figures_row_by_row(every_kind: Mapping[str, Report], kind: str) -> None:
    report = every_kind[kind]
    rows = list(csv.DictReader(io.StringIO(figures_csv(report, ["throughput"]))))
    assert len(rows) == len(report.grids[0].rows)
    assert all(float(row["throughput_ops_per_s"]) > 0 for row in rows if row["throughput_ops_per_s"])
    everything = list(csv.DictReader(io.StringIO(figures_csv(report))))
    assert everything[0].keys() > rows[0].keys()


def test_an_operation_of_the_workload_that_never_came_has_no_figure_and_is_no_error(tmp_path: Path) -> None:
    run_plan = simulated_plan(rate_ops_per_s=None, connections=1, warmup_s=0.0, duration_s=1.0, operation_count=1)
    record = write_run(tmp_path / "run", run_plan)
    observation = observe(record)
    never = set(run_plan.operation_names) - set(operations_of(observation))
    assert never
    table = showing(run_report(record, observation), [f"{each}.p99" for each in never]).sections[0].blocks[0]
    assert isinstance(table, Table) and {cell.text for cell in table.rows[0]} == {"—"}


def test_a_name_that_a_report_does_not_have_is_refused(every_kind: Mapping[str, Report]) -> None:
    with pytest.raises(UsageError, match=r"delete\.p99"):
        showing(every_kind["sweep"], ["throughput", "delete.p99"])
    with pytest.raises(UsageError, match="no figures to choose from"):
        showing(replace(every_kind["sweep"], grids=()), ["throughput"])


@pytest.mark.parametrize("kind", HAVING)
def test_no_part_of_the_page_has_the_name_of_another(every_kind: Mapping[str, Report], kind: str) -> None:
    """The section was called as the element that holds the charts, and none was drawn."""
    for report in (every_kind[kind], showing(every_kind[kind], ["p95", "throughput"])):
        names = re.findall(r'\bid="([^"]+)"', render_html(report))
        assert len(names) == len(set(names)), names


def test_every_kind_of_report_has_its_figures_as_csv(every_kind: Mapping[str, Report]) -> None:
    """All but a scan, whose queries have a CSV of their own."""
    without = {kind for kind, report in every_kind.items() if not report.grids or not report.grids[0].rows}
    assert without == {"scan"}
    for kind in every_kind.keys() - without:
        rows = list(csv.reader(io.StringIO(figures_csv(every_kind[kind]))))
        assert len(rows) > 1 and any(rows[1]), kind
