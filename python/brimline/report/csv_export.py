"""The statistics of a report as CSV for spreadsheets: a stable English header with units, whatever the language.

What isn't known is empty. Columns are added at the end, never renamed or removed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brimline.analysis.latency import Latency
from brimline.analysis.observation import Observation
from brimline.analysis.step_truth import StepTruth, step_truths
from brimline.analysis.unsent import not_begun
from brimline.record.model import RunRecord
from brimline.report.csv_text import csv_text
from brimline.report.jmeter_table import KB_BYTES
from brimline.report.run.driver_facts import driver_texts
from brimline.report.statistics import OperationStatistics, operation_statistics, report_clock
from brimline.units import NS_PER_MS

RUN_COLUMNS = (
    "operation",
    "clock",
    "samples",
    "misses",
    "failed",
    "error_percent",
    "average_ms",
    "min_ms",
    "max_ms",
    "median_ms",
    "p90_ms",
    "p95_ms",
    "p99_ms",
    "p99_low_ms",
    "p99_high_ms",
    "throughput_ops_per_s",
    "received_kb_per_s",
    "sent_kb_per_s",
    "planned_whole_run",
    "overdue_whole_run",
    "unit",
    "documents",
    "documents_per_s",
    "not_begun_whole_run",
    "step",
)
_TIME_COLUMNS = RUN_COLUMNS[RUN_COLUMNS.index("average_ms") : RUN_COLUMNS.index("p99_high_ms") + 1]
PROBE_COLUMNS = (
    "probe",
    "stage",
    "result",
    "connections",
    "offered_ops_per_s",
    "answered_ops_per_s",
    "clock",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "p99_low_ms",
    "p99_high_ms",
    "error_percent",
    "server_cpu_percent",
    "reasons",
)
COST_COLUMNS = (
    "client_connections",
    "server_connections",
    "client_cpu_ns_per_operation",
    "server_cpu_ns_per_operation",
    "server_memory_bytes",
    "driver_memory_peak_bytes",
    "driver_collection_ns_per_operation",
    "pool_wait_mean_ns",
)
SCAN_COLUMNS = (
    "scenario",
    "width",
    "plan",
    "keys_examined",
    "documents_examined",
    "documents_returned",
    "steady_ms",
    "steady_low_ms",
    "steady_high_ms",
    "first_touch_ms",
    "first_touch",
    "entries_per_s",
    "documents_examined_per_s",
    "examined_mb_per_s",
    "received_mb_per_s",
    "client_limited",
    "problems",
)


def statistics_csv(record: RunRecord, observation: Observation) -> str:
    """One row per operation, all of them first; percentiles that too few operations reach are empty.

    What was planned and what never went out is known of all together, warm-up included: operations aren't planned kind
    by kind, each is drawn when it is sent. Of an operation of several steps each step has a row too. `unit` says what
    samples and throughput count: of a batched load commands, whose documents have columns of their own.
    """
    clock = report_clock(record)
    total, *kinds = operation_statistics(record, observation)
    truths = [truth for truth in step_truths(record, observation) if not truth.is_alone]
    rows = [_statistics_row(total, clock, whole_run=_whole_run(record))]
    for each in kinds:
        rows.append(_statistics_row(each, clock))
        rows += [_step_row(truth, record.measured_s) for truth in truths if truth.operation == each.label]
    return csv_text(RUN_COLUMNS, rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _WholeRun:
    """What was planned and what of it never went out; None where it isn't known."""

    planned: int | None = None
    overdue: int | None = None
    not_begun: int | None = None


def _whole_run(record: RunRecord) -> _WholeRun:
    """The totals of a record that was never sealed are missing."""
    if record.summary is None:
        return _WholeRun()
    left = not_begun(record)
    return _WholeRun(planned=record.summary["due"] + left, overdue=record.summary["overdue"], not_begun=left)


def probes_csv(data: Mapping[str, Any]) -> str:
    """One row per probe of an experiment; `data` is its report's JSON.

    Of a factor sweep its levels follow, but for those that are a column already, such as connections, then what a run
    took: of each operation the mean, connections, processor, memory. Of a run that doesn't count these are empty.
    """
    factors = [factor["name"] for factor in data.get("factors", ())]
    if not factors:
        return csv_text(PROBE_COLUMNS, (_probe_row(probe) for probe in data["probes"]))
    names = [name for name in factors if name not in PROBE_COLUMNS]
    means = dict.fromkeys(name for probe in data["probes"] for name in probe.get("values", {}) if _is_mean(name))
    columns = (*PROBE_COLUMNS, "block", "server", *names, *(f"{each.removesuffix('_ns')}_ms" for each in means),
               *COST_COLUMNS, "driver", "runtime")  # fmt: skip
    return csv_text(
        columns,
        (
            [*_probe_row(probe), *_level_values(probe, names), *_cost_values(probe, list(means))]
            for probe in data["probes"]
        ),
    )


def _is_mean(name: str) -> bool:
    """Whether a figure is the mean of one operation's times."""
    return "." in name and name.endswith("_mean_ns")


