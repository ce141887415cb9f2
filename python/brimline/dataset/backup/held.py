"""Owns what the files of a backup hold of a collection, and which of them are to be put back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brimline.dataset.backup.layout import BSON, METADATA, namespaces, placed, read_metadata, source_of
from brimline.dataset.backup.read import NOT_USERS
from brimline.dataset.backup.summary import CollectionBackup, read_summary
from brimline.dataset.shape import Shape
from brimline.errors import UsageError
from brimline.servers.rights import OF_THE_SERVER

_OF_THE_SERVER_ALONE = ("ns", "background")
"""What older servers list of an index, and newer ones refuse to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A collection or view as the files of a backup hold it. `said`: what the backup wrote of it, if it did."""

    directory: Path
    database: str
    name: str
    metadata: Mapping[str, Any]
    said: CollectionBackup | None

    @property
    def namespace(self) -> str:
        """`database.name`."""
        return f"{self.database}.{self.name}"

    @property
    def type(self) -> str:
        """As a server names it."""
        return str(self.metadata.get("type", "collection"))

    @property
    def is_view(self) -> bool:
        """Whether it holds no documents of its own."""
        return self.type == "view"

    @property
    def is_renamed(self) -> bool:
        """Whether a server gives such a collection another name; one that it gives none is put back twice."""
        is_encrypted = "encryptedFields" in (self.metadata.get("options") or {})
        return self.type != "timeseries" and not is_encrypted and not self.name.startswith(OF_THE_SERVER)

    @property
    def shape(self) -> Shape:
        """What it is besides its documents, as a server takes it."""
        options = dict(self.metadata.get("options") or {})
        # The UUID is the old collection's; the index on _id comes by itself, unless the collection is clustered by it.
        options.pop("uuid", None)
        options.pop("autoIndexId", None)
        there = self.metadata.get("indexes", [])
        wanted = [each for each in there if each.get("name") != "_id_" and not each.get("clustered")]
        indexes = [{key: value for key, value in each.items() if key not in _OF_THE_SERVER_ALONE} for each in wanted]
        return Shape(options=options, indexes=indexes)

    def file(self) -> Path:
        """Where its documents are. Raises UsageError where they are not there."""
        names = (self.source_in(self.name), self.name)
        path = next(filter(None, (placed(self.directory, self.database, name, BSON) for name in names)), None)
        if path is None:
            raise UsageError(f"{self.directory} lacks the documents of {self.namespace}",
                             hint="restore the directory from a copy, or make the backup anew")  # fmt: skip
        return path

    def source_in(self, place: str) -> str:
        """The collection that holds its documents where it stands under the name `place`."""
        return source_of(place, self.metadata.get("type"))


def held_in(directory: Path, databases: Sequence[str], *, notice: Callable[[str], None]) -> list[Held]:
    """What is wanted of the files, each with its documents there. Raises UsageError and RecordError."""
    summary = read_summary(directory)
    if summary is not None and not summary.complete:
        raise UsageError(f"the backup in {directory} did not come to its end", hint="make it anew: brimline backup")
    said = {} if summary is None else {each.namespace: each for each in summary.collections}
    there = namespaces(directory)
    if missing := said.keys() - {f"{database}.{name}" for database, name in there}:
        raise UsageError(f"{directory} lacks {', '.join(sorted(missing))}, which the backup held",
                         hint="restore the directory from a copy, or make the backup anew")  # fmt: skip
    found = []
    for database, name in _wanted(directory, there, databases, notice=notice):
        path = placed(directory, database, name, METADATA)
        assert path is not None  # noqa: S101 - it was found there
        held = Held(directory=directory, database=database, name=name, metadata=read_metadata(path),
                    said=said.get(f"{database}.{name}"))  # fmt: skip
        if not held.is_view:
            held.file()
        found.append(held)
    return found


def _wanted(
    directory: Path, there: Sequence[tuple[str, str]], databases: Sequence[str], *, notice: Callable[[str], None]
) -> list[tuple[str, str]]:
    names = list(dict.fromkeys(database for database, _ in there))
    if missing := [each for each in databases if each not in names]:
        raise UsageError(f"{directory} holds no database {', '.join(missing)}", hint=f"it holds {', '.join(names)}")
    chosen = list(databases) or [each for each in names if each not in NOT_USERS]
    others = [each for each in names if each in NOT_USERS and not databases]
    if others:
        notice(f"left out, as of the server itself: {', '.join(others)}; name it where it is wanted: --db {others[0]}")
    wanted = [(database, name) for database, name in there if database in chosen]
    kept_back = [f"{database}.{name}" for database, name in wanted if _is_of_the_server(database, name)]
    if kept_back:
        notice(f"left out, as made by commands alone: {', '.join(kept_back)}")
    wanted = [each for each in wanted if not _is_of_the_server(*each)]
    if not wanted:
        raise UsageError(f"{directory} holds no collection of a user's to put back", hint="name a database: --db NAME")
    return wanted


def _is_of_the_server(database: str, name: str) -> bool:
    return database in NOT_USERS and name.startswith(OF_THE_SERVER)
