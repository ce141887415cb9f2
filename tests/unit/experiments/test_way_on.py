"""Whatever ends an experiment early, its error names the record and the command that goes on with it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from brimline import _native
from brimline.api.interfere import InterferenceResult
from brimline.api.kinds import kind_named
from brimline.api.recording import recording
from brimline.api.resume import resuming_verb
from brimline.api.vary import keep_or_remove
from brimline.errors import BrimlineError, NotAllConnected, ResourceError, TargetError
from brimline.execution import StopToken
from brimline.execution.execute import join_engine
from brimline.plan.targets import RunnerTarget
from brimline.record import ExperimentWriter
from tests.support.run_sets import plan

KINDS = ("ab", "capacity", "frontier", "failover", "growth", "interfere", "scan", "soak", "sweep")
SLOW = "no answer to the handshake (5 of 32 connections are up)"
PYMONGO = RunnerTarget(client="pymongo", addresses=["h:1"], max_pool_size=1, write_concern=None)


def _ended(tmp_path: Path, kind: str, *, within: str = "", hint: str | None = "look at the server") -> BrimlineError:
    """The error that comes out of an experiment of this kind; `within`: out of one of that kind in it."""
    place: Any = SimpleNamespace(
        spec=SimpleNamespace(seed=1, name="orders"),
        context=SimpleNamespace(spec_text="name: orders\n", environment={}),
        directory=lambda _plan, kind: tmp_path / kind,
        stop=StopToken(),
    )
    plan: Any = SimpleNamespace(hash8=lambda: "00000000")
    made = {"settings": {"measure": within}, "resume": False}
    with pytest.raises(TargetError) as caught, recording(place, plan, kind=kind, directory=None, **made) as writer:
        if not within:
            raise TargetError("it went away", hint=hint)
        inner: Any = {"kind": within, "directory": writer.directory / "trials" / "01", "settings": {}}
        with recording(place, plan, resume=False, **inner):
            raise TargetError("it went away", hint=hint)
    return caught.value


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_names_the_record_and_what_goes_on_with_it(kind: str, tmp_path: Path) -> None:
    made, directory = kind_named(kind), tmp_path / kind
    assert made is not None
    goes_on = f"what was measured is kept in {directory}; brimline {made.verb} --resume {directory} goes on with it"
    assert _ended(tmp_path, kind).hint == f"look at the server; {goes_on}"


def test_an_error_without_a_hint_gets_one(tmp_path: Path) -> None:
    assert (_ended(tmp_path, "ab", hint=None).hint or "").startswith("what was measured is kept in")


def test_of_an_experiment_within_another_the_outer_one_is_named(tmp_path: Path) -> None:
    """A comparison of searches is gone on with as a comparison, though its record says which measure it is of."""
    hint = _ended(tmp_path, "ab", within="capacity").hint or ""
    assert hint.count("--resume") == 1 and f"brimline ab --resume {tmp_path / 'ab'} goes on" in hint
    assert resuming_verb("ab", {"measure": "capacity"}) == "ab"
    assert resuming_verb("vary", {"measure": "capacity"}) == "capacity"


def test_a_design_names_the_option_that_goes_on_with_it(tmp_path: Path) -> None:
    made: Any = {"kind": "vary", "name": "orders", "settings": {"measure": "load"}, "plan_hash": "00000000"}
    with ExperimentWriter(tmp_path / "design", spec_text="", environment={}, **made) as writer:
        writer.seal(ended_by="error")
    error = TargetError("it went away", hint="look at the server")
    keep_or_remove(tmp_path / "design", error, begun=True)
    assert f"brimline load --resume-design {tmp_path / 'design'} goes on with it" in (error.hint or "")


def test_a_target_that_went_away_during_a_comparison_does_as_well() -> None:
    nothing: Any = SimpleNamespace()
    lost = SimpleNamespace(left_out=[SimpleNamespace(ended_by="target_lost", reason="connection refused")])
    result = InterferenceResult(
        report=nothing, directory=Path("runs/i"), experiment=nothing, comparison=cast(Any, lost), **_of_interference()
    )
    assert result.error is not None
    assert "brimline interfere --resume runs/i goes on with it" in (result.error.hint or "")


def _of_interference() -> dict[str, Any]:
    known = {"report", "directory", "experiment", "comparison", "interrupted"}
    return {name: None for name in InterferenceResult.__dataclass_fields__ if name not in known}


@pytest.mark.parametrize(
    ("words", "lacks"),
    [
        ("exit status: 1: RuntimeError: can't start new thread", "no thread can be started for the client pymongo"),
        ("OpenJDK: unable to create native thread: possibly out of memory", "no thread"),
        ("runtime: failed to create new OS thread", "no thread"),
        ("Error occurred during initialization of VM: Could not reserve enough space", "not enough memory"),
        ("fatal error: runtime: cannot allocate memory", "not enough memory: the client pymongo"),
    ],
)
def test_a_driver_without_room_is_told_from_one_that_lacks_something(words: str, lacks: str) -> None:
    class Engine:
        def join(self) -> None:
            raise _native.TargetError(f"the runner has ended with {words}")

    with pytest.raises(ResourceError, match=lacks) as caught:
        join_engine(cast(Any, Engine()), plan().model_copy(update={"target": PYMONGO}), stop=StopToken())
    assert "ulimit -v" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("reason", "is_driver", "told", "hint"),
    [
        (SLOW, False, "no answer to the handshake", "the server may be slow or overloaded"),
        (SLOW, True, "the client pymongo was not ready in time", "too busy to start it"),
        ("connection refused (0 of 32)", False, "connection refused", "check that the server runs"),
        ("connection refused (0 of 32)", True, "connection refused", "these are the driver's words"),
    ],
)
def test_a_slow_handshake_may_be_the_server_or_the_start_of_a_driver(
    reason: str, is_driver: bool, told: str, hint: str
) -> None:
    """A driver that has said nothing yet has no words that a hint could be about, and no connection that was tried."""

    class Engine:
        def join(self) -> None:
            raise _native.TargetError(reason)

    with pytest.raises(TargetError, match=told) as caught:
        made = plan().model_copy(update={"target": PYMONGO}) if is_driver else plan()
        join_engine(cast(Any, Engine()), made, stop=StopToken())
    said = caught.value.hint or ""
    assert hint in said
    assert ("ulimit -n" in said) is not is_driver, "which is about connections"


def test_some_connections_of_all_are_told_from_none() -> None:
    class Engine:
        def join(self) -> None:
            raise _native.TargetError(SLOW)

    asked = plan().model_copy(update={"connections": 32})
    with pytest.raises(NotAllConnected) as caught:
        join_engine(cast(Any, Engine()), asked, stop=StopToken(), up=5)
    assert (caught.value.up, caught.value.wanted) == (5, 32)
    for up in (0, 32):
        with pytest.raises(TargetError) as other:
            join_engine(cast(Any, Engine()), asked, stop=StopToken(), up=up)
        assert not isinstance(other.value, NotAllConnected)
