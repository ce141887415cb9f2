"""A server as a queue in numbers, with known capacity, that answers probes with run records.

Operations pass in order: due → a free connection → the gate, which lets one through each 1 / capacity seconds
→ one of the servers, first come first served, for a random service time. Stalls stop gate and servers. No
network, no clock.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np

from brimline.analysis.observation import Observation, observe
from brimline.experiments.runner import probe_plan
from brimline.experiments.trial import Probe, Trial
from brimline.plan import WireTarget
from brimline.record.model import IntervalRow, OperationRow, RunRecord, ServerRow, Summary
from brimline.record.time_histogram import IntervalHistogram
from brimline.spec import load_spec

_SPEC = load_spec("ycsb-c").spec

Stall = tuple[float, float]
"""Start and length in seconds."""
INTERVALS_PER_RUN = 20


@dataclass(frozen=True, kw_only=True)
class Law:
    """How the server works. Rates in ops/s, times in seconds."""

    gate_ops_per_s: float | None = None
    servers: int | None = None
    service_s: float = 0.0005
    service_law: str = "lognormal"  # "constant" "exponential" "lognormal"
    sigma: float = 0.5
    error_rate: float = 0.0
    generator_s: float = 2e-6  # time of the generator per operation, one after the other
    stalls: Callable[[float, np.random.Generator], Sequence[Stall]] = field(default=lambda length_s, rng: ())
    drift: float = 0.0  # standard deviation of a factor on the speed, one draw per run
    dies_at_rate: float = math.inf
    dies_by: str = "target_lost"
    cpu_per_op_s: float | None = None  # CPU of the server, which has as many CPUs as `servers`

    def draw_service_s(self, count: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        if self.service_law == "constant":
            return np.full(count, self.service_s)
        if self.service_law == "exponential":
            return rng.exponential(self.service_s, count)
        return self.service_s * rng.lognormal(-(self.sigma**2) / 2, self.sigma, count)


class BucketHistogram:
    """What analysis needs of a histogram, at 3 significant digits."""

    def __init__(self, values_s: np.ndarray[Any, Any]) -> None:
        values = np.maximum(np.round(values_s * 1e9), 1.0)
        step = 10.0 ** (np.floor(np.log10(values)) - 2)
        keys, counts = np.unique((np.ceil(values / step) * step).astype(np.int64), return_counts=True)
        self._buckets = [(int(key), int(count)) for key, count in zip(keys, counts, strict=True)]

    def buckets(self) -> list[tuple[int, int]]:
        return self._buckets


class QueueSimulator:
    """Executes probes against a law. Run k of a seed is the same whatever was asked before it."""

    def __init__(self, law: Law, seed: int) -> None:
        self._law = law
        self._seed = seed
        self._run = 0

    def execute(self, probe: Probe) -> Trial:
        self._run += 1
        rng = np.random.default_rng([self._seed, self._run])
        return Trial(probe=probe, observation=self._observe(probe, rng))

    def _observe(self, probe: Probe, rng: np.random.Generator) -> Observation:
        if probe.target == "null":
            rate = 1 / self._law.generator_s
            times = np.arange(probe.warmup_s, probe.warmup_s + probe.duration_s, 0.001)
            return observe(
                record_of(probe, due=times, sent=times, done=times + 1e-6, busy_share=1.0, scale=rate / 1000)
            )
        due, sent, done = self._play(probe, rng)
        failed = rng.random(len(due)) < self._law.error_rate
        busy_share = min(1.0, len(due) * self._law.generator_s / probe.cost_s)
        ended_by = self._law.dies_by if (probe.rate_ops_per_s or 0) >= self._law.dies_at_rate else "completed"
        return observe(
            record_of(
                probe,
                due=due,
                sent=sent,
                done=done,
                failed=failed,
                busy_share=busy_share,
                ended_by=ended_by,
                server=self._server_rows(probe, done),
            )
        )

    def _play(self, probe: Probe, rng: np.random.Generator) -> tuple[Any, Any, Any]:
        """Due, sent and done times of every operation."""
        law, end_s = self._law, probe.cost_s
        speed = math.exp(rng.normal(0, law.drift)) if law.drift else 1.0
        closed = probe.rate_ops_per_s is None
        rate = probe.rate_ops_per_s or 0.0
        limit = int(end_s * rate) if not closed else 10**7
        services = iter((law.draw_service_s(min(limit, 200_000) + 1, rng) / speed).tolist())
        stalls = iter(sorted(law.stalls(end_s, rng)))
        stall_begins, stall_ends = _next_stall(stalls)
        connections = [0.0] * probe.connections
        servers = [0.0] * (law.servers or 1)
        has_servers, generator_s = bool(law.servers), law.generator_s
        gap_s = 1 / law.gate_ops_per_s / speed if law.gate_ops_per_s else 0.0
        gate = generator = 0.0
        due_s, sent_s, done_s = [], [], []
        # Millions of operations pass here, so that what is compared is compared once, and nothing is looked up.
        replace_first = heapq.heapreplace
        for index in range(limit):
            free = connections[0]
            due = free if closed else index / rate
            if due >= end_s:
                break
            sent = due if due > free else free
            if generator > sent:
                sent = generator
            if sent >= end_s:
                break
            generator = sent + generator_s
            start = sent if sent > gate else gate
            if has_servers and servers[0] > start:
                start = servers[0]
            while start >= stall_ends:
                stall_begins, stall_ends = _next_stall(stalls)
            if start >= stall_begins:
                start = stall_ends
            gate = start + gap_s
            service = next(services, None)
            if service is None:
                services = iter((law.draw_service_s(200_000, rng) / speed).tolist())
                service = next(services)
            done = start + service
            if has_servers:
                replace_first(servers, done)
            replace_first(connections, done)
            due_s.append(sent if closed else due)
            sent_s.append(sent)
            done_s.append(done)
        return np.array(due_s), np.array(sent_s), np.array(done_s)

    def _server_rows(self, probe: Probe, done: Any) -> list[ServerRow]:
        law = self._law
        if law.cpu_per_op_s is None:
            return []
        rows: list[ServerRow] = []
        for at_s in np.linspace(probe.warmup_s, probe.cost_s, 5):
            cpu_ns = int(np.count_nonzero(done <= at_s) * law.cpu_per_op_s * 1e9)
            rows.append({"at_ns": int(at_s * 1e9), "server_cpu_ns": cpu_ns, "server_cpu_count": law.servers or 1})
        return rows


def _next_stall(stalls: Iterator[Stall]) -> tuple[float, float]:
    """Begin and end of the next one in seconds; of none, never."""
    begins_s, length_s = next(stalls, (math.inf, 0.0))
    return begins_s, begins_s + length_s


def record_of(
    probe: Probe,
    *,
    due: Any,
    sent: Any,
    done: Any,
    failed: Any = None,
    busy_share: float = 0.1,
    ended_by: str = "completed",
    scale: float = 1.0,
    server: Sequence[ServerRow] = (),
) -> RunRecord:
    """The record that a run with these operations leaves; times in s. `scale` multiplies its counts."""
    failed = np.zeros(len(due), dtype=bool) if failed is None else failed
    closed = probe.rate_ops_per_s is None
    edges = np.linspace(probe.warmup_s, probe.cost_s, INTERVALS_PER_RUN + 1)
    operations: list[OperationRow] = []
    intervals: list[IntervalRow] = []
    batches: list[IntervalHistogram] = []
    clocks = {"service": done - sent} if closed else {"service": done - sent, "response": done - due, "lag": sent - due}
    for start_s, end_s in pairwise(edges):
        finished = (done > start_s) & (done <= end_s)
        began = (sent > start_s) & (sent <= end_s)
        start_ns, end_ns = int(start_s * 1e9), int(end_s * 1e9)
        operations.append(
            OperationRow(
                phase="measure",
                start_ns=start_ns,
                end_ns=end_ns,
                operation="read",
                sent=int(scale * np.count_nonzero(began)),
                ok=int(scale * np.count_nonzero(finished & ~failed)),
                miss=0,
                failed=int(np.count_nonzero(finished & failed)),
                held_back=int(np.count_nonzero(began & (sent - due > 1e-4))),
                documents=0,
                bytes_out=0,
                bytes_in=0,
                in_flight_ns=int((done - sent)[finished].sum() * 1e9),
            )
        )
        due_by = np.count_nonzero(due <= end_s) if closed else int(end_s * (probe.rate_ops_per_s or 0))
        sent_by = np.count_nonzero(sent <= end_s)
        intervals.append(
            IntervalRow(
                phase="measure",
                start_ns=start_ns,
                end_ns=end_ns,
                in_flight=int(sent_by - np.count_nonzero(done <= end_s)),
                connections_up=probe.connections,
                backlog=max(0, int(due_by - sent_by)),
                workers_active=0,
                engine_cpu_ns=int(busy_share * (end_ns - start_ns)),
                busiest_thread_cpu_ns=int(busy_share * (end_ns - start_ns)),
                process_cpu_ns=int(busy_share * (end_ns - start_ns)),
            )
        )
        batches += [
            IntervalHistogram(
                phase="measure",
                start_ns=start_ns,
                end_ns=end_ns,
                operation="read",
                clock=clock,
                histogram=cast(Any, BucketHistogram(values[finished])),
            )
            for clock, values in clocks.items()
            if finished.any()
        ]
    measured = (done > probe.warmup_s) & (done <= probe.cost_s)
    histograms = {
        ("read", clock): cast(Any, BucketHistogram(values[measured]))
        for clock, values in clocks.items()
        if measured.any()
    }
    total = len(due)
    overdue = 0 if closed else max(0, int(probe.cost_s * (probe.rate_ops_per_s or 0)) - total)
    plan = probe_plan(probe, spec=_SPEC, target=WireTarget(address="127.0.0.1:1", write_concern=None))
    return RunRecord(
        directory=Path("unused"),
        name="simulated",
        plan=plan,
        ended_by=ended_by,
        message={"target_lost": "the server closed the connection", "killed": "never sealed"}.get(ended_by, ""),
        summary=summary_of(total=total, failed=int(failed.sum()), overdue=overdue, ended_by=ended_by),
        environment={},
        opcounters=None,
        operations=operations,
        intervals=intervals,
        server=server,
        events=(),
        histograms=histograms,
        brimline_version="test",
        load_interval_histograms=lambda clock=None: [each for each in batches if clock in (None, each.clock)],
    )


def summary_of(*, total: int, failed: int = 0, overdue: int = 0, ended_by: str = "completed") -> Summary:
    """Totals that are conserved."""
    counts: dict[str, int] = defaultdict(int, sent=total, ok=total - failed, failed=failed)
    return Summary(
        ended_by=ended_by,
        message="",
        started_unix_ns=0,
        elapsed_ns=1,
        due=total + overdue,
        sent=total,
        overdue=overdue,
        oldest_overdue_ns=0,
        ok=counts["ok"],
        miss=0,
        failed=failed,
        unfinished=0,
        oldest_unfinished_ns=0,
        operations={},
        commands={"query": total - failed},
        commands_uncertain={},
        operations_hash="0" * 16,
        errors=[],
        threads=1,
        virtual_clock=True,
    )
