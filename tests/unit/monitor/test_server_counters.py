"""The counters of several servers around a run."""

import pytest

from brimline.monitor.opcounters import KINDS, Opcounters
from brimline.monitor.server_counters import around


def counters(count: int, *, uptime_ms: int) -> Opcounters:
    return Opcounters(**dict.fromkeys(KINDS, count), command=0, uptime_ms=uptime_ms)


BEFORE = {"a:1": counters(1, uptime_ms=1000), "b:1": counters(2, uptime_ms=9000)}


def test_what_all_members_counted_is_added() -> None:
    after = {"a:1": counters(5, uptime_ms=2000), "b:1": counters(4, uptime_ms=10_000)}
    found = around(BEFORE, after)
    assert found is not None
    assert found["after"]["insert"] - found["before"]["insert"] == 6


def test_a_member_that_was_started_again_shows_in_the_sum() -> None:
    """Its own time of running is far below what it was; all together ran for longer."""
    found = around(BEFORE, {"a:1": counters(0, uptime_ms=900), "b:1": counters(4, uptime_ms=10_000)})
    assert found is not None
    assert Opcounters(**found["after"]).restarted_since(Opcounters(**found["before"]))


@pytest.mark.parametrize(
    "after",
    [
        {"b:1": counters(4, uptime_ms=10_000)},
        {**BEFORE, "c:1": counters(4, uptime_ms=10_000)},
        {**BEFORE, "a:1": None},
        {},
    ],
    ids=["one is gone", "one has come", "one does not tell", "nobody answers"],
)
def test_members_that_come_and_go_leave_nothing_to_compare(after: dict[str, Opcounters | None]) -> None:
    assert around(BEFORE, after) is None
