"""Owns what servers said of a fault: the lines of their logs about elections, states and roll-backs."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from pymongo.errors import PyMongoError

from brimline import _native
from brimline.servers.bundled import MONGOD_LOG
from brimline.servers.deployment import Deployment, control_client
from brimline.servers.lab.state import Lab

LINES_MAX = 200
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STATES = "Replica set state transition"
_TOLD = (
    _STATES,
    "MongoDB starting",
    "Received signal",
    "Can't see a majority",
    "Stepping down from primary",
    "Starting an election",
    "Election succeeded",
    "Transition to primary complete",
    "Rolling back to",
    "Rollback complete",
)
"""How the lines begin that say what a set did; what else is written of an election is how it is held."""


def said_between(
    deployment: Deployment, lab: Lab | None, begin_unix_ns: int, end_unix_ns: int
) -> list[tuple[int, str, str]]:
    """(wall clock in ns, address, line) of all servers, in the order of time; at most `LINES_MAX`.

    Those of a lab by the files of their logs. Others are asked for what they keep of theirs (`getLog`, the last 1 024
    lines since they were started), and what one doesn't tell is left out.
    """
    told = _by_files(lab) if lab is not None else _by_asking(deployment)
    return sorted(each for each in told if begin_unix_ns <= each[0] <= end_unix_ns)[:LINES_MAX]


def _by_files(lab: Lab) -> Iterator[tuple[int, str, str]]:
    for server in lab.servers:
        for path in sorted(lab.directory_of(server).glob(f"{MONGOD_LOG}*")):
            with suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
                for at, text in _lines(file):
                    yield at, server.address, text


def _by_asking(deployment: Deployment) -> Iterator[tuple[int, str, str]]:
    """Their clocks may be wrong: times are those of this machine."""
    members = deployment.replica_set.members if deployment.replica_set else ()
    for address in members or (deployment.address,):
        with suppress(PyMongoError), control_client(address, access=deployment.access, purpose="fault") as client:
            log = client.admin.command("getLog", "global").get("log", [])
            theirs = client.admin.command("hello").get("localTime")
            fast_ns = _unix_ns(theirs.replace(tzinfo=UTC)) - _native.unix_now_ns() if theirs is not None else 0
            for at, text in _lines(map(str, log)):
                yield at - fast_ns, address, text


def _lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    for line in lines:
        if any(f'"msg":"{each}' in line for each in _TOLD) and (known := _known(line)):
            yield known


def _known(line: str) -> tuple[int, str] | None:
    try:
        entry: dict[str, Any] = json.loads(line)
        text, attributes = str(entry["msg"]), entry.get("attr", {})
        at = datetime.fromisoformat(entry["t"]["$date"])
    except (ValueError, KeyError, TypeError):
        return None
    if text == _STATES:
        text = f"{attributes.get('oldState')} → {attributes.get('newState')}"
    return _unix_ns(at), text


def _unix_ns(at: datetime) -> int:
    return round((at - _EPOCH) / timedelta(microseconds=1)) * 1000
