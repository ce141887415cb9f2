"""Owns the totals of several nodes as those of one run, and what is known of a node that was lost."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from brimline.record.model import (
    ErrorRow,
    OperationTotals,
    Outage,
    SampleRow,
    Samples,
    Standstill,
    StepSampleRow,
    StepTotals,
    Summary,
)

_SUMS = ("due", "sent", "attempted_again", "overdue", "ok", "miss", "failed", "unfinished", "threads")
_MOST = ("elapsed_ns", "close_ns", "oldest_overdue_ns", "oldest_unfinished_ns")
_COUNTED = ("verified", "inserts", "commands", "commands_uncertain", "document_counts", "looks")
_NESTED = ("operations", "steps", "command_names")
_LISTS = ("runners", "unsettled_sessions")
_DIGEST_BITS = 64
_ENDS = ("ran_dry", "target_lost", "worker_lost", "aborted", "stopped", "completed")
"""How a run ended, the end that explains the others first."""


def merged_summary(parts: Sequence[Summary]) -> Summary:
    """The totals of all nodes together; `started_unix_ns` is the earliest of theirs. At least one."""
    every = cast("Sequence[Mapping[str, Any]]", parts)
    cause = min(parts, key=lambda part: _ENDS.index(part["ended_by"]))
    merged: dict[str, Any] = {
        "ended_by": cause["ended_by"],
        "message": cause["message"],
        "started_unix_ns": min(part["started_unix_ns"] for part in parts),
    }
    merged |= {name: sum(part[name] for part in _having(every, name)) for name in _SUMS if _having(every, name)}
    merged |= {name: max(part[name] for part in _having(every, name)) for name in _MOST if _having(every, name)}
    merged |= {name: _added([part[name] for part in found]) for name in _COUNTED if (found := _having(every, name))}
    merged |= {name: _added([part[name] for part in found]) for name in _NESTED if (found := _having(every, name))}
    merged |= {
        name: [row for part in found for row in part[name]] for name in _LISTS if (found := _having(every, name))
    }
    if shards := [part["shards"] for part in parts if "shards" in part]:
        merged["shards"] = [_added(of_nodes) for of_nodes in zip(*shards, strict=True)]
    merged["errors"] = _merged_errors(row for part in parts for row in part["errors"])
    merged["document_errors"] = _merged_errors(row for part in parts for row in part.get("document_errors", []))
    merged["outages"] = merged_outages(row for part in parts for row in part.get("outages", []))
    if stood := merged_standstills(row for part in parts for row in part.get("standstills", [])):
        merged["standstills"] = stood
    if connects := [part["connects"] for part in parts if "connects" in part]:
        count = sum(each["count"] for each in connects)
        merged["connects"] = {
            "count": count,
            "mean_ns": sum(each["mean_ns"] * each["count"] for each in connects) // max(count, 1),
            "max_ns": max(each["max_ns"] for each in connects),
        }
    if identities := [part["run_identity"] for part in parts if "run_identity" in part]:
        merged["run_identity"] = identities[0]  # all were given the same
    digest = sum(int(part["operations_hash"], 16) for part in parts) % 2**_DIGEST_BITS
    merged["operations_hash"] = f"{digest:016x}"
    merged["virtual_clock"] = any(part["virtual_clock"] for part in parts)
    return cast("Summary", merged)


class SeenOfNode:
    """What a node said in its rows: all that is known of it where it is lost before it gave its totals."""

    def __init__(self) -> None:
        self._operations: dict[str, StepTotals] = {}
        self._steps: dict[str, dict[str, StepTotals]] = {}
        self._until_ns = 0

    def add(self, samples: Samples) -> None:
        """Counts the rows of operations and of their steps."""
        for row in samples["operations"]:
            _count(self._operations, row["operation"], row)
            self._until_ns = max(self._until_ns, row["end_ns"])
        for step in samples.get("steps", []):
            _count(self._steps.setdefault(step["operation"], {}), step["step"], step)

    def summary(self, reason: str, *, started_unix_ns: int) -> Summary:
        """The totals so far; what was under way is unfinished, and why anything failed is not known."""
        operations = {
            name: OperationTotals(
                sent=counts["sent"],
                ok=counts["ok"],
                miss=counts["miss"],
                failed=counts["failed"],
                unfinished=counts["sent"] - counts["ok"] - counts["miss"] - counts["failed"],
            )
            for name, counts in self._operations.items()
        }
        sent = sum(each["sent"] for each in operations.values())
        errors = [
            ErrorRow(operation=name, outcome="unknown", code=0, label="", count=totals["failed"], example=reason)
            for name, totals in operations.items()
            if totals["failed"]
        ]
        summary = Summary(
            ended_by="worker_lost",
            message=reason,
            started_unix_ns=started_unix_ns,
            elapsed_ns=self._until_ns,
            due=sent,
            sent=sent,
            overdue=0,
            oldest_overdue_ns=0,
            ok=sum(each["ok"] for each in operations.values()),
            miss=sum(each["miss"] for each in operations.values()),
            failed=sum(each["failed"] for each in operations.values()),
            unfinished=sum(each["unfinished"] for each in operations.values()),
            oldest_unfinished_ns=0,
            operations=operations,
            commands={},
            commands_uncertain={},
            operations_hash="0",
            errors=errors,
            threads=0,
            virtual_clock=False,
        )
        if self._steps:
            summary["steps"] = self._steps
        return summary


def _count(totals: dict[str, StepTotals], name: str, row: SampleRow | StepSampleRow) -> None:
    of_name = totals.setdefault(name, StepTotals(sent=0, ok=0, miss=0, failed=0))
    of_name["sent"] += row["sent"]
    of_name["ok"] += row["ok"]
    of_name["miss"] += row["miss"]
    of_name["failed"] += row["failed"]


def merged_outages(outages: Iterable[Outage]) -> list[Outage]:
    """Those that touch each other as one: it ends, and writes go, where the last of them does."""
    merged: list[Outage] = []
    for outage in sorted(outages, key=lambda each: each["from_ns"]):
        last = merged[-1] if merged else None
        if last is None or (last["to_ns"] is not None and outage["from_ns"] > last["to_ns"]):
            merged.append({**outage})
            continue
        ends_later = last["to_ns"] is not None and (outage["to_ns"] is None or outage["to_ns"] > last["to_ns"])
        if ends_later:
            last["to_ns"], last["primary"] = outage["to_ns"], outage["primary"]
        last["failed"] += outage["failed"]
        last["retried"] += outage["retried"]
    return merged


def merged_standstills(standstills: Iterable[Standstill]) -> list[Standstill]:
    """Those at the same time as one."""
    merged: list[Standstill] = []
    for standstill in sorted(standstills, key=lambda each: each["from_ns"]):
        if merged and standstill["from_ns"] < merged[-1]["to_ns"]:
            last = merged[-1]
            last["to_ns"] = max(last["to_ns"], standstill["to_ns"])
            last["still_ns"] = max(last["still_ns"], standstill["still_ns"])
            if last.get("node") != standstill.get("node"):
                last.pop("node", None)  # several at once, as where their host stood
        else:
            merged.append({**standstill})
    return merged


def _having(parts: Sequence[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    return [part for part in parts if name in part]


def _added(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts by name, added up at any depth; each name where it is first met."""
    names = dict.fromkeys(name for part in parts for name in part)
    added: dict[str, Any] = {}
    for name in names:
        values = [part[name] for part in parts if name in part]
        add: Callable[[list[Any]], Any] = _added if isinstance(values[0], Mapping) else sum
        added[name] = add(values)
    return added


def _merged_errors(rows: Iterable[ErrorRow]) -> list[ErrorRow]:
    """Those of the same kind as one, the most frequent first."""
    merged: dict[tuple[Any, ...], ErrorRow] = {}
    for row in rows:
        key = (row["operation"], row["outcome"], row["code"], row["label"])
        if key in merged:
            merged[key]["count"] += row["count"]
        else:
            merged[key] = {**row}
    return sorted(merged.values(), key=lambda row: -row["count"])
