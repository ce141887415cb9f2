"""Reading serverStatus where versions put the figures.

`samples/` holds an answer of each version. Those of 4.4, 5.0, 6.0 and 6.0.27 were recorded; those of 7.0 and 8.0, which
could not be had, were made by hand from the manual, and say so.
"""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from bson import Timestamp

from brimline.monitor.row import COLUMNS, CONSTANTS, COUNTERS, GAUGES, ServerRow
from brimline.monitor.server_status import read_status

_SAMPLES = Path(__file__).with_name("samples")
_NOT_ASKED_THEN = {"documents_expired", "oplog_window_ms", "compactions", "compactions_running", "entries_removed"}
_NO_QUEUE_TIMES = {"read_queue_time_us", "write_queue_time_us"}
_VERSIONS: dict[str, set[str]] = {
    "4.4": _NO_QUEUE_TIMES,
    "5.0": _NO_QUEUE_TIMES,
    "6.0": _NO_QUEUE_TIMES,
    "6.0.27": _NO_QUEUE_TIMES,
    "7.0": set(),
    "8.0": set(),
}
"""Versions, and the columns that each of them has no figure for."""


def _sample(version: str) -> dict[str, Any]:
    return dict(json.loads((_SAMPLES / f"server-status-{version}.json").read_text()))


@pytest.mark.parametrize(("version", "missing"), _VERSIONS.items())
def test_every_version_fills_every_column_it_has(version: str, missing: set[str]) -> None:
    columns = read_status(_sample(version))
    assert {name for name, value in columns.items() if value is None} == missing | _NOT_ASKED_THEN


def test_the_oplog_reaches_back_from_its_newest_entry_to_its_oldest() -> None:
    oplog = {"earliestOptime": Timestamp(1_000, 4), "latestOptime": Timestamp(4_600, 1)}
    status = {"oplog": oplog, "metrics": {"ttl": {"deletedDocuments": 7, "passes": 3}}}
    columns = read_status(status)
    assert (columns["oplog_window_ms"], columns["documents_expired"]) == (3_600_000, 7)
    hostile = [
        {},
        {"earliestOptime": "x", "latestOptime": 3},
        {"earliestOptime": Timestamp(9, 0), **oplog, "latestOptime": Timestamp(2, 0)},
    ]
    assert [read_status({"oplog": each})["oplog_window_ms"] for each in hostile] == [None] * 3


def test_entries_that_are_removed_are_counted_one_by_one() -> None:
    assert read_status({"wiredTiger": {"cursor": {"cursor remove calls": 9}}})["entries_removed"] == 9


def test_compactions_are_counted_however_they_ended() -> None:
    """The names are those of 6.0.5, which counted 2 after `compact` of a collection with one index."""
    session = {"table compact running": 1, "table compact successful calls": 2, "table compact failed calls": 1,
               "table compact skipped as process would not reduce file size": 2}  # fmt: skip
    columns = read_status({"wiredTiger": {"session": session}})
    assert (columns["compactions_running"], columns["compactions"]) == (1, 3)


@pytest.mark.parametrize("version", ["4.4", "5.0", "6.0", "6.0.27"])
def test_recorded_answers_show_what_was_done_to_the_server(version: str) -> None:
    """50 documents in one command, 10 updates and finds, a sorted scan, a delete, one transaction, a checkpoint."""
    columns = read_status(_sample(version))
    # Some of the set's own documents and finds come to these.
    assert 51 <= (columns["insert"] or 0) <= 54
    assert columns["update"] == columns["documents_updated"] == 10
    assert columns["delete"] == columns["documents_deleted"] == 1
    assert columns["transactions_committed"] == 1
    assert (columns["sorts_without_index"] or 0) >= 1
    assert (columns["documents_returned"] or 0) >= 10 + 50
    assert (columns["collection_scans"] or 0) >= 1
    assert (columns["writes_ops"] or 0) >= 13
    assert (columns["write_concern_waits"] or 0) >= 12
    assert (columns["checkpoints"] or 0) >= 1
    assert columns["read_tickets_total"] == columns["write_tickets_total"] == 128
    assert columns["cache_bytes_max"] == 256 * 1024 * 1024
    assert (columns["server_cpu_ns"] or 0) > 10_000_000


