"""Owns a run that several nodes share: started, looked at and ended together. To `execute` it is an engine."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from brimline import _native
from brimline.execution.cluster.access import PortableAccess
from brimline.execution.cluster.link import Link, taking_s
from brimline.execution.cluster.merging import SampleMerger
from brimline.execution.cluster.node import Look, NodeOrder
from brimline.execution.cluster.shared_work import LOOK_S, Node, SharedWork, Unfit
from brimline.execution.cluster.totals import SeenOfNode, merged_summary
from brimline.record.model import NodeTotals, Samples, Summary

_CLOCK_EVERY_NS = 1_000_000_000
_ROUND_TRIPS_UNDER_WAY = 3
_MARGIN_NS, _MARGIN_PER_NODE_NS = 500_000_000, 5_000_000
"""From the order to start until the start itself: every node has to hear of it before."""
_STAGES = ("connecting", "ready", "running", "finished")


@dataclass(slots=True, kw_only=True)
class _Node(Node):
    """A node and its run."""

    order: NodeOrder
    progress: "_native.Progress | None" = None
    seen: SeenOfNode = field(default_factory=SeenOfNode)
    summary: Summary | None = None
    refused: str | None = None  # why it never reached the target


class SharedRun(SharedWork[_Node]):
    """One run on all nodes."""

    def __init__(
        self,
        orders: Sequence[NodeOrder],
        links: Sequence[tuple[Link, dict[str, Any]]],
        *,
        access: PortableAccess,
        held: bool,
        on_lost: Callable[[str], None],
    ) -> None:
        self._held = held
        self._merger = SampleMerger(len(links))
        self._start_ns: int | None = None
        self._started_unix_ns = 0
        nodes = [
            _Node(number=number, link=link, hello=hello, order=order)
            for number, ((link, hello), order) in enumerate(zip(links, orders, strict=True))
        ]
        super().__init__(nodes, finish=self._merger.finish, access=access, on_lost=on_lost)
        self._begin()

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

    def join(self) -> Summary:
        """The totals of all nodes.

        Raises `_native.TargetError` when a node could never reach the target, UsageError when one can't perform the
        plan.
        """
        self._await_end()
        if all(node.lost is None for node in self._nodes):  # else a node that was stopped while it connected says so
            for node in self._nodes:
                if node.refused is not None:
                    raise _native.TargetError(f"{node.named}: {node.refused}")
        summaries = [_placed(self._summary_of(node), node.number) for node in self._nodes]
        merged = merged_summary(summaries)
        merged["started_unix_ns"] = self._started_unix_ns or merged["started_unix_ns"]
        merged["nodes"] = [_totals(node, summary) for node, summary in zip(self._nodes, summaries, strict=True)]
        return merged

    def _summary_of(self, node: _Node) -> Summary:
        if node.summary is not None:
            return node.summary
        started_unix_ns = self._started_unix_ns or _native.unix_now_ns()
        if node.lost is None:
            refused = node.seen.summary(f"{node.named}: {node.unfit or node.refused}", started_unix_ns=started_unix_ns)
            return {**refused, "ended_by": "stopped"}
        return node.seen.summary(f"{node.named} was lost: {node.lost}", started_unix_ns=started_unix_ns)

    def _stage(self) -> str:
        """The one of the node that is least far; a node that is over, however, has no say before all are."""
        if self._is_over:
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

    def _unfit(self, node: _Node) -> str:
        return f"{node.named} can't perform the plan: {node.unfit}"

    def _perform(self, node: _Node) -> None:
        rows_bytes = node.order.rows_bytes * len(self._nodes)  # all are sent theirs at once
        if (unfit := node.link.call("start", node.order, within_s=taking_s(rows_bytes))) is not None:
            raise Unfit(unfit)
        while True:
            self._tell(node)
            look: Look = node.link.call("look", self._look_s, self._settled_elsewhere(node))
            stage = look.progress["stage"]
            if stage == "ready" and node.clock is None:
                node.read_clock()
            if stage == "running":
                node.read_clock(_ROUND_TRIPS_UNDER_WAY, every_ns=_CLOCK_EVERY_NS)
            self._take(node, look)
            if stage == "finished":
                if node.clock is not None:
                    node.read_clock()
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
                    lambda: self._wanted > node.told or (self._start_ns is not None and not node.released), LOOK_S
                )
            wanted, start_ns = self._level(), self._start_ns
        self._say(node, wanted, node.link.call)
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


def _placed(summary: Summary, node: int) -> Summary:
    """`summary`, whose standstills say of which node they are."""
    if "standstills" not in summary:
        return summary
    return {**summary, "standstills": [{**each, "node": node} for each in summary["standstills"]]}


def _totals(node: _Node, summary: Summary) -> NodeTotals:
    return {
        **node.facts,
        "due": summary["due"],
        "sent": summary["sent"],
        "ok": summary["ok"],
        "miss": summary["miss"],
        "failed": summary["failed"],
        "unfinished": summary["unfinished"],
        "threads": summary["threads"],
        "operations_hash": summary["operations_hash"],
        "elapsed_ns": summary["elapsed_ns"],
        "ended_by": summary["ended_by"],
    }
