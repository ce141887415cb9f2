"""Owns imports as a comparison needs them: runs of other tools that were imported, and imports of data.

A run of another tool says how fast it was and how long operations took, and little of how it was made. Its percentiles
are compared where every time is there; what a tool only printed is that tool's own figure of one kind of operation.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from brimline.analysis.compared_run import ComparedRun, Metric, metrics
from brimline.analysis.configured import Settings, environment_settings, flat, short_hash
from brimline.analysis.data_import import documents_per_s, import_findings
from brimline.analysis.finding import Standing
from brimline.analysis.imported import error_share, in_vain_of, throughput_per_s
from brimline.record.data_import import ImportRecord
from brimline.record.imported import READ_MODIFY_WRITE, ImportedRun, Series
from brimline.stats.quantile_interval import Buckets, merge_buckets, quantile_intervals
from brimline.stats.quantile_shift import QUANTILES
from brimline.units import format_bytes
from brimline.wording import Verbatim, joined, message

_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
_TOOL, _IMPORT = "tool", "import"
_DECIDING_FAILURES = frozenset({"ended", "conservation", "count"})
_OWN_SETTINGS = frozenset({"uri", "name"})
"""What names an import, and no property of it."""


def compared_imported(run: ImportedRun) -> ComparedRun:
    """What a comparison takes from a run of another tool."""
    kind = "imported closed loop" if run.closed_loop else "imported open loop"
    counted = [each for each in run.shown if each.counted and each.timed]
    buckets = {name: histogram.buckets() for name, histogram in run.histograms.items()}
    whole = not any(each.operation == READ_MODIFY_WRITE for each in run.shown)
    is_all = bool(counted) and whole and all((each.operation, each.clock) in buckets for each in counted)
    distribution = merge_buckets([buckets[each.operation, each.clock] for each in counted]) if is_all else []
    figures = {**_figures(run, distribution), **{key: value for each in counted for key, value in _of(each, buckets)}}
    settings = _tool_settings(run)
    return ComparedRun(
        name=run.directory.name,
        directory=run.directory,
        title=run.name,
        plan_hash=short_hash(repr(sorted(settings.items()))),
        settings=settings,
        environment={},
        kind=kind,
        metrics=(
            *metrics("closed loop" if run.closed_loop else "open loop"),
            *(metric for each in counted for metric in _metrics_of(each, figures)),
        ),
        started_ns=run.started_unix_ns,
        figures=figures,
        distribution=distribution,
        bounds=_bounds(distribution),
        problems=tuple(in_vain_of(run)) if run.failed_count == run.operation_count else (),
    )


def _figures(run: ImportedRun, distribution: Buckets) -> dict[str, float]:
    throughput = throughput_per_s(run)
    known = {} if throughput is None else {"throughput": throughput}
    found = quantile_intervals(distribution, tuple(_QUANTILES.values())) if distribution else {}
    quantiles = {name: found[each] for name, each in _QUANTILES.items() if each in found}
    return known | {
        **{name: float(each.value_ns) for name, each in quantiles.items() if each.enough},
        "errors": error_share(run),
    }


def _of(series: Series, buckets: Mapping[tuple[str, str], Buckets]) -> Iterator[tuple[str, float]]:
    """The figures of one operation: of its times where they are there, else as the tool printed them."""
    if series.mean_ns:
        yield f"{series.operation}.mean", series.mean_ns
    times = buckets.get((series.operation, series.clock))
    if times is None:
        for quantile, value_ns in series.printed_percentiles_ns.items():
            name = next((name for name, known in _QUANTILES.items() if known == quantile), "")
            if name and value_ns > 0:
                yield f"{series.operation}.{name}", float(value_ns)
        return
    for name, quantile in _QUANTILES.items():
        seen = quantile_intervals(times, (quantile,))[quantile]
        if seen.enough:
            yield f"{series.operation}.{name}", float(seen.value_ns)


def _metrics_of(series: Series, figures: Mapping[str, float]) -> Iterator[Metric]:
    for name in ("mean", *_QUANTILES):
        key = f"{series.operation}.{name}"
        if key in figures:
            label = message("{kind} {figure}", kind=Verbatim(series.operation),
                            figure=message("{clock} {figure}", clock=series.clock, figure=name))  # fmt: skip
            yield Metric(key=key, label=label, unit="ns", higher_is_better=False, decides=False)


def _bounds(distribution: Buckets) -> dict[float, int | None]:
    """As of a run: where too few operations lie above a quantile, its lower end."""
    found = quantile_intervals(distribution, QUANTILES) if distribution else {}
    return {quantile: each.low_ns for quantile, each in found.items() if not each.is_figure}


def _tool_settings(run: ImportedRun) -> Settings:
    threads = run.printed.threads or max((each.active_threads for each in run.active), default=None)
    return {
        (_TOOL, "name"): run.tool,
        (_TOOL, "phase"): run.printed.phase or None,
        (_TOOL, "threads"): threads,
        (_TOOL, "target_ops_per_s"): run.printed.target_ops_per_s,
        (_TOOL, "resolution_ns"): run.value_unit_ns,
        (_TOOL, "operations"): joined(", ", [Verbatim(each.operation) for each in run.shown]),
    }


def compared_import(record: ImportRecord) -> ComparedRun:
    """What a comparison takes from an import of data."""
    state = record.state
    failed = [each for each in import_findings(record) if each.verdict is Standing.FAIL]
    problems = tuple(each.evidence for each in failed if each.name in _DECIDING_FAILURES)
    inputs = joined(", ", [_input_text(each.path, each.size_bytes, each.head_sha256) for each in state.inputs])
    settings: Settings = {(_IMPORT, name): value for name, value in flat(state.settings) if name not in _OWN_SETTINGS}
    settings[_IMPORT, "inputs"] = inputs
    return ComparedRun(
        name=record.directory.name,
        directory=record.directory,
        title=state.name,
        plan_hash=short_hash(repr(sorted(settings.items()))),
        settings={**settings, **environment_settings(record.environment)},
        environment=record.environment,
        kind=_IMPORT,
        metrics=_IMPORT_METRICS,
        started_ns=state.started_unix_ns,
        figures=_import_figures(record),
        distribution=record.service.buckets(),
        problems=problems,
        broken=record.ended_by == "target_lost",
    )


def _input_text(path: str | None, size_bytes: int | None, digest: str | None) -> str:
    """A file by what is in it: where it lies makes no difference."""
    if path is None or size_bytes is None:
        return "a pipe"
    return message("{size} ({digest})", size=format_bytes(size_bytes), digest=Verbatim((digest or "")[:8]))


def _import_figures(record: ImportRecord) -> dict[str, float]:
    counts = record.state.counts
    settled = sum(counts.get(name, 0) for name in ("inserted", "updated", "deleted"))
    known: dict[str, Any] = {
        "throughput": documents_per_s(record),
        "errors": counts["rejected"] / counts["read"] if counts.get("read") else None,
        "client_cpu": record.state.client_cpu_ns / settled if settled and record.state.client_cpu_ns else None,
        "server_cpu": record.state.server_cpu_ns / settled if settled and record.state.server_cpu_ns else None,
    }
    return {key: float(value) for key, value in known.items() if value is not None}


_IMPORT_METRICS = (
    Metric(key="throughput", label="Throughput", unit="documents/s", higher_is_better=True, decides=True),
    Metric(key="errors", label="Rejected records", unit="share", higher_is_better=False, decides=True, absolute=True),
    Metric(key="client_cpu", label="Client CPU per document", unit="ns", higher_is_better=False, decides=False),
    Metric(key="server_cpu", label="Server CPU per document", unit="ns", higher_is_better=False, decides=False),
)
