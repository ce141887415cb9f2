"""Every kind of expression and of operation in SimRunner's and plgm's documentation runs on a server.

SimRunner's: its README of April 2025, as `brimline init` translates it. plgm's: its README of January 2026, by hand.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pymongo
import pytest
from bson import Binary, Code, Decimal128, Int64, ObjectId, Regex, Timestamp

from brimline.servers import Deployment
from tests.support.command_line import CommandLine

pytestmark = pytest.mark.mongod

DATABASE = "kinds_of_others"
EXPRESSIONS: dict[str, Any] = {
    "binary": {"%binary": {"size": 32}},
    "hex": {"%binary": {"size": 4, "as": "hex"}},
    "uuid_text": "%uuidString",
    "uuid": "%uuidBinary",
    "integer": {"%integer": {"min": 0, "max": 50}},
    "number": "%number",
    "natural": {"%natural": {"min": 400, "max": 5000}},
    "long": "%long",
    "double": {"%double": {"min": -1, "max": 1}},
    "decimal": {"%decimal": {"min": -1000, "max": 1000}},
    "gaussian": {"%gaussian": {"mean": 10, "sd": 1.0}},
    "gaussian_int": {"%gaussian": {"mean": 10, "sd": 1.0, "type": "int"}},
    "product": {"%product": {"of": ["#n", 3]}},
    "sum": {"%sum": {"of": ["#n", 0.5], "type": "double"}},
    "abs": {"%abs": {"of": {"%integer": {"min": -9, "max": -1}}}},
    "mod": {"%mod": {"of": "#n", "by": 10}},
    "to_int": {"%toInt": {"of": "12"}},
    "to_long": {"%toLong": {"of": "12"}},
    "to_double": {"%toDouble": {"of": "1.5"}},
    "template": {"%stringTemplate": {"template": "&&-?!"}},
    "concat": {"%stringConcat": {"of": ["a", "#n"], "sep": "-"}},
    "to_string": {"%toString": {"of": "#n"}},
    "trim": {"%stringTrim": {"of": "  a b "}},
    "first_name": "%name.firstName",
    "address": "%address.fullAddress",
    "ngram": {"%ngram": {"of": "Bear Wolf", "min": 3}},
    "now": "%now",
    "date": {"%date": {"min": "#since", "max": {"$date": "2024-03-01"}}},
    "plus": {"%plusDate": {"base": {"$date": "2024-01-31"}, "plus": 1, "unit": "month"}},
    "ceil": {"%ceilDate": {"base": {"$date": "2024-02-28T12:00:00Z"}, "unit": "day"}},
    "floor": {"%floorDate": {"base": {"$date": "2024-02-28T12:00:00Z"}, "unit": "month"}},
    "minute": {"%extractDate": {"minute": {"$date": "2024-02-28T12:34:00Z"}}},
    "sequence": "%sequence",
    "thread_sequence": "%threadSequence",
    "array": {"%array": {"min": 1, "max": 3, "of": {"at": "%now"}}},
    "array_of_n": {"%array": {"min": "#few", "max": "#few", "of": "%natural"}},
    "map": {"%keyValueMap": {"min": 2, "max": 4, "key": {"%stringTemplate": {"template": "??"}}, "value": "%natural"}},
    "head": {"%head": {"of": "#list"}},
    "head_of_uuid": {"%head": {"of": "%uuidBinary"}},
    "element": {"%arrayElement": {"from": "#list", "at": 1}},
    "one_of": {"%oneOf": {"options": ["a", None, 18], "weights": [50, 10, 40]}},
    "dictionary": "#names",
    "dictionary_concat": {"%dictionaryConcat": {"from": "names", "length": {"%natural": {"min": 1, "max": 4}}}},
    "dictionary_at": {"%dictionaryAt": {"from": "names", "at": "#n"}},
    "longlat": {"%longlat": {"countries": ["FR"], "jitter": 0.5}},
    "line": {"%coordLine": {"from": [0, 0], "to": [2, 4]}},
    "descend": {"%descend": {"in": {"a": {"b": 7}}, "path": "a.b"}},
    "workload": "%workloadName",
    "thread": "%threadNumber",
    "words": "%lorem.words",
}
TEMPLATES: list[dict[str, Any]] = [
    {
        "name": "all",
        "database": DATABASE,
        "collection": "everything",
        "dictionaries": {"names": ["John", "Jill"], "sensors": ["s1", "s2"]},
        "variables": {
            "n": {"%natural": {"min": 1, "max": 9}},
            "few": {"%natural": {"min": 2, "max": 5}},
            "since": {"%date": {"min": {"$date": "2024-01-01"}, "max": {"$date": "2024-02-01"}}},
            "list": {"%array": {"size": 2, "of": "%natural"}},
        },
        "template": EXPRESSIONS,
        "remember": ["natural", {"compound": ["first_name", "integer"], "name": "both"}],
        "indexes": [{"natural": 1}],
    }
]
READ = {"filter": {"natural": "#natural"}}
WORKLOADS: list[dict[str, Any]] = [
    {"name": "one", "op": "insert"},
    {"name": "many", "op": "insert", "batch": 10},
    {"name": "find", "op": "find", "params": {**READ, "sort": {"natural": -1}, "project": {"natural": 1}, "limit": 5}},
    {"name": "update", "op": "updateOne", "params": {**READ, "update": {"$set": {"first_name": "%name.firstName"}}}},
    {"name": "updates", "op": "updateMany", "params": {**READ, "update": {"$inc": {"integer": 1}}}},
    {
        "name": "replace",
        "op": "replaceOne",
        "params": {"filter": {"first_name": "#both.first_name"}, "update": {"x": 1}, "upsert": True},
    },
    {"name": "renew", "op": "replaceWithNew", "params": READ},
    {"name": "delete", "op": "deleteOne", "params": READ},
    {"name": "deletes", "op": "deleteMany", "params": READ},
    {
        "name": "sum",
        "op": "aggregate",
        "params": {"pipeline": [{"$match": READ["filter"]}, {"$group": {"_id": None, "n": {"$sum": "$integer"}}}]},
    },
    {
        "name": "series",
        "op": "timeseries",
        "batch": 5,
        "params": {
            "meta": {"metaField": "sensor", "dictionary": "sensors", "generate": "all"},
            "time": {"timeField": "ts", "start": {"$date": "2023-01-01"}, "step": 300_000, "jitter": 30_000},
        },
    },
]

PLGM = """
name: plgm
database: kinds_of_others
collections:
  orders:
    records: 500
    fields:
      int: {kind: int, min: 1, max: 5}
      long: {kind: long}
      double: {kind: double, min: 10, max: 500}
      decimal128: {kind: decimal, max: 999.99}
      bool: boolean
      string: {kind: text, parts: [str-, {kind: int, max: 99999}]}
      date: {kind: date, from: "2024-01-01", to: "2024-12-31"}
      binary: {kind: binary, length: 16}
      uuid: uuid
      objectid: object_id
      object: {kind: document, fields: {city: {kind: fake, what: city}}}
      array: {kind: array, length: 3, of: {kind: int, max: 999}}
      provider: {kind: fake, what: email}
    indexes: [{string: 1}]
