"""Owns a command that a server saw, from whatever tells of it, and which of them are no operations of a workload."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_OPERATIONS = frozenset({"find", "aggregate", "count", "distinct", "insert", "update", "delete", "findAndModify"})
_SPELLINGS = {"findandmodify": "findAndModify", "remove": "delete"}
_SYSTEM_DATABASES = frozenset({"admin", "config", "local"})
_OWN = "brimline"
_CURSOR_WORK = frozenset({"getMore", "killCursors"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One command. `kind` is its name; of an update or delete `body` is one statement, `{q, u, …}` or `{q, limit}`.

    `at_s`: seconds since 1970. `times`: how often it came, where several are told of at once. `documents`: those
    inserted or returned. `duration_ms`: how long it took on the server. `summary`: the plan, as the server names it.
    """

    database: str
    collection: str
    kind: str
    body: Mapping[str, Any]
    at_s: float | None = None
    times: int = 1
    documents: int | None = None
    duration_ms: float | None = None
    summary: str = ""
    in_transaction: bool = False


@dataclass(slots=True)
class Observations:
    """What a source tells. `left_out` counts what is no operation of a workload, by its reason.

    `source` names it in a sentence; `only_slow`: it holds what was slow, so that shares are of that alone. Each command
    goes to `take` as it comes, so that a long log is never in memory whole. `first_s` to `last_s`: what it covers.
    """

    source: str
    only_slow: bool
    take: Callable[[Observed], None]
    command_count: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    first_s: float | None = None
    last_s: float | None = None

    @property
    def covered_s(self) -> float | None:
        """How long the time is that it covers; None where that isn't known."""
        if self.first_s is None or self.last_s is None or self.last_s <= self.first_s:
            return None
        return self.last_s - self.first_s

    def add(self, command: Observed) -> None:
        """One more command."""
        self.command_count += 1
        self.take(command)

    def saw(self, at_s: float | None) -> None:
        """The time that is covered reaches to `at_s`."""
        if at_s is not None:
            self.first_s = at_s if self.first_s is None else min(self.first_s, at_s)
            self.last_s = at_s if self.last_s is None else max(self.last_s, at_s)


def told_of(
    entry: Mapping[str, Any],
    *,
    kind: str,
    namespace: str,
    application: str,
    at_s: float | None,
    duration_ms: float | None,
) -> Iterator[Observed | str]:
    """The commands of an entry of a profile or a log, or why it holds none.

    `entry` has `command` and what the server says beside it; `kind` is the entry's own type, such as "update".
    """
    command = entry.get("command")
    if not isinstance(command, Mapping) or not command:
        yield "entries without a command"
        return
    database, _, collection = namespace.partition(".")
    database = str(command.get("$db", database))
    if application.startswith(_OWN):
        yield "brimline's own"
        return
    if database in _SYSTEM_DATABASES:
        yield f"commands on the database {database}"
        return
    about: dict[str, Any] = {
        "database": database,
        "at_s": at_s,
        "duration_ms": duration_ms,
        "summary": str(entry.get("planSummary", "")),
        "in_transaction": command.get("autocommit") is False,
    }
    if kind in ("update", "remove") and isinstance(command.get("q"), Mapping):
        yield Observed(kind=_SPELLINGS.get(kind, kind), collection=collection, body=command, **about)
        return
    name = _SPELLINGS.get(next(iter(command)), next(iter(command)))
    named = command[next(iter(command))]
    if name not in _OPERATIONS or not isinstance(named, str):
        yield f"{name}, which belongs to a cursor" if name in _CURSOR_WORK else name
        return
    if named.startswith("system."):
        yield f"{name} on {named}"
        return
    if name in ("update", "delete"):
        # Each statement has an entry of its own, but on a mongos, whose entry has them all.
        statements = command.get("updates" if name == "update" else "deletes")
        for statement in statements if isinstance(statements, list) else ():
            yield Observed(kind=name, collection=named, body=statement, **about)
        return
    documents = entry.get("ninserted") if name == "insert" else entry.get("nreturned")
    yield Observed(
        kind=name,
        collection=named,
        body=command,
        documents=documents if isinstance(documents, int) else None,
        **about,
    )
