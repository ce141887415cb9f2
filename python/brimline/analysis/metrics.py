"""Owns the one table of the figures that a run has: kinds of metric, for all operations together and for each of them.

`p99` is that of all operations, `update.p99` that of one. Comparisons, experiments and reports take their figures from
here, so that what one of them shows the others can show too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from brimline.analysis.latency import QUANTILES
from brimline.analysis.lateness import LAG_SHARE_SPOILS
from brimline.analysis.observation import Observation
from brimline.analysis.operation_names import shown
from brimline.stats.batch_means import mean_interval
from brimline.stats.quantile_interval import QuantileInterval
from brimline.wording import message

LoadKind = Literal["closed loop", "pooled closed loop", "open loop", "load", "null target"]
"""What a run's figures are figures of. Runs of different kinds can't be compared, but for closed loops.

In a pooled one, workers wait for a free connection, so that there is a response time.
"""
MetricClock: TypeAlias = Literal["service", "response"]
Unit = Literal["ops/s", "documents/s", "ns", "share", "bytes", "bytes/s", "connections"]
_ENDINGS: Mapping[Unit, str] = {
    "ops/s": "ops_per_s",
    "documents/s": "documents_per_s",
    "ns": "ns",
    "share": "share",
    "bytes": "bytes",
    "bytes/s": "bytes_per_s",
    "connections": "",
}


class Known(NamedTuple):
    """A figure of one run, with its 95 % interval where the run alone has one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A figure that runs have. `decides`: it has a say in the overall verdict; the others explain.

    `absolute`: compared by difference and not by ratio, because it may be 0. `operation`: of which it is, None: of all.
    `short` is the label beside the name of the operation. `document_key` is its name in JSON and CSV, unit last.
    """

    key: str
    label: str
    unit: str
    higher_is_better: bool
    decides: bool
    absolute: bool = False
    operation: str | None = None
    short: str = ""
    document_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricKind:
    """A row of the table, whatever the operation. `on_clock`: there is one for each clock, which label and key name.

    `of_operations`: each operation has one as well. `figure` reads it, None where the run doesn't have it.
    """

    name: str
    label: str
    unit: Unit
    figure: Callable[[Observation, str | None, MetricClock], Known | None]
    higher_is_better: bool = False
    decides: bool = False
    absolute: bool = False
    on_clock: bool = False
    of_operations: bool = False
    document_name: str = ""


def _of_quantile(quantile: float) -> Callable[[Observation, str | None, MetricClock], Known | None]:
    def figure(run: Observation, operation: str | None, clock: MetricClock) -> Known | None:
        latency = run.latency(operation, clock)
        return None if latency is None else _stated(run, latency.quantiles[quantile], operation, clock)

    return figure


def _stated(run: Observation, seen: QuantileInterval, operation: str | None, clock: MetricClock) -> Known | None:
    """A quantile with enough operations beyond it to be a figure and no bound; of which lag isn't the most."""
    if not seen.enough or (clock == "response" and _lag_share(run, operation, seen.quantile) >= LAG_SHARE_SPOILS):
        return None
    return Known(float(seen.value_ns), _float(seen.low_ns), _float(seen.high_ns))


def _lag_share(run: Observation, operation: str | None, quantile: float | None) -> float:
    effect = run.lag_effect(operation, quantile)
    return 0.0 if effect is None else effect.share


def _float(value: int | None) -> float | None:
    return None if value is None else float(value)


def _mean(run: Observation, operation: str | None, clock: MetricClock) -> Known | None:
    latency = run.latency(operation, clock)
    if latency is None or latency.missing:
        return None
    if clock == "response" and _lag_share(run, operation, None) >= LAG_SHARE_SPOILS:
        return None
    spread = latency.mean
    return Known(latency.mean_ns) if spread is None else Known(latency.mean_ns, spread.low, spread.high)


def _throughput(run: Observation, operation: str | None, _clock: MetricClock) -> Known | None:
    if operation is None:
        spread = run.throughput
        ends = (None, None) if spread is None else (spread.low, spread.high)
        return Known(run.throughput_ops_per_s, *ends)
    traffic = run.usage.traffic.get(operation)
    return None if traffic is None else Known(traffic.answered_per_s)


def _errors(run: Observation, operation: str | None, _clock: MetricClock) -> Known | None:
    if operation is None:
        return Known(run.error_rate)
    failed, finished = run.failures.get(operation, (0, 0))
    return Known(failed / finished) if finished else None


def _server_cpu(run: Observation, _operation: str | None, _clock: MetricClock) -> Known | None:
    used, throughput = run.server.server_cpus_used, run.throughput_ops_per_s
    return None if used is None or not throughput else Known(used * 1e9 / throughput)


