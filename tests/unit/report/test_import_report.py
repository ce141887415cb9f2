"""The report of an import: rate, records, what it cost, in every form."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from brimline.report import Report, print_report, render_html, render_json
from brimline.report.data_import.charts import chart_list
from brimline.report.data_import.view import import_report
from brimline.report.markdown import render_markdown
from brimline.report.summary import next_step
from brimline.report.view import Chart, Table
from brimline.spec.import_settings import ImportSettings
from brimline.units import format_duration
from tests.unit.report.import_samples import an_import


def test_figures_are_those_of_the_record() -> None:
    report = import_report(an_import())
    assert report.verdict.tone == "pass" and "".join(report.verdict.figure.split()) == "1000"
    document = json.loads(render_json(report))
    assert document["documents_per_s"] == 1000
    assert document["client_cpu_ns_per_document"] == 500 and document["server_cpu_ns_per_document"] == 4000
    assert document["count_expected"] == document["count_after"] == 3000
    assert {each["name"]: each["result"] for each in document["checks"]} == {
        "ended": "pass",
        "conservation": "pass",
        "count": "pass",
        "rejected": "warn",
    }


def test_it_is_there_as_a_page_and_as_text() -> None:
    report = import_report(an_import())
    assert "over-time" in render_html(report)
    text = render_markdown(report)
    for part in ("3002 records read = 3000 inserted", "Client CPU per document", "500 ns", "shop.orders"):
        assert part in text.replace("\u202f", "").replace("3 002", "3002").replace("3 000", "3000"), part


def test_charts_are_drawn_from_the_rows_of_the_record() -> None:
    record = an_import()
    charts = {
        block.id: block
        for section in import_report(record).sections
        for block in section.blocks
        if isinstance(block, Chart)
    }
    rate, p99 = charts["over-time"].figure["data"]
    assert list(rate["x"]) == [0.5, 1.5, 2.5]
    assert list(rate["y"]) == [row.documents for row in record.rows]
    assert list(p99["y"]) == record.interval_p99_ns, "an interval without an answer is a gap"
    (cpu,) = charts["client-cpu"].figure["data"]
    assert list(cpu["y"]) == [0.5, 0.5, 0.5]


def test_a_line_of_one_point_is_no_chart() -> None:
    """An import of a second: commands were answered in one interval alone."""
    record = an_import()
    short = replace(record, rows=record.rows[:2], interval_p99_ns=record.interval_p99_ns[:2])
    assert [each is not None for each in short.interval_p99_ns] == [True, False]
    assert chart_list(record) and not chart_list(short)


def test_one_that_is_still_under_way_is_not_said_to_have_ended() -> None:
    report = import_report(an_import(ended_by="running"))
    assert [badge.text for badge in report.verdict.badges] == ["still under way"]
    assert report.verdict.tone == "warn" and report.verdict.sentence == "The import is still under way."
    checks = {each["name"]: each["result"] for each in json.loads(render_json(report))["checks"]}
    assert checks["ended"] == checks["count"] == "unknown"


def in_a_terminal(report: Report) -> str:
    console = Console(file=io.StringIO(), record=True, width=400)
    print_report(report, console)
    return console.export_text()


CSV, JSON = ImportSettings(type="csv", headerline=True), ImportSettings()


@pytest.mark.parametrize(
    ("settings", "texts"),
    [
        (CSV, ("3 cells or column names", "each such byte is stored as U+FFFD")),
        (JSON, ("3 strings", "stored as they are")),
        (ImportSettings(legacy=True), ("3 strings", "each such byte is stored as U+FFFD")),
    ],
)
@pytest.mark.parametrize(("inputs", "where"), [(1, "in line 1042"), (2, "in line 1042 of orders-more.csv.gz")])
def test_text_that_is_not_utf8_is_told_with_the_first_line(
    settings: ImportSettings, texts: tuple[str, ...], inputs: int, where: str
) -> None:
    report = import_report(an_import(not_utf8=3, settings=settings, inputs=inputs))
    assert report.verdict.tone == "pass", "the documents are those that were to come of it"
    for shown in (render_html(report), render_markdown(report), in_a_terminal(report)):
        plain = " ".join(re.sub(r"[\u202f\u00a0]", "", shown).replace("1 042", "1042").split())
        for part in (*texts, f"the first is {where}"):
            assert part in plain, part
    document = json.loads(render_json(report))
    assert (document["counts"]["not_utf8"], document["first_not_utf8"]["line"]) == (3, 1042)
    assert {each["name"]: each["result"] for each in document["checks"]}["text"] == "warn"


@pytest.mark.parametrize(("inputs", "where"), [(1, "in line 1042"), (2, "in line 1042 of orders-more.csv.gz")])
@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "1 row has more or fewer cells than there are columns, {where}"),
        (3, "3 rows have more or fewer cells than there are columns; the first is {where}"),
    ],
)
def test_rows_with_more_or_fewer_cells_are_told_with_the_first_line(
    count: int, said: str, inputs: int, where: str
) -> None:
    report = import_report(an_import(ragged=count, inputs=inputs))
    assert report.verdict.tone == "pass", "the documents are mongoimport's"
    for shown in (render_html(report), render_markdown(report), in_a_terminal(report)):
        plain = " ".join(re.sub(r"[\u202f\u00a0]", "", shown).replace("1 042", "1042").split())
        assert said.format(where=where) in plain
    document = json.loads(render_json(report))
    assert (document["counts"]["ragged"], document["first_ragged"]["line"]) == (count, 1042)
    assert {each["name"]: each["result"] for each in document["checks"]}["rows"] == "warn"


@pytest.mark.parametrize(
    ("codes", "mode", "caption", "sentence"),
    [
        ([11000, 11000], "insert", "No rate: no document came in", "all 2 records are duplicates of documents"),
        ([11000], "insert", "No rate: no document came in", "the only record is a duplicate of a document"),
        ([11000, 121], "insert", "No rate: no document came in", "all 2 records were rejected."),
        ([121], "upsert", "No rate: no document came in", "the only record was rejected."),
        ([], "insert", "No rate: no document came in", "there was none in the input."),
        ([], "delete", "No rate: no document was deleted", "the server counted 5 documents afterwards."),
    ],
)
def test_an_import_of_which_nothing_came_in_says_why(
    tmp_path: Path, codes: list[int], mode: Any, caption: str, sentence: str
) -> None:
    """A headline without a figure says what is missing, and nothing is there to be measured on."""
    lines = [json.dumps({"input": 0, "line": 1, "code": each, "reason": f"reason {each}"}) for each in codes]
    (tmp_path / "rejected.jsonl").write_text("".join(f"{each}\n" for each in lines))
    made = an_import(settings=ImportSettings(mode=mode))
    rejected, unmatched = len(codes), 0 if codes or mode == "insert" else 3
    counts = {**made.state.counts, "inserted": 0, "rejected": rejected, "ignorable": rejected,
              "unmatched": unmatched, "read": rejected + unmatched}  # fmt: skip
    state = replace(made.state, counts=counts, count_before=5, count_after=5)
    report = import_report(
        replace(made, directory=tmp_path, state=state, rows=[replace(each, documents=0) for each in made.rows])
    )
    verdict = report.verdict
    assert (verdict.caption, verdict.figure, verdict.unit) == (caption, "", "")
    assert sentence in verdict.sentence
    assert verdict.tone == ("pass" if mode == "delete" else "warn")
    assert ("measure on it" in next_step(report)) == (mode == "delete")


def test_an_import_that_ended_early_says_so() -> None:
    report = import_report(an_import(ended_by="server_lost", reason="connection closed"))
    assert report.verdict.tone == "fail"
    assert "--resume" in report.verdict.sentence
    assert [each.text for each in report.verdict.badges] == ["server lost"]


def test_rejected_records_are_shown_by_reason(tmp_path: Path) -> None:
    reasons = ["no number", "no number", *(f"other {chr(97 + place)}" for place in range(6))]
    lines = [json.dumps({"input": 0, "line": 3 + at, "code": 0, "reason": each}) for at, each in enumerate(reasons)]
    (tmp_path / "rejected.jsonl").write_text("\n".join(lines) + "\n")
    report = import_report(replace(an_import(), directory=tmp_path))
    facts = [(fact.label, fact.value, fact.note) for fact in report.verdict.facts]
    assert ("for this reason", "2", "the first, in line 3: no number") in facts
    assert ("for this reason", "1", "other a (in line 5)") in facts
    assert facts.count(("for other reasons", "2", "and 2 more reasons: see the report")) == 1
    assert next(note for label, _, note in facts if label == "Rejected") == "for 7 reasons; all are in rejected.jsonl"
    assert sum(label == "for this reason" for label, _, _ in facts) == 5
    (section,) = [each for each in report.sections if each.id == "rejected"]
    (table,) = section.blocks
    assert isinstance(table, Table) and len(table.rows) == 7
    assert report.data["rejected_by_reason"][0] == {
        "reason": "no number",
        "code": 0,
        "count": 2,
        "input": 0,
        "first_line": 3,
    }


def test_the_p99_is_one_figure_on_the_page_and_for_programs() -> None:
    """Of 40 commands it is a bound, and not a figure in one of the two."""
    record = an_import()
    for ns in range(1, 41):
        record.service.record(ns * 1_000_000)
    report = import_report(record)
    document = json.loads(render_json(report))
    low_ns, high_ns = document["service_p99_interval_ns"]
    facts = [fact for fact in report.verdict.facts if fact.label == "Command p99"]
    facts += [fact for section in report.sections for block in section.blocks for fact in getattr(block, "facts", ())]
    shown = next(fact.value for fact in facts if fact.label == "Command p99")
    assert (document["service_p99_enough_samples"], high_ns) == (False, None)
    assert shown == f"≥ {format_duration(low_ns)}"
