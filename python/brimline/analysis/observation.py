"""Owns the observation: the figures of one run that experiments decide by and reports show."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from brimline.analysis.acknowledgement import Acknowledgement, acknowledgement
from brimline.analysis.checkpoints import checkpoint_duration_s
from brimline.analysis.cpu_use import GeneratorCpu, ServerCpu, generator_cpu, server_cpu
from brimline.analysis.finding import Finding, Standing
from brimline.analysis.host_use import QUIET_CHECK
from brimline.analysis.latency import Latency, latencies
from brimline.analysis.lateness import LagEffect, Lateness, lateness
from brimline.analysis.loads import all_loads
from brimline.analysis.never_succeeded import most_often
from brimline.analysis.nodes import cpu_elsewhere_ns, hosts_elsewhere
from brimline.analysis.objective import LatencyKey, LatencyObjective, Statistic, interval_quantiles
from brimline.analysis.server_use import ServerUse, link_bits_per_s, server_use
from brimline.analysis.server_window import ServerWindow
from brimline.analysis.silence import Silence, longest_silence
from brimline.analysis.steady import SteadyState, counted, steady_state
from brimline.analysis.unsent import places_kept_unsent, server_gone_ns
from brimline.analysis.usage import Usage, usage
from brimline.analysis.validity import RunFigures, validity
from brimline.analysis.window import done_in_window
from brimline.plan.pacing import describe_load, offered_mean
from brimline.record.model import (
    CLOCKS,
    Clock,
    IntervalRow,
    OperationRow,
    RunRecord,
    answered_count,
    drivers_of,
    finished_count,
)
from brimline.stats.batch_means import mean_interval
from brimline.stats.estimate import Estimate
from brimline.stats.quantile_interval import QuantileInterval
from brimline.stats.trend import growth_rate
from brimline.wording import joined

GROWTH_POINTS_MIN = 5
"""Samples of the backlog below which nothing is said about its growth."""
THROUGHPUT_INTERVALS_MIN = 5
"""Sample intervals below which a throughput gets no interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One run over its measured window. Rates in ops/s, shares of 1; None: not defined or not seen.

    Two views of the window, because an overloaded server answers now what was due long ago. What was *done* in it:
    throughput (answered without failure), mean in flight, client CPU per operation. What was *due* in it, answered then
    or in the drain: latencies, shares of failures and misses, `completed_share`. In a closed loop there is no offered
    rate, no response time and no lag.

    Where operations have loads of their own, what is compared with the offered rate is the workload's load alone:
    throughput, mean in flight, latencies of all operations, `completed_share`, backlog. Failures and misses are of all.

    `kinds` are the latencies of each operation kind by clock, with the quantiles that an objective asked for.
    `failures` tells how many of how many operations failed, by operation kind and for all together (None);
    `most_often_failed` how and why most of all failed, "" where none did.
    `checkpoint_s`: how long checkpoints of the server took. `server_gone_ns`: how long no connection was up, where that
    kept operations from going out.
    `places_kept_unsent`: whether operations never went out because all places for those in flight were taken.
    `beside_server`: the server's own process answered on the generator's machine, with no line of a lab between.
    `silence`: the longest time in which nothing was answered, in the whole run; None where something always was.
    `held_back_share`: of what was due in the window and sent; None where nothing was.
    """

    target: str
    connections: int
    in_flight_max: int
    load: str
    closed_loop: bool
    ended_by: str
    message: str
    measured_s: float
    offered_ops_per_s: float | None
    throughput_ops_per_s: float
    throughput: Estimate | None
    completed_share: float | None
    mean_in_flight: float
    service: Latency | None
    response: Latency | None
    lag: Latency | None
    error_rate: float
    miss_rate: float
    overdue: int
    backlog_growth: Estimate | None
    held_back_share: float | None
    generator: GeneratorCpu
    server: ServerCpu
    server_use: ServerUse
    acknowledgement: Acknowledgement
    client_cpu_ns_per_op: float | None
    findings: tuple[Finding, ...]
    steady: SteadyState | None = None  # of a run that is meant to be steady
    back_to_back: bool = False  # a closed loop without think time, from the first to the last worker
    failures: Mapping[str | None, tuple[int, int]] = field(default_factory=dict)
    most_often_failed: str = ""
    kinds: Mapping[tuple[str, Clock], Latency] = field(default_factory=dict)
    checkpoint_s: float | None = None
    server_gone_ns: int = 0
    places_kept_unsent: bool = False
    beside_server: bool = False
    silence: Silence | None = None
    lateness: Lateness | None = None  # of an open loop against a server
    usage: Usage = field(default_factory=Usage)

    def lag_effect(self, operation: str | None, quantile: Statistic) -> LagEffect | None:
        """What lag of the generator makes of a response time; None where it makes nothing, or isn't its own."""
        return None if self.lateness is None else self.lateness.effect(operation, quantile)

    def quantile(self, key: LatencyKey) -> QuantileInterval | None:
        """The figure that an objective is about; None where it was not seen."""
        operation, clock, quantile = key
        known = self.latency(operation, clock)
        if known is None or quantile is None:
            return None if known is None else known.average
        return known.quantiles.get(quantile)

    def latency(self, operation: str | None, clock: Clock) -> Latency | None:
        """The latency of one operation kind, or of all (None); None where the clock recorded nothing."""
        if operation is not None:
            return self.kinds.get((operation, clock))
        return {"service": self.service, "response": self.response, "lag": self.lag}[clock]

    @property
    def valid(self) -> bool:
        """Whether no finding forbids to draw conclusions from the run."""
        return all(finding.verdict is not Standing.FAIL for finding in self.findings)

    @property
    def unsent(self) -> str:
        """What was planned and never went out, in words, with the reason; "" where everything was sent."""
        return self._told("sent")

    @property
    def crowded(self) -> str:
        """What other programs took of the server's host, in words; "" where they did not fill it."""
        return self._told(QUIET_CHECK)

    def _told(self, check: str) -> str:
        told = (each for each in self.findings if each.name == check and each.verdict is not Standing.PASS)
        return next((each.evidence for each in told), "")


