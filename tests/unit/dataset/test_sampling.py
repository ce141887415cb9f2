"""Which records a sample by keys asks for: as many as are wanted, each once, from all over the data."""

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from brimline.dataset.sampling import _by_keys, _evenly


class _Asked:
    """A collection in which every record is there."""

    def find(self, wanted: dict[str, Any], _: Any) -> list[int]:
        return list(wanted["_id"]["$in"])


@pytest.mark.parametrize(("wanted", "there"), [(1, 1), (7, 7), (50, 1000), (999, 1000), (3000, 100_000)])
def test_as_many_as_are_wanted_each_once_and_from_all_over(wanted: int, there: int) -> None:
    records = range(500, 500 + there)
    keys: Any = SimpleNamespace(records=records, of=list)
    asked: Any = list(_by_keys(_Asked(), keys, {}, wanted))
    assert len(asked) == len(set(asked)) == wanted
    assert set(asked) <= set(records)
    # In each fifth of the records are about a fifth of them.
    for part in range(5 if wanted >= 50 else 0):
        fifth = records[part * there // 5 : (part + 1) * there // 5]
        assert len(set(asked) & set(fifth)) == pytest.approx(wanted / 5, rel=0.25)


@pytest.mark.parametrize(("wanted", "there"), [(1, 1), (7, 7), (50, 1000), (999, 1000), (3, 10)])
def test_rows_that_are_read_in_order_are_taken_evenly(wanted: int, there: int) -> None:
    read: Any = range(there)
    taken: list[Any] = list(_evenly(read, wanted, there))
    assert len(taken) == wanted
    gaps = {after - before for before, after in pairwise(taken)}
    assert gaps <= {there // wanted, there // wanted + 1}
