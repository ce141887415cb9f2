"""Owns what the servers of a lab said of a fault: the lines of their logs about elections, states and roll-backs."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from brimline.servers.bundled import MONGOD_LOG
from brimline.servers.lab.state import Lab

LINES_MAX = 200
_COMPONENTS = frozenset({"ELECTION", "ROLLBACK"})
_IDS = frozenset(
    {
        21358,  # Replica set state transition
        21809,  # Can't see a majority of the set, relinquishing primary
        4615611,  # MongoDB starting
        23377,  # Received signal
        23378,  # Signal was sent by kill(2)
        21580,  # Setting this node to be … (step-down by command)
    }
)
_STATES = 21358


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
                if '"ELECTION"' not in line and '"ROLLBACK"' not in line and not _names_an_id(line):
                    continue
                if (known := _known(line)) is not None:
                    yield known
    except OSError:
        return


def _names_an_id(line: str) -> bool:
    return any(f'"id":{each},' in line for each in _IDS)


def _known(line: str) -> tuple[int, str] | None:
    try:
        entry: dict[str, Any] = json.loads(line)
        if entry["c"] not in _COMPONENTS and entry["id"] not in _IDS:
            return None
        at = datetime.fromisoformat(entry["t"]["$date"])
        text, attributes = str(entry["msg"]), entry.get("attr", {})
    except (ValueError, KeyError, TypeError):
        return None
    if entry["id"] == _STATES:
        text = f"{attributes.get('oldState')} → {attributes.get('newState')}"
    return round(at.timestamp() * 1e9), text
