"""The report of a load: documents and commands are never mixed in any output, and nothing that was sent is left out."""

import csv
import io
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from brimline.analysis.observation import observe
from brimline.cli.progress import TerminalProgress
from brimline.execution import Tick
from brimline.plan import Plan
from brimline.plan.model import RecordRange
from brimline.record.model import RunRecord
from brimline.report import Report, print_report, run_report, write_html
from brimline.report.csv_export import statistics_csv
from brimline.report.load_figures import load_figures
from tests.unit.report.report_samples import script, simulated_plan, write_run

RECORDS = 10_000
BATCH = 1_000


def _plan(*, ranges: tuple[RecordRange, ...] | None = None, faults: list[dict[str, Any]] | None = None) -> Plan:
    """Ten commands of a thousand documents each on a virtual clock; the first can lose some of its documents."""
    base = simulated_plan(rate_ops_per_s=None, connections=2, warmup_s=0, script=script(faults=faults or []))
    counts = [RECORDS] if ranges is None else [each.count for each in ranges]
    values = json.loads(base.canonical_json()) | {
        "work": {
            "kind": "load",
            "batch_size": BATCH,
            "ordered": False,
            "ranges": None if ranges is None else [each.model_dump() for each in ranges],
        },
        "duration_ns": None,
        "operation_count": sum(-(-count // BATCH) for count in counts),
    }
    values["data"]["record_count"] = RECORDS
    return Plan.from_json(json.dumps(values))


THREE_REFUSED = [{"when": {"first_n": 1}, "kind": {"write_error": {"code": 11000, "statements": 3}}}]


def _report(directory: Path, plan: Plan) -> tuple[RunRecord, Report]:
    record = write_run(directory / "run", plan)
    return record, run_report(record, observe(record))


def _terminal(report: Report) -> str:
    console = Console(file=io.StringIO(), width=200, no_color=True)
    print_report(report, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_thousand_documents_per_command(tmp_path: Path) -> None:
    record, report = _report(tmp_path, _plan())
    load = report.data["load"]
    assert report.data["load_model"].startswith("closed loop, unlimited, 2 connections on 1 thread; each sends ")
    assert load["documents_per_s"] == pytest.approx(1000 * load["commands_per_s"])
    assert load["documents_per_s"] == pytest.approx(RECORDS / load["elapsed_s"])
    assert (report.verdict.unit, report.data["throughput_ops_per_s"] < load["documents_per_s"]) == ("documents/s", True)
    by_operation = report.data["operations"]["load"]["throughput_ops_per_s"]
    assert by_operation == pytest.approx(load["commands_per_s"]), "one rate of commands, not two"
    assert report.data["service"]["count"] == 10, "latencies are per command"
    assert not record.imbalances


def test_refused_documents_are_in_every_output(tmp_path: Path) -> None:
    record, report = _report(tmp_path, _plan(faults=THREE_REFUSED))
    assert not record.imbalances
    load = report.data["load"]
    assert load["documents"] == {"sent": 10_000, "inserted": 9_997, "failed": 3, "skipped": 0, "unknown": 0}
    assert [(row["code"], row["count"]) for row in load["document_errors"]] == [(11000, 3)]
    assert (report.data["counts"]["failed"], report.data["counts"]["ok"]) == (1, 9), "commands"
    write_html(report, tmp_path / "report.html")
    wanted = ("documents/s", "commands/s", "9 997", "11000", "Documents refused", "1 000 documents per command")
    terminal = _terminal(report)
    # In HTML the groups of a number must not be torn apart.
    html = re.sub("[\u00a0\u202f\u2009]", " ", unescape((tmp_path / "report.html").read_text()))
    assert [words for words in wanted if words not in terminal] == []
    assert [words for words in wanted if words not in html] == []
    assert "ops/s" not in terminal


def test_csv_and_json_say_which_rate_is_of_what(tmp_path: Path) -> None:
    record, report = _report(tmp_path, _plan(faults=THREE_REFUSED))
    load = report.data["load"]
    assert report.data["operation_unit"] == "command"
    assert report.data["throughput_documents_per_s"] == pytest.approx(load["documents_per_s"])
    own = report.data["operations"]["load"]
    assert (own["unit"], own["samples"], own["documents"]) == ("command", 10, 9_997)
    assert own["documents_per_s"] == pytest.approx(load["documents_per_s"])
    rows = list(csv.DictReader(io.StringIO(statistics_csv(record, observe(record)))))
    assert [row["operation"] for row in rows] == ["Total", "load"]
    for row in rows:
        assert (row["unit"], row["samples"], row["documents"]) == ("command", "10", "9997")
        assert float(row["documents_per_s"]) == pytest.approx(load["documents_per_s"], abs=1e-3)
        assert float(row["throughput_ops_per_s"]) == pytest.approx(own["throughput_ops_per_s"], abs=1e-3)
    assert rows[0]["planned_whole_run"] == "10", "commands too"


def test_batched_inserts_of_a_run_have_their_documents_beside_them(tmp_path: Path) -> None:
    base = json.loads(simulated_plan(rate_ops_per_s=100.0, warmup_s=0, duration_s=2.0).canonical_json())
    shares = {"read": 0.5, "update": 0.0, "insert": 0.5, "scan": 0.0, "read_modify_write": 0.0}
    work = base["work"] | {"proportions": shares, "insert_batch_size": BATCH}
    record, report = _report(tmp_path, Plan.from_json(json.dumps(base | {"work": work})))
    total, insert, read = csv.DictReader(io.StringIO(statistics_csv(record, observe(record))))
    assert (insert["operation"], insert["unit"]) == ("insert", "command")
    assert int(insert["documents"]) == BATCH * int(insert["samples"]) > 0
    assert [(row["unit"], row["documents"]) for row in (total, read)] == [("operation", "")] * 2, "a mixture has none"
    assert (report.data["operation_unit"], report.data["throughput_documents_per_s"]) == ("operation", None)


def test_the_table_has_a_column_each(tmp_path: Path) -> None:
    _, report = _report(tmp_path, _plan(faults=THREE_REFUSED))
    (section,) = [each for each in report.sections if each.id == "documents"]
    table = section.blocks[0]
    rows = {row[0].text: (row[1].text, row[2].text) for row in table.rows}  # type: ignore[union-attr]
    assert rows["To load"] == ("10 000", "10")
    assert rows["Inserted"] == ("9 997", "9")
    assert rows["Failed"] == ("3", "1")
    assert rows["Per second"][0].endswith(" documents/s") and rows["Per second"][1].endswith(" commands/s")


@pytest.mark.parametrize(
    ("in_flight_max", "words", "commands"),
    [
        (None, "at most 2 commands over 2 connections", 2),
        (1, "at most 1 command over 2 connections", 1),
    ],
)
def test_what_was_in_flight_is_said(in_flight_max: int | None, words: str, commands: int, tmp_path: Path) -> None:
    _, report = _report(tmp_path, _plan().model_copy(update={"in_flight_max": in_flight_max}))
    assert report.data["load"]["in_flight_max_commands"] == commands
    assert words in _terminal(report)


def test_a_resumed_load_counts_what_was_there(tmp_path: Path) -> None:
    ranges = (RecordRange(first=500, count=1_500), RecordRange(first=9_999, count=1))
    record, report = _report(tmp_path, _plan(ranges=ranges))
    figures = load_figures(record)
    assert figures is not None
    assert (figures.present_before, figures.documents_to_load, figures.documents_inserted) == (8_499, 1_501, 1_501)
    assert (figures.commands_planned, figures.commands_answered) == (3, 3)
    assert "There before" in _terminal(report)


def test_a_run_has_no_documents_section(tmp_path: Path) -> None:
    record = write_run(tmp_path / "run", simulated_plan(rate_ops_per_s=2_000, duration_s=2.0))
    report = run_report(record, observe(record))
    assert (report.data["operation_unit"], report.data["throughput_documents_per_s"]) == ("operation", None)
    said = "constant rate of 2000/s, whatever the target does, over 64 connections on 1 thread"
    assert (report.data["load"], report.data["load_model"]) == (said, said), "of a load its figures"
    assert "documents" not in [section.id for section in report.sections]


@pytest.mark.parametrize(
    ("sent", "default", "text"),
    [
        (None, None, "left to the server; its default isn't known here"),
        (None, {"w": "majority", "wtimeout": 0}, "left to the server, whose default is w: majority, wtimeout: 0"),
        ({"w": 2, "journal": None}, {"w": 1}, "w: 2, sent with every command"),
        ({"w": "majority", "journal": True}, None, "w: majority, journaled, sent with every command"),
        ({"w": 1, "journal": False}, None, "w: 1, not journaled, sent with every command"),
    ],
)
def test_the_write_concern_in_words(
    sent: dict[str, Any] | None, default: dict[str, Any] | None, text: str, tmp_path: Path
) -> None:
    record = write_run(tmp_path / "run", _plan())
    values = json.loads(record.plan.canonical_json())
    values["target"] = {"kind": "wire", "address": "127.0.0.1:1", "write_concern": sent}
    server = {} if default is None else {"default_write_concern": default}
    figures = load_figures(replace(record, plan=Plan.from_json(json.dumps(values)), environment={"server": server}))
    assert figures is not None and figures.write_concern_text == text


def test_progress_of_a_load_counts_documents(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brimline.cli.progress._PLAIN_EVERY_S", 0.0)
    progress = TerminalProgress()
    progress.begin("loading a.b", _plan())
    tick = Tick(
        stage="running",
        elapsed_s=2.0,
        finished=3,
        failed=1,
        documents=2_500,
        in_flight=2,
        rate_ops_per_s=1.5,
        rate_documents_per_s=1_250.0,
    )
    progress.tick(tick)
    progress.end()
    said = capsys.readouterr().err
    assert "25 %, 2 500 of 10 000 documents, 1 250 documents/s, 1 command failed" in said.replace("\n", " ")
