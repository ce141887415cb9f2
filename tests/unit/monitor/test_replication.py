"""Members by state and their lags, from answers of known content."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from brimline.monitor.replication import read_replication

_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def _member(state: int, *, behind_ms: int | None = 0, health: float = 1.0, wall: bool = True) -> dict[str, Any]:
    member: dict[str, Any] = {"state": state, "health": health}
    if behind_ms is not None:
        applied = _NOON - timedelta(milliseconds=behind_ms)
        member["optimeDate"] = applied.replace(microsecond=0)
        if wall:
            member["lastAppliedWallTime"] = applied
    return member


def test_members_by_state() -> None:
    members = [
        _member(1),
        _member(2),
        _member(2),
        _member(7, behind_ms=None),
        _member(3),
        _member(5),
        _member(8, behind_ms=None, health=0.0),
        _member(2, health=0.0),
    ]
    columns = read_replication({"members": members})
    named = {name.removeprefix("members_"): value for name, value in columns.items() if name.startswith("members_")}
    assert named == {"primary": 1, "secondary": 2, "arbiter": 1, "recovering": 2, "unreachable": 2}


@pytest.mark.parametrize(
    ("members", "lag_ms"),
    [
        ([_member(1), _member(2, behind_ms=40), _member(2, behind_ms=1_250)], 1_250),
        ([_member(1), _member(2, behind_ms=-3)], 0),  # its position is newer than the primary's own entry
        ([_member(1, wall=False), _member(2, behind_ms=2_500, wall=False)], 3_000),  # whole seconds
        ([_member(1), _member(2, behind_ms=10), _member(2, behind_ms=90_000, health=0.0)], 10),
        ([_member(1), _member(7, behind_ms=None)], None),
        ([_member(1)], None),
        ([_member(2), _member(2, behind_ms=5)], None),  # nobody to be behind
        ([_member(1, behind_ms=None), _member(2)], None),
    ],
)
def test_lag_of_the_slowest_reachable_secondary(members: list[dict[str, Any]], lag_ms: int | None) -> None:
    assert read_replication({"members": members})["replication_lag_slowest_ms"] == lag_ms


def test_lag_of_the_majority() -> None:
    optimes = {"lastAppliedWallTime": _NOON, "lastCommittedWallTime": _NOON - timedelta(milliseconds=18)}
    assert read_replication({"members": [], "optimes": optimes})["replication_lag_majority_ms"] == 18
    assert read_replication({"members": []})["replication_lag_majority_ms"] is None
