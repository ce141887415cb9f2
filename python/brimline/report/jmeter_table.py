"""Owns JMeter's statistics table: its columns, and how its figures are written."""

from brimline.analysis.latency import Latency
from brimline.analysis.quantile_text import most_text, quantile_text
from brimline.report.view import Cell, Column
from brimline.units import UNKNOWN_TEXT, Quantity

KB_BYTES = 1024
"""Bytes in a KB of JMeter's: its reports divide by 1 024."""


def columns(*, clock: str, rate_unit: str = "ops/s") -> list[Column]:
    """The columns in JMeter's order. `clock`: response or service, what the times are."""
    return [
        Column(label="Label", numeric=False, leading=True),
        Column(label="Samples", group="Executions"),
        Column(label="Fail", group="Executions"),
        Column(label="Error %", group="Executions"),
        *time_columns(clock),
        Column(label="Throughput", group=rate_unit, unit=rate_unit),
        Column(label="Received", group="Network, KB/s", unit="KB/s", optional=True),
        Column(label="Sent", group="Network, KB/s", unit="KB/s", optional=True),
    ]


def time_columns(clock: str) -> list[Column]:
    """Those of the times."""
    group = f"{clock.capitalize()} time, ms"
    return [
        Column(label=label, group=group, unit="ms", optional=label in ("Min", "Max", "90th"))
        for label in ("Average", "Min", "Max", "Median", "90th", "95th", "99th")
    ]


def time_cells(latency: Latency | None) -> list[Cell]:
    """The cells of `time_columns`."""
    if latency is None:
        return [Cell(text=UNKNOWN_TEXT) for _ in time_columns("")]
    return [
        Cell(text=milliseconds(latency.mean_ns)),
        Cell(text=milliseconds(latency.min_ns)),
        Cell(text=most_text(latency, format_ns=milliseconds)),
        *(Cell(text=quantile_text(latency.quantiles[q], format_ns=milliseconds)) for q in (0.5, 0.9, 0.95, 0.99)),
    ]


def milliseconds(value_ns: float | None) -> str:
    """Two decimals as in JMeter, more below 0.1 ms, where two would be no figure at all; a dash where not known."""
    if value_ns is None:
        return UNKNOWN_TEXT
    value_ms = value_ns / 1e6
    return f"{value_ms:.3f}" if 0 < value_ms < 0.1 else _two_decimals(value_ms)


def per_second(value: float | None) -> str:
    """A rate with two decimals; a dash where it isn't known."""
    if value is None:
        return UNKNOWN_TEXT
    return Quantity(_two_decimals(value), kind="number", value=round(value, 2), digits=max(len(f"{value:.2f}") - 1, 1))


def kilobytes_per_s(bytes_per_s: float | None) -> str:
    """Bytes per second in JMeter's unit; a dash where they aren't known."""
    return per_second(None if bytes_per_s is None else bytes_per_s / KB_BYTES)


def error_percent(share: float) -> str:
    """A share in per cent, with two decimals and without its sign: the column has it."""
    return f"{share * 100:.2f}"


def _two_decimals(value: float) -> str:
    return f"{value:,.2f}".replace(",", " ")
