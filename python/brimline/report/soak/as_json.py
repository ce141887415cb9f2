"""Owns a soak as JSON: stable keys, the unit in every key."""

from collections.abc import Sequence
from typing import Any

from brimline.analysis.drift import Drift
from brimline.analysis.objective import Slo
from brimline.analysis.observation import Observation
from brimline.analysis.soak import SoakFindings
from brimline.analysis.stalls import Periodic, With
from brimline.analysis.verdict import Judgement
from brimline.experiments.soak.order import SoakTrial
from brimline.record.experiment import ExperimentRecord
from brimline.report.document import FORMAT_VERSION
from brimline.report.grid import Grid
from brimline.report.run.as_json import observation_document, slo_document
from brimline.report.run_nodes import nodes_document, nodes_in
from brimline.report.showing import figures_document
from brimline.units import NS_PER_S


def soak_document(
    experiment: ExperimentRecord,
    trials: Sequence[SoakTrial],
    found: SoakFindings,
    observation: Observation,
    *,
    slo: Slo | None,
    judgement: Judgement | None,
    grids: Sequence[Grid],
) -> dict[str, Any]:
    """Everything that the report of a soak says, for machines."""
    return {
        "format_version": FORMAT_VERSION,
        "kind": "soak",
        "name": experiment.name,
        "record": str(experiment.directory),
        "brimline_version": experiment.brimline_version,
        "ended_by": experiment.ended_by,
        "message": experiment.message,
        "duration_s": experiment.settings.get("duration_s"),
        "span_s": found.span_s,
        "parts_left_out": len(found.left_out),
        "objective": None if slo is None else slo_document(slo),
        "verdict": None if judgement is None else judgement.verdict.value,
        "drifts": [_drift_document(each) for each in found.drifts],
        "stall_count": len(found.stalls.every),
        "stalls_periodic": [_stall_document(each) for each in found.stalls.periodic],
        "stalls_other_count": len(found.stalls.others),
        "stalls_other_with": [_cause_document(each) for each in found.stalls.others_with],
        "parts": [_part_document(each) for each in trials],
        "longest_part": observation_document(observation),
        "nodes": nodes_document(nodes_in(experiment)),
        "figures": figures_document(grids),
    }


def _drift_document(each: Drift) -> dict[str, Any]:
    full = each.full
    return {
        "figure": each.series.key,
        "unit": each.series.unit,
        "first": each.begin,
        "last": each.end,
        "drifts": each.found,
        "per_hour": each.per_hour,
        "per_hour_interval": [each.low, each.high],
        "share_per_hour": each.share_per_hour,
        "p_value": each.p_value,
        "adjusted_p_value": each.adjusted_p,
        "used_up_in_s": None if full is None else full.in_s,
        "used_up_interval_s": None if full is None else [full.earliest_s, full.latest_s],
        "changes": [
            {
                "at_s": change.at_s,
                "at_interval_s": [change.from_s, change.to_s],
                "before": change.before,
                "after": change.after,
                "change": change.change,
                "change_interval": [change.low, change.high],
                "p_value": change.p_value,
            }
            for change in each.changes
        ],
    }


def _stall_document(each: Periodic) -> dict[str, Any]:
    return {
        "period_s": each.period_s,
        "period_interval_s": [each.low_s, each.high_s],
        "first_at_s": each.first_s,
        "stalls": each.count,
        "stalls_expected": each.expected,
        "slowest_ns": round(each.slowest_ns),
        "length_ns": round(each.length_s * NS_PER_S),
        "p_value": each.p_value,
        "comes_with": [_cause_document(one) for one in each.comes_with],
    }


def _cause_document(each: With) -> dict[str, Any]:
    return {"what": each.name, "share": each.share, "usual_share": each.usual, "p_value": each.p_value}


def _part_document(each: SoakTrial) -> dict[str, Any]:
    return {
        "stage": each.probe.stage,
        "number": each.probe.number,
        "rate_ops_per_s": each.probe.rate_ops_per_s,
        "asked_s": each.probe.duration_s,
        "measured_s": each.measured_s,
        "throughput_ops_per_s": each.throughput_ops_per_s,
        "ended_by": each.ended_by,
    }
