import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimline.init.yaml_text import Noted, comment, noted, plain, yaml_text
from brimline.spec.document import parse_document

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=10), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), _VALUES, min_size=1, max_size=4))
def test_what_is_written_is_read_back(values: dict[str, object]) -> None:
    assert parse_document(yaml_text(values), "test").values == values


@pytest.mark.parametrize(
    "text",
    ["on", "1:30", "0xf", "1e5", "~", "", "null", "-", "a: b", "# a", "$$name", "{a}", "60%", "500/s", "10k", "1_0"],
)
def test_text_stays_text(text: str) -> None:
    assert parse_document(yaml_text({"a": text, "b": [text], text or "c": 1}), "test").values["a"] == text


def test_comments_stand_above_and_beside_and_change_nothing() -> None:
    values = {
        "a": Noted({"b": noted(1, beside="one"), "c": [1, noted({"d": 2}, above=["two"])]}, above=["zero", "more"])
    }
    text = yaml_text(values, header=["head"])
    assert parse_document(text, "test").values == plain(values)
    assert [line.strip() for line in text.splitlines() if "#" in line] == [
        "# head",
        "# zero",
        "# more",
        "b: 1  # one",
        "# two",
    ]


def test_a_comment_is_one_line_whatever_is_in_it() -> None:
    assert comment("a\nb:  c") == "# a b: c"
    assert len(comment("a\r\u2028\x85b").splitlines()) == 1


def test_what_is_short_stands_on_one_line() -> None:
    assert yaml_text({"a": {"b": [1, {"c": "d"}]}}) == "a: {b: [1, {c: d}]}\n"
    assert yaml_text({"a": [{"b": "x" * 70, "c": "y" * 70}]}) == f"a:\n  - b: {'x' * 70}\n    c: {'y' * 70}\n"
