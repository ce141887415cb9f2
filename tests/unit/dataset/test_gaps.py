"""Which records of an interrupted load are missing, asked of a database in memory."""

from collections.abc import Iterator
from typing import Any, cast

import bson
import pytest

from brimline import _native
from brimline.dataset import gaps
from brimline.dataset.access import DataDatabase
from brimline.dataset.chunks import CHUNK_RECORDS
from brimline.dataset.gaps import Gaps, find_gaps
from brimline.dataset.manifest import manifest_for
from brimline.errors import UsageError
from brimline.plan import load_plan
from brimline.plan.model import NullTarget
from brimline.spec.model import Spec

RECORDS = range(50, 50 + 2 * CHUNK_RECORDS + 100)
DATA = {"records": len(RECORDS), "insert_start": RECORDS.start, "fields": 1, "field_length": 1}
SPEC = {"name": "t", "data": DATA, "operations": {"read": 1}}
PLAN = load_plan(Spec.model_validate(SPEC), target=NullTarget())
DOCUMENTS = [
    bson.decode(each) for each in _native.generate_documents(PLAN.canonical_json(), RECORDS.start, len(RECORDS))
]


class _Collection(dict[Any, dict[str, Any]]):
    """Documents by `_id`."""

    def find(self, wanted: dict[str, Any], _: Any = None) -> Iterator[dict[str, Any]]:
        return (self[key] for key in wanted["_id"]["$in"] if key in self)

    def find_one(self, wanted: dict[str, Any]) -> dict[str, Any] | None:
        return self.get(wanted["_id"])

    def count_documents(self, wanted: dict[str, Any]) -> int:
        return sum(1 for _ in self.find(wanted))


class _Database(dict[str, _Collection]):
    name = "ycsb"


def _found(*missing: range, changed: int | None = None) -> Gaps:
    there = {index for index in RECORDS if not any(index in each for each in missing)}
    collection = _Collection()
    for index, document in zip(RECORDS, DOCUMENTS, strict=True):
        if index in there:
            collection[document["_id"]] = {**document, "field0": "other"} if index == changed else document
    database = cast(DataDatabase, _Database(usertable=collection))
    return find_gaps(database, manifest_for(PLAN), plan_json=PLAN.canonical_json(), look_up=lambda: None)


END_OF_CHUNK = RECORDS.start + CHUNK_RECORDS


@pytest.mark.parametrize(
    "missing",
    [
        (),
        (range(50, 51),),  # the first
        (range(RECORDS.stop - 1, RECORDS.stop),),  # the last
        (range(END_OF_CHUNK - 1, END_OF_CHUNK),),  # the last that is asked for at once
        (range(END_OF_CHUNK, END_OF_CHUNK + 1),),
        (range(END_OF_CHUNK - 3, END_OF_CHUNK + 2),),  # one gap, though asked for in two parts
        (range(100, 101), range(102, 105), range(END_OF_CHUNK - 1, RECORDS.stop)),
        (RECORDS,),
    ],
)
def test_every_record_that_is_missing_is_in_a_gap(missing: tuple[range, ...]) -> None:
    assert _found(*missing) == Gaps(missing=missing, present_count=len(RECORDS) - sum(map(len, missing)))


@pytest.mark.parametrize("changed", [50, END_OF_CHUNK - 1])
def test_a_document_that_was_not_loaded_is_refused(changed: int) -> None:
    with pytest.raises(UsageError, match="is not the one that was loaded"):
        _found(changed=changed)


def test_too_many_gaps_are_no_load_to_go_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaps, "GAPS_MAX", 2)

    def looked_at(*missing: int) -> Gaps:
        return gaps.gaps_in(range(10), lambda chunk: [index not in missing for index in chunk], name="ycsb.usertable")

    assert looked_at(3, 7).missing == (range(3, 4), range(7, 8))
    with pytest.raises(UsageError, match="in more than 2 places of ycsb"):
        looked_at(3, 5, 7)
