"""Owns what is shown of the parts of operations: the commands of a read-modify-write or a transaction, of a request."""

from collections.abc import Iterable

from brimline.analysis.latency import Latency, part_latency, request_part_latency
from brimline.analysis.operation_names import shown
from brimline.operations import KINDS
from brimline.record.model import REQUEST_CLOCKS, RunRecord
from brimline.report.jmeter_table import time_cells, time_columns
from brimline.report.view import Cell, Column, Fact, Table
from brimline.units import format_count, format_duration, format_percentage
from brimline.wording import joined, message

SLOW_REPLY_NS_MIN = 20_000_000
"""From the first byte of a reply to its last, in the mean: half of what a held back acknowledgement takes."""
_OF_ITS_TIME = tuple(part for part in REQUEST_CLOCKS if part != "redirect_left")
"""Those that add up to the time of requests; that one is two of the others together."""
_REQUEST_PARTS = {
    "connect": "{operation}: to connect",
    "redirect": "{operation}: redirects followed",
    "first_byte": "{operation}: to the first byte",
    "transfer": "{operation}: from the first byte to the last",
    "redirect_left": "{operation}: redirects not followed",
}


def part_times(record: RunRecord, operation: str) -> dict[str, Latency]:
    """Service times of the parts of `operation` that went well in the measured window, by part, where there are any."""
    found = {part: part_latency(record, operation, part) for part in _parts(operation)}
    return {part: times for part, times in found.items() if times is not None}


def request_part_times(record: RunRecord, operation: str) -> dict[str, Latency]:
    """Times of the parts of an operation's requests, by the clock's name, where there are any."""
    found = {part: request_part_latency(record, operation, part) for part in REQUEST_CLOCKS}
    return {part: times for part, times in found.items() if times is not None}


def request_parts_table(record: RunRecord) -> Table | None:
    """Where the time of requests went; None of a run that has none."""
    rows = [
        _cells(message(_REQUEST_PARTS[part], operation=shown(operation, record.plan)), times)
        for operation in dict.fromkeys(row["operation"] for row in record.operations)
        for part, times in request_part_times(record, operation).items()
    ]
    if not rows:
        return None
    return _table(
        rows,
        "Of every request: until its connection was there, where it waited for one; each redirect that was followed; "
        "until the first byte of the reply; from there to its last. A redirect that was not followed is a reply as "
        "any other.",
    )


def request_facts(record: RunRecord) -> list[Fact]:
    """Operations most of whose time lies within the reply, for the first screen: no connection more shortens that.

    A service that writes head and body apart waits between them for an acknowledgement, which its client's system
    holds back for 40 ms (Nagle's algorithm against delayed acknowledgements, RFC 896 and 1122).
    """
    told = []
    for operation in dict.fromkeys(row["operation"] for row in record.operations):
        # Means alone, and no intervals: those are resampled, which takes far longer.
        times = {
            part: record.breakdown[operation, part] for part in _OF_ITS_TIME if (operation, part) in record.breakdown
        }
        spent_ns = {part: each.mean() * each.count() for part, each in times.items()}
        mean_ns = times["transfer"].mean() if "transfer" in times else 0.0
        share = spent_ns["transfer"] / sum(spent_ns.values()) if mean_ns else 0.0
        if mean_ns < SLOW_REPLY_NS_MIN or share <= 0.5:
            continue
        told.append(
            message(
                "{operation}: {share} of the time of its requests lies between the first byte of a reply and its last, "
                "{mean} of each in the mean",
                operation=shown(operation, record.plan),
                share=format_percentage(share, digits=2),
                mean=format_duration(mean_ns),
            )
        )
    return [Fact(label="Within replies", value=joined("; ", told), tone="warn")] if told else []


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
    return _table(
        rows,
        "Commands within an operation that went well, each from its sending to its answer. "
        "The times above are of whole operations, these included.",
    )


def _table(rows: list[list[Cell]], caption: str) -> Table:
    columns = [Column(label="Part", numeric=False, leading=True), Column(label="Samples"), *time_columns("service")]
    return Table(columns=columns, rows=rows, caption=caption)


def _cells(label: str, times: Latency) -> list[Cell]:
    return [Cell(text=label), Cell(text=format_count(times.count)), *time_cells(times)]
