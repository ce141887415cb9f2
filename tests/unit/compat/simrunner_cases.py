"""Owns configurations of SimRunner, and what each of its expressions and operations becomes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brimline.compat.simrunner import Translated, from_simrunner
from brimline.spec.document import parse_document


def translation(
    directory: Path, templates: list[Any], workloads: list[Any], *, stem: str | None = "out", **rest: Any
) -> Translated:
    """What a configuration of these parts becomes."""
    path = directory / "config.json"
    path.write_text(json.dumps({"templates": templates, "workloads": workloads, **rest}), encoding="utf-8")
    return from_simrunner(path, stem=stem)


def template_of(template: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A template of the collection people."""
    return {"name": "person", "database": "test", "collection": "people", "template": template, **more}


def values_of(translated: Translated) -> Any:
    """The keys of the workload."""
    return parse_document(translated.text, "test").values


EXPRESSIONS: list[tuple[Any, Any]] = [
    ("%bool", {"kind": "boolean"}),
    ({"%integer": {"min": 0, "max": 50}}, {"kind": "int", "min": 0, "max": 49}),
    ("%number", {"kind": "int", "min": -(2**31), "max": 2**31 - 1}),
    ({"%natural": {"min": 400, "max": 5000}}, {"kind": "int", "min": 400, "max": 4999}),
    ({"%long": {"min": 5, "max": 7}}, {"kind": "long", "min": 5, "max": 6}),
    ({"%double": {"min": -1, "max": 1, "decimals": 2}}, {"kind": "double", "min": -1.0, "max": 1.0, "decimals": 2}),
    ({"%float": {"min": 0, "max": 1}}, {"kind": "double", "min": 0.0, "max": 1.0}),
    ({"%product": {"of": [2, 3], "type": "double"}}, {"multiply": [2, 3]}),
    ({"%sum": {"of": [2, 3]}}, {"long": {"add": [2, 3]}}),
    ({"%mod": {"of": 7, "by": 3}}, {"modulo": [7, 3]}),
    ({"%toInt": {"of": "5"}}, {"int": "5"}),
    ({"%toString": {"of": 5}}, {"text": 5}),
    (
        {"%stringTemplate": {"template": "&&-?!x"}},
        {
            "kind": "text",
            "parts": [
                {"kind": "string", "length": 2, "alphabet": "digits"},
                "-",
                {"kind": "string", "length": 1, "alphabet": "lowercase"},
                {"kind": "string", "length": 1, "alphabet": "uppercase"},
                "x",
            ],
        },
    ),
    ({"%stringConcat": {"of": ["a", 5], "sep": "-"}}, {"concat": ["a", "-", 5]}),
    ("%name.firstName", {"kind": "fake", "what": "first_name"}),
    ("%address.fullAddress", {"kind": "fake", "what": "address"}),
    ("%lorem.word", {"kind": "fake", "what": "word"}),
    (
        {"%date": {"min": {"$date": "2021-01-01"}, "max": {"$date": "2021-02-01T00:00:00Z"}}},
        {"kind": "date", "from": "2021-01-01T00:00:00.000Z", "to": "2021-02-01T00:00:00.000Z"},
    ),
    (
        {"%plusDate": {"base": "%now", "plus": -3, "unit": "month"}},
        {"date_add": {"date": "$now", "by": -3, "unit": "month"}},
    ),
    ({"%floorDate": {"base": "%now", "unit": "hour"}}, {"date_trunc": {"date": "$now", "unit": "hour"}}),
    (
        {"%ceilDate": {"base": "%now"}},
        {"date_add": {"date": {"date_trunc": {"date": "$now", "unit": "day"}}, "by": 1, "unit": "day"}},
    ),
    ({"%extractDate": {"hour": "%now"}}, {"date_part": {"date": "$now", "part": "hour"}}),
    ({"%decimal": {"min": -5, "max": 9}}, {"kind": "decimal", "min": -5, "max": 9, "decimals": 6}),
    (
        {"%gaussian": {"mean": 10, "sd": 2, "type": "int"}},
        {"kind": "normal", "mean": 10.0, "standard_deviation": 2.0, "type": "int"},
    ),
    ({"%abs": -5}, {"abs": -5}),
    ({"%stringTrim": {"of": " a "}}, {"trim": {"text": " a "}}),
    ({"%ngram": {"of": "The word", "min": 2}}, {"ngrams": {"of": {"lower": {"text": "The word"}}, "min": 2}}),
    ({"%ngram": {"of": "x", "lowercase": False}}, {"ngrams": {"of": {"text": "x"}, "min": 3}}),
    (
        {"%keyValueMap": {"min": 2, "max": 4, "key": "%lorem.word", "value": {"%sum": {"of": [1, 2]}}}},
        {
            "repeat": {
                "of": {"long": {"add": [1, 2]}},
                "key": {"kind": "fake", "what": "word"},
                "count": {"kind": "int", "min": 2, "max": 4},
            }
        },
    ),
    (
        {"%array": {"size": 3, "of": {"at": "%now", "n": "%natural"}}},
        {
            "repeat": {
                "of": {"document": {"at": "$now", "n": {"$value": {"kind": "int", "min": 0, "max": 2**31 - 1}}}},
                "count": 3,
            }
        },
    ),
    (
        {"%arrayElement": {"from": ["a", "b"], "at": "%threadNumber"}},
        {"element": {"of": ["a", "b"], "at": "$worker"}},
    ),
    ({"%binary": {"size": 16}}, {"kind": "binary", "length": 16}),
    ({"%binary": {"size": 4, "as": "hex"}}, {"kind": "string", "length": 8, "alphabet": "0123456789ABCDEF"}),
    ("%uuidBinary", {"kind": "uuid"}),
    (
        {"%array": {"min": 1, "max": 3, "of": {"x": "%bool"}}},
        {
            "kind": "array",
            "length": {"kind": "uniform", "min": 1, "max": 3},
            "of": {"kind": "document", "fields": {"x": {"kind": "boolean"}}},
        },
    ),
    ({"%oneOf": {"options": ["a", "b"], "weights": [3, 1]}}, {"kind": "choice", "of": {"a": 3, "b": 1}}),
    ({"%oneOf": {"options": ["a", None, 18]}}, {"kind": "choice", "of": ["a", None, 18]}),
    ({"%oneOf": {"options": [1, 2], "weights": [4, 2]}}, {"kind": "choice", "of": [1, 1, 2]}),
    (
        {"%oneOf": {"options": [{"a": 1}, "%now"], "weights": [1, 2]}},
        {
            "one_of": [
                {"value": {"a": 1}, "weight": 1},
                {"value": "$now", "weight": 2},
            ]
        },
    ),
    ({"%head": {"of": "%uuidBinary"}}, {"element": {"of": {"kind": "uuid"}, "at": 0}}),
    (
        {"%head": {"of": {"%array": {"size": 2, "of": "%bool"}}}},
        {"element": {"of": {"kind": "array", "length": 2, "of": {"kind": "boolean"}}, "at": 0}},
    ),
    ({"%head": {"of": "abc"}}, {"substring": {"of": {"text": "abc"}, "start": 0, "length": 1}}),
]
ALONE: list[tuple[Any, Any]] = [
    ("text", "text"),
    ("$dollar", "$$dollar"),
    ({"$date": "2024-01-01"}, {"$date": "2024-01-01T00:00:00Z"}),
    ("%now", "$now"),
    ("%sequence", "$index"),
    ("%threadNumber", "$worker"),
    ("%workloadName", "one"),
    ({"a": ["%now", 5]}, {"a": ["$now", 5]}),
    ({"%arrayElement": {"from": ["a", "b"], "at": 1}}, "b"),
    (
        {"%coordLine": {"from": [0, 5], "to": [2, 1]}},
        [
            {"$value": {"add": [0.0, {"multiply": ["$along_0", 2.0]}]}},
            {"$value": {"add": [5.0, {"multiply": ["$along_0", -4.0]}]}},
        ],
    ),
]


OPERATIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"op": "insert", "batch": 100, "threads": 4}, {"insert": {"document": {"a": 1}, "count": 100, "ordered": False}}),
    (
        {
            "op": "find",
            "params": {"filter": {"a": 1}, "sort": {"b": -1}, "project": {"c": "$d"}, "limit": 5, "skip": True},
            "readConcern": "MAJORITY",
        },
        {
            "find": {
                "filter": {"a": 1},
                "projection": {"c": "$$d"},
                "sort": {"b": -1},
                "limit": 5,
                "skip": {"$value": {"multiply": [{"kind": "int", "min": 0, "max": 9}, 5]}},
                "read_concern": "majority",
            }
        },
    ),
    (
        {
            "op": "updateOne",
            "params": {"filter": {"a": 1}, "update": {"$set": {"b": "%now"}}, "upsert": True},
            "writeConcern": "W2",
        },
        {"update": {"filter": {"a": 1}, "update": {"$set": {"b": "$now"}}, "upsert": True, "write_concern": 2}},
    ),
    (
        {"op": "updateMany", "params": {"filter": {"a": 1}, "update": [{"$set": {"b": "$c"}}]}},
        {"update": {"filter": {"a": 1}, "update": [{"$set": {"b": "$$c"}}], "many": True}},
    ),
    (
        {"op": "replaceOne", "params": {"filter": {"a": 1}, "update": {"_id": 5, "b": 2}}},
        {"replace": {"filter": {"a": 1}, "replacement": {"b": 2}}},
    ),
    (
        {"op": "replaceWithNew", "params": {"filter": {"a": 1}}},
        {"replace": {"filter": {"a": 1}, "replacement": {"a": 1}}},
    ),
    ({"op": "deleteOne", "params": {"filter": {"a": 1}}}, {"delete": {"filter": {"a": 1}}}),
    ({"op": "deleteMany", "params": {"filter": {"a": 1}}}, {"delete": {"filter": {"a": 1}, "many": True}}),
    (
        {"op": "aggregate", "params": {"pipeline": [{"$match": {"a": 1}}, {"$group": {"_id": "$b"}}]}},
        {"aggregate": {"pipeline": [{"$match": {"a": 1}}, {"$group": {"_id": "$$b"}}]}},
    ),
]
