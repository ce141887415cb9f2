"""Owns how a workload comes from a live deployment: what is read of it, in which order, and what stands for what."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from brimline.dataset.access import DataDatabase
from brimline.errors import TargetError, UsageError
from brimline.init.command_groups import CommandGroups
from brimline.init.live_collection import LiveCollection, read_live, share_found
from brimline.init.observed import Observations, Observed
from brimline.init.operations import Operations, key_laws, seen_operations
from brimline.init.profile import read_profile
from brimline.init.proposals import proposed_operations
from brimline.init.query_stats import read_query_stats
from brimline.init.references import find_references
from brimline.init.server_log import read_log
from brimline.init.workload_text import Source, workload_text

OperationsFrom = Literal["auto", "profile", "query-stats", "log", "indexes"]
_OTHER_COLLECTIONS = "commands on other collections"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A workload's text, and what is said of it beside: `not_taken` is in its comments as well."""

    text: str
    collections: int
    operations: int
    not_taken: Sequence[str] = ()
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveWords:
    """What is to be read and how: see `brimline.api.init`."""

    names: Sequence[str]
    sample: int
    with_values: bool
    existing: bool
    operations: OperationsFrom
    logs: Sequence[Path] = field(default_factory=tuple)


def from_live(database: DataDatabase, words: LiveWords, *, version: str, say: Callable[[str], None]) -> Written:
    """The workload of collections of `database`. Raises UsageError and TargetError."""
    live: list[LiveCollection] = []
    for name in words.names:
        say(f"looking at {database.name}.{name}")
        live.append(read_live(database, name, sample=words.sample))
    references = find_references(live, lambda name, keys: share_found(database, name, keys))
    warnings: list[str] = []
    groups = _Wanted({(database.name, each.name) for each in live})
    observations = _observations(database, words, groups, warnings, say)
    source = Source(
        database=database.name,
        live=live,
        references=references,
        loaded=not words.existing,
        with_values=words.with_values,
        told=[
            f"From MongoDB {version}, the database {database.name}: {', '.join(words.names)}.",
            *_told(words, warnings),
        ],
    )
    return _written(source, groups.groups, observations, warnings)


def from_log(paths: Sequence[Path], namespaces: set[tuple[str, str]], *, say: Callable[[str], None]) -> Written:
    """The workload of the slow operations of logs alone, on live collections as they are. Raises UsageError."""
    wanted = _Wanted(namespaces)
    observations = _of_logs(paths, wanted, say)
    database = wanted.most_frequent_database(observations)
    groups = wanted.by_database[database]
    source = Source(
        database=database,
        existing=sorted({each.request.collection for each in groups.groups.values()}),
        loaded=False,
        told=["From a log alone: live collections are used as they are; writing to them needs --allow-writes."],
    )
    return _written(source, groups, observations, [])


def _written(
    source: Source, groups: CommandGroups | None, observations: Observations | None, warnings: list[str]
) -> Written:
    writer = source.writer()
    operations: Operations
    if observations is None or groups is None or not groups.groups:
        operations = proposed_operations(writer)
    else:
        writer.values.laws.update(key_laws(groups, writer))
        operations = seen_operations(groups, observations, writer)
    return Written(
        text=workload_text(source, operations, writer.values),
        collections=len(source.live) or len(source.existing),
        operations=len(operations.operations),
        not_taken=operations.not_taken,
        warnings=warnings,
    )


def _told(words: LiveWords, warnings: Sequence[str]) -> list[str]:
    told = list(warnings)
    if words.existing:
        told.append("The live collections are used as they are; writing to them needs --allow-writes.")
    return told


def _observations(
    database: DataDatabase, words: LiveWords, wanted: "_Wanted", warnings: list[str], say: Callable[[str], None]
) -> Observations | None:
    """What shows the operations; None: nothing does. Raises where a source that is named can't be had."""
    if words.logs:
        return _of_logs(words.logs, wanted, say)
    if words.operations == "log":
        raise UsageError("--operations log names no log", hint="give --log FILE, a copy of the server's log")
    if words.operations == "indexes":
        return None
    for name, read in (("profile", read_profile), ("query-stats", read_query_stats)):
        if words.operations not in ("auto", name):
            continue
        try:
            found = read(database, wanted.take)
        except TargetError as error:
            if words.operations == name:
                raise
            warnings.append(f"{error.message}.")
            continue
        if found is not None and wanted.groups is not None and wanted.groups.groups:
            wanted.add_left_out(found)
            return found
        if words.operations == name:
            message, hint = _NOTHING[name]
            raise UsageError(message, hint=hint)
    return None


_NOTHING = {
    "profile": (
        "system.profile has no operation on these collections",
        "switch the profiler on for a while with db.setProfilingLevel(2), or give --operations indexes",
    ),
    "query-stats": (
        "the server's $queryStats has no query on these collections",
        "give --operations profile or indexes, or --log FILE",
    ),
}


def _of_logs(paths: Sequence[Path], wanted: "_Wanted", say: Callable[[str], None]) -> Observations:
    found: Observations | None = None
    for path in paths:
        say(f"reading {path.name}")
        one = read_log(path, wanted.take)
        if found is None:
            found = one
            continue
        found.left_out.update(one.left_out)
        found.saw(one.first_s)
        found.saw(one.last_s)
        found.source = f"{found.source}, {one.source}"
    assert found is not None  # noqa: S101 - there is a path
    wanted.add_left_out(found)
    if not wanted.by_database:
        what = ", ".join(f"{name}.{each}" for name, each in sorted(wanted.namespaces)) or "any collection"
        raise UsageError(
            f"{found.source} has no slow operation on {what}",
            hint="name the collections that it is about, or another log",
        )
    return found


class _Wanted:
    """Takes the commands on the collections that are wanted, all where none is named, by their database."""

    def __init__(self, namespaces: set[tuple[str, str]]) -> None:
        self.namespaces = namespaces
        self.by_database: dict[str, CommandGroups] = {}
        self.left_out = 0

    def take(self, command: Observed) -> None:
        """One command."""
        if self.namespaces and (command.database, command.collection) not in self.namespaces:
            self.left_out += command.times
            return
        self.by_database.setdefault(command.database, CommandGroups()).add(command)

    def add_left_out(self, observations: Observations) -> None:
        """Commands on other collections are among what is left out."""
        if self.left_out:
            observations.left_out[_OTHER_COLLECTIONS] += self.left_out

    @property
    def groups(self) -> CommandGroups | None:
        """Those of the one database that is wanted; None where nothing came."""
        return next(iter(self.by_database.values()), None)

    def most_frequent_database(self, observations: Observations) -> str:
        """The database with most commands; those on others are left out."""
        ranked = sorted(self.by_database, key=lambda name: -self.by_database[name].times)
        for name in ranked[1:]:
            observations.left_out[f"commands on the database {name}"] += self.by_database[name].times
        return ranked[0]
