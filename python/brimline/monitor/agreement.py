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
  before as well; it counts each (seen on 6.0.5: 501 sessions, 501 updates). So many are let pass as its last time
  explains; where it did so more than once between both readings, deletes and updates have no upper bound.
- What pipelines write isn't known, and counts as inserts or updates but as no commands: beside those, and elsewhere
  too, other clients show by the commands with which they write.
- A primary mirrors one in a hundred reads and updates to its secondaries as finds (the manual: mirrored reads). Where
  secondaries are counted as well, twice as many queries are let pass for each: the share is a chance.

Where the generator shares out the records among several servers, each is held against what was sent to it: the sums of
all agree also where one did the work of another.

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
_PASSED_ON = "what pipelines pass on to where they write"
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

    `others`: what else the server counts as such; "" where nothing. `others_max`: so many of them at most; None:
    without an upper bound. `steps` are those that it counts, where they have names. `unknown`: why it can't be held
    against it.
    """

    kind: str
    acknowledged: int
    uncertain: int
    counted: int
    others: str = ""
    others_max: int | None = None
    steps: Sequence[str] = ()
    unknown: str = ""

    @property
    def deficit(self) -> int:
        """Operations that were acknowledged and not counted."""
        return max(0, self.acknowledged - self.counted)

    @property
    def excess(self) -> int:
        """Operations that were counted and can't be brimline's."""
        if self.others and self.others_max is None:
            return 0
        return max(0, self.counted - self.acknowledged - self.uncertain - (self.others_max or 0))

    @property
    def agrees(self) -> bool:
        """Whether both counts can be of the same operations."""
        tolerated = max(_EXCESS_TOLERATED, self.acknowledged * _EXCESS_SHARE_TOLERATED)
        return bool(self.unknown) or (self.deficit == 0 and self.excess <= tolerated)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The verdict over all kinds; `unknown` without counters that can be, or when the server was started again."""

    verdict: Literal["pass", "fail", "unknown"]
    evidence: str
    checks: tuple[CounterCheck, ...] = ()

    @property
    def another_client(self) -> bool:
        """Whether all that is wrong is that the server counted more than brimline sent.

        What it didn't do of a kind can't be seen where others sent as many of that kind.
        """
        wrong = [check for check in self.checks if not check.agrees]
        return bool(wrong) and not any(check.deficit for check in wrong)


COUNTS_FELL = Agreement(verdict="unknown", evidence="the server's counts fell during the run, which counts can't")


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
    is_drained_elsewhere: bool = False,
) -> Agreement:
    """Compares the server's counters around a run with the run's own.

    `acknowledged` is `Summary.commands`, `uncertain` is `Summary.commands_uncertain`. `in_replica_set`: the server is a
    member of one, so that the others read its oplog. `has_numbered_writes`: writes had numbers, so that it looks their
    sessions up. `secondaries`: how many of those counted are secondaries. `own`: what replies to the author's own
    commands said. `is_drained_elsewhere`: a driver fetches further batches of cursors, and doesn't say how many.
    """
    if before is None or after is None:
        return Agreement(verdict="unknown", evidence="the server has no opcounters")
    if after.restarted_since(before):
        return Agreement(verdict="unknown", evidence="the server was started again during the run")
    if after.fell_behind(before):
        return COUNTS_FELL
    counted = after.since(before)
    mirrorable = sum(acknowledged.get(kind, 0) for kind in _MIRRORED)
    others = _Others(
        reads_oplog=in_replica_set,
        looks_up_sessions=has_numbered_writes,
        session_updates=after.session_updates_since(before),
        session_deletes=after.session_deletes_since(before),
        mirrored_share=_MIRRORED_SHARE_TOLERATED * secondaries,
    )
    causes = others.counters(mirrorable) + ([] if own is None else _within(own))
    if is_drained_elsewhere:
        causes.append(("getmore", ("further batches that the driver fetches", None)))
    checks = [
        _check(
            kind,
            acknowledged.get(kind, 0),
            counted[kind],
            [cause for of, cause in causes if of == kind],
            uncertain=uncertain.get(kind, 0),
            steps=() if own is None else own.by_counter.get(kind, ()),
        )
        for kind in (*KINDS, COMMIT)
        if kind in counted
    ]
    if own is not None:
        beyond = {check.kind: max(0, check.counted - check.acknowledged) for check in checks}
        checks = [
            *checks,
            *_of_commands(own, before, after, others),
            *_of_documents(own, before, after, others, beyond),
        ]
        checks = _without_uncounted_inserts(checks, own)
    return agreement_of(checks)


