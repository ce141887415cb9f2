from datetime import datetime
from random import Random
from typing import Any
from uuid import UUID

import pytest
from bson import Decimal128, Int64, ObjectId, Regex
from pydantic import TypeAdapter

from brimline.init.field_generators import FieldContext, document_fields, generator
from brimline.init.value_shape import shape_of
from brimline.init.yaml_text import Noted, plain
from brimline.spec.generators import Template

POINT = {"type": "Point", "coordinates": [7.5, 50.25]}


def _made(values: list[Any], path: str = "", **context: Any) -> Any:
    return plain(generator(shape_of(values), FieldContext(**context), path))


def _said(value: Any) -> str:
    return value.beside if isinstance(value, Noted) else ""


@pytest.mark.parametrize(
    ("values", "made"),
    [
        ([3, 9, 4], {"kind": "int", "min": 3, "max": 9}),
        ([17, 4321], {"kind": "int", "min": 0, "max": 5000}),
        ([Int64(2**40)], {"kind": "long", "min": 10**12, "max": 2 * 10**12}),
        ([1.25, 487.5], {"kind": "double", "min": 0.0, "max": 500.0, "decimals": 2}),
        ([Decimal128("9.99")], {"kind": "decimal", "min": 9.0, "max": 10.0, "decimals": 2}),
        ([True, False, True, True], {"kind": "boolean", "true_share": 0.75}),
        ([ObjectId()], {"kind": "object_id"}),
        ([UUID(int=1)], {"kind": "uuid"}),
        ([b"12345"], {"kind": "binary", "length": 5}),
        (["0a1b", "ff00"], {"kind": "string", "length": 4, "alphabet": "hex"}),
        (["12", "1234"], {"kind": "string", "length": {"kind": "uniform", "min": 2, "max": 4}, "alphabet": "digits"}),
        (["ab-c!", "?"], {"kind": "string", "length": {"kind": "uniform", "min": 1, "max": 5}}),
        ([POINT], {"kind": "point", "min": [7, 50], "max": [8, 51]}),
        ([None], {"kind": "constant", "value": None}),
        ([datetime(2024, 1, 5, 1), datetime(2024, 1, 20)], {"kind": "date", "from": "2024-01-05", "to": "2024-01-21"}),
        ([datetime(2013, 3, 17), datetime(2013, 4, 2)], {"kind": "date", "from": "2013-03-01", "to": "2013-05-01"}),
        (
            [[1, 2], [3]],
            {
                "kind": "array",
                "length": {"kind": "uniform", "min": 1, "max": 2},
                "of": {"kind": "int", "min": 1, "max": 3},
            },
        ),
        ([{"a": 1}], {"kind": "document", "fields": {"a": {"kind": "int", "min": 1, "max": 1}}}),
    ],
)
def test_each_type_has_its_generator(values: list[Any], made: Any) -> None:
    assert _made(values) == made


def test_the_reader_takes_every_generator_that_is_made() -> None:
    values = [
        5,
        2**40,
        1.5,
        Decimal128("1.5"),
        "a",
        "中文",
        True,
        datetime(2024, 1, 1),
        ObjectId(),
        UUID(int=1),
        b"a",
        POINT,
        None,
        [],
        [1],
        [[1, 2]],
        {"a": [{"b": {"c": 1}}]},
        {},
        Regex("a"),
        {"type": "Polygon", "coordinates": [[[0, 0]]]},
    ]
    document = {f"f{number}": value for number, value in enumerate(values)}
    fields = plain(document_fields(shape_of([document, document]), FieldContext()))
    assert len(TypeAdapter(Template).validate_python(fields)) == len(values)


def test_a_small_choice_of_texts_is_made_up_with_its_lengths_and_weights() -> None:
    values = ["DELIVERED"] * 90 + ["LOST"] * 10
    assert _made(values) == {"kind": "choice", "of": {"axxxxxxxx": 90, "bxxx": 10}}
    assert _made(values, with_values=True) == {"kind": "choice", "of": {"DELIVERED": 90, "LOST": 10}}


def test_numbers_of_a_small_choice_are_told_only_when_asked_for() -> None:
    values = [404] * 10 + [200] * 30
    assert _made(values) == {"kind": "int", "min": 200, "max": 500}
    assert _made([17, 4321], with_values=True) == {"kind": "int", "min": 17, "max": 4321}
    assert _made(values, with_values=True) == {"kind": "choice", "of": [200] * 15 + [404] * 5}


