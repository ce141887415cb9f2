"""Owns the figures of a load, commands and documents apart: one insert command carries a batch of documents.

Latencies are of commands. A rate is always that of one of the two, and its name says of which.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brimline.analysis.durability import record_durability
from brimline.plan.model import LoadWork, MixWork, RunnerTarget, WireTarget, WriteConcern, records_to_load
from brimline.plan.targets import SqlTarget, write_concern_text
from brimline.record.model import InsertTotals, RunRecord, finished_count
from brimline.report.data_size import size_document
from brimline.wording import message


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFigures:
    """A load over its whole length, drain included; it has no warm-up.

    `inserts` is None when the record was not sealed: its totals are missing then. `present_before` documents were there
    when a load went on. `write_concern` is what was sent, None: it was left to the server, whose
    `default_write_concern` is None when it isn't known. `durability`: the settings of an SQL database instead.
    """

    documents_to_load: int
    present_before: int
    documents_inserted: int
    commands_planned: int | None
    commands_answered: int
    elapsed_s: float
    batch_size: int
    ordered: bool
    connections: int
    in_flight_max: int | None
    inserts: InsertTotals | None
    write_concern: WriteConcern | None
    default_write_concern: Mapping[str, Any] | None
    durability: str

    @property
    def documents_per_s(self) -> float:
        """Documents inserted per second."""
        return self.documents_inserted / self.elapsed_s if self.elapsed_s else 0.0

    @property
    def commands_per_s(self) -> float:
        """Insert commands answered per second, whether or not some of their documents were refused."""
        return self.commands_answered / self.elapsed_s if self.elapsed_s else 0.0

    @property
    def write_concern_text(self) -> str:
        """What was sent, in words."""
        if self.write_concern is not None:
            return message("{concern}, sent with every command", concern=write_concern_text(self.write_concern))
        if self.durability:
            return message("left to the server, whose settings are {words}", words=self.durability)
        if self.default_write_concern is None:
            return "left to the server; its default isn't known here"
        words = ", ".join(f"{key}: {value}" for key, value in self.default_write_concern.items())
        return message("left to the server, whose default is {words}", words=words)


def is_load(record: RunRecord) -> bool:
    """Whether the operations are insert commands of a load."""
    return record.plan.work.kind == "load"


def carries_documents(record: RunRecord, operation: str) -> bool:
    """Whether an operation of this kind is a command with a batch of documents: of a load, or a run's inserts."""
    work = record.plan.work
    return is_load(record) or (operation == "insert" and isinstance(work, MixWork) and work.insert_batch_size > 1)


def load_figures(record: RunRecord) -> LoadFigures | None:
    """The figures of `record`; None when it is no load."""
    work, target = record.plan.work, record.plan.target
    if not isinstance(work, LoadWork):
        return None
    rows = record.operations
    to_load = records_to_load(work, record.plan.data)
    server = record.environment.get("server") or {}
    return LoadFigures(
        documents_to_load=to_load,
        present_before=record.plan.data.record_count - to_load,
        documents_inserted=sum(row["documents"] for row in rows),
        commands_planned=record.plan.operation_count,
        commands_answered=finished_count(rows),
        elapsed_s=max((row["end_ns"] for row in rows), default=0) / 1e9,
        batch_size=work.batch_size,
        ordered=work.ordered,
        connections=record.plan.connections,
        in_flight_max=record.plan.in_flight_max,
        inserts=record.summary.get("inserts") if record.summary else None,
        write_concern=target.write_concern if isinstance(target, WireTarget | RunnerTarget) else None,
        default_write_concern=server.get("default_write_concern"),
        durability=record_durability(record).words if isinstance(target, SqlTarget) else "",
    )


def load_document(record: RunRecord) -> dict[str, Any] | None:
    """The figures for machines; null when the run is no load. `documents` is null when the record was not sealed."""
    figures = load_figures(record)
    if figures is None:
        return None
    sent = figures.write_concern
    return {
        "documents_per_s": figures.documents_per_s,
        "commands_per_s": figures.commands_per_s,
        "elapsed_s": figures.elapsed_s,
        "batch_size_documents": figures.batch_size,
        "ordered": figures.ordered,
        "in_flight_max_commands": figures.in_flight_max or figures.connections,
        "write_concern": {
            "sent": None if sent is None else {"w": sent.w, "j": sent.journal},
            "server_default": figures.default_write_concern,
        },
        "documents_to_load": figures.documents_to_load,
        "documents_present_before": figures.present_before,
        "documents": figures.inserts,
        "document_errors": record.summary.get("document_errors", []) if record.summary else [],
        "data_size": size_document(record.server_facts),
    }
