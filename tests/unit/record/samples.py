"""A small run with known totals.

2 intervals of warm-up, 3 of measuring, reads and updates, one miss, one failure.
"""

from typing import Any

from brimline.plan import Plan
from brimline.record.model import IntervalRow, SampleRow, Samples, Summary
from tests.unit.record.fake_histogram import encoded

SECOND_NS = 1_000_000_000


def plan(**changes: Any) -> Plan:
    """A plan at constant rate; `changes` replace top-level fields."""
    values: dict[str, Any] = {
        "version": 1,
        "name": "ycsb-a",
        "seed": 1,
        "target": {"kind": "wire", "address": "127.0.0.1:27017", "write_concern": None},
        "namespace": {"database": "ycsb", "collection": "usertable"},
        "data": {
            "record_count": 1000,
            "insert_start": 0,
            "field_count": 10,
            "field_length": {"kind": "constant", "length": 100},
            "field_name_prefix": "field",
            "key_prefix": "user",
            "insert_order": "hashed",
            "zero_padding": 1,
        },
        "work": {
            "kind": "mix",
            "proportions": {"read": 0.5, "update": 0.5, "insert": 0.0, "scan": 0.0, "read_modify_write": 0.0},
            "keys": {"kind": "zipfian", "theta": 0.99},
            "scan_length": {"kind": "uniform", "min": 1, "max": 100},
            "read_all_fields": True,
            "write_all_fields": False,
        },
        "pacer": {"kind": "constant", "rate_ops_per_s": 4.0},
        "connections": 4,
        "threads": 1,
        "warmup_ns": 2 * SECOND_NS,
        "duration_ns": 3 * SECOND_NS,
        "operation_count": None,
        "interval_ns": SECOND_NS,
        "drain_timeout_ns": 10 * SECOND_NS,
        "operation_timeout_ns": 10 * SECOND_NS,
        "connect_timeout_ns": 5 * SECOND_NS,
    }
    return Plan.model_validate(values | changes)


def operation_row(second: int, operation: str, **changes: Any) -> SampleRow:
    """Two successful operations of 1 and 2 ms in the interval that starts at `second`."""
    row: dict[str, Any] = {
        "phase": "warmup" if second < 2 else "measure",
        "start_ns": second * SECOND_NS,
        "end_ns": (second + 1) * SECOND_NS,
        "operation": operation,
        "sent": 2,
        "ok": 2,
        "miss": 0,
        "failed": 0,
        "held_back": 0,
        "documents": 2,
        "bytes_out": 200,
        "bytes_in": 2400,
        "in_flight_ns": 3_000_000,
        "service": encoded(1_000_000, 2_000_000),
        "response": encoded(1_100_000, 2_100_000),
        "lag": encoded(100_000, 100_000),
        "breakdown": {},
    }
    return SampleRow(**(row | changes))  # type: ignore[typeddict-item]


def interval_row(second: int) -> IntervalRow:
    return {
        "phase": "warmup" if second < 2 else "measure",
        "start_ns": second * SECOND_NS,
        "end_ns": (second + 1) * SECOND_NS,
        "in_flight": 1,
        "connections_up": 4,
        "backlog": 0,
        "workers_active": 0,
        "engine_cpu_ns": 1_000_000,
        "busiest_thread_cpu_ns": 1_000_000,
        "process_cpu_ns": 5_000_000,
    }


def samples(second: int) -> Samples:
    """One second; in second 3 a read finds nothing, in second 4 an update fails."""
    read = operation_row(second, "read", **({"ok": 1, "miss": 1, "documents": 1} if second == 3 else {}))
    update = operation_row(second, "update", **({"ok": 1, "failed": 1, "documents": 1} if second == 4 else {}))
    return {"operations": [read, update], "intervals": [interval_row(second)]}


def summary(**changes: Any) -> Summary:
    """The totals of `samples(0)` to `samples(4)`."""
    values: dict[str, Any] = {
        "ended_by": "completed",
        "message": "",
        "started_unix_ns": 1_760_000_000 * SECOND_NS,
        "elapsed_ns": 5 * SECOND_NS,
        "due": 20,
        "sent": 20,
        "overdue": 0,
        "oldest_overdue_ns": 0,
        "ok": 18,
        "miss": 1,
        "failed": 1,
        "unfinished": 0,
        "oldest_unfinished_ns": 0,
        "operations": {
            "read": {"sent": 10, "ok": 9, "miss": 1, "failed": 0, "unfinished": 0},
            "update": {"sent": 10, "ok": 9, "miss": 0, "failed": 1, "unfinished": 0},
        },
        "commands": {"query": 10, "insert": 0, "update": 9, "getmore": 0},
        "commands_uncertain": {},
        "operations_hash": "0123456789abcdef",
        "errors": [
            {
                "operation": "update",
                "outcome": "server_error",
                "code": 112,
                "label": "WriteConflict",
                "count": 1,
                "example": "write conflict",
            }
        ],
        "threads": 1,
        "virtual_clock": False,
    }
    return Summary(**(values | changes))  # type: ignore[typeddict-item]
