"""Owns when the servers of a comparison acknowledge a write: before it is on disk, or not before.

A database that answers before its log is written is another thing than one that doesn't, and faster.
"""

from collections.abc import Iterable

from brimline.analysis.acknowledgement import concern_of, promised
from brimline.plan.targets import SqlTarget
from brimline.record.model import RunRecord
from brimline.servers.database import Durability, durability_of


def record_durability(record: RunRecord) -> Durability:
    """When the server of a run acknowledges writes, as far as its settings and the write concern tell.

    A run that only reads says the same as one that writes: a comparison may have both.
    """
    server = record.environment.get("server") or {}
    target = record.plan.target
    if isinstance(target, SqlTarget):
        return durability_of(target.kind, server.get("settings") or {})
    if target.kind not in ("wire", "runner"):
        return Durability(on_disk=None, words="")
    concern = concern_of(record) or {}
    words = ", ".join(
        f"{name}={str(value).lower()}"
        for name, value in (("w", concern.get("w", 1)), ("j", concern.get("journal", concern.get("j"))))
        if value is not None
    )
    return Durability(on_disk=promised(record).journal, words=words)


def is_equal(durabilities: Iterable[Durability]) -> bool:
    """Whether all of them are known to be the same."""
    kinds = {each.on_disk for each in durabilities}
    return len(kinds) <= 1 and None not in kinds
