"""YAML's traps, and values that survive being written and read."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from brimline.spec.document import dump_document, parse_document


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("no", "no"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("1:30", "1:30"),
        ("0100", "0100"),
        ("0x10", 16),
        ("2024-01-01", "2024-01-01"),
        ("1_000", 1000),
        ("1e3", 1000.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("-3", -3),
        ("=", "="),
        ("10ms", "10ms"),
        ("'5'", "5"),
        ('"true"', "true"),
        (".inf", float("inf")),
    ],
)
def test_scalars_are_read_as_core_schema(text: str, value: object) -> None:
    read = parse_document(f"key: {text}", "s").values["key"]
    assert read == value
    assert type(read) is type(value)


def test_keys_stay_text() -> None:
    assert parse_document("on: 1\n12: 2\nnull: 3", "s").values == {"on": 1, "12": 2, "null": 3}


def test_lines_are_those_of_keys_and_items() -> None:
    document = parse_document("a: 1\nb:\n  c: 2\n  d:\n  - 3\n  - 4\n", "s")
    assert document.line_of(("a",)) == 1
    assert document.line_of(("b", "c")) == 3
    assert document.line_of(("b", "d", 1)) == 6
    assert document.line_of(("b", "missing")) == 2
    assert document.line_of(("missing",)) == 1


def test_a_byte_order_mark_is_no_key() -> None:
    assert parse_document("\ufeffa: 1", "s").values == {"a": 1}


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**18), 10**18),
    st.floats(allow_nan=False),
    TEXT,
    st.sampled_from(
        [
            "on",
            "no",
            "1e3",
            "0100",
            "1:30",
            "~",
            "null",
            "0x1F",
            "1_0",
            ".nan",
            "<<",
            "=",
            "*a",
            "&a",
            "!x",
            " a ",
        ]
    ),
)


@given(st.dictionaries(TEXT, st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=3), max_leaves=5), max_size=5))
def test_written_values_read_back(values: dict[str, Any]) -> None:
    text = dump_document(values)
    assert not values or parse_document(text, "s").values == values
    assert yaml.safe_load(text) == values
