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

Operations that are commands of their author's are held against the server's counts of commands by name and of documents
as well (`own_work`). What the server has no count for is told, and decides nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

from brimline.monitor.opcounters import COMMIT, KINDS, Opcounters
from brimline.monitor.own_work import OwnCounts, steps_text
from brimline.wording import Verbatim, joined, message

_EXCESS_TOLERATED = 10
_EXCESS_SHARE_TOLERATED = 0.001
_OPLOG_READS = "getmore"
_QUERIES = "query"
_DELETES = "delete"
_UPDATES = "update"
_INSERTS = "insert"
_MIRRORED = (_QUERIES, _UPDATES)
_MIRRORED_COMMANDS = ("find", "update", "findAndModify", "count", "distinct")
_MIRRORED_SHARE_TOLERATED = 0.02
_READS_OPLOG = "oplog reads of other members"
_LOOKS_UP_SESSIONS = "lookups of sessions by members"
_SESSIONS_IN_ORDER = "sessions that the server put in order"
_WRITES_WITHIN = "what aggregations write"
_FILLS_BUCKETS = "buckets of time series"
_STORED_FUNCTIONS = "lookups of stored functions"
_MODIFIES_FOUND = "what is found and modified"
_MIRRORS = "mirrored reads"
_NEVER_ANSWERED = "what was never answered"
_OWN_CONTROL = "brimline's own"
_CONTROL_COMMANDS = frozenset(
    {
        *("serverStatus", "hello", "isMaster", "ismaster", "ping", "buildInfo", "dbStats", "collStats", "explain"),
        *("replSetGetStatus", "hostInfo", "getCmdLineOpts", "getParameter", "listCollections", "listIndexes"),
        *("killSessions", "endSessions", "abortTransaction", "connectionStatus"),
    }
)
"""Commands that brimline sends by itself around a run and while it watches: others like them are no other client's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterCheck:
    """One kind of operation: acknowledged, without a known answer, and counted by the server.

    `others`: what else the server counts as such, without an upper bound; "" where nothing. `mirrored`: so many of them
    at most. `steps` are those that it counts, where they have names. `unknown`: why it can't be held against it.
    """

    kind: str
    acknowledged: int
    uncertain: int
    counted: int
    others: str = ""
    mirrored: int = 0
    steps: Sequence[str] = ()
    unknown: str = ""

    @property
    def deficit(self) -> int:
        """Operations that were acknowledged and not counted."""
        return max(0, self.acknowledged - self.counted)

    @property
    def excess(self) -> int:
        """Operations that were counted and can't be brimline's."""
        return 0 if self.others else max(0, self.counted - self.acknowledged - self.uncertain - self.mirrored)

    @property
    def agrees(self) -> bool:
        """Whether both counts can be of the same operations."""
        tolerated = max(_EXCESS_TOLERATED, self.acknowledged * _EXCESS_SHARE_TOLERATED)
        return bool(self.unknown) or (self.deficit == 0 and self.excess <= tolerated)


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
    own: OwnCounts | None = None,
) -> Agreement:
    """Compares the server's counters around a run with the run's own.

    `acknowledged` is `Summary.commands`, `uncertain` is `Summary.commands_uncertain`. `in_replica_set`: the server is a
    member of one, so that the others read its oplog. `has_numbered_writes`: writes had numbers, so that it looks their
    sessions up. `secondaries`: how many of those counted are secondaries. `own`: what replies to the author's own
    commands said.
    """
    if before is None or after is None:
        return Agreement(verdict="unknown", evidence="the server has no opcounters")
    if after.restarted_since(before):
        return Agreement(verdict="unknown", evidence="the server was started again during the run")
    counted = after.since(before)
    mirrorable = sum(acknowledged.get(kind, 0) for kind in _MIRRORED)
    others = _Others(
        reads_oplog=in_replica_set,
        looks_up_sessions=has_numbered_writes,
        puts_sessions_in_order=after.put_sessions_in_order_since(before),
        mirrored_share=_MIRRORED_SHARE_TOLERATED * secondaries,
    )
    unbounded = {**(_within(own) if own is not None else {}), **others.counters()}
    checks = [
        CounterCheck(
            kind=kind,
            acknowledged=acknowledged.get(kind, 0),
            uncertain=uncertain.get(kind, 0),
            counted=counted[kind],
            others=unbounded.get(kind, ""),
            mirrored=ceil(others.mirrored_share * mirrorable) if kind == _QUERIES else 0,
            steps=() if own is None else own.by_counter.get(kind, ()),
        )
        for kind in (*KINDS, COMMIT)
        if kind in counted
    ]
    if own is not None:
        checks = [*checks, *_of_commands(own, before, after, others), *_of_documents(own, before, after, others)]
        checks = _without_uncounted_inserts(checks, own)
    wrong = [check for check in checks if not check.agrees]
    if wrong:
        return Agreement(verdict="fail", evidence=joined("; ", map(_explain, wrong)), checks=tuple(checks))
    return Agreement(verdict="pass", evidence=_summary(checks), checks=tuple(checks))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Others:
    """What counts besides the commands of this run."""

    reads_oplog: bool
    looks_up_sessions: bool
    puts_sessions_in_order: bool
    mirrored_share: float

    def counters(self) -> dict[str, str]:
        """The opcounters without an upper bound, and what raises them."""
        found = {_OPLOG_READS: _READS_OPLOG} if self.reads_oplog else {}
        if self.looks_up_sessions:
            found[_QUERIES] = _LOOKS_UP_SESSIONS
        if self.puts_sessions_in_order:
            found |= {_DELETES: _SESSIONS_IN_ORDER, _UPDATES: _SESSIONS_IN_ORDER}
        return found

    def commands(self) -> dict[str, str]:
        """The same by the names of commands."""
        return {
            {_QUERIES: "find", _OPLOG_READS: "getMore"}.get(kind, kind): why for kind, why in self.counters().items()
        }


def _within(own: OwnCounts) -> dict[str, str]:
    """The opcounters that rise by what the author's commands do within the server."""
    found = dict.fromkeys((_INSERTS, _UPDATES), _WRITES_WITHIN) if own.writes_within else {}
    found |= {_UPDATES: _FILLS_BUCKETS} if own.fills_buckets else {}
    return found | ({_QUERIES: _STORED_FUNCTIONS} if own.reads_within else {})


