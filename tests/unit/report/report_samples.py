"""Realistic records for tests of the report: the real engine, the scripted server, a virtual clock.

The generator's and the server's CPU time mean nothing on a virtual clock; they are replaced by what a server
with two CPUs would show at that throughput.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from brimline import _native
from brimline.analysis.objective import Slo
from brimline.analysis.observation import Observation, observe
from brimline.analysis.verdict import Judgement, judge
from brimline.experiments.capacity.conclusion import CapacityConclusion
from brimline.experiments.capacity.frontier import Frontier, FrontierSettings
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.settings import CapacitySettings, SweepSettings, quick
from brimline.experiments.sweep import Sweep, SweepConclusion
from brimline.experiments.trial import Probe, Trial
from brimline.plan import Plan
from brimline.record import (
    ExperimentRecord,
    ExperimentWriter,
    RecordWriter,
    RunRecord,
    read_experiment,
    read_record,
)
from brimline.record.model import SampleRow, Samples, Summary
from brimline.report import Report, capacity_report, detail_trial, run_report, sweep_report
from brimline.report.search.frontier_view import frontier_report
from tests.unit.record.samples import SECOND_NS, plan

SPEC = """\
name: order-service
description: 订单服务: half reads, half updates, a few records are hot.
seed: 1
data: {records: 1000}
operations: {read: 0.5, update: 0.5}
keys: {kind: zipfian, theta: 0.99}
slo: {response_p99: 10ms, error_rate: 0.1%}
"""

ENVIRONMENT: dict[str, Any] = {
    "captured_at": "2026-03-02T09:14:05+00:00",
    "command": "brimline capacity order-service --uri mongodb://db1.example:27017 --quick",
    "brimline": {"version": "0.1.0"},
    "python": {"version": "3.11.7", "implementation": "cpython"},
    "host": {
        "name": "bench-1",
        "system": "Debian GNU/Linux 12 (bookworm)",
        "kernel": "6.1.0-18-amd64",
        "architecture": "x86_64",
        "cpu_model": "AMD EPYC 7763 64-Core Processor",
        "cpu_cores": 2,
        "cpu_cores_usable": 2,
        "virtualised": True,
        "memory_bytes": 8_342_171_648,
        "transparent_huge_pages": "madvise",
        "load_average_1min": 0.21,
    },
    "container": {"kind": None, "cpu_limit_cores": None, "memory_limit_bytes": None},
    "uri": "mongodb://db1.example:27017",
    "server": {
        "buildInfo": {"version": "6.0.5", "gitVersion": "c9a99c120371d4d4c52cbb15dac34a36ce8d3b1d"},
        "getCmdLineOpts": {"argv": ["mongod", "--dbpath", "/data/db", "--wiredTigerCacheSizeGB", "0.5"]},
    },
}


def ended_experiment(kind: str, directory: str) -> ExperimentRecord:
    """An experiment that went to its end, without trials on disk."""
    return ExperimentRecord(
        directory=Path(directory),
        kind=kind,
        name="order-service",
        settings={},
        spec_text=SPEC,
        environment=ENVIRONMENT,  # type: ignore[arg-type]
        ended_by="completed",
        message="",
        brimline_version="0.1.0",
        trials=(),
    )


SATURATION_OPS_PER_S = 10_000.0
"""Four requests in service at once, 0.4 ms each on average."""


def script(**changes: Any) -> dict[str, Any]:
    """A server that saturates at 10 000 ops/s."""
    service = {"kind": "lognormal", "mean_ns": 400_000, "sigma": 0.5}
    return {"seed": 1, "service": service, "servers": 4, **changes}


def simulated_plan(
    *,
    rate_ops_per_s: float | None,
    connections: int = 64,
    warmup_s: float = 2.0,
    duration_s: float = 10.0,
    **changes: Any,
) -> Plan:
    """A plan against the scripted server; `rate_ops_per_s` None: closed loop."""
    pacer = {"kind": "closed"} if rate_ops_per_s is None else {"kind": "constant", "rate_ops_per_s": rate_ops_per_s}
    target = {"kind": "simulated", "script": changes.pop("script", script()), "generator_ns": 2000}
    values = {
        "name": "order-service",
        "pacer": pacer,
        "target": target,
        "connections": connections,
        "warmup_ns": round(warmup_s * SECOND_NS),
        "duration_ns": round(duration_s * SECOND_NS),
        "interval_ns": SECOND_NS // 4,
    }
    return plan(**values | changes)


def write_run(directory: Path, run_plan: Plan, *, sealed: bool = True, cpu_ns_per_op: int = 8_000) -> RunRecord:
    """Runs the plan and writes its record, server rows included."""
    run = _native.start(run_plan.canonical_json())
    summary = run.join()
    samples = run.take_samples()
    with RecordWriter(directory, run_plan, SPEC, ENVIRONMENT) as writer:
        writer.event("run", name=run_plan.name)
        writer.append(_with_plausible_costs(samples, cpu_ns_per_op=cpu_ns_per_op))
        for row in _server_rows(samples):
            writer.append_server(row)
        if sealed:
            writer.seal(summary, _opcounters(summary), ended_by=summary["ended_by"], message=summary["message"])
    return read_record(directory)


def run_with_everything(directory: Path) -> tuple[RunRecord, Observation, Slo, Judgement]:
    """A constant rate with a stall, three kinds of failure and some misses."""
    conflict = {"code": 112, "name": "WriteConflict", "label": "TransientTransactionError"}
    faults = [
        {"when": {"share": 0.002}, "kind": {"error": conflict}},
        {"when": {"share": 0.0005}, "kind": {"error": {"code": 50, "name": "MaxTimeMSExpired"}}},
        {"when": {"share": 0.001}, "kind": "no_document"},
    ]
    stalls = [{"at_ns": 12 * SECOND_NS, "length_ns": SECOND_NS // 2}]
    run_plan = simulated_plan(
        rate_ops_per_s=6000.0, warmup_s=5.0, duration_s=20.0, script=script(faults=faults, stalls=stalls)
    )
    record = write_run(directory, run_plan)
    slo = Slo()
    observation = observe(record, null_ceiling_ops_per_s=220_000.0)
    return record, observation, slo, judge(observation, slo)


def overloaded_run(directory: Path) -> Report:
    """A server that answers a quarter of what it is asked, after more than 10 s."""
    slow = script(service={"kind": "lognormal", "mean_ns": 34_000_000, "sigma": 0.5})
    record = write_run(directory, simulated_plan(rate_ops_per_s=500.0, duration_s=15.0, script=slow))
    observation, slo = observe(record), Slo()
    return run_report(record, observation, slo=slo, judgement=judge(observation, slo))


def capacity_search(
    directory: Path, settings: CapacitySettings | None = None
) -> tuple[ExperimentRecord, list[Trial], CapacityConclusion]:
    """A whole search against the scripted server."""
    settings = settings or quick()
    search = Capacity(settings, seed=1)
    trials: list[Trial] = []
    with _experiment(directory, "capacity", {"preset": settings.preset}) as writer:
        while (probe := search.next_probe(trials)) is not None:
            trials.append(_trial(writer, probe, null_ceiling_ops_per_s=220_000.0))
        writer.seal(ended_by="completed")
    return read_experiment(directory), trials, search.conclude(trials)


def sweep(directory: Path) -> tuple[ExperimentRecord, list[Trial], SweepConclusion]:
    """A closed-loop sweep against the scripted server."""
    experiment = Sweep(SweepSettings(warmup_s=0.5, duration_s=3.0), seed=1)
    trials: list[Trial] = []
    with _experiment(directory, "sweep", {}) as writer:
        while (probe := experiment.next_probe(trials)) is not None:
            trials.append(_trial(writer, probe, null_ceiling_ops_per_s=220_000.0))
        writer.seal(ended_by="completed")
    return read_experiment(directory), trials, experiment.conclude(trials)


def frontier(directory: Path, limits_ms: Sequence[float]) -> Report:
    """The report of a search for several limits against the scripted server."""
    one = quick()
    search_all = replace(one, budget_s=(one.budget_s or 0.0) * len(limits_ms))
    settings = FrontierSettings(search=search_all, limits_ns=tuple(round(each * 1e6) for each in limits_ms))
    search = Frontier(settings, seed=1)
    trials: list[Trial] = []
    with _experiment(directory, "frontier", {"preset": "quick"}) as writer:
        while (probe := search.next_probe(trials)) is not None:
            trials.append(_trial(writer, probe, null_ceiling_ops_per_s=220_000.0))
        writer.seal(ended_by="completed")
    return frontier_report(read_experiment(directory), trials, search.conclude(trials), settings)


def _experiment(directory: Path, kind: str, settings: dict[str, Any]) -> ExperimentWriter:
    return ExperimentWriter(
        directory, kind=kind, name="order-service", settings=settings, spec_text=SPEC, environment=ENVIRONMENT
    )


def _trial(writer: ExperimentWriter, probe: Probe, *, null_ceiling_ops_per_s: float) -> Trial:
    directory = writer.begin_trial(asdict(probe), stage=probe.stage, label=probe.label)
    # The null target is played by a server without a queue: the virtual clock has no CPU to run out of.
    null = probe.target == "null"
    service = {"kind": "fixed", "ns": 290_000}
    run_plan = simulated_plan(
        rate_ops_per_s=probe.rate_ops_per_s,
        connections=probe.connections,
        warmup_s=probe.warmup_s,
        duration_s=probe.duration_s,
        script=script(service=service, servers=None) if null else script(),
    )
    record = write_run(directory, run_plan, cpu_ns_per_op=3_500 if null else 8_000)
    return Trial(
        probe=probe,
        observation=observe(record, null_ceiling_ops_per_s=None if null else null_ceiling_ops_per_s),
    )


def _with_plausible_costs(samples: Samples, *, cpu_ns_per_op: int) -> Samples:
    """Generator CPU as the real one takes; replies of 1.2 KB to reads and 45 B to writes."""
    sent: dict[int, int] = {}
    for operation in samples["operations"]:
        operation["bytes_in"] = operation["ok"] * (1200 if operation["operation"] == "read" else 45)
        sent[operation["start_ns"]] = sent.get(operation["start_ns"], 0) + operation["sent"]
    for row in samples["intervals"]:
        cpu_ns = sent.get(row["start_ns"], 0) * cpu_ns_per_op
        row |= {"engine_cpu_ns": cpu_ns, "busiest_thread_cpu_ns": cpu_ns, "process_cpu_ns": cpu_ns * 2}
    return samples


def _server_rows(samples: Samples) -> list[dict[str, int | bool]]:
    """A server on a host of its own whose two CPUs are full at its saturation, with a checkpoint each 8 s."""
    rows: list[dict[str, int | bool]] = []
    busy_ns, queries, updates, bytes_in, bytes_out, dirty = 0, 0, 0, 0, 0, 0
    of_interval: dict[int, list[SampleRow]] = {}
    for row in samples["operations"]:
        of_interval.setdefault(row["start_ns"], []).append(row)
    for interval in samples["intervals"]:
        operations = of_interval.get(interval["start_ns"], [])
        finished = {row["operation"]: row["ok"] + row["miss"] + row["failed"] for row in operations}
        length_s = (interval["end_ns"] - interval["start_ns"]) / SECOND_NS
        queries, updates = queries + finished.get("read", 0), updates + finished.get("update", 0)
        bytes_in += sum(row["bytes_out"] for row in operations)
        bytes_out += sum(row["bytes_in"] for row in operations)
        busy_ns += round(sum(finished.values()) / SATURATION_OPS_PER_S * 0.97 * 2 * SECOND_NS)
        second = interval["end_ns"] / SECOND_NS
        dirty = 0 if second % 8 < length_s else dirty + 300 * finished.get("update", 0)
        rows.append(
            {
                "at_ns": interval["end_ns"],
                "query": queries,
                "update": updates,
                "network_bytes_in": bytes_in,
                "network_bytes_out": bytes_out,
                "connections": interval["connections_up"] + 3,
                "connections_active": min(interval["in_flight"], 4) + 1,
                "cache_bytes_max": 512_000_000,
                "cache_bytes_used": min(round(100_000_000 + 8_000_000 * second), 409_600_000),
                "cache_bytes_dirty": dirty,
                "checkpoint_running": 0,
                "checkpoints": int(second // 8),
                "read_tickets_out": min(interval["in_flight"], 4),
                "read_queue": max(interval["in_flight"] - 4, 0),
                "server_cpu_ns": busy_ns,
                "server_cpu_count": 2,
                "host_busy_ns": round(busy_ns * 1.02),
                "host_cpu_count": 2,
                "shared_host": 0,
            }
        )
    return rows


def _opcounters(summary: Summary) -> Any:
    before = dict.fromkeys(("insert", "query", "update", "delete", "getmore", "command", "uptime_ms"), 0)
    after = before | summary["commands"] | {"uptime_ms": summary["elapsed_ns"] // 1_000_000}
    return {"before": before, "after": after}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """A report of each kind, and what they were made from."""

    run: Report
    capacity: Report
    sweep: Report
    record: RunRecord
    observation: Observation
    trials: list[Trial]
    conclusion: CapacityConclusion


def make_reports(directory: Path) -> Reports:
    """A run with faults, a capacity search and a sweep, written below `directory`."""
    record, observation, slo, judgement = run_with_everything(directory / "run")
    experiment, trials, conclusion = capacity_search(directory / "capacity")
    detail_index = detail_trial(trials, conclusion)
    assert detail_index is not None
    detail = read_record(experiment.trials[detail_index].directory)
    return Reports(
        run=run_report(record, observation, slo=slo, judgement=judgement),
        capacity=capacity_report(experiment, trials, conclusion, detail=detail),
        sweep=sweep_report(*sweep(directory / "sweep")),
        record=record,
        observation=observation,
        trials=trials,
        conclusion=conclusion,
    )
