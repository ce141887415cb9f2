"""Who is struck is looked for among servers that all do their part."""

from types import SimpleNamespace
from typing import cast

import pytest

from brimline.errors import Interrupted, TargetError
from brimline.execution import Silence, StopToken
from brimline.experiments.failover import runner
from brimline.experiments.failover.runner import FailoverWork
from brimline.servers.faults.site import LOOK_S, Site


def _work() -> FailoverWork:
    context = SimpleNamespace(progress=Silence(), stop=StopToken())
    return cast(
        "FailoverWork", SimpleNamespace(context=context, deployment=None, settings=SimpleNamespace(at="primary"))
    )


def test_an_election_between_two_looks_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    struck, looks = cast("Site", object()), []
    rests: list[float] = []

    def site_of(_deployment: object, *, at: str) -> Site:
        looks.append(at)
        if len(looks) < 3:
            raise TargetError("no server of the lab is a primary now", hint="")
        return struck

    monkeypatch.setattr(runner, "lab_of", lambda _deployment: None)
    monkeypatch.setattr(runner, "site_of", site_of)
    monkeypatch.setattr(Site, "is_whole", True)
    monkeypatch.setattr("time.sleep", rests.append)
    assert FailoverWork._whole_site(_work()) is struck
    assert looks == ["primary"] * 3
    assert rests == [LOOK_S] * 2


def test_an_interrupt_is_heard_while_nobody_has_the_role(monkeypatch: pytest.MonkeyPatch) -> None:
    work = _work()

    def site_of(_deployment: object, *, at: str) -> Site:
        assert not work.context.stop.requested, "it was looked again"
        work.context.stop.request()
        raise TargetError(f"no server of the lab is a {at} now", hint="")

    monkeypatch.setattr(runner, "lab_of", lambda _deployment: None)
    monkeypatch.setattr(runner, "site_of", site_of)
    monkeypatch.setattr(Site, "is_whole", True)
    with pytest.raises(Interrupted):
        FailoverWork._whole_site(work)


def test_servers_that_never_do_their_part_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "lab_of", lambda _deployment: None)
    monkeypatch.setattr(runner, "WHOLE_WITHIN_S", 0.0)
    monkeypatch.setattr(Site, "is_whole", False)
    with pytest.raises(TargetError, match="not every server does its part"):
        FailoverWork._whole_site(_work())
