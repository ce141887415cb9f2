"""Owns how far a record has come that is being written, from what lies on the disk: nobody who measures is asked."""

import csv
import io
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from brimline.errors import RecordError
from brimline.record.directory_lock import is_held
from brimline.record.files import read_json
from brimline.record.layout import (
    EXPERIMENT_FILE,
    INTERVALS_FILE,
    OPERATIONS_FILE,
    PLAN_FILE,
    TRIALS_DIRECTORY,
)
from brimline.units import NS_PER_S

_TAIL_BYTES: Final = 64 * 1024
"""More than the rows of the last two intervals take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Of a run: how long it has gone on, and what the last interval had; of an experiment that of its latest run.

    None where it isn't known yet. `share` is of the run's length, in 0 … 1; `trials`: how many runs an experiment has.
    """

    elapsed_s: float | None = None
    share: float | None = None
    rate_ops_per_s: float | None = None
    failed: int | None = None
    trials: int | None = None


def progress_of(directory: Path) -> Progress:
    """How far a record has come. What can't be read yet is not known."""
    if (directory / EXPERIMENT_FILE).exists():
        trials = _trials(directory)
        latest = _of_run(trials[-1]) if trials else {}
        return Progress(trials=len(trials), **latest)
    return Progress(**_of_run(directory))


def _trials(directory: Path) -> list[Path]:
    """The runs of an experiment in order, the one that is being written last; of an experiment of experiments all."""
    place = directory / TRIALS_DIRECTORY
    found = [each for each in place.iterdir() if each.is_dir()] if place.is_dir() else []
    return sorted(found, key=lambda each: (is_held(each), each.name))


def _of_run(directory: Path) -> dict[str, Any]:
    known: dict[str, Any] = {}
    intervals = _rows(directory / INTERVALS_FILE)
    if not intervals:
        return known
    with suppress(ValueError, KeyError, TypeError):
        elapsed_ns = int(intervals[-1]["end_ns"])
        known["elapsed_s"] = elapsed_ns / NS_PER_S
        known["share"] = _share(directory, elapsed_ns)
        known |= _of_the_last_interval(_rows(directory / OPERATIONS_FILE))
    return known


def _share(directory: Path, elapsed_ns: int) -> float | None:
    plan: Mapping[str, Any] = {}
    with suppress(RecordError, OSError):
        plan = read_json(directory / PLAN_FILE)
    duration_ns = plan.get("duration_ns")
    if not isinstance(duration_ns, int):
        return None
    return min(1.0, elapsed_ns / (int(plan.get("warmup_ns", 0)) + duration_ns))


def _of_the_last_interval(rows: list[dict[str, str]]) -> dict[str, Any]:
    """Rate and failures of all operations together."""
    last = [row for row in rows if row["end_ns"] == rows[-1]["end_ns"]]
    if not last:
        return {}
    length_s = (int(last[0]["end_ns"]) - int(last[0]["start_ns"])) / NS_PER_S
    finished = sum(int(row["ok"]) + int(row["miss"]) + int(row["failed"]) for row in last)
    return {"rate_ops_per_s": finished / length_s, "failed": sum(int(row["failed"]) for row in last)}


def _rows(path: Path) -> list[dict[str, str]]:
    """The last rows of a file of a record, those alone that are whole."""
    try:
        with path.open("rb") as file:
            head = file.readline()
            size = file.seek(0, io.SEEK_END)
            begin = max(len(head), size - _TAIL_BYTES)
            file.seek(begin)
            tail = file.read()
    except OSError:
        return []
    if begin > len(head):
        tail = tail.partition(b"\n")[2]
    text = (head + tail[: tail.rfind(b"\n") + 1]).decode(errors="replace")
    return list(csv.DictReader(io.StringIO(text)))
