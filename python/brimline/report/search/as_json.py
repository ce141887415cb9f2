"""An experiment's findings as JSON: stable keys, the unit in every key, times in ns."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from brimline.experiments.axis import On
from brimline.experiments.capacity.conclusion import CapacityConclusion
from brimline.experiments.capacity.frontier import FrontierConclusion, FrontierSettings
from brimline.experiments.sweep import SweepConclusion
from brimline.experiments.trial import null_ceiling
from brimline.record.experiment import ExperimentRecord
from brimline.report.document import FORMAT_VERSION
from brimline.report.grid import Grid
from brimline.report.limit import limit_document
from brimline.report.run.as_json import interval_document, observation_document, slo_document
from brimline.report.run_nodes import nodes_document, nodes_in
from brimline.report.search.further import SEARCH_DEFINITIONS, turning_points
from brimline.report.search.probes import ProbeRow
from brimline.report.showing import figures_document


def capacity_document(
    experiment: ExperimentRecord,
    rows: Sequence[ProbeRow],
    conclusion: CapacityConclusion,
    grids: Sequence[Grid],
) -> dict[str, Any]:
    """Everything that the report of a capacity search says, for machines."""
    sweep = _sweep_fields(conclusion.sweep)
    state = conclusion.state
    settings = conclusion.settings
    passed, failed = turning_points(state)
    sustained = conclusion.sustained if settings.on is On.RATE else None
    return {
        **_experiment_document(experiment, "capacity"),
        "conclusion": conclusion.kind.value,
        "headline": conclusion.headline,
        "reason": conclusion.reason,
        "objective": slo_document(settings.slo),
        "on": settings.on.value,
        "loops": settings.loops,
        "ramp_up_s": settings.ramp_up_s,
        "limit": None if conclusion.sustained is None else conclusion.sustained.value,
        "limit_interval": interval_document(conclusion.sustained),
        "limit_unit": settings.axis.unit,
        "sustained_ops_per_s": None if sustained is None else sustained.value,
        "sustained_interval_ops_per_s": interval_document(sustained),
        "grade": conclusion.grade,
        "at_least": conclusion.at_least,
        "at_most": conclusion.at_most,
        "hold": settings.hold,
        "window_s": settings.usual_s,
        "not_narrower": list(conclusion.not_narrower),
        "missed": list(conclusion.missed),
        "window_spread": state.posterior.spread if state.judged else None,
        "disturbed_share": state.posterior.lapse if state.judged else None,
        "reference": None if state.movement is None else asdict(state.movement),
        "verifications": conclusion.tried.held,
        "verification_windows": conclusion.tried.windows,
        "saturation_ops_per_s": conclusion.sweep.saturation_ops_per_s,
        "saturation_interval_ops_per_s": interval_document(conclusion.sweep.saturation),
        "quotable": conclusion.quotable,
        "reasons_not_quotable": list(conclusion.reasons_not_quotable),
        "knee_connections": conclusion.sweep.knee_connections,
        "knee_interval_connections": sweep["knee_interval_connections"],
        "knee_interval_assumed_drift": sweep["knee_interval_assumed_drift"],
        "recommended_connections": sweep["recommended_connections"],
        "bottleneck": limit_document(conclusion.bottleneck),
        "bottleneck_at_saturation": limit_document(conclusion.sweep.bottleneck),
        "highest_passed_ops_per_s": passed if settings.on is On.RATE else None,
        "lowest_failed_ops_per_s": failed if settings.on is On.RATE else None,
        "highest_passed": passed,
        "lowest_failed": failed,
        "null_ceiling_ops_per_s": null_ceiling(state.trials),
        "open_loop_connections": state.open_loop_connections if state.judged else None,
        "spent_s": state.spent_s,
        "unsettled": list(conclusion.unsettled),
        "sweep": sweep,
        "figures": figures_document(grids),
        "probes": [_probe_document(row) for row in rows],
        "definitions": [f"{each.label}: {each.value}" for each in SEARCH_DEFINITIONS],
    }


def frontier_document(
    experiment: ExperimentRecord,
    rows: Sequence[ProbeRow],
    conclusion: FrontierConclusion,
    settings: FrontierSettings,
    grids: Sequence[Grid],
) -> dict[str, Any]:
    """Everything that the report of an SLO frontier says, for machines."""
    return {
        **_experiment_document(experiment, "frontier"),
        "conclusion": conclusion.worst.kind.value,
        "reason": conclusion.worst.reason,
        "objective": slo_document(settings.search.slo),
        "on": settings.search.on.value,
        "limit_unit": settings.search.axis.unit,
        "points": [
            {
                "objective": point.settings.slo.leading.text,
                "limit_ns": point.settings.slo.leading.limit_ns,
                "conclusion": point.kind.value,
                "reason": point.reason,
                "limit": None if point.sustained is None else point.sustained.value,
                "limit_interval": interval_document(point.sustained),
                "grade": point.grade,
                "at_least": point.at_least,
                "not_narrower": list(point.not_narrower),
                "missed": list(point.missed),
                "verifications": point.tried.held,
                "quotable": point.quotable,
                "reasons_not_quotable": list(point.reasons_not_quotable),
                "bottleneck": limit_document(point.bottleneck),
                "unsettled": list(point.unsettled),
            }
            for point in conclusion.points
        ],
        "sweep": _sweep_fields(conclusion.points[0].sweep),
        "figures": figures_document(grids),
        "probes": [_probe_document(row) for row in rows],
    }


def sweep_document(
    experiment: ExperimentRecord, rows: Sequence[ProbeRow], conclusion: SweepConclusion, grids: Sequence[Grid]
) -> dict[str, Any]:
    """Everything that the report of a sweep says, for machines."""
    return {
        **_experiment_document(experiment, "sweep"),
        **_sweep_fields(conclusion),
        "bottleneck": limit_document(conclusion.bottleneck),
        "figures": figures_document(grids),
        "probes": [_probe_document(row) for row in rows],
    }


def _experiment_document(experiment: ExperimentRecord, kind: str) -> dict[str, Any]:
    return {
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "name": experiment.name,
        "record": str(experiment.directory),
        "brimline_version": experiment.brimline_version,
        "ended_by": experiment.ended_by,
        "message": experiment.message,
        "nodes": nodes_document(nodes_in(experiment)),
    }


def _sweep_fields(conclusion: SweepConclusion) -> dict[str, Any]:
    return {
        "sweep_ended_by": conclusion.ended_by.value,
        "text": conclusion.text,
        "reason": conclusion.reason,
        "saturation_ops_per_s": conclusion.saturation_ops_per_s,
        "saturation_interval_ops_per_s": interval_document(conclusion.saturation),
        "generator_ceiling_ops_per_s": conclusion.generator_ceiling_ops_per_s,
        "highest_ops_per_s": conclusion.highest_ops_per_s,
        "knee_connections": conclusion.knee_connections,
        "knee_interval_connections": None if conclusion.knee is None else [conclusion.knee.low, conclusion.knee.high],
        "knee_interval_assumed_drift": None if conclusion.knee is None else conclusion.knee.assumed_drift,
        "recommended_connections": None if conclusion.band is None else [conclusion.band.low, conclusion.band.high],
        "levels": [
            {
                "connections": level.connections,
                "throughput_ops_per_s": level.throughput_ops_per_s,
                "service_p50_ns": level.service_p50_ns,
                "service_p99_ns": level.service_p99_ns,
                "error_rate": level.error_rate,
                "trials": level.trial_count,
                "problems": list(level.problems),
            }
            for level in conclusion.levels
        ],
    }


def _probe_document(row: ProbeRow) -> dict[str, Any]:
    probe = row.trial.probe
    return {
        "number": row.number,
        "stage": probe.stage,
        "label": probe.label,
        "target": probe.target,
        "rate_ops_per_s": probe.rate_ops_per_s,
        "loops": probe.loops,
        "ramp_up_s": probe.ramp_up_s,
        "goal": probe.goal,
        "warmup_s": probe.warmup_s,
        "duration_s": probe.duration_s,
        "result": row.outcome or None,
        "reasons": list(row.reasons),
        "bottleneck": limit_document(row.limit),
        "cool_down": None if row.trial.cool_down is None else asdict(row.trial.cool_down),
        **observation_document(row.trial.observation),
    }