def _bytes_each_way(way: Literal["received", "sent"]) -> Callable[[Observation, str | None, MetricClock], Known | None]:
    def figure(run: Observation, operation: str | None, _clock: MetricClock) -> Known | None:
        traffic = run.usage.traffic.get(operation)
        if traffic is None:
            return None
        value = traffic.received_bytes_per_s if way == "received" else traffic.sent_bytes_per_s
        return None if value is None else Known(value)

    return figure


def _plain(of: Callable[[Observation], float | None]) -> Callable[[Observation, str | None, MetricClock], Known | None]:
    """A figure of the run as a whole."""

    def figure(run: Observation, _operation: str | None, _clock: MetricClock) -> Known | None:
        value = of(run)
        return None if value is None else Known(float(value))

    return figure


METRIC_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
"""The quantiles that are metrics of every comparison, by their key."""
_DECIDING_QUANTILES = ("p50", "p95", "p99")
_FURTHER_QUANTILES = {f"p{each * 100:.10g}": each for each in QUANTILES if each > 0.5}


def _quantile_kind(name: str, quantile: float) -> MetricKind:
    return MetricKind(
        name=name,
        label=name,
        unit="ns",
        figure=_of_quantile(quantile),
        decides=name in _DECIDING_QUANTILES,
        on_clock=True,
        of_operations=True,
    )


KINDS: Mapping[str, MetricKind] = {
    kind.name: kind
    for kind in (
        MetricKind(
            name="throughput", label="Throughput", unit="ops/s", figure=_throughput, higher_is_better=True,
            decides=True, of_operations=True,
        ),
        MetricKind(name="mean", label="mean", unit="ns", figure=_mean, on_clock=True, of_operations=True),
        *(_quantile_kind(name, quantile) for name, quantile in (METRIC_QUANTILES | _FURTHER_QUANTILES).items()),
        MetricKind(
            name="errors", label="Error rate", unit="share", figure=_errors, decides=True, absolute=True,
            of_operations=True, document_name="error_share",
        ),
        MetricKind(
            name="client_cpu", label="Client CPU per operation", unit="ns",
            figure=_plain(lambda run: run.client_cpu_ns_per_op), document_name="client_cpu_ns_per_operation",
        ),
        MetricKind(
            name="server_cpu", label="Server CPU per operation", unit="ns", figure=_server_cpu,
            document_name="server_cpu_ns_per_operation",
        ),
        MetricKind(
            name="client_cpu_share", label="Client CPU, of one core", unit="share", absolute=True,
            figure=_plain(lambda run: run.generator.process_share),
        ),
        MetricKind(
            name="server_cpu_share", label="Server CPU, of what it may use", unit="share", absolute=True,
            figure=_plain(lambda run: run.server.server_share),
        ),
        MetricKind(
            name="connections", document_name="client_connections", label="Connections of the client",
            unit="connections", absolute=True,
            figure=_plain(lambda run: run.usage.client_connections),
        ),
        MetricKind(
            name="server_connections", label="Connections at the server", unit="connections", absolute=True,
            figure=_plain(lambda run: run.usage.server_connections),
        ),
        MetricKind(
            name="memory", label="Memory of the server", unit="bytes",
            figure=_plain(lambda run: run.usage.server_memory_bytes), document_name="server_memory_bytes",
        ),
        MetricKind(
            name="driver_memory", label="Memory of the driver", unit="bytes",
            figure=_plain(lambda run: run.usage.driver_memory_bytes), document_name="driver_memory_peak_bytes",
        ),
        MetricKind(
            name="driver_collection", label="Collections of garbage per operation", unit="ns", absolute=True,
            figure=_plain(lambda run: run.usage.driver_collection_ns_per_op),
            document_name="driver_collection_ns_per_operation",
        ),
        MetricKind(
            name="pool_wait", label="Wait for a connection of the pool", unit="ns", absolute=True,
            figure=_plain(lambda run: run.usage.driver_pool_wait_ns), document_name="pool_wait_mean_ns",
        ),
        MetricKind(
            name="received", label="Received", unit="bytes/s", figure=_bytes_each_way("received"), of_operations=True,
        ),
        MetricKind(name="sent", label="Sent", unit="bytes/s", figure=_bytes_each_way("sent"), of_operations=True),
    )
}  # fmt: skip
"""Every kind by its name, in the order in which tables have them."""
METRIC_KEYS = ("throughput", *METRIC_QUANTILES, "errors", "client_cpu", "server_cpu")
"""The keys of the metrics of every comparison, as users name them."""


def metrics(kind: LoadKind) -> tuple[Metric, ...]:
    """The metrics that runs of this kind are compared by, in the order in which they are shown."""
    return tuple(_metric(KINDS[key], None, kind) for key in METRIC_KEYS)


