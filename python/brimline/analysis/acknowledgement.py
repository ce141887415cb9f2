"""Owns what the answers to a run's writes waited for, as far as write concern and server tell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brimline.operations import KINDS
from brimline.plan.model import LoadWork, OperationsWork, RunnerTarget, WireTarget, WorkPlan
from brimline.plan.targets import SqlTarget
from brimline.record.model import RunRecord
from brimline.servers.database import awaits_others, durability_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """Whether answers to writes waited for the journal, or for other members; None: that isn't known."""

    journal: bool | None = None
    members: bool | None = None


def acknowledgement(record: RunRecord) -> Acknowledgement:
    """What the write concern, else the server's default, made writes wait for; nothing where nothing was written.

    "majority" includes the journal: `writeConcernMajorityJournalDefault` is true unless a set was configured otherwise,
    and a server of its own waits for its journal likewise.
    https://www.mongodb.com/docs/manual/reference/write-concern/#acknowledgment-behavior
    """
    return promised(record) if _writes(record.plan.work) else Acknowledgement(journal=False, members=False)


def promised(record: RunRecord) -> Acknowledgement:
    """The same of any write, whether or not the run has one."""
    server = _mapping(record.environment.get("server"))
    if isinstance(record.plan.target, SqlTarget):
        kind, settings = record.plan.target.kind, _mapping(server.get("settings"))
        return Acknowledgement(journal=durability_of(kind, settings).on_disk, members=awaits_others(kind, settings))
    concern = concern_of(record)
    if concern is None:
        return Acknowledgement()
    w = concern.get("w", 1)
    journal = concern.get("j", concern.get("journal"))
    stands_alone = server.get("kind") == "standalone"
    return Acknowledgement(
        journal=w == "majority" if journal is None else bool(journal),
        members=w not in (0, 1) and not stands_alone,
    )


def concern_of(record: RunRecord) -> Mapping[str, Any] | None:
    """The write concern of a run, else the server's default; None where that isn't known."""
    server = _mapping(record.environment.get("server"))
    target = record.plan.target
    if isinstance(target, WireTarget | RunnerTarget) and target.write_concern is not None:
        return target.write_concern.model_dump()
    default = server.get("default_write_concern")
    return default if isinstance(default, Mapping) else None


def _writes(work: WorkPlan) -> bool:
    if isinstance(work, LoadWork):
        return True
    if isinstance(work, OperationsWork):
        return any(step.access == "write" for operation in work.operations for step in operation.steps)
    only_reads = {"transaction"} if work.transaction is not None and not work.transaction.updates else set()
    return any(share and KINDS[name].writes and name not in only_reads for name, share in work.proportions.items())


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
