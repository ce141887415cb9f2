"""Operations that are proposed from indexes: a find for each index that can have one, and a word for each other."""

from typing import Any

import pytest

from brimline.init.proposals import proposed_operations
from brimline.init.workload_text import Source
from brimline.init.yaml_text import plain
from tests.unit.init.live import live

_AT = {"type": "Point", "coordinates": [7.5, 50.5]}
_NEAR = {"at": {"$near": {"$geometry": {"$value": {"kind": "point", "min": [7, 50], "max": [8, 51]}}}}}
_TEXT: dict[str, Any] = {"_fts": "text", "_ftsx": 1}


def _proposed(index: dict[str, Any], *, loaded: bool = True, **fields: Any) -> tuple[Any, Any]:
    """The filter of the find for the index, and the notes about indexes without one."""
    values = {"at": _AT, "title": "some words", "shop": "a", "nested": {"deep": "words"}, **fields}
    documents = [{"_id": number, **values} for number in range(10)]
    there = live("places", documents, indexes=[{"name": "wanted", **index}])
    operations = proposed_operations(Source(database="shop", live=[there], loaded=loaded).writer())
    finds = {name: plain(each) for name, each in operations.operations.items() if name.startswith("find_")}
    finds.pop("find_places_by_id", None)
    assert all(each["find"]["collection"] == "places" and each["find"]["limit"] == 20 for each in finds.values())
    return next((each["find"]["filter"] for each in finds.values()), None), list(operations.notes[1:])


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ({"key": {"at": "2dsphere"}}, _NEAR),
        ({"key": {"shop": 1, "at": "2dsphere"}}, {"shop": "$known_places.shop", **_NEAR}),
        ({"key": _TEXT, "weights": {"title": 1}}, {"$text": {"$search": "$known_places.title"}}),
        ({"key": _TEXT, "weights": {"nested.deep": 1}}, {"$text": {"$search": "$known_places.nested.deep"}}),
        ({"key": _TEXT, "weights": {"$**": 1}}, {"$text": {"$search": "$known_places.title"}}),
        (
            {"key": {"shop": 1, **_TEXT}, "weights": {"title": 1}},
            {"shop": "$known_places.shop", "$text": {"$search": "$known_places.title"}},
        ),
        ({"key": {"shop": 1}}, {"shop": "$known_places.shop"}),
        ({"key": {"shop": "hashed"}}, {"shop": "$known_places.shop"}),
    ],
)
def test_an_index_has_the_find_that_it_is_for(index: dict[str, Any], expected: Any) -> None:
    assert _proposed(index) == (expected, [])


def test_of_a_long_text_the_beginning_is_searched_for_unless_it_is_made_up_and_one_word() -> None:
    index = {"key": _TEXT, "weights": {"title": 1}}
    found, _ = _proposed(index, loaded=False, title="word " * 30)
    of = {"of": "$known_places.title", "start": 0, "length": 40}
    assert found == {"$text": {"$search": {"$value": {"substring": of}}}}
    assert _proposed(index, title="word " * 30)[0] == {"$text": {"$search": "$known_places.title"}}


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ({"key": _TEXT, "weights": {"nowhere": 1}}, "no text was seen in its fields"),
        ({"key": {"nowhere": "2dsphere"}}, "no place was seen in nowhere"),
        ({"key": {"at": "2dsphere"}, "partialFilterExpression": {"shop": "a"}}, "it is partial or hidden"),
        ({"key": {"at": "2d"}}, "an index of the kind 2d needs a query of its own"),
        ({"key": {"$**": 1}}, "nothing shows which values $** has"),
        ({"key": {"nested": 1}}, "nothing shows which values nested has"),
    ],
)
def test_an_index_without_a_find_is_named(index: dict[str, Any], said: str) -> None:
    assert _proposed(index) == (None, [f"No find is proposed for the index wanted of places: {said}."])