def _of_commands(own: OwnCounts, before: Opcounters, after: Opcounters, others: _Others) -> Iterator[CounterCheck]:
    """Each command that was sent, by its name."""
    unbounded = dict.fromkeys(_CONTROL_COMMANDS, _OWN_CONTROL) | others.commands()
    unbounded |= {"find": _STORED_FUNCTIONS} if own.reads_within else {}
    mirrorable = sum(own.commands[name]["answered"] for name in _MIRRORED_COMMANDS if name in own.commands)
    for name, totals in own.commands.items():
        counted = _grown(before.commands, after.commands, name)
        yield CounterCheck(
            kind=message("{command} commands", command=Verbatim(name)),
            acknowledged=max(0, totals["answered"] - own.refused),
            uncertain=totals["uncertain"] + own.refused,
            counted=counted or 0,
            others=unbounded.get(name, ""),
            mirrored=ceil(others.mirrored_share * mirrorable) if name in _MIRRORED_COMMANDS else 0,
            steps=own.by_command.get(name, ()),
            unknown="the server has no count of them" if counted is None else "",
        )


def _of_documents(own: OwnCounts, before: Opcounters, after: Opcounters, others: _Others) -> Iterator[CounterCheck]:
    """Documents by what became of them. How many a command was about that was never answered isn't known."""
    told = own.documents
    of = own.by_command
    finds = [step for name in ("find", "aggregate") for step in of.get(name, ()) if step not in own.uncounted]
    returned = own.returned if own.uncounted else told.get("returned")
    open_end = "" if own.is_certain else _NEVER_ANSWERED
    written = _WRITES_WITHIN if own.writes_within else ""
    filled = _FILLS_BUCKETS if own.fills_buckets else ""
    modified = _MODIFIES_FOUND if own.modifies_found else _SESSIONS_IN_ORDER if others.puts_sessions_in_order else ""
    reads = {
        _READS_OPLOG: others.reads_oplog,
        _LOOKS_UP_SESSIONS: others.looks_up_sessions,
        _MIRRORS: others.mirrored_share > 0,
        _STORED_FUNCTIONS: own.reads_within,
    }
    read = next((why for why, is_so in reads.items() if is_so), "")
    for name, kind, count, steps, why in (
        ("inserted", "documents inserted", told.get("inserted"), of.get("insert", ()), written),
        ("updated", "documents updated", told.get("matched"), of.get("update", ()), modified or filled or written),
        ("deleted", "documents deleted", told.get("deleted"), of.get("delete", ()), modified),
        ("returned", "documents returned", returned, finds, read),
    ):
        counted = _grown(before.documents, after.documents, name)
        if count is None or not (steps or count):
            continue
        yield CounterCheck(
            kind=kind,
            acknowledged=count,
            uncertain=0,
            counted=counted or 0,
            others=why or open_end,
            steps=steps,
            unknown="the server has no count of them" if counted is None else "",
        )
    if own.uncounted:
        yield CounterCheck(
            kind="documents returned",
            acknowledged=0,
            uncertain=0,
            counted=0,
            steps=own.uncounted,
            unknown="the server counts what these bring otherwise",
        )


