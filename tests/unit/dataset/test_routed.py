"""The databases of client-routed shards as one: sums of what each has, and one manifest for all."""

from collections import defaultdict
from threading import Barrier
from types import SimpleNamespace
from typing import Any, cast

import pymongo
import pytest
from pymongo import _csot

from brimline.dataset import MANIFEST_COLLECTION, routed
from brimline.dataset.access import DataDatabase, collection_exists, indexes_of
from brimline.dataset.routed import Found, at_once


class _Collection(list[dict[str, Any]]):
    indexes: tuple[Any, ...] = ()

    def find(self, wanted: dict[str, Any], _: Any = None) -> Any:
        return (each for each in self if wanted.items() <= each.items())

    def find_one(self, wanted: dict[str, Any], _: Any = None) -> Any:
        return next(self.find(wanted), None)

    def estimated_document_count(self) -> int:
        return len(self)

    def count_documents(self, wanted: dict[str, Any]) -> int:
        return sum(1 for _ in self.find(wanted))

    def delete_many(self, wanted: dict[str, Any]) -> Any:
        gone = list(self.find(wanted))
        self[:] = [each for each in self if each not in gone]
        return SimpleNamespace(deleted_count=len(gone))

    def create_index(self, keys: Any, **_: Any) -> None:
        self.indexes = (*self.indexes, keys)

    def drop_index(self, _: str) -> None:
        self.indexes = ()

    def aggregate(self, _: Any) -> Any:
        return iter(self)

    def list_indexes(self) -> list[dict[str, Any]]:
        return [{"name": "_id_", "key": {"_id": 1}}, *({"name": "by", "key": dict(keys)} for keys in self.indexes)]


class _Database(defaultdict[str, _Collection]):
    name = "ycsb"

    def __init__(self) -> None:
        super().__init__(_Collection)

    def list_collections(self, filter: dict[str, str]) -> list[dict[str, str]]:  # noqa: A002 (PyMongo's word)
        return [{"name": name} for name in self if name == filter["name"]]

    def create_collection(self, name: str) -> None:
        assert name not in self
        self[name] = _Collection()

    def drop_collection(self, name: str) -> None:
        self.pop(name, None)


def _two() -> tuple[_Database, _Database, DataDatabase]:
    first, second = _Database(), _Database()
    return first, second, routed(cast(list[DataDatabase], [first, second]))


def test_counts_are_sums_and_documents_are_found_wherever_they_are() -> None:
    first, second, both = _two()
    first["rows"] += [{"_id": 0}, {"_id": 2}]
    second["rows"] += [{"_id": 1, "last": True}]
    rows = both["rows"]
    assert (both.name, rows.estimated_document_count(), rows.count_documents({})) == ("ycsb", 3, 3)
    assert rows.find_one({"_id": 1}) == {"_id": 1, "last": True}
    assert rows.find_one({"_id": 3}) is None
    assert [each["_id"] for each in rows.find({}, {"_id": 1})] == [0, 2, 1]
    assert rows.delete_many({"last": True}).deleted_count == 1
    assert rows.count_documents({}) == 2


def test_the_manifest_is_at_the_first_alone() -> None:
    first, second, both = _two()
    first[MANIFEST_COLLECTION].append({"_id": "rows"})
    second[MANIFEST_COLLECTION].append({"_id": "rows", "of": "somebody else"})
    assert both[MANIFEST_COLLECTION].find_one({"_id": "rows"}) == {"_id": "rows"}


def test_a_collection_and_its_index_are_made_and_dropped_at_every_server() -> None:
    first, second, both = _two()
    first.create_collection("rows")
    assert not collection_exists(both, "rows"), "not at the second"
    both.create_collection("rows")
    assert collection_exists(both, "rows")
    both["rows"].create_index([("a", 1)])
    assert first["rows"].indexes == second["rows"].indexes == ([("a", 1)],)
    assert indexes_of(both, "rows") == {"_id_": {"_id": 1}, "by": {"a": 1}}
    both.drop_collection("rows")
    assert not first
    assert not second


class _Sorted:
    """A part of what PyMongo's cursor is: sorted by one field, and cut."""

    def __init__(self, documents: list[dict[str, Any]]) -> None:
        self.documents = documents
        self.asked_for = 0

    def sort(self, field: str, direction: int) -> "_Sorted":
        assert direction == 1
        self.documents = sorted(self.documents, key=lambda each: each[field])
        return self

    def hint(self, _: str) -> "_Sorted":
        return self

    def limit(self, count: int) -> "_Sorted":
        self.asked_for = count
        self.documents = self.documents[:count]
        return self

    def __iter__(self) -> Any:
        return iter(self.documents)


@pytest.mark.parametrize(("skip", "limit"), [(0, 1), (3, 1), (5, 4), (9, 3), (10, 1)])
def test_what_several_servers_find_is_cut_as_that_of_one(skip: int, limit: int) -> None:
    values = [3, 1, 4, 1, 5, 9, 2, 6, 5, 8]
    parts = [_Sorted([{"x": value} for value in values[start::3]]) for start in range(3)]
    found = Found(parts).sort("x", 1).hint("x_1").skip(skip).limit(limit)
    assert [each["x"] for each in found] == sorted(values)[skip : skip + limit]
    assert all(part.asked_for <= skip + limit for part in parts)


def test_all_servers_are_asked_at_the_same_time() -> None:
    both = Barrier(2, timeout=10)
    assert at_once(["a", "b"], lambda name: (both.wait() >= 0, name)) == [(True, "a"), (True, "b")]


def test_limits_of_time_hold_for_every_server() -> None:
    with pymongo.timeout(10):
        left = at_once([1, 2], lambda _: _csot.remaining())
    assert all(each is not None and 0 < each <= 10 for each in left)


def test_what_goes_wrong_at_one_server_is_raised() -> None:
    def ask(number: int) -> int:
        if number == 2:
            raise LookupError("two")
        return number

    with pytest.raises(LookupError, match="two"):
        at_once([1, 2, 3], ask)


def test_aggregates_and_indexes_are_those_of_all_servers() -> None:
    first, second, database = _two()
    first["orders"].append({"_id": 1})
    second["orders"].append({"_id": 2})
    assert sorted(each["_id"] for each in database["orders"].aggregate([])) == [1, 2]
    database["orders"].create_index([("a", 1)], name="by")
    assert (len(first["orders"].indexes), len(second["orders"].indexes)) == (1, 1)
    database["orders"].drop_index("by")
    assert (first["orders"].indexes, second["orders"].indexes) == ((), ())
