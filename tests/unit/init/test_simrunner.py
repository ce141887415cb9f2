import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from brimline.errors import UsageError
from brimline.init.simrunner import Translated, from_simrunner
from brimline.spec.document import parse_document


def _translated(
    directory: Path, templates: list[Any], workloads: list[Any], *, stem: str | None = "out", **rest: Any
) -> Translated:
    path = directory / "config.json"
    path.write_text(json.dumps({"templates": templates, "workloads": workloads, **rest}), encoding="utf-8")
    return from_simrunner(path, stem=stem)


def _template(template: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "person", "database": "test", "collection": "people", "template": template, **more}


def _values(translated: Translated) -> Any:
    return parse_document(translated.text, "test").values


def _inserted(directory: Path, expression: Any, **more: Any) -> Any:
    """What an expression becomes in an inserted document."""
    translated = _translated(
        directory, [_template({"a": expression}, **more)], [{"name": "one", "template": "person", "op": "insert"}]
    )
    return _values(translated)["operations"]["one"]["insert"]["document"]["a"]


@pytest.mark.parametrize(
    ("expression", "made"),
    [
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
        ({"%plusDate": {"base": "%now", "plus": -3, "unit": "day"}}, {"date_add": {"date": "$now", "by": "-3d"}}),
        ({"%floorDate": {"base": "%now", "unit": "hour"}}, {"date_trunc": {"date": "$now", "unit": "hour"}}),
        (
            {"%ceilDate": {"base": "%now"}},
            {"date_add": {"date": {"date_trunc": {"date": "$now", "unit": "day"}}, "by": "1d"}},
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
        ({"%head": {"of": "abc"}}, {"substring": {"of": {"text": "abc"}, "start": 0, "length": 1}}),
    ],
)
def test_each_expression_has_its_value(tmp_path: Path, expression: Any, made: Any) -> None:
    assert _inserted(tmp_path, expression) == {"$value": made}


@pytest.mark.parametrize(
    ("expression", "made"),
    [
        ("text", "text"),
        ("$dollar", "$$dollar"),
        ({"$date": "2024-01-01"}, {"$date": "2024-01-01T00:00:00Z"}),
        ("%now", "$now"),
        ("%sequence", "$index"),
        ("%threadNumber", "$worker"),
        ("%workloadName", "one"),
        ({"a": ["%now", 5]}, {"a": ["$now", 5]}),
        ({"%keyValueMap": {"min": 2, "max": 2, "key": "%lorem.word", "value": 1}}, {"key0": 1, "key1": 1}),
        ({"%arrayElement": {"from": ["a", "b"], "at": 1}}, "b"),
        (
            {"%coordLine": {"from": [0, 5], "to": [2, 1]}},
            [
                {"$value": {"kind": "double", "min": 0.0, "max": 2.0}},
                {"$value": {"kind": "double", "min": 1.0, "max": 5.0}},
            ],
        ),
    ],
)
def test_each_expression_that_stands_by_itself(tmp_path: Path, expression: Any, made: Any) -> None:
    assert _inserted(tmp_path, expression) == made


def test_a_normal_law_keeps_mean_and_deviation(tmp_path: Path) -> None:
    [draw] = {json.dumps(each) for each in _inserted(tmp_path, {"%gaussian": {"mean": 10, "sd": 2}})["$value"]["add"]}
    low, high = json.loads(draw)["min"], json.loads(draw)["max"]
    assert 4 * (low + high) / 2 == pytest.approx(10)
    assert (4 * (high - low) ** 2 / 12) ** 0.5 == pytest.approx(2)


def test_variables_are_drawn_once_and_reach_bounds_as_constants(tmp_path: Path) -> None:
    translated = _translated(
        tmp_path,
        [
            _template(
                {"a": "#num", "b": {"%number": {"min": "#num", "max": 200}}},
                variables={"num": {"%number": {"min": 5, "max": 50}}},
            )
        ],
        [{"name": "one", "template": "person", "op": "insert"}],
    )
    values = _values(translated)
    assert values["values"] == {"person_num": {"kind": "int", "min": 5, "max": 49}}
    assert values["operations"]["one"]["insert"]["document"]["a"] == "$person_num"
    assert values["collections"]["people"]["fields"] == {
        "a": {"kind": "int", "min": 5, "max": 49},
        "b": {"kind": "int", "min": 5, "max": 199},
    }
    assert "templates[0].template.b.%number.min: varies" in translated.text


def test_remembered_fields_are_rows_that_exist_and_compounds_belong_together(tmp_path: Path) -> None:
    remember = ["_id", "top.bottom", {"compound": ["first", "a.b"], "name": "both", "number": 50, "capped": 5}]
    workloads = [
        {
            "name": "one",
            "template": "person",
            "op": "find",
            "params": {"filter": {"_id": "#_id", "top.bottom": "#top_bottom"}},
        },
        {
            "name": "two",
            "template": "person",
            "op": "find",
            "variables": {"v": "#both"},
            "params": {"filter": {"first": "#v.first", "a.b": "#v.a_b"}},
        },
    ]
    translated = _translated(tmp_path, [_template({"top": {"bottom": "%number"}}, remember=remember)], workloads)
    values = _values(translated)
    assert values["values"] == {
        "known_id": {"sample": "people", "field": "_id", "count": 100_000} | {"count": 10_000},
        "known_top_bottom": {"sample": "people", "field": "top.bottom", "count": 10_000},
        "known_both": {"sample": "people", "fields": ["first", "a.b"], "count": 50},
    }
    assert values["operations"]["one"]["find"]["filter"] == {"_id": "$known_id", "top.bottom": "$known_top_bottom"}
    assert values["operations"]["two"]["find"]["filter"] == {"first": "$known_both.first", "a.b": "$known_both.a.b"}
    assert any("remember[2].capped" in each for each in translated.not_taken)


def test_dictionaries_of_each_kind(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("\n".join(f"word{number}" for number in range(300)), encoding="utf-8")
    (tmp_path / "few.json").write_text('{"data": ["x", {"y": 1}]}', encoding="utf-8")
    dictionaries = {
        "names": ["John", "Jill"],
        "words": {"file": "words.txt", "type": "text"},
        "few": {"file": "few.json", "type": "json"},
        "gone": {"file": "gone.txt"},
        "numbers": {"type": "templateUnique", "size": 4, "template": {"%natural": {"min": 0, "max": 100}}},
        "others": {"type": "collection", "collection": "people", "attribute": "name", "limit": 7},
    }
    template = _template(
        {name: f"#{name}" for name in dictionaries}
        | {"many": {"%dictionaryConcat": {"from": "names", "length": 2, "sep": " "}}},
        dictionaries=dictionaries,
    )
    translated = _translated(tmp_path, [template], [{"name": "one", "template": "person", "op": "insert"}])
    values = _values(translated)["values"]
    assert values == {
        "names": {"kind": "choice", "of": ["John", "Jill"]},
        "words": {"jsonl": "out-words.jsonl", "column": "value", "order": "random"},
        "few": {"one_of": ["x", {"y": 1}]},
        "numbers": {"kind": "choice", "of": [0, 25, 50, 75]},
        "others": {"sample": "people", "field": "name", "count": 7},
    }
    assert translated.beside["out-words.jsonl"].splitlines()[:2] == ['{"value": "word0"}', '{"value": "word1"}']
    assert any("dictionaries.gone" in each for each in translated.not_taken)
    document = _values(translated)["operations"]["one"]["insert"]["document"]
    choice = {"kind": "choice", "of": ["John", "Jill"]}
    assert document["many"] == {"$value": {"concat": [choice, " ", choice]}}
    alone = _translated(tmp_path, [template], [{"name": "one", "template": "person", "op": "insert"}], stem=None)
    assert alone.beside == {}
    assert len(_values(alone)["values"]["words"]["of"]) == 200


OPERATIONS = [
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


@pytest.mark.parametrize(("workload", "step"), OPERATIONS)
def test_each_operation_has_its_step(tmp_path: Path, workload: dict[str, Any], step: dict[str, Any]) -> None:
    translated = _translated(tmp_path, [_template({"a": 1})], [{"name": "one", "template": "person", **workload}])
    found = _values(translated)["operations"]["one"]
    [kind] = step
    assert found[kind] == {"collection": "people", **step[kind]}
    assert found["connections"] == workload.get("threads", 1)
    assert found["load"] == {"kind": "closed"}


def test_a_pace_is_a_rate_of_all_threads(tmp_path: Path) -> None:
    workload = {
        "name": "one",
        "template": "person",
        "op": "deleteOne",
        "params": {"filter": {}},
        "threads": 4,
        "pace": 100,
    }
    found = _values(_translated(tmp_path, [_template({"a": 1})], [workload]))["operations"]["one"]
    assert (found["load"], found["connections"]) == ({"kind": "constant", "rate": "40/s"}, 4)


def test_batches_of_updates_are_sent_one_by_one_at_the_same_rate(tmp_path: Path) -> None:
    workload = {
        "name": "one",
        "template": "person",
        "op": "updateMany",
        "batch": 50,
        "pace": 1000,
        "params": {"filter": {}, "update": {"$set": {"a": 1}}},
    }
    found = _values(_translated(tmp_path, [_template({"a": 1})], [workload]))["operations"]["one"]
    assert found["load"]["rate"] == "50/s"
    assert "many" not in found["update"]


def test_time_series_and_buckets(tmp_path: Path) -> None:
    params = {
        "meta": {"metaField": "sensor", "dictionary": "sensors", "generate": {"random": 100}},
        "time": {"timeField": "ts", "start": {"$date": "2023-01-01"}, "step": 300_000},
    }
    template = _template(
        {"v": 1},
        dictionaries={"sensors": [1, 2, 3]},
        createOptions={"timeseries": {"timeField": "ts", "metaField": "sensor"}},
    )
    series = {"name": "one", "template": "person", "op": "timeseries", "batch": 10, "pace": 1000, "params": params}
    buckets = {**series, "name": "two", "op": "bucketTimeseries"}
    values = _values(_translated(tmp_path, [template], [series, buckets]))
    time = {"date_add": {"date": {"$date": "2023-01-01T00:00:00Z"}, "by": {"multiply": ["$index", 300_000]}}}
    one, two = values["operations"]["one"], values["operations"]["two"]
    assert one["insert"]["document"] == {
        "v": 1,
        "sensor": {"$value": {"kind": "choice", "of": [1, 2, 3]}},
        "ts": {"$value": time},
    }
    assert (one["insert"]["count"], one["load"]["rate"]) == (10, "10/s")
    assert two["update"]["filter"]["count"] == {"$lt": 100}
    assert two["update"]["update"]["$push"] == {"records": {"v": 1, "ts": "$measured_at"}}
    assert {"ts", "sensor"} <= values["collections"]["people"]["fields"].keys()


def test_what_can_not_be_taken_over_is_listed_by_its_path(tmp_path: Path) -> None:
    translated = _translated(
        tmp_path,
        [
            _template(
                {"a": "%pokemon.name", "b": {"%custom": {"class": "org.x"}}}, sharding={"key": {"a": 1}, "presplit": []}
            )
        ],
        [
            {"name": "one", "template": "person", "op": "insert", "stopAfter": 5, "readPreference": "secondary"},
            {"name": "two", "op": "jdbc"},
            {"name": "three", "template": "person", "op": "kafkaInsert"},
            {"name": "four", "template": "person", "op": "find", "disabled": True},
            {"name": "five", "template": "missing", "op": "find"},
        ],
        connectionString="mongodb://user:SECRET@host",
        http={"enabled": True},
        encryption={},
    )
    paths = [each.partition(": ")[0] for each in translated.not_taken]
    assert set(paths) == {
        "connectionString",
        "http",
        "encryption",
        "templates[0].template.a",
        "templates[0].template.b.%custom",
        "templates[0].sharding.presplit",
        "workloads[0].stopAfter",
        "workloads[0].readPreference",
        "workloads[1].template",
        "workloads[2].op",
        "workloads[3]",
        "workloads[4].template",
    }
    for each in translated.not_taken:
        assert f"# - {each}" in translated.text.replace("#\n", "")
    assert "SECRET" not in translated.text
    assert _values(translated)["collections"]["people"]["records"] == 5


def test_instances_are_collections_and_operations_of_their_own(tmp_path: Path) -> None:
    template = _template({"a": 1}, instances=2, instancesStartAt=5)
    values = _values(_translated(tmp_path, [template], [{"name": "put", "template": "person", "op": "insert"}]))
    assert list(values["collections"]) == ["people_5", "people_6"]
    assert list(values["operations"]) == ["put_5", "put_6"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "config.json:1: is no JSON"),
        ("[]", "is no configuration of SimRunner"),
        ('{"templates": {}, "workloads": []}', "templates is no list of documents"),
        ('{"templates": [], "workloads": []}', "has no template with a database"),
        ('{"templates": [{"name": "a", "database": "d", "collection": "c"}], "workloads": []}', "no workload of"),
        ('{"templates": [{"database": {"$date": "never"}}], "workloads": []}', "is no Extended JSON"),
    ],
)
def test_a_file_of_another_form_is_one_error(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        from_simrunner(path, stem=None)
    assert said in raised.value.message
