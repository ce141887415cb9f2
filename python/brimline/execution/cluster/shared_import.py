"""Owns an import that several nodes share: begun, looked at and ended together. To `import_data` it is an importer.

Each node has a part of the inputs, which are in their order. What it tells of its part is kept here, on no node's disk.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

from brimline import _native
from brimline.errors import RecordError
from brimline.execution.cluster.access import PortableAccess
from brimline.execution.cluster.link import ANSWER_WITHIN_S, Link, NodeLost, taking_s
from brimline.execution.cluster.merging import IntervalMerger
from brimline.execution.cluster.node import Refusal
from brimline.execution.cluster.node_import import ImportLook, ImportOrder
from brimline.execution.cluster.shared_work import LOOK_S, Node, SharedWork, Unfit
from brimline.execution.cluster.totals import merged_standstills
from brimline.record.data_import import ImportNode, ImportShares
from brimline.record.histograms import native_codec
from brimline.record.import_parts import ImportParts, summed
from brimline.record.layout import WORKER_LOST
from brimline.record.model import Standstill
from brimline.record.time_histogram import Histogram

_SAVE_EVERY_S = 0.5
_PIECE_BYTES = 8 << 20
_LOOKED_AT_BYTES = 4096
"""What tells an importer whether an input is a text at all lies within."""
_OF_NODES_OWN = ("completed", "stopped")
"""Endings that don't explain those of others."""