@pytest.mark.parametrize("version", ["4.4", "5.0", "6.0"])
def test_the_look_itself_is_no_operation_at_work(version: str) -> None:
    """Before 6.0 the command that asks holds a read ticket; the servers were idle when they were asked."""
    sample = _sample(version)
    assert sample["wiredTiger"]["concurrentTransactions"]["read"]["out"] == (0 if version == "6.0" else 1)
    columns = read_status(sample)
    assert columns["read_tickets_out"] == columns["write_tickets_out"] == 0
    sample["wiredTiger"]["concurrentTransactions"]["read"]["out"] = 5
    sample["wiredTiger"]["concurrentTransactions"]["write"]["out"] = 2
    columns = read_status(sample)
    assert (columns["read_tickets_out"], columns["write_tickets_out"]) == (5 if version == "6.0" else 4, 2)


def test_tickets_and_queues_of_7_are_by_priority() -> None:
    columns = read_status(_sample("7.0"))
    assert (columns["read_tickets_out"], columns["read_tickets_total"]) == (2, 14)
    assert (columns["write_tickets_out"], columns["write_tickets_total"]) == (14, 14)
    assert (columns["read_queue"], columns["write_queue"]) == (3, 5)
    assert (columns["read_queue_time_us"], columns["write_queue_time_us"]) == (700, 90_000)


def test_8_has_moved_and_renamed_a_part() -> None:
    columns = read_status(_sample("8.0"))
    assert (columns["write_tickets_out"], columns["write_tickets_total"]) == (14, 14)
    assert (columns["read_queue"], columns["write_queue"]) == (3 + 1, 5 + 1)
    assert (columns["read_queue_time_us"], columns["write_queue_time_us"]) == (711, 90_011)
    assert (columns["checkpoints"], columns["checkpoint_running"]) == (7, 0)
    assert (columns["checkpoint_total_ms"], columns["checkpoint_last_ms"]) == (70, 9)
    assert columns["cache_pages_evicted_by_application"] == 21
    assert columns["cache_eviction_by_application_us"] == 340


def test_queues_of_older_versions_are_those_of_the_global_lock() -> None:
    status = _sample("6.0")
    status["globalLock"] = {
        "currentQueue": {"total": 9, "readers": 4, "writers": 5},
        "activeClients": {"readers": 6, "writers": 7},
    }
    columns = read_status(status)
    assert (columns["read_queue"], columns["write_queue"]) == (4, 5)
    assert (columns["active_readers"], columns["active_writers"]) == (6, 7)


def test_lock_waits_are_summed_over_resources_and_modes() -> None:
    status = {
        "locks": {
            "Global": {
                "acquireCount": {"r": 9},
                "acquireWaitCount": {"W": 2},
                "timeAcquiringMicros": {"W": 300},
            },
            "Collection": {"acquireWaitCount": {"w": 3, "R": 4}, "timeAcquiringMicros": {"w": 20, "R": 7}},
            "Mutex": {"acquireCount": {"r": 1}},
        }
    }
    columns = read_status(status)
    assert (columns["lock_waits"], columns["lock_wait_us"]) == (9, 327)
    assert read_status({"locks": {"Global": {"acquireCount": {"r": 9}}}})["lock_wait_us"] == 0


def test_latencies_are_the_servers_own_sums() -> None:
    columns = read_status({"opLatencies": {"reads": {"latency": 900, "ops": 3}, "writes": {"latency": 5, "ops": 1}}})
    assert (columns["reads_latency_us"], columns["reads_ops"]) == (900, 3)
    assert (columns["writes_latency_us"], columns["writes_ops"]) == (5, 1)
    assert columns["commands_ops"] is None


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


def test_each_column_of_numbers_is_of_one_kind() -> None:
    named = COUNTERS | GAUGES | CONSTANTS
    assert not COUNTERS & GAUGES
    assert not (COUNTERS | GAUGES) & CONSTANTS
    assert set(COLUMNS) - named == {
        *("at_ns", "gap", "server", "shared_host"),
        *("members_cpu_ns_by_name", "others_cpu_ns_by_name"),
    }
    assert {"insert", "disk_busy_ms", "lock_wait_us", "monitor_server_cpu_ns"} <= COUNTERS
    assert {"write_queue", "cache_bytes_dirty", "replication_lag_slowest_ms"} <= GAUGES
