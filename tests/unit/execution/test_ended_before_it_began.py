"""What ends a run before its engine has anything to say of it stands in the record as what it was."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from brimline.errors import BrimlineError, Interrupted, TargetError
from brimline.execution.execute import execute
from brimline.plan import resolve
from brimline.record import read_record
from brimline.servers.distrust import TURNED_AWAY
from tests.support.simulation import context, read_only, target


@pytest.mark.parametrize(
    ("error", "ended_by"),
    [(Interrupted("interrupted by SIGINT"), "interrupt"), (TargetError("no connection could be made"), "error")],
)
def test_the_record_says_how_it_ended(error: BrimlineError, ended_by: str, tmp_path: Path) -> None:
    def end() -> None:
        raise error

    plan = resolve(read_only(), target=target({"service": {"kind": "fixed", "ns": 1_000_000}}))
    with pytest.raises(type(error)):
        execute(plan, directory=tmp_path / "run", title="a run", context=context(), change=end)
    record = read_record(tmp_path / "run")
    assert (record.ended_by, record.message) == (ended_by, error.message)


def test_a_connection_that_was_waited_for_is_told_of_the_run_in_which_it_was(tmp_path: Path) -> None:
    """Also of a run that ends in an error, which is where connections lack. The next run's record had it."""
    plan = resolve(read_only(), target=target({"service": {"kind": "fixed", "ns": 1_000_000}}))

    def wait(waited_s: float, error: BrimlineError | None = None) -> None:
        TURNED_AWAY.add(waited_s)
        if error is not None:
            raise error

    def waited(name: str, change: Callable[[], None]) -> list[object]:
        with suppress(TargetError):
            execute(plan, directory=tmp_path / name, title="a run", context=context(), change=change)
        return [each.fields["waited_s"] for each in read_record(tmp_path / name).events if each.kind == "turned_away"]

    TURNED_AWAY.add(7.0)
    assert waited("fails", partial(wait, 1.5, TargetError("330 of 512 connections"))) == [1.5]
    assert waited("next", partial(wait, 0.0)) == []
    assert waited("ends", partial(wait, 2.0)) == [2.0]


def test_a_look_at_the_server_that_fails_before_the_run_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its record read as killed."""

    def fail(*_: object, **__: object) -> None:
        TURNED_AWAY.add(1.5)
        raise TargetError("the server's counters can't be read: it closes each further connection")

    monkeypatch.setattr("brimline.execution.around.base.Around.counters", fail)
    plan = resolve(read_only(), target=target({"service": {"kind": "fixed", "ns": 1_000_000}}))
    with pytest.raises(TargetError, match="further connection"):
        execute(plan, directory=tmp_path / "run", title="a run", context=context())
    record = read_record(tmp_path / "run")
    assert (record.ended_by, [each.kind for each in record.events]) == ("error", ["turned_away"])
    assert "counters can't be read" in record.message