def agreement_of(checks: Sequence[CounterCheck]) -> Agreement:
    """The verdict over all checks."""
    wrong = [check for check in checks if not check.agrees]
    if wrong:
        return Agreement(verdict="fail", evidence=joined("; ", map(_explain, wrong)), checks=tuple(checks))
    return Agreement(verdict="pass", evidence=_summary(checks), checks=tuple(checks))


def agreement_by_shard(together: Agreement, shards: Mapping[str, Agreement]) -> Agreement:
    """The verdict over client-routed shards, each of which must have counted what was sent to it, by their names.

    `together` is that over their sums, in which what is missing at one of them may be made up for by another.
    """
    checks = tuple(check for shard in shards.values() for check in shard.checks)
    told = [
        _explain_shard(name, check)
        for name, shard in shards.items()
        for check in shard.checks
        if shard.verdict == "fail" and not check.agrees
    ]
    if told:
        wrong = Agreement(verdict="fail", evidence=joined("; ", told), checks=checks)
        if wrong.another_client:
            return replace(wrong, evidence=message("{shards}: another client was at work", shards=wrong.evidence))
        if together.verdict == "pass" and _moved(checks):
            evidence = message(
                "{shards}; all of them together counted what was sent: it went to another shard than it was for",
                shards=wrong.evidence,
            )
            return replace(wrong, evidence=evidence)
        return wrong
    unknown = [
        message("{shard}: {reason}", shard=name, reason=shard.evidence)
        for name, shard in shards.items()
        if shard.verdict == "unknown"
    ]
    if unknown:
        return Agreement(verdict="unknown", evidence=joined("; ", unknown), checks=checks)
    if together.verdict != "pass":
        return together
    evidence = message(
        "{together}; each of the {count} shards counted what was sent to it",
        together=together.evidence,
        count=len(shards),
    )
    return Agreement(verdict="pass", evidence=evidence, checks=checks)


def _moved(checks: Sequence[CounterCheck]) -> bool:
    """Whether of each kind that some shard counted wrongly others have counted as much more as it has less."""
    beyond: dict[str, list[int]] = {}
    for check in checks:
        beyond.setdefault(check.kind, []).append(check.counted - check.acknowledged)
    wrong = {check.kind for check in checks if not check.agrees}
    return all(min(beyond[kind]) < 0 < max(beyond[kind]) and sum(beyond[kind]) == 0 for kind in wrong)


def _explain_shard(name: str, check: CounterCheck) -> str:
    wrong = message(
        "{shard}: {kind} {counted} counted, {acknowledged} sent and answered",
        shard=name,
        kind=check.kind,
        counted=check.counted,
        acknowledged=check.acknowledged,
    )
    return message("{wrong} (in {steps})", wrong=wrong, steps=steps_text(check.steps)) if check.steps else wrong


_Cause = tuple[str, int | None]
"""What else counts, and how many at most; None: without an upper bound."""


