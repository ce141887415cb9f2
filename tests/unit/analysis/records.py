"""Run records with known contents for the tests of analysis."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from brimline.plan import NullTarget, Plan, WireTarget, resolve
from brimline.record.model import IntervalRow, OperationRow, RunRecord, Summary
from brimline.record.time_histogram import IntervalHistogram
from brimline.spec import load_spec

Buckets = list[tuple[int, int]]
MS = 1_000_000
S = 1_000_000_000


class FixedHistogram:
    def __init__(self, buckets: Buckets) -> None:
        self._buckets = buckets

    def buckets(self) -> Buckets:
        return self._buckets


def operation_row(start_s: int, *, phase: str = "measure", operation: str = "read", **counts: int) -> OperationRow:
    row = {"sent": 1000, "ok": 1000, "miss": 0, "failed": 0, "held_back": 0, "in_flight_ns": S} | counts
    fixed = {"phase": phase, "start_ns": start_s * S, "end_ns": (start_s + 1) * S, "operation": operation}
    return cast(OperationRow, {**fixed, "documents": 0, "bytes_out": 0, "bytes_in": 0, **row})


def interval_row(start_s: int, *, phase: str = "measure", **values: int) -> IntervalRow:
    row = {"in_flight": 1, "backlog": 0, "engine_cpu_ns": S // 10, "busiest_thread_cpu_ns": S // 10} | values
    fixed = {"phase": phase, "start_ns": start_s * S, "end_ns": (start_s + 1) * S, "connections_up": 8}
    return cast(IntervalRow, {**fixed, "process_cpu_ns": S // 5, **row})


def summary(**changes: Any) -> Summary:
    totals: dict[str, Any] = {
        "due": 10_000,
        "sent": 10_000,
        "overdue": 0,
        "oldest_overdue_ns": 0,
        "ok": 10_000,
        "miss": 0,
        "failed": 0,
    }
    totals |= {"operations": {}, "unfinished": 0, "commands": {"query": 10_000}, "commands_uncertain": {}, "errors": []}
    return cast(Summary, totals | changes)


@cache
def _plan(rate: float | None, target: str, connections: int) -> Plan:
    load: Mapping[str, object] = {"kind": "closed"} if rate is None else {"kind": "constant", "rate": rate}
    spec = load_spec("ycsb-c", overrides={"connections": connections, "load": load}).spec
    return resolve(spec, target=NullTarget() if target == "null" else WireTarget(address="h:1", write_concern=None))


def run_record(
    *,
    rate: float | None = 1000.0,
    target: str = "wire",
    connections: int = 8,
    latencies: Mapping[str, Buckets] | None = None,
    operations: Sequence[OperationRow] | None = None,
    intervals: Sequence[IntervalRow] | None = None,
    batches: Sequence[IntervalHistogram] = (),
    **changes: Any,
) -> RunRecord:
    """Ten measured seconds at 1000 ops/s, one second of warm-up before them, nothing wrong."""
    closed = rate is None
    if latencies is None:
        latencies = {"service": [(MS, 9900), (2 * MS, 100)]}
        if not closed:
            latencies = {**latencies, "response": [(MS, 9900), (2 * MS, 100)], "lag": [(10_000, 10_000)]}
    fields: dict[str, Any] = {
        "directory": Path("unused"),
        "name": "test",
        "plan": _plan(rate, target, connections),
        "ended_by": "completed",
        "message": "",
        "summary": summary(),
        "environment": {},
        "opcounters": None,
        "operations": operations
        if operations is not None
        else [operation_row(0, phase="warmup", ok=5), *(operation_row(second) for second in range(1, 11))],
        "intervals": intervals
        if intervals is not None
        else [interval_row(0, phase="warmup"), *(interval_row(second) for second in range(1, 11))],
        "server": (),
        "events": (),
        "histograms": {("read", clock): FixedHistogram(buckets) for clock, buckets in latencies.items()},
        "brimline_version": "test",
        "load_interval_histograms": lambda clock=None: [each for each in batches if clock in (None, each.clock)],
    }
    return RunRecord(**(fields | changes))


def watched(*, counters: Mapping[str, float] | None = None, **gauges: float) -> list[dict[str, Any]]:
    """The monitor's rows over the ten measured seconds: counters grow by so much a second, gauges stay."""
    rates = counters or {}
    return [
        {"at_ns": at * S, **{name: 1000 + round(rate * (at - 1)) for name, rate in rates.items()}, **gauges}
        for at in (1, 4, 8, 11)
    ]


def at_work(
    *,
    server_cpus: float = 0.5,
    connections: int = 8,
    counters: Mapping[str, float] | None = None,
    gauges: Mapping[str, float] | None = None,
    **changes: Any,
) -> RunRecord:
    """A closed loop at 1000 ops/s with every connection busy, on a server that uses `server_cpus` of its 2 CPUs."""
    cpu = {"server_cpu_ns": server_cpus * S, "host_busy_ns": (server_cpus + 0.2) * S}
    fixed = {"server_cpu_count": 2.0, "host_cpu_count": 2.0, "shared_host": 1.0}
    busy = [operation_row(second, in_flight_ns=connections * S) for second in range(1, 11)]
    fields: dict[str, Any] = {
        "rate": None,
        "connections": connections,
        "operations": busy,
        "server": watched(counters={**cpu, **(counters or {})}, **fixed, **(gauges or {})),
    }
    return run_record(**(fields | changes))
