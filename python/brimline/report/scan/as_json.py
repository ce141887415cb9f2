"""Owns a scan as JSON: stable keys, the unit in every key."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from brimline.analysis.finding import Finding
from brimline.analysis.scan_figures import ScanTrial
from brimline.analysis.scan_rule import RangeFit, Validity
from brimline.record.experiment import ExperimentRecord
from brimline.report.document import FORMAT_VERSION
from brimline.spec.scans import ScansSpec
from brimline.stats.line import Bounds


def scan_document(
    experiment: ExperimentRecord,
    scans: ScansSpec,
    trials: Sequence[ScanTrial],
    fits: Sequence[RangeFit],
    findings: Sequence[Finding],
) -> dict[str, Any]:
    """Everything that the report of a scan says, for machines."""
    return {
        "format_version": FORMAT_VERSION,
        "kind": "scan",
        "name": experiment.name,
        "record": str(experiment.directory),
        "brimline_version": experiment.brimline_version,
        "ended_by": experiment.ended_by,
        "message": experiment.message,
        "answer_within_ns": scans.answer_within_ns,
        "document_count": experiment.settings.get("document_count"),
        "indexes_built": experiment.settings.get("indexes_built", []),
        "rules": [_rule(fit) for fit in fits],
        "scenarios": [_scenario(trial) for trial in trials],
        "checks": [
            {"name": each.name, "verdict": each.verdict.value, "evidence": str(each.evidence)} for each in findings
        ],
    }


def _rule(fit: RangeFit) -> dict[str, Any]:
    rule = fit.rule
    known = rule.validity is not Validity.BOUND
    return {
        "scenario": fit.scenario,
        "rule": str(fit.rule_text),
        "validity": rule.validity.value,
        "entries_max": rule.entries.value if known else None,
        "entries_interval": interval(rule.entries) if known else None,
        "entries_more_than": rule.entries.value if not known and rule.above else None,
        "entries_less_than": rule.entries.value if not known and not rule.above else None,
        "measured_entries": [fit.line.x_low, fit.line.x_high],
        "linear": fit.linear,
        "linearity": str(fit.linearity_text),
        # No ratio where the smaller ranges make no rising line.
        "largest_over_line_of_others": fit.departure.value if math.isfinite(fit.departure.value) else None,
        "largest_over_line_of_others_interval": interval(fit.departure),
        "intercept_ns": fit.line.intercept,
        "intercept_interval_ns": interval(fit.line.intercept_bounds()),
        "slope_ns_per_entry": fit.line.slope,
        "slope_interval_ns_per_entry": interval(fit.line.slope_bounds()),
    }


def _scenario(trial: ScanTrial) -> dict[str, Any]:
    plan, first, time = trial.plan, trial.first, trial.time_ns
    return {
        "scenario": trial.scenario,
        "width": trial.width,
        "command": trial.question,
        "plan": None if plan is None else plan.summary,
        "expected_plan": [stage.text for stage in trial.expected_plan],
        "broken": [str(problem) for problem in trial.broken],
        "refusal": None if trial.refusal is None else asdict(trial.refusal),
        "ended": trial.ended,
        "keys_examined": None if plan is None else plan.keys_examined,
        "documents_examined": None if plan is None else plan.documents_examined,
        "documents_returned": None if plan is None else plan.returned,
        "documents_drained": trial.documents,
        "server_time_ms": None if plan is None else plan.execution_ms,
        "steady_time_ns": None if time is None else time.value,
        "steady_time_interval_ns": None if time is None else interval(time),
        "entries_per_s": _value(trial.entries_per_s),
        "entries_interval_per_s": interval(trial.entries_per_s),
        "documents_examined_per_s": _value(trial.documents_per_s),
        "bytes_examined_per_s": _value(trial.bytes_per_s),
        "bytes_received_per_s": _value(trial.received_bytes_per_s),
        "document_bytes": trial.document_bytes,
        "first_touch": trial.first_touch,
        "first_time_ns": None if first is None else first.elapsed_ns,
        "first_over_steady": trial.first_to_steady,
        "client_limited": trial.client_limited,
        "executions": [
            {**asdict(each), "cache_read_share": each.cache_read_share, "client_share": each.client_share}
            for each in trial.executions
        ],
    }


def interval(bounds: Bounds | None) -> list[float] | None:
    """Low and high; None where nothing is known of the spread."""
    return None if bounds is None or bounds.low is None or bounds.high is None else [bounds.low, bounds.high]


def _value(bounds: Bounds | None) -> float | None:
    return None if bounds is None else bounds.value
