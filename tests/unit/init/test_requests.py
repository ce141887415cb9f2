from datetime import datetime
from typing import Any

import pytest
from bson import ObjectId, Regex

from brimline.init.holes import Hole, NotTranslated
from brimline.init.observed import Observed
from brimline.init.request import request_of
from tests.unit.init.observing import aggregate, find, grouped, update


def _roles(command: Observed) -> list[tuple[str, str]]:
    found: dict[int, Hole] = {}

    def look(value: Any) -> None:
        if isinstance(value, Hole):
            found[value.number] = value
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            look(each)

    look(request_of(command).arguments)
    return [(found[number].role, found[number].field) for number in sorted(found)]


def test_values_are_holes_and_words_of_the_shape_stay() -> None:
    request = request_of(
        find({"a": 5, "b": None, "c": True, "d": {"$exists": False}}, sort={"a": -1.0}, projection={"a": 1})
    )
    assert request.arguments == {
        "filter": {"a": Hole(0, "equal", "a"), "b": None, "c": True, "d": {"$exists": False}},
        "projection": {"a": 1},
        "sort": {"a": -1},
    }
    assert request.values == (5,)


@pytest.mark.parametrize(
    ("conditions", "roles"),
    [
        ({"a": {"$gte": 1, "$lt": 9}}, [("bound", "a"), ("bound", "a")]),
        ({"a": {"$in": ["x", "y"]}}, [("list", "a")]),
        ({"a": {"$ne": "x"}}, [("equal", "a")]),
        ({"$or": [{"a": 1}, {"b": 2}]}, [("equal", "a"), ("equal", "b")]),
        ({"a": {"$not": {"$gt": 1}}}, [("bound", "a")]),
        ({"a": {"$elemMatch": {"b": 1, "c": {"$lt": 2}}}}, [("equal", "a.b"), ("bound", "a.c")]),
        ({"a": {"$elemMatch": {"$gte": 1}}}, [("bound", "a")]),
        ({"a": Regex("^x", "i")}, [("prefix", "a")]),
        ({"a": {"$regex": "x", "$options": "i"}}, [("prefix", "a")]),
        ({"$text": {"$search": "words"}}, [("search", "")]),
        (
            {"a": {"$near": {"$geometry": {"type": "Point", "coordinates": [1, 2]}, "$maxDistance": 5}}},
            [("point", "a"), ("size", "a")],
        ),
        ({"a": {"$geoWithin": {"$centerSphere": [[1.0, 2.0], 0.1]}}}, [("point", "a"), ("size", "a")]),
        ({"$expr": {"$gt": ["$a", "text"]}}, [("new", "")]),
        ({"a": {"b": 1}}, [("equal", "a")]),
    ],
)
def test_what_holes_of_a_filter_are_for(conditions: dict[str, Any], roles: list[tuple[str, str]]) -> None:
    assert _roles(find(conditions)) == roles


@pytest.mark.parametrize(
    ("change", "kind", "roles"),
    [
        ({"$set": {"a": 5, "b": None}, "$inc": {"n": 1, "m": 25}}, "update", [("new", "a"), ("amount", "m")]),
        ({"$unset": {"a": ""}, "$currentDate": {"b": True}}, "update", []),
        (
            {"$push": {"a": {"b": 1}}, "$addToSet": {"c": {"$each": [1, 2], "$slice": 5}}},
            "update",
            [("new", "a"), ("items", "c")],
        ),
        (
            {"$pull": {"a": {"b": 1}, "c": "x", "d": {"$gt": 5}}},
            "update",
            [("equal", "a.b"), ("equal", "c"), ("bound", "d")],
        ),
        ([{"$set": {"a": "$b", "c": "text"}}], "update", [("new", "")]),
        ({"a": 1, "b": 2}, "replace", []),
    ],
)
def test_what_holes_of_an_update_are_for(change: Any, kind: str, roles: list[tuple[str, str]]) -> None:
    command = update({}, change)
    assert request_of(command).kind == kind
    assert [each for each in _roles(command) if each[0] != "document"] == roles


def test_texts_of_a_pipeline_are_values_but_where_they_are_names() -> None:
    command = aggregate(
        {"$match": {"status": "SECRET"}},
        {"$lookup": {"from": "stock", "localField": "sku", "foreignField": "_id", "as": "stock"}},
        {"$set": {"to": "SECRET", "from": "SECRET", "day": {"$dateToString": {"format": "%Y-%m-%d", "date": "$at"}}}},
        {
            "$group": {
                "_id": "$status",
                "n": {"$sum": 1},
                "vip": {"$sum": {"$cond": [{"$eq": ["$tier", "SECRET"]}, 1, 0]}},
            }
        },
        {"$merge": {"into": "sums", "whenMatched": [{"$set": {"by": "SECRET", "n": 123456}}]}},
        {"$project": {"a": {"$literal": "$SECRET"}, "b": {"$concat": ["$a", "SECRET"]}}},
    )
    request = request_of(command)
    assert "SECRET" not in str(request.arguments)
    assert request.values == ("SECRET",) * 3 + ("SECRET", "SECRET", 123456, "$SECRET", "SECRET")
    for name in ("stock", "localField", "%Y-%m-%d", "sums", "$status"):
        assert name in str(request.arguments)


@pytest.mark.parametrize(
    "command",
    [
        find({"$where": "this.a == 'SECRET'"}),
        find({"a": {"$bitsAllSet": 5}}),
        find({"a": {"$geoWithin": {"$box": [[0, 0], [1, 1]]}}}),
        find({}, tailable=True),
        aggregate({"$search": {"text": "SECRET"}}),
        aggregate({"$bucket": {"groupBy": "$a", "boundaries": [0, 500]}}),
        update({}, {"$bit": {"a": {"and": 5}}}),
        update({}, None),
    ],
)
def test_what_no_step_can_say_is_listed_without_its_values(command: Observed) -> None:
    with pytest.raises(NotTranslated) as raised:
        request_of(command)
    assert "SECRET" not in str(raised.value)
    groups, _ = grouped([command])
    assert sum(groups.not_translated.values()) == 1


def test_a_command_of_an_unknown_form_is_counted_and_ends_nothing() -> None:
    commands = [
        find("what"),  # type: ignore[arg-type]
        find({"a": {"$elemMatch": 5}}),
        aggregate({}),
        Observed(database="shop", collection="orders", kind="find", body={"find": "orders", "limit": "many"}),
    ]
    groups, _ = grouped(commands)
    assert not groups.groups
    assert sum(groups.not_translated.values()) == len(commands)


def test_equal_shapes_are_one_group_whatever_their_values() -> None:
    groups, _ = grouped(
        [
            find({"a": 5, "at": {"$gte": datetime(2024, 1, 1), "$lt": datetime(2024, 1, 8)}}, limit=10),
            find({"a": ObjectId(), "at": {"$gte": datetime(2024, 2, 1), "$lt": datetime(2024, 2, 3)}}, limit=20),
            find({"a": 5}, limit=10),
        ]
    )
    assert [each.times for each in groups.groups.values()] == [2, 1]
    [first, _] = groups.groups.values()
    assert first.spans == {(1, 2): [7 * 86_400_000.0, 2 * 86_400_000.0]}
