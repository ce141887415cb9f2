"""Owns the form of a metric, whoever it is for, and how figures are added up into metrics. No thread, no network.

Names are OpenTelemetry's where its semantic conventions have one
(https://opentelemetry.io/docs/specs/semconv/database/database-metrics/), else begin with `brimline.`.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Literal

from brimline import _native
from brimline.execution.progress import SoFar, Tick
from brimline.plan import Plan
from brimline.record.model import SampleRow, Samples
from brimline.spec.own.protocols import steps_of_target
from brimline.units import NS_PER_S

BOUNDS_S = (
    *(0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
    *(0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
)
"""Upper ends of the buckets of times: the conventions' own, and between them and below, where databases answer."""
_OUTCOMES = ("ok", "miss", "failed")
_CLOCKS = ("service", "response", "lag")

Labels = tuple[tuple[str, str], ...]
"""Names and values, in the order in which they are printed."""


@dataclass(slots=True)
class Times:
    """How many times lay in each bucket, the last of which has no upper end; their sum, the shortest, the longest."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    sum_s: float = 0.0
    min_s: float = inf
    max_s: float = 0.0

    @property
    def count(self) -> int:
        """Of all buckets."""
        return sum(self.counts)

    def add(self, packed: str) -> None:
        """Adds a histogram as the engine hands it out. A bucket that lies across an end counts at its upper one."""
        histogram = _native.Histogram.decode(packed)
        for highest_ns, count in histogram.buckets():
            self.counts[bisect_left(BOUNDS_S, highest_ns / NS_PER_S)] += count
        self.sum_s += histogram.mean() * histogram.count() / NS_PER_S
        self.min_s = min(self.min_s, histogram.min() / NS_PER_S)
        self.max_s = max(self.max_s, histogram.max() / NS_PER_S)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric with its points, by their labels. Counters and times grow from the start of the command on.

    `unit` as UCUM writes it: "s", "By", "{operation}", "1".
    """

    name: str
    kind: Literal["counter", "gauge", "times"]
    unit: str
    about: str
    points: Mapping[Labels, float | Times]


_COUNTERS = (
    ("brimline.operations.sent", "{operation}", "Operations that were sent.", "sent"),
    ("brimline.documents", "{document}", "Documents that were read or written.", "documents"),
    ("brimline.io.sent", "By", "Bytes that were sent.", "bytes_out"),
    ("brimline.io.received", "By", "Bytes that were received.", "bytes_in"),
)
"""Metrics that are columns of the samples."""
_GAUGES_OF_A_TICK = (
    ("brimline.run.elapsed", "s", "Time since the run's start.", "elapsed_s"),
    ("brimline.in_flight", "{operation}", "Operations in flight.", "in_flight"),
    ("brimline.rate", "{operation}/s", "Operations that ended a second, lately.", "rate_ops_per_s"),
)
_GAUGES_OF_AN_INTERVAL = (
    (
        "brimline.connections",
        "{connection}",
        "Connections that were up when the last interval ended.",
        "connections_up",
    ),
    ("brimline.backlog", "{operation}", "Operations that were due and not sent by then.", "backlog"),
)
_GAUGES_SO_FAR = (
    ("brimline.search.figure", "What a search or a sweep finds, until now.", "figure"),
    ("brimline.search.low", "The lower end of its interval, or the highest load that met the objective.", "low"),
    ("brimline.search.high", "The upper end, or the lowest load that missed it.", "high"),
)


