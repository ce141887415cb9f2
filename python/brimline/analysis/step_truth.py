"""Owns what each step of an author's own operations was, as seen from both sides: its times, and how it is executed.

The server is asked how it executes a step before the load and after it (`record.plans`). What of its time a step took
is known from `opLatencies`, which tells reads, writes and other commands apart: of a class of one step exactly, of one
of several in proportion to the service times of its steps. Nothing is known of a class to which others belong as well,
as the oplog reads of a set's members do to reads.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from brimline.analysis.latency import Latency, step_latency
from brimline.analysis.observation import Observation
from brimline.analysis.server_window import ServerWindow
from brimline.plan.model import OperationsWork
from brimline.plan.operations import OperationPlan, Step
from brimline.plan.requests import StatementRequest
from brimline.record.model import OperationRow, RunRecord, StepRow, finished_count
from brimline.record.plans import StepPlan, step_plans
from brimline.units import NS_PER_S, UNKNOWN_TEXT
from brimline.wording import Verbatim, joined, message, shortened

_READS = frozenset({"find", "aggregate", "count", "distinct"})
_WRITES = frozenset({"insert", "update", "delete", "findAndModify", "findandmodify"})
_CLASSES = ("reads", "writes", "commands")
_NAMED_MAX, _NAME_LENGTH_MAX = 3, 40
_OWN_SHARE_MIN = 0.9
"""Of what the server counts in a class, the share that must be the run's own for its time to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTruth:
    """One step over the measured window; `is_alone`: it is all that its operation does.

    `start` and `end`: how the server executed it before the load and after it, None where it wasn't told. `samples` are
    the commands that ended. `server_share`: what of the server's time it took, None where that isn't known;
    `shares_class`: it is apportioned among several steps. `is_statement`: it is one of SQL.
    """

    operation: str
    step: str
    is_alone: bool
    command: str
    collection: str | None
    start: StepPlan | None
    end: StepPlan | None
    sent: int
    samples: int
    failed: int
    documents: int
    bytes_in: int
    service: Latency | None
    server_share: float | None = None
    shares_class: bool = False
    is_statement: bool = False

    @property
    def label(self) -> str:
        """What it is called among those of all operations."""
        if self.is_alone:
            return Verbatim(self.operation)
        return message("{operation}: {step}", operation=Verbatim(self.operation), step=Verbatim(self.step))

    @property
    def plan(self) -> StepPlan | None:
        """How it was executed in the end, else before the load."""
        return self.end or self.start

    @property
    def was_sent(self) -> bool:
        """Whether the run executed it at all."""
        return bool(self.sent or self.samples)

    @property
    def failed_share(self) -> float:
        """Share of those that ended."""
        return self.failed / self.samples if self.samples else 0.0

    @property
    def bytes_per_reply(self) -> float | None:
        """Of those that were answered, failures included; None without any."""
        return self.bytes_in / self.samples if self.samples else None

    @property
    def has_changed(self) -> bool:
        """Whether the server executed it otherwise in the end."""
        before, after = (None if plan is None else plan["plan_summary"] for plan in (self.start, self.end))
        return None not in (before, after) and before != after

    @property
    def sorts_in_vain(self) -> bool:
        """Whether it sorted what an index could have brought in order. Older records don't tell groups apart."""
        plan = self.plan
        return plan is not None and bool(plan["in_memory_sort"]) and plan["index_could_sort"] is not False

    @property
    def sorts_on_disk(self) -> bool:
        """Whether a sort was too large for memory."""
        return self.plan is not None and bool(self.plan["sort_used_disk"])

    @property
    def matched_nothing(self) -> bool:
        """Whether the command that was explained found no document; of a count that isn't told."""
        return self.plan is not None and self.plan["n_returned"] == 0 and self.command != "count"

    @property
    def sample_command(self) -> str:
        """The command with values in its places, in one line; "" where it isn't known."""
        told = next((plan["command"] for plan in (self.start, self.end) if plan is not None), None)
        if told is None or isinstance(told, str):
            return told or ""
        return json.dumps(told, ensure_ascii=False, default=str)


def step_truths(record: RunRecord, observation: Observation | None) -> list[StepTruth]:
    """Every step of every operation in the plan's order; none of a run of other work.

    Without an observation an operation of one step has no times.
    """
    work = record.plan.work
    if not isinstance(work, OperationsWork):
        return []
    plans = (step_plans(record.plans, "start"), step_plans(record.plans, "end"))
    operation_rows = [row for row in record.operations if row["phase"] == "measure"]
    step_rows = [row for row in record.steps if row["phase"] == "measure"]
    truths = []
    for operation in work.operations:
        alone = len(operation.steps) == 1
        for step in operation.steps:
            rows: Sequence[OperationRow | StepRow] = (
                [row for row in operation_rows if row["operation"] == operation.name]
                if alone
                else [row for row in step_rows if (row["operation"], row["step"]) == (operation.name, step.name)]
            )
            service = (
                (None if observation is None else observation.latency(operation.name, "service"))
                if alone
                else step_latency(record, operation.name, step.name)
            )
            truths.append(_truth(operation, step, rows, service, plans))
    return _with_server_shares(truths, record)


def _truth(
    operation: OperationPlan,
    step: Step,
    rows: Sequence[OperationRow | StepRow],
    service: Latency | None,
    plans: tuple[Mapping[tuple[str, str], StepPlan], Mapping[tuple[str, str], StepPlan]],
) -> StepTruth:
    key = (operation.name, step.name)
    failed = sum(row["failed"] for row in rows)
    return StepTruth(
        operation=operation.name,
        step=step.name,
        is_alone=len(operation.steps) == 1,
        command=step.command,
        collection=step.collection,
        start=plans[0].get(key),
        end=plans[1].get(key),
        sent=sum(row["sent"] for row in rows),
        samples=finished_count(rows),
        failed=failed,
        documents=sum(row["documents"] for row in rows),
        bytes_in=sum(row["bytes_in"] for row in rows),
        service=service,
        is_statement=isinstance(step.request, StatementRequest),
    )


