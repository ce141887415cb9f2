"""Reading serverStatus where versions put the figures, and CPU time from /proc."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from brimline.monitor.cpu_time import host_cpu, process_cpu_ns
from brimline.monitor.row import COLUMNS, ServerRow
from brimline.monitor.server_status import read_status

_UP_TO_6 = {
    "wiredTiger": {
        "concurrentTransactions": {
            "write": {"out": 3, "available": 125, "totalTickets": 128},
            "read": {"out": 1, "available": 127, "totalTickets": 128},
        },
        "transaction": {
            "transaction checkpoint currently running": 1,
            "transaction checkpoints": 7,
            "transaction checkpoint total time (msecs)": 900,
        },
    },
    "globalLock": {"currentQueue": {"total": 9, "readers": 4, "writers": 5}},
}
_FROM_8 = {
    "queues": {
        "execution": {
            "write": {
                "out": 3,
                "available": 13,
                "totalTickets": 16,
                "normalPriority": {"queueLength": 4},
                "lowPriority": {"queueLength": 1},
            },
            "read": {"out": 1, "available": 15, "totalTickets": 16, "normalPriority": {"queueLength": 4}},
        }
    },
    "wiredTiger": {
        "checkpoint": {
            "progress state": 1,
            "total succeed number of checkpoints": 7,
            "total time (msecs)": 900,
        }
    },
    "globalLock": {"currentQueue": {"total": 0, "readers": 0, "writers": 0}},
}


@pytest.mark.parametrize(("status", "tickets"), [(_UP_TO_6, 128), (_FROM_8, 16)])
def test_admission_and_checkpoints_are_found_in_old_and_new_places(status: dict[str, Any], tickets: int) -> None:
    columns = read_status(status)
    assert (columns["read_tickets_out"], columns["write_tickets_out"]) == (1, 3)
    assert (columns["read_tickets_total"], columns["write_tickets_total"]) == (tickets, tickets)
    assert (columns["read_queue"], columns["write_queue"]) == (4, 5)
    assert columns["checkpoint_running"] == 1
    assert columns["checkpoints"] == 7
    assert columns["checkpoint_total_ms"] == 900


def test_plain_figures() -> None:
    columns = read_status(
        {
            "uptimeMillis": 5,
            "opcounters": {"insert": 1, "query": 2, "update": 3, "delete": 4, "getmore": 5, "command": 6},
            "connections": {"current": 7, "active": 8, "totalCreated": 9},
            "mem": {"resident": 2, "virtual": 3},
            "network": {"bytesIn": 10, "bytesOut": 11.0},
            "wiredTiger": {
                "cache": {
                    "bytes currently in the cache": 12,
                    "tracked dirty bytes in the cache": 13,
                    "maximum bytes configured": 14,
                    "pages evicted by application threads": 15,
                }
            },
        }
    )
    assert [columns[name] for name in ("insert", "query", "update", "delete", "getmore", "command")] == [
        1,
        2,
        3,
        4,
        5,
        6,
    ]
    assert [columns[name] for name in ("connections", "connections_active", "connections_created")] == [
        7,
        8,
        9,
    ]
    assert columns["resident_bytes"] == 2 * 1024 * 1024
    assert columns["network_bytes_out"] == 11
    assert columns["cache_bytes_used"] == 12
    assert columns["cache_bytes_dirty"] == 13
    assert columns["cache_bytes_max"] == 14
    assert columns["cache_pages_evicted_by_application"] == 15


def test_a_server_without_the_figures_has_none_and_never_zero() -> None:
    assert set(read_status({"ok": 1.0, "mem": "no section"}).values()) == {None}


def test_every_column_read_is_a_column_of_the_row() -> None:
    assert set(read_status({})) <= {field.name for field in fields(ServerRow)}


def test_a_row_becomes_plain_columns_in_order() -> None:
    columns = ServerRow(at_ns=5, shared_host=True).columns()
    assert tuple(columns) == COLUMNS
    assert columns["at_ns"] == 5
    assert columns["shared_host"] == 1
    assert type(columns["shared_host"]) is int
    assert columns["insert"] is None


def test_cpu_time_of_a_process_whose_name_holds_spaces_and_parentheses(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text("7 (a) b (c) S 1 7 7 0 -1 4 100 0 0 0 150 50 0 0 20 0 1 0 12345 0 0\n")
    assert process_cpu_ns(7, proc=tmp_path) == 2_000_000_000
    assert process_cpu_ns(8, proc=tmp_path) is None


def test_cpu_time_of_the_host_leaves_out_idle_and_guests(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text(
        "cpu  100 10 50 1000 200 5 15 20 70 7\n"
        "cpu0 50 5 25 500 100 2 7 10 35 3\n"
        "cpu1 50 5 25 500 100 3 8 10 35 4\n"
        "intr 1 2 3\n"
    )
    host = host_cpu(proc=tmp_path)
    assert host is not None
    assert host.busy_ns == 200 * 10_000_000
    assert host.cpu_count == 2
    assert host_cpu(proc=tmp_path / "none") is None