class Figures:
    """What was told, added up. For one thread at a time."""

    def __init__(self, *, version: str) -> None:
        self._version = version
        self._run: Labels = ()
        self._target: Labels = ()
        self._duration = "db.client.operation.duration"
        self._runs = 0
        self.lost_intervals = 0
        self._tick: Tick | None = None
        self._so_far: SoFar | None = None
        self._interval: Mapping[str, object] = {}
        self._counts: dict[tuple[str, Labels], float] = {}
        self._outcomes: dict[Labels, float] = {}
        self._times: dict[tuple[str, Labels], Times] = {}

    def begin(self, title: str, plan: Plan) -> None:
        """A run begins; its operations are counted on beside those before it."""
        self._runs += 1
        self._run = (
            ("brimline.workload", plan.name),
            ("brimline.run", title),
            ("brimline.plan_hash", plan.hash8()),
            ("brimline.version", self._version),
        )
        self._target = target_labels(plan)
        is_http = plan.target.kind == "http"
        self._duration = "http.client.request.duration" if is_http else "db.client.operation.duration"
        self._tick, self._interval = None, {}

    def tick(self, tick: Tick) -> None:
        """The run goes on."""
        self._tick = tick

    def so_far(self, so_far: SoFar) -> None:
        """What all runs of an experiment show until now."""
        self._so_far = so_far

    def add(self, samples: Samples) -> None:
        """Intervals are complete."""
        for row in samples["operations"]:
            self._add_row(row)
        if samples["intervals"]:
            self._interval = {**samples["intervals"][-1]}

    def _add_row(self, row: SampleRow) -> None:
        labels = (*self._target, ("db.operation.name", row["operation"]), ("brimline.phase", row["phase"]))
        for name, _, _, column in _COUNTERS:
            key = (name, labels)
            self._counts[key] = self._counts.get(key, 0) + float(row[column])  # type: ignore[literal-required]
        for outcome in _OUTCOMES:
            of = (*labels, ("brimline.outcome", outcome))
            self._outcomes[of] = self._outcomes.get(of, 0) + row[outcome]  # type: ignore[literal-required]
        for clock in _CLOCKS:
            packed = row[clock]  # type: ignore[literal-required]
            if packed is not None:
                name = self._duration if clock == "service" else f"brimline.operation.{clock}_time"
                self._times.setdefault((name, labels), Times()).add(packed)

    def metrics(self) -> Iterator[Metric]:
        """All that there is to tell, in a fixed order."""
        if self._run:
            yield Metric("brimline.run.info", "gauge", "1", "The run at work, or the last one.", {self._run: 1})
        yield Metric("brimline.runs", "counter", "{run}", "Runs that began.", {(): self._runs})
        for metric_name, unit, about, _ in _COUNTERS:
            points = {labels: value for (name, labels), value in self._counts.items() if name == metric_name}
            yield Metric(metric_name, "counter", unit, about, points)
        about = "Operations that ended: ok, miss (nothing was found) or failed."
        yield Metric("brimline.operations", "counter", "{operation}", about, self._outcomes)
        for name, about in (
            ("db.client.operation.duration", "Service time: from sending to the answer."),
            ("http.client.request.duration", "Service time: from sending to the answer."),
            ("brimline.operation.response_time", "From when it was due to the answer; only where a rate is offered."),
            ("brimline.operation.lag_time", "From when it was due to when it was sent."),
        ):
            yield Metric(
                name, "times", "s", about, {labels: each for (of, labels), each in self._times.items() if of == name}
            )
        yield from self._gauges()
        about = "Intervals that are missing in these metrics, because they could not be added up in time."
        yield Metric("brimline.telemetry.lost_intervals", "counter", "{interval}", about, {(): self.lost_intervals})

    def _gauges(self) -> Iterator[Metric]:
        for name, unit, about, column in _GAUGES_OF_A_TICK:
            if self._tick is not None:
                yield Metric(name, "gauge", unit, about, {(): float(getattr(self._tick, column))})
        for name, unit, about, column in _GAUGES_OF_AN_INTERVAL:
            if column in self._interval:
                yield Metric(name, "gauge", unit, about, {(): float(str(self._interval[column]))})
        for name, about, column in _GAUGES_SO_FAR:
            value = None if self._so_far is None else getattr(self._so_far, column)
            if self._so_far is not None and value is not None:
                yield Metric(name, "gauge", "1", about, {(("brimline.unit", self._so_far.unit),): float(value)})


def target_labels(plan: Plan) -> Labels:
    """What the conventions call the server and what is in it."""
    address = _address(plan)
    host, _, port = address.rpartition(":")
    of_server = (("server.address", host.strip("[]")), ("server.port", port)) if host else ()
    if not steps_of_target(plan.target.kind).has_records:
        return of_server
    system = {"mysql": "mysql", "postgres": "postgresql"}.get(plan.target.kind, "mongodb")
    database = getattr(plan.target, "database", plan.namespace.database)
    return (("db.system.name", system), ("db.namespace", database), *of_server)


def _address(plan: Plan) -> str:
    several: Sequence[str] = getattr(plan.target, "addresses", ())
    return str(getattr(plan.target, "address", "") or next(iter(several), ""))