@dataclass(slots=True, kw_only=True)
class _Node(Node):
    """A node and its part."""

    order: ImportOrder
    zero_ns: int | None = None  # the zero of its import's clock, by the clock here
    look: ImportLook | None = None
    sent_bytes: int = 0
    cpu_ns: int = 0
    service: Any = None
    first_documents: list[bytes] = field(default_factory=list)
    summary: dict[str, Any] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it has documents to send."""
        return bool(self.first_documents)


class SharedImport(SharedWork[_Node]):
    """One import on all nodes. Its calls are those of `_native.Import`."""

    def __init__(
        self,
        orders: Sequence[ImportOrder],
        links: Sequence[tuple[Link, dict[str, Any]]],
        *,
        shares: ImportShares,
        paths: Sequence[str],
        kept: ImportParts,
        access: PortableAccess,
        held: bool,
        on_lost: Callable[[str], None],
    ) -> None:
        self._shares, self._paths, self._kept = shares, paths, kept
        self._zero_ns, self._started_unix_ns = time.monotonic_ns(), _native.unix_now_ns()
        self._is_held = held
        self._released_ns = 0
        self._unwritable: RecordError | None = None
        self._saved_at = time.monotonic()
        self._service = native_codec().empty()
        self._merger = IntervalMerger(len(links), orders[0].plan["interval_ns"])
        self._rows: list[dict[str, Any]] = []
        nodes = [
            _Node(number=number, link=link, hello=hello, order=order, service=native_codec().empty())
            for number, ((link, hello), order) in enumerate(zip(links, orders, strict=True))
        ]
        super().__init__(nodes, finish=self._merger.finish, access=access, on_lost=on_lost)
        if not held:
            kept.begin()
        self._begin()

    def poll(self, timeout_s: float, /) -> str:
        """See `_native.Import.poll`; `elapsed_ns` is on the clock here, `input_bytes` are decompressed and settled."""
        with self._changed:
            if not self._is_over:
                self._changed.wait(timeout_s)
            self._save()
            progress = {
                "is_over": self._is_over,
                "elapsed_ns": (self._ended_ns or time.monotonic_ns()) - self._zero_ns,
                "counts": summed([self._seen_of(node) for node in self._nodes])["counts"],
                "input_bytes": self._merger.input_bytes,
                "service_p99_ns": _p99_ns(self._service),
            }
        return json.dumps(progress)

    def await_documents(self, timeout_s: float, /) -> bool:
        """Whether all nodes have reached the server, and one of them has documents to send."""
        with self._changed:
            self._changed.wait_for(lambda: self._are_ready or self._is_over, timeout_s)
            return self._are_ready

    def first_documents(self) -> list[bytes]:
        """See `_native.Import.first_documents`: those of the first part that has any."""
        with self._changed:
            return next((node.first_documents for node in self._nodes if node.is_ready), [])

    def release(self) -> None:
        """Lets all nodes go. Raises RecordError."""
        with self._changed:
            self._kept.begin()
            self._is_held, self._released_ns = False, time.monotonic_ns()
            self._changed.notify_all()

    def take_intervals(self) -> "list[_native.ImportInterval]":
        """See `_native.Import.take_intervals`: of all nodes together."""
        with self._changed:
            return self._merger.take()

    def take_node_rows(self) -> list[dict[str, Any]]:
        """The intervals of single nodes since the last call."""
        with self._changed:
            rows, self._rows = self._rows, []
            return rows

    def join(self) -> str:
        """The summary of all nodes as JSON. Raises UsageError where one can't import its part, and RecordError."""
        try:
            self._await_end()
        finally:
            try:
                self._kept.conclude()
            except RecordError as error:
                self._unwritable = self._unwritable or error
        told = [node.summary or self._seen_of(node) for node in self._nodes]
        standstills = [
            cast("Standstill", {**each, "from_ns": each["from_ns"] + ahead_ns, "to_ns": each["to_ns"] + ahead_ns})
            for node, summary in zip(self._nodes, told, strict=True)
            for ahead_ns in [self._ahead_ns(node)]
            for each in summary["standstills"]
        ]
        summary = {
            "ending": self._ending(told),
            "started_unix_ns": self._started_unix_ns,
            "elapsed_ns": (self._ended_ns or time.monotonic_ns()) - self._zero_ns,
            **summed(told),
            "standstills": merged_standstills(standstills),
            "checkpoint": self._kept.checkpoint,
            "nodes": [self._totals(node, each) for node, each in zip(self._nodes, told, strict=True)],
        }
        return json.dumps(summary)

    def _ahead_ns(self, node: _Node) -> int:
        """How long after the import's zero the node's own clock of it is zero."""
        return 0 if node.zero_ns is None else node.zero_ns - self._zero_ns

    @property
    def _are_ready(self) -> bool:
        """A part without a document has come to its end where others have yet to begin."""
        return all(
            node.is_ready or (node.is_over and node.summary is not None and _kind(node.summary) == "completed")
            for node in self._nodes
        ) and any(node.is_ready for node in self._nodes)

    def _save(self) -> None:
        """Replaces the checkpoint now and then; a record that can't be written ends the import."""
        if self._unwritable is not None or time.monotonic() - self._saved_at < _SAVE_EVERY_S or self._is_held:
            return
        self._saved_at = time.monotonic()
        try:
            self._kept.save()
        except RecordError as error:
            self._unwritable, self._wanted = error, 2

    def _ending(self, told: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """What ended the import: a node that was lost, else what is first in the input."""
        if self._unwritable is not None:
            return {"kind": "unwritable", "reason": self._unwritable.message}
        lost = next((node for node in self._nodes if node.lost is not None), None)
        if lost is not None:
            return {"kind": WORKER_LOST, "reason": f"{lost.named} was lost: {lost.lost}"}
        endings = [cast("Mapping[str, Any]", each["ending"]) for each in told]
        cause = next((each for each in endings if each["kind"] not in _OF_NODES_OWN), None)
        return cause or next((each for each in endings if each["kind"] == "stopped"), endings[0])

    def _seen_of(self, node: _Node) -> dict[str, Any]:
        """What a node had told when it was lost: more than that may have come in."""
        checkpoint = self._kept.checkpoints[node.number]
        counts = checkpoint["counts"] if node.look is None else node.look.progress["counts"]
        ending = {"kind": WORKER_LOST if node.lost else "stopped", "reason": node.lost or node.unfit or ""}
        return {**checkpoint, "counts": counts, "ending": ending, "standstills": [], "elapsed_ns": 0}

    def _totals(self, node: _Node, summary: Mapping[str, Any]) -> ImportNode:
        return {
            **node.facts,
            "connections": node.order.plan["workers"],
            "counts": summary["counts"],
            "service_p99_ns": _p99_ns(node.service),
            "elapsed_ns": summary["elapsed_ns"],
            "client_cpu_ns": node.cpu_ns,
            "sent_bytes": node.sent_bytes,
            "ended_by": _kind(summary),
            "reason": str(summary["ending"].get("reason", "")),
        }

    def _unfit(self, node: _Node) -> str:
        return f"{node.named} can't import its part: {node.unfit}"

    def _ends_all(self, node: _Node) -> bool:
        return node.summary is None or _kind(node.summary) not in _OF_NODES_OWN

    def _perform(self, node: _Node) -> None:
        with suppress(_StoppedEarly):  # it has begun nothing, and what ended it is the import's ending
            for number in node.link.call("begin_import", node.order):
                try:
                    self._send(node, number)
                except OSError as error:
                    reason = f"it can't be read any more: {error.strerror}"
                    ending = {"kind": "input", "input": number, "line": 0, "reason": reason}
                    node.summary = {**self._seen_of(node), "ending": ending}
                    raise _StoppedEarly from error
            self._ask(node, "start")
            node.read_clock()
            self._follow_started(node)

    def _follow_started(self, node: _Node) -> None:
        while True:
            self._tell(node)
            look: ImportLook = self._ask(node, "look", self._look_s)
            if look.is_ready and not node.first_documents:
                node.first_documents = self._ask(node, "first_documents")
            self._take(node, look)
            if look.progress["is_over"] and not look.is_behind:
                node.read_clock()
                node.summary, node.cpu_ns = self._ask(node, "join")
                return

    def _ask(self, node: _Node, name: str, *arguments: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        answer = node.link.call("of_import", name, *arguments, within_s=within_s)
        if isinstance(answer, Refusal):
            raise Unfit(answer.reason) if node.clock is None else NodeLost(answer.reason)
        return answer

    def _send(self, node: _Node, number: int) -> None:
        """Sends of an input what the node's part takes: what comes before the first record, and the part itself."""
        for begin, end in self._needed(node.number, number):
            with Path(self._paths[number]).open("rb") as file:
                file.seek(begin)
                at = begin
                while (end is None or at < end) and (
                    piece := file.read(_PIECE_BYTES if end is None else min(_PIECE_BYTES, end - at))
                ):
                    if self._wanted or node.told:
                        raise _StoppedEarly
                    self._ask(node, "take", number, at, piece, within_s=taking_s(len(piece) * len(self._nodes)))
                    at += len(piece)
                    node.sent_bytes += len(piece)

    def _needed(self, part: int, number: int) -> list[tuple[int, int | None]]:
        """Ranges of an input, which overlap where that is simpler; None: to its end."""
        begin, until = self._shares.parts[part]["begin"], self._shares.parts[part]["until"]
        head_bytes = self._shares.heads_bytes[number]
        if number < begin["input"] or (until is not None and number > until["input"]):
            return [(0, 0)]
        last = until["offset"] if until is not None and number == until["input"] else None
        if head_bytes is None:
            return [(0, None)]
        first = begin["offset"] if number == begin["input"] else 0
        # What ends an array has to be there for those who end before it.
        end = [] if last is None else [(max(0, Path(self._paths[number]).stat().st_size - 1), None)]
        return [(0, min(first, max(head_bytes, _LOOKED_AT_BYTES))), (first, last), *end]

    def _tell(self, node: _Node) -> None:
        """Passes on what is wanted: the start, a stop, the end."""
        with self._changed:
            if node.is_ready and self._is_held:
                # A node that awaits its start answers at once.
                self._changed.wait_for(lambda: self._wanted > node.told or not self._is_held, LOOK_S)
            wanted, is_held = self._level(), self._is_held
        if not is_held and not node.released:
            node.released = True
            self._ask(node, "release")
            node.late_ns = max(0, time.monotonic_ns() - self._released_ns) if self._released_ns else 0
        # Afterwards: what is stopped while it is held drops what it has read, and another's end may come at once.
        self._say(node, wanted, partial(self._ask, node))

    def _take(self, node: _Node, look: ImportLook) -> None:
        clock = node.clock
        with self._changed:
            node.look = look
            if clock is not None and node.zero_ns is None:
                node.zero_ns = look.zero_ns - clock.before.ahead_ns
            self._keep(node, look)
            ahead_ns = self._ahead_ns(node)
            for interval in look.intervals:
                placed = {
                    **interval,
                    "start_ns": max(0, interval["start_ns"] + ahead_ns),
                    "end_ns": interval["end_ns"] + ahead_ns,
                }
                text = interval["service"]
                histogram = native_codec().empty() if text is None else native_codec().decode(text)
                node.service.merge(histogram)
                self._service.merge(histogram)
                self._merger.add(node.number, placed)
                error_ns = 0 if clock is None else clock.latest.error_ns
                self._rows.append(
                    {**placed, "node": node.number, "service_p99_ns": _p99_ns(histogram), "clock_error_ns": error_ns}
                )
                node.cpu_ns += interval["process_cpu_ns"]
            self._changed.notify_all()

    def _keep(self, node: _Node, look: ImportLook) -> None:
        """Notes how far a node is. What it tells after a record that can't be written is left out: all are given up."""
        if self._unwritable is None:
            try:
                self._kept.note(node.number, look.progress["checkpoint"], look.rejected)
            except RecordError as error:
                self._unwritable, self._wanted = error, 2


class _StoppedEarly(Exception):
    """The import was ended before a node had its part."""


def _p99_ns(histogram: Histogram) -> int:
    return histogram.quantile(0.99) if histogram.count() else 0


def _kind(summary: Mapping[str, Any]) -> str:
    return str(summary["ending"]["kind"])
