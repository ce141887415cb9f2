"""Everything that the report of a factor sweep says, for machines: stable keys, units last."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from brimline.analysis.compared_run import Metric
from brimline.analysis.factorial import LevelDifference, Mean
from brimline.experiments.vary.conclusion import Cell, Curve, VaryConclusion, load_levels
from brimline.experiments.vary.order import THROUGHPUT, VaryLoad, VarySettings, VaryTrial
from brimline.record.experiment import ExperimentRecord
from brimline.report.comparison.figures import unit_ending
from brimline.report.document import FORMAT_VERSION
from brimline.report.grid import Grid
from brimline.report.run.as_json import interval_document, observation_document
from brimline.report.run_nodes import nodes_document, nodes_in
from brimline.report.showing import figures_document


def vary_document(
    experiment: ExperimentRecord,
    trials: Sequence[VaryTrial],
    loads: Sequence[VaryLoad],
    conclusion: VaryConclusion,
    settings: VarySettings,
    grids: Sequence[Grid] = (),
) -> dict[str, Any]:
    """The JSON of a factor sweep. `probes` are its runs, with their levels."""
    names = [factor.name for factor in settings.factors]
    load_names = [factor.name for factor in conclusion.load_factors]
    return {
        "format_version": FORMAT_VERSION,
        "kind": "vary",
        "name": experiment.name,
        "record": str(experiment.directory),
        "brimline_version": experiment.brimline_version,
        "ended_by": experiment.ended_by,
        "message": experiment.message,
        "vary_ended_by": conclusion.ended_by.value,
        "text": conclusion.text,
        "measure": settings.measure or "run",
        "factors": [{"name": factor.name, "levels": list(factor.levels)} for factor in settings.factors],
        "servers_apart_by": list(settings.apart),
        "precision": settings.precision,
        "margin": settings.margin,
        "blocks": conclusion.blocks,
        "combinations": [_cell_document(each, names, conclusion.metrics) for each in conclusion.cells],
        "nodes": nodes_document(nodes_in(experiment)),
        "figures": figures_document(grids),
        "differences": [_difference_document(each) for each in conclusion.everywhere],
        "differences_within": [_difference_document(each) for each in conclusion.within],
        "differences_of_costs": [_difference_document(each) for each in conclusion.costs],
        "curves": [_curve_document(each, names) for each in conclusion.curves],
        "loads": [_cell_document(each, load_names, conclusion.load_metrics) for each in conclusion.loads],
        "load_differences": [_difference_document(each) for each in conclusion.load_differences],
        "load_runs": [
            {
                "block": each.block,
                "server": each.server,
                "levels": dict(zip(load_names, load_levels(each, settings, conclusion.load_factors), strict=True)),
                "took_s": each.took_s,
                "fewer_connections": None if each.fewer_connections is None else each.fewer_connections[0],
            }
            for each in loads
        ],
        "cells": [
            {
                "record": trial.name,
                "levels": settings.named(trial.probe.levels),
                "block": trial.probe.block,
                "server": trial.server,
                "result": trial.outcome.value,
                "reasons": list(trial.reasons),
                "missed": trial.missed,
                "took_s": trial.took_s,
            }
            for trial in trials
            if trial.observation is None
        ],
        "probes": [
            _run_document(number, trial, settings, conclusion.every_metric)
            for number, trial in enumerate(trials, start=1)
            if trial.observation is not None
        ],
    }


def _cell_document(cell: Cell, names: Sequence[str], metrics: Sequence[Metric]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for metric in metrics:
        mean, ending = cell.means.get(metric.key), unit_ending(metric)
        figures[f"{metric.key}_{ending}"] = None if mean is None else mean.value
        figures[f"{metric.key}_interval_{ending}"] = None if mean is None else _interval(mean)
    return {
        "levels": dict(zip(names, cell.levels, strict=True)),
        "runs": cell.run_count,
        "precise": cell.precise,
        **figures,
        "left_out": list(cell.left_out),
    }


def _interval(mean: Mean) -> Sequence[float | None] | None:
    """Both ends, of a bound the one that is known; nothing where neither is."""
    if mean.estimate is not None:
        return interval_document(mean.estimate)
    return None if (mean.low, mean.high) == (None, None) else [mean.low, mean.high]


def _difference_document(each: LevelDifference) -> dict[str, Any]:
    change = each.change
    return {
        "factor": each.factor,
        "level": each.level,
        "against": each.base,
        "at": dict(each.at),
        "averaged_over": each.averaged_over,
        "combinations": each.combinations,
        "metric": each.metric.key,
        "a": each.a,
        "b": each.b,
        "change_share": None if change is None else change.value,
        "change_interval_share": None if change is None else [_finite(change.low), _finite(change.high)],
        "adjusted_p": each.adjusted_p,
        "verdict": each.verdict.value,
    }


def _finite(end: float) -> float | None:
    """An end of an interval; None where it isn't known."""
    return end if math.isfinite(end) else None


def _curve_document(curve: Curve, names: Sequence[str]) -> dict[str, Any]:
    best = curve.best
    return {
        "at": dict(curve.at),
        "best_levels": None if best is None else dict(zip(names, best.levels, strict=True)),
        "best_throughput_ops_per_s": None if best is None else best.means[THROUGHPUT].value,
        "knee_connections": None if curve.knee is None else curve.knee.connections,
        "recommended_connections": None if curve.band is None else [curve.band.low, curve.band.high],
        "reason": curve.reason,
    }


def _driver_document(driver: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "client": driver.get("client"),
        "driver": driver.get("driver"),
        "driver_version": driver.get("driver_version"),
        "runtime": driver.get("runtime"),
        "runtime_version": driver.get("runtime_version"),
    }


def _run_document(number: int, trial: VaryTrial, settings: VarySettings, metrics: Sequence[Metric]) -> dict[str, Any]:
    probe, observation = trial.probe, trial.observation
    observed: Mapping[str, Any] = {} if observation is None else observation_document(observation)
    return {
        "number": number,
        "stage": "run",
        "label": probe.label,
        "target": "server" if observation is None else "null" if observation.target == "null" else "server",
        "levels": settings.named(probe.levels),
        "block": probe.block,
        "attempt": probe.attempt,
        "server": trial.server,
        "rate_ops_per_s": None,
        "result": trial.outcome.value,
        "reasons": list(trial.reasons),
        "plans": dict(trial.plans),
        "values": {
            each.document_key or each.key: trial.figures[each.key] for each in metrics if each.key in trial.figures
        },
        "drivers": [_driver_document(each) for each in trial.drivers],
        **observed,
    }
