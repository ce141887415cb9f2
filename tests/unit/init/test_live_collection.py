from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import bson
import pytest
from pymongo.errors import OperationFailure

from brimline.errors import TargetError, UsageError
from brimline.init import live_collection
from brimline.init.live_collection import read_live


class _Cursor:
    """What a query brings, one document after the other; `taken` counts those that were asked for."""

    def __init__(self, documents: list[Mapping[str, Any]]) -> None:
        self._documents = documents
        self.taken = 0

    def __enter__(self) -> None:
        return None

    def __iter__(self) -> Iterator[SimpleNamespace]:
        for each in self._documents:
            self.taken += 1
            yield SimpleNamespace(raw=bson.encode(each))

    def __exit__(self, *_: object) -> None:
        return None


class _Database:
    """As much of a database as reading a collection asks of one."""

    name = "shop"

    def __init__(self, documents: list[Mapping[str, Any]], *, refuses: OperationFailure | None = None) -> None:
        self.cursor = _Cursor(documents)
        self.asked: list[Any] = []
        self.count = len(documents)
        self._refuses = refuses

    def __getitem__(self, _name: str) -> "_Database":
        return self

    def with_options(self, **_: Any) -> "_Database":
        return self

    def list_collections(self, **_: Any) -> Any:
        return iter([{"name": "orders", "type": "collection", "options": {}}])

    def list_collection_names(self) -> list[str]:
        return ["orders"]

    def list_indexes(self) -> Any:
        return iter([])

    def estimated_document_count(self) -> int:
        if self._refuses is not None:
            raise self._refuses
        return self.count

    def find(self, *arguments: Any, **options: Any) -> _Cursor:
        self.asked.append(options)
        return self.cursor

    def aggregate(self, pipeline: Any, **_: Any) -> _Cursor:
        self.asked.append(pipeline)
        return self.cursor

    def command(self, _name: str) -> dict[str, Any]:
        return {}


def _read(database: _Database, *, sample: int = 1000) -> Any:
    return read_live(database, "orders", sample=sample)  # type: ignore[arg-type]


def test_a_large_collection_is_sampled_and_a_small_one_is_read() -> None:
    large = _Database([{"_id": number} for number in range(50)])
    large.count = 10**9
    assert _read(large, sample=50).count == 10**9
    assert large.asked == [[{"$sample": {"size": 50}}]]
    small = _Database([{"_id": 1}])
    assert _read(small).sampled == 1
    assert small.asked[0]["limit"] == 1000


def test_a_sample_ends_at_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_collection, "SAMPLE_BYTES_MAX", 2500)
    database = _Database([{"_id": number, "a": "x" * 1000} for number in range(100)])
    assert _read(database).sampled == database.cursor.taken == 3


def test_an_empty_collection_is_refused() -> None:
    with pytest.raises(UsageError, match=r"shop\.orders is empty"):
        _read(_Database([]))


@pytest.mark.parametrize(("code", "said"), [(13, r"the user may not read shop\.orders"), (11600, "the server refuses")])
def test_a_refusal_says_what_is_missing(code: int, said: str) -> None:
    refusal = OperationFailure("no", code, {"errmsg": "not authorized on shop", "code": code})
    with pytest.raises(TargetError, match=said):
        _read(_Database([{"_id": 1}], refuses=refusal))
