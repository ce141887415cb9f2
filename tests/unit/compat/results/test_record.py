"""The record of an imported run: what is written is what is read, and a failure leaves nothing behind."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from brimline.compat.results import import_files
from brimline.errors import RecordError
from brimline.record import imported_files, list_records
from brimline.record.imported_files import is_imported, read_imported, write_imported
from brimline.record.reader import read_record
from tests.support.ycsb_golden import GOLDEN
from tests.unit.compat.results.jtl import START_MS, Sample, uniform, write

HOSTILE = 'GET /a.b,c "d"\nTag=é 订单/%2E'


@pytest.fixture
def jtl(tmp_path: Path) -> Path:
    failed = Sample(START_MS + 50, 7, HOSTILE, success=False, message="mongodb://u:secret-word@h/ is down")
    return write(tmp_path / "订单 day 1.jtl", [*uniform(300), failed])


@pytest.mark.parametrize("names", [("a-run.raw.stdout", "a-run.raw.data.txt"), ("a-run.default.stdout",)])
def test_what_is_written_is_what_is_read(tmp_path: Path, names: tuple[str, ...]) -> None:
    written = write_imported(import_files([GOLDEN / name for name in names]), tmp_path / "runs")
    read = read_imported(written.directory)
    assert replace(read, times=written.times, rows=written.rows) == replace(written)
    assert list(read.times) == list(written.times) and list(read.rows) == list(written.rows)


def test_hostile_labels_and_secrets(tmp_path: Path, jtl: Path) -> None:
    written = write_imported(import_files([jtl]), tmp_path / "runs")
    read = read_imported(written.directory)
    assert list(read.times) == list(written.times) and list(read.rows) == list(written.rows)
    assert {each.operation for each in read.times} == {"GET order", HOSTILE}
    for path in written.directory.iterdir():
        assert b"secret-word" not in path.read_bytes()
        assert path.stat().st_mode & 0o777 == 0o600
    assert written.directory.stat().st_mode & 0o777 == 0o700


def test_it_is_listed_as_what_it_is(tmp_path: Path, jtl: Path) -> None:
    written = write_imported(import_files([jtl]), tmp_path / "runs")
    (entry,) = list_records(tmp_path / "runs")
    assert (entry.kind, entry.ended_by, entry.problem) == ("imported", "imported", "")
    assert entry.started_at is not None and entry.started_at.year == 2023
    assert is_imported(written.directory)
    state = json.loads((written.directory / "record.json").read_text())
    assert state["origin"] == "imported" and "opcounters" not in state and "plan" not in state


def test_it_is_no_run_of_brimline(tmp_path: Path, jtl: Path) -> None:
    written = write_imported(import_files([jtl]), tmp_path / "runs")
    with pytest.raises(RecordError, match="imported from JMeter"):
        read_record(written.directory)


def test_what_was_changed_is_not_read(tmp_path: Path, jtl: Path) -> None:
    directory = write_imported(import_files([jtl]), tmp_path / "runs").directory
    with (directory / "operations.csv").open("a") as file:
        file.write("0,1,GET order,5,0\n")
    with pytest.raises(RecordError, match=r"was changed since it was written: operations\.csv"):
        read_imported(directory)


@pytest.mark.parametrize("key", ["series", "duration_ns", "printed", "sources"])
def test_a_damaged_record_is_one_error(tmp_path: Path, jtl: Path, key: str) -> None:
    directory = write_imported(import_files([jtl]), tmp_path / "runs").directory
    path = directory / "record.json"
    state = json.loads(path.read_text())
    del state[key]
    path.write_text(json.dumps(state))
    with pytest.raises(RecordError, match="is damaged"):
        read_imported(directory)


def test_a_newer_record_is_refused(tmp_path: Path, jtl: Path) -> None:
    directory = write_imported(import_files([jtl]), tmp_path / "runs").directory
    path = directory / "record.json"
    path.write_text(path.read_text().replace('"format_version": 1', '"format_version": 99'))
    with pytest.raises(RecordError, match="format version 99"):
        read_imported(directory)


@pytest.mark.parametrize("failing", ["replace_pieces", "replace_json"])
def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, jtl: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def full(*_: object) -> None:
        raise RecordError("no space left on device")

    monkeypatch.setattr(imported_files, failing, full)
    with pytest.raises(RecordError, match="no space left"):
        write_imported(import_files([jtl]), tmp_path / "runs")
    assert list((tmp_path / "runs").iterdir()) == []
