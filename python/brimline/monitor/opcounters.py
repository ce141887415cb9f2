"""Owns the server's own counts: `serverStatus.opcounters`, of transactions, of commands by name, of documents."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from pymongo.errors import OperationFailure, PyMongoError

from brimline.errors import TargetError
from brimline.servers.deployment import Client
from brimline.servers.distrust import is_turned_away
from brimline.servers.refusal import NOT_ALLOWED_CODES

KINDS = ("insert", "query", "update", "delete", "getmore")
"""What is compared. Each inserted document counts once, each update statement once, each find as one `query`.
`command` is left out: it holds everything else, also what drivers and monitoring send by themselves.
"""
_SESSIONS = "logicalSessionRecordCache"
DOCUMENTS = ("inserted", "updated", "deleted", "returned")
"""What the server counts of documents: `serverStatus.metrics.document`."""
COMMIT = "commit"
"""Compared as well where the server tells it: `serverStatus.transactions.totalCommitted`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opcounters:
    """Operations since the server's start, by kind, and how long it has been running, in ms.

    `commit`: transactions of several statements that were committed. `session_jobs`: how often the server has begun to
    put its sessions in order, at which it updates those that were used and deletes those that have ended:
    `sessions_updated` and `sessions_deleted` of them at the last time, 0 while it does. `commands`: how often commands
    that were asked about were called, by name; `documents`: how many were inserted, matched by an update, deleted,
    returned. All of these are None where it doesn't tell.
    """

    insert: int
    query: int
    update: int
    delete: int
    getmore: int
    command: int
    uptime_ms: int
    commit: int | None = None
    session_jobs: int | None = None
    sessions_updated: int | None = None
    sessions_deleted: int | None = None
    commands: Mapping[str, int] | None = None
    documents: Mapping[str, int] | None = None

    @classmethod
    def from_status(cls, status: Mapping[str, Any], commands: Collection[str] = ()) -> Self | None:
        """Reads a `serverStatus` answer; None when the server has no such counters.

        `commands` are the names to look for. The server has none for a command that it doesn't know.
        """
        counters = status.get("opcounters")
        if not isinstance(counters, Mapping) or not all(kind in counters for kind in KINDS):
            return None
        try:
            return cls(
                **{kind: int(counters[kind]) for kind in KINDS},
                command=int(counters.get("command", 0)),
                uptime_ms=int(status.get("uptimeMillis", 0)),
                commit=_count_in(status, "transactions", "totalCommitted"),
                session_jobs=_count_in(status, _SESSIONS, "sessionsCollectionJobCount"),
                sessions_updated=_count_in(status, _SESSIONS, "lastSessionsCollectionJobEntriesRefreshed"),
                sessions_deleted=_count_in(status, _SESSIONS, "lastSessionsCollectionJobEntriesEnded"),
                commands=_commands_in(status, commands) if commands else None,
                documents=_documents_in(status) if commands else None,
            )
        except (TypeError, ValueError, OverflowError):
            return None  # what is no number counts nothing

    def count(self, kind: str) -> int:
        """The counter called `kind`."""
        return int(getattr(self, kind))

    def since(self, earlier: "Opcounters") -> dict[str, int]:
        """What was counted since `earlier`, by kind; nonsense after a restart in between."""
        kinds = (*KINDS, "command") if None in (self.commit, earlier.commit) else (*KINDS, "command", COMMIT)
        return {kind: self.count(kind) - earlier.count(kind) for kind in kinds}

    def restarted_since(self, earlier: "Opcounters") -> bool:
        """Whether the server was started again after `earlier` was read."""
        return self.uptime_ms < earlier.uptime_ms

    def fell_behind(self, earlier: "Opcounters") -> bool:
        """Whether any count is below what it was, or below 0: what is told can't be what was counted."""
        return any(grown < 0 or earlier.count(kind) < 0 for kind, grown in self.since(earlier).items())

    def session_updates_since(self, earlier: "Opcounters") -> int | None:
        """Most updates of sessions that it put in order after `earlier`, as far as it tells; None: any number."""
        return self._session_entries_since(earlier, self.sessions_updated, earlier.sessions_updated)

    def session_deletes_since(self, earlier: "Opcounters") -> int | None:
        """Most deletes of sessions, as `session_updates_since`."""
        return self._session_entries_since(earlier, self.sessions_deleted, earlier.sessions_deleted)

    def _session_entries_since(self, earlier: "Opcounters", now: int | None, then: int | None) -> int | None:
        """It tells the entries of its last job alone: 0 of one that is under way, or that found nothing to do."""
        if self.session_jobs is None or earlier.session_jobs is None:
            return 0
        jobs = self.session_jobs - earlier.session_jobs
        if now is None or then is None:
            return None if jobs else 0
        was_under_way = earlier.session_jobs > 0 and then == 0
        if jobs == 0:
            return now if was_under_way else 0
        return now if jobs == 1 and now and not was_under_way else None

    def to_dict(self) -> dict[str, Any]:
        """For the run record, without what isn't known."""
        return {name: count for name, count in asdict(self).items() if count is not None}


def added(counters: Sequence[Opcounters | None]) -> Opcounters | None:
    """What several servers counted together, their times of running added as well; None when one doesn't tell."""
    known = [each for each in counters if each is not None]
    if not known or len(known) < len(counters):
        return None
    return Opcounters(**_sums([each.to_dict() for each in known]))


def _sums(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The sums of what all of them tell, counts by name within included."""
    names = set.intersection(*map(set, told))
    return {
        name: _sums([each[name] for each in told])
        if isinstance(told[0][name], Mapping)
        else sum(each[name] for each in told)
        for name in names
    }


def _commands_in(status: Mapping[str, Any], names: Collection[str]) -> dict[str, int] | None:
    """The server has commands under one spelling, and takes some under others as well, such as findandmodify."""
    counted = _metrics(status, "commands")
    if counted is None:
        return None
    known = {name.lower(): each for name, each in counted.items() if isinstance(each, Mapping) and "total" in each}
    return {name: int(known[name.lower()]["total"]) for name in names if name.lower() in known}


def _documents_in(status: Mapping[str, Any]) -> dict[str, int] | None:
    counted = _metrics(status, "document")
    return None if counted is None else {name: int(counted[name]) for name in DOCUMENTS if name in counted}


def _metrics(status: Mapping[str, Any], section: str) -> Mapping[str, Any] | None:
    metrics = status.get("metrics")
    found = metrics.get(section) if isinstance(metrics, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _count_in(status: Mapping[str, Any], section: str, name: str) -> int | None:
    found = status.get(section)
    count = found.get(name) if isinstance(found, Mapping) else None
    return None if count is None else int(count)


def read_opcounters(client: Client, commands: Collection[str] = ()) -> Opcounters | None:
    """The counters now; None when this server has none, or does not show them to this user.

    Those of `commands` and of documents too, unless none are named.

    Raises:
        TargetError: the server doesn't answer.
    """
    try:
        sections = {"wiredTiger": 0, "metrics": int(bool(commands)), "locks": 0, "tcmalloc": 0}
        status = client.admin.command({"serverStatus": 1, **sections})
    except PyMongoError as error:
        if isinstance(error, OperationFailure) and error.code in NOT_ALLOWED_CODES:
            return None
        if is_turned_away(error):
            raise TargetError(
                "the server's counters can't be read: it closes each further connection",
                hint="it may be at its limit of connections: raise that, or ask for fewer",
            ) from error
        raise TargetError(
            "the server's counters can't be read: it doesn't answer any more",
            hint="check that it still runs, and that it can be reached",
        ) from error
    return Opcounters.from_status(status, commands)
