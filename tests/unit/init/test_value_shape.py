from datetime import UTC, datetime
from uuid import UUID

import pytest
from bson import Binary, Decimal128, Int64, ObjectId, Regex

from brimline.init.value_shape import DISTINCT_MAX, ValueShape, at_path, scalars_below, shape_of, type_name

POINT = {"type": "Point", "coordinates": [7.5, 50.25]}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (5, "int"),
        (2**40, "long"),
        (Int64(5), "long"),
        (5.0, "double"),
        (Decimal128("1"), "decimal"),
        ("a", "text"),
        (datetime(2024, 1, 1), "date"),
        (ObjectId(), "object_id"),
        (UUID(int=1), "uuid"),
        (b"a", "binary"),
        (Binary(b"a", 5), "binary"),
        ([1], "array"),
        ({"a": 1}, "document"),
        (POINT, "point"),
        ({"type": "Polygon", "coordinates": [[[0, 0]]]}, "geometry"),
        ({"type": "Point", "coordinates": "here"}, "document"),
        (Regex("a"), "regex"),
    ],
)
def test_each_type_has_its_name(value: object, name: str) -> None:
    assert type_name(value) == name


def test_numbers_have_their_range_and_their_decimals() -> None:
    shape = shape_of([3, 1.25, Int64(9), float("nan"), float("inf")])
    assert (shape.number_min, shape.number_max, shape.decimals, shape.main_type) == (1.25, 9.0, 2, "double")


def test_whole_numbers_keep_their_type_whatever_a_few_doubles_say() -> None:
    assert shape_of([1, 2, 3, 4.0]).main_type == "int"
    assert shape_of([Int64(1), Int64(2), 3]).main_type == "long"
    assert shape_of([1, 2, 3.5]).main_type == "double"


def test_null_is_never_the_main_type_where_there_is_another() -> None:
    shape = shape_of([None, None, None, "a"])
    assert shape.main_type == "text"
    assert shape.other_types == {"null": 3}
    assert shape_of([None]).main_type == "null"


def test_documents_arrays_and_presence() -> None:
    documents = [{"a": {"b": 1}, "c": [{"d": "x"}, {"d": "yy"}]}, {"a": {"b": 2}}, {"a": {}}]
    shape = shape_of(documents)
    assert shape.fields["a"].seen == 3
    assert shape.fields["c"].seen == 1
    assert shape.fields["c"].lengths == {2: 1}
    assert at_path(shape, "a.b").seen == 2  # type: ignore[union-attr]
    assert at_path(shape, "c.d").sizes == {1: 1, 2: 1}  # type: ignore[union-attr]
    assert at_path(shape, "c.0.d").seen == 2  # type: ignore[union-attr]
    assert at_path(shape, "a.missing") is None
    assert [path for path, _ in scalars_below(shape)] == ["a.b", "c.d"]


def test_dates_in_any_form_have_their_range() -> None:
    shape = shape_of([datetime(2024, 1, 2), datetime(2024, 1, 1, tzinfo=UTC)])
    assert (shape.date_ms_min, shape.date_ms_max) == (1704067200000, 1704153600000)


def test_points_have_their_box() -> None:
    shape = shape_of([POINT, {"type": "Point", "coordinates": [-3, 60]}])
    assert (shape.point_min, shape.point_max) == ((-3.0, 50.25), (7.5, 60.0))


def test_memory_is_bounded_by_different_values_and_by_depth() -> None:
    shape = ValueShape()
    for number in range(DISTINCT_MAX + 10):
        shape.add(number)
    assert shape.many
    assert len(shape.distinct) == DISTINCT_MAX
    assert shape.distinct_count is None
    deep: dict[str, object] = {}
    for _ in range(50):
        deep = {"a": deep}
    found, depth = shape_of([deep]), 0
    while found.fields:
        found, depth = found.fields["a"], depth + 1
    assert depth <= 7
