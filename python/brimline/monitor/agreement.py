"""Owns the question whether the server counted the same operations as brimline. Pure.

For each kind the server's increase must lie within [acknowledged, acknowledged + uncertain + tolerance]:

- Below: operations were acknowledged that the server did not execute, so one of the two counts is wrong.
  There is no tolerance: an operation whose answer never came is not among the acknowledged ones and can't
  explain a deficit.
- Above: another client was at work. A few operations of others, such as a monitoring tool's, are let pass:
  max(10, 0.1 % of the acknowledged). The `getmore`s of a replica set's member have no upper bound: the others read
  its oplog with them. Nor have the queries of a set whose writes have numbers: a primary looks up each session that
  it does not know, several times, and so does the next one.
- Every five minutes a server deletes the sessions that have ended, and updates those that were used, those of runs
  before as well; it counts each (seen on 6.0.5: 501 sessions, 501 updates). Where it has done so between both
  readings, deletes and updates have no upper bound.
- A primary mirrors one in a hundred reads and updates to its secondaries as finds (the manual: mirrored reads). Where
  secondaries are counted as well, twice as many queries are let pass for each: the share is a chance.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Literal

from brimline.monitor.opcounters import COMMIT, KINDS, Opcounters
from brimline.wording import joined, message

_EXCESS_TOLERATED = 10
_EXCESS_SHARE_TOLERATED = 0.001
_OPLOG_READS = "getmore"
_QUERIES = "query"
_DELETES = "delete"
_UPDATES = "update"
_MIRRORED = (_QUERIES, _UPDATES)
_MIRRORED_SHARE_TOLERATED = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterCheck:
    """One kind of operation: acknowledged, without a known answer, and counted by the server.

    `unbounded`: the server counts operations of this kind that no client sends. `mirrored`: so many of them at most.
    """

    kind: str
    acknowledged: int
    uncertain: int
    counted: int
    unbounded: bool = False
    mirrored: int = 0

    @property
    def deficit(self) -> int:
        """Operations that were acknowledged and not counted."""
        return max(0, self.acknowledged - self.counted)

    @property
    def excess(self) -> int:
        """Operations that were counted and can't be brimline's."""
        return 0 if self.unbounded else max(0, self.counted - self.acknowledged - self.uncertain - self.mirrored)

    @property
    def agrees(self) -> bool:
        """Whether both counts can be of the same operations."""
        return self.deficit == 0 and self.excess <= max(_EXCESS_TOLERATED, self.acknowledged * _EXCESS_SHARE_TOLERATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The verdict over all kinds; `unknown` without counters, or when the server was started again."""

    verdict: Literal["pass", "fail", "unknown"]
    evidence: str
    checks: tuple[CounterCheck, ...] = ()


def check_agreement(
    *,
    before: Opcounters | None,
    after: Opcounters | None,
    acknowledged: Mapping[str, int],
    uncertain: Mapping[str, int],
    in_replica_set: bool = False,
    has_numbered_writes: bool = False,
    secondaries: int = 0,
) -> Agreement:
    """Compares the server's counters around a run with the run's own.

    `acknowledged` is `Summary.commands`, `uncertain` is `Summary.commands_uncertain`. `in_replica_set`: the server is a
    member of one, so that the others read its oplog. `has_numbered_writes`: writes had numbers, so that it looks their
    sessions up. `secondaries`: how many of those counted are secondaries.
    """
    if before is None or after is None:
        return Agreement(verdict="unknown", evidence="the server has no opcounters")
    if after.restarted_since(before):
        return Agreement(verdict="unknown", evidence="the server was started again during the run")
    counted = after.since(before)
    mirrorable = sum(acknowledged.get(kind, 0) for kind in _MIRRORED)
    mirrored = ceil(_MIRRORED_SHARE_TOLERATED * secondaries * mirrorable)
    unbounded = {
        *([_OPLOG_READS] if in_replica_set else ()),
        *([_QUERIES] if has_numbered_writes else ()),
        *((_DELETES, _UPDATES) if after.put_sessions_in_order_since(before) else ()),
    }
    checks = tuple(
        CounterCheck(
            kind=kind,
            acknowledged=acknowledged.get(kind, 0),
            uncertain=uncertain.get(kind, 0),
            counted=counted[kind],
            unbounded=kind in unbounded,
            mirrored=mirrored if kind == _QUERIES else 0,
        )
        for kind in (*KINDS, COMMIT)
        if kind in counted
    )
    wrong = [check for check in checks if not check.agrees]
    if wrong:
        return Agreement(verdict="fail", evidence=joined("; ", map(_explain, wrong)), checks=checks)
    return Agreement(verdict="pass", evidence=_summary(checks), checks=checks)


def _explain(check: CounterCheck) -> str:
    if check.deficit:
        return message(
            "{kind}: the server counted {counted}, {deficit} fewer than the {acknowledged} it acknowledged",
            kind=check.kind,
            counted=check.counted,
            deficit=check.deficit,
            acknowledged=check.acknowledged,
        )
    return message(
        "{kind}: the server counted {counted}, {excess} more than brimline sent: another client was at work",
        kind=check.kind,
        counted=check.counted,
        excess=check.excess,
    )


def _summary(checks: tuple[CounterCheck, ...]) -> str:
    used = [check for check in checks if check.acknowledged or check.uncertain]
    if not used:
        return "no operation was acknowledged and the server counted none"
    return message("the server counted the same operations: {counts}", counts=joined(", ", map(_counted, used)))


def _counted(check: CounterCheck) -> str:
    if check.counted == check.acknowledged:
        return message("{kind} {counted}", kind=check.kind, counted=check.counted)
    if check.unbounded and check.kind == _QUERIES:
        return message(
            "{kind} {counted} for at least {acknowledged}, lookups of sessions by members included",
            kind=check.kind,
            counted=check.counted,
            acknowledged=check.acknowledged,
        )
    if check.kind in (_DELETES, _UPDATES) and check.counted > check.acknowledged + check.uncertain:
        return message(
            "{kind} {counted} for at least {acknowledged}, sessions that the server put in order included",
            kind=check.kind,
            counted=check.counted,
            acknowledged=check.acknowledged,
        )
    if check.unbounded:
        return message(
            "{kind} {counted}, oplog reads of other members included", kind=check.kind, counted=check.counted
        )
    return message(
        "{kind} {counted} of {acknowledged} + {uncertain} uncertain",
        kind=check.kind,
        counted=check.counted,
        acknowledged=check.acknowledged,
        uncertain=check.uncertain,
    )
