"""Owns the database of client-routed shards: several databases, one a server, as what surrounds a load sees one.

Only what `dataset` and `execution` ask for. The manifest is at the first server, and speaks of all records.
"""

import contextvars
import heapq
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Self, TypeVar, cast

from brimline.dataset.access import DataDatabase, collection_exists
from brimline.dataset.manifest import MANIFEST_COLLECTION

_MAKING = {"create", "createIndexes", "dropIndexes"}
"""Commands of which each server gets one."""


_Part = TypeVar("_Part")
_Answer = TypeVar("_Answer")


def at_once(parts: Sequence[_Part], ask: Callable[[_Part], _Answer]) -> list[_Answer]:
    """Asks every server at the same time; what each answers, in their order. Raises what the first that failed did."""
    with ThreadPoolExecutor(max_workers=len(parts)) as pool:
        # Limits of time are of a context, and each thread needs one of its own.
        asked = [pool.submit(contextvars.copy_context().run, ask, part) for part in parts]
        return [each.result() for each in asked]


@dataclass(frozen=True, slots=True)
class _Deleted:
    deleted_count: int


class Found:
    """What all servers find, one server after the other, or in the order of a field, as one server would."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self._parts = parts
        self._field: str | None = None
        self._skip, self._limit = 0, 0

    def sort(self, field: str, direction: int) -> Self:
        """By one field, ascending; that is all that is asked for."""
        self._field = field
        self._parts = [part.sort(field, direction) for part in self._parts]
        return self

    def hint(self, name: str) -> Self:
        """Has every server use the index of that name."""
        self._parts = [part.hint(name) for part in self._parts]
        return self

    def skip(self, count: int) -> Self:
        """Of all together: which server has how many of them only their values tell."""
        self._skip = count
        return self

    def limit(self, count: int) -> Self:
        """Of all together."""
        self._limit = count
        # No server needs to bring more than would be left if all came from it.
        self._parts = [part.limit(self._skip + count) for part in self._parts]
        return self

    def __iter__(self) -> Iterator[Any]:
        found = chain.from_iterable(self._parts) if self._field is None else self._merged(self._field)
        return islice(found, self._skip, self._skip + self._limit if self._limit else None)

    def _merged(self, field: str) -> Iterator[Any]:
        return heapq.merge(*self._parts, key=partial(_value_at, field.split(".")))


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

    def find(self, *words: Any, **options: Any) -> Found:
        """All, server by server."""
        return Found([part.find(*words, **options) for part in self._parts])

    def find_raw_batches(self, *words: Any, **options: Any) -> Iterator[bytes]:
        """The batches of each server, one server after the other."""
        return chain.from_iterable(part.find_raw_batches(*words, **options) for part in self._parts)

    def aggregate(self, *words: Any, **options: Any) -> Iterator[Any]:
        """What each server makes of its part, all of them at the same time."""
        answers = at_once(self._parts, lambda part: list(part.aggregate(*words, **options)))
        return chain.from_iterable(answers)

    def estimated_document_count(self) -> int:
        """The sum of what the servers' metadata says."""
        return sum(part.estimated_document_count() for part in self._parts)

    def count_documents(self, wanted: Mapping[str, Any]) -> int:
        """The sum of what the servers count one by one."""
        return sum(at_once(self._parts, lambda part: part.count_documents(wanted)))

    def delete_many(self, wanted: Mapping[str, Any]) -> _Deleted:
        """Deletes at every server."""
        return _Deleted(sum(part.delete_many(wanted).deleted_count for part in self._parts))

    def create_index(self, keys: Any, **options: Any) -> None:
        """Makes it at every server, at the same time."""
        at_once(self._parts, lambda part: part.create_index(keys, **options))

    def drop_index(self, name: str) -> None:
        """Drops it at every server."""
        for part in self._parts:
            part.drop_index(name)

    def rename(self, name: str, **options: Any) -> None:
        """Renames it at every server."""
        for part in self._parts:
            part.rename(name, **options)

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

    def get_collection(self, name: str, **words: Any) -> Any:
        """That of the first server: whether documents are taken is tried there, and all have the same shape."""
        return self._databases[0].get_collection(name, **words)

    def command(self, command: str | MutableMapping[str, Any], *words: Any, **options: Any) -> Mapping[str, Any]:
        """What the first server answers; what makes something is said to every server."""
        asked = self._databases if isinstance(command, Mapping) and _MAKING & command.keys() else self._databases[:1]
        answers: list[Mapping[str, Any]] = [database.command(command, *words, **options) for database in asked]
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


def _value_at(path: Sequence[str], document: Any) -> Any:
    for name in path:
        document = itemgetter(name)(document)
    return document


def routed(databases: Sequence[DataDatabase]) -> DataDatabase:
    """The database of the same name at several servers, as one. The first holds the manifest."""
    return cast(DataDatabase, _Database(databases))
