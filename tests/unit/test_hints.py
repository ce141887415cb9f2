"""Errors that a user can do something about say what."""

import ast
import errno
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from pymongo.errors import AutoReconnect, OperationFailure

import brimline
from brimline.api.import_data import ImportResult, _so_far
from brimline.api.lint import lint
from brimline.api.options import Options
from brimline.cli.capacity import _seconds
from brimline.cli.sweep import _seconds as _seconds_of_a_run
from brimline.cli.sweep import _settings
from brimline.compat.mongostat.watching import _status
from brimline.dataset.access import target_errors
from brimline.errors import BrimlineError, TargetError, redact_text
from brimline.monitor import read_opcounters
from brimline.record.layout import RECORD_FILE, unreadable
from brimline.record.reader import read_state
from brimline.report.data_import.view import import_report
from brimline.servers.deployment import refusal
from brimline.servers.uri import parse_server_uri
from brimline.spec.import_settings import ImportSettings
from brimline.spec.properties import parse_properties
from tests.unit.report.import_samples import an_import


class _Gone:
    """A client whose server doesn't answer."""

    @property
    def admin(self) -> Any:
        raise AutoReconnect("gone")


def _refused() -> None:
    with target_errors("loading"):
        raise OperationFailure("disk full", code=14031)


def test_a_defect_of_our_own_is_not_put_on_the_server() -> None:
    with pytest.raises(AttributeError), target_errors("loading"):
        cast(Any, None).nothing()


def _hints() -> list[str]:
    """Every piece of text that is written as a hint anywhere in the package."""
    return [
        part.value
        for file in sorted(Path(brimline.__file__).parent.rglob("*.py"))
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.keyword) and call.arg == "hint"
        for part in ast.walk(call.value)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]


def test_no_hint_looks_like_a_secret_itself() -> None:
    hints = _hints()
    assert len(hints) > 300
    assert [hint for hint in hints if redact_text(hint) != hint] == []


@pytest.mark.parametrize(
    ("uri", "words"), [("mongodb://h", "wants a user name and a password"), ("mongodb://u:p@h", "to this user")]
)
def test_stat_tells_nobody_from_a_user_without_the_right(uri: str, words: str) -> None:
    def refuse(_: str) -> dict[str, Any]:
        raise OperationFailure("not authorized", code=13)

    with pytest.raises(TargetError, match=words):
        _status(refuse, parse_server_uri(uri))


def test_what_a_lost_server_acknowledged_and_what_is_settled_have_names_of_their_own() -> None:
    """The report counts what was answered, the hint what is certain: one number must not contradict the other."""
    made = an_import(ended_by="server_lost", reason="gone")
    counts = {**made.state.counts, "read": 9, "inserted": 9, "rejected": 0}
    lost = replace(made.state, counts=counts, kept={"counts": {**counts, "inserted": 7}})
    said = "9 documents were acknowledged, of which 7 are settled: they are in, whatever the server lost, 0 records"
    assert _so_far(lost).startswith(said)
    fact = import_report(replace(made, state=lost)).verdict.facts[0]
    assert (fact.label, fact.value, fact.note.partition(":")[0]) == ("Acknowledged", "9", "7 of them are settled")
    deleting = replace(lost, settings={**lost.settings, "mode": "delete"})
    assert "7 are settled: they are deleted, whatever the server lost" in _so_far(deleting)
    assert "they are deleted" in import_report(replace(made, state=deleting)).verdict.facts[0].note
    for certain in (replace(lost, kept={}), replace(lost, count_after=9), replace(lost, kept={"counts": counts})):
        assert _so_far(certain) == "9 documents are in, 0 records were rejected"
        assert import_report(replace(made, state=certain)).verdict.facts[0].label == "Documents"


@pytest.mark.parametrize("kind", ["refused", "input"])
def test_an_import_that_stopped_at_a_row_says_how_its_documents_are_not_doubled(kind: str) -> None:
    def hint(*, drop: bool = False, own: bool = False, made: int | None = None, **settings: Any) -> str:
        sample = an_import(ended_by="refused", reason="no number", settings=ImportSettings(type="csv", **settings))
        ending = {"kind": kind, "reason": "no number", "input": 0, "line": 1228, "code": 2}
        record = replace(
            sample,
            state=replace(sample.state, ending=ending, drop=drop, without_id=made),
            environment={"server": {"started_by_brimline": own}},
        )
        result = ImportResult(report=cast(Any, None), directory=record.directory, record=record)
        assert result.error is not None
        return result.error.hint or ""

    so_far = "so far 3 000 documents are in, 2 records were rejected"
    for made, which in ((None, "those of them that have"), (3_000, "the 3 000 that have"), (1, "the 1 that has")):
        said = hint(headerline=True, made=made)
        assert said.startswith(
            f"{so_far}; the same command again would double {which} no _id of their own; give --drop"
        )
        assert said.endswith("--upsertFields that are a key")
    own_id = hint(headerline=True, made=0)
    assert own_id.startswith(f"{so_far}; once it is corrected, the same command again adds the others")
    assert "double" not in own_id
    assert "would stop at the first of them" in hint(headerline=True, made=0, stop_on_error=True)
    assert hint(headerline=True, drop=True) == f"{so_far}; the same command again replaces them"
    assert hint(headerline=True, own=True) == so_far
    assert hint(headerline=True, mode="upsert").endswith("the same command again doubles nothing")


def _raise(error: BrimlineError) -> None:
    raise error


@pytest.mark.parametrize(
    ("act", "hint"),
    [
        (lambda: _seconds("soon", "--budget"), "--budget 20m"),
        (lambda: _settings(0, 3, {"duration_s": 10.0, "warmup_s": 2.0}), "--connections-max 256"),
        (lambda: _seconds_of_a_run("soon"), "--duration 10s"),
        (lambda: Options(data=cast(Any, "some")), "leave it out"),
        (lambda: parse_properties(b"a=\\u00g1", "w.properties"), "write it like \\u0041"),
        (lambda: lint("/no/such/file.yaml"), "YAML file of claims"),
        (lambda: _raise(unreadable(Path("plan.json"), OSError(errno.ENOENT, ""))), "isn't whole"),
        (lambda: _raise(unreadable(Path("plan.json"), OSError(errno.EACCES, ""))), "another user"),
        (lambda: _raise(refusal(OperationFailure("no", code=59), "mongodb://h")), "its log"),
        (lambda: read_opcounters(cast(Any, _Gone())), "still runs"),
        (_refused, "takes writes"),
    ],
)
def test_an_error_says_what_to_do(act: Callable[[], object], hint: str) -> None:
    with pytest.raises(BrimlineError) as caught:
        act()
    assert hint in (caught.value.hint or "")


def test_a_file_that_is_no_record(tmp_path: Path) -> None:
    (tmp_path / RECORD_FILE).write_text(json.dumps({"name": "x"}), encoding="utf-8")
    with pytest.raises(BrimlineError) as caught:
        read_state(tmp_path, RECORD_FILE)
    assert "brimline list" in (caught.value.hint or "")