def _with_server_shares(truths: Sequence[StepTruth], record: RunRecord) -> list[StepTruth]:
    measured = [row for row in record.intervals if row["phase"] == "measure"]
    if not measured:
        return list(truths)
    window = ServerWindow.of(record.server, start_ns=measured[0]["start_ns"], end_ns=measured[-1]["end_ns"])
    spent = {kind: window.growth(f"{kind}_latency_us") for kind in _CLASSES}
    whole = sum(time for time in spent.values() if time is not None)
    own = Counter({"reads": _further_replies(record)})
    for truth in truths:
        own[_class(truth)] += truth.samples
    known = {
        kind: time
        for kind, time in spent.items()
        if time is not None and own[kind] >= _OWN_SHARE_MIN * (window.growth(f"{kind}_ops") or 0)
    }
    steps_of = Counter(_class(truth) for truth in truths if truth.samples)
    served = Counter[str]()
    for truth in truths:
        served[_class(truth)] += round(_served_ns(truth))
    found = []
    for truth in truths:
        kind = _class(truth)
        if not whole or kind not in known or not served[kind]:
            found.append(truth)
            continue
        share = known[kind] / whole * (_served_ns(truth) / served[kind])
        found.append(replace(truth, server_share=share, shares_class=steps_of[kind] > 1))
    return found


def _further_replies(record: RunRecord) -> int:
    """How many further replies of cursors the measured window had, by its share of the run."""
    summary = record.summary
    more = summary.get("command_names", {}).get("getMore") if summary is not None else None
    if summary is None or more is None or not summary["elapsed_ns"]:
        return 0
    return round(more["answered"] * min(1.0, record.measured_s * NS_PER_S / summary["elapsed_ns"]))


def _class(truth: StepTruth) -> str:
    return "reads" if truth.command in _READS else "writes" if truth.command in _WRITES else "commands"


def _served_ns(truth: StepTruth) -> float:
    return 0.0 if truth.service is None else truth.service.mean_ns * truth.service.count


def plan_summaries(record: RunRecord) -> dict[str, str]:
    """How the server executed each step that could be explained, by the step's name; none of a run of other work."""
    return {truth.label: plan_text(truth.plan) for truth in step_truths(record, None) if truth.plan is not None}


def plan_text(plan: StepPlan) -> str:
    """The server's own summary, and whether it sorts."""
    told = Verbatim(plan["plan_summary"] or UNKNOWN_TEXT)
    if plan["sort_used_disk"]:
        return message("{plan}, sorts on disk", plan=told)
    if plan["in_memory_sort"] and plan["index_could_sort"] is False:
        return message("{plan}, sorts what it made in memory", plan=told)
    return message("{plan}, sorts in memory", plan=told) if plan["in_memory_sort"] else told


def plan_remarks(truths: Sequence[StepTruth]) -> list[str]:
    """What stands out of how steps were executed, a sentence each without its period.

    A sort in memory of groups that the step made itself doesn't: they are few, and no index has them in order.
    """
    truths = [truth for truth in truths if truth.was_sent]
    scans = [truth for truth in truths if truth.plan is not None and truth.plan["collection_scan"]]
    on_disk = [truth for truth in truths if truth.sorts_on_disk]
    sorts = [truth for truth in truths if truth.sorts_in_vain and not truth.sorts_on_disk]
    changed = [truth for truth in truths if truth.has_changed]
    remarks: list[str] = []
    of_tables = [truth for truth in scans if truth.is_statement]
    of_collections = [truth for truth in scans if not truth.is_statement]
    if of_collections:
        remarks.append(message("a whole collection is gone through by {steps}", steps=_named(of_collections)))
    if of_tables:
        remarks.append(message("a whole table is scanned by {steps}", steps=_named(of_tables)))
    if sorts:
        remarks.append(message("sorted in memory by {steps}", steps=_named(sorts)))
    if on_disk:
        remarks.append(message("sorted on disk by {steps}", steps=_named(on_disk)))
    for truth in changed[:_NAMED_MAX]:
        assert truth.start is not None and truth.end is not None  # noqa: S101 - it has changed
        remarks.append(
            message(
                "the plan of {step} changed from {before} to {after}",
                step=_short(truth),
                before=Verbatim(truth.start["plan_summary"] or ""),
                after=Verbatim(truth.end["plan_summary"] or ""),
            )
        )
    if len(changed) > _NAMED_MAX:
        remarks.append(message("{count} further plans changed", count=len(changed) - _NAMED_MAX))
    return remarks


def _short(truth: StepTruth) -> str:
    """Its name in a sentence, where several have to fit."""
    label = truth.label
    return label if len(label) <= _NAME_LENGTH_MAX else Verbatim(shortened(label, _NAME_LENGTH_MAX))


def _named(truths: Sequence[StepTruth]) -> str:
    """The steps with their collections."""
    parts = [
        _short(truth)
        if truth.collection is None
        else message("{step} ({collection})", step=_short(truth), collection=Verbatim(truth.collection))
        for truth in truths[:_NAMED_MAX]
    ]
    left = len(truths) - _NAMED_MAX
    named = joined(", ", parts)
    return named if left <= 0 else message("{named} and {more} more", named=named, more=left)
