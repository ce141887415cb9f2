"""Owns what befell the servers during a run, as a file in the run's directory.

`fault.json`: what was done and undone and when, and what the servers said of it. As long as it isn't undone
`fault-begun.json` says what to do by hand, also after a kill.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from brimline.errors import RecordError
from brimline.record.files import read_json_if_there, replace_json
from brimline.record.ledger import StaleRead
from brimline.record.redaction import redact
from brimline.spec.validation import first_in_words

FAULT_FILE = "fault.json"
BEGUN_FILE = "fault-begun.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A line of a server's log, at its own time on the wall clock."""

    unix_ns: int
    address: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultFacts:
    """A fault. Times are of the wall clock, in ns since 1970; None: it did not happen.

    `begun` to `done`: while it was made to happen, `undo_begun` to `undone`: while the servers were put back; `whole`:
    when each did its part again. `trouble`, `undo_trouble`: why not; `by_hand`: what then is to be done. `ledger`: how
    its writes were made (`write_concern`, `retry_writes`); None without one. `ledger_trouble`: why it can't be checked.
    """

    name: str
    what: str
    at: str
    begun_unix_ns: int | None = None
    done_unix_ns: int | None = None
    undo_begun_unix_ns: int | None = None
    undone_unix_ns: int | None = None
    whole_unix_ns: int | None = None
    trouble: str = ""
    undo_trouble: str = ""
    by_hand: str = ""
    said: tuple[Said, ...] = ()
    ledger: Mapping[str, Any] | None = None
    ledger_trouble: str = ""
    stale: tuple[StaleRead, ...] = ()


_READ: TypeAdapter[FaultFacts] = TypeAdapter(FaultFacts)


def begin_fault(directory: Path, facts: FaultFacts) -> None:
    """Stores what is about to be done. Raises RecordError."""
    replace_json(directory / BEGUN_FILE, redact(asdict(facts)))


def note_undone(directory: Path) -> None:
    """Nothing is to be done by hand any more, whatever becomes of the rest: a second signal, a full disk."""
    (directory / BEGUN_FILE).unlink(missing_ok=True)


def write_fault(directory: Path, facts: FaultFacts) -> None:
    """Stores what was done. Raises RecordError."""
    if not facts.undo_trouble:
        note_undone(directory)
    replace_json(directory / FAULT_FILE, redact(asdict(facts)))


def left_undone(experiment: Path) -> Iterator[FaultFacts]:
    """The faults of an experiment that nobody has undone, its dropped trials included. Raises RecordError."""
    for path in sorted(experiment.glob(f"*/*/{BEGUN_FILE}")):
        if (values := read_json_if_there(path)) is not None:
            yield _facts(values, path)


def read_fault(directory: Path) -> FaultFacts | None:
    """What was stored; None where nothing was. Raises RecordError."""
    values = read_json_if_there(directory / FAULT_FILE)
    return None if values is None else _facts(values, directory / FAULT_FILE)


def _facts(values: Mapping[str, Any], path: Path) -> FaultFacts:
    try:
        return _READ.validate_python(values)
    except ValidationError as error:
        raise RecordError(f"{path} can't be read: {first_in_words(error.errors())}") from None