values:
  order: {key_of: orders}
  text: {sample: orders, field: string}
operations:
  find: {share: 5, find: {collection: orders, filter: {string: $text}, limit: 10, batch_size: 5}}
  update_one: {share: 2, update: {collection: orders, filter: {_id: $order}, update: {$set: {bool: true}}}}
  update_many:
    share: 1
    update: {collection: orders, filter: {string: $text}, update: {$inc: {int: 1}}, many: true}
  upsert:
    share: 1
    update: {collection: orders, filter: {_id: $order}, update: {$set: {bool: true}}, upsert: true}
  insert_one:
    share: 1
    insert:
      collection: orders
      document:
        timestamp: {$timestamp: {t: 0, i: 0}}
        regex: {$regularExpression: {pattern: "^a", options: i}}
        javascript: {$code: "function () {}"}
        decimal128: {$value: {kind: decimal, max: 999.99}}
  bulk_insert: {share: 1, insert: {collection: orders, document: {string: $text}, count: 10}}
  aggregate:
    share: 1
    aggregate:
      collection: orders
      pipeline: [{$match: {string: $text}}, {$group: {_id: $$bool, n: {$sum: 1}}}]
  delete_one: {share: 1, delete: {collection: orders, filter: {_id: $order}}}
  delete_many: {share: 1, delete: {collection: orders, filter: {string: $text}, many: true}}
