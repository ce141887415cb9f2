"""Owns what is left on disk about started servers, and sweeping what their owners could not clean up.

Each server lives in one private directory. `owner.json` names the brimline process it belongs to, written
before anything is started; `server.json` names the server itself, written by the guardian between fork and
exec.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brimline.errors import TargetError
from brimline.servers.owner import Owner, Scope, process_of
from brimline.servers.processes import ProcessIdentity, is_alive, kill

OWNER_FILE = "owner.json"
SERVER_FILE = "server.json"
_PREFIX = "mongod-"
_UNREADABLE_AGE_S = 3600.0
"""A directory whose owner can't be read is only swept at this age: a new one is unreadable for an instant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What one sweep did."""

    directories: tuple[Path, ...]
    killed_pids: tuple[int, ...]


def servers_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Where servers keep their private directories: below the user's cache directory.

    Not below XDG_RUNTIME_DIR or /tmp: those are often in memory, where a database would measure another disk
    than the machine has and would take its memory.
    """
    return cache_directory(environ) / "servers"


def cache_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Brimline's part of the user's cache directory."""
    cache = environ.get("XDG_CACHE_HOME", "")
    base = Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache"
    return base / "brimline"


def private_directory(path: Path) -> None:
    """Makes `path` where it isn't there, with mode 0700 whatever the umask is, and sees to it that it is one's own.

    What lies in it says which processes are ended and which files are removed.

    Raises:
        TargetError: it belongs to somebody else.
        OSError: it can't be made.
    """
    for directory in (path.parent, path):
        if not directory.is_dir():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            directory.chmod(0o700)
    require_own(path)


def require_own(path: Path) -> None:
    """Raises TargetError where `path` is there and belongs to somebody else; one that others can use is closed."""
    if not is_own(path):
        raise TargetError(
            f"{path} belongs to another user, who could have any process of yours ended by what stands in it",
            hint="set XDG_CACHE_HOME to a directory of your own",
        )
    with suppress(OSError):  # nothing is there, or it can't be seen
        if path.stat().st_mode & 0o077:
            path.chmod(0o700)


def is_own(path: Path) -> bool:
    """Whether nobody else owns `path`; also where nothing is there, or it can't be seen."""
    try:
        return path.stat().st_uid == os.geteuid()
    except OSError:
        return True


def create_directory(parent: Path) -> Path:
    """A new private directory (0700) with this process as its owner.

    Raises:
        TargetError: `parent` can't be created or written.
    """
    try:
        private_directory(parent)
        directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        claim(directory)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TargetError(
            f"the directory for the server's data can't be made in {parent}: {reason}",
            hint="set XDG_CACHE_HOME to a directory that can be written and has 1 GB free",
        ) from error
    return directory


def claim(directory: Path) -> None:
    """Marks a directory as this process's, so that a sweep leaves it until the process is gone. Raises OSError."""
    write_json(directory / OWNER_FILE, Owner.current().to_document())


def read_server(directory: Path) -> ProcessIdentity | None:
    """The server process that was started in this directory; None as long as there is none."""
    return process_of(read_json(directory / SERVER_FILE))


def sweep(parent: Path, *, prefix: str = _PREFIX) -> Swept:
    """Ends servers whose brimline is gone and removes their directories; what is in use stays.

    `prefix`: how names of the directories begin that are looked at, of servers or of what else was claimed.

    A process is only killed when pid, start time and executable are those that were written down, in the same
    boot of the same host and the same pid namespace. Never raises: what can't be removed now is left to the
    next sweep.
    """
    removed: list[Path] = []
    killed: list[int] = []
    here = Scope.current()
    with suppress(OSError):
        for directory in sorted(parent.glob(f"{prefix}*")) if is_own(parent) else ():
            if directory.is_symlink() or not is_own(directory) or not _is_abandoned(directory, here):
                continue
            server = read_server(directory)
            owner = _owner(directory)
            if server is not None and owner is not None and owner.scope == here and is_alive(server):
                if not kill(server):
                    continue
                killed.append(server.pid)
            shutil.rmtree(directory, ignore_errors=True)
            if not directory.exists():
                removed.append(directory)
    return Swept(directories=tuple(removed), killed_pids=tuple(killed))


def _is_abandoned(directory: Path, here: Scope) -> bool:
    owner = _owner(directory)
    return _age_s(directory) > _UNREADABLE_AGE_S if owner is None else owner.is_gone(here)


def _age_s(directory: Path) -> float:
    try:
        return time.time() - directory.stat().st_mtime
    except OSError:
        return 0.0


def _owner(directory: Path) -> Owner | None:
    return Owner.from_document(read_json(directory / OWNER_FILE))


def read_json(path: Path) -> dict[str, Any]:
    """The object in the file; nothing in it when it can't be read."""
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Writes the file whole. Raises OSError."""
    # Renamed into place, so that a sweep at the same moment reads nothing or the whole.
    unfinished = path.with_suffix(".new")
    unfinished.write_text(json.dumps(document))
    unfinished.rename(path)
