"""A load that went on through a failover is counted at the member that is the primary by then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from brimline.errors import TargetError
from brimline.execution import data

_PLAN: Any = SimpleNamespace(namespace=SimpleNamespace(database="shop", collection="orders"))

_MANIFEST: Any = SimpleNamespace(records=range(10))


def _set(monkeypatch: pytest.MonkeyPatch, *, dying: tuple[str, ...] = ()) -> list[str]:
    """A set whose primary changes while documents are loaded, and after each of `dying` has begun to count.

    Gives the members at which was counted, in order.
    """
    primary, counted = ["first"], list[str]()
    record = SimpleNamespace(complete=True, summary=None, operations=[{"documents": 10}])

    @contextmanager
    def database_of(*_: object) -> Iterator[str]:
        yield primary[0]

    def execute(
        *_: object, change: Callable[[], None], finish: Callable[[], None] = lambda: None, **__: object
    ) -> object:
        change()
        primary[0] = "second"
        finish()
        return record

    def complete(database: str, _: object, **__: object) -> object:
        counted.append(database)
        if database in dying:
            primary[0] = "third"
            raise TargetError("writing the manifest: the server doesn't answer")
        return SimpleNamespace(count=10)

    monkeypatch.setattr(data, "database_of", database_of)
    monkeypatch.setattr(data, "execute", execute)
    monkeypatch.setattr(data, "allow_descriptors", lambda _: None)
    monkeypatch.setattr(data.dataset, "complete", complete)
    monkeypatch.setattr(data.dataset, "prepare_addition", lambda *_: True)
    monkeypatch.setattr(data.dataset, "manifest_for", lambda _: _MANIFEST)
    return counted


def _context() -> Any:
    return SimpleNamespace(deployment=None, progress=SimpleNamespace(step=lambda _: None))


def test_a_load_is_counted_at_the_primary_of_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = _set(monkeypatch)
    report = data._insert(_PLAN, _MANIFEST, lambda _: Path(), _context())
    assert counted == ["second"]
    assert report.document_count == 10


def test_what_is_added_is_counted_at_the_primary_of_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = _set(monkeypatch)
    data.add_data(_PLAN, directory=Path(), context=_context())
    assert counted == ["second"]


def test_a_primary_that_goes_while_it_counts_is_replaced_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = _set(monkeypatch, dying=("second",))
    report = data._insert(_PLAN, _MANIFEST, lambda _: Path(), _context())
    assert counted == ["second", "third"]
    assert report.document_count == 10


def test_a_set_that_answers_no_more_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = _set(monkeypatch, dying=("second", "third"))
    with pytest.raises(TargetError):
        data._insert(_PLAN, _MANIFEST, lambda _: Path(), _context())
    assert counted == ["second", "third"]
