"""The statistics of a run's operations over the measured window, in the columns that JMeter's users know."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from brimline.analysis.latency import Latency
from brimline.analysis.loads import main_load
from brimline.analysis.observation import Observation
from brimline.analysis.window import done_in_window
from brimline.record.model import Clock, OperationRow, RunRecord, answered_count, finished_count
from brimline.report.load_figures import carries_documents, load_figures

TOTAL_LABEL = "Total"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationStatistics:
    """One operation kind, or all of them.

    `latency` is the response time in an open loop and the service time in a closed one; None where nothing finished.
    `samples` are the operations due in the window that finished: ok, miss and failed, in the drain too. Rates are of
    what was done in the window, whenever it was due, as the run's own throughput is: answered (ok and miss), failed,
    bytes. `documents` of the samples were inserted, None where an operation is no command with a batch of them.
    """

    label: str
    samples: int
    misses: int
    failed: int
    latency: Latency | None
    throughput_ops_per_s: float
    failed_ops_per_s: float
    received_bytes_per_s: float
    sent_bytes_per_s: float
    documents: int | None = None
    documents_per_s: float | None = None

    @property
    def unit(self) -> Literal["operation", "command"]:
        """What the samples are, and what the rates of operations count."""
        return "operation" if self.documents is None else "command"

    @property
    def error_rate(self) -> float:
        """Share of the samples that failed."""
        return self.failed / self.samples if self.samples else 0.0


def report_clock(record: RunRecord) -> Clock:
    """The clock that a report quotes: what users feel where it exists."""
    return "service" if record.closed_loop else "response"


def operation_statistics(record: RunRecord, observation: Observation) -> list[OperationStatistics]:
    """All operations of the workload's load first, as `Total`, then each by name; the times are the observation's."""
    measured = [row for row in record.operations if row["phase"] == "measure"]
    clock = report_clock(record)
    kinds = sorted({row["operation"] for row in measured})
    load = load_figures(record)
    # Half of a short load's commands are answered after the last was sent.
    span_s = record.measured_s if load is None else load.elapsed_s
    done = done_in_window(record) if load is None else measured
    batched = [carries_documents(record, kind) for kind in kinds]
    all_batched = load is not None or (bool(kinds) and all(batched))
    main = main_load(record)
    due_of_main = [row for row in main.operations if row["phase"] == "measure"]
    done_of_main = done if main is record else done_in_window(main)
    total = _statistics(
        TOTAL_LABEL, due_of_main, done_of_main, observation.latency(None, clock), span_s, batched=all_batched
    )
    of_kinds = [
        _statistics(kind, _of(kind, measured), _of(kind, done), observation.latency(kind, clock), span_s, batched=each)
        for kind, each in zip(kinds, batched, strict=True)
    ]
    return [total, *of_kinds]


def _of(kind: str, rows: Sequence[OperationRow]) -> list[OperationRow]:
    return [row for row in rows if row["operation"] == kind]


def _statistics(
    label: str,
    rows: Sequence[OperationRow],
    done: Sequence[OperationRow],
    latency: Latency | None,
    measured_s: float,
    *,
    batched: bool,
) -> OperationStatistics:
    """`rows` are of what was due in the window, `done` of what was done in it. `batched`: commands with documents."""
    samples = finished_count(rows)
    per_s = 1 / measured_s if measured_s else 0.0
    failed = sum(row["failed"] for row in rows)
    return OperationStatistics(
        label=label,
        samples=samples,
        misses=sum(row["miss"] for row in rows),
        failed=failed,
        latency=latency,
        throughput_ops_per_s=answered_count(done) * per_s,
        failed_ops_per_s=sum(row["failed"] for row in done) * per_s,
        received_bytes_per_s=sum(row["bytes_in"] for row in done) * per_s,
        sent_bytes_per_s=sum(row["bytes_out"] for row in done) * per_s,
        documents=sum(row["documents"] for row in rows) if batched else None,
        documents_per_s=sum(row["documents"] for row in done) * per_s if batched else None,
    )
