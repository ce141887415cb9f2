"""Owns what a collection is besides its documents: its options and its indexes. Who makes it anew keeps them.

Source: MongoDB's manual on `listCollections`, `create`, `listIndexes` and `createIndexes`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Self

from brimline.dataset.access import DataDatabase
from brimline.errors import UsageError

_INDEXES_MAX = 1000
"""A collection can have 64."""
_CHECKING = frozenset({"validator", "encryptedFields"})
"""The options that documents are held to as they come."""
_NOT_TAKEN = frozenset({"ns", "background"})
"""What `listIndexes` tells and `createIndexes` doesn't take, or says by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`options` as `create` takes them, `indexes` besides that of `_id` as `createIndexes` takes them."""

    options: Mapping[str, Any] = field(default_factory=dict)
    indexes: Sequence[Mapping[str, Any]] = ()

    def __bool__(self) -> bool:
        return bool(self.options or self.indexes)

    @property
    def checks_documents(self) -> bool:
        """Whether it may refuse what a collection of the same shape holds, unless the check is bypassed."""
        return not _CHECKING.isdisjoint(self.options)

    @property
    def names(self) -> list[str]:
        """The names of the indexes."""
        return [str(index["name"]) for index in self.indexes]

    @property
    def names_by_kind(self) -> dict[str, list[str]]:
        """The names of `indexes` and `options`."""
        return {"indexes": self.names, "options": list(self.options)}

    @property
    def text(self) -> str:
        """What there is, for people: `the index a_1 and the options capped, size`."""
        parts = [_listed("index", "indexes", self.names), _listed("option", "options", list(self.options))]
        return " and ".join(filter(None, parts))

    def without(self, indexes: Iterable[str], options: Iterable[str] = ()) -> Self:
        """The same but for these indexes and options, by name."""
        names, others = set(indexes), set(options)
        return replace(
            self,
            options={name: value for name, value in self.options.items() if name not in others},
            indexes=[each for each in self.indexes if each["name"] not in names],
        )

    def with_lost(self, before: Self) -> Self:
        """The same and what `before` had and is gone."""
        there = set(self.names)
        lost = [index for index in before.indexes if index["name"] not in there]
        return replace(self, options={**before.options, **self.options}, indexes=[*self.indexes, *lost])


def read_shape(database: DataDatabase, name: str) -> Shape | None:
    """What the collection has; None when it isn't there. Raises PyMongoError, and UsageError where it is a view."""
    found = next(iter(database.list_collections(filter={"name": name})), None)
    if found is None:
        return None
    if found.get("type") == "view":
        raise UsageError(f"{database.name}.{name} is a view, which takes no documents", hint="name another collection")
    indexes = [_taken(each) for each in islice(database[name].list_indexes(), _INDEXES_MAX) if _is_further(each)]
    return Shape(options=dict(found.get("options") or {}), indexes=indexes)


def make(database: DataDatabase, name: str, shape: Shape) -> None:
    """Makes the collection with all that `shape` says. Raises PyMongoError."""
    # As a command: what PyMongo names another way, or doesn't know yet, is an option all the same.
    database.command({"create": name, **shape.options})
    make_indexes(database, name, shape.indexes)


def make_indexes(database: DataDatabase, name: str, indexes: Sequence[Mapping[str, Any]]) -> None:
    """Makes `indexes`, as `createIndexes` takes them; takes time with the documents there. Raises PyMongoError."""
    if indexes:
        database.command({"createIndexes": name, "indexes": [dict(index) for index in indexes]})


def _is_further(index: Mapping[str, Any]) -> bool:
    """Whether it is neither that of `_id` nor the collection itself, as of a clustered one."""
    return index.get("name") != "_id_" and not index.get("clustered") and bool(index.get("key"))


def _taken(index: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in index.items() if name not in _NOT_TAKEN}


def _listed(one: str, several: str, names: Iterable[str]) -> str:
    listed = list(names)
    return f"the {one if len(listed) == 1 else several} {', '.join(listed)}" if listed else ""
