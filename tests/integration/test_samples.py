"""Rows of collections as values: which ones are taken, whole, the same each time, and never without bounds."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import bson
import pymongo
import pytest
from bson.decimal128 import Decimal128
from bson.int64 import Int64

from brimline.dataset import sampling
from brimline.dataset.sampling import Rows, sample_rows
from brimline.errors import Interrupted, UsageError
from brimline.servers import Deployment, control_client

pytestmark = pytest.mark.mongod

Data = pymongo.database.Database[dict[str, Any]]
DATABASE = "sampled"


@pytest.fixture
def database(mongod: Deployment) -> Iterator[Data]:
    with control_client(mongod.address) as client:
        client.drop_database(DATABASE)
        yield client[DATABASE]
        client.drop_database(DATABASE)


def _rows(found: Rows) -> list[dict[str, Any]]:
    return bson.decode_all(found.content)


class Numbered:
    """Keys that are texts of numbers."""

    records = range(1000)

    def of(self, records: range) -> list[str]:
        return [str(number) for number in records]


def _fill(database: Data, count: int = 1000) -> None:
    database["a"].insert_many([{"_id": str(n), "n": n, "twice": 2 * n} for n in range(count)])


def test_rows_are_taken_evenly_and_the_same_each_time(database: Data) -> None:
    _fill(database)
    for keys in (Numbered(), None):
        found = [sample_rows(database, "a", ["n", "twice"], count=250, keys=keys) for _ in range(2)]
        assert found[0] == found[1]
        rows = _rows(found[0])
        assert found[0].row_count == len(rows) == 250
        assert all(list(row) == ["n", "twice"] and row["twice"] == 2 * row["n"] for row in rows), "kept together"
        assert len({row["n"] for row in rows}) == 250
        assert 400 < sum(row["n"] for row in rows) / 250 < 600


def test_a_large_collection_is_left_to_the_server(database: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    _fill(database)
    monkeypatch.setattr(sampling, "_ENTIRE_MAX", 0)
    found = sample_rows(database, "a", ["n"], count=20)
    assert (found.row_count, found.way) == (20, "by chance, other ones each time")
    assert len({row["n"] for row in _rows(found)}) == 20


def test_all_there_are_where_more_are_asked_for(database: Data) -> None:
    _fill(database, 7)
    assert [row["n"] for row in _rows(sample_rows(database, "a", ["n"], count=100))] == list(range(7))


def test_values_are_as_they_are_stored(database: Data) -> None:
    far = bson.DatetimeMS(2**52)
    stored = {
        "_id": bson.ObjectId(),
        "small": 1,
        "long": Int64(1),
        "exact": Decimal128("1.10"),
        "date": datetime(2024, 1, 31, tzinfo=UTC),
        "far": far,
        "in": {"it": [{"z": 1, "a": Int64(2)}, "x"], "other": None},
        "raw": bson.Binary(b"\x00", 128),
        "like": bson.Regex("^a", "i"),
    }
    database["a"].insert_one(stored)
    fields = ["_id", "small", "long", "exact", "date", "far", "in.it.0", "in.it.1", "in", "in.other", "raw", "like"]
    content = sample_rows(database, "a", fields, count=1).content
    row = {
        **{name: stored[name] for name in ("_id", "small", "long", "exact", "date", "far")},
        "in.it.0": {"z": 1, "a": Int64(2)},
        "in.it.1": "x",
        "in": stored["in"],
        "in.other": None,
        "raw": stored["raw"],
        "like": stored["like"],
    }
    assert content == bson.encode(row)
    assert sample_rows(database, "a", [], count=1).content == bson.encode(stored)


def test_rows_that_lack_a_field_are_left_out_and_counted(database: Data) -> None:
    database["a"].insert_many([{"n": n, **({} if n % 4 else {"m": {"k": n}})} for n in range(40)])
    found = sample_rows(database, "a", ["n", "m.k"], count=40)
    assert (found.row_count, found.lacking_count) == (10, 30)
    with pytest.raises(UsageError, match=r"no row of sampled\.a that was read has all of n, nowhere"):
        sample_rows(database, "a", ["n", "nowhere"], count=40)
    with pytest.raises(UsageError, match=r"sampled\.b is empty"):
        sample_rows(database, "b", ["n"], count=40)


def test_memory_bounds_the_rows(database: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    _fill(database)
    monkeypatch.setattr(sampling, "BYTES_MAX", 100)
    found = sample_rows(database, "a", ["n"], count=1000)
    assert found.is_cut
    assert len(found.content) <= 100
    assert found.row_count == 100 // len(bson.encode({"n": 1}))


def test_a_time_series_is_sampled(database: Data) -> None:
    database.create_collection("a", timeseries={"timeField": "at"})
    database["a"].insert_many([{"at": datetime(2024, 1, 1, 0, n, tzinfo=UTC), "n": n} for n in range(20)])
    found = sample_rows(database, "a", ["at", "n"], count=10)
    assert (found.row_count, found.way) == (10, "evenly as they are stored")
    assert [row["n"] for row in _rows(found)] == list(range(1, 20, 2))


def test_ctrl_c_ends_it(database: Data) -> None:
    _fill(database)

    def look_up() -> None:
        raise Interrupted("interrupted by SIGINT", signal_number=2)

    with pytest.raises(Interrupted):
        sample_rows(database, "a", ["n"], count=10, look_up=look_up)
