"""Owns saying which columns never had a value, and why. Pure.

Reasons are stored with a record as plain text; `reason_text` makes them sentences again that can be translated.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from brimline.monitor.replication import read_replication
from brimline.monitor.row import COLUMNS, SQL_ALONE
from brimline.monitor.server_status import read_status
from brimline.servers.deployment import Deployment
from brimline.wording import message

NOT_ALLOWED = "the user may not run {command}: it is part of the role clusterMonitor"
NOT_UNDERSTOOD = "the server does not know {command}"
NOT_ANSWERED = "the server did not answer"
NOT_IN_ANSWER = "not in this server's answer: not in its version, or not of its kind"
NO_SET = "the server is not a member of a replica set"
NOT_HERE = "the server does not run on this machine, as far as can be seen from it"
NO_DISK = "the disk that holds the server's data can't be told"
NO_THREAD = "the thread that serves the monitor can't be told from the others"
NOT_SHOWN = "this machine does not show it"

_COMMANDS = ("serverStatus", "replSetGetStatus")
_ALWAYS_FILLED = frozenset(
    {"at_ns", "gap", "server", "round_trip_ns", "shared_host", "monitor_cpu_ns", "generator_resident_bytes"}
)
_STATUS = frozenset(read_status({}))
_REPLICATION = frozenset(read_replication({}))


@dataclass(frozen=True, slots=True)
class Absence:
    """Columns without any value, and the reason they share."""

    metrics: tuple[str, ...]
    reason: str

    @property
    def refused(self) -> bool:
        """Whether it is a privilege that is missing."""
        return self.reason in {NOT_ALLOWED.format(command=command) for command in _COMMANDS}

    def without(self, filled: Collection[str]) -> Self:
        """The same but for columns that were filled from elsewhere."""
        return replace(self, metrics=tuple(name for name in self.metrics if name not in filled))

    def to_dict(self) -> dict[str, Any]:
        """For the run record."""
        return asdict(self)


def reason_text(stored: str) -> str:
    """A reason as a record holds it."""
    for template in (NOT_ALLOWED, NOT_UNDERSTOOD):
        for command in _COMMANDS:
            if stored == template.format(command=command):
                return message(template, command=command)
    return stored


def absences(
    seen: Collection[str], *, deployment: Deployment, refused: Mapping[str, str], disk: str | None
) -> tuple[Absence, ...]:
    """Every column that is not in `seen`, by reason.

    `refused` is why a command was refused, by its name; `disk` the device whose counters were read.
    """
    by_reason: dict[str, list[str]] = {}
    for column in COLUMNS:
        if column not in seen and column not in _ALWAYS_FILLED | SQL_ALONE:
            reason = _reason(column, seen=seen, deployment=deployment, refused=refused, disk=disk)
            by_reason.setdefault(reason, []).append(column)
    return tuple(Absence(tuple(metrics), reason) for reason, metrics in by_reason.items())


def _reason(
    column: str, *, seen: Collection[str], deployment: Deployment, refused: Mapping[str, str], disk: str | None
) -> str:
    if column in _REPLICATION:
        if deployment.kind != "replica-set member":
            return NO_SET
        return _of_command("replSetGetStatus", answered=bool(_REPLICATION & set(seen)), refused=refused)
    if column in _STATUS:
        return _of_command("serverStatus", answered="uptime_ms" in seen, refused=refused)
    if deployment.pid is None:
        return NOT_HERE
    if column.startswith("disk_") and disk is None:
        return NO_DISK
    return NO_THREAD if column == "monitor_server_cpu_ns" else NOT_SHOWN


def _of_command(command: str, *, answered: bool, refused: Mapping[str, str]) -> str:
    if command in refused:
        return refused[command]
    return NOT_IN_ANSWER if answered else NOT_ANSWERED
