"""Owns the database of client-routed shards: several databases, one a server, as what surrounds a load sees one.

Only what `dataset` and `execution` ask for. The manifest is at the first server, and speaks of all records.
"""

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from brimline.dataset.access import DataDatabase, collection_exists
from brimline.dataset.manifest import MANIFEST_COLLECTION

_MAKING = {"create", "createIndexes", "dropIndexes"}
"""Commands of which each server gets one."""


@dataclass(frozen=True, slots=True)
class _Deleted:
    deleted_count: int


class _Collection:
    """A collection of which each server has a part."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self._parts = parts

    def with_options(self, **words: Any) -> "_Collection":
        """The same, read otherwise."""
        return _Collection([part.with_options(**words) for part in self._parts])

    def find_one(self, *words: Any) -> Any:
        """The first that any server has."""
        return next((found for part in self._parts if (found := part.find_one(*words)) is not None), None)

    def find(self, *words: Any, **options: Any) -> Iterator[Any]:
        """All, server by server."""
        for part in self._parts:
            yield from part.find(*words, **options)

    def aggregate(self, *words: Any, **options: Any) -> Iterator[Any]:
        """What each server makes of its part."""
        return iter([found for part in self._parts for found in part.aggregate(*words, **options)])

    def estimated_document_count(self) -> int:
        """The sum of what the servers' metadata says."""
        return sum(part.estimated_document_count() for part in self._parts)

    def count_documents(self, wanted: Mapping[str, Any]) -> int:
        """The sum of what the servers count one by one."""
        return sum(part.count_documents(wanted) for part in self._parts)

    def delete_many(self, wanted: Mapping[str, Any]) -> _Deleted:
        """Deletes at every server."""
        return _Deleted(sum(part.delete_many(wanted).deleted_count for part in self._parts))

    def create_index(self, keys: Any) -> None:
        """Makes it at every server."""
        for part in self._parts:
            part.create_index(keys)

    def list_indexes(self) -> Iterator[Any]:
        """The indexes of the first server; all have the same."""
        return iter(self._parts[0].list_indexes())


class _Database:
    """See the module."""

    def __init__(self, databases: Sequence[DataDatabase]) -> None:
        self._databases = databases
        self.name = databases[0].name

    def __getitem__(self, name: str) -> Any:
        return (
            self._databases[0][name]
            if name == MANIFEST_COLLECTION
            else _Collection([database[name] for database in self._databases])
        )

    def command(self, command: str | MutableMapping[str, Any]) -> Mapping[str, Any]:
        """What the first server answers; what makes something is said to every server."""
        asked = self._databases if isinstance(command, Mapping) and _MAKING & command.keys() else self._databases[:1]
        answers = [database.command(command) for database in asked]
        return answers[0]

    def drop_collection(self, name: str) -> None:
        """Drops it at every server."""
        for database in self._databases:
            database.drop_collection(name)

    def create_collection(self, name: str) -> None:
        """Makes it at every server."""
        for database in self._databases:
            if not collection_exists(database, name):
                database.create_collection(name)

    def list_collections(self, **words: Any) -> Iterator[Any]:
        """Those of the first server that every other has as well."""
        others = [{each["name"] for each in database.list_collections(**words)} for database in self._databases[1:]]
        found = self._databases[0].list_collections(**words)
        return (each for each in found if all(each["name"] in names for names in others))


def routed(databases: Sequence[DataDatabase]) -> DataDatabase:
    """The database of the same name at several servers, as one. The first holds the manifest."""
    return cast(DataDatabase, _Database(databases))
