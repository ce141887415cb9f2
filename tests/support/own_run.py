"""Owns a record of operations that are their author's own: steps, a load apart, plans, a server that counts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brimline import _native
from brimline.plan import Plan
from brimline.record import RecordWriter, RunRecord, read_record
from brimline.record.model import IntervalRow, SampleRow, StepSampleRow, Summary
from tests.support.own_work import SHOP, own_plan

S, MS = 1_000_000_000, 1_000_000
SECONDS = 12
RATE = 1000
REVENUE = {"operations": [2], "pacer": {"kind": "constant", "rate_ops_per_s": 2.0}, "connections": 1}
SPEC = "name: shop\ncollections:\n  orders: {records: 1M}\n"
WEIGHTS = {"latest_orders": 0.75, "place_order": 0.25, "revenue": 0.0}
TIMES_MS = {"latest_orders": 2, "place_order": 6, "revenue": 400}
"""Mean service time of an operation."""


def shop_plan(**changes: Any) -> Plan:
    """1000 operations a second for 12 s, the first 2 warm-up, and 2 a second of a load apart."""
    values: dict[str, Any] = {
        "name": "shop",
        "weights": WEIGHTS,
        "loads": [REVENUE],
        "pacer": {"kind": "constant", "rate_ops_per_s": float(RATE)},
        "warmup_ns": 2 * S,
        "duration_ns": (SECONDS - 2) * S,
        "connections": 8,
    }
    operations = changes.pop("operations", SHOP)
    return own_plan(operations, **values | changes)


def step_plan(operation: str, step: str, **changes: Any) -> dict[str, Any]:
    """A step of which an index found the documents, one key and one document each."""
    values = {
        "operation": operation,
        "step": step,
        "command": f'{{"{step.split()[0]}": "{step.split()[-1]}", "filter": {{"_id": "c17"}}}}',
        "plan_summary": "IXSCAN { _id: 1 }",
        "index_names": ["_id_"],
        "keys_examined": 20,
        "docs_examined": 20,
        "n_returned": 20,
        "in_memory_sort": False,
        "collection_scan": False,
    }
    return values | changes


SCANS: Mapping[str, Any] = {"plan_summary": "COLLSCAN", "index_names": [], "keys_examined": 0, "collection_scan": True}
PLANS: Mapping[str, Sequence[dict[str, Any]]] = {
    "start": [
        step_plan("latest_orders", "find orders", in_memory_sort=True),
        step_plan("place_order", "find customers"),
        step_plan("place_order", "update stock", **SCANS, docs_examined=5000, n_returned=1),
        step_plan("revenue", "aggregate orders", **SCANS, docs_examined=1_000_000, n_returned=3),
    ],
    "end": [
        step_plan("latest_orders", "find orders", in_memory_sort=True),
        step_plan("place_order", "find customers", plan_summary="IXSCAN { city: 1 }", index_names=["city_1"]),
        step_plan("place_order", "update stock", **SCANS, docs_examined=5000, n_returned=1),
        step_plan("revenue", "aggregate orders", **SCANS, docs_examined=1_000_000, n_returned=3),
    ],
}
"""Two scan, one sorts in memory, and of one the plan changed."""


def histogram(count: int, mean_ns: float) -> str:
    """So many times, from a half to three times the mean."""
    made = _native.Histogram()
    for place in range(count):
        made.record(round(mean_ns * (0.5 + 2.5 * (place / max(count, 1)) ** 3)))
    return made.encode()


def write_own_run(
    directory: Path, plan: Plan | None = None, *, plans: Mapping[str, Any] = PLANS, ended_by: str = "completed"
) -> RunRecord:
    """Writes the record. Each operation is sent by its weight, or its load's rate; one a second fails."""
    plan = plan or shop_plan()
    seconds = range(SECONDS)
    with RecordWriter(directory, plan, SPEC, {"server": {"version": "6.0.5", "kind": "standalone"}}) as writer:
        writer.plans(plans)
        for second in seconds:
            operations = [row for name in _names(plan) if (row := _operation(plan, name, second))["sent"]]
            steps = [_step(plan, name, step, second) for name, step in _steps(plan)]
            writer.append({"operations": operations, "steps": steps, "intervals": [_interval(plan, second)]})
            writer.append_server(_server(plan, second))
        summary = _summary(plan)
        problems = writer.seal(summary, _counters(summary), ended_by=ended_by)
        assert problems == []
    return read_record(directory)


def _names(plan: Plan) -> list[str]:
    return [operation.name for operation in plan.work.operations]  # type: ignore[union-attr]


def _steps(plan: Plan) -> list[tuple[str, str]]:
    several = [each for each in plan.work.operations if len(each.steps) > 1]  # type: ignore[union-attr]
    return [(operation.name, step.name) for operation in several for step in operation.steps]


def _count(plan: Plan, name: str) -> int:
    """Operations of a second."""
    work = plan.work
    total = sum(each.weight for each in work.operations)  # type: ignore[union-attr]
    weight = next(each.weight for each in work.operations if each.name == name)  # type: ignore[union-attr]
    return round(RATE * weight / total) if weight else 2


def _failed(name: str) -> int:
    return 1 if name == "place_order" else 0


def _span(second: int) -> dict[str, Any]:
    phase = "warmup" if second < 2 else "measure"
    return {"phase": phase, "start_ns": second * S, "end_ns": (second + 1) * S}


