"""Owns reading `replSetGetStatus`: members by state and how far behind they are. Pure: a document in, columns out.

Lags are differences of wall-clock times that the primary gave to the operations that members applied last
(`lastAppliedWallTime`, with milliseconds, in newer 4.4, 5.0 and everything since; before them `optimeDate`, in whole
seconds). The member that is asked knows the others from their heartbeats and position updates, so a lag below a second
or so says little; and where writes are rare, a member that is one operation behind is as many ms behind as lie between
two writes.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from brimline.monitor.server_status import Columns

COMMAND: Mapping[str, Any] = {"replSetGetStatus": 1}

_PRIMARY, _SECONDARY, _ARBITER = 1, 2, 7
_UNREACHABLE = frozenset({6, 8})
"""UNKNOWN and DOWN. The manual lists the states: https://www.mongodb.com/docs/manual/reference/replica-states/"""


def read_replication(status: Mapping[str, Any]) -> Columns:
    """The columns of a `ServerRow` that a `replSetGetStatus` answer holds."""
    named = status.get("members")
    members = [each for each in named if isinstance(each, Mapping)] if isinstance(named, list) else []
    states = [_state(member) for member in members]
    return {
        "members_primary": states.count("primary"),
        "members_secondary": states.count("secondary"),
        "members_arbiter": states.count("arbiter"),
        "members_recovering": states.count("recovering"),
        "members_unreachable": states.count("unreachable"),
        "replication_lag_slowest_ms": _slowest_ms(members),
        "replication_lag_majority_ms": _majority_ms(status),
    }


def _state(member: Mapping[str, Any]) -> str:
    state = member.get("state")
    if state in _UNREACHABLE or not member.get("health", 1):
        return "unreachable"
    return {_PRIMARY: "primary", _SECONDARY: "secondary", _ARBITER: "arbiter"}.get(state or 0, "recovering")


def _slowest_ms(members: Sequence[Mapping[str, Any]]) -> int | None:
    """How far the last of the reachable secondaries is behind the primary; unknown without either."""
    primary = [_applied(member) for member in members if _state(member) == "primary"]
    secondaries = [_applied(member) for member in members if _state(member) == "secondary"]
    known = [applied for applied in secondaries if applied is not None]
    if len(primary) != 1 or primary[0] is None or not known:
        return None
    return _between_ms(min(known), primary[0])


def _applied(member: Mapping[str, Any]) -> datetime | None:
    for name in ("lastAppliedWallTime", "optimeDate"):
        if isinstance(applied := member.get(name), datetime):
            return applied
    return None


def _majority_ms(status: Mapping[str, Any]) -> int | None:
    """How far the majority is behind this member."""
    optimes = status.get("optimes")
    if not isinstance(optimes, Mapping):
        return None
    applied, committed = optimes.get("lastAppliedWallTime"), optimes.get("lastCommittedWallTime")
    if not isinstance(applied, datetime) or not isinstance(committed, datetime):
        return None
    return _between_ms(committed, applied)


def _between_ms(earlier: datetime, later: datetime) -> int:
    # A secondary's position can be newer than what the primary has noted of itself.
    return max(0, round((later - earlier).total_seconds() * 1000))
