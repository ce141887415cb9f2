"""Owns reading one column of a monitor row as a number."""

from brimline.record.model import ServerRow

_NUMBERS = (int, float)  # made once: this is asked half a million times for a report


def number(row: ServerRow, column: str) -> float | None:
    """The column's value; None where the monitor saw none, or saw something that is no number."""
    value = row.get(column)
    return float(value) if isinstance(value, _NUMBERS) else None