def _check(
    kind: str,
    acknowledged: int,
    counted: int | None,
    causes: Sequence[_Cause],
    *,
    uncertain: int = 0,
    steps: Sequence[str] = (),
) -> CounterCheck:
    """What counts without an upper bound comes before what counts with one."""
    possible = [cause for cause in causes if cause[1] != 0]
    first = next((cause for cause in possible if cause[1] is None), possible[0] if possible else ("", 0))
    return CounterCheck(
        kind=kind,
        acknowledged=acknowledged,
        uncertain=uncertain,
        counted=counted or 0,
        others=first[0],
        others_max=None if first[1] is None else sum(most or 0 for _, most in possible),
        steps=steps,
        unknown="the server has no count of them" if counted is None else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Others:
    """What counts besides the commands of this run; updates and deletes of sessions at most, None without a bound."""

    reads_oplog: bool
    looks_up_sessions: bool
    session_updates: int | None
    session_deletes: int | None
    mirrored_share: float

    def counters(self, mirrorable: int) -> list[tuple[str, _Cause]]:
        """What raises opcounters, by their names; `mirrorable`: so many commands may have been mirrored."""
        found: list[tuple[str, _Cause]] = [
            (_QUERIES, (_MIRRORS, ceil(self.mirrored_share * mirrorable))),
            (_UPDATES, (_SESSIONS_IN_ORDER, self.session_updates)),
            (_DELETES, (_SESSIONS_IN_ORDER, self.session_deletes)),
        ]
        found += [(_OPLOG_READS, (_READS_OPLOG, None))] if self.reads_oplog else []
        return found + ([(_QUERIES, (_LOOKS_UP_SESSIONS, None))] if self.looks_up_sessions else [])

    def command(self, name: str, mirrorable: int) -> list[_Cause]:
        """The same by the name of a command."""
        kind = {"find": _QUERIES, "getMore": _OPLOG_READS}.get(name, name)
        found = [cause for of, cause in self.counters(0) if of == kind]
        if name in _MIRRORED_COMMANDS:
            found.append((_MIRRORS, ceil(self.mirrored_share * mirrorable)))
        return found + ([(_OWN_CONTROL, None)] if name in _CONTROL_COMMANDS else [])


def _within(own: OwnCounts) -> list[tuple[str, _Cause]]:
    """The opcounters that rise by what the author's commands do within the server."""
    found: list[tuple[str, _Cause]] = [(counter, (_WRITES_WITHIN, None)) for counter in own.writes_within]
    found += [(_UPDATES, (_FILLS_BUCKETS, None))] if own.fills_buckets else []
    return found + ([(_QUERIES, (_STORED_FUNCTIONS, None))] if own.reads_within else [])


def _of_commands(own: OwnCounts, before: Opcounters, after: Opcounters, others: _Others) -> Iterator[CounterCheck]:
    """Each command that was sent, or with which another client writes, by its name."""
    mirrorable = sum(own.commands[name]["answered"] for name in _MIRRORED_COMMANDS if name in own.commands)
    for name, totals in own.commands.items():
        counted = _grown(before.commands, after.commands, name)
        if counted is None and not any(totals.values()):
            continue
        stored: list[_Cause] = [(_STORED_FUNCTIONS, None)] if own.reads_within and name == "find" else []
        yield _check(
            message("{command} commands", command=Verbatim(name)),
            max(0, totals["answered"] - own.refused),
            counted,
            [*stored, *others.command(name, mirrorable)],
            uncertain=totals["uncertain"] + own.refused,
            steps=own.by_command.get(name, ()),
        )


def _of_documents(
    own: OwnCounts, before: Opcounters, after: Opcounters, others: _Others, beyond: Mapping[str, int]
) -> Iterator[CounterCheck]:
    """Documents by what became of them. How many a command was about that was never answered isn't known.

    `beyond`: statements by opcounter that the run didn't send. Each of the server's own is about one document.
    """
    told, of = own.documents, own.by_command
    finds = [step for name in ("find", "aggregate") for step in of.get(name, ()) if step not in own.uncounted]
    returned = own.returned if own.uncounted else told.get("returned")
    found: _Cause = (_MODIFIES_FOUND, own.found_and_modified)
    ordered: list[_Cause] = [
        (_SESSIONS_IN_ORDER, 0 if most == 0 else beyond[kind])
        for kind, most in ((_UPDATES, others.session_updates), (_DELETES, others.session_deletes))
    ]
    written: dict[str, list[_Cause]] = {kind: [(_WRITES_WITHIN, beyond[kind])] for kind in own.writes_within}
    filled: list[_Cause] = [(_FILLS_BUCKETS, None)] if own.fills_buckets else []
    reads = {
        _PASSED_ON: bool(own.writes_within),
        _READS_OPLOG: others.reads_oplog,
        _LOOKS_UP_SESSIONS: others.looks_up_sessions,
        _MIRRORS: others.mirrored_share > 0,
        _STORED_FUNCTIONS: own.reads_within,
    }
    read: list[_Cause] = [(why, None) for why, is_so in reads.items() if is_so]
    updated = [found, *filled, *written.get(_UPDATES, [ordered[0]])]
    for name, kind, count, steps, causes in (
        ("inserted", "documents inserted", told.get("inserted"), of.get("insert", ()), written.get(_INSERTS, [])),
        ("updated", "documents updated", told.get("matched"), of.get("update", ()), updated),
        ("deleted", "documents deleted", told.get("deleted"), of.get("delete", ()), [found, ordered[1]]),
        ("returned", "documents returned", returned, finds, read),
    ):
        if count is None or not (steps or count):
            continue
        open_end: list[_Cause] = [] if own.is_certain else [(_NEVER_ANSWERED, None)]
        yield _check(kind, count, _grown(before.documents, after.documents, name), [*causes, *open_end], steps=steps)
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
    used = [check for check in checks if not check.unknown and _is_told(check)]
    unknown = [_unknown(check) for check in checks if check.unknown]
    if not used:
        return joined("; ", ["no operation was acknowledged and the server counted none", *unknown])
    counts = joined(", ", map(_counted, used))
    return joined("; ", [message("the server counted the same operations: {counts}", counts=counts), *unknown])


def _is_told(check: CounterCheck) -> bool:
    """What wasn't sent is told where it can't be held against the server's count."""
    return bool(check.acknowledged or check.uncertain or (check.others == _WRITES_WITHIN and check.counted))


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
    if check.others == _WRITES_WITHIN:
        return message(
            "{kind} {counted} for {acknowledged} of the steps, the rest unknown beside a pipeline that writes",
            kind=check.kind,
            counted=check.counted,
            acknowledged=check.acknowledged,
        )
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
