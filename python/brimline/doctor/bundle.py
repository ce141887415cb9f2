"""Owns the checks of what starting a server of our own needs: a mongod that runs, a directory, room in it."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from brimline.doctor.check import Check, Status
from brimline.errors import BrimlineError
from brimline.servers.binary import find_mongod, version_text

FREE_BYTES_MIN = 1 << 30
FREE_BYTES_COMFORTABLE = 5 << 30


def mongod(*, flag: Path | None = None, environ: Mapping[str, str] = os.environ) -> Check:
    """A mongod is found and can be executed here."""
    try:
        binary = find_mongod(flag=flag, environ=environ)
        version = version_text(binary.path)
    except BrimlineError as error:
        return Check(name="mongod", status=Status.FAIL, evidence=error.message, hint=error.hint)
    licence = f", licence {binary.licence}" if binary.licence else ""
    evidence = f"{version}, found by {binary.source}: {binary.path}{licence}"
    return Check(name="mongod", status=Status.PASS, evidence=evidence)


def data_directory(directory: Path) -> Check:
    """The directory of servers' data can be written."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        return Check(
            name="data directory",
            status=Status.FAIL,
            evidence=f"{directory}: {(error.strerror or str(error)).lower()}",
            hint="set XDG_CACHE_HOME to a directory that can be written",
        )
    return Check(name="data directory", status=Status.PASS, evidence=f"{directory} can be written")


def free_disk(directory: Path, *, free_bytes: int | None = None) -> Check:
    """Room for the data: an empty server takes 0.3 GB for its journal."""
    if free_bytes is None:
        existing = next(path for path in (directory, *directory.parents) if path.exists())
        free_bytes = shutil.disk_usage(existing).free
    evidence = f"{free_bytes / (1 << 30):.1f} GiB free below {directory}"
    hint = "free some, or set XDG_CACHE_HOME to a directory on another disk"
    if free_bytes < FREE_BYTES_MIN:
        return Check(name="free disk", status=Status.FAIL, evidence=evidence, hint=hint)
    if free_bytes < FREE_BYTES_COMFORTABLE:
        return Check(name="free disk", status=Status.WARN, evidence=evidence, hint=hint)
    return Check(name="free disk", status=Status.PASS, evidence=evidence)
