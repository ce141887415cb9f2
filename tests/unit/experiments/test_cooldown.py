"""The pause before a probe, on a clock of its own and with a server that says what it is told to."""

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline.execution import StopToken
from brimline.execution.cool_down import (
    DIRTY_SHARE_CALM,
    Columns,
    CoolDown,
    _at_work,
    cool_down,
    cool_down_limit_s,
    disturbances,
    wait_until_calm,
)
from brimline.execution.progress import SoFar
from brimline.experiments import runner
from brimline.experiments.runner import run_trials
from brimline.experiments.stored import stored_trials
from brimline.experiments.trial import Probe, Trial
from brimline.record import ExperimentWriter, read_experiment
from brimline.servers import Deployment
from tests.support.simulation import context, read_only, target

CALM: dict[str, int | None] = {
    "checkpoint_running": 0,
    "read_queue": 0,
    "write_queue": 0,
    "read_tickets_out": 0,
    "write_tickets_out": 0,
    "cache_bytes_dirty": 10,
    "cache_bytes_max": 1000,
}
NOBODY = Deployment(
    address="127.0.0.1:1",
    uri_redacted="mongodb://127.0.0.1:1",
    kind="standalone",
    engine="MongoDB",
    version="6.0.5",
    git_version="",
    local=True,
    pid=None,
    cpu_count=2,
)


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, length_s: float) -> None:
        self.now_s += length_s


def waited(
    looks: Iterable[Columns], *, limit_s: float = 10.0, dirty_floor: float | None = None, stop: StopToken | None = None
) -> CoolDown:
    """The pause before a server that shows `looks` one after another, and the last of them for ever."""
    shown = list(looks)
    clock = Clock()
    return wait_until_calm(
        lambda: shown.pop(0) if len(shown) > 1 else shown[0],
        limit_s=limit_s,
        dirty_floor=dirty_floor,
        stop=stop or StopToken(),
        clock=clock,
        sleep=clock.sleep,
    )


def probe(duration_s: float = 4.0) -> Probe:
    return Probe(
        stage="search",
        label="a",
        target="server",
        connections=8,
        rate_ops_per_s=200.0,
        warmup_s=0.5,
        duration_s=duration_s,
    )


def test_a_calm_server_is_not_waited_for() -> None:
    assert waited([CALM]) == CoolDown(waited_s=0.0, calm=True, dirty_share=0.01)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"checkpoint_running": 1}, "a checkpoint runs"),
        ({"read_queue": 2, "write_queue": 3}, "5 operations wait for their turn"),
        ({"write_tickets_out": 4}, "4 operations are at work"),
        ({"cache_bytes_dirty": 200}, "20 % of the cache is dirty"),
    ],
)
def test_each_disturbance_is_waited_for_and_named(change: dict[str, int], said: str) -> None:
    pause = waited([CALM | change, CALM | change, CALM])
    assert pause.calm and pause.waited_s == 0.5 and pause.waiting_for == (said,)


def test_the_wait_is_bounded() -> None:
    pause = waited([CALM | {"checkpoint_running": 1}], limit_s=10.1)
    assert not pause.calm and pause.waited_s == pytest.approx(10.1)
    assert pause.waiting_for == ("a checkpoint runs",)


def test_a_request_to_stop_ends_it() -> None:
    stop = StopToken()
    stop.request()
    assert waited([CALM | {"checkpoint_running": 1}], stop=stop).waited_s == 0.0


def test_dirty_pages_are_back_near_the_lowest_share_that_was_seen() -> None:
    dirty = CALM | {"cache_bytes_dirty": 150}
    assert disturbances(dirty, dirty_floor=0.145) == ()
    assert disturbances(dirty, dirty_floor=0.13) == ("15 % of the cache is dirty",)
    assert disturbances(dirty, dirty_floor=None) != ()
    assert disturbances(CALM | {"cache_bytes_dirty": int(1000 * DIRTY_SHARE_CALM)}, dirty_floor=0.0) == ()


@pytest.mark.parametrize(("active", "own", "working"), [(1, 1, 0), (3, 1, 2), (2, 0, 2), (0, 1, 0), (None, 1, 0)])
def test_who_looks_at_a_database_is_not_at_work_in_it(active: int | None, own: int, working: int) -> None:
    seen = _at_work({"connections_active": active, "lock_waiters": 0}, own=own)
    assert disturbances(seen, dirty_floor=None) == ((f"{working} operations are at work",) if working else ())


def test_what_a_server_does_not_show_is_not_waited_for() -> None:
    assert waited([dict.fromkeys(CALM)]) == CoolDown(waited_s=0.0, calm=True)


@pytest.mark.parametrize(("duration_s", "limit_s"), [(2.0, 10.0), (15.0, 15.0), (60.0, 60.0), (240.0, 60.0)])
def test_the_limit_follows_the_window(duration_s: float, limit_s: float) -> None:
    assert cool_down_limit_s(duration_s) == limit_s


def test_a_server_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brimline.execution.cool_down._CONNECT_TIMEOUT_S", 0.2)
    pause = cool_down(NOBODY, limit_s=60, dirty_floor=None, stop=StopToken())
    assert not pause.calm and pause.waited_s == 0.0
    assert "doesn't say whether it is calm" in pause.waiting_for[0]


class _Two:
    """Two probes of the server, one after the other."""

    def next_probe(self, trials: list[Trial]) -> Probe | None:
        return probe() if len(trials) < 2 else None

    def so_far(self, trials: list[Trial]) -> SoFar:
        return SoFar(unit="connections")


def _run(directory: Path, monkeypatch: pytest.MonkeyPatch, pauses: list[CoolDown], floors: list[Any]) -> list[Trial]:
    def pause(_deployment: object, *, dirty_floor: float | None, **_how: object) -> CoolDown:
        floors.append(dirty_floor)
        return pauses[len(floors) - 1]

    monkeypatch.setattr(runner, "cool_down", pause)
    # Only the pause asks the server: the probes go to the script.
    surroundings = context()
    monkeypatch.setattr(runner, "execute", _without_server(runner.execute, surroundings))
    monkeypatch.setattr(runner, "putting_back", lambda plan, context: nullcontext())
    with ExperimentWriter(
        directory, kind="sweep", name="x", settings={}, spec_text="name: x\n", environment={}
    ) as writer:
        trials = run_trials(
            _Two(),  # type: ignore[arg-type]
            spec=read_only(),
            target=target({"service": {"kind": "fixed", "ns": 1000}}),
            writer=writer,
            context=_with_server(surroundings),
        )
        writer.seal(ended_by="completed")
    return trials


def _with_server(surroundings: Any) -> Any:
    return replace(surroundings, deployment=NOBODY)


def _without_server(execute: Any, surroundings: Any) -> Any:
    def simulated(plan: Any, *, context: Any, **how: Any) -> Any:
        return execute(plan, context=surroundings, **how)

    return simulated


def test_the_pause_is_kept_with_its_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = [
        CoolDown(waited_s=3.5, calm=True, waiting_for=("a checkpoint runs",), dirty_share=0.02),
        CoolDown(waited_s=0.0, calm=True, dirty_share=0.04),
    ]
    floors: list[Any] = []
    trials = _run(tmp_path / "experiment", monkeypatch, pauses, floors)
    assert [trial.cool_down for trial in trials] == pauses
    assert floors == [None, 0.02]
    again = stored_trials(read_experiment(tmp_path / "experiment"))
    assert [trial.cool_down for trial in again] == pauses
    assert [trial.probe for trial in again] == [trial.probe for trial in trials]
