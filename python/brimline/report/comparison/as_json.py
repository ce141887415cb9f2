"""Owns comparisons and trends as JSON: stable keys, the unit in every key, changes as shares of 1."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from brimline.analysis.changes import LeftOut, MetricChange, QuantileChange
from brimline.analysis.compared_run import ComparedRun
from brimline.analysis.comparison import Comparison
from brimline.analysis.configuration import Difference
from brimline.analysis.gate import GateCase, overall
from brimline.analysis.run_trend import MetricTrend, RunSeries
from brimline.record.experiment import ExperimentRecord
from brimline.report.comparison.figures import is_figure, unit_ending
from brimline.report.document import FORMAT_VERSION
from brimline.report.run_nodes import nodes_document, nodes_in
from brimline.stats.change import EQUIVALENCE_CONFIDENCE, Change


def comparison_document(
    comparison: Comparison,
    cases: Sequence[GateCase],
    same_load: Sequence[str] = (),
    capacity: Sequence[str] = (),
    *,
    experiment: ExperimentRecord | None = None,
) -> dict[str, Any]:
    """Everything that the report of a comparison says, for machines.

    `same_load`: commands that put both under one, `capacity`: those that find what each bears. `experiment`: what made
    the runs, if one did.
    """
    return {
        "format_version": FORMAT_VERSION,
        "kind": "comparison",
        "verdict": comparison.verdict.value,
        "reason": comparison.reason,
        "load": comparison.kind,
        "unlike_loads": None
        if comparison.loads is None
        else {
            "text": comparison.loads.text,
            "differences": [_difference_document(each) for each in comparison.loads.differences],
            "same_load_commands": list(same_load),
            "capacity_commands": list(capacity),
        },
        "differences": [_difference_document(each) for each in comparison.differences],
        "changes": [_change_document(each) for each in comparison.changes],
        "absent": [{"name": each.metric.key, "reason": each.reason} for each in comparison.absent],
        "shift": [_shift_document(each, comparison) for each in comparison.shift],
        "a": [_run_document(run) for run in comparison.a],
        "b": [_run_document(run) for run in comparison.b],
        "nodes": nodes_document(nodes_in(experiment) if experiment else []),
        "left_out": [_left_out_document(each) for each in comparison.left_out],
        "warnings": list(comparison.warnings),
        "gate": gate_document(cases),
    }


def trend_document(series: Sequence[RunSeries], cases: Sequence[GateCase]) -> dict[str, Any]:
    """Everything that the report of trends says, for machines."""
    return {
        "format_version": FORMAT_VERSION,
        "kind": "trend",
        "series": [
            {
                "name": each.name,
                "plan_hash": each.plan_hash,
                "runs": [_run_document(run) for run in each.runs],
                "left_out": [_left_out_document(left_out) for left_out in each.left_out],
                "metrics": [_trend_document(trend) for trend in each.trends],
            }
            for each in series
        ],
        "gate": gate_document(cases),
    }


def gate_document(cases: Sequence[GateCase]) -> dict[str, Any] | None:
    """None without a gate."""
    if not cases:
        return None
    return {
        "verdict": overall(cases).value,
        "cases": [_case_document(case) for case in cases],
    }


def _difference_document(each: Difference) -> dict[str, Any]:
    return {"where": each.where, "name": each.name, "a": list(each.a), "b": list(each.b)}


def _case_document(case: GateCase) -> dict[str, Any]:
    """The interval is the one that the gate decides by, at its `confidence`; null where nothing was compared."""
    change = case.change
    interval = None if change is None else [_finite(change.inner_low), _finite(change.inner_high)]
    return {
        "name": case.name,
        "verdict": case.verdict.value,
        "text": case.text,
        "limit_share": case.limit,
        "change_share": None if change is None else change.value,
        "interval_share": interval,
        "confidence": None if change is None else EQUIVALENCE_CONFIDENCE,
        "adjusted_p": case.adjusted_p,
    }


def _change_document(each: MetricChange) -> dict[str, Any]:
    ending = unit_ending(each.metric)
    return {
        "metric": each.metric.key,
        "decides": each.metric.decides,
        f"a_{ending}": each.a,
        f"b_{ending}": each.b,
        f"a_runs_{ending}": list(each.a_runs),
        f"b_runs_{ending}": list(each.b_runs),
        "a_bound": each.a_bound or None,
        "b_bound": each.b_bound or None,
        **_interval(each.change),
        "adjusted_p": each.adjusted_p,
        "margin_share": each.margin,
        "floor_share": None if each.floor is None else _finite(each.floor),
        "verdict": each.verdict.value,
    }


def _shift_document(each: QuantileChange, comparison: Comparison) -> dict[str, Any]:
    """`…_enough_samples`: see a run's own document; where false, reports print a bound."""
    return {
        "quantile": each.quantile,
        "a_ns": each.a_ns,
        "a_enough_samples": is_figure(each.quantile, comparison.a),
        "b_ns": each.b_ns,
        "b_enough_samples": is_figure(each.quantile, comparison.b),
        **_interval(each.change),
        "adjusted_p": each.adjusted_p,
        "verdict": each.verdict.value,
    }


def _trend_document(trend: MetricTrend) -> dict[str, Any]:
    return {
        "metric": trend.metric.key,
        f"values_{unit_ending(trend.metric)}": list(trend.values),
        "runs": [run.name for run in trend.runs],
        "enough": trend.enough,
        "changes": [
            {
                "run": trend.runs[point.index].name,
                "index": point.index,
                "runs_before": point.index - point.first,
                "runs_after": point.end - point.index,
                **_interval(point.change),
                "worse_share": trend.worse(point),
                "changed_with_it": [_difference_document(each) for each in trend.changed_with(point)],
            }
            for point in trend.points
        ],
    }


def _interval(change: Change | None) -> dict[str, Any]:
    """Shares of A's value, or differences of shares; null where unknown or without end."""
    if change is None:
        return {"change_share": None, "interval_share": None, "p": None}
    bounds = [_finite(bound) for bound in (change.low, change.high)]
    return {"change_share": change.value, "interval_share": bounds, "p": change.p_value}


def _finite(share: float) -> float | None:
    return share if math.isfinite(share) else None


def _run_document(run: ComparedRun) -> dict[str, Any]:
    """What stands for a run, or another record; `counts_whole_run` as in a run's own document.

    `figures`: those with an interval of their own are of searches. `unsent`: what never went out, in words.
    """
    return {
        "name": run.name,
        "record": str(run.directory),
        "started_unix_ns": run.started_ns,
        "counts_whole_run": None if run.totals is None else {"planned": run.totals.planned, **asdict(run.totals)},
        "unsent": run.unsent or None,
        "figures": {
            metric.key: {"unit": metric.unit, "value": value, "low": low, "high": high}
            for metric in run.metrics
            if metric.key in run.figures
            for value, low, high in [run.interval(metric.key)]
        },
    }


def _left_out_document(each: LeftOut) -> dict[str, Any]:
    return {"side": each.side, "name": each.name, "reason": each.reason}
