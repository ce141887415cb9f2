"""The counters of several servers around a run."""

from dataclasses import replace

import pytest

from brimline.errors import TargetError
from brimline.monitor.opcounters import KINDS, Opcounters
from brimline.monitor.part_counts import PartCounts, read_part_counts
from brimline.monitor.server_counters import Reading, around, read_counters
from brimline.plan.model import ReplicaSet
from brimline.servers import Deployment
from brimline.servers.parts import Part


def reading(count: int, *, uptime_ms: int, at_ms: int) -> Reading:
    return Reading(counters=Opcounters(**dict.fromkeys(KINDS, count), command=0, uptime_ms=uptime_ms), at_ms=at_ms)


BEFORE = {"a:1": reading(1, uptime_ms=1000, at_ms=50_000), "b:1": reading(2, uptime_ms=9000, at_ms=50_001)}
LATER = reading(4, uptime_ms=69_000, at_ms=110_001)


def test_what_all_members_counted_is_added() -> None:
    found = around(BEFORE, {"a:1": reading(5, uptime_ms=60_900, at_ms=110_000), "b:1": LATER})
    assert found is not None
    assert found["after"]["insert"] - found["before"]["insert"] == 6
    assert not Opcounters(**found["after"]).restarted_since(Opcounters(**found["before"]))


def test_shards_are_told_one_by_one_in_their_order() -> None:
    after = {"a:1": reading(5, uptime_ms=60_900, at_ms=110_000), "b:1": LATER}
    found = around(BEFORE, after, ("b:1", "a:1"))
    assert found is not None
    grown = [each["after"]["insert"] - each["before"]["insert"] for each in found["shards"]]
    assert ([each["address"] for each in found["shards"]], grown) == (["b:1", "a:1"], [2, 4])
    assert "shards" not in (around(BEFORE, after) or {})
    again = around(BEFORE, {**after, "b:1": reading(4, uptime_ms=9_500, at_ms=110_001)}, ("a:1", "b:1"))
    assert again is not None
    assert [Opcounters(**each["after"]).uptime_ms for each in again["shards"]] == [60_900, 0], "one was started again"


@pytest.mark.parametrize("uptime_ms", [900, 1001, 40_000])
def test_a_member_that_was_started_again_shows_in_the_sum(uptime_ms: int) -> None:
    """It may have run for longer than it had before, and all together in any case."""
    found = around(BEFORE, {"a:1": reading(0, uptime_ms=uptime_ms, at_ms=110_000), "b:1": LATER})
    assert found is not None
    assert Opcounters(**found["after"]).restarted_since(Opcounters(**found["before"]))


def test_a_server_that_does_not_tell_for_how_long_it_runs_was_not_started_again() -> None:
    found = around({"a:1": reading(1, uptime_ms=0, at_ms=50_000)}, {"a:1": reading(5, uptime_ms=0, at_ms=110_000)})
    assert found is not None
    assert not Opcounters(**found["after"]).restarted_since(Opcounters(**found["before"]))


@pytest.mark.parametrize(
    "after",
    [
        {"b:1": LATER},
        {**BEFORE, "c:1": LATER},
        {**BEFORE, "a:1": Reading(counters=None, at_ms=110_000)},
        {},
    ],
    ids=["one is gone", "one has come", "one does not tell", "nobody answers"],
)
def test_members_that_come_and_go_leave_nothing_to_compare(after: dict[str, Reading]) -> None:
    assert around(BEFORE, after) is None


ALONE = Deployment(
    address="127.0.0.1:1", uri_redacted="mongodb://127.0.0.1:1", kind="mongos", engine="MongoDB", version="7.0.0",
    git_version="", local=False, pid=None, cpu_count=None,
)  # fmt: skip


@pytest.mark.slow("a router that is gone is waited for")
def test_one_of_several_routers_that_is_gone_is_left_out() -> None:
    """The run went on without it: that it is gone is no end of the run."""
    with pytest.raises(TargetError, match="doesn't answer any more"):
        read_counters(ALONE)
    assert read_counters(replace(ALONE, routers=("127.0.0.1:2",))) == {}


def test_no_client_waits_for_a_member_that_refuses_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver asks on for as long as it may: each run on a set that lacks a member took six seconds more."""
    asked: list[str] = []

    def client(address: str, **_: object) -> None:
        asked.append(address)
        raise AssertionError(address)

    monkeypatch.setattr("brimline.monitor.server_counters.control_client", client)
    monkeypatch.setattr("brimline.monitor.part_counts.control_client", client)
    part = Part(shard="", address="127.0.0.1:1")
    monkeypatch.setattr("brimline.monitor.part_counts.parts_of", lambda _: (part,))
    members = ReplicaSet(name="rs", members=("127.0.0.1:1", "127.0.0.1:2"), selection_timeout_ns=1)
    of_a_set = replace(ALONE, kind="replica-set member", replica_set=members)
    assert read_counters(of_a_set) == {}
    assert read_part_counts(of_a_set) == (PartCounts(part=part),)
    assert asked == []
