"""The report of an interference experiment: what is said first, what the background did, and the same for machines."""

import io
import json

from rich.console import Console

from brimline.report import print_report, render_html, render_json
from brimline.report.markdown import render_markdown
from brimline.report.view import Chart, Table
from brimline.units import UNKNOWN_TEXT
from tests.unit.report.comparison_samples import interfered


def test_the_sentence_names_the_background_and_what_it_changes() -> None:
    verdict = interfered().verdict
    assert verdict.caption == "B is worse"
    assert verdict.sentence.startswith("With an import: Throughput -")
    assert "Service p99 +" in verdict.sentence and "Service p50 +" in verdict.sentence


def test_that_nothing_is_known_of_the_times_is_said_where_the_changes_are() -> None:
    verdict = interfered(timed=False).verdict
    assert verdict.caption == "Inconclusive"
    assert verdict.sentence.startswith("With an import: Throughput 0 % (0 %). ")
    assert "of the times nothing is known of every run" in verdict.sentence
    worse = interfered(timed=False, beside=30.0).verdict
    assert worse.caption == "B is worse"
    assert worse.sentence.count("Throughput") == 1
    assert worse.sentence.endswith(". Nothing is known of the times of every run.")


def test_the_background_stands_first_with_what_it_did() -> None:
    background, server = interfered().sections[:2]
    table, chart = background.blocks
    assert isinstance(table, Table) and isinstance(chart, Chart)
    rows = [[cell.text for cell in row] for row in table.rows]
    assert [row[1:4] for row in rows].count(["an import", "100 %", "900 000 documents"]) == 4
    assert rows[0][2:] == ["50 %", UNKNOWN_TEXT, UNKNOWN_TEXT, rows[0][0]], "the one that doesn't count says why"
    assert [trace["name"] for trace in chart.figure["data"]] == ["alone", "with an import"]
    alone, beside = (trace["y"] for trace in chart.figure["data"])
    assert len(alone) == len(beside) > 3
    assert server.title == "The server meanwhile"
    (figures,) = server.blocks
    assert isinstance(figures, Table)
    assert [[cell.text for cell in row] for row in figures.rows] == [
        ["Cache filled", "20 %", "80 %"],
        ["CPUs used by the server", UNKNOWN_TEXT, "1.50"],
    ]


def test_every_form_of_the_report_has_it() -> None:
    report = interfered()
    document = json.loads(render_json(report))
    assert document["kind"] == "interference"
    assert document["background"]["kind"] == "import"
    assert [run["units_per_s"] for run in document["background"]["runs"]] == [None, *[90_000.0] * 4]
    assert document["left_out"][0]["reason"] == "the background ended early: it came to its end by itself"
    assert document["server"]["B"]["CPUs used by the server"] == 1.5
    html, markdown = render_html(report), render_markdown(report)
    printed = io.StringIO()
    print_report(report, Console(file=printed, width=200))
    for text in (html, markdown, printed.getvalue()):
        assert "What went on in the background" in text and "The server meanwhile" in text
    assert "Latency with and without the background" in html
