"""Owns plans of SQL statements and summaries of their runs, for tests of what follows from them."""

from collections.abc import Mapping
from typing import Any, cast

from brimline.plan import Plan
from brimline.record.model import Summary

_DATA = {
    "record_count": 10,
    "insert_start": 0,
    "field_count": 1,
    "field_length": {"kind": "constant", "length": 8},
    "field_name_prefix": "field",
    "key_prefix": "user",
    "insert_order": "hashed",
    "zero_padding": 1,
}


def statement_plan(
    steps: Mapping[str, tuple[str, str]],
    *,
    load: bool = False,
    kind: str = "mysql",
    body: Mapping[str, Mapping[str, Any]] | None = None,
) -> Plan:
    """A plan of one operation for each of `steps`: what the server counts it as, and its text; or a load."""
    operations = [
        {
            "name": name,
            "weight": 1.0,
            "steps": [
                {
                    "name": name,
                    "command": command,
                    "database": "",
                    "collection": None,
                    "access": "read" if command == "select" else "write",
                    "body": (body or {}).get(name, {"kind": "list", "items": []}),
                    "counter": "command",
                    "request": {"kind": "statement", "text": text, "mode": "prepared"},
                }
            ],
        }
        for name, (command, text) in steps.items()
    ]
    work: dict[str, Any] = {
        "kind": "operations",
        "collections": [{"name": "t", "database": "d", "collection": "t", "data": _DATA}],
        "tables": [],
        "values": [],
        "saved": [],
        "operations": operations,
    }
    if load:
        work = {"kind": "load", "batch_size": 10, "ordered": False}
    plan = {
        "version": 1,
        "name": "statements",
        "seed": 1,
        "target": {"kind": kind, "address": "127.0.0.1:1", "database": "d"},
        "namespace": {"database": "d", "collection": "t"},
        "data": _DATA,
        "work": work,
        "pacer": {"kind": "closed"},
        "connections": 1,
        "threads": 1,
        "warmup_ns": 0,
        "duration_ns": 1_000_000_000,
        "operation_count": None,
        "interval_ns": 1_000_000_000,
        "drain_timeout_ns": 0,
        "operation_timeout_ns": 1_000_000_000,
        "connect_timeout_ns": 1_000_000_000,
    }
    return Plan.model_validate(plan)


def statement_summary(
    *,
    answered: Mapping[str, int],
    modified: int = 0,
    inserted: int | None = None,
    ok: Mapping[str, int] | None = None,
    failed: Mapping[str, int] | None = None,
) -> Summary:
    """What a run of such a plan says at its end, as far as counts are held against it."""
    wrong = failed or {}
    ended = {name: {"ok": count, "miss": 0, "failed": wrong.get(name, 0)} for name, count in (ok or {}).items()}
    summary: dict[str, Any] = {
        "command_names": {name: {"answered": count, "uncertain": 0} for name, count in answered.items()},
        "document_counts": {"modified": modified},
        "operations": ended,
        "errors": [{"operation": name, "count": count} for name, count in wrong.items()],
    }
    if inserted is not None:
        summary["inserts"] = {"sent": inserted, "inserted": inserted, "failed": 0, "skipped": 0, "unknown": 0}
    return cast(Summary, summary)