def _grown(before: Mapping[str, int] | None, after: Mapping[str, int] | None, name: str) -> int | None:
    """What was counted in between; None where the server has no such count."""
    if before is None or after is None or name not in after:
        return None
    return after[name] - before.get(name, 0)


def _without_uncounted_inserts(checks: Sequence[CounterCheck], own: OwnCounts) -> list[CounterCheck]:
    """Inserts into time series don't count as `insert` in MongoDB 5.0: commands and documents say what arrived."""
    inserts = [check for check in checks if check.kind == _INSERTS]
    others = [check for check in checks if check.kind != _INSERTS and own.by_command.get(_INSERTS) == check.steps]
    proven = [check for check in others if not check.unknown]
    if not (inserts and inserts[0].deficit and len(proven) > 1 and all(check.agrees for check in proven)):
        return list(checks)
    missing = replace(inserts[0], unknown="this version counts none into time series")
    return [missing if check is inserts[0] else check for check in checks]


def _explain(check: CounterCheck) -> str:
    if check.deficit:
        wrong = message(
            "{kind}: the server counted {counted}, {deficit} fewer than the {acknowledged} it acknowledged",
            kind=check.kind,
            counted=check.counted,
            deficit=check.deficit,
            acknowledged=check.acknowledged,
        )
    else:
        wrong = message(
            "{kind}: the server counted {counted}, {excess} more than brimline sent: another client was at work",
            kind=check.kind,
            counted=check.counted,
            excess=check.excess,
        )
    return message("{wrong} (in {steps})", wrong=wrong, steps=steps_text(check.steps)) if check.steps else wrong


def _summary(checks: Sequence[CounterCheck]) -> str:
    used = [check for check in checks if (check.acknowledged or check.uncertain) and not check.unknown]
    unknown = [_unknown(check) for check in checks if check.unknown]
    if not used:
        return joined("; ", ["no operation was acknowledged and the server counted none", *unknown])
    counts = joined(", ", map(_counted, used))
    return joined("; ", [message("the server counted the same operations: {counts}", counts=counts), *unknown])


def _unknown(check: CounterCheck) -> str:
    of = check.steps
    return message(
        "{kind} unknown{of}: {why}",
        kind=check.kind,
        of=message(" (in {steps})", steps=steps_text(of)) if of else "",
        why=check.unknown,
    )


def _counted(check: CounterCheck) -> str:
    if check.counted == check.acknowledged:
        return message("{kind} {counted}", kind=check.kind, counted=check.counted)
    if check.others:
        return message(
            "{kind} {counted} for at least {acknowledged}, {others} included",
            kind=check.kind,
            counted=check.counted,
            acknowledged=check.acknowledged,
            others=check.others,
        )
    return message(
        "{kind} {counted} of {acknowledged} + {uncertain} uncertain",
        kind=check.kind,
        counted=check.counted,
        acknowledged=check.acknowledged,
        uncertain=check.uncertain,
    )
