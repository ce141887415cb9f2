"""Owns the table of what each shard and member had and did, and the same for machines."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from brimline.analysis.distribution import ServerPart, Shard, distribution, shard_name
from brimline.report.view import Cell, Column, Section, Table
from brimline.units import UNKNOWN_TEXT, format_bytes, format_count, format_duration, format_percentage
from brimline.wording import Verbatim

TITLE = "Distribution over the servers"
_CAPTION = (
    "Data as of the end, work from the beginning to the end. Operations are those that clients sent to each server: "
    "what a member replicates is in its CPU time alone."
)


def distribution_section(server_facts: Mapping[str, Any]) -> Section:
    """One table, a row a server; empty where a single server has all the data."""
    shards = distribution(server_facts)
    tables = [distribution_table([("", shards)])] if shards else []
    return Section(id="distribution", title=TITLE, short="Servers", blocks=tables)


def distribution_table(steps: Sequence[tuple[str, Sequence[Shard]]]) -> Table:
    """A row for each server in each step, which is named where there are several."""
    wholes = [_Whole(name, shards) for name, shards in steps]
    has_steps, is_sharded = len(steps) > 1, any(whole.is_sharded for whole in wholes)
    columns = [
        *([Column(label="Step", numeric=False, leading=True)] if has_steps else []),
        *([Column(label="Shard", numeric=False, leading=not has_steps)] if is_sharded else []),
        Column(label="Server", numeric=False, leading=not has_steps and not is_sharded),
        Column(label="Role", numeric=False),
        Column(label="Documents"),
        *([Column(label="Share of documents")] if is_sharded else []),
        Column(label="Data"),
        Column(label="Storage"),
        Column(label="Indexes"),
        Column(label="Operations"),
        Column(label="Share of operations"),
        Column(label="CPU"),
        Column(label="CPU per operation"),
    ]
    rows = [
        [*([Cell(text=whole.name)] if has_steps else []), *_row(shard, part, whole, is_sharded=is_sharded)]
        for whole in wholes
        for shard in whole.shards
        for part in shard.members
    ]
    return Table(columns=columns, rows=rows, caption=_CAPTION)


def distribution_document(server_facts: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Each server for machines; null where a single one has all the data."""
    shards = distribution(server_facts)
    return [asdict(part) for shard in shards for part in shard.members] or None


class _Whole:
    """One step with all its servers."""

    def __init__(self, name: str, shards: Sequence[Shard]) -> None:
        self.name, self.shards = name, shards
        self.is_sharded = len(shards) > 1
        self.documents = sum(shard.documents or 0 for shard in shards)
        self.operations = sum(part.operation_count or 0 for shard in shards for part in shard.members)


def _row(shard: Shard, part: ServerPart, whole: _Whole, *, is_sharded: bool) -> list[Cell]:
    count, cpu_ns = part.operation_count, part.cpu_ns
    documents = format_count(part.documents) if part.documents is not None else UNKNOWN_TEXT
    share = part.documents / whole.documents if part.documents is not None and whole.documents else None
    return [
        *([Cell(text=shard_name(shard))] if is_sharded else []),
        Cell(text=Verbatim(part.address)),
        Cell(text=part.role or "not answering", tone="" if part.role else "warn"),
        Cell(text=documents),
        *([_share(share)] if is_sharded else []),
        *(_bytes(size) for size in (part.data_bytes, part.storage_bytes, part.index_bytes)),
        Cell(text=UNKNOWN_TEXT if count is None else format_count(count)),
        _share(count / whole.operations if count is not None and whole.operations else None),
        _time(cpu_ns),
        _time(cpu_ns / count if cpu_ns is not None and count else None),
    ]


def _share(share: float | None) -> Cell:
    return Cell(text=UNKNOWN_TEXT if share is None else format_percentage(share))


def _bytes(size: int | None) -> Cell:
    return Cell(text=UNKNOWN_TEXT if size is None else format_bytes(size))


def _time(time_ns: float | None) -> Cell:
    return Cell(text=UNKNOWN_TEXT if time_ns is None else format_duration(time_ns))
