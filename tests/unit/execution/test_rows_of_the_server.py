"""Rows of the server that were taken before the run's clock began are put on it all the same."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from brimline.execution import RunContext, Silence, StopToken
from brimline.execution.watching import Watching
from brimline.plan import NullTarget, resolve
from brimline.spec import load_spec

S = 1_000_000_000

executing: Any = import_module("brimline.execution.execute")


class ConnectingRun:
    """A run that connects for two polls, and is over two polls later."""

    def __init__(self) -> None:
        self._states = iter([("connecting", 0), ("connecting", 0), ("running", S), ("finished", 2 * S)])

    def poll(self, timeout_s: float) -> dict[str, Any]:
        stage, elapsed_ns = next(self._states)
        counts = dict.fromkeys(("sent", "ok", "miss", "failed", "documents", "in_flight", "connections_up"), 0)
        return {"stage": stage, "elapsed_ns": elapsed_ns, **counts}

    def take_samples(self) -> dict[str, Any]:
        return {"intervals": []}

    def abort(self) -> None: ...


class Sampler:
    """Has a row for each time it is asked, and says whether the clock had begun by then."""

    def __init__(self) -> None:
        self.has_origin = False

    def set_origin(self, origin_ns: int) -> None:
        self.has_origin = True

    def take_rows(self) -> list[Any]:
        assert self.has_origin, "a row before the clock's zero is known would lie elsewhere than those after it"
        return []


class Writer:
    directory = Path("unused")


def test_no_row_is_taken_before_the_clock_has_a_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executing, "start_engine", lambda *_, **__: ConnectingRun())
    monkeypatch.setattr(executing, "join_engine", lambda *_, **__: {"ended_by": "completed"})
    sampler: Any = Sampler()
    writer: Any = Writer()
    plan = resolve(load_spec("ycsb-c").spec, target=NullTarget())
    context = RunContext(deployment=None, spec_text="", environment={}, progress=Silence(), stop=StopToken())
    executing._drive(plan, writer, Watching(sampler, None), "run", context)
    assert sampler.has_origin
