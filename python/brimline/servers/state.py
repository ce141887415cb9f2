"""Owns what is left on disk about started servers, and sweeping what their owners could not clean up.

Each server lives in one private directory. `owner.json` names the brimline process it belongs to, written
before anything is started; `server.json` names the server itself, written by the guardian between fork and
exec.
"""

import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from brimline.errors import TargetError
from brimline.servers.processes import ProcessIdentity, identify, is_alive, kill

OWNER_FILE = "owner.json"
SERVER_FILE = "server.json"
_PREFIX = "mongod-"
_UNREADABLE_AGE_S = 3600.0
"""A directory whose owner can't be read is only swept at this age: a new one is unreadable for an instant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where a pid means something: one boot of one host and one pid namespace."""

    host: str
    boot_id: str
    pid_namespace: str

    @classmethod
    def current(cls) -> "Scope":
        """The scope of this process."""
        return cls(
            host=socket.gethostname(),
            boot_id=Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
            pid_namespace=str(Path("/proc/self/ns/pid").readlink()),
        )


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


def create_directory(parent: Path) -> Path:
    """A new private directory (0700) with this process as its owner.

    Raises:
        TargetError: `parent` can't be created or written.
    """
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        owner = identify(os.getpid())
        if owner is None:
            raise OSError("/proc does not show this process")
        write_json(directory / OWNER_FILE, {"scope": asdict(Scope.current()), "process": asdict(owner)})
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TargetError(
            f"the directory for the server's data can't be made in {parent}: {reason}",
            hint="set XDG_CACHE_HOME to a directory that can be written and has 1 GB free",
        ) from error
    return directory


def read_server(directory: Path) -> ProcessIdentity | None:
    """The server process that was started in this directory; None as long as there is none."""
    return _read_process(directory / SERVER_FILE)


def sweep(parent: Path) -> Swept:
    """Ends servers whose brimline is gone and removes their directories; what is in use stays.

    A process is only killed when pid, start time and executable are those that were written down, in the same
    boot of the same host and the same pid namespace. Never raises: what can't be removed now is left to the
    next sweep.
    """
    removed: list[Path] = []
    killed: list[int] = []
    here = Scope.current()
    with suppress(OSError):
        for directory in sorted(parent.glob(f"{_PREFIX}*")):
            if directory.is_symlink() or not _is_abandoned(directory, here):
                continue
            server = read_server(directory)
            if server is not None and _scope(directory) == here and is_alive(server):
                if not kill(server):
                    continue
                killed.append(server.pid)
            shutil.rmtree(directory, ignore_errors=True)
            if not directory.exists():
                removed.append(directory)
    return Swept(directories=tuple(removed), killed_pids=tuple(killed))


def _is_abandoned(directory: Path, here: Scope) -> bool:
    owner, scope = _read_process(directory / OWNER_FILE), _scope(directory)
    if owner is None or scope is None:
        return _age_s(directory) > _UNREADABLE_AGE_S
    if scope.host != here.host:
        return False  # a cache directory shared over a network: that host sweeps its own
    if scope.boot_id != here.boot_id:
        return True  # the machine was started again since
    if scope.pid_namespace != here.pid_namespace:
        return False  # a container that shares the cache: its processes can't be seen from here
    return not is_alive(owner)


def _age_s(directory: Path) -> float:
    try:
        return time.time() - directory.stat().st_mtime
    except OSError:
        return 0.0


def _scope(directory: Path) -> Scope | None:
    document = read_json(directory / OWNER_FILE)
    try:
        return Scope(**document["scope"])
    except (KeyError, TypeError):
        return None


def _read_process(path: Path) -> ProcessIdentity | None:
    document = read_json(path)
    try:
        process = ProcessIdentity(**document["process"])
    except (KeyError, TypeError):
        return None
    return process if isinstance(process.pid, int) and process.pid > 1 else None


def read_json(path: Path) -> dict[str, Any]:
    """The object in the file; nothing in it when it can't be read."""
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Writes the file whole. Raises OSError."""
    # Renamed into place, so that a sweep at the same moment reads nothing or the whole.
    unfinished = path.with_suffix(".new")
    unfinished.write_text(json.dumps(document))
    unfinished.rename(path)