def all_metrics(kind: LoadKind, operations: Iterable[str]) -> tuple[Metric, ...]:
    """Every metric that runs of this kind have: of all operations together, then of each."""
    return (
        *(_metric(each, None, kind) for each in KINDS.values()),
        *(_metric(each, name, kind) for name in operations for each in KINDS.values() if each.of_operations),
    )


def metrics_among(runs: Iterable[Mapping[str, float]], kind: LoadKind) -> tuple[Metric, ...]:
    """The metrics of runs with the operations that any of `runs` has, by the keys of their figures."""
    keys = {key for run in runs for key in run}
    endings = [f".{row.name}" for row in KINDS.values() if row.of_operations]
    operations = {key.removesuffix(ending) for key in keys for ending in endings if key.endswith(ending)}
    return all_metrics(kind, sorted(operations))


def _metric(row: MetricKind, operation: str | None, kind: LoadKind) -> Metric:
    clock = clock_of(kind)
    label = message("{clock} {figure}", clock=clock, figure=row.label) if row.on_clock else row.label
    if operation is None and row.on_clock:
        label = message("Response {quantile}" if clock == "response" else "Service {quantile}", quantile=row.label)
    before = "" if operation is None else f"{operation}."
    unit: Unit = "documents/s" if row.name == "throughput" and operation is None and kind == "load" else row.unit
    return Metric(
        key=before + row.name,
        label=label if operation is None else message("{kind} {figure}", kind=shown(operation), figure=label),
        unit=unit,
        higher_is_better=row.higher_is_better,
        decides=row.decides and operation is None,
        absolute=row.absolute,
        operation=operation,
        short=row.label,
        document_key=before + document_name(row, clock, unit),
    )


def document_name(row: MetricKind, clock: MetricClock, unit: Unit) -> str:
    """`service_p99_ns`, `throughput_ops_per_s`, `client_cpu_share`."""
    ending, name = _ENDINGS[unit], row.name.replace(".", "")
    parts = (clock if row.on_clock else "", name, "" if name.endswith(ending) else ending)
    return row.document_name or "_".join(filter(None, parts))


def clock_of(kind: LoadKind) -> MetricClock:
    """The clock that tells most about runs of this kind; a closed loop has service time only, unless it is pooled."""
    return "response" if kind in ("open loop", "pooled closed loop") else "service"


def kind_of_all(kinds: Iterable[LoadKind]) -> LoadKind:
    """The kind of runs side by side: closed loops are pooled where one is. The first's, where they differ else."""
    found = tuple(dict.fromkeys(kinds))
    if "pooled closed loop" in found and {*found} <= {"closed loop", "pooled closed loop"}:
        return "pooled closed loop"
    return next(iter(found), "closed loop")


def closed_kind(runs: Iterable[Observation]) -> LoadKind:
    """The kind of runs that are closed loops, all of them."""
    return "closed loop" if all(run.closed_loop for run in runs) else "pooled closed loop"


SERVER_CPU = _metric(KINDS["server_cpu"], None, "closed loop")
"""What databases are compared by beside their speed."""


def run_figures(run: Observation, kind: LoadKind) -> dict[str, Known]:
    """Every figure of one run by the key of its metric; what isn't known is absent.

    A closed loop beside pooled ones has its service times: nothing waited for a connection.
    """
    clock = "service" if run.closed_loop else clock_of(kind)
    found: dict[str, Known] = {}
    for operation in (None, *operations_of(run)):
        for row in KINDS.values():
            asked = operation is None or row.of_operations
            if asked and (figure := row.figure(run, operation, clock)) is not None:
                found[row.name if operation is None else f"{operation}.{row.name}"] = figure
    return found


def operations_of(run: Observation, planned: Iterable[str] = ()) -> tuple[str, ...]:
    """The operations of a run by name, also those of `planned` that never came."""
    seen = (*planned, *run.usage.traffic, *(name for name, _ in run.kinds))
    return tuple(sorted({kind for kind in seen if kind is not None}))


def figures_over(runs: Sequence[Observation], kind: LoadKind) -> dict[str, Known]:
    """The same over repeats of one run: the mean with Student's interval over runs, of one run its own interval.

    A figure that one of them lacks is absent: those that are left would be those of the fast runs alone.
    """
    each = [run_figures(run, kind) for run in runs]
    return each[0] if len(each) == 1 else mean_over([{key: known.value for key, known in run.items()} for run in each])


def mean_over(runs: Sequence[Mapping[str, float]]) -> dict[str, Known]:
    """The means over runs of the figures that all of them have, by key; of a single one without an interval."""
    shared = [key for key in runs[0] if all(key in figures for figures in runs)] if runs else []
    return {key: _mean_of([figures[key] for figures in runs]) for key in shared}


def _mean_of(values: Sequence[float]) -> Known:
    if len(values) == 1:
        return Known(values[0])
    spread = mean_interval(values, unit="", independent=True)
    return Known(spread.value, max(spread.low, 0.0), spread.high)
