"""Owns conservation: due = sent + overdue, sent = ok + miss + failed + unfinished, rows = totals; documents too."""

from collections import Counter
from collections.abc import Mapping
from typing import Literal

from brimline.operations import KINDS
from brimline.record.model import (
    LogTotals,
    NodeRow,
    OperationRow,
    OperationTotals,
    StepRow,
    StepTotals,
    Summary,
    finished_count,
)
from brimline.units import counted

_NODE_COLUMNS: tuple[Literal["sent", "ok", "miss", "failed"], ...] = ("sent", "ok", "miss", "failed")


class RowTotals:
    """Sums of the rows written so far, by operation; memory doesn't grow with the run."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._step_counts: Counter[tuple[str, str, str]] = Counter()
        self._node_counts: Counter[tuple[int, str]] = Counter()

    def add(self, row: OperationRow) -> None:
        """Counts a row."""
        operation = row["operation"]
        self._counts[operation, "sent"] += row["sent"]
        self._counts[operation, "ok"] += row["ok"]
        self._counts[operation, "miss"] += row["miss"]
        self._counts[operation, "failed"] += row["failed"]

    def add_step(self, row: StepRow) -> None:
        """Counts a row of a step."""
        for column in ("sent", "ok", "miss", "failed"):
            self._step_counts[row["operation"], row["step"], column] += row[column]

    def add_node(self, row: NodeRow) -> None:
        """Counts a row of a node."""
        for column in _NODE_COLUMNS:
            self._node_counts[row["node"], column] += row[column]

    def of_node(self, node: int, column: str) -> int:
        """Sum of one column over one node's rows."""
        return self._node_counts[node, column]

    def of_step(self, operation: str, step: str, column: str) -> int:
        """Sum of one column over one step's rows."""
        return self._step_counts[operation, step, column]

    def steps(self) -> set[tuple[str, str]]:
        """Operation and step of all that had a row."""
        return {(operation, step) for operation, step, _ in self._step_counts}

    def get(self, operation: str, column: str) -> int:
        """Sum of one column over one operation's rows."""
        return self._counts[operation, column]

    def operations(self) -> set[str]:
        """Operations that had a row."""
        return {operation for operation, _ in self._counts}


def imbalances(summary: Summary, rows: RowTotals) -> list[str]:
    """Every equation that doesn't hold, in words; empty when all hold."""
    return [
        *_summary_imbalances(summary),
        *_row_imbalances(summary["operations"], rows),
        *_step_imbalances(summary, rows),
        *_node_imbalances(summary, rows),
    ]


