"""Owns the small disks of a lab whose disks are to become full: a file system in memory below each server's data.

It takes root. They go with the lab, also after a crash: what is mounted below its directory is unmounted first.
"""

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from brimline.errors import TargetError, UsageError
from brimline.record.environment import memory_left_bytes
from brimline.units import format_bytes

FILLER = "brimline-fills-the-disk"
_HINT = "a full disk needs root, and the right to mount; without, fill a disk of your own by --fault 'COMMAND'"
_WITHIN_S = 30.0
_PIECE_BYTES = 1024 * 1024
_MEMORY_SHARE_MAX = 0.5
"""Of the memory that is left, which a disk may take: all of its size at the start, what room it has when it is filled.

Others take what is on them, and the servers what they need: between the two, less is left.
"""


def require_mounting() -> None:
    """Raises UsageError where nobody may mount, before anything is started."""
    if os.geteuid() != 0:
        raise UsageError("only root can give servers small disks of their own", hint=_HINT)


def require_memory(size_bytes: int) -> None:
    """Raises UsageError for a disk that this machine's memory could not hold: the kernel would end programs for it."""
    if (left_bytes := _lacking(size_bytes)) is not None:
        raise UsageError(
            f"a disk of {format_bytes(size_bytes)} is in memory, of which {format_bytes(left_bytes)} are left: it may "
            "take half of that",
            hint="take a smaller one, such as full-disk:1GB, or fill a disk of your own by --fault 'COMMAND'",
        )


def _lacking(bytes_more: int) -> int | None:
    """How much memory is left, where so many bytes are more than their share of that; None where they aren't."""
    left_bytes = memory_left_bytes()
    return left_bytes if left_bytes is not None and bytes_more > _MEMORY_SHARE_MAX * left_bytes else None


def mount(directory: Path, size_bytes: int) -> None:
    """A disk of this size at an empty directory. Raises TargetError where this machine doesn't allow it."""
    _run(["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=0700", "brimline-disk", str(directory)])


def unmount_below(directory: Path) -> None:
    """Takes all disks below a directory away, with what is on them. Raises nothing."""
    with suppress(OSError):
        places = [line.split()[1].replace("\\040", " ") for line in Path("/proc/self/mounts").read_text().splitlines()]
        for place in places:
            if Path(place).is_relative_to(directory):
                with suppress(TargetError):
                    _run(["umount", "--lazy", place])


def is_small(directory: Path) -> bool:
    """Whether a directory is such a disk."""
    return os.path.ismount(directory)


def fill(directory: Path) -> None:
    """Leaves no room on the disk at `directory`. Raises TargetError for any other disk."""
    if not is_small(directory):
        raise TargetError(f"{directory} is no small disk of a lab, and nothing else is filled", hint=_HINT)
    room_bytes = shutil.disk_usage(directory).free
    if (left_bytes := _lacking(room_bytes)) is not None:
        raise TargetError(
            f"the disk has room for {format_bytes(room_bytes)}, and {format_bytes(left_bytes)} of memory are left, of "
            "which it may take half: it isn't filled",
            hint="end other programs, or take a smaller disk",
        )
    with (directory / FILLER).open("wb", buffering=0) as file:
        piece = bytes(_PIECE_BYTES)
        while piece:
            try:
                file.write(piece)
            except OSError:
                piece = piece[: len(piece) // 2]


def empty(directory: Path) -> None:
    """Gives the room back."""
    (directory / FILLER).unlink(missing_ok=True)


def _run(command: list[str]) -> None:
    try:
        ended = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, errors="replace", timeout=_WITHIN_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"{command[0]} can't be run: {error}", hint=_HINT) from error
    if ended.returncode != 0:
        raise TargetError(f"{command[0]} is refused: {ended.stderr.strip() or ended.returncode}", hint=_HINT)
