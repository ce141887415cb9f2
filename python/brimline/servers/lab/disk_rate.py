"""Owns holding a server of a lab to a rate of its disk for a while, by a control group of its own (cgroup 1 or 2).

It takes root, and files on a file system that lies on a disk: what is in memory, or on an overlay, has no rate that the
kernel could hold. With cgroup 1, what the kernel writes back by itself is not held, and a journal's fsync is.
"""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from brimline.errors import TargetError, UsageError
from brimline.servers.lab.cpu_share import group_name

_ROOT = Path("/sys/fs/cgroup")
_DEVICES = Path("/sys/dev/block")
_V1_FILES = ("blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device")
_V2_FILE = "io.max"
_HELD = re.compile(r" (?:[rw]bps=)?[1-9]")
"""In a line of one of them, behind the device: a rate. Where there is none, version 2 says `max`."""
_HINT = "a slow disk needs root, a controller of block devices (cgroup 1 or 2), and files on a disk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A process that is held: to which group it belonged, and how that one or its own is let go again."""

    before: Path
    group: Path
    released: Mapping[str, str]


def require_rate(directory: Path) -> str:
    """The disk that `directory` lies on, as `major:minor`. Raises UsageError where its rate can't be held."""
    if os.geteuid() != 0:
        raise UsageError("only root can hold a server's disk to a rate", hint=_HINT)
    if not (_ROOT / "blkio").is_dir() and "io" not in _read(_ROOT / "cgroup.controllers").split():
        raise UsageError("this machine has no control groups for block devices", hint=_HINT)
    number = directory.stat().st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    if os.major(number) == 0 or not (_DEVICES / name).exists():
        raise UsageError(f"{directory} lies on no disk of its own, but in memory or on an overlay", hint=_HINT)
    place = (_DEVICES / name).resolve()
    return _read(place.parent / "dev").strip() if (place / "partition").exists() else name


def hold_disk(lab_directory: Path, *, server: str, pid: int, device: str, bytes_per_s: int) -> Held:
    """Lets the process read and write so much a second, each. Raises TargetError where it may not be held."""
    first = (_ROOT / "blkio").is_dir()
    root = _ROOT / "blkio" if first else _ROOT
    name, before = group_name(lab_directory, server), root / _group_of(pid, "blkio" if first else "")
    limits = dict.fromkeys(_V1_FILES, f"{device} {bytes_per_s}") if first else _io_max(device, str(bytes_per_s))
    released = {file: _released(file, device) for file in limits}
    # Of cgroup 2 a process has one group for all: where it is held to a share of the processors it has one already.
    group = before if before.name == name else root / name
    try:
        if not first:
            (_ROOT / "cgroup.subtree_control").write_text("+io")
        group.mkdir(exist_ok=True)
        for file, text in limits.items():
            (group / file).write_text(text)
        (group / "cgroup.procs").write_text(str(pid))
    except OSError as error:
        raise TargetError(
            f"the server's disk can't be held to a rate: {(error.strerror or str(error)).lower()}", hint=_HINT
        ) from error
    return Held(before=before, group=group, released=released)


def let_go(held: Held, *, pid: int | None) -> None:
    """The disk is as fast as it was. Raises TargetError."""
    try:
        for file, text in held.released.items():
            (held.group / file).write_text(text)
        if held.group != held.before:
            if pid is not None:
                (held.before / "cgroup.procs").write_text(str(pid))
            with suppress(OSError):  # its last process may take a moment; taking the lab away removes it too
                held.group.rmdir()
    except OSError as error:
        raise _not_let_go(error) from error


def restore_disk(lab_directory: Path, *, server: str) -> bool:
    """Lifts the rate that a server's disk is still held to, by whoever was killed; whether there was one.

    The server stays in the group, which then holds nothing, and goes with the lab. Raises TargetError.
    """
    root = _ROOT / "blkio" if (_ROOT / "blkio").is_dir() else _ROOT
    group, lifted = root / group_name(lab_directory, server), False
    for file in (*_V1_FILES, _V2_FILE):
        for line in filter(_HELD.search, _read(group / file).splitlines()):
            try:
                (group / file).write_text(_released(file, line.split()[0]))
            except OSError as error:
                raise _not_let_go(error) from error
            lifted = True
    return lifted


def _not_let_go(error: OSError) -> TargetError:
    return TargetError(f"the server's disk can't be let go: {(error.strerror or str(error)).lower()}", hint=_HINT)


def _io_max(device: str, rate: str) -> dict[str, str]:
    return {_V2_FILE: f"{device} rbps={rate} wbps={rate}"}


def _released(file: str, device: str) -> str:
    """What a group's file is told so that it holds a device no longer."""
    return _io_max(device, "max")[file] if file == _V2_FILE else f"{device} 0"


def _group_of(pid: int, controller: str) -> str:
    """The group of a process, below the controller's root."""
    for line in _read(Path(f"/proc/{pid}/cgroup")).splitlines():
        _, names, path = line.split(":", 2)
        if controller in names.split(","):
            return path.lstrip("/")
    return ""


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
