"""A run's findings as JSON: stable keys, the unit in every key, times in ns."""

from collections.abc import Mapping, Sequence
from typing import Any

from brimline.analysis.finding import Finding
from brimline.analysis.held import Held
from brimline.analysis.host_use import other_programs_share
from brimline.analysis.latency import Latency
from brimline.analysis.monitor_cost import monitor_cost
from brimline.analysis.nodes import node_figures
from brimline.analysis.objective import Slo
from brimline.analysis.observation import Observation
from brimline.analysis.outages import outages_of
from brimline.analysis.silence import Silence
from brimline.analysis.steady import SteadyState
from brimline.analysis.step_truth import StepTruth, plan_remarks
from brimline.analysis.unsent import not_begun
from brimline.analysis.verdict import Judgement, judge_objective, proves_nothing, why_nothing
from brimline.record.model import CLOCKS, OperationRow, RunRecord, drivers_of
from brimline.report.distribution import distribution_document
from brimline.report.document import FORMAT_VERSION
from brimline.report.limit import run_limit_document
from brimline.report.load_figures import load_document
from brimline.report.run.parts_table import part_times, request_part_times
from brimline.report.run.step_json import loads_document, step_documents
from brimline.report.run_nodes import nodes_document
from brimline.report.statistics import OperationStatistics
from brimline.stats.estimate import Estimate
from brimline.wording import joined

_QUANTILES = {
    "p50": 0.5,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p999": 0.999,
    "p9999": 0.9999,
}


def run_document(
    record: RunRecord,
    observation: Observation,
    statistics: Sequence[OperationStatistics],
    *,
    slo: Slo | None,
    judgement: Judgement | None,
    held: Held | None = None,
    truths: Sequence[StepTruth] = (),
) -> dict[str, Any]:
    """Everything that the report of a run says, for machines."""
    load = load_document(record)
    return {
        "format_version": FORMAT_VERSION,
        "kind": "run",
        "name": record.name,
        "record": str(record.directory),
        "brimline_version": record.brimline_version,
        "ended_by": record.ended_by,
        "message": record.message,
        "verdict": verdict_document(observation, judgement),
        "objective": None if slo is None else slo_document(slo),
        "objectives": objectives_document(judgement),
        "planned_s": None if record.plan.duration_ns is None else record.plan.duration_ns / 1e9,
        **observation_document(observation),
        # What "throughput_ops_per_s" counts: of a load insert commands, whose documents have a rate of their own.
        "operation_unit": statistics[0].unit,
        "throughput_documents_per_s": statistics[0].documents_per_s,
        **({} if load is None else {"load": load}),
        "counts": _counts(record),
        "counts_whole_run": _counts_whole_run(record),
        "operations": {row.label: _statistics_document(record, observation, row, truths) for row in statistics[1:]},
        "loads_apart": loads_document(record),
        "plan_remarks": list(plan_remarks(truths)),
        "bottleneck": run_limit_document(observation),
        "errors": record.summary["errors"] if record.summary else [],
        "outages": list(outages_of(record)),
        "longest_without_answer": _silence_document(observation.silence),
        "held_until_lost": None if held is None else _held_document(held, slo),
        "connects": record.summary.get("connects") if record.summary else None,
        "looks": record.summary.get("looks") if record.summary else None,
        "drivers": [dict(each) for each in drivers_of(record.summary)],
        "nodes": nodes_document(node_figures(record)),
        "opcounters": record.opcounters,
        "distribution": distribution_document(record.server_facts),
        "monitor": _monitor_document(record),
        "operations_hash": record.summary["operations_hash"] if record.summary else None,
        "plan_hash": record.plan.hash8(),
        "seed": record.plan.seed,
    }


def _silence_document(silence: Silence | None) -> dict[str, Any] | None:
    """The longest time in which nothing was answered; null where something always was."""
    if silence is None:
        return None
    return {
        "from_ns": silence.from_ns,
        "length_ns": silence.length_ns,
        "ended": silence.ended,
        "cause": silence.cause,
        "primary_afterwards": silence.primary or None,
        "text": silence.text,
    }


def _held_document(held: Held, slo: Slo | None) -> dict[str, Any]:
    """What the run showed until its server was lost."""
    seen = held.observation
    judged = None if slo is None or seen.closed_loop else judge_objective(seen, slo)
    return {
        "until_ns": held.until_ns,
        "verdict": None if judged is None else judged.verdict.value,
        "measured_s": seen.measured_s,
        "throughput_ops_per_s": seen.throughput_ops_per_s,
        "response": _latency_document(seen.response),
        "service": _latency_document(seen.service),
    }


