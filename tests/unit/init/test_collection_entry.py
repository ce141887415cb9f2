from typing import Any

from bson import ObjectId

from brimline.init.collection_entry import collection_entry, index_entry
from brimline.init.constants import fitting, holds_values, literal
from brimline.init.references import Reference
from brimline.init.yaml_text import Noted, plain, yaml_text
from tests.unit.init.live import live


def _index(**options: Any) -> Any:
    return plain(index_entry({"v": 2, "name": "a_1", "key": {"a": 1}, **options}, with_values=False))


def test_an_index_is_its_keys_and_its_options_where_it_has_some() -> None:
    assert _index() == {"a": 1}
    assert _index(unique=True) == {"keys": {"a": 1}, "unique": True}
    assert _index(key={"a": 1.0, "b": -1.0}) == {"a": 1, "b": -1}
    assert _index(key={"keys": 1}) == {"keys": {"keys": 1}}
    assert _index(sparse=False, **{"2dsphereIndexVersion": 3}, key={"a": "2dsphere"}) == {"a": "2dsphere"}


def test_a_text_index_has_its_own_fields() -> None:
    found = _index(
        key={"_fts": "text", "_ftsx": 1}, weights={"title": 1, "body": 1}, default_language="english",
        language_override="language", textIndexVersion=3,
    )  # fmt: skip
    assert found == {"title": "text", "body": "text"}


def test_a_ttl_is_left_out_and_said() -> None:
    found = index_entry({"name": "a_1", "key": {"a": 1}, "expireAfterSeconds": 3600}, with_values=False)
    assert isinstance(found, Noted)
    assert plain(found) == {"a": 1}
    assert "3600 s is left out" in found.beside


def test_a_partial_filter_with_values_needs_to_be_asked_for() -> None:
    index = {"name": "a_1", "key": {"a": 1}, "partialFilterExpression": {"status": "SECRET"}}
    assert plain(index_entry(index, with_values=False)) == {"a": 1}
    assert plain(index_entry(index, with_values=True)) == {
        "keys": {"a": 1},
        "partialFilterExpression": {"status": "SECRET"},
    }
    there = {**index, "partialFilterExpression": {"status": {"$exists": True}}}
    assert plain(index_entry(there, with_values=False))["partialFilterExpression"] == {"status": {"$exists": True}}


def test_a_validator_keeps_what_is_no_value() -> None:
    validator = {
        "$jsonSchema": {
            "required": ["city"],
            "properties": {
                "_id": {"bsonType": "objectId"},
                "city": {"enum": ["SECRET"], "bsonType": "string", "maxLength": 9},
                "tags": {"items": {"pattern": "SECRET"}},
                "price": {"bsonType": "decimal"},
            },
            "oneOf": [{"properties": {"a": {"minimum": 5}}}, {"required": ["b"]}],
        },
        "status": {"$in": ["SECRET"]},
    }
    kept, left = fitting(validator, text_paths={"_id"}, with_values=False)
    assert kept == {
        "$jsonSchema": {"required": ["city"], "properties": {"city": {"bsonType": "string"}, "tags": {"items": {}}}}
    }
    assert left == [
        "bsonType of _id",
        "enum",
        "maxLength",
        "pattern",
        "bsonType of price",
        "minimum",
        "oneOf",
        "status",
    ]
    kept, _ = fitting(validator, text_paths={"_id"}, with_values=True)
    assert kept["$jsonSchema"]["properties"]["city"] == {"enum": ["SECRET"], "bsonType": "string"}
    assert "_id" not in kept["$jsonSchema"]["properties"]


def test_which_filters_hold_values() -> None:
    assert not holds_values({"$and": [{"a": {"$exists": True}}, {"b": {"$type": "string"}}]})
    assert holds_values({"a": {"$gt": 5}})
    assert holds_values({"a": 5})


def test_literals_double_a_dollar_only_in_steps() -> None:
    assert literal({"a": "$b", "c": [ObjectId("0" * 24)]}) == {"a": "$b", "c": [{"$oid": "0" * 24}]}
    assert literal("$b", dollars=True) == "$$b"


def test_an_entry_has_records_fields_indexes_and_options() -> None:
    orders = live(
        "orders",
        [{"_id": number, "customer": ObjectId(), "total": 5.5} for number in range(10)],
        indexes=[{"name": "customer_1", "key": {"customer": 1}}],
        options={"capped": True, "size": 4096, "validationLevel": "strict"},
    )
    reference = Reference(collection="orders", path="customer", target="customers", found=1.0, popularity=None)
    entry = collection_entry(orders, [reference], with_values=False)
    assert plain(entry) == {
        "records": 10,
        "fields": {
            "customer": {"key_of": "customers", "keys": {"kind": "uniform"}},
            "total": {"kind": "double", "min": 5.0, "max": 6.0, "decimals": 1},
        },
        "indexes": [{"customer": 1}],
        "options": {"capped": True, "size": 4096},
    }


def test_fields_that_a_workload_can_not_name_are_said() -> None:
    strange = {"we.ird": 1, "$lead": 2, "": 3}
    said = (
        "left out, as a workload can't name fields that are empty or have a point, a leading $ or NUL: "
        '"we.ird", "$lead", ""'
    )
    for document, place in (
        ({"a": 1, **strange}, "above"),
        ({"a": {"b": 1, **strange}}, "above"),
        (strange, "above"),
        ({"a": strange}, "beside"),
    ):
        entry = collection_entry(live("orders", [{"_id": 1, **document}]), [], with_values=False)
        lines = [each.strip() for each in yaml_text({"orders": entry}).splitlines() if said in each]
        assert len(lines) == 1, (document, place)
        assert lines[0].endswith(f"# {said}")


def test_of_many_such_fields_some_are_named() -> None:
    entry = collection_entry(live("orders", [{f"a.{number}": 1 for number in range(8)}]), [], with_values=False)
    assert '"a.4" and 3 more' in yaml_text({"orders": entry})
