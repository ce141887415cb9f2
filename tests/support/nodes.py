"""Owns nodes of a cluster for tests: engines in this process, or in processes behind words of one's own."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic_ns
from types import SimpleNamespace
from typing import Any

from brimline.execution import execute
from brimline.execution.cluster.cluster import Cluster
from brimline.execution.cluster.link import ANSWER_WITHIN_S, NodeLost
from brimline.execution.cluster.node import NodeEngine
from brimline.execution.cluster.processes import ProcessLink
from brimline.execution.cluster.ray_nodes import RayLink
from brimline.plan import Plan
from brimline.record import RunRecord
from tests.support.command_line import CommandLine
from tests.support.simulation import context

_SHARED = """\
data: {records: 1000}
operations: {read: 1}
load: {kind: constant, rate: 2000/s}
connections: 8
warmup: 0s
interval: 100ms
"""


def shared_spec(cli: CommandLine, end: str, *, name: str = "shared") -> str:
    """Writes a workload that nodes share, and returns its file's name; `end`: the key that ends it."""
    (cli.directory / f"{name}.yaml").write_text(f"name: {name}\n{_SHARED}{end}\n")
    return f"{name}.yaml"


_LOOKS_BEFORE_LOSS = 3


class HereLink:
    """An engine of this process as a node, with a clock that is ahead by `ahead_ns`; `lost` after so many calls.

    `lost_in`: of so many runs it is asked to start, it is lost in the last one, after some looks at it.
    """

    def __init__(
        self, *, ahead_ns: int = 0, lost_after: int | None = None, lost_in: int | None = None, late_s: float = 0.0
    ) -> None:
        self._engine = NodeEngine(clock=lambda: monotonic_ns() + ahead_ns)
        self._lost_after = lost_after
        self._lost_in = lost_in
        self._runs = self._looks = 0
        self.calls = 0
        self.late_s = late_s

    def call(self, name: str, *arguments: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        self.calls += 1
        self._runs += name == "start"
        self._looks += name == "look" and self._runs == self._lost_in
        if (self._lost_after is not None and self.calls > self._lost_after) or self._looks > _LOOKS_BEFORE_LOSS:
            self._engine.end()  # what goes on by itself ends its process when nobody asks, and that is this one
            raise NodeLost("it is lost for a test")
        if name == "release":
            arguments = (arguments[0] - int(self.late_s * 1e9),)
        return getattr(self._engine, name)(*arguments)

    def close(self) -> None:
        self._engine.end()


class RayError(Exception):
    """As Ray's own, of a Ray that is none."""


class ActorError(RayError):
    """An actor died."""


def ray_link(node: HereLink) -> RayLink:
    """`node` as an actor of Ray, which tells of its loss as Ray does."""

    def get(asked: tuple[Any, ...], *, timeout: float) -> Any:
        try:
            return node.call(*asked, within_s=timeout)
        except NodeLost as lost:
            raise ActorError from lost

    actor = SimpleNamespace(call=SimpleNamespace(remote=lambda *asked: asked))
    return RayLink(SimpleNamespace(get=get, exceptions=RAY_ERRORS, kill=lambda _actor, **_: node.close()), actor)


RAY_ERRORS = SimpleNamespace(
    GetTimeoutError=TimeoutError,
    RayTaskError=KeyError,
    RayActorError=ActorError,
    NodeDiedError=ActorError,
    WorkerCrashedError=ActorError,
    RayError=RayError,
)


def performed(plan: Plan, directory: Path, links: Sequence[Any]) -> RunRecord:
    """The record of `plan` as these nodes perform it together."""
    shared = replace(context(), executor=Cluster(links))
    try:
        return execute(plan, directory=directory, title="shared", context=shared)
    finally:
        for link in links:
            link.close()


@contextmanager
def processes(*prefixes: Sequence[str]) -> Iterator[list[ProcessLink]]:
    """A node in a process of its own for each of `prefixes`, the words before its command."""
    with ExitStack() as stack:
        links = []
        for prefix in prefixes:
            links.append(link := ProcessLink(prefix))
            stack.callback(link.close)
        yield links
