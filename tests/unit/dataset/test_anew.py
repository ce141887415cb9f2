"""Whatever a collection had, it has after any two kills and an attempt that comes to its end."""

import re
from collections.abc import Iterator
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from pymongo.errors import OperationFailure, WriteConcernError

from brimline.dataset.anew import make_anew, names_beside, shard_key_wanted, was_cut_short, with_left
from brimline.dataset.shape import Shape, read_shape

SHAPE = Shape(options={"validator": {"n": 1}}, indexes=[{"v": 2, "key": {"a": 1}, "name": "a_1"}])
PLAIN = Shape(indexes=[])
STEPS_MAX = 12


class Killed(BaseException):
    """As SIGKILL: nothing after it is done."""


class Database:
    """A server's database in memory, on which a process does so many changes and is gone."""

    name = "shop"

    def __init__(self, *, renames: bool = True, refuses: str = "") -> None:
        self.collections: dict[str, dict[str, Any]] = {}
        self.steps_left = 1_000
        self._renames, self._refuses = renames, refuses
        self.error_behind_rename: OperationFailure | None = None
        self.keys: dict[str, dict[str, Any]] = {}
        self.client = _Client(self)

    def changes(self) -> None:
        if self.steps_left == 0:
            raise Killed
        self.steps_left -= 1

    def _admin(self, command: Any, *_: object) -> None:
        if isinstance(command, dict):
            self.changes()
            self.keys[command["shardCollection"].partition(".")[2]] = command["key"]

    def list_collections(self, filter: dict[str, Any]) -> Iterator[dict[str, Any]]:  # noqa: A002 (PyMongo's word)
        wanted = filter["name"]
        for name, of in list(self.collections.items()):
            if re.match(wanted["$regex"], name) if isinstance(wanted, dict) else wanted == name:
                yield {"name": name, "options": of["options"]}

    def __getitem__(self, name: str) -> "Collection":
        return Collection(self, name)

    def command(self, command: dict[str, Any]) -> None:
        if self._refuses and "create" in command and command["create"].startswith(self._refuses):
            raise OperationFailure("not allowed", 13)
        self.changes()
        if "create" in command:
            assert command["create"] not in self.collections
            options = {key: value for key, value in command.items() if key != "create"}
            self.collections[command["create"]] = {"options": options, "indexes": [], "documents": []}
        else:
            self.collections[command["createIndexes"]]["indexes"] += command["indexes"]

    def drop_collection(self, name: str) -> None:
        self.changes()
        self.collections.pop(name, None)
        self.keys.pop(name, None)

    def rename(self, name: str, to: str) -> None:
        if not self._renames:
            raise OperationFailure("not to be renamed", 20)
        self.changes()
        self.collections[to] = self.collections.pop(name)
        if self.error_behind_rename is not None:
            raise self.error_behind_rename


class Collection:
    def __init__(self, database: Database, name: str) -> None:
        self._database, self._name = database, name

    def find_one(self, *_: object) -> Any:
        return next(iter(self._database.collections.get(self._name, {}).get("documents", [])), None)

    def list_indexes(self) -> list[dict[str, Any]]:
        return list(self._database.collections[self._name]["indexes"])

    def rename(self, to: str, *, dropTarget: bool) -> None:  # noqa: N803 (MongoDB's word)
        assert dropTarget
        self._database.rename(self._name, to)


class _Client:
    """The databases `admin` and `config` of a router."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.admin = SimpleNamespace(command=database._admin)

    def __getitem__(self, _: str) -> Any:
        return {"collections": self}

    def find_one(self, wanted: dict[str, str]) -> Any:
        key = self._database.keys.get(wanted["_id"].partition(".")[2])
        return None if key is None else {"key": key}


def attempt(database: Any, *, is_sharded: bool = False, steps: int = 1_000) -> bool:
    """What an import with `--drop` does to the collection; whether it came to its end."""
    database.steps_left = steps
    try:
        key = shard_key_wanted(database, "c") if is_sharded else None
        make_anew(database, "c", with_left(database, "c", read_shape(database, "c")), key)
    except Killed:
        return False
    finally:
        database.steps_left = 1_000
    return True


def filled(shape: Shape, key: dict[str, Any] | None = None, **words: Any) -> Any:
    database = Database(**words)
    of = {"options": dict(shape.options), "indexes": [dict(each) for each in shape.indexes], "documents": [{"_id": 1}]}
    database.collections["c"] = of
    if key is not None:
        database.keys["c"] = key
    return database


@pytest.mark.parametrize(
    ("shape", "key", "renames"),
    [(SHAPE, None, True), (SHAPE, None, False), (SHAPE, {"a": 1}, False), (PLAIN, {"a": 1}, False)],
    ids=["renamed", "not renamed", "sharded", "sharded and plain"],
)
def test_nothing_is_lost_by_any_two_kills(shape: Shape, key: dict[str, Any] | None, renames: bool) -> None:
    ended = set()
    for first, second in product(range(STEPS_MAX), repeat=2):
        database = filled(shape, key, renames=renames)
        for steps in (first, second):
            ended.add(attempt(database, is_sharded=key is not None, steps=steps))
        assert attempt(database, is_sharded=key is not None)
        assert read_shape(database, "c") == shape, (first, second)
        assert database.keys.get("c") == key, (first, second)
        assert list(database.collections) == ["c"] and not database["c"].find_one()
    assert ended == {True, False}


def test_what_its_owner_removed_since_stays_away() -> None:
    """Killed before the rename, so that the old one is there, whose owner wants its validator no more."""
    database = filled(SHAPE)
    assert not attempt(database, steps=2) and names_beside(database, "c")
    database.collections["c"].update(options={}, indexes=[])
    assert attempt(database)
    assert read_shape(database, "c") == PLAIN and not names_beside(database, "c")


def test_a_collection_that_is_only_beside_is_told() -> None:
    database = filled(SHAPE, renames=False)
    assert not was_cut_short(database, "c")
    assert not attempt(database, steps=3)
    assert "c" not in database.collections and was_cut_short(database, "c")
    database.collections["brimline_anew_of_somebody"] = database.collections[names_beside(database, "c")[0]]
    assert len(names_beside(database, "c")) == 1


def test_documents_make_one_beside_somebody_elses() -> None:
    database = filled(SHAPE, renames=False)
    attempt(database, steps=3)
    (left,) = names_beside(database, "c")
    database.collections[left]["documents"].append({"_id": 1})
    assert attempt(database)
    assert left in database.collections and database[left].find_one()


def test_an_error_behind_a_rename_that_took_effect_ends_it() -> None:
    database = filled(SHAPE)
    database.error_behind_rename = WriteConcernError("waiting for replication timed out", 64)
    with pytest.raises(WriteConcernError):
        make_anew(database, "c", SHAPE)
    assert read_shape(database, "c") == SHAPE


def test_who_may_make_no_other_collection_has_it_dropped_and_made() -> None:
    database = filled(SHAPE, refuses="brimline_anew_")
    assert attempt(database)
    assert read_shape(database, "c") == SHAPE and list(database.collections) == ["c"]
