"""What the runners of PyMongo make of what the driver keeps to itself."""

import sys
from pathlib import Path
from typing import Any

import pytest
from pymongo.errors import NetworkTimeout

SOURCES = Path(__file__).parents[2] / "runners" / "python"


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SOURCES))
    import frames

    yield frames
    del sys.modules["frames"]


def test_an_abort_that_took_as_long_as_the_driver_waits_was_not_answered(
    frames: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = frames.Sessions(400)
    monkeypatch.setattr(frames.time, "monotonic_ns", lambda: 1_400_000_000)
    sessions.require_answered(1_000_000_001)
    with pytest.raises(NetworkTimeout) as raised:
        sessions.require_answered(1_000_000_000)
    assert frames.done_of(raised.value).outcome == frames.TIMED_OUT


def test_no_command_begins_behind_the_end_and_what_is_under_way_is_waited_for(frames: Any) -> None:
    sessions = frames.Sessions(400)
    sessions.ids.append({})
    assert sessions.enters()
    waits = sessions.waits()
    assert next(waits) > 0
    assert not sessions.enters()
    sessions.leave()
    assert list(waits) == []
