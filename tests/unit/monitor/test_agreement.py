"""Server counters against brimline's counts: the exact bounds of what passes."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pymongo.errors import AutoReconnect, OperationFailure, PyMongoError

from brimline.errors import TargetError
from brimline.monitor import Opcounters, check_agreement, read_opcounters
from brimline.servers.deployment import Client


def _counters(uptime_ms: int = 1000, **counts: int) -> Opcounters:
    zero = dict.fromkeys(("insert", "query", "update", "delete", "getmore", "command"), 0)
    return Opcounters(**zero | counts, uptime_ms=uptime_ms)


@pytest.mark.parametrize(
    ("acknowledged", "uncertain", "counted", "verdict"),
    [
        (1000, 0, 1000, "pass"),
        (1000, 0, 999, "fail"),  # acknowledged and not executed
        (1000, 5, 999, "fail"),  # what is uncertain can't explain a deficit
        (1000, 0, 1010, "pass"),
        (1000, 0, 1011, "fail"),
        (1000, 5, 1015, "pass"),
        (1000, 5, 1016, "fail"),
        (1_000_000, 0, 1_001_000, "pass"),
        (1_000_000, 0, 1_001_001, "fail"),
        (0, 0, 10, "pass"),
        (0, 0, 11, "fail"),
    ],
)
def test_bounds(acknowledged: int, uncertain: int, counted: int, verdict: str) -> None:
    agreement = check_agreement(
        before=_counters(query=7),
        after=_counters(uptime_ms=2000, query=7 + counted),
        acknowledged={"query": acknowledged},
        uncertain={"query": uncertain},
    )
    assert agreement.verdict == verdict
    assert ("query" in agreement.evidence) == bool(acknowledged or verdict == "fail")


def test_an_excess_names_another_client_and_a_deficit_does_not() -> None:
    more = check_agreement(before=_counters(), after=_counters(delete=50), acknowledged={}, uncertain={})
    assert more.evidence == ("delete: the server counted 50, 50 more than brimline sent: another client was at work")
    less = check_agreement(before=_counters(), after=_counters(), acknowledged={"insert": 3}, uncertain={})
    assert less.evidence == "insert: the server counted 0, 3 fewer than the 3 it acknowledged"
    assert more.another_client and not less.another_client
    both = check_agreement(before=_counters(), after=_counters(delete=50), acknowledged={"insert": 3}, uncertain={})
    assert not both.another_client


@pytest.mark.parametrize(
    ("jobs", "verdict"), [((3, 4), "pass"), ((3, 3), "fail"), ((None, 4), "fail"), ((None, None), "fail")]
)
def test_a_server_that_puts_its_sessions_in_order_counts_deletes_of_its_own(
    jobs: tuple[int | None, int | None], verdict: str
) -> None:
    before, after = (
        replace(_counters(delete=count), session_jobs=job) for count, job in zip((0, 127), jobs, strict=True)
    )
    assert check_agreement(before=before, after=after, acknowledged={}, uncertain={}).verdict == verdict


@pytest.mark.parametrize(
    ("jobs", "updated", "verdict"),
    [
        ((3, 4), (9, 506), "pass"),
        ((3, 4), (9, 495), "fail"),  # so many it didn't update
        ((3, 4), (9, 0), "pass"),  # it is at it when the last reading is taken
        ((3, 5), (9, 2), "pass"),  # how many at the first of both times isn't known
        ((3, 3), (0, 506), "pass"),  # it was at it when the first reading was taken
        ((3, 3), (0, 0), "fail"),  # it found nothing to do, as the first time in a new set
        ((3, 4), (0, 2), "pass"),
        ((3, 3), (9, 9), "fail"),
        ((0, 0), (0, 0), "fail"),
        ((None, None), (None, None), "fail"),
    ],
)
def test_a_server_that_puts_its_sessions_in_order_counts_updates_of_its_own(
    jobs: tuple[int | None, int | None], updated: tuple[int | None, int | None], verdict: str
) -> None:
    before = replace(_counters(), session_jobs=jobs[0], sessions_updated=updated[0])
    after = replace(_counters(update=1506), session_jobs=jobs[1], sessions_updated=updated[1])
    agreement = check_agreement(before=before, after=after, acknowledged={"update": 1000}, uncertain={})
    assert agreement.verdict == verdict
    assert ("sessions that the server put in order" in agreement.evidence) == (verdict == "pass")
    missing = check_agreement(before=before, after=after, acknowledged={"update": 1507}, uncertain={})
    assert missing.verdict == "fail", "one of ours is missing"


def test_the_servers_own_jobs_are_read() -> None:
    counts = dict.fromkeys(("insert", "query", "update", "delete", "getmore"), 1)
    told = {
        "sessionsCollectionJobCount": 7,
        "lastSessionsCollectionJobEntriesRefreshed": 501,
        "lastSessionsCollectionJobEntriesEnded": 3,
    }
    read = Opcounters.from_status({"opcounters": counts, "logicalSessionRecordCache": told})
    assert read is not None
    assert (read.session_jobs, read.sessions_updated, read.sessions_deleted) == (7, 501, 3)
    assert Opcounters(**read.to_dict()) == read


def test_commands_are_not_compared() -> None:
    agreement = check_agreement(before=_counters(), after=_counters(command=999), acknowledged={}, uncertain={})
    assert agreement.verdict == "pass"


def test_other_members_read_the_oplog_with_getmores() -> None:
    def compare(acknowledged: int, *, in_replica_set: bool) -> str:
        return check_agreement(
            before=_counters(),
            after=_counters(uptime_ms=2000, getmore=3341, update=500),
            acknowledged={"getmore": acknowledged, "update": 500},
            uncertain={},
            in_replica_set=in_replica_set,
        ).verdict

    assert compare(0, in_replica_set=False) == "fail"
    assert compare(0, in_replica_set=True) == "pass"
    assert compare(3342, in_replica_set=True) == "fail", "one of ours is missing"


def test_nothing_but_getmores_is_let_pass_in_a_replica_set() -> None:
    agreement = check_agreement(
        before=_counters(), after=_counters(update=50), acknowledged={}, uncertain={}, in_replica_set=True
    )
    assert agreement.verdict == "fail"


def test_members_look_up_the_sessions_of_writes() -> None:
    def compare(acknowledged: int, *, has_numbered_writes: bool) -> str:
        return check_agreement(
            before=_counters(),
            after=_counters(uptime_ms=2000, query=300, update=500),
            acknowledged={"query": acknowledged, "update": 500},
            uncertain={},
            has_numbered_writes=has_numbered_writes,
        ).verdict

    assert compare(100, has_numbered_writes=False) == "fail"
    assert compare(100, has_numbered_writes=True) == "pass"
    assert compare(301, has_numbered_writes=True) == "fail", "one of ours is missing"


def test_secondaries_count_what_the_primary_mirrors_to_them() -> None:
    """As counted by a set of two: a primary mirrors about one in a hundred updates as finds."""

    def compare(query: int, *, secondaries: int) -> str:
        return check_agreement(
            before=_counters(),
            after=_counters(query=query, update=1649),
            acknowledged={"query": 1655, "update": 1649},
            uncertain={},
            in_replica_set=True,
            secondaries=secondaries,
        ).verdict

    assert compare(1677, secondaries=1) == "pass"
    assert compare(1677, secondaries=0) == "fail"
    assert compare(1654, secondaries=1) == "fail", "one of ours is missing"
    assert compare(1655 + 67 + 11, secondaries=1) == "fail", "more than are mirrored"
    assert compare(1655 + 67 + 11, secondaries=2) == "pass"


def test_what_can_not_be_compared_is_unknown() -> None:
    counters = _counters(query=5)
    assert check_agreement(before=None, after=counters, acknowledged={}, uncertain={}).verdict == "unknown"
    restarted = check_agreement(
        before=_counters(uptime_ms=9000), after=_counters(uptime_ms=10), acknowledged={}, uncertain={}
    )
    assert restarted.verdict == "unknown"
    assert "started again" in restarted.evidence
    fallen = check_agreement(
        before=_counters(query=7), after=_counters(uptime_ms=2000, query=6), acknowledged={"query": 3}, uncertain={}
    )
    assert (fallen.verdict, fallen.evidence.split(",")[0]) == ("unknown", "the server's counts fell during the run")


def test_a_server_without_counters_has_none() -> None:
    assert Opcounters.from_status({"ok": 1.0}) is None
    assert Opcounters.from_status({"opcounters": {"insert": 1}}) is None


def _failing(error: PyMongoError) -> Client:
    def command(_command: Any) -> Any:
        raise error

    return cast(Client, SimpleNamespace(admin=SimpleNamespace(command=command)))


def test_a_user_who_may_not_see_the_counters_has_none() -> None:
    assert read_opcounters(_failing(OperationFailure("not authorized", code=13))) is None


@pytest.mark.parametrize("error", [AutoReconnect("gone"), OperationFailure("shutting down", code=91)])
def test_a_server_that_does_not_answer_is_an_error(error: PyMongoError) -> None:
    with pytest.raises(TargetError):
        read_opcounters(_failing(error))
