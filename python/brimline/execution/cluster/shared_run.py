"""Owns a run that several nodes share: started, looked at and ended together. To `execute` it is an engine."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from brimline import _native
from brimline.errors import UsageError
from brimline.execution.cluster.access import PortableAccess
from brimline.execution.cluster.clocks import ROUND_TRIPS, NodeClock, read_clock
from brimline.execution.cluster.link import Link, NodeLost, taking_s
from brimline.execution.cluster.merging import SampleMerger
from brimline.execution.cluster.node import Look, NodeOrder
from brimline.execution.cluster.totals import SeenOfNode, merged_summary
from brimline.record.model import NodeTotals, Samples, Summary
from brimline.threads import Worker

_LOOK_S = 0.1
_CLOCK_EVERY_NS = 1_000_000_000
_ROUND_TRIPS_UNDER_WAY = 3
_MARGIN_NS, _MARGIN_PER_NODE_NS = 500_000_000, 5_000_000
"""From the order to start until the start itself: every node has to hear of it before."""
GIVE_UP_S = 1.0
"""After a node is lost: how long the others may take to come to their end, before they give up what is under way.

The run proves nothing any more; with the node's silence before, it is over within 10 s.
"""
ALIKE = "have the same brimline, the same drivers and the same limits (ulimit -n) on all nodes"
_STAGES = ("connecting", "ready", "running", "finished")


@dataclass(slots=True)
class _Node:
    """What is known of one node."""

    number: int
    link: Link
    hello: dict[str, Any]
    order: NodeOrder
    progress: "_native.Progress | None" = None
    clock: NodeClock | None = None
    late_ns: int = 0
    released: bool = False
    told: int = 0
    seen: SeenOfNode = field(default_factory=SeenOfNode)
    summary: Summary | None = None
    unfit: str | None = None  # why it can't perform the plan
    refused: str | None = None  # why it never reached the target
    lost: str | None = None
    is_over: bool = False


class SharedRun:
    """One run on all nodes. Each has a thread here that follows it; what they bring is merged under one lock."""

    def __init__(
        self,
        orders: Sequence[NodeOrder],
        links: Sequence[tuple[Link, dict[str, Any]]],
        *,
        access: PortableAccess,
        held: bool,
        on_lost: Callable[[str], None],
    ) -> None:
        self._on_lost = on_lost
        self._access = access
        self._held = held
        self._changed = threading.Condition()
        self._merger = SampleMerger(len(links))
        self._start_ns: int | None = None
        self._started_unix_ns = 0
        self._ended_ns: int | None = None
        self._wanted = 0  # 1: stop, 2: abort
        self._lost_at: float | None = None
        self._nodes = [
            _Node(number=number, link=link, hello=hello, order=order)
            for number, ((link, hello), order) in enumerate(zip(links, orders, strict=True))
        ]
        for node in self._nodes:
            Worker(partial(self._follow, node), name=f"brimline-node-{node.number}").start()

    def poll(self, timeout_s: float) -> "_native.Progress":
        """See `_native.Run.poll`; `elapsed_ns` is on this node's clock."""
        with self._changed:
            is_held = self._stage() == "ready" and self._start_ns is None
            if not is_held and self._stage() != "finished":
                self._changed.wait(timeout_s)
            return self._progress()

    def take_samples(self) -> Samples:
        """See `_native.Run.take_samples`."""
        with self._changed:
            return self._merger.take()

    def release(self) -> None:
        """Lets all nodes go at one instant, some time ahead. Idempotent."""
        with self._changed:
            self._held = False
            self._agree_on_start()

    def stop(self) -> None:
        """See `_native.Run.stop`."""
        self._want(1)

    def abort(self) -> None:
        """See `_native.Run.abort`."""
        self._want(2)

    def join(self) -> Summary:
        """The totals of all nodes.

        Raises `_native.TargetError` when a node could never reach the target, UsageError when one can't perform the
        plan.
        """
        with self._changed:
            while self._stage() != "finished":
                self._changed.wait(_LOOK_S)
        if all(node.lost is None for node in self._nodes):  # else a node that was stopped while it connected says so
            for node in self._nodes:
                if node.unfit is not None:
                    raise UsageError(f"{_named(node)} can't perform the plan: {node.unfit}", hint=ALIKE)
            for node in self._nodes:
                if node.refused is not None:
                    raise _native.TargetError(f"{_named(node)}: {node.refused}")
        summaries = [self._summary_of(node) for node in self._nodes]
        merged = merged_summary(summaries)
        merged["started_unix_ns"] = self._started_unix_ns or merged["started_unix_ns"]
        merged["nodes"] = [_totals(node, summary) for node, summary in zip(self._nodes, summaries, strict=True)]
        return merged

    def _want(self, level: int) -> None:
        with self._changed:
            self._wanted = max(self._wanted, level)

    def _summary_of(self, node: _Node) -> Summary:
        if node.summary is not None:
            return node.summary
        started_unix_ns = self._started_unix_ns or _native.unix_now_ns()
        if node.lost is None:
            refused = node.seen.summary(
                f"{_named(node)}: {node.unfit or node.refused}", started_unix_ns=started_unix_ns
            )
            return {**refused, "ended_by": "stopped"}
        return node.seen.summary(f"{_named(node)} was lost: {node.lost}", started_unix_ns=started_unix_ns)

    def _stage(self) -> str:
        """The one of the node that is least far; a node that is over, however, has no say before all are."""
        if all(node.is_over for node in self._nodes):
            return "finished"
        stages = [node.progress["stage"] if node.progress else "connecting" for node in self._nodes if not node.is_over]
        stage = min(stages, key=_STAGES.index)
        if stage == "ready" and not all(node.clock is not None or node.is_over for node in self._nodes):
            return "connecting"
        return "running" if stage == "finished" else stage

    def _progress(self) -> "_native.Progress":
        known = [node.progress for node in self._nodes if node.progress is not None]
        now_ns = self._ended_ns or time.monotonic_ns()
        elapsed_ns = 0 if self._start_ns is None else max(0, now_ns - self._start_ns)
        return {
            "stage": self._stage(),
            "elapsed_ns": elapsed_ns,
            "sent": sum(each["sent"] for each in known),
            "ok": sum(each["ok"] for each in known),
            "miss": sum(each["miss"] for each in known),
            "failed": sum(each["failed"] for each in known),
            "documents": sum(each["documents"] for each in known),
            "in_flight": sum(each["in_flight"] for each in known),
            "connections_up": sum(each["connections_up"] for each in known),
            "inserts_settled": min((each["inserts_settled"] for each in known), default=0),
        }

    def _agree_on_start(self) -> None:
        """Once all are ready, and nobody holds them: one instant for all, by this node's clock."""
        if self._held or self._start_ns is not None or self._stage() != "ready":
            return
        margin_ns = _MARGIN_NS + _MARGIN_PER_NODE_NS * len(self._nodes)
        self._started_unix_ns = _native.unix_now_ns() + margin_ns
        self._start_ns = time.monotonic_ns() + margin_ns
        self._changed.notify_all()

    def _follow(self, node: _Node) -> None:
        """The life of a node's run, as it looks from here."""
        try:
            node.unfit = node.link.call("admit", *self._access.in_parts())
            if node.unfit is None:
                rows_bytes = node.order.rows_bytes * len(self._nodes)  # all are sent theirs at once
                node.unfit = node.link.call("start", node.order, within_s=taking_s(rows_bytes))
            if node.unfit is None:
                self._follow_started(node)
        except Exception as error:  # whatever it is, nothing more is known of the node
            node.lost = str(error) if isinstance(error, NodeLost) else f"{type(error).__name__}: {error}"
            self._on_lost(f"{_named(node)} was lost: {node.lost}")
        finally:
            with self._changed:
                self._merger.finish(node.number)
                node.is_over = True
                if any(each is not None for each in (node.lost, node.unfit, node.refused)):
                    # What one of them lacks, the others don't make up for.
                    self._wanted = max(self._wanted, 1)
                    self._lost_at = self._lost_at or time.monotonic()
                if all(each.is_over for each in self._nodes):
                    self._ended_ns = time.monotonic_ns()
                self._changed.notify_all()

    def _follow_started(self, node: _Node) -> None:
        while True:
            self._tell(node)
            look: Look = node.link.call("look", _LOOK_S, self._settled_elsewhere(node))
            stage = look.progress["stage"]
            if stage == "ready" and node.clock is None:
                node.clock = NodeClock(read_clock(lambda: node.link.call("clock"), time.monotonic_ns))
            if stage == "running":
                self._read_clock(node, _ROUND_TRIPS_UNDER_WAY, every_ns=_CLOCK_EVERY_NS)
            self._take(node, look)
            if stage == "finished":
                self._read_clock(node, ROUND_TRIPS)
                outcome = node.link.call("join")
                if isinstance(outcome, str):
                    node.refused = outcome
                else:
                    node.summary = outcome
                return

    def _tell(self, node: _Node) -> None:
        """Passes on what is wanted: the start, a stop, the end."""
        with self._changed:
            if node.progress is not None and node.progress["stage"] == "ready":
                # A node that awaits its start answers at once.
                self._changed.wait_for(
                    lambda: self._wanted > node.told or (self._start_ns is not None and not node.released), _LOOK_S
                )
            wanted, start_ns = self._wanted, self._start_ns
            if self._lost_at is not None and time.monotonic() - self._lost_at > GIVE_UP_S:
                wanted = 2
        if wanted > node.told:
            node.told = wanted
            node.link.call("stop" if wanted == 1 else "abort")
        if start_ns is not None and not node.released and node.clock is not None:
            node.released = True
            node.late_ns = node.link.call("release", node.clock.there(start_ns))

    def _take(self, node: _Node, look: Look) -> None:
        clock = node.clock
        if clock is not None:
            for row in look.samples.get("nodes", []):
                row["clock_ahead_ns"], row["clock_error_ns"] = clock.latest.ahead_ns, clock.latest.error_ns
        with self._changed:
            node.progress = look.progress
            node.seen.add(look.samples)
            self._merger.add(node.number, look.samples)
            self._agree_on_start()
            self._changed.notify_all()

    def _settled_elsewhere(self, node: _Node) -> int:
        """How far the inserts of the other nodes are settled."""
        with self._changed:
            others = [each for each in self._nodes if each is not node]
            return min((each.progress["inserts_settled"] if each.progress else 0 for each in others), default=0)

    @staticmethod
    def _read_clock(node: _Node, round_trips: int, *, every_ns: int = 0) -> None:
        """Reads a clock that was read before, unless that is less than `every_ns` ago."""
        clock = node.clock
        if clock is not None and time.monotonic_ns() - clock.latest.at_ns > every_ns:
            clock.add(read_clock(lambda: node.link.call("clock"), time.monotonic_ns, round_trips=round_trips))


def _named(node: _Node) -> str:
    return f"node {node.number} ({node.hello['host']})"


def _totals(node: _Node, summary: Summary) -> NodeTotals:
    return NodeTotals(
        node=node.number,
        host=node.hello["host"],
        pid=node.hello["pid"],
        cpu_cores=node.hello["cpu_cores"],
        python=node.hello["python"],
        due=summary["due"],
        sent=summary["sent"],
        ok=summary["ok"],
        miss=summary["miss"],
        failed=summary["failed"],
        unfinished=summary["unfinished"],
        threads=summary["threads"],
        operations_hash=summary["operations_hash"],
        elapsed_ns=summary["elapsed_ns"],
        late_ns=node.late_ns,
        clock=node.clock.facts() if node.clock is not None else {},
        ended_by=summary["ended_by"],
        lost=node.lost,
    )
