"""Rejected records by reason: what counts as one reason, in which order, and that nothing grows without end."""

import json
from pathlib import Path

import pytest

from brimline.record import rejects
from brimline.record.rejects import read_rejects


def _write(path: Path, *entries: tuple[int, str, int]) -> Path:
    lines = [json.dumps({"input": 0, "line": line, "code": code, "reason": reason}) for line, reason, code in entries]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_values_do_not_make_a_reason_another_one(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "rejected.jsonl",
        (3, 'column age: "abc" is no int32', 0),
        (4, "E11000 duplicate key error index: _id_ dup key: { _id: 1 }", 11000),
        (5, "E11000 duplicate key error index: _id_ dup key: { _id: 27 }", 11000),
        (9, 'column age: "x 7" is no int32', 0),
        (11, "E11000 duplicate key error index: _id_ dup key: { _id: 3 }", 11000),
    )
    found = read_rejects(path)
    assert [(each.count, each.line, each.code) for each in found.groups] == [(3, 4, 11000), (2, 3, 0)]
    assert found.groups[1].reason == 'column age: "abc" is no int32'
    assert found.whole and found.others == 0


def test_reasons_beyond_the_bound_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejects, "GROUPS_MAX", 2)
    path = _write(tmp_path / "rejected.jsonl", *((line, "abcd"[line], 0) for line in range(4)), (5, "a", 0))
    found = read_rejects(path)
    assert [(each.reason, each.count) for each in found.groups] == [("a", 2), ("b", 1)]
    assert found.others == 2


def test_only_the_beginning_of_a_huge_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejects, "READ_CHARACTERS_MAX", 10)
    found = read_rejects(_write(tmp_path / "rejected.jsonl", (1, "a", 0), (2, "a", 0)))
    assert not found.whole and found.groups[0].count == 1


def test_a_damaged_or_missing_file_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "rejected.jsonl"
    assert read_rejects(path).groups == ()
    path.write_text('not json\n[1]\n{"line": 1}\n', encoding="utf-8")
    assert read_rejects(path).groups == ()
