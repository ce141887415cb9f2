"""The log of single operations: its rows, its conservation, and the room that it needs."""

import shutil
import struct
from pathlib import Path
from types import SimpleNamespace

import pytest

from brimline.errors import RecordError
from brimline.record.conservation import logged_imbalances
from brimline.record.operation_log import NEVER, ROW_BYTES, LoggedTotals, check_room, read_operation_log
from tests.unit.record.samples import summary

READ = struct.pack("<QQQQQIBBBB", NEVER, 5, NEVER, NEVER, 9, 1, 0, 0, 1, 0)
FAILED_UPDATE = struct.pack("<QQQQQIBBBB", 1, 2, 3, 4, 5, 0, 1, 2, 0, 0)


def test_rows_are_read_as_the_engine_writes_them_but_for_a_torn_one(tmp_path: Path) -> None:
    (tmp_path / "operation_log.bin").write_bytes(READ + FAILED_UPDATE + READ[:20])
    rows = read_operation_log(tmp_path)
    assert ROW_BYTES == len(READ) == rows.dtype.itemsize
    assert rows["sent_ns"].tolist() == [5, 2] and rows["due_ns"].tolist() == [NEVER, 1]
    assert rows["ending"].tolist() == [0, 2] and rows["phase"].tolist() == [1, 0]


def test_a_record_without_a_log_says_so(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"operation_log\.bin"):
        read_operation_log(tmp_path)


def test_what_is_logged_must_be_what_was_counted() -> None:
    logged = LoggedTotals()
    logged.add(READ + READ)
    logged.add(FAILED_UPDATE)
    assert logged.by_name() == {("read", "ok"): 2, ("update", "failed"): 1}
    totals = {name: {"ok": 0, "miss": 0, "failed": 0} for name in ("read", "update")}
    totals["read"]["ok"], totals["update"]["failed"] = 2, 1
    counted = summary(operations=totals)
    assert logged_imbalances(counted, logged.by_name()) == []
    totals["read"]["ok"] = 3
    assert logged_imbalances(counted, logged.by_name()) == ["read: 2 of 3 operations that ended ok are in the log"]


def test_a_log_that_can_not_fit_is_refused_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=48_000))
    check_room(tmp_path, 1000)
    check_room(tmp_path, None)
    with pytest.raises(RecordError, match="a log of 1001 operations takes"):
        check_room(tmp_path, 1001)
