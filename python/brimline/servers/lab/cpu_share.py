"""Owns holding a server of a lab to its share of the processors, by a control group of its own (cgroup 1 or 2).

Several servers on one machine measure that machine unless each has a share. The group's name follows from the lab's
directory and the server, so that whoever takes the lab away finds the group, also after a crash.
"""

import hashlib
import time
from contextlib import suppress
from pathlib import Path

from brimline.errors import TargetError
from brimline.servers.processes import family

_ROOT = Path("/sys/fs/cgroup")
_PERIOD_US = 100_000
_EMPTY_S = 2.0
"""A group can't be removed before the kernel has seen off its last process."""


def hold(lab_directory: Path, *, server: str, pid: int, share: float) -> None:
    """Lets the process and those below it use `share` CPUs together at most.

    Raises TargetError where this machine doesn't allow it.
    """
    first = (_ROOT / "cpu").is_dir()
    group = _place() / group_name(lab_directory, server)
    quota_us = round(share * _PERIOD_US)
    try:
        group.mkdir(exist_ok=True)
        if first:
            (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota_us))
        else:
            (group / "cpu.max").write_text(f"{quota_us} {_PERIOD_US}")
        (group / "cgroup.procs").write_text(str(pid))
        # Those that it starts from now on are in the group from birth.
        for child in family(pid)[1:]:
            with suppress(ProcessLookupError):
                (group / "cgroup.procs").write_text(str(child))
    except OSError as error:
        release(lab_directory)
        raise TargetError(
            f"a server can't be held to its share of the processors: {(error.strerror or str(error)).lower()}",
            hint="control groups need root and a cpu controller; --cpus names processors and needs neither",
        ) from error


def release(lab_directory: Path) -> None:
    """Removes the groups of a lab whose processes have ended."""
    groups = [each for root in (_place(), _ROOT / "blkio") for each in root.glob(f"{_prefix(lab_directory)}*")]
    for group in groups:
        until = time.monotonic() + _EMPTY_S
        while group.is_dir() and time.monotonic() < until:
            with suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.02)


def group_name(lab_directory: Path, server: str) -> str:
    """What the control group of a server of a lab is called, so that whoever takes the lab away finds it."""
    return f"{_prefix(lab_directory)}{server}"


def _place() -> Path:
    return _ROOT / "cpu" if (_ROOT / "cpu").is_dir() else _ROOT


def _prefix(lab_directory: Path) -> str:
    return f"brimline-lab-{hashlib.sha256(str(lab_directory).encode()).hexdigest()[:12]}-"
