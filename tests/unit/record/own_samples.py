"""A small run of operations of the author's own: `place_order` of two steps, `latest orders` of one."""

from typing import Any

from brimline.record.model import Samples, StepSampleRow, Summary
from tests.unit.record.fake_histogram import encoded
from tests.unit.record.samples import SECOND_NS, interval_row, operation_row, summary

STEPS = ("find customers", "insert 2.5 %, Müller/Söhne")


def step_row(second: int, step: str, **changes: Any) -> StepSampleRow:
    """Two steps that went well, of 1 and 2 ms."""
    row: dict[str, Any] = {
        "phase": "warmup" if second < 2 else "measure",
        "start_ns": second * SECOND_NS,
        "end_ns": (second + 1) * SECOND_NS,
        "operation": "place_order",
        "step": step,
        "sent": 2,
        "ok": 2,
        "miss": 0,
        "failed": 0,
        "documents": 1,
        "bytes_out": 100,
        "bytes_in": 1000,
        "service": encoded(1_000_000, 2_000_000),
    }
    return StepSampleRow(**(row | changes))  # type: ignore[typeddict-item]


def own_samples(second: int) -> Samples:
    return {
        "operations": [operation_row(second, "latest orders"), operation_row(second, "place_order")],
        "steps": [step_row(second, step) for step in STEPS],
        "intervals": [interval_row(second)],
    }


def own_summary(**changes: Any) -> Summary:
    """The totals of `own_samples(0)` to `own_samples(4)`."""
    ten = {"sent": 10, "ok": 10, "miss": 0, "failed": 0}
    values: dict[str, Any] = {
        "ok": 20,
        "miss": 0,
        "failed": 0,
        "operations": {name: {**ten, "unfinished": 0} for name in ("latest orders", "place_order")},
        "steps": {"place_order": dict.fromkeys(STEPS, ten)},
        "commands": {"query": 20, "insert": 10},
        "command_names": {"find": {"answered": 20, "uncertain": 0}, "insert": {"answered": 10, "uncertain": 0}},
        "document_counts": {"inserted": 10, "returned": 15},
        "errors": [],
    }
    return summary(**(values | changes))
