"""Owns what a workload says that a collection is besides its documents, and how what is there differs from it.

Sources: MongoDB's manual on `create`, `createIndexes` and `listIndexes`: what a server adds to what it was told, and
that an index has its name from its fields unless it was given one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from pymongo.errors import OperationFailure

from brimline.dataset.access import WORK_WITHIN_S, DataDatabase, target_errors
from brimline.dataset.manifest import Manifest
from brimline.dataset.shape import Shape, make_indexes, read_shape
from brimline.dataset.sharding import ShardKey, is_behind_router, shard_key_of
from brimline.errors import UsageError
from brimline.servers.answers import refusal_words

_DUPLICATE_KEY = 11000
_CAPPED_STEP = 256
"""To whose multiples servers round the size of a capped collection up."""
_UNASKED = ("unique", "sparse", "hidden", "expireAfterSeconds", "partialFilterExpression")
"""Options that make an index another one where nobody asked for them."""
_APART = ("unique", "sparse", "partialFilterExpression")
"""Options by which a server from 5.0 on has two indexes over the same fields."""
_BYTEWISE = {"locale": "simple"}
"""The collation of which a server lists nothing."""
Index = Mapping[str, Any]
"""As `createIndexes` takes it: `key`, `name` and options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What a collection is to be: `shape` with indexes that have names, and behind a mongos `shard_key`."""

    shape: Shape = field(default_factory=Shape)
    shard_key: ShardKey | None = None

    @property
    def expires(self) -> bool:
        """Whether the server takes documents away by itself."""
        indexes = self.shape.indexes
        return "expireAfterSeconds" in self.shape.options or any("expireAfterSeconds" in each for each in indexes)

    @classmethod
    def of(
        cls,
        *,
        options: Mapping[str, Any] | None = None,
        indexes: Iterable[Mapping[str, Any]] = (),
        shard_key: Mapping[str, Any] | None = None,
    ) -> Self:
        """From a person's words: each of `indexes` has `key` and maybe a `name` and options."""
        named = [{**index, "name": index.get("name") or default_name(index["key"])} for index in indexes]
        key = None if shard_key is None else ShardKey(fields=dict(shard_key))
        return cls(shape=Shape(options=dict(options or {}), indexes=named), shard_key=key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """How a collection differs from its definition.

    `options` are names of those that are otherwise, `missing` indexes that aren't there, `other` those in whose place
    is another, `surplus` names of brimline's own that aren't asked for; `shard_key`: it is sharded otherwise.
    """

    options: Sequence[str] = ()
    missing: Sequence[Index] = ()
    other: Sequence[Index] = ()
    surplus: Sequence[str] = ()
    shard_key: bool = False

    def __bool__(self) -> bool:
        return bool(self.options or self.missing or self.other or self.surplus or self.shard_key)

    @property
    def needs_another_collection(self) -> bool:
        """Whether only a collection made anew can be what is asked for."""
        return bool(self.options) or self.shard_key

    @property
    def text(self) -> str:
        """For people, what is otherwise: `without the index a_1`."""
        parts = (
            _listed("without the index", "without the indexes", names_of(self.missing)),
            _listed("with another index in the place of", "with other indexes in the place of", names_of(self.other)),
            _listed("with the further index", "with the further indexes", self.surplus),
            _listed("otherwise in the option", "otherwise in the options", self.options),
            "sharded otherwise" if self.shard_key else "",
        )
        return ", ".join(filter(None, parts))


def misfit(
    wanted: Definition,
    there: Shape,
    *,
    own_indexes: Iterable[str] = (),
    sharded_by: ShardKey | None = None,
    behind_router: bool = False,
) -> Misfit:
    """How a collection that has `there` differs from `wanted`. What others gave it and nobody asks for is no misfit.

    `own_indexes` are the names of those that brimline made; `sharded_by` counts `behind_router` alone.
    """
    ours = set(own_indexes)
    kept = [] if wanted.shard_key is None else [list(wanted.shard_key.fields.items())]
    surplus = [
        str(found["name"])
        for found in there.indexes
        if found["name"] in ours
        and list(found["key"].items()) not in kept
        and not any(is_same(index, found) for index in wanted.shape.indexes)
    ]
    missing: list[Index] = []
    other: list[Index] = []
    for index in wanted.shape.indexes:
        if any(is_same(index, found) for found in there.indexes):
            continue
        clashes = any(found["name"] not in surplus and takes_the_place(found, index) for found in there.indexes)
        (other if clashes else missing).append(index)
    return Misfit(
        options=[name for name, value in wanted.shape.options.items() if not has_option(there.options, name, value)],
        missing=missing,
        other=other,
        surplus=surplus,
        shard_key=behind_router and wanted.shard_key is not None and sharded_by != wanted.shard_key,
    )


def find_misfit(database: DataDatabase, manifest: Manifest, wanted: Definition) -> Misfit:
    """How the collection that is there differs from `wanted`. Raises TargetError, and UsageError where it is a view."""
    name = manifest.collection
    with target_errors("looking at the collection"):
        there = read_shape(database, name) or Shape()
        behind_router = wanted.shard_key is not None and is_behind_router(database)
        key = shard_key_of(database, name) if behind_router else None
    return misfit(wanted, there, own_indexes=own_names(manifest, there), sharded_by=key, behind_router=behind_router)


def fit_indexes(database: DataDatabase, name: str, found: Misfit) -> None:
    """Makes the indexes that are missing and takes brimline's own away that aren't asked for.

    Raises:
        UsageError: documents that are there can't have a unique index.
        TargetError: the server doesn't answer or refuses.
    """
    with target_errors(f"making the indexes of {database.name}.{name}", within_s=WORK_WITHIN_S):
        if found.surplus:
            database.command({"dropIndexes": name, "index": list(found.surplus)})
        try:
            make_indexes(database, name, found.missing)
        except OperationFailure as error:
            if error.code != _DUPLICATE_KEY:
                raise
            raise UsageError(
                f"the documents of {database.name}.{name} can't have the unique index: {refusal_words(error)}",
                hint="correct its fields or its indexes in the workload, and load anew",
            ) from error


def own_names(manifest: Manifest, there: Shape) -> list[str]:
    """The indexes `there` that brimline made: over fields of its own, and as it asked for, where that is known."""
    own = [list(keys.items()) for keys in manifest.own_indexes]
    return [
        str(found["name"])
        for found in there.indexes
        if (fields := list(found["key"].items())) in own
        and (
            not (asked := [each for each in manifest.asked_indexes if list(listed_key(each).items()) == fields])
            or any(each["name"] == found["name"] and is_same(each, found) for each in asked)
        )
    ]


def is_same(wanted: Index, found: Index) -> bool:
    """Whether `found`, as a server lists it, is the index that `wanted` asks for, maybe under another name."""
    if list(listed_key(wanted).items()) != list(found["key"].items()):
        return False
    weights = _weights(wanted)
    if weights is not None and weights != dict(found.get("weights", {})):
        return False
    told = {name: value for name, value in wanted.items() if name not in ("key", "name", "weights")}
    if told.get("collation") == _BYTEWISE and found.get("collation") is None:
        del told["collation"]
    return all(_holds(found.get(name), value) for name, value in told.items()) and not any(
        found.get(name) not in (None, False) and name not in told for name in _UNASKED
    )


def takes_the_place(found: Index, wanted: Index) -> bool:
    """Whether a server can't have `wanted` beside `found`, which is another index."""
    if found["name"] == wanted["name"]:
        return True
    if list(found["key"].items()) != list(listed_key(wanted).items()):
        return False
    there, asked = found.get("collation"), wanted.get("collation")
    is_one_collation = there is None if asked in (None, _BYTEWISE) else there is not None and _holds(there, asked)
    return is_one_collation and all(found.get(name) == wanted.get(name) for name in _APART)


def has_option(there: Mapping[str, Any], name: str, wanted: Any) -> bool:
    """Whether a collection with the options `there` has this one, as a server tells it."""
    found = there.get(name)
    if name == "size" and isinstance(wanted, int | float):
        return found in (wanted, -(-int(wanted) // _CAPPED_STEP) * _CAPPED_STEP)
    return bool(found == wanted) if name == "validator" else _holds(found, wanted)


def default_name(key: Mapping[str, Any]) -> str:
    """The name that an index over these fields has unless it is given one."""
    return "_".join(f"{name}_{_plain(order)}" for name, order in key.items())


def listed_key(index: Index) -> dict[str, Any]:
    """The fields of an index as a server lists them: those of a text index under one name of its own."""
    fields: dict[str, Any] = {}
    for name, order in index["key"].items():
        fields.update({"_fts": "text", "_ftsx": 1} if order == "text" else {name: order})
    return fields


def names_of(indexes: Iterable[Index]) -> list[str]:
    """Their names."""
    return [str(index["name"]) for index in indexes]


def _weights(index: Index) -> dict[str, Any] | None:
    """Of a text index: each field with its weight."""
    words = [name for name, order in index["key"].items() if order == "text"]
    return {**dict.fromkeys(words, 1), **index.get("weights", {})} if words else None


def _holds(found: Any, wanted: Any) -> bool:
    """Whether `found` is `wanted`, maybe with what the server adds to it."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(_holds(found.get(name), value) for name, value in wanted.items())
    return bool(found == wanted) or (found is None and wanted is False)


def _plain(order: Any) -> Any:
    return int(order) if isinstance(order, float) and order.is_integer() else order


def _listed(one: str, several: str, names: Sequence[str]) -> str:
    return f"{one if len(names) == 1 else several} {', '.join(names)}" if names else ""
