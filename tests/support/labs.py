"""Owns what a lab may leave behind: processes, directories and ports."""

import sys
from pathlib import Path

import psutil

from tests.support import fake_mongos


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


def stand_in_mongos(directory: Path) -> Path:
    """A program that is started as mongos is: see `fake_mongos`."""
    program = directory / "mongos"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {fake_mongos.__file__} "$@"\n')
    program.chmod(0o755)
    return program


def left_behind(cache: Path) -> list[str]:
    """What there is of labs below a cache directory: empty when nothing is left."""
    labs = cache / "brimline" / "labs"
    return [
        *(str(path) for path in sorted(labs.glob("*"))),
        *(str(path) for path in sorted(labs.glob(".*"))),
        *(f"process {process.pid}" for process in processes_below(labs)),
    ]
