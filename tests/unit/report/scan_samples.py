"""A scan with known answers, for tests of its report."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from brimline.analysis.scan_figures import Execution, Touch
from brimline.experiments.scan.order import ScanProbe
from brimline.experiments.scan.runner import AS_FOUND, RESTARTED
from brimline.record import ExperimentRecord, ExperimentWriter, read_experiment
from brimline.record.scan import write_explanation, write_scan_trial
from brimline.spec.scans import ScansSpec
from tests.unit.report.report_samples import ENVIRONMENT, SPEC

S = 1_000_000_000
SCANS = ScansSpec.model_validate(
    {
        "indexes": [{"time": 1}],
        "scenarios": [
            {"name": "A", "range": {"field": "time", "widths": [10_000, 100_000, 1_000_000]}, "plan": "no SORT"},
            {"name": "B", "filter": {"level": "ERROR"}, "plan": "IXSCAN {level: 1}", "documents": 8},
            {"name": "C", "filter": {"level": {"$foo": 1}}},
        ],
    }
)


def execution(touch: Touch, elapsed_s: float, *, documents: int, pages_read: int) -> Execution:
    """One that examined as many documents as came."""
    return Execution(
        touch=touch,
        documents=documents,
        bytes=documents * 500,
        batches=3,
        first_reply_ns=1_000_000,
        elapsed_ns=round(elapsed_s * S),
        client_cpu_ns=round(elapsed_s * S / 20),
        keys_examined=documents,
        documents_examined=documents,
        cache_read_bytes=pages_read * 30_000,
        cache_pages_read=pages_read,
        cache_pages_requested=1_000,
    )


def make_scan(directory: Path, *, ended_by: str = "completed") -> ExperimentRecord:
    """2 ms and 1 µs per entry; A as expected, B with another plan and count, C refused."""
    settings = {
        "scans": SCANS.model_dump(mode="json", exclude_none=True),
        "seed": 1,
        "document_count": 2_000_000,
        "indexes_built": ["time_1"],
    }
    with ExperimentWriter(
        directory, kind="scan", name="log", settings=settings, spec_text=SPEC, environment=ENVIRONMENT
    ) as writer:
        for width in (10_000, 100_000, 1_000_000):
            time_s = 0.002 + width * 1e-6
            executions = [
                execution("first", 5 * time_s, documents=width, pages_read=900),
                *(execution("steady", time_s * wobble, documents=width, pages_read=0) for wobble in (0.99, 1.01, 1.0)),
            ]
            _trial(writer, ScanProbe(scenario=0, name="A", width=width), executions, examined=width)
        full = [execution(touch, 1.5, documents=7, pages_read=10) for touch in ("first", "steady")]
        _trial(writer, ScanProbe(scenario=1, name="B"), full, examined=7, private=False)
        _trial(writer, ScanProbe(scenario=2, name="C"), [], examined=None, refused=True)
        writer.seal(ended_by=ended_by)
    return read_experiment(directory)


def _trial(
    writer: ExperimentWriter,
    probe: ScanProbe,
    executions: Sequence[Execution],
    *,
    examined: int | None,
    private: bool = True,
    refused: bool = False,
) -> None:
    directory = writer.begin_trial(asdict(probe), stage="scan", label=probe.label)
    values = {
        "executions": [asdict(each) for each in executions],
        "first_touch": RESTARTED if private else AS_FOUND,
        "refusal": {"code": 2, "code_name": "BadValue", "text": "unknown operator: $foo"} if refused else None,
        "document_bytes": 500.0,
        "private": private,
        "command": "{}",
    }
    write_scan_trial(directory, values, ended_by="completed")
    if examined is not None:
        stage = {"stage": "FETCH", "inputStage": {"stage": "IXSCAN", "keyPattern": {"time": 1}, "indexName": "time_1"}}
        counts = {"nReturned": examined, "totalKeysExamined": examined, "totalDocsExamined": examined}
        answer = {"queryPlanner": {"winningPlan": stage}, "executionStats": {**counts, "executionTimeMillis": 9}}
        write_explanation(directory, answer)
    writer.end_trial(directory, took_s=1.0)
