"""Owns what a lab may leave behind: processes, directories and ports."""

from pathlib import Path

import psutil


def processes_below(directory: Path) -> list[psutil.Process]:
    """Every process that was started with a path below `directory`: servers and their guardians."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            if process.status() != psutil.STATUS_ZOMBIE and any(str(directory) in word for word in words):
                found.append(process)
        except psutil.Error:
            continue
    return found


def left_behind(cache: Path) -> list[str]:
    """What there is of labs below a cache directory: empty when nothing is left."""
    labs = cache / "brimline" / "labs"
    return [
        *(str(path) for path in sorted(labs.glob("*"))),
        *(str(path) for path in sorted(labs.glob(".*"))),
        *(f"process {process.pid}" for process in processes_below(labs)),
    ]
