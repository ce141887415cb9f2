"""An import that was killed says what it had kept as `at least`, before it goes on and afterwards."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline.api.import_data import _with_workers
from brimline.api.options import Options
from brimline.execution.cluster.where import read_where
from brimline.record.data_import import (
    CHECKPOINT_FILE,
    ImportRecord,
    ImportShares,
    ImportState,
    ImportWriter,
    read_import,
)
from brimline.report import Report, render_json
from brimline.report.data_import.view import import_report
from brimline.report.view import Fact, Facts
from tests.unit.report.import_samples import an_import

SECOND = 1_000_000_000
BEGUN = replace(
    an_import().state,
    ended_by=None, counts={}, count_after=None, duration_ns=0, client_cpu_ns=0, server_cpu_ns=None, attempts=1,
)  # fmt: skip


def _append(writer: ImportWriter, documents: Sequence[int]) -> None:
    writer.begin_attempt()
    rows = [
        {"start_ns": number * SECOND, "end_ns": (number + 1) * SECOND, "documents": count, "refused": 0, "commands": 1,
         "input_bytes": 1, "bytes_out": 1, "process_cpu_ns": 500_000_000, "service": None}
        for number, count in enumerate(documents)
    ]  # fmt: skip
    writer.append(rows, started_unix_ns=1)


def _killed(directory: Path, documents: Sequence[int], *, settled: int) -> ImportRecord:
    """One that was killed after some intervals, `settled` documents into its input by its checkpoint."""
    with ImportWriter(directory, BEGUN, {}) as writer:
        _append(writer, documents)
    (directory / CHECKPOINT_FILE).write_text(json.dumps({"counts": _counts(settled)}))
    return read_import(directory)


def _counts(inserted: int) -> dict[str, int]:
    return {**dict.fromkeys(an_import().state.counts, 0), "read": inserted, "inserted": inserted}


def _document(report: Report) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(render_json(report))
    return document


def _documents(record: ImportRecord) -> Fact:
    return next(fact for fact in import_report(record).verdict.facts if fact.label == "Documents")


def _server_cpu(record: ImportRecord) -> Fact:
    facts = [fact for section in import_report(record).sections for block in section.blocks
             if isinstance(block, Facts) for fact in block.facts]  # fmt: skip
    return next(fact for fact in facts if fact.label == "Server CPU per document")


@pytest.mark.parametrize(
    ("documents", "settled", "least"), [([600, 400], 700, 1000), ([600], 900, 900), ([], 900, 900)]
)
def test_one_that_does_not_go_on_denies_nothing_that_is_in(
    tmp_path: Path, documents: list[int], settled: int, least: int
) -> None:
    record = _killed(tmp_path / "r", documents, settled=settled)
    report = import_report(record)
    assert "".join(str(_documents(record).value).split()) == f"atleast{least}"
    assert (_document(report)["document_count"], _document(report)["document_count_is_least"]) == (least, True)
    assert _document(report)["measured_s"] == len(documents)
    assert report.verdict.caption == ("Import rate" if documents else "No rate: no interval was kept")
    assert "0 ns" not in report.subtitle and ("at least" in report.subtitle) == bool(documents)


def test_one_that_went_on_has_time_rate_and_documents_of_the_same_intervals(tmp_path: Path) -> None:
    found = _killed(tmp_path / "r", [600, 400], settled=1100)
    assert _server_cpu(found).note.startswith("an attempt was killed")
    with ImportWriter.reopen(found.directory, found.state) as writer:
        state: ImportState = replace(writer.state, attempts=2)
        _append(writer, [500])
        writer.save(
            replace(
                state, ended_by="completed", counts=_counts(1700), count_after=1700,
                duration_ns=state.duration_ns + SECOND, client_cpu_ns=state.client_cpu_ns + 500_000_000,
            ),
            sealed=True,
        )  # fmt: skip
    record = read_import(found.directory)
    report = import_report(record)
    assert (_document(report)["measured_s"], _document(report)["documents_per_s"]) == (3, 500)
    assert _document(report)["client_cpu_ns"] == 3 * 500_000_000
    said = "".join(str(report.verdict.interval).split())
    assert said.startswith("over1500documentsin3.00s:") and "killed" in said
    assert "at least 3.00 s" in " ".join(report.subtitle.split())
    assert "".join(str(_documents(record).value).split()) == "1700"
    assert _server_cpu(record).note.startswith("an attempt was killed")


def test_what_the_end_before_had_said_is_over(tmp_path: Path) -> None:
    ended = replace(BEGUN, ended_by="interrupt", message="m", ending={"kind": "stopped"}, count_after=3)
    with ImportWriter(tmp_path / "r", ended, {}):
        pass
    with ImportWriter.reopen(tmp_path / "r", ended):
        pass
    state = read_import(tmp_path / "r").state
    assert (state.message, state.ending, state.count_after) == ("", {}, None)


@pytest.mark.parametrize("named", ["local:4", "ray", "ray:4", "ray://h:1", "ray://h:1/4"])
def test_a_shared_import_goes_on_with_the_workers_it_began_with(named: str) -> None:
    assert read_where(named).text == named
    alone = replace(an_import(), environment={"workers": {"where": named, "per_node": 2}})
    shared = replace(alone, state=replace(alone.state, shares=ImportShares(parts=[], heads_bytes=[], input_bytes=1)))
    gone_on = _with_workers(Options(), shared)
    assert (gone_on.workers, gone_on.workers_per_node) == (named, 2)
    assert _with_workers(Options(workers="local:9"), shared).workers == "local:9"
    assert _with_workers(Options(), alone).workers is None