def log_imbalances(summary: Summary, log: LogTotals, rows: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Where a log of operations doesn't have a row for each operation that finished, but for those known to be lost.

    `rows` is what the file holds, by operation and ending.
    """
    finished = finished_count([summary])
    held = sum(sum(by_ending.values()) for by_ending in rows.values())
    problems = []
    if held != log["written"]:
        problems.append(f"the log of operations holds {counted(held, 'row')}, and {log['written']} were written")
    if log["written"] + log["lost"] != finished:
        problems.append(
            f"{counted(finished, 'operation')} finished, and the log of operations has "
            f"{log['written']} and lost {log['lost']}"
        )
    if log["lost"]:
        return problems  # which of them are lost is not known
    none = {"ok": 0, "miss": 0, "failed": 0}
    for operation in sorted(summary["operations"].keys() | rows.keys()):
        totals = {**none, **summary["operations"].get(operation, {})}
        problems += [
            f"{operation}: the log of operations holds {count} {ending}, the totals {totals[ending]}"
            for ending, count in {**none, **rows.get(operation, {})}.items()
            if count != totals[ending]
        ]
    return problems


def verified_imbalances(summary: Summary) -> list[str]:
    """Whether every read by key that ended was verified once."""
    verified = sum(summary.get("verified", {}).values())
    ended = finished_count(
        totals
        for operation, totals in summary["operations"].items()
        if operation in KINDS and KINDS[operation].reads_by_key
    )
    return [] if verified == ended else [f"{verified} of {ended} reads by key were verified"]


def _summary_imbalances(summary: Summary) -> list[str]:
    problems = []
    if summary["due"] != summary["sent"] + summary["overdue"]:
        problems.append(f"due {summary['due']} is not sent {summary['sent']} + overdue {summary['overdue']}")
    if summary["sent"] != summary["ok"] + summary["miss"] + summary["failed"] + summary["unfinished"]:
        problems.append(
            f"sent {summary['sent']} is not ok {summary['ok']} + miss {summary['miss']}"
            f" + failed {summary['failed']} + unfinished {summary['unfinished']}"
        )
    totals = {
        "sent": (summary["sent"], sum(of["sent"] for of in summary["operations"].values())),
        "ok": (summary["ok"], sum(of["ok"] for of in summary["operations"].values())),
        "miss": (summary["miss"], sum(of["miss"] for of in summary["operations"].values())),
        "failed": (summary["failed"], sum(of["failed"] for of in summary["operations"].values())),
        "unfinished": (summary["unfinished"], sum(of["unfinished"] for of in summary["operations"].values())),
    }
    problems += [
        f"{name} {total} is not the sum {by_operation} over the operations"
        for name, (total, by_operation) in totals.items()
        if total != by_operation
    ]
    counted_failures = sum(row["count"] for row in summary["errors"])
    if counted_failures != summary["failed"]:
        problems.append(f"failed {summary['failed']} is not the sum {counted_failures} over the kinds of error")
    return [*problems, *_document_imbalances(summary)]


def _document_imbalances(summary: Summary) -> list[str]:
    inserts = summary.get("inserts")
    if inserts is None:
        return []
    problems = []
    if inserts["sent"] != inserts["inserted"] + inserts["failed"] + inserts["skipped"] + inserts["unknown"]:
        problems.append(
            f"{counted(inserts['sent'], 'document')} sent are not {inserts['inserted']} inserted "
            f"+ {inserts['failed']} failed + {inserts['skipped']} skipped + {inserts['unknown']} unknown"
        )
    refused = sum(row["count"] for row in summary.get("document_errors", []))
    if refused != inserts["failed"]:
        problems.append(f"{inserts['failed']} failed documents are not the sum {refused} over the kinds of error")
    return problems


def _row_imbalances(operations: Mapping[str, OperationTotals], rows: RowTotals) -> list[str]:
    none = OperationTotals(sent=0, ok=0, miss=0, failed=0, unfinished=0)
    problems = []
    for operation in sorted(operations.keys() | rows.operations()):
        totals = operations.get(operation, none)
        expected = {
            "sent": totals["sent"],
            "ok": totals["ok"],
            "miss": totals["miss"],
            "failed": totals["failed"],
        }
        problems += [
            f"{operation}: the rows hold {rows.get(operation, column)} {column}, the totals {count}"
            for column, count in expected.items()
            if rows.get(operation, column) != count
        ]
    return problems


def _node_imbalances(summary: Summary, rows: RowTotals) -> list[str]:
    """Of several nodes: each one's rows against its totals, and theirs together against the run's."""
    nodes = summary.get("nodes", [])
    problems = [
        f"node {node['node']}: the rows hold {rows.of_node(node['node'], column)} {column}, the totals {node[column]}"
        for node in nodes
        for column in _NODE_COLUMNS
        if rows.of_node(node["node"], column) != node[column]
    ]
    columns: tuple[Literal["due", "sent", "ok", "miss", "failed", "unfinished"], ...]
    columns = ("due", "sent", "ok", "miss", "failed", "unfinished")
    for column in columns if nodes else ():
        together = sum(node[column] for node in nodes)
        if together != summary[column]:
            problems.append(f"{column} {summary[column]} is not the sum {together} over the nodes")
    return problems


def _step_imbalances(summary: Summary, rows: RowTotals) -> list[str]:
    """Rows against totals, and each step against its operation.

    An operation that was answered has had an answer to each of its steps. It may have had several, as where a
    transaction was begun anew, and what became of a step may be left open by an operation that failed or was not over.
    """
    known = {
        (operation, step): of for operation, steps in summary.get("steps", {}).items() for step, of in steps.items()
    }
    none = StepTotals(sent=0, ok=0, miss=0, failed=0)
    problems = []
    for operation, step in sorted(known.keys() | rows.steps()):
        totals, name = known.get((operation, step), none), f"{operation}, {step}"
        counts = {"sent": totals["sent"], "ok": totals["ok"], "miss": totals["miss"], "failed": totals["failed"]}
        problems += [
            f"{name}: the rows hold {rows.of_step(operation, step, column)} {column}, the totals {count}"
            for column, count in counts.items()
            if rows.of_step(operation, step, column) != count
        ]
        answered = totals["ok"] + totals["miss"]
        if totals["sent"] < answered + totals["failed"]:
            problems.append(f"{name}: sent {totals['sent']} is less than the {answered + totals['failed']} that ended")
        whole = summary["operations"].get(operation)
        if whole is not None and answered < whole["ok"]:
            times = counted(answered, "time")
            problems.append(f"{name}: answered {times}, and {whole['ok']} of its operations went well")
    return problems
