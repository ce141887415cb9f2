"""How a collection differs from what a workload says it is, by what servers list."""

from typing import Any

import pytest

from brimline.dataset import Definition, Shape
from brimline.dataset.definition import default_name, is_same, listed_key, misfit, takes_the_place
from brimline.dataset.sharding import ShardKey

DE = {"locale": "de", "caseLevel": False, "strength": 3, "version": "57.1"}


def _index(**words: Any) -> dict[str, Any]:
    return dict(Definition.of(indexes=[words]).shape.indexes[0])


def test_an_index_has_its_name_from_its_fields_unless_it_is_given_one() -> None:
    assert _index(key={"customer": 1, "created": -1.0})["name"] == "customer_1_created_-1"
    assert _index(key={"a": 1}, name="mine")["name"] == "mine"
    assert default_name({"$**": 1}) == "$**_1"


def test_text_fields_are_listed_under_one_name() -> None:
    assert listed_key({"key": {"a": 1, "b": "text", "c": "text", "d": -1}}) == {
        "a": 1,
        "_fts": "text",
        "_ftsx": 1,
        "d": -1,
    }


SAME: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"key": {"a": 1}}, {"v": 2, "key": {"a": 1}, "name": "a_1", "collation": DE}),
    ({"key": {"a": 1}, "unique": False}, {"key": {"a": 1.0}, "name": "by_a"}),
    ({"key": {"a": 1}, "collation": {"locale": "de"}}, {"key": {"a": 1}, "name": "a_1", "collation": DE}),
    ({"key": {"a": 1}, "collation": {"locale": "simple"}}, {"key": {"a": 1}, "name": "a_1"}),
    ({"key": {"l": "2dsphere"}}, {"key": {"l": "2dsphere"}, "name": "l_2dsphere", "2dsphereIndexVersion": 3}),
    (
        {"key": {"b": "text", "c": "text"}, "weights": {"b": 5}},
        {"key": {"_fts": "text", "_ftsx": 1}, "name": "t", "weights": {"b": 5, "c": 1}, "default_language": "english"},
    ),
]
OTHER: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"key": {"a": 1, "b": 1}}, {"key": {"b": 1, "a": 1}, "name": "a_1_b_1"}),
    ({"key": {"a": 1}}, {"key": {"a": 1}, "name": "a_1", "unique": True}),
    ({"key": {"a": 1}, "unique": True}, {"key": {"a": 1}, "name": "a_1"}),
    ({"key": {"a": 1}}, {"key": {"a": 1}, "name": "a_1", "partialFilterExpression": {"a": 1}}),
    ({"key": {"a": 1}, "expireAfterSeconds": 60}, {"key": {"a": 1}, "name": "a_1", "expireAfterSeconds": 61}),
    ({"key": {"a": 1}, "collation": {"locale": "simple"}}, {"key": {"a": 1}, "name": "a_1", "collation": DE}),
    ({"key": {"b": "text"}}, {"key": {"_fts": "text", "_ftsx": 1}, "name": "t", "weights": {"c": 1}}),
]


@pytest.mark.parametrize(("wanted", "found"), SAME)
def test_what_a_server_adds_makes_no_other_index(wanted: dict[str, Any], found: dict[str, Any]) -> None:
    assert is_same(_index(**wanted), found)


@pytest.mark.parametrize(("wanted", "found"), OTHER)
def test_what_was_not_asked_for_makes_another_index(wanted: dict[str, Any], found: dict[str, Any]) -> None:
    assert not is_same(_index(**wanted), found)


def test_what_is_missing_and_what_is_otherwise_is_said() -> None:
    wanted = Definition.of(
        options={"capped": True, "size": 1000, "validator": {"a": 1}},
        indexes=[{"key": {"a": 1}}, {"key": {"b": 1}, "unique": True}, {"key": {"c": 1}, "sparse": True}],
    )
    theirs = {"key": {"b": 1}, "name": "b_1"}
    ours = {"key": {"c": 1}, "name": "c_1"}
    further = {"key": {"d": 1}, "name": "d_1"}
    there = Shape(
        options={"capped": True, "size": 1024, "validator": {"a": 1, "b": 1}}, indexes=[theirs, ours, further]
    )
    found = misfit(wanted, there, own_indexes=["c_1", "d_1"])
    assert found.text == (
        "without the indexes a_1, c_1, with another index in the place of b_1, with the further indexes c_1, d_1, "
        "otherwise in the option validator"
    )
    assert found.needs_another_collection


def test_what_others_gave_it_and_nobody_asks_for_is_no_misfit() -> None:
    there = Shape(options={"collation": DE}, indexes=[{"key": {"a": 1}, "name": "a_1"}])
    assert not misfit(Definition(), there)
    assert not misfit(Definition.of(options={"collation": {"locale": "de"}}, indexes=[{"key": {"a": 1}}]), there)


def test_a_shard_key_counts_behind_a_router_alone() -> None:
    wanted = Definition.of(shard_key={"a": "hashed"})
    assert not misfit(wanted, Shape())
    assert misfit(wanted, Shape(), behind_router=True).text == "sharded otherwise"
    assert not misfit(wanted, Shape(), behind_router=True, sharded_by=ShardKey(fields={"a": "hashed"}))


@pytest.mark.parametrize(
    ("found", "wanted", "is_so"),
    [
        ({"expireAfterSeconds": 9}, {}, True),
        ({"expireAfterSeconds": 9}, {"collation": {"locale": "simple"}}, True),
        ({"unique": True}, {}, False),
        ({"collation": {"locale": "sv", "strength": 3}}, {}, False),
        ({"collation": {"locale": "sv", "strength": 3}, "hidden": True}, {"collation": {"locale": "sv"}}, True),
        ({"collation": {"locale": "sv", "strength": 3}}, {"collation": {"locale": "sv", "strength": 1}}, False),
    ],
)
def test_what_a_server_can_not_have_beside_another_index(
    found: dict[str, Any], wanted: dict[str, Any], is_so: bool
) -> None:
    """Over the same fields, by other names; of one name no server has two."""
    theirs = {"key": {"a": 1}, "name": "theirs", **found}
    assert takes_the_place(theirs, {"key": {"a": 1}, "name": "a_1", **wanted}) is is_so
    assert takes_the_place({**theirs, "name": "a_1"}, {"key": {"a": 1}, "name": "a_1", **wanted})
    assert not takes_the_place(theirs, {"key": {"b": 1}, "name": "b_1", **wanted})