def observe(
    record: RunRecord,
    *,
    null_ceiling_ops_per_s: float | None = None,
    objectives: Sequence[LatencyObjective] = (),
    steady: SteadyState | None = None,
) -> Observation:
    """What `record` shows. `null_ceiling_ops_per_s`: throughput of the null target on this host, if known.

    `objectives` say which quantiles are needed besides the p99 of all operations. Warm-up that was
    found beyond the planned one is not in the measured window. `steady`: what was found, by who knows already.
    """
    steady = steady or steady_state(record, interval_quantiles(objectives))
    record = counted(record, steady)
    loads = all_loads(record)
    window = _Window.of(record, loads[0])
    watched = ServerWindow.of(record.server, start_ns=window.start_ns, end_ns=window.end_ns)
    found = {clock: _latencies(loads, clock, objectives) for clock in CLOCKS}
    figures = _run_figures(window, found, objectives, steady=steady, server=server_cpu(watched))
    offered = offered_mean(record.plan, start_ns=window.start_ns, end_ns=window.end_ns)
    main, finished = window.main, finished_count(window.done)
    return Observation(
        target=record.plan.target.kind,
        connections=record.plan.connections,
        in_flight_max=record.plan.in_flight_bound,
        load=describe_load(record.plan),
        closed_loop=record.closed_loop,
        ended_by=record.ended_by,
        message=record.message,
        measured_s=record.measured_s,
        offered_ops_per_s=offered,
        throughput_ops_per_s=figures.throughput_ops_per_s,
        throughput=_throughput(window.done_of_main, window.intervals, figures.throughput_ops_per_s),
        completed_share=None if offered is None else window.completed_share,
        mean_in_flight=_mean_in_flight(window.done_of_main, record.measured_s),
        service=figures.service,
        response=figures.response,
        lag=figures.lag,
        error_rate=figures.error_rate,
        miss_rate=figures.miss_rate,
        overdue=window.overdue,
        backlog_growth=None
        if record.closed_loop
        else _backlog_growth([row for row in main.intervals if row["phase"] == "measure"]),
        held_back_share=window.held_back_share,
        generator=figures.generator,
        server=figures.server,
        server_use=server_use(watched, link_bits_per_s=link_bits_per_s(record.server_facts)),
        acknowledgement=acknowledgement(record),
        client_cpu_ns_per_op=_client_cpu_ns(record, figures.generator, window) / finished if finished else None,
        findings=validity(record, figures, null_ceiling_ops_per_s=null_ceiling_ops_per_s),
        steady=steady,
        back_to_back=record.plan.pacer.kind == "closed" and record.plan.pacer.think_time is None,
        failures=_failures(window.due),
        most_often_failed=joined(": ", most_often(record.summary["errors"])) if record.summary else "",
        kinds={(kind, clock): each for clock in CLOCKS for kind, each in found[clock].items() if kind is not None},
        checkpoint_s=checkpoint_duration_s(record.server),
        server_gone_ns=server_gone_ns(main),
        places_kept_unsent=places_kept_unsent(main, window.held_back_share),
        beside_server=_beside_server(record),
        silence=longest_silence(record),
        lateness=figures.lateness,
        usage=usage(
            window.intervals,
            window.done,
            watched,
            measured_s=record.measured_s,
            drivers=drivers_of(record.summary),
            all_finished=finished_count([record.summary]) if record.summary else 0,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """The measured window in rows: what was due in it and what was done in it, of the run and of its `main` load."""

    record: RunRecord
    main: RunRecord
    intervals: Sequence[IntervalRow]
    due: Sequence[OperationRow]
    due_of_main: Sequence[OperationRow]
    done: Sequence[OperationRow]
    done_of_main: Sequence[OperationRow]

    @classmethod
    def of(cls, record: RunRecord, main: RunRecord) -> Self:
        return cls(
            record=record,
            main=main,
            intervals=[row for row in record.intervals if row["phase"] == "measure"],
            due=[row for row in record.operations if row["phase"] == "measure"],
            due_of_main=[row for row in main.operations if row["phase"] == "measure"],
            done=done_in_window(record),
            done_of_main=done_in_window(main),
        )

    @property
    def start_ns(self) -> int:
        return self.intervals[0]["start_ns"] if self.intervals else 0

    @property
    def end_ns(self) -> int:
        return self.intervals[-1]["end_ns"] if self.intervals else 0

    @property
    def overdue(self) -> int:
        return self.main.summary["overdue"] if self.main.summary else 0

    @property
    def held_back_share(self) -> float | None:
        sent = sum(row["sent"] for row in self.due_of_main)
        return sum(row["held_back"] for row in self.due_of_main) / sent if sent else None

    @property
    def completed_share(self) -> float:
        planned = sum(row["sent"] for row in self.due_of_main) + self.overdue
        return _share(finished_count(self.due_of_main), planned)


def _run_figures(
    window: _Window,
    found: Mapping[Clock, Mapping[str | None, Latency]],
    objectives: Sequence[LatencyObjective],
    *,
    steady: SteadyState | None,
    server: ServerCpu,
) -> RunFigures:
    """What the checks of validity need."""
    service, response, lag = (found[clock].get(None) for clock in CLOCKS)
    measured_s, finished = window.record.measured_s, finished_count(window.due)
    answered = answered_count(window.done_of_main)
    return RunFigures(
        throughput_ops_per_s=answered / measured_s if measured_s else 0.0,
        mean_in_flight=_mean_in_flight(window.done, measured_s),
        held_back_share=window.held_back_share,
        lateness=lateness(
            window.main,
            found["response"],
            service=service,
            lag=lag,
            held_back_share=window.held_back_share,
            server=server,
        ),
        response_in_time=_in_time(found["response"], objectives),
        error_rate=_share(sum(row["failed"] for row in window.due), finished),
        miss_rate=_share(sum(row["miss"] for row in window.due), finished),
        service=service,
        response=response,
        lag=lag,
        generator=generator_cpu(window.intervals, elsewhere_ns=cpu_elsewhere_ns(window.record)),
        server=server,
        steady=steady,
    )


def _beside_server(record: RunRecord) -> bool:
    """Whether nothing but this machine's kernel lay between; a forwarder's address is none of the server's process."""
    server = record.environment.get("server") or {}
    is_line = "network" in (server.get("lab") or {})
    return bool(server.get("same_host")) and not is_line and not hosts_elsewhere(record)


def _client_cpu_ns(record: RunRecord, generator: GeneratorCpu, window: "_Window") -> int:
    """CPU time of what sends operations: the engine's threads.

    Where drivers have processes of their own, all of the generator's: rows tell theirs only as a part of that.
    """
    if drivers_of(record.summary):
        return sum(row["process_cpu_ns"] for row in window.intervals)
    return generator.engine_cpu_ns


def _latencies(
    loads: Sequence[RunRecord], clock: Clock, objectives: Sequence[LatencyObjective]
) -> dict[str | None, Latency]:
    """Of all operations of the workload's load, and of each operation, whose load has due times of its own."""
    asked = _asked(objectives, clock)
    main, *beside = (latencies(each, clock, quantiles=asked) for each in loads)
    return main | {kind: known for each in beside for kind, known in each.items() if kind is not None}


def _mean_in_flight(operations: Sequence[OperationRow], measured_s: float) -> float:
    return sum(row["in_flight_ns"] for row in operations) / (measured_s * 1e9) if measured_s else 0.0


def _in_time(responses: Mapping[str | None, Latency], objectives: Sequence[LatencyObjective]) -> bool:
    """Whether every limit on a response time is met, and there is one; how sure that is, the verdict says."""
    limits = [each for each in objectives if each.clock == "response"]
    known = [
        seen.average if each.quantile is None else seen.quantiles[each.quantile]
        for each in limits
        if (seen := responses.get(each.operation)) is not None
    ]
    met = [seen.value_ns <= each.limit_ns for seen, each in zip(known, limits, strict=False)]
    return bool(limits) and len(known) == len(limits) and all(met)


def _failures(operations: Sequence[OperationRow]) -> dict[str | None, tuple[int, int]]:
    """How many of how many finished operations failed, for all and for each kind that finished at all."""
    kinds: list[str | None] = [None, *sorted({row["operation"] for row in operations})]
    found = {}
    for kind in kinds:
        rows = [row for row in operations if kind in (None, row["operation"])]
        if finished := finished_count(rows):
            found[kind] = (sum(row["failed"] for row in rows), finished)
    return found


def _asked(objectives: Sequence[LatencyObjective], clock: Clock) -> dict[str | None, list[float]]:
    """The quantiles that `objectives` ask for, by operation kind."""
    wanted: dict[str | None, list[float]] = defaultdict(list)
    for each in objectives:
        if each.clock == clock and each.quantile is not None:
            wanted[each.operation].append(each.quantile)
    return wanted


def _throughput(operations: Sequence[OperationRow], intervals: Sequence[IntervalRow], mean: float) -> Estimate | None:
    """Throughput with its interval from batch means over the sample intervals."""
    answered: dict[int, int] = defaultdict(int)
    for row in operations:
        answered[row["start_ns"]] += row["ok"] + row["miss"]
    rates = [answered[row["start_ns"]] * 1e9 / (row["end_ns"] - row["start_ns"]) for row in intervals]
    if len(rates) < THROUGHPUT_INTERVALS_MIN:
        return None
    spread = mean_interval(rates, unit="ops/s")
    half = (spread.high - spread.low) / 2
    if not math.isfinite(half):
        return None  # so correlated that the intervals are worth less than two independent ones
    return Estimate(value=mean, low=max(mean - half, 0.0), high=mean + half, unit="ops/s")


def _backlog_growth(intervals: Sequence[IntervalRow]) -> Estimate | None:
    """Growth of what was due and isn't done: not yet sent, or in flight."""
    if len(intervals) < GROWTH_POINTS_MIN:
        return None
    times_s = [row["end_ns"] / 1e9 for row in intervals]
    return growth_rate(times_s, [row["backlog"] + row["in_flight"] for row in intervals], unit="ops/s")


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
