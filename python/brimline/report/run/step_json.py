"""Owns what the JSON of a run says of operations that are their author's own: their steps, and loads apart."""

from collections.abc import Mapping, Sequence
from typing import Any

from brimline.analysis.latency import Latency
from brimline.analysis.loads import answered_ops_per_s, loads_beside, offered_ops_per_s
from brimline.analysis.step_truth import StepTruth
from brimline.plan.pacing import describe_load
from brimline.record.model import RunRecord
from brimline.record.plans import StepPlan


def step_documents(truths: Sequence[StepTruth], operation: str) -> Mapping[str, Any]:
    """The steps of one operation by name."""
    return {truth.step: _step_document(truth) for truth in truths if truth.operation == operation}


def _step_document(truth: StepTruth) -> dict[str, Any]:
    return {
        "command": truth.sample_command or None,
        "sent": truth.sent,
        "samples": truth.samples,
        "failed": truth.failed,
        "error_rate": truth.failed_share,
        "documents": truth.documents,
        "bytes_per_reply": truth.bytes_per_reply,
        "service": _service_document(truth.service),
        "server_time_share": truth.server_share,
        "server_time_is_apportioned": truth.shares_class,
        "plan_at_start": _plan_document(truth.start),
        "plan_at_end": _plan_document(truth.end),
        "plan_changed": truth.has_changed,
    }


def _service_document(service: Latency | None) -> dict[str, Any] | None:
    if service is None:
        return None
    return {
        "count": service.count,
        "mean_ns": service.mean_ns,
        "p50_ns": service.p50_ns,
        "p99_ns": service.p99_ns,
        "p99_interval_ns": [service.p99.low_ns, service.p99.high_ns],
        "p99_enough_samples": service.p99.is_figure,
        "max_ns": service.max_ns,
    }


def _plan_document(plan: StepPlan | None) -> dict[str, Any] | None:
    if plan is None:
        return None
    return {
        "explained_with_null": bool(plan["has_null"]),
        "plan_summary": plan["plan_summary"],
        "index_names": plan["index_names"],
        "keys_examined": plan["keys_examined"],
        "docs_examined": plan["docs_examined"],
        "n_returned": plan["n_returned"],
        "in_memory_sort": plan["in_memory_sort"],
        "index_could_sort": plan["index_could_sort"],
        "sort_used_disk": plan["sort_used_disk"],
        "collection_scan": plan["collection_scan"],
    }


def loads_document(record: RunRecord) -> list[dict[str, Any]]:
    """The loads beside the workload's; empty without any."""
    return [_load_document(part) for part in loads_beside(record)]


def _load_document(part: RunRecord) -> dict[str, Any]:
    return {
        "operations": list(dict.fromkeys(row["operation"] for row in part.operations)),
        "load_model": describe_load(part.plan),
        "connections": part.plan.connections,
        "offered_ops_per_s": offered_ops_per_s(part),
        "throughput_ops_per_s": answered_ops_per_s(part) or 0.0,
        "overdue": part.summary["overdue"] if part.summary else None,
    }