def verdict_document(observation: Observation, judgement: Judgement | None) -> dict[str, Any]:
    """`value` is pass, fail, inconclusive or invalid, null without an objective."""
    if proves_nothing(observation, judgement):
        return {"value": "invalid", "reasons": list(why_nothing(observation, judgement))}
    if judgement is None:
        return {"value": None, "reasons": []}
    return {"value": judgement.verdict.value, "reasons": list(judgement.reasons)}


def observation_document(observation: Observation) -> dict[str, Any]:
    """The figures of one run over its measured window."""
    return {
        "connections": observation.connections,
        "in_flight_max": observation.in_flight_max,
        "load": observation.load,
        "load_model": observation.load,  # a run has its figures as a load under "load"
        "closed_loop": observation.closed_loop,
        "back_to_back": observation.back_to_back,
        "measured_s": observation.measured_s,
        "offered_ops_per_s": observation.offered_ops_per_s,
        "throughput_ops_per_s": observation.throughput_ops_per_s,
        "throughput_interval_ops_per_s": interval_document(observation.throughput),
        "completed_share": observation.completed_share,
        "mean_in_flight": observation.mean_in_flight,
        "response": _latency_document(observation.response),
        "service": _latency_document(observation.service),
        "lag": _latency_document(observation.lag),
        "error_rate": observation.error_rate,
        "miss_rate": observation.miss_rate,
        "overdue": observation.overdue,
        "held_back_share": observation.held_back_share,
        "client_cpu_ns_per_op": observation.client_cpu_ns_per_op,
        "generator_busiest_thread_share": observation.generator.busiest_thread_share,
        "server_cpu_share": observation.server.server_share,
        "host_cpu_share": observation.server.host_share,
        "host_cpu_share_of_others": other_programs_share(observation.server, observation.generator),
        "cpus_used_by_member": dict(observation.server.members),
        "cpus_used_by_other_program": dict(observation.server.others),
        "steady_state": steady_document(observation.steady),
        "checks": [_finding_document(finding) for finding in observation.findings],
    }


def steady_document(steady: SteadyState | None) -> dict[str, Any] | None:
    """Whether the run was steady and from when on; null of a run that isn't meant to be."""
    if steady is None:
        return None
    return {
        "result": steady.verdict.value,
        "warmup_planned_end_ns": steady.planned_end_ns,
        "warmup_found_end_ns": steady.warmup_end_ns,
        "warmup_found_ns": steady.warmup_found_ns,
        "evidence": steady.evidence,
        "checks": [_finding_document(check) for check in steady.checks],
    }


def objectives_document(judgement: Judgement | None) -> list[dict[str, str]]:
    """How each limit of the objective came out; empty without an objective."""
    results = () if judgement is None else judgement.objectives
    return [
        {
            "text": each.text,
            "result": each.verdict.value,
            "evidence": each.evidence,
            "figure": each.figure,
            "decided_by": joined("; ", list(filter(None, (each.decided_by, each.basis)))),
        }
        for each in results
    ]


def slo_document(slo: Slo) -> dict[str, Any]:
    """The objective: all its limits, and those on all operations under keys of their own."""
    return {
        "response_p99_ns": next(
            (each.limit_ns for each in slo.latencies if each.key == (None, "response", 0.99)), None
        ),
        "error_rate_max": slo.error_rate_max,
        "completed_share_min": slo.completed_share_min,
        "objectives": [
            *(
                {
                    "text": each.text,
                    "operation": each.operation,
                    "clock": each.clock,
                    "quantile": each.quantile,
                    "limit_ns": each.limit_ns,
                }
                for each in slo.latencies
            ),
            *(
                {"text": each.text, "operation": each.operation, "error_rate_max": each.share_max}
                for each in slo.errors
            ),
        ],
    }


def interval_document(estimate: Estimate | None) -> list[float] | None:
    """Low and high end, null without an interval."""
    return None if estimate is None else [estimate.low, estimate.high]


def _monitor_document(record: RunRecord) -> dict[str, Any]:
    """What watching the server cost, null where it isn't known, what could not be watched, why, and its host."""
    cost = monitor_cost(record)
    known = (
        {}
        if cost is None
        else {
            "server_cpu_share": cost.server_share,
            "server_cpu_ns_per_s": cost.server_ns_per_s,
            "server_cpu_is_bound": not cost.exact,
            "own_cpu_ns_per_s": cost.monitor_ns_per_s,
        }
    )
    told = record.server_facts.get("monitor", {})
    return {"cost": known or None, "absent": told.get("absent", []), "host": told.get("host")}


