"""The section that shows the nodes of what several shared: a row each, whatever they did."""

from collections.abc import Sequence

from brimline.report.view import Cell, Column, Section, Table

_SHOWN = 100


def node_section(labels: Sequence[str], rows: Sequence[list[Cell]], caption: str) -> Section:
    """`rows` begin with `named`, and `labels` are of what comes behind it. No blocks of what one client did alone."""
    columns = [Column(label="Node", numeric=False, leading=True), *(Column(label=label) for label in labels)]
    table = Table(columns=columns, rows=rows[:_SHOWN], caption=caption)
    return Section(id="nodes", title="Nodes", short="Nodes", blocks=[table] if rows else [])


def named(node: int, host: str, lost: str | None) -> Cell:
    """Which node it is."""
    return Cell(text=f"{node} {host}", tone="fail" if lost is not None else "")
