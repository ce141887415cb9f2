"""JMeter's table is the same for brimline's own runs and for imported ones."""

import pytest

from brimline.report.jmeter_table import columns, error_percent, kilobytes_per_s, milliseconds, per_second


@pytest.mark.parametrize(
    ("value_ns", "text"),
    [(0, "0.00"), (40_000, "0.040"), (99_999, "0.100"), (100_000, "0.10"), (1_234_567_890, "1 234.57"), (None, "—")],
)
def test_times_have_two_decimals_and_more_where_two_say_nothing(value_ns: int | None, text: str) -> None:
    assert milliseconds(value_ns) == text


def test_rates_and_shares() -> None:
    assert (per_second(10_432.456), kilobytes_per_s(1_536), error_percent(0.0367)) == ("10 432.46", "1.50", "3.67")
    assert (per_second(None), kilobytes_per_s(None)) == ("—", "—")


def test_the_columns_say_which_clock_and_what_is_counted() -> None:
    table = columns(clock="service", rate_unit="commands/s")
    assert [each.label for each in table][4:] == (
        ["Average", "Min", "Max", "Median", "90th", "95th", "99th", "Throughput", "Received", "Sent"]
    )
    assert {each.group for each in table} == {"", "Executions", "Service time, ms", "commands/s", "Network, KB/s"}
