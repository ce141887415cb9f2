"""Owns what is shown of the parts of operations: the two commands of a read-modify-write, a transaction's commit."""

from collections.abc import Iterable

from brimline.analysis.latency import Latency, part_latency
from brimline.operations import KINDS
from brimline.record.model import RunRecord
from brimline.report.jmeter_table import time_cells, time_columns
from brimline.report.view import Cell, Column, Table
from brimline.units import format_count


def part_times(record: RunRecord, operation: str) -> dict[str, Latency]:
    """Service times of the parts of `operation` that went well in the measured window, by part, where there are any."""
    found = {part: part_latency(record, operation, part) for part in _parts(operation)}
    return {part: times for part, times in found.items() if times is not None}


def _parts(operation: str) -> Iterable[str]:
    return KINDS[operation].parts if operation in KINDS else ()


def parts_table(record: RunRecord) -> Table | None:
    """The times of all parts, in the columns of the operations; None where no operation has any."""
    rows = [
        _cells(label, times[part])
        for operation, kind in KINDS.items()
        if (times := part_times(record, operation))
        for part, label in kind.parts.items()
        if part in times
    ]
    if not rows:
        return None
    return Table(
        columns=[
            Column(label="Part", numeric=False, leading=True),
            Column(label="Samples"),
            *time_columns("service"),
        ],
        rows=rows,
        caption="Commands within an operation that went well, each from its sending to its answer. "
        "The times above are of whole operations, these included.",
    )


def _cells(label: str, times: Latency) -> list[Cell]:
    return [Cell(text=label), Cell(text=format_count(times.count)), *time_cells(times)]