def _latency_document(latency: Latency | None) -> dict[str, Any] | None:
    if latency is None:
        return None
    return {
        "count": latency.count,
        "never_completed": latency.missing,
        "mean_ns": latency.mean_ns,
        "p50_ns": latency.p50_ns,
        "p95_ns": latency.p95_ns,
        "p90_ns": latency.quantiles[0.9].known_ns,
        "p99_ns": latency.p99_ns,
        "p999_ns": latency.p999_ns,
        **_interval_keys(latency),
        "max_ns": latency.max_ns,
        "never_completed_waited_ns": latency.oldest_missing_ns,
    }


def _finding_document(finding: Finding) -> dict[str, str]:
    return {"name": finding.name, "result": finding.verdict.value, "evidence": finding.evidence}


def _counts(record: RunRecord) -> Mapping[str, Any]:
    """Measured window, by outcome and by kind and outcome.

    What was sent in the window but ended after it is not among its outcomes, and the other way round.
    """
    rows = [row for row in record.operations if row["phase"] == "measure"]
    kinds = sorted({row["operation"] for row in rows})
    return {
        **_outcomes(rows),
        "by_operation": {kind: _outcomes([row for row in rows if row["operation"] == kind]) for kind in kinds},
    }


def _outcomes(rows: Sequence[OperationRow]) -> dict[str, int]:
    return {
        "sent": sum(row["sent"] for row in rows),
        "ok": sum(row["ok"] for row in rows),
        "miss": sum(row["miss"] for row in rows),
        "failed": sum(row["failed"] for row in rows),
    }


def _counts_whole_run(record: RunRecord) -> Mapping[str, Any] | None:
    """Whole run, warm-up included, by outcome and by kind and outcome; null when the run was not sealed."""
    summary = record.summary
    if summary is None:
        return None
    left = not_begun(record)
    return {
        "planned": summary["due"] + left,
        "not_begun": left,
        "due": summary["due"],
        "sent": summary["sent"],
        "overdue": summary["overdue"],
        "oldest_overdue_ns": summary["oldest_overdue_ns"],
        "ok": summary["ok"],
        "miss": summary["miss"],
        "failed": summary["failed"],
        "unfinished": summary["unfinished"],
        "oldest_unfinished_ns": summary["oldest_unfinished_ns"],
        "by_operation": summary["operations"],
    }


def _statistics_document(
    record: RunRecord, observation: Observation, row: OperationStatistics, truths: Sequence[StepTruth]
) -> dict[str, Any]:
    clocks: dict[str, dict[str, Any]] = {
        clock: _kind_document(known) for clock in CLOCKS if (known := observation.latency(row.label, clock)) is not None
    }
    return {
        "unit": row.unit,
        "samples": row.samples,
        "miss": row.misses,
        "failed": row.failed,
        "error_rate": row.error_rate,
        "throughput_ops_per_s": row.throughput_ops_per_s,
        "failed_ops_per_s": row.failed_ops_per_s,
        "received_bytes_per_s": row.received_bytes_per_s,
        "sent_bytes_per_s": row.sent_bytes_per_s,
        "documents": row.documents,
        "documents_per_s": row.documents_per_s,
        **clocks,
        "parts": {part: {"service": _kind_document(times)} for part, times in part_times(record, row.label).items()},
        "request_parts": {part: _kind_document(times) for part, times in request_part_times(record, row.label).items()},
        "steps": step_documents(truths, row.label),
    }


def _kind_document(latency: Latency) -> dict[str, Any]:
    """Percentiles are of all that was due, null where they lie among those that never completed."""
    return {
        "count": latency.count,
        "never_completed": latency.missing,
        "mean_ns": latency.mean_ns,
        "min_ns": latency.min_ns,
        **{f"{name}_ns": latency.quantiles[quantile].known_ns for name, quantile in _QUANTILES.items()},
        **_interval_keys(latency),
        "max_ns": latency.max_ns,
        "never_completed_waited_ns": latency.oldest_missing_ns,
    }


def _interval_keys(latency: Latency) -> dict[str, Any]:
    """Of each percentile its interval, and whether reports print it as a figure: else they print the lower end, ≥."""
    found: dict[str, Any] = {}
    for name, quantile in _QUANTILES.items():
        each = latency.quantiles[quantile]
        found |= {f"{name}_interval_ns": [each.low_ns, each.high_ns], f"{name}_enough_samples": each.is_figure}
    return found
