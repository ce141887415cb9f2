"""Owns reading one column of a monitor row as a number."""

from brimline.record.model import ServerRow


def number(row: ServerRow, column: str) -> float | None:
    """The column's value; None where the monitor saw none, or saw something that is no number."""
    value = row.get(column)
    return float(value) if isinstance(value, int | float) else None
