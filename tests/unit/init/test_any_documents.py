"""Whatever documents, indexes and queries there are: the reader of specs takes what is written."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from bson import Decimal128, Int64, MaxKey, ObjectId, Regex, Timestamp
from bson.datetime_ms import DatetimeMS
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from brimline.init.observed import Observed
from brimline.init.operations import key_laws, seen_operations
from brimline.init.proposals import proposed_operations
from brimline.init.workload_text import Source, workload_text
from brimline.spec import load_spec
from tests.unit.init.live import live
from tests.unit.init.observing import aggregate, find, grouped, update

_NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6) | st.sampled_from(
    ["_id", "kind", "keys", "value", "a.b", "$a", "key_of", "sample", "now", "on", "1", "'", '"', "#", "- a", "{", "名"]
)
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**63), 2**63 - 1).map(Int64),
    st.floats(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=300),
    st.binary(max_size=20),
    st.datetimes(),
    st.integers(-(2**62), 2**62).map(DatetimeMS),
    st.sampled_from(
        [
            ObjectId("0" * 24),
            UUID(int=5),
            Decimal128("NaN"),
            Decimal128("1E+6000"),
            Regex("a"),
            Timestamp(1, 1),
            MaxKey(),
        ]
    ),
    st.builds(lambda x, y: {"type": "Point", "coordinates": [x, y]}, st.floats(-400, 400), st.floats(-400, 400)),
)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3), max_leaves=8
)
_DOCUMENTS = st.lists(st.dictionaries(_NAMES, _VALUES, max_size=5), min_size=1, max_size=4)
_INDEXES = st.lists(
    st.builds(
        lambda keys, unique: {"name": "_".join(keys), "key": keys, "unique": unique},
        st.dictionaries(_NAMES.filter(bool), st.sampled_from([1, -1, "hashed", "2dsphere"]), min_size=1, max_size=2),
        st.booleans(),
    ),
    max_size=2,
    unique_by=lambda index: str(index["name"]),
)
_QUIET = settings(
    max_examples=25,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def _read(directory: Path, text: str) -> None:
    path = directory / "my.yaml"
    path.write_text(text, encoding="utf-8")
    load_spec(path)


@pytest.mark.parametrize("loaded", [True, False])
@pytest.mark.parametrize("with_values", [True, False])
@_QUIET
@given(_DOCUMENTS, _INDEXES)
def test_any_collection(tmp_path: Path, loaded: bool, with_values: bool, documents: Any, indexes: Any) -> None:
    there = live("orders", [{"_id": number, **each} for number, each in enumerate(documents)], indexes=indexes)
    source = Source(database="shop", live=[there], loaded=loaded, with_values=with_values)
    writer = source.writer()
    _read(tmp_path, workload_text(source, proposed_operations(writer), writer.values))


_FILTERS = st.dictionaries(
    _NAMES.filter(lambda name: not name.startswith("$")),
    _VALUES
    | st.dictionaries(st.sampled_from(["$gt", "$lte", "$gte", "$lt", "$ne", "$eq"]), _SCALARS, min_size=1, max_size=2)
    | st.builds(lambda values: {"$in": values}, st.lists(_SCALARS, max_size=12)),
    min_size=1,
    max_size=3,
)
_COMMANDS = st.one_of(
    st.builds(find, _FILTERS),
    st.builds(
        lambda conditions, change: update(conditions, {"$set": change}),
        _FILTERS,
        st.dictionaries(_NAMES.filter(bool), _VALUES, min_size=1, max_size=2),
    ),
    st.builds(
        lambda conditions, made: aggregate({"$match": conditions}, {"$project": made}),
        _FILTERS,
        st.dictionaries(_NAMES.filter(bool), _VALUES, min_size=1, max_size=2),
    ),
)


@_QUIET
@given(st.lists(_COMMANDS, min_size=1, max_size=4))
def test_any_command(tmp_path: Path, commands: list[Observed]) -> None:
    there = live("orders", [{"_id": number, "a": number, "at": datetime(2024, 1, 1)} for number in range(3)])
    source = Source(database="shop", live=[there])
    writer = source.writer()
    groups, observations = grouped(commands)
    if groups.groups:
        writer.values.laws.update(key_laws(groups, writer))
        _read(tmp_path, workload_text(source, seen_operations(groups, observations, writer), writer.values))


_PLAIN_NAMES = st.sampled_from(["a", "b", "to", "from", "by", "format", "key", "field", "as", "unit", "in"])
_SECRETS = st.recursive(
    st.sampled_from(["S3CRET", "^S3CRET", "a S3CRET b" * 30, 987_654_321, 98_765.4321, Int64(987_654_321_987)]),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3) | st.dictionaries(_PLAIN_NAMES, inner, min_size=1, max_size=3)
    ),
    max_leaves=6,
)
_TOLD = ("S3CRET", "987654321", "98765.4321", "987654321987")


@pytest.mark.parametrize("loaded", [True, False])
@_QUIET
@given(st.lists(st.dictionaries(_PLAIN_NAMES, _SECRETS, min_size=1, max_size=3), min_size=1, max_size=8), st.data())
def test_no_value_is_told(tmp_path: Path, loaded: bool, documents: Any, data: st.DataObject) -> None:
    conditions = st.dictionaries(
        _PLAIN_NAMES,
        _SECRETS
        | st.builds(lambda name, value: {name: value}, st.sampled_from(["$gt", "$ne", "$eq"]), _SECRETS)
        | st.builds(lambda name, value: {name: [value]}, st.sampled_from(["$in", "$nin", "$all"]), _SECRETS)
        | st.just({"$regex": "S3CRET.*"}),
        min_size=1,
        max_size=2,
    )
    made = st.dictionaries(_PLAIN_NAMES, _SECRETS, min_size=1, max_size=2)
    stages = st.sampled_from(["$set", "$project", "$addFields", "$group", "$replaceWith"])
    commands = st.one_of(
        st.builds(find, conditions),
        st.builds(
            lambda where, how, what: update(where, {how: what}),
            conditions,
            st.sampled_from(["$set", "$push", "$pull", "$inc"]),
            made,
        ),
        st.builds(update, conditions, made),
        st.builds(lambda where, stage, what: aggregate({"$match": where}, {stage: what}), conditions, stages, made),
        st.builds(
            lambda where, what: aggregate(
                {"$merge": {"into": "x", "whenMatched": [{"$set": what}], "let": what}}, {"$match": where}
            ),
            conditions,
            made,
        ),
    )
    there = live("orders", documents * 6, options={"validator": {"a": "S3CRET"}, "collation": {"locale": "en"}})
    source = Source(database="shop", live=[there], loaded=loaded)
    writer = source.writer()
    groups, observations = grouped(data.draw(st.lists(commands, min_size=1, max_size=5)))
    operations = seen_operations(groups, observations, writer) if groups.groups else proposed_operations(writer)
    text = workload_text(source, operations, writer.values)
    assert [each for each in _TOLD if each in text] == []
    _read(tmp_path, text)
