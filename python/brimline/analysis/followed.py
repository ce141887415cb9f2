"""Owns what is said of the server watched when a followed set got another primary: when, and from which to which."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.server_window import is_of_another_server
from brimline.monitor import NO_PRIMARY
from brimline.record.model import ServerRow
from brimline.units import format_count, format_duration
from brimline.wording import joined, message

CHANGES_NAMED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChange:
    """`later` was watched from `at_ns` on, on the run's clock, in place of `earlier`; both are addresses."""

    at_ns: int
    earlier: str
    later: str


def server_changes(rows: Sequence[ServerRow]) -> list[ServerChange]:
    """Each change of the server watched, at the first row of the new one; none of records that don't name it."""
    named = [row for row in rows if row.get("server")]
    return [
        ServerChange(at_ns=int(row["at_ns"] or 0), earlier=str(before["server"]), later=str(row["server"]))
        for before, row in pairwise(named)
        if is_of_another_server(row, before)
    ]


def following_findings(rows: Sequence[ServerRow]) -> list[Finding]:
    """That the server watched changed, or was nobody for a while; nothing to say where it was one all the time."""
    changes = server_changes(rows)
    missing = sum(row.get("gap") == NO_PRIMARY for row in rows)
    parts = []
    if len(changes) == 1:
        parts.append(message("the server watched changed {change}", change=_named(changes[0])))
    elif changes:
        named = joined(", ", [_named(change) for change in changes[:CHANGES_NAMED]])
        count = format_count(len(changes))
        template = (
            "the server watched changed {count} times: {changes}"
            if len(changes) <= CHANGES_NAMED
            else "the server watched changed {count} times, at first: {changes}"
        )
        parts.append(message(template, count=count, changes=named))
    if missing:
        template = "{count} look found no primary" if missing == 1 else "{count} looks found no primary"
        parts.append(message(template, count=format_count(missing)))
    return [Finding("followed", Standing.WARN, joined("; ", parts))] if parts else []


def _named(change: ServerChange) -> str:
    return message(
        "at {at} from {earlier} to {later}",
        at=format_duration(max(0, change.at_ns)),
        earlier=change.earlier,
        later=change.later,
    )
