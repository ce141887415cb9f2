"""Reading and writing quantities: known answers, refusals, and exact inverses."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimline import units

S = units.NS_PER_S


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10ms", 10_000_000),
        ("2s", 2 * S),
        ("2.5s", 2_500_000_000),
        ("1h30m", 5400 * S),
        ("1d", 86_400 * S),
        ("5 min", 300 * S),
        ("1m 30s", 90 * S),
        ("250us", 250_000),
        ("250µs", 250_000),  # U+00B5
        ("250μs", 250_000),  # U+03BC
        ("7ns", 7),
        ("0", 0),
        ("0s", 0),
        ("0.1s", 100_000_000),
        ("1_000ms", S),
    ],
)
def test_parse_duration(text: str, expected: int) -> None:
    assert units.parse_duration(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10", '"10" has no unit; write "10s" or "10ms"'),
        ("", '"" is no duration'),
        ("s", '"s" is no duration'),
        ("10M", 'unknown unit "M"; did you mean "m"'),
        ("10MS", 'unknown unit "MS"; did you mean "ms"'),
        ("10 parsecs", 'unknown unit "parsecs"; units are'),
        ("1s1m", "from the largest to the smallest"),
        ("1s1s", "each once"),
        ("0.5ns", "not a whole number of nanoseconds"),
        ("-5s", "is no duration"),
        ("1e400s" + "0" * 80, "too long"),
        ("10s!", "is no duration"),
    ],
)
def test_parse_duration_refuses(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        units.parse_duration(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5000/s", 5000.0),
        ("20k/s", 20_000.0),
        ("20 kops/s", 20_000.0),
        ("5000 ops/s", 5000.0),
        ("5000", 5000.0),
        ("300/min", 5.0),
        ("36/h", 0.01),
        ("1.5M/s", 1_500_000.0),
        ("1_000/s", 1000.0),
    ],
)
def test_parse_rate(text: str, expected: float) -> None:
    assert units.parse_rate(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5,000/s", "grouped by _"),
        ("fast", "is no rate"),
        ("5000/ms", "per s, min or h"),
        ("-1/s", "is no rate"),
        ("", "is no rate"),
        ("nan/s", "is no rate"),
    ],
)
def test_parse_rate_refuses(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        units.parse_rate(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("1000", 1000),
        ("1_000_000", 10**6),
        ("100k", 10**5),
        ("100K", 10**5),
        ("2.5M", 2_500_000),
        ("1G", 10**9),
        ("1e6", 10**6),
    ],
)
def test_parse_count(text: str, expected: int) -> None:
    assert units.parse_count(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("100m", "prefixes are k"),
        ("1.5", "not a whole number"),
        ("1,000", "grouped by _"),
        ("0100", "starts with 0"),
        ("1__0", "is no count"),
        ("yes", "is no count"),
        ("", "is no count"),
    ],
)
def test_parse_count_refuses(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        units.parse_count(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("100", 100),
        ("100B", 100),
        ("1kB", 1000),
        ("1KB", 1000),
        ("1KiB", 1024),
        ("16MiB", 2**24),
        ("1.5GB", 1_500_000_000),
    ],
)
def test_parse_bytes(text: str, expected: int) -> None:
    assert units.parse_bytes(text) == expected


@pytest.mark.parametrize("text", ["1k", "1mb", "1.0001kB2", "0.5B", ""])
def test_parse_bytes_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"size|whole number of bytes"):
        units.parse_bytes(text)


@pytest.mark.parametrize(("text", "expected"), [("0.1%", 0.001), ("100%", 1.0), ("0%", 0.0), ("12.5 %", 0.125)])
def test_parse_percentage(text: str, expected: float) -> None:
    assert units.parse_percentage(text) == expected


@pytest.mark.parametrize("text", ["0.1", "%", "-1%", "nan%"])
def test_parse_percentage_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r'is no percentage; write it like "0\.1%"'):
        units.parse_percentage(text)


@pytest.mark.parametrize(
    ("write", "value", "expected"),
    [
        (units.duration_text, 0, "0s"),
        (units.duration_text, 10_000_000, "10ms"),
        (units.duration_text, 1_500_000_000, "1.5s"),
        (units.duration_text, 90 * S, "1m30s"),
        (units.duration_text, 5400 * S, "1h30m"),
        (units.duration_text, 90_061 * S + 1, "1d1h1m1.000000001s"),
        (units.rate_text, 5000.0, "5000/s"),
        (units.rate_text, 0.1, "0.1/s"),
        (units.count_text, 100_000, "100k"),
        (units.count_text, 1234, "1234"),
        (units.bytes_text, 1024, "1KiB"),
        (units.bytes_text, 1000, "1kB"),
        (units.bytes_text, 1234, "1234B"),
        (units.percentage_text, 0.001, "0.1%"),
        (units.percentage_text, 1.0, "100%"),
    ],
)
def test_exact_texts(write: Callable[[float], str], value: float, expected: str) -> None:
    assert write(value) == expected


@given(st.integers(0, 10**20))
def test_duration_text_is_exact(duration_ns: int) -> None:
    assert units.parse_duration(units.duration_text(duration_ns)) == duration_ns


@given(st.floats(1e-250, 1e250))
def test_rate_text_is_exact(rate: float) -> None:
    assert units.parse_rate(units.rate_text(rate)) == rate


@given(st.integers(0, 10**30))
def test_count_and_bytes_texts_are_exact(count: int) -> None:
    assert units.parse_count(units.count_text(count)) == count
    assert units.parse_bytes(units.bytes_text(count)) == count


@given(st.floats(0, 1))
def test_percentage_text_is_exact(share: float) -> None:
    assert units.parse_percentage(units.percentage_text(share)) == share


@pytest.mark.parametrize("write", [units.duration_text, units.rate_text, units.count_text, units.percentage_text])
@pytest.mark.parametrize("value", [-1, math.nan, math.inf])
def test_exact_texts_refuse_what_has_none(write: Callable[[float], str], value: float) -> None:
    with pytest.raises(ValueError, match="can't be written"):
        write(value)


@given(st.text(max_size=80))
def test_readers_raise_nothing_but_value_errors(text: str) -> None:
    for parse in (
        units.parse_duration,
        units.parse_rate,
        units.parse_count,
        units.parse_bytes,
        units.parse_percentage,
    ):
        try:
            parse(text)
        except ValueError as error:
            assert str(error)


@pytest.mark.parametrize(
    ("duration_ns", "expected"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1000, "1.00 µs"),
        (9_400_000, "9.40 ms"),
        (999_499, "999 µs"),
        (999_500, "1.00 ms"),  # half to even: 999.5 rounds to 1000, which is the next unit
        (998_500, "998 µs"),
        (999_999_999, "1.00 s"),
        (59_996_000_000, "60.0 s"),
        (125 * S, "2 min 5 s"),
        (5400 * S, "1 h 30 min"),
        (7200 * S, "2 h"),
        (3_599_600_000_000, "1 h"),
        (-9_400_000, "-9.40 ms"),
        (math.nan, "—"),
    ],
)
def test_format_duration(duration_ns: float, expected: str) -> None:
    assert units.format_duration(duration_ns) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (units.format_rate(9432.1), "9 430 ops/s"),
        (units.format_rate(0.25), "0.250 ops/s"),
        (units.format_rate(999.96), "1 000 ops/s"),
        (units.format_rate(9432.1, unit="docs/s", digits=4), "9 432 docs/s"),
        (units.format_rate(math.inf), "—"),
        (units.format_number(-1234567), "-1 230 000"),
        (units.format_number(9.996), "10.0"),
        (units.format_count(1_000_000), "1 000 000"),
        (units.format_bytes(999), "999 B"),
        (units.format_bytes(999_600), "1.00 MB"),
        (units.format_bytes(1_048_576), "1.05 MB"),
        (units.format_percentage(0.001), "0.1 %"),
        (units.format_percentage(0.97314), "97.3 %"),
        (units.format_percentage(0), "0 %"),
        (units.format_percentage(99.9), "9 990 %"),
        (units.format_percentage(-3_450_000), "-345 000 000 %"),
    ],
)
def test_format_for_people(text: str, expected: str) -> None:
    assert text == expected


@given(st.floats(1e-9, 1e15), st.integers(1, 6))
def test_rounding_stays_within_half_a_step(value: float, digits: int) -> None:
    rounded = float(units.round_significant(value, digits))
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    assert abs(rounded - value) <= 0.5000001 * step * 10 ** (value < 10 ** math.floor(math.log10(value)))


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (units.parse_count, "1万", 10_000),
        (units.parse_count, "1.5 万", 15_000),
        (units.parse_count, "2亿", 200_000_000),
        (units.parse_rate, "1.65 万次/秒", 16_500.0),
        (units.parse_rate, "9430 次/秒", 9_430.0),
    ],
)
def test_what_chinese_reports_print_is_read(read: Callable[[str], float], text: str, value: float) -> None:
    assert read(text) == value
