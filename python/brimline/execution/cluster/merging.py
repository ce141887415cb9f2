"""Owns what several nodes measured as if one had: intervals row by row, histograms exactly.

All nodes cut the samples of a run at the same instants of its clock, until one runs out of operations: then an interval
goes on as long as one of them is at work, as it does among the threads of one engine. Those of an import are cut where
each node has them.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from brimline import _native
from brimline.record.model import (
    CLOCKS,
    IntervalRow,
    NodeRow,
    OperationRow,
    Samples,
    StepRow,
)

_SPAN = ("phase", "start_ns", "end_ns")
_INTERVAL_SUMS = (
    "in_flight",
    "connections_up",
    "backlog",
    "workers_active",
    "engine_cpu_ns",
    "process_cpu_ns",
)
_COUNTS = tuple(name for name in OperationRow.__annotations__ if name not in (*_SPAN, "operation"))
_STEP_COUNTS = tuple(name for name in StepRow.__annotations__ if name not in (*_SPAN, "operation", "step"))
_IMPORT_SUMS = ("documents", "refused", "commands", "input_bytes", "bytes_out", "process_cpu_ns")
_PHASES = ("warmup", "measure", "drain")


class SampleMerger:
    """Takes the samples of nodes as they come and hands out the intervals that all of them have delivered."""

    def __init__(self, node_count: int) -> None:
        self._parts: list[deque[Samples]] = [deque() for _ in range(node_count)]
        self._is_over = [False] * node_count

    def add(self, node: int, samples: Samples) -> None:
        """Takes what `node` measured since it was last asked."""
        self._parts[node].extend(_by_interval(samples, node))

    def finish(self, node: int) -> None:
        """Notes that `node` delivers no more."""
        self._is_over[node] = True

    def take(self) -> Samples:
        """The intervals that are whole, in order."""
        merged: Samples = {"operations": [], "intervals": [], "nodes": []}
        while parts := self._next():
            whole = merge_interval(parts)
            merged["operations"] += whole["operations"]
            merged["intervals"] += whole["intervals"]
            merged["nodes"] += whole["nodes"]
            if "steps" in whole:
                merged.setdefault("steps", []).extend(whole["steps"])
        return merged

    def _next(self) -> list[Samples]:
        """The parts of the next interval; none while a node that goes on has not delivered its own."""
        if any(not parts and not is_over for parts, is_over in zip(self._parts, self._is_over, strict=True)):
            return []
        return [parts.popleft() for parts in self._parts if parts]


class IntervalMerger:
    """Adds up the intervals of nodes, which cut them at about the same time, and hands out those that are whole.

    Intervals of one number are those that end nearest to so many interval lengths. A number is whole when every node
    has gone beyond it or has ended. Every interval is counted once, and those handed out touch each other.
    """

    def __init__(self, nodes: int, interval_ns: int) -> None:
        self._waiting: list[deque[dict[str, Any]]] = [deque() for _ in range(nodes)]
        self._is_over = [False] * nodes
        self._interval_ns = interval_ns
        self._end_ns = 0
        self.input_bytes = 0

    def add(self, node: int, interval: dict[str, Any]) -> None:
        """Takes an interval of a node, on the clock of all."""
        self._waiting[node].append(interval)
        self.input_bytes += interval["input_bytes"]

    def finish(self, node: int) -> None:
        """Notes that `node` has no further interval."""
        self._is_over[node] = True

    def take(self) -> "list[_native.ImportInterval]":
        """The intervals that are whole, in order."""
        merged = []
        while (number := self._next()) is not None:
            parts = [
                each.popleft() for each in self._waiting for _ in range(len(each)) if self._number(each[0]) <= number
            ]
            start_ns, self._end_ns = self._end_ns, max(self._end_ns, *(part["end_ns"] for part in parts))
            row: dict[str, Any] = {"start_ns": start_ns, "end_ns": self._end_ns}
            row |= {name: sum(part[name] for part in parts) for name in _IMPORT_SUMS}
            row["service"] = _sum_of(part["service"] for part in parts)
            merged.append(cast("_native.ImportInterval", row))
        return merged

    def _next(self) -> int | None:
        """The number of the next interval; None while a node that goes on may still have one of it."""
        numbers = [self._number(each[0]) for each in self._waiting if each]
        if not numbers:
            return None
        number = min(numbers)
        for waiting, is_over in zip(self._waiting, self._is_over, strict=True):
            if not is_over and (not waiting or self._number(waiting[-1]) <= number):
                return None
        return number

    def _number(self, interval: Mapping[str, Any]) -> int:
        end_ns: int = interval["end_ns"]
        return round(end_ns / self._interval_ns)


def merge_interval(parts: Sequence[Samples]) -> Samples:
    """One interval, of which each of `parts` is what one node did in it."""
    interval = _merged_interval([part["intervals"][0] for part in parts])
    merged = Samples(
        operations=_merged_rows([part["operations"] for part in parts], ("operation",), _COUNTS, interval),
        intervals=[interval],
        nodes=[row for part in parts for row in part.get("nodes", [])],
    )
    if any("steps" in part for part in parts):
        steps = [part.get("steps", []) for part in parts]
        merged["steps"] = _merged_rows(steps, ("operation", "step"), _STEP_COUNTS, interval)
    return merged


def _by_interval(samples: Samples, node: int) -> Iterable[Samples]:
    for interval in samples["intervals"]:
        span = interval["start_ns"], interval["end_ns"]
        part = Samples(
            operations=[row for row in samples["operations"] if (row["start_ns"], row["end_ns"]) == span],
            intervals=[interval],
            nodes=[_of(node, row) for row in samples.get("nodes", []) if (row["start_ns"], row["end_ns"]) == span],
        )
        if "steps" in samples:
            part["steps"] = [row for row in samples["steps"] if (row["start_ns"], row["end_ns"]) == span]
        yield part


def _of(node: int, row: NodeRow) -> NodeRow:
    return {**row, "node": node}


def _merged_interval(rows: Sequence[IntervalRow]) -> IntervalRow:
    each: Sequence[Mapping[str, Any]] = rows
    sums = {name: sum(row[name] for row in each) for name in _INTERVAL_SUMS}
    return cast(
        "IntervalRow",
        {
            "phase": min((row["phase"] for row in rows), key=_PHASES.index),
            "start_ns": min(row["start_ns"] for row in rows),
            "end_ns": max(row["end_ns"] for row in rows),
            **sums,
            "busiest_thread_cpu_ns": max(row["busiest_thread_cpu_ns"] for row in rows),
        },
    )


def _merged_rows(
    parts: Sequence[Sequence[Any]], names: tuple[str, ...], counts: tuple[str, ...], interval: IntervalRow
) -> list[Any]:
    """Rows of the same phase and name as one each, those of a phase in the order in which they are first met."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for rows in parts:
        for row in rows:
            groups.setdefault((row["phase"], *(row[name] for name in names)), []).append(row)
    in_order = sorted(groups.items(), key=lambda group: _PHASES.index(group[0][0]))
    return [_merged_row(key, group, names, counts, interval) for key, group in in_order]


def _merged_row(
    key: tuple[Any, ...],
    rows: Sequence[Mapping[str, Any]],
    names: tuple[str, ...],
    counts: tuple[str, ...],
    interval: IntervalRow,
) -> dict[str, Any]:
    merged: dict[str, Any] = {"phase": key[0], "start_ns": interval["start_ns"], "end_ns": interval["end_ns"]}
    merged |= dict(zip(names, key[1:], strict=True))
    merged |= {name: sum(each[name] for each in rows) for name in counts}
    merged |= {clock: _sum_of(each[clock] for each in rows) for clock in CLOCKS if clock in rows[0]}
    if "breakdown" in rows[0]:
        times = dict.fromkeys(name for each in rows for name in each["breakdown"])
        merged["breakdown"] = {name: _sum_of(each["breakdown"].get(name) for each in rows) for name in times}
    return merged


def _sum_of(texts: Iterable[str | None]) -> str | None:
    given = [text for text in texts if text is not None]
    if len(given) < 2:
        return given[0] if given else None
    return _native.merge_histograms(given)
