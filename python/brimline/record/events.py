"""What happened around a run or an experiment, one JSON object a line, stamped with the wall clock."""

import json
from collections.abc import Iterable
from math import fsum
from pathlib import Path
from typing import Any

from brimline.errors import RecordError
from brimline.record.files import DAMAGED_HINT, AppendOnlyFile
from brimline.record.model import Event
from brimline.record.pieces import lines_of
from brimline.record.redaction import redact


class EventLog:
    """A new `events.jsonl`, or with `goes_on` one that is there. Raises RecordError when it can't be written."""

    def __init__(self, path: Path, *, goes_on: bool = False) -> None:
        self._file = AppendOnlyFile(path, goes_on=goes_on)

    def append(self, kind: str, **fields: Any) -> None:
        """Adds an event that happens now; secrets in `fields` are masked."""
        from brimline import _native  # here, so that records can be read without the engine

        entry = {"unix_ns": _native.unix_now_ns(), "kind": kind, "fields": redact(fields)}
        self._file.append(json.dumps(entry, ensure_ascii=False) + "\n")

    def sync(self) -> None:
        """Waits until the events are on the disk."""
        self._file.sync()

    def close(self) -> None:
        """Closes the file; idempotent."""
        self._file.close()


def read_events(path: Path) -> list[Event]:
    """Every whole event of a log, none when it isn't there. Raises RecordError."""
    return [_event(line, path) for line in lines_of(path)]


def _event(line: str, path: Path) -> Event:
    try:
        entry = json.loads(line)
        return Event(unix_ns=entry["unix_ns"], kind=entry["kind"], fields=entry["fields"])
    except (ValueError, KeyError, TypeError) as error:
        raise RecordError(f"{path} is damaged near {line[:60]!r}", hint=DAMAGED_HINT) from error


FEWER_CONNECTIONS = "fewer_connections"
"""A load that could not have all of its `wanted` connections, of which `up` were up, goes on with `connections`."""


def fewer_connections_of(events: Iterable[Event]) -> tuple[int, int] | None:
    """Over how few connections a load went on, of how many it was to have; None where it had all."""
    for event in events:
        had, wanted = event.fields.get("connections"), event.fields.get("wanted")
        if event.kind == FEWER_CONNECTIONS and isinstance(had, int) and isinstance(wanted, int):
            return had, wanted
    return None


DATA_COPIED, DATA_PUT_BACK, DATA_LOADED_AGAIN = "data_copied", "data_put_back", "data_loaded_again"
_TIMED = (DATA_COPIED, DATA_PUT_BACK, DATA_LOADED_AGAIN)


def put_back_s(events: Iterable[Event]) -> float:
    """Seconds that copying data aside, putting them back and loading them again took."""
    taken = (event.fields.get("took_s") for event in events if event.kind in _TIMED)
    return fsum(each for each in taken if isinstance(each, int | float))