def _operation(plan: Plan, name: str, second: int) -> SampleRow:
    count, failed = _count(plan, name), _failed(name)
    mean_ns = TIMES_MS.get(name, 3) * MS
    breakdown = {}
    if failed:
        breakdown = {f"failed_{clock}": histogram(failed, mean_ns) for clock in ("service", "response")}
    row = {
        **_span(second),
        "operation": name,
        "sent": count,
        "ok": count - failed,
        "miss": 0,
        "failed": failed,
        "held_back": 0,
        "documents": 20 * (count - failed),
        "bytes_out": 200 * count,
        "bytes_in": 4200 * count,
        "in_flight_ns": round(mean_ns * count),
        "service": histogram(count, mean_ns),
        "response": histogram(count, mean_ns),
        "lag": histogram(count, 1000),
        "breakdown": breakdown,
    }
    return SampleRow(**row)  # type: ignore[typeddict-item]


def _step(plan: Plan, name: str, step: str, second: int) -> StepSampleRow:
    """The last step of an operation is the one that fails."""
    last = step == [each for operation, each in _steps(plan) if operation == name][-1]
    count, failed = _count(plan, name), _failed(name) if last else 0
    row = {
        **_span(second),
        "operation": name,
        "step": step,
        "sent": count,
        "ok": count - failed,
        "miss": 0,
        "failed": failed,
        "documents": count,
        "bytes_out": 100 * count,
        "bytes_in": 1400 * count,
        "service": histogram(count, TIMES_MS.get(name, 3) * MS / 3),
    }
    return StepSampleRow(**row)  # type: ignore[typeddict-item]


def _interval(plan: Plan, second: int) -> IntervalRow:
    row = {
        **_span(second), "in_flight": 4, "connections_up": plan.connections + 1, "backlog": 0, "workers_active": 0,
        "engine_cpu_ns": 40 * MS, "busiest_thread_cpu_ns": 20 * MS, "process_cpu_ns": 60 * MS,
    }  # fmt: skip
    return IntervalRow(**row)  # type: ignore[typeddict-item]


def _server(plan: Plan, second: int) -> dict[str, Any]:
    """Reads take six tenths of the server's time, writes three; each class has the steps' own commands."""
    ops = dict.fromkeys(("reads", "writes", "commands"), 0)
    for operation in plan.work.operations:  # type: ignore[union-attr]
        for step in operation.steps:
            kind = (
                "reads" if step.command in ("find", "aggregate") else "writes" if step.access == "write" else "commands"
            )
            ops[kind] += _count(plan, operation.name)
    return {
        "at_ns": (second + 1) * S,
        **{f"{kind}_ops": count * second for kind, count in ops.items()},
        "reads_latency_us": 600_000 * second,
        "writes_latency_us": 300_000 * second,
        "commands_latency_us": 100_000 * second,
        "server_cpu_ns": S // 2 * second, "server_cpu_count": 2, "host_busy_ns": S * second, "host_cpu_count": 2,
        "shared_host": 1, "connections": 12,
    }  # fmt: skip


def _summary(plan: Plan) -> Summary:
    def totals(name: str, failed: int) -> dict[str, int]:
        sent = _count(plan, name) * SECONDS
        return {"sent": sent, "ok": sent - failed * SECONDS, "miss": 0, "failed": failed * SECONDS}

    operations = {name: {**totals(name, _failed(name)), "unfinished": 0} for name in _names(plan)}
    steps: dict[str, dict[str, Any]] = {}
    for name, step in _steps(plan):
        last = step == [each for operation, each in _steps(plan) if operation == name][-1]
        steps.setdefault(name, {})[step] = totals(name, _failed(name) if last else 0)
    names: dict[str, dict[str, int]] = {}
    counters: dict[str, int] = dict.fromkeys(("query", "insert", "update", "delete", "getmore", "command"), 0)
    for operation in plan.work.operations:  # type: ignore[union-attr]
        for step in operation.steps:
            sent = operations[operation.name]["sent"]
            names.setdefault(step.command, {"answered": 0, "uncertain": 0})["answered"] += sent
            counters[step.counter] += sent
    sent = sum(each["sent"] for each in operations.values())
    failed = sum(each["failed"] for each in operations.values())
    failures = {name: each["failed"] for name, each in operations.items() if each["failed"]}
    values = {
        "ended_by": "completed", "message": "", "started_unix_ns": 1_760_000_000 * S, "elapsed_ns": SECONDS * S,
        "due": sent, "sent": sent, "overdue": 0, "oldest_overdue_ns": 0, "ok": sent - failed, "miss": 0,
        "failed": failed, "unfinished": 0, "oldest_unfinished_ns": 0, "operations": operations, "steps": steps,
        "commands": counters, "commands_uncertain": {}, "command_names": names,
        "document_counts": {"inserted": names.get("insert", {}).get("answered", 0), "returned": 50_000},
        "operations_hash": "0123456789abcdef", "threads": 2, "virtual_clock": False,
        "errors": [
            {
                "operation": name, "outcome": "unexpected", "code": 0, "label": "documents: 1", "count": count,
                "example": "0 documents",
            }
            for name, count in failures.items()
        ],
    }  # fmt: skip
    return Summary(**values)  # type: ignore[typeddict-item]


def _counters(summary: Summary) -> Any:
    after: dict[str, Any] = {**summary["commands"], "uptime_ms": 90_000}
    names = summary.get("command_names", {})
    after["commands"] = {name: totals["answered"] for name, totals in names.items()}
    after["documents"] = {"inserted": 0, "updated": 0, "deleted": 0, "returned": 0} | {
        name: count for name, count in summary.get("document_counts", {}).items() if name in ("inserted", "returned")
    }
    before: dict[str, Any] = {name: 0 for name in after if name not in ("commands", "documents")}
    before |= {name: dict.fromkeys(after[name], 0) for name in ("commands", "documents")}
    return {"before": before, "after": after}
