"""A node from which nothing comes any more is lost, whatever the reason, and nobody waits for it without an end."""

import os
import platform
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from brimline.errors import UsageError
from brimline.execution.cluster import node
from brimline.execution.cluster.access import PortableAccess
from brimline.execution.cluster.cluster import Cluster
from brimline.execution.cluster.link import ANSWER_WITHIN_S, NodeLost
from brimline.execution.cluster.node import Look
from brimline.execution.cluster.processes import ProcessLink
from brimline.execution.cluster.ray_nodes import RayLink
from brimline.execution.cluster.shared_run import SharedRun
from brimline.execution.cluster.shared_work import GIVE_UP_S
from brimline.execution.cluster.shares import share_orders
from brimline.plan import NullTarget, WireTarget
from brimline.plan.pacing import load_line
from brimline.record import read_record
from brimline.report import said_in
from brimline.servers import Access
from tests.support.nodes import RAY_ERRORS, ActorError, HereLink, RayError, performed
from tests.support.run_sets import plan

STOPPED = ("sh", "-c", 'kill -STOP $$; exec "$@"', "sh")
WITHIN_S = 0.05


class _Broken:
    def call(self, name: str, *_: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        raise ValueError("an answer that can't be read")

    def close(self) -> None: ...


def test_whatever_goes_wrong_with_a_node_is_its_loss() -> None:
    told: list[str] = []
    run = SharedRun(
        share_orders(plan(), 1, identity=None),
        [(_Broken(), {"host": "there", "pid": 1, "cpu_cores": 1, "python": "3"})],
        access=PortableAccess.of(Access()),
        held=False,
        on_lost=told.append,
    )
    summary = run.join()
    reason = "ValueError: an answer that can't be read"
    assert (summary["ended_by"], summary["nodes"][0]["lost"]) == ("worker_lost", reason)
    assert told == [summary["message"]] == [f"node 0 (there) was lost: {reason}"]


class _Stopped:
    """A node that was still connecting when it was told to stop."""

    def call(self, name: str, *_: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        if name == "look":
            counts = ("sent", "ok", "miss", "failed", "documents", "in_flight", "connections_up", "inserts_settled")
            progress: Any = {"stage": "finished", "elapsed_ns": 0, **dict.fromkeys(counts, 0)}
            return Look(progress=progress, samples={"operations": [], "intervals": []})
        return "stopped while connecting" if name == "join" else None

    def close(self) -> None: ...


def test_a_node_that_is_lost_is_the_reason_and_not_that_another_was_stopped_for_it() -> None:
    hello = {"host": "there", "pid": 1, "cpu_cores": 1, "python": "3"}
    run = SharedRun(
        share_orders(plan(), 2, identity=None),
        [(_Stopped(), hello), (_Broken(), hello)],
        access=PortableAccess.of(Access()),
        held=False,
        on_lost=lambda _: None,
    )
    summary = run.join()
    assert (summary["ended_by"], [node["ended_by"] for node in summary["nodes"]]) == (
        "worker_lost",
        ["stopped", "worker_lost"],
    )
    assert summary["message"].startswith("node 1 (there) was lost")
    assert summary["started_unix_ns"] > 0


class _Elsewhere(HereLink):
    """A node whose greeting has `told` instead."""

    def __init__(self, **told: Any) -> None:
        super().__init__()
        self._told = told

    def call(self, name: str, *arguments: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        answer = super().call(name, *arguments, within_s=within_s)
        return {**answer, **self._told} if name == "hello" else answer


@pytest.mark.parametrize("what", ["version", "engine"])
@pytest.mark.parametrize(("told", "words"), [("0.0.9", "0.0.9"), (None, "[(]unknown[)]")])
def test_a_node_of_another_version_is_refused_by_name(what: str, told: str | None, words: str) -> None:
    with pytest.raises(UsageError, match=rf"node 1 \(over there\) has brimline {words}, and this is \d") as refused:
        Cluster([HereLink(), _Elsewhere(host="over there", **{what: told})])
    assert refused.value.hint == "install the same version on all nodes"


def test_machines_of_one_name_are_numbered() -> None:
    here = platform.node()
    nodes = Cluster([HereLink(), _Elsewhere(boot="a"), _Elsewhere(boot="b"), _Elsewhere(boot="a", processes="c")])
    assert nodes.facts["hosts"] == [here, f"{here} #2", f"{here} #3", f"{here} #2"]
    assert nodes.described == f"4 workers on {here}, {here} #2, {here} #3"
    assert said_in("zh", nodes.described).startswith("4 个工作进程，位于")
    assert nodes.pids_here == {os.getpid()}


def test_the_load_is_said_of_all_nodes_together() -> None:
    whole = plan().model_copy(update={"connections": 16, "threads": 1})
    assert "16 connections on 1 thread" in load_line(whole)
    said = load_line(whole, nodes=2)
    assert "16 connections on 2 threads" in said
    assert said.endswith("; shared out among 2 nodes")


class _Altering(HereLink):
    """A way on which a plan becomes another one."""

    def call(self, name: str, *arguments: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        if name == "start":
            arguments = (replace(arguments[0], plan=arguments[0].plan.model_copy(update={"seed": 7})),)
        return super().call(name, *arguments, within_s=within_s)


def test_a_node_with_another_plan_is_refused_by_name_and_nothing_is_sent(tmp_path: Path) -> None:
    held_to = plan().model_copy(update={"target": NullTarget()})
    with pytest.raises(
        UsageError, match=r"node 1 \(.*\) can't perform the plan: the plan that arrived is another"
    ) as told:
        performed(held_to, tmp_path / "run", [HereLink(), _Altering()])
    assert "the same brimline" in (told.value.hint or "")
    assert read_record(tmp_path / "run").operations == []


def test_a_server_on_this_machines_loopback_is_no_target_for_a_node_elsewhere() -> None:
    nodes = Cluster([HereLink(), _Elsewhere(network="another one")])
    at = {
        address: plan().model_copy(update={"target": WireTarget(address=address, write_concern=None)})
        for address in ("127.0.0.1:27017", "10.0.0.5:27017")
    }
    nodes.check(at["10.0.0.5:27017"])
    nodes.of(1).check(at["127.0.0.1:27017"])
    with pytest.raises(UsageError, match="leads to this machine alone, and node 1") as told:
        nodes.check(at["127.0.0.1:27017"])
    assert "--uri" in (told.value.hint or "")


def test_with_a_silent_node_a_run_is_over_within_ten_seconds() -> None:
    assert ANSWER_WITHIN_S + GIVE_UP_S < 10.0


def test_a_node_that_is_stopped_is_lost_also_while_it_is_sent_more_than_it_takes() -> None:
    link = ProcessLink(STOPPED)
    try:
        with pytest.raises(NodeLost, match=r"no answer within 0\.05 s"):
            link.call("start", bytes(10_000_000), within_s=WITHIN_S)
    finally:
        link.close()
    assert link._process.returncode == -9, "it does not hear that it is to end"


def test_a_node_that_is_asked_for_its_time_is_asked() -> None:
    """Twenty questions for it come after a run: of a busy machine they took longer than a node waits."""
    engine = node.NodeEngine()
    engine._asked_at = 0.0
    engine.clock()
    assert engine._asked_at > 0.0


def test_a_node_that_nobody_asked_says_so() -> None:
    link = ProcessLink(("sh", "-c", f"exit {node.UNASKED}", "sh"))
    try:
        with pytest.raises(NodeLost, match="it ended by itself, as it was not asked for 8 s"):
            link.call("hello")
    finally:
        link.close()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ActorError("it died\nfor a reason"), "its actor is gone (ActorError)"),
        (ConnectionError("reset"), "its actor is gone (ConnectionError)"),
        (
            RayError("the object store is full\nsee its logs"),
            "Ray could not carry it: RayError: the object store is full",
        ),
    ],
)
def test_what_ray_can_not_carry_is_no_actor_that_is_gone(error: Exception, words: str) -> None:
    def get(_answer: object, *, timeout: float) -> Any:
        raise error

    actor = SimpleNamespace(call=SimpleNamespace(remote=lambda *_: None))
    with pytest.raises(NodeLost) as lost:
        RayLink(SimpleNamespace(get=get, exceptions=RAY_ERRORS), actor).call("start", b"rows")
    assert str(lost.value) == words