slo: {response_p99: 1s}
"""
"""Its transactions need a replica set: the shop among the examples has one."""


@pytest.fixture
def uri(mongod: Deployment) -> Iterator[str]:
    found = f"mongodb://{mongod.address}/?directConnection=true"
    with pymongo.MongoClient[dict[str, Any]](found) as client:
        client.drop_database(DATABASE)
        yield found
        client.drop_database(DATABASE)


def _run(cli: CommandLine, name: str, uri: str, *words: str) -> dict[str, Any]:
    outcome = cli.run(
        "run", name, "--uri", uri, "--data", "load", "--drop", "--duration", "1s", "--warmup", "0s", "--json", *words
    )
    # Too few operations for a p99 is no matter here.
    assert outcome.exit_code in (0, 3, 4), outcome.stderr
    document = outcome.json()
    assert document["error_rate"] == 0, document["errors"]
    assert [name for name, each in document["operations"].items() if not each["samples"]] == []
    failed = [check for check in document["checks"] if "fail" in check.values() and "count" in str(check["name"])]
    assert failed == []
    return dict(document)


@pytest.mark.slow("11 operations are tried, explained and run on a server, after a load")
def test_every_kind_of_simrunner_runs(brimline_cli: CommandLine, uri: str) -> None:
    workloads = [{"template": "all", "pace": 20, **each} for each in WORKLOADS]
    config = {"connectionString": "x", "templates": TEMPLATES, "workloads": workloads}
    Path(brimline_cli.directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    written = brimline_cli.run("init", "my.yaml", "--from-simrunner", "config.json")
    assert written.exit_code == 0, written.stderr
    document = _run(brimline_cli, "my.yaml", uri)
    assert len(document["operations"]) == len(WORKLOADS)
    with pymongo.MongoClient[dict[str, Any]](uri, tz_aware=True) as client:
        collection = client[DATABASE]["everything"]
        stored = next(iter(collection.find({"workload": "one", "now": {"$gte": datetime(2025, 6, 1, tzinfo=UTC)}})), {})
        loaded = collection.find_one({"_id": {"$type": "string"}}) or {}
    assert set(stored) - {"_id"} == set(EXPRESSIONS)
    assert set(EXPRESSIONS) - set(loaded) <= {
        # Nothing in `fields` follows from other fields.
        "product", "sum", "abs", "mod", "to_int", "to_long", "to_double", "concat", "to_string", "trim",
        "plus", "ceil", "floor", "dictionary_concat", "dictionary_at", "element", "head",
    }  # fmt: skip
    _check_values(stored)


def _check_values(stored: dict[str, Any]) -> None:
    n = int(stored["to_string"])
    assert isinstance(stored["decimal"], Decimal128)
    assert -1000 <= stored["decimal"].to_decimal() <= 1000
    assert isinstance(stored["gaussian"], float)
    assert 3 <= stored["gaussian_int"] <= 17
    assert (stored["product"], stored["sum"], stored["mod"], stored["concat"]) == (3 * n, n + 0.5, n, f"a-{n}")
    assert isinstance(stored["product"], Int64)
    assert 1 <= stored["abs"] <= 9
    assert (stored["trim"], stored["to_int"], stored["to_double"], stored["descend"]) == ("a b", 12, 1.5, 7)
    assert stored["ngram"] == ["bea", "ear", "bear", "wol", "olf", "wolf"]
    assert datetime(2024, 1, 1, tzinfo=UTC) <= stored["date"] <= datetime(2024, 3, 1, tzinfo=UTC)
    assert stored["plus"] == datetime(2024, 2, 29, tzinfo=UTC)
    assert stored["ceil"] == datetime(2024, 2, 29, tzinfo=UTC)
    assert stored["floor"] == datetime(2024, 2, 1, tzinfo=UTC)
    assert stored["minute"] == 34
    assert 1 <= len(stored["array"]) <= 3
    assert 2 <= len(stored["array_of_n"]) <= 4
    assert len(set(stored["array_of_n"])) > 1
    assert 1 <= len(stored["map"]) <= 4
    assert isinstance(stored["head"], int)
    assert 0 <= stored["head_of_uuid"] <= 255
    assert stored["dictionary_at"] == ["John", "Jill"][n % 2]
    assert 0 <= stored["line"][0] <= 2
    assert stored["line"][1] == pytest.approx(2 * stored["line"][0])


@pytest.mark.slow("nine operations are tried, explained and run on a server, after a load")
def test_every_kind_of_plgm_runs(brimline_cli: CommandLine, uri: str) -> None:
    (brimline_cli.directory / "plgm.yaml").write_text(PLGM, encoding="utf-8")
    document = _run(brimline_cli, "plgm.yaml", uri, "--rate", "300/s")
    assert sum(each["samples"] for each in document["operations"].values()) == 300
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        collection = client[DATABASE]["orders"]
        loaded = collection.find_one({"decimal128": {"$exists": True}, "int": {"$exists": True}}) or {}
        inserted = collection.find_one({"timestamp": {"$exists": True}}) or {}
    kinds = {name: type(value) for name, value in loaded.items()}
    assert kinds["decimal128"] is Decimal128
    assert (kinds["long"], kinds["binary"], kinds["objectid"]) == (Int64, bytes, ObjectId)
    assert isinstance(loaded["uuid"], Binary)
    assert Decimal(0) <= loaded["decimal128"].to_decimal() <= Decimal("999.99")
    assert isinstance(inserted["timestamp"], Timestamp)
    assert inserted["timestamp"].time > 1_700_000_000
    assert (type(inserted["regex"]), type(inserted["javascript"])) == (Regex, Code)
