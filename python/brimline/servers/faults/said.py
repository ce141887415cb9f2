"""Owns what the servers of a lab said of a fault: the lines of their logs about elections, states and roll-backs."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from brimline.servers.bundled import MONGOD_LOG
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


def said_between(lab: Lab, begin_unix_ns: int, end_unix_ns: int) -> list[tuple[int, str, str]]:
    """(wall clock in ns, address, line) of all its servers, in the order of time; at most `LINES_MAX`."""
    found = []
    for server in lab.servers:
        for path in sorted(lab.directory_of(server).glob(f"{MONGOD_LOG}*")):
            for at, text in _lines(path):
                if begin_unix_ns <= at <= end_unix_ns:
                    found.append((at, server.address, text))
    return sorted(found)[:LINES_MAX]


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if any(f'"msg":"{each}' in line for each in _TOLD) and (known := _known(line)):
                    yield known
    except OSError:
        return


def _known(line: str) -> tuple[int, str] | None:
    try:
        entry: dict[str, Any] = json.loads(line)
        text, attributes = str(entry["msg"]), entry.get("attr", {})
        at = datetime.fromisoformat(entry["t"]["$date"])
    except (ValueError, KeyError, TypeError):
        return None
    if text == _STATES:
        text = f"{attributes.get('oldState')} → {attributes.get('newState')}"
    return round((at - _EPOCH) / timedelta(microseconds=1)) * 1000, text
