"""Engines whose samples nobody wants: who follows one waits for it, and does not ask without end."""

import sys
from dataclasses import replace
from typing import Any

import pytest

from brimline import _native
from brimline.errors import Interrupted, NodeGone, TargetError
from brimline.execution import background, unrecorded
from brimline.execution.background import Import
from brimline.execution.cluster.cluster import Cluster
from brimline.execution.execute import RunContext, start_engine
from brimline.plan import resolve
from brimline.servers import Deployment
from tests.support.nodes import HereLink
from tests.support.simulation import context, read_only, target

ENDS_AT = 5
NOBODY = Deployment(
    address="a:1",
    uri_redacted="mongodb://a:1",
    kind="standalone",
    engine="MongoDB",
    version="8.0.0",
    git_version="",
    local=False,
    pid=None,
    cpu_count=None,
)


class Engine:
    """Ends at the fifth look. As with the real one, a look doesn't wait while there are samples to take."""

    def __init__(self) -> None:
        self.looks = self.without_waiting = 0
        self._has_samples = self.is_told_to_drain = False

    def poll(self, timeout_s: float) -> Any:
        assert timeout_s > 0
        self.looks += 1
        self.without_waiting += self._has_samples
        self._has_samples = True
        stage = "finished" if self.looks == ENDS_AT else "running"
        return {"stage": stage, "documents": self.looks, "failed": 0}

    def take_samples(self) -> Any:
        self._has_samples = False
        return {"intervals": []}

    def abort(self) -> None: ...

    def stop(self) -> None:
        self.is_told_to_drain = True

    def join(self) -> Any:
        return {"ok": 1, "errors": [], "ended_by": "completed"}


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine()
    for module in (sys.modules[RunContext.__module__], background):
        monkeypatch.setattr(module, "start_engine", lambda *_, **__: engine)
    return engine


def test_one_that_is_stopped_while_it_connects_has_not_failed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A growth said "the target can't be reached: check that the server runs" where it was interrupted."""

    def join() -> Any:
        raise _native.TargetError("stopped while connecting")

    monkeypatch.setattr(engine, "join", join)
    plan, around = resolve(read_only(), target=target({})), context()
    with pytest.raises(TargetError, match="stopped while connecting"):
        unrecorded.execute_unrecorded(plan, context=around)
    engine.looks = 0
    around.stop.request()
    with pytest.raises(Interrupted):
        unrecorded.execute_unrecorded(plan, context=around)


def test_a_run_that_nobody_records_is_waited_for(engine: Engine) -> None:
    plan = resolve(read_only(), target=target({}))
    assert unrecorded.execute_unrecorded(plan, context=context())["ok"] == 1
    assert (engine.looks, engine.without_waiting) == (ENDS_AT, 0)


def test_a_run_that_nobody_records_is_performed_by_whoever_performs_those_that_are() -> None:
    """A cache that the coordinator warmed, or a control that it asked, would be of another client."""
    plan = resolve(read_only(duration="1s", warmup="0s", connections=2, operation_log=True), target=target({}))
    alone = unrecorded.execute_unrecorded(plan, context=context())
    links = [HereLink(), HereLink()]
    together = unrecorded.execute_unrecorded(plan, context=replace(context(), executor=Cluster(links)))
    for link in links:
        link.close()
    assert [node["sent"] > 0 for node in together["nodes"]] == [True, True]
    assert together["ok"] > 0 and alone.get("nodes") is None


def test_a_node_lost_where_nobody_records_is_an_error() -> None:
    plan = resolve(read_only(duration="1s", warmup="0s", connections=2), target=target({}))
    link = HereLink(lost_after=4)
    with pytest.raises(NodeGone, match="was lost: it is lost for a test"):
        unrecorded.execute_unrecorded(plan, context=replace(context(), executor=Cluster([link])))
    link.close()


def test_a_background_that_imports_is_looked_at_now_and_then(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look is kept until its end, and what asks without end takes a core from the runs beside it."""
    monkeypatch.setattr(Import, "_make_collection", lambda _: None)
    work = Import(resolve(read_only(), target=target({})), NOBODY)
    work.start()
    done = work.stop()
    assert done.error == "all 5 documents are in"
    assert [documents for _, documents in done.progress] == [1, 2, 3, 4, 5]
    assert engine.without_waiting == 0
    assert engine.is_told_to_drain, "a batch in flight would make a collection anew that was removed"


def test_the_real_engine_has_samples_at_the_end_of_each_interval() -> None:
    """What the engine above stands for: nobody takes them, and it is asked thousands of times for a few intervals."""
    plan = resolve(
        read_only(duration="30s", warmup="0s"), target=target({"service": {"kind": "fixed", "ns": 1_000_000}})
    )
    run = start_engine(plan, context().access)
    while run.poll(60.0)["stage"] != "finished":
        assert run.take_samples()["intervals"], "a look that ends early has samples, and none once they are taken"
    run.join()
