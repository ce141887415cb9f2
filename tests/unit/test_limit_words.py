"""Objectives as the command line says them."""

import pytest

from brimline.api.options import ObjectiveOptions
from brimline.errors import UsageError


def test_each_limit_finds_its_place() -> None:
    said = ObjectiveOptions(p99="10ms", slo=["p95=5ms", "read.p99=20ms", "read.error_rate = 1%"]).overrides
    assert {path: value for path, value in said.items() if value is not None} == {
        "slo.response_p99": "10ms",
        "slo.response_p95": "5ms",
        "slo.read.response_p99": "20ms",
        "slo.read.error_rate": "1%",
    }


@pytest.mark.parametrize(
    ("limits", "p99", "error_rate"),
    [
        (["p99=5ms", "p99=6ms"], None, None),
        (["read.p99=5ms", "read.p99 = 6ms"], None, None),
        (["p99=6ms"], "5ms", None),
        (["error_rate=1%"], None, "2%"),
    ],
)
def test_a_limit_that_is_given_twice_is_an_error(limits: list[str], p99: str | None, error_rate: str | None) -> None:
    with pytest.raises(UsageError, match="the same limit is given twice"):
        _ = ObjectiveOptions(p99=p99, error_rate=error_rate, slo=limits).overrides
