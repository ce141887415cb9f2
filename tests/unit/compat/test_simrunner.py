from pathlib import Path
from typing import Any

import pytest

from brimline.compat.simrunner import from_simrunner
from brimline.errors import UsageError
from brimline.spec import load_spec
from tests.unit.compat.simrunner_cases import ALONE, EXPRESSIONS, OPERATIONS, template_of, translation, values_of


def test_variables_are_drawn_once_and_reach_bounds_as_constants(tmp_path: Path) -> None:
    translated = translation(
        tmp_path,
        [
            template_of(
                {"a": "#num", "b": {"%number": {"min": "#num", "max": 200}}},
                variables={"num": {"%number": {"min": 5, "max": 50}}},
            )
        ],
        [{"name": "one", "template": "person", "op": "insert"}],
    )
    values = values_of(translated)
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
    translated = translation(tmp_path, [template_of({"top": {"bottom": "%number"}}, remember=remember)], workloads)
    values = values_of(translated)
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
    template = template_of(
        {name: f"#{name}" for name in dictionaries}
        | {"many": {"%dictionaryConcat": {"from": "names", "length": 2, "sep": " "}}},
        dictionaries=dictionaries,
    )
    translated = translation(tmp_path, [template], [{"name": "one", "template": "person", "op": "insert"}])
    values = values_of(translated)["values"]
    assert values == {
        "names": {"kind": "choice", "of": ["John", "Jill"]},
        "words": {"jsonl": "out-words.jsonl", "column": "value", "order": "random"},
        "few": {"one_of": ["x", {"y": 1}]},
        "numbers": {"kind": "choice", "of": [0, 25, 50, 75]},
        "others": {"sample": "people", "field": "name", "count": 7},
    }
    assert translated.beside["out-words.jsonl"].splitlines()[:2] == ['{"value": "word0"}', '{"value": "word1"}']
    assert any("dictionaries.gone" in each for each in translated.not_taken)
    document = values_of(translated)["operations"]["one"]["insert"]["document"]
    choice = {"kind": "choice", "of": ["John", "Jill"]}
    assert document["many"] == {"$value": {"join": {"of": {"repeat": {"of": choice, "count": 2}}, "by": " "}}}
    alone = translation(tmp_path, [template], [{"name": "one", "template": "person", "op": "insert"}], stem=None)
    assert alone.beside == {}
    assert len(values_of(alone)["values"]["words"]["of"]) == 200


@pytest.mark.parametrize(("workload", "step"), OPERATIONS)
def test_each_operation_has_its_step(tmp_path: Path, workload: dict[str, Any], step: dict[str, Any]) -> None:
    translated = translation(tmp_path, [template_of({"a": 1})], [{"name": "one", "template": "person", **workload}])
    found = values_of(translated)["operations"]["one"]
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
    found = values_of(translation(tmp_path, [template_of({"a": 1})], [workload]))["operations"]["one"]
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
    found = values_of(translation(tmp_path, [template_of({"a": 1})], [workload]))["operations"]["one"]
    assert found["load"]["rate"] == "50/s"
    assert "many" not in found["update"]


def test_time_series_and_buckets(tmp_path: Path) -> None:
    params = {
        "meta": {"metaField": "sensor", "dictionary": "sensors", "generate": {"random": 100}},
        "time": {"timeField": "ts", "start": {"$date": "2023-01-01"}, "step": 300_000},
    }
    template = template_of(
        {"v": 1},
        dictionaries={"sensors": [1, 2, 3]},
        createOptions={"timeseries": {"timeField": "ts", "metaField": "sensor"}},
    )
    series = {"name": "one", "template": "person", "op": "timeseries", "batch": 10, "pace": 1000, "params": params}
    buckets = {**series, "name": "two", "op": "bucketTimeseries"}
    values = values_of(translation(tmp_path, [template], [series, buckets]))
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
    translated = translation(
        tmp_path,
        [
            template_of(
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
    assert values_of(translated)["collections"]["people"]["records"] == 5


def test_instances_are_collections_and_operations_of_their_own(tmp_path: Path) -> None:
    template = template_of({"a": 1}, instances=2, instancesStartAt=5)
    values = values_of(translation(tmp_path, [template], [{"name": "put", "template": "person", "op": "insert"}]))
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


def test_the_reader_takes_all_of_it(tmp_path: Path) -> None:
    """Every expression and operation in one workload, with a dictionary that needs a file."""
    (tmp_path / "words.txt").write_text("\n".join(f"word{number}" for number in range(300)), encoding="utf-8")
    fields = {f"f{number}": expression for number, (expression, _) in enumerate((*EXPRESSIONS, *ALONE))}
    further = {"g": {"%gaussian": {"mean": 1, "sd": 2, "type": "int"}}, "w": "#words", "abs": {"%abs": {"of": "#low"}}}
    template = template_of(
        fields | further | {"place": "%longlat", "when": {"%date": {"truncate": "hour"}}, "id": "%uuidString"},
        dictionaries={"words": {"file": "words.txt"}},
        variables={"low": {"%number": {"min": -5, "max": 5}}},
        remember=["f0"],
        indexes=[{"f0": 1}],
        sharding={"key": {"f0": 1}},
    )
    workloads = [{"name": f"o{number}", "template": "person", **each} for number, (each, _) in enumerate(OPERATIONS)]
    translated = translation(tmp_path, [template], workloads)
    (tmp_path / "out.yaml").write_text(translated.text, encoding="utf-8")
    for name, text in translated.beside.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    spec = load_spec(tmp_path / "out.yaml").spec
    assert len(spec.operations.by_name) == len(OPERATIONS)


def test_remembered_values_within_arrays_are_those_of_the_first_item(tmp_path: Path) -> None:
    template = {"data": {"%array": {"min": 1, "max": 4, "of": {"city": "x", "country": "y"}}}, "tags": ["a", "b"]}
    remember = [{"compound": ["data.city", "data.country"], "name": "both"}, "tags"]
    find = {
        "name": "one",
        "template": "person",
        "op": "find",
        "params": {"filter": {"data.city": "#both.data_city", "tags": "#tags"}},
    }
    values = values_of(translation(tmp_path, [template_of(template, remember=remember)], [find]))
    assert values["values"]["known_both"] == {"sample": "people", "fields": ["data"], "count": 10_000}
    assert values["values"]["known_tags"] == {"sample": "people", "field": "tags", "count": 10_000}
    conditions = values["operations"]["one"]["find"]["filter"]
    assert conditions == {"data.city": "$known_both.data.0.city", "tags": "$known_tags.0"}
