"""What a report says of the parts of operations: their own times, apart from those of the whole."""

import json
from dataclasses import replace
from typing import Any

import pytest

from brimline.analysis.observation import observe
from brimline.record import RunRecord
from brimline.report import in_language, render_json, run_report
from brimline.report.run.parts_table import part_times, parts_table
from brimline.report.view import Table
from tests.unit.record.samples import plan
from tests.unit.report.report_samples import simulated_plan, write_run

MIX = {"read": 0.4, "update": 0.0, "insert": 0.0, "scan": 0.0, "read_modify_write": 0.3, "transaction": 0.3}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    statements = {"reads": 1, "updates": 2}
    work: dict[str, Any] = plan().work.model_dump(mode="json") | {"proportions": MIX, "transaction": statements}
    run_plan = simulated_plan(rate_ops_per_s=None, connections=2, duration_s=2.0, work=work)
    return write_run(tmp_path_factory.mktemp("parts") / "run", run_plan)


def _tables(record: RunRecord, language: str) -> list[Table]:
    report = in_language(run_report(record, observe(record)), language)
    (section,) = [each for each in report.sections if each.id == "operations"]
    return [each for each in section.blocks if isinstance(each, Table)]


def test_a_commit_has_a_row_of_its_own(record: RunRecord) -> None:
    operations, parts, _apdex = _tables(record, "en")
    named = {row[0].text: row for row in parts.rows}
    assert list(named) == ["read of a read modify write", "update of a read modify write", "commit of a transaction"]
    whole = {row[0].text: row for row in operations.rows}["transaction"]
    commit = named["commit of a transaction"]
    assert [column.label for column in parts.columns[2:]] == [column.label for column in operations.columns[4:11]]
    assert 0 < float(commit[2].text) < float(whole[4].text) / 2, "one of four commands that take equally long"
    assert commit[1].text == whole[1].text, "each was committed once"


def test_it_is_said_in_chinese(record: RunRecord) -> None:
    _, parts, _ = _tables(record, "zh")
    assert [row[0].text for row in parts.rows][-1] == "事务的提交"
    assert parts.columns[0].label == "部分"


def test_machines_get_it_with_its_operation(record: RunRecord) -> None:
    operations = json.loads(render_json(run_report(record, observe(record))))["operations"]
    assert set(operations["read_modify_write"]["parts"]) == {"read", "update"}
    commit = operations["transaction"]["parts"]["commit"]["service"]
    assert commit["count"] == operations["transaction"]["service"]["count"]
    assert 0 < commit["p50_ns"] < operations["transaction"]["service"]["p50_ns"]
    assert operations["read"]["parts"] == {}


def test_without_any_there_is_no_table(record: RunRecord) -> None:
    bare = replace(record, breakdown={})
    assert parts_table(bare) is None
    assert part_times(bare, "transaction") == {}