def _cost_values(probe: Mapping[str, Any], means: Sequence[str]) -> list[Any]:
    values = probe.get("values", {})
    drivers: Sequence[Mapping[str, Any]] = probe.get("drivers") or [{}]
    return [
        *(_ms(values.get(name)) for name in means),
        *(_rounded(values.get(name)) for name in COST_COLUMNS),
        *driver_texts(drivers[0]),
    ]


def _level_values(probe: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    return [probe["block"], probe["server"], *(probe["levels"][name] for name in names)]


def scans_csv(data: Mapping[str, Any]) -> str:
    """One row per query of a scan; `data` is its report's JSON. Steady times are medians with their intervals."""
    return csv_text(SCAN_COLUMNS, (_scan_row(each) for each in data["scenarios"]))


def _statistics_row(row: OperationStatistics, clock: str, *, whole_run: _WholeRun | None = None) -> list[Any]:
    whole = whole_run or _WholeRun()
    return [
        row.label,
        clock,
        row.samples,
        row.misses,
        row.failed,
        _percent(row.error_rate),
        *_times_ms(row.latency),
        round(row.throughput_ops_per_s, 3),
        round(row.received_bytes_per_s / KB_BYTES, 3),
        round(row.sent_bytes_per_s / KB_BYTES, 3),
        whole.planned,
        whole.overdue,
        row.unit,
        row.documents,
        _rounded(row.documents_per_s),
        whole.not_begun,
        None,
    ]


def _step_row(truth: StepTruth, measured_s: float) -> list[Any]:
    """A step of an operation of several: its commands, on the clock of service times."""
    per_s = 1 / measured_s if measured_s else 0.0
    known = {
        "operation": truth.operation,
        "clock": "service",
        "samples": truth.samples,
        "failed": truth.failed,
        "error_percent": _percent(truth.failed_share),
        **dict(zip(_TIME_COLUMNS, _times_ms(truth.service), strict=True)),
        "received_kb_per_s": round(truth.bytes_in * per_s / KB_BYTES, 3),
        "unit": "command",
        "step": truth.step,
    }
    return [known.get(column) for column in RUN_COLUMNS]


def _probe_row(probe: Mapping[str, Any]) -> list[Any]:
    clock = "service" if probe["closed_loop"] else "response"
    latency = probe[clock] or {}
    low_ns, high_ns = latency.get("p99_interval_ns") or (None, None)
    server_share = probe["server_cpu_share"] if probe["target"] == "server" else None
    return [
        probe["number"],
        probe["stage"],
        probe["result"],
        probe["connections"],
        probe["rate_ops_per_s"],
        round(probe["throughput_ops_per_s"], 3),
        clock,
        _ms(latency.get("p50_ns")),
        _ms(latency.get("p95_ns")),
        _ms(latency.get("p99_ns") if latency.get("p99_enough_samples") else None),
        _ms(low_ns),
        _ms(high_ns),
        _percent(probe["error_rate"]),
        None if server_share is None else _percent(server_share),
        "; ".join(probe["reasons"]),
    ]


def _scan_row(scenario: Mapping[str, Any]) -> list[Any]:
    low_ns, high_ns = scenario["steady_time_interval_ns"] or (None, None)
    refusal = scenario["refusal"]
    problems = [*scenario["broken"], *([refusal["text"]] if refusal else [])]
    return [
        scenario["scenario"],
        scenario["width"],
        scenario["plan"],
        scenario["keys_examined"],
        scenario["documents_examined"],
        scenario["documents_returned"],
        *(_ms(each) for each in (scenario["steady_time_ns"], low_ns, high_ns, scenario["first_time_ns"])),
        scenario["first_touch"],
        *(_rounded(scenario[name]) for name in ("entries_per_s", "documents_examined_per_s")),
        *(_rounded(scenario[name], per=1e6) for name in ("bytes_examined_per_s", "bytes_received_per_s")),
        "yes" if scenario["client_limited"] else "no",
        "; ".join(problems),
    ]


def _times_ms(latency: Latency | None) -> list[float | None]:
    """From `average_ms` on to `p99_high_ms`; what is only bounded is empty but for the ends of the p99's interval."""
    if latency is None:
        return [None] * 9
    most_ns = None if latency.oldest_missing_ns > latency.max_ns else latency.max_ns
    figures = [latency.quantiles[quantile] for quantile in (0.5, 0.9, 0.95, 0.99)]
    return [
        *(_ms(each) for each in (latency.mean_ns, latency.min_ns, most_ns)),
        *(_ms(each.value_ns if each.is_figure else None) for each in figures),
        _ms(latency.p99.low_ns),
        _ms(latency.p99.high_ns),
    ]


def _ms(time_ns: float | None) -> float | None:
    return None if time_ns is None else round(time_ns / NS_PER_MS, 6)


def _rounded(value: float | None, *, per: float = 1.0) -> float | None:
    return None if value is None else round(value / per, 3)


def _percent(share: float) -> float:
    return round(share * 100, 6)
