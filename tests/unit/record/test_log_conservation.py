"""A log of operations has a row for each operation that finished."""

from typing import cast

import pytest

from brimline.record.conservation import log_imbalances
from brimline.record.model import LogTotals, Summary

SUMMARY = cast(
    "Summary",
    {
        "ok": 7,
        "miss": 2,
        "failed": 1,
        "operations": {
            "read": {"sent": 6, "ok": 3, "miss": 2, "failed": 1, "unfinished": 0},
            "update": {"sent": 5, "ok": 4, "miss": 0, "failed": 0, "unfinished": 1},
        },
    },
)
ROWS = {"read": {"ok": 3, "miss": 2, "failed": 1}, "update": {"ok": 4, "miss": 0, "failed": 0}}


def problems(rows: dict[str, dict[str, int]], *, written: int = 10, lost: int = 0) -> list[str]:
    return log_imbalances(SUMMARY, LogTotals(written=written, lost=lost, error=None), rows)


def test_a_whole_log_has_no_problem() -> None:
    assert problems(ROWS) == []


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (
            {**ROWS, "update": {"ok": 3, "miss": 0, "failed": 1}},
            "update: the log of operations holds 3 ok, the totals 4",
        ),
        ({**ROWS, "scan": {"ok": 1, "miss": 0, "failed": 0}}, "scan: the log of operations holds 1 ok, the totals 0"),
        ({"read": ROWS["read"]}, "the log of operations holds 6 rows, and 10 were written"),
    ],
)
def test_rows_that_are_missing_or_too_many_are_named(rows: dict[str, dict[str, int]], problem: str) -> None:
    assert problem in problems(rows)


def test_what_is_lost_is_a_balance_of_its_own() -> None:
    short = {**ROWS, "update": {"ok": 2, "miss": 0, "failed": 0}}
    assert problems(short, written=8, lost=2) == []
    assert problems(short, written=8, lost=1) == ["10 operations finished, and the log of operations has 8 and lost 1"]