def test_many_texts_are_no_choice() -> None:
    assert _made([f"name{number}" for number in range(100)], with_values=True)["kind"] == "string"


def test_unique_fields_never_repeat() -> None:
    unique = {"unique_paths": frozenset({"a"})}
    assert _made(["x@y.z"] * 3, "a", **unique)["parts"][-1] == {"kind": "sequence", "start": 1000}
    assert _made([5, 6], "a", **unique) == {"kind": "sequence", "start": 1}
    assert _made([datetime(2024, 1, 1)], "a", **unique)["kind"] == "clock"
    assert _made([5, 6], "a", in_records=False, **unique)["kind"] == "int"


def test_a_unique_text_of_one_length_keeps_it() -> None:
    """A number with leading zeros is one that begins where it has all its digits."""
    made = _made([f"P{number:06}" for number in range(200)], "a", unique_paths=frozenset({"a"}))
    assert made == {"kind": "text", "parts": [{"kind": "string", "length": 1}, {"kind": "sequence", "start": 100_000}]}
    long = _made(["x" * 30, "y" * 30], "a", unique_paths=frozenset({"a"}))
    assert long["parts"][0]["length"] + len(str(long["parts"][1]["start"])) == 30
    assert _made(["a", "b"], "a", unique_paths=frozenset({"a"}))["parts"][-1] == {"kind": "sequence"}


def test_numbers_that_are_not_spread_evenly_are_a_guess() -> None:
    random = Random(1)

    def said(values: list[Any]) -> str:
        return _said(generator(shape_of(values), FieldContext()))

    skewed = [round(random.lognormvariate(5, 1), 2) for _ in range(500)]
    assert said(skewed).startswith("guess: spread evenly; half of those seen lie in the lowest ")
    assert said([Decimal128(f"{each}") for each in skewed]).count("guess:") == 1
    assert said([int(each) for each in skewed]).startswith("guess:")
    assert said([random.uniform(0, 6000) for _ in range(500)]) == ""
    assert said([random.randint(1, 5) for _ in range(500)]) == "", "few whole numbers, each as often"
    assert said([1.0, 2.0, 900.0]) == "", "too few to say"


def test_presence_and_other_types_are_said() -> None:
    fields = document_fields(
        shape_of([{"_id": 1, "a": 1, "b": "x"}, {"_id": 2, "b": 5}, {"_id": 3, "b": "y"}]), FieldContext()
    )
    assert list(fields) == ["a", "b"]
    assert _said(fields["a"]) == "in 33 % of the documents; here in all"
    assert _said(fields["b"]) == "also int in 33 %; here always text"


def test_names_that_no_generator_can_have_are_left_out() -> None:
    assert list(document_fields(shape_of([{"a.b": 1, "$c": 1, "": 1, "d": 1}]), FieldContext())) == ["d"]


def test_names_that_look_like_data_are_not_written() -> None:
    documents = [{"by": {f"person{number}@x.org": 5}} for number in range(100)]
    fields = document_fields(shape_of(documents), FieldContext())
    text = str(fields)
    assert "person" not in text
    assert "100 names, each rare" in text
    assert plain(fields)["by"]["fields"] == {"key0": {"kind": "int", "min": 5, "max": 5}}


def test_a_field_with_a_geo_index_holds_points() -> None:
    assert _made([[7.5, 50.0]], "at", point_paths=frozenset({"at"})) == {"kind": "point"}


def test_references_stand_in_place_of_a_generator() -> None:
    reference = {"key_of": "customers"}
    fields = document_fields(
        shape_of([{"a": {"customer": ObjectId()}}]), FieldContext(references={"a.customer": reference})
    )
    assert plain(fields)["a"]["fields"]["customer"] == reference


def test_nesting_ends_before_the_depth_that_a_spec_may_have() -> None:
    deep: Any = 1
    for _ in range(20):
        deep = {"a": [deep]}
    made, depth = plain(document_fields(shape_of([deep]), FieldContext())), 0
    while isinstance(made, dict) and made:
        made, depth = next(reversed(made.values())), depth + 1
    assert depth + 3 <= 16
