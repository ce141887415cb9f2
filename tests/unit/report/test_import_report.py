"""The report of an import: rate, records, what it cost, in every form."""

import json

from brimline.report import render_html, render_json
from brimline.report.import_view import import_report
from brimline.report.markdown import render_markdown
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


def test_an_import_that_ended_early_says_so() -> None:
    report = import_report(an_import(ended_by="server_lost", reason="connection closed"))
    assert report.verdict.tone == "fail"
    assert "--resume" in report.verdict.sentence
    assert [each.text for each in report.verdict.badges] == ["server lost"]
