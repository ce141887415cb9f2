"""Java's ways with numbers and hash maps, with answers that Java gave."""

import math

import pytest

from brimline.compat.ycsb.java import double_text, hash_map_order, ratio, to_long, two_decimals
from tests.support.ycsb_golden import doubles


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (100.0, "100.0"),
        (34370.88730851549, "34370.88730851549"),
        (0.001, "0.001"),
        (0.0012, "0.0012"),
        (0.25, "0.25"),
        (9.280139573299182e-4, "9.280139573299182E-4"),
        (0.0009999999, "9.999999E-4"),
        (9999999.0, "9999999.0"),
        (9999999.5, "9999999.5"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (5.246698975e7, "5.246698975E7"),
        (1e21, "1.0E21"),
        (-1.5, "-1.5"),
        (-2.5e-7, "-2.5E-7"),
        (5e-324, "4.9E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
    ],
)
def test_double_to_string(value: float, text: str) -> None:
    assert double_text(value) == text


def test_every_recorded_double_is_written_as_java_wrote_it() -> None:
    recorded = doubles()
    assert len(recorded) > 150
    assert any("E" in text for text in recorded)
    assert [double_text(float(text)) for text in recorded] == recorded


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (3.0, "3"),
        (61.5, "61.5"),
        (2409.5, "2409.5"),
        (0.058091286307053944, "0.06"),
        (0.125, "0.12"),
        (0.375, "0.38"),
        (0.001, "0"),
        (1297.6588628762542, "1297.66"),
        (1e9, "1000000000"),
        (math.inf, "∞"),
        (math.nan, "NaN"),
    ],
)
def test_decimal_format(value: float, text: str) -> None:
    assert two_decimals(value) == text


def test_division_and_cast() -> None:
    assert ratio(1.0, 0) == math.inf and ratio(-1.0, 0) == -math.inf and math.isnan(ratio(0.0, 0))
    assert to_long(math.nan) == 0 and to_long(math.inf) == 2**63 - 1 and to_long(2.9) == 2 and to_long(-2.9) == -2


@pytest.mark.parametrize(
    "order",
    [
        ["READ", "CLEANUP", "UPDATE"],
        ["READ", "READ-MODIFY-WRITE", "CLEANUP", "UPDATE"],
        ["CLEANUP", "SCAN-LATENCY-PER-RECORD", "INSERT", "SCAN", "INSERT-FAILED"],
        ["READ", "CLEANUP", "UPDATE", "VERIFY"],
        ["UPDATE-FAILED", "CLEANUP", "UPDATE"],
    ],
)
def test_hash_maps_are_walked_through_as_recorded(order: list[str]) -> None:
    assert hash_map_order(sorted(order)) == order


def test_a_map_that_grows_is_spread_anew() -> None:
    names = ["READ", "UPDATE", "INSERT", "SCAN", "CLEANUP", "DELETE"]
    many = [*names, *(f"{name}-FAILED" for name in names)]
    assert len(many) == 12
    assert sorted(hash_map_order(many)) == sorted(many)
