"""Where things are in a runs directory: the names of files, and names of directories that never collide."""

import errno
import os
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from brimline.errors import RecordError

FORMAT_VERSION = 1
"""Version of the run directory's format; a reader refuses a newer one."""

RECORD_FILE = "record.json"
EXPERIMENT_FILE = "experiment.json"
TRIAL_FILE = "trial.json"
TRIALS_DIRECTORY = "trials"
DROPPED_DIRECTORY = "dropped"
SPEC_FILE = "spec.yaml"
SPEC_B_FILE = "spec_b.yaml"
PLAN_FILE = "plan.json"
ENVIRONMENT_FILE = "environment.json"
PLANS_FILE = "plans.json"
OPERATIONS_FILE = "operations.csv"
STEPS_FILE = "steps.csv"
INTERVALS_FILE = "intervals.csv"
NODES_FILE = "nodes.csv"
LATENCY_FILE = "latency.hlog"
OPERATION_LOG_FILE = "operations.log"
SERVER_FILE = "server.csv"
SERVER_FACTS_FILE = "server.json"
HOST_FILE = "host.csv"
EVENTS_FILE = "events.jsonl"
ANALYSIS_FILE = "analysis.json"
REPORT_FILE = "report.html"

RUNNING, KILLED = "running", "killed"
"""How a record ended that says nothing of it: it is still being written, or its writer is gone."""
TARGET_LOST = "target_lost"
WORKER_LOST = "worker_lost"
"""How a run ended whose server went away; any other end before its time is none of the server's."""

ROOM_BYTES_MIN = 128 * 1024
"""What the record of the shortest run takes, with its report."""

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600

_NAME_BYTES_MAX = 80
_ATTEMPTS_MAX = 1000
_READ_HINTS = {
    errno.ENOENT: "the record isn't whole: the run was cut short before it was written, or it was removed since",
    errno.EACCES: "it belongs to another user: read it as the one who wrote it, or be given the right to",
}


def slug(name: str) -> str:
    """`name` as part of a file name: letters and digits of any script, `.`, `_` and `-`, at most 80 bytes."""
    text = re.sub(r"[^\w.]+", "-", name.strip().lower()).strip("-.")
    return text.encode()[:_NAME_BYTES_MAX].decode(errors="ignore") or "unnamed"


def create_run_directory(
    runs_dir: Path, *, name: str, plan_hash: str, kind: str = "", now: datetime | None = None
) -> Path:
    """Makes `<UTC time>-[<kind>-]<name>-<hash>` in `runs_dir`, which is made too when missing.

    Two runs that start in the same second get different directories: making a directory is atomic, and the
    second one to try appends `-2`. Raises RecordError when nothing can be made there.
    """
    time = (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y%m%dT%H%M%SZ").lower()
    stem = "-".join(part for part in (time, kind, slug(name), plan_hash) if part)
    try:
        runs_dir.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        for attempt in range(1, _ATTEMPTS_MAX):
            directory = runs_dir / (stem if attempt == 1 else f"{stem}-{attempt}")
            try:
                directory.mkdir(mode=DIRECTORY_MODE)
            except FileExistsError:
                continue
            return directory
    except OSError as error:
        raise unwritable(runs_dir, error) from error
    raise RecordError(f"too many runs named {stem} in {runs_dir}", hint="choose another place with --runs-dir")


def require_room_for_records(*directories: Path) -> None:
    """Writes a little below each directory, or where it would be made, and takes it away again.

    Before anything is changed for which a record is to be written. Raises RecordError.
    """
    for directory in directories:
        try:
            existing = next(path for path in (directory.absolute(), *directory.absolute().parents) if path.exists())
            with tempfile.TemporaryDirectory(dir=existing, prefix=".brimline-") as probe:
                _write_through(Path(probe) / "probe")
        except OSError as error:
            raise unwritable(directory, error) from error


def _write_through(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        file.write(bytes(ROOM_BYTES_MIN))
        os.fsync(file.fileno())


def unwritable(path: Path, error: OSError, *, elsewhere: str = "choose another place with --runs-dir") -> RecordError:
    """The error for a place that can't be written. `elsewhere`: how another one is named."""
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    hint = elsewhere
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = f"free some space, or {elsewhere}"
    return RecordError(f"can't write {path}: {reason}", hint=hint)


def short_repr(record: object, name: str, ended_by: str, directory: Path) -> str:
    """What a record prints as: what it is of, how it ended, where it lies."""
    lines = (f"{type(record).__name__}: {name}", f"ended by: {ended_by}", f"directory: {directory}")
    return "\n".join(" ".join(line.split()) for line in lines)


def unreadable(path: Path, error: OSError) -> RecordError:
    """The error for a file that can't be read."""
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    return RecordError(f"can't read {path}: {reason}", hint=_READ_HINTS.get(error.errno or 0))
