"""Owns work that several nodes share: each has a thread here that follows it, and what one of them lacks ends all."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from brimline.errors import UsageError
from brimline.execution.cluster.access import PortableAccess
from brimline.execution.cluster.clocks import ROUND_TRIPS, NodeClock, read_clock
from brimline.execution.cluster.link import Link, NodeLost
from brimline.record.model import NodeFacts
from brimline.threads import Worker

LOOK_S = 0.1
_LOOK_MAX_S = 1.0
_NODES_OF_A_LOOK = 10
GIVE_UP_S = 1.0
"""After a node is lost: how long the others may take to come to their end, before they give up what is under way.

The work proves nothing any more; with the node's silence before, it is over within 10 s.
"""
_STOP, _ABORT = 1, 2
_ALIKE = "have the same brimline, drivers, limits (ulimit -n) and room for what is sent (TMPDIR) on all nodes"


def look_s(nodes: int) -> float:
    """How long a look at one of so many waits for news: calls are nearly all that leading them costs."""
    return min(_LOOK_MAX_S, LOOK_S * math.ceil(nodes / _NODES_OF_A_LOOK))


class Unfit(Exception):
    """Why a node can't do its part."""


@dataclass(slots=True, kw_only=True)
class Node:
    """What is known of one node; `summary` is its own, once it has come to its end."""

    number: int
    link: Link
    hello: dict[str, Any]
    clock: NodeClock | None = None
    late_ns: int = 0
    released: bool = False
    told: int = 0
    summary: Any = None
    unfit: str | None = None
    lost: str | None = None
    is_over: bool = False

    @property
    def named(self) -> str:
        """The node, for messages."""
        return f"node {self.number} ({self.hello['host']})"

    @property
    def facts(self) -> NodeFacts:
        """For the record: what is known of any node."""
        return NodeFacts(
            node=self.number,
            host=self.hello["host"],
            pid=self.hello["pid"],
            cpu_cores=self.hello["cpu_cores"],
            python=self.hello["python"],
            late_ns=self.late_ns,
            clock=self.clock.facts() if self.clock is not None else {},
            lost=self.lost,
        )

    def read_clock(self, round_trips: int = ROUND_TRIPS, *, every_ns: int = 0) -> None:
        """Reads the node's clock: for the first time before its work begins, and never twice within `every_ns`."""
        if self.clock is not None and time.monotonic_ns() - self.clock.latest.at_ns < every_ns:
            return
        reading = read_clock(lambda: self.link.call("clock"), time.monotonic_ns, round_trips=round_trips)
        if self.clock is None:
            self.clock = NodeClock(reading)
        else:
            self.clock.add(reading)


AnyNode = TypeVar("AnyNode", bound=Node)


class SharedWork(Generic[AnyNode]):
    """Work on all nodes, begun by `_begin`. What their threads bring is merged under one lock, `_changed`.

    `finish` is told of each node that brings no more.
    """

    def __init__(
        self,
        nodes: Sequence[AnyNode],
        finish: Callable[[int], None],
        *,
        access: PortableAccess,
        on_lost: Callable[[str], None],
    ) -> None:
        self._nodes, self._finish = nodes, finish
        self._access, self._on_lost = access, on_lost
        self._look_s = look_s(len(nodes))
        self._changed = threading.Condition()
        self._wanted = 0
        self._lost_at: float | None = None
        self._ended_ns: int | None = None

    def stop(self) -> None:
        """Has all nodes take on nothing more and settle what is under way."""
        self._want(_STOP)

    def abort(self) -> None:
        """Has all nodes give up what is under way."""
        self._want(_ABORT)

    def _begin(self) -> None:
        for node in self._nodes:
            Worker(partial(self._follow, node), name=f"brimline-node-{node.number}").start()

    def _perform(self, node: AnyNode) -> None:
        """The node's part, from its order to its summary. Raises Unfit and NodeLost."""
        raise NotImplementedError

    def _unfit(self, node: AnyNode) -> str:
        """The error of a node that is unfit."""
        raise NotImplementedError

    def _ends_all(self, node: AnyNode) -> bool:
        """Whether the end of this one ends the others: what one of them lacks, they don't make up for."""
        return node.summary is None

    @property
    def _is_over(self) -> bool:
        return all(node.is_over for node in self._nodes)

    def _await_end(self) -> None:
        """Raises UsageError where a node is unfit and none was lost: one that was ended meanwhile may say so too."""
        with self._changed:
            while not self._is_over:
                self._changed.wait(LOOK_S)
        if all(node.lost is None for node in self._nodes):
            for node in self._nodes:
                if node.unfit is not None:
                    raise UsageError(self._unfit(node), hint=_ALIKE)

    def _want(self, level: int) -> None:
        with self._changed:
            self._wanted = max(self._wanted, level)
            self._changed.notify_all()

    def _follow(self, node: AnyNode) -> None:
        """The life of a node's part, as it looks from here."""
        try:
            if (unfit := node.link.call("admit", *self._access.in_parts())) is not None:
                raise Unfit(unfit)
            self._perform(node)
        except Unfit as unfit:
            node.unfit = str(unfit)
        except Exception as error:  # whatever it is, nothing more is known of the node
            node.lost = str(error) if isinstance(error, NodeLost) else f"{type(error).__name__}: {error}"
            self._on_lost(f"{node.named} was lost: {node.lost}")
            self._want(_STOP)
            node.link.close()  # whatever it goes on with, nobody hears of that any more
        finally:
            with self._changed:
                self._finish(node.number)
                node.is_over = True
                if self._ends_all(node):
                    self._wanted = max(self._wanted, _STOP)
                if node.summary is None:
                    self._lost_at = self._lost_at or time.monotonic()
                if self._is_over:
                    self._ended_ns = time.monotonic_ns()
                self._changed.notify_all()

    def _level(self) -> int:
        """What is wanted of all nodes by now."""
        gives_up = self._lost_at is not None and time.monotonic() - self._lost_at > GIVE_UP_S
        return _ABORT if gives_up else self._wanted

    @staticmethod
    def _say(node: AnyNode, wanted: int, call: Callable[[str], Any]) -> None:
        """Passes on what is wanted, where the node was not told yet."""
        if wanted > node.told:
            node.told = wanted
            call("stop" if wanted == _STOP else "abort")
