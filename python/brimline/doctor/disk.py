"""Owns the checks of room: for the data at the server, for records at the generator."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pymongo.errors import PyMongoError

from brimline.doctor.check import Check, Status, graded, unknown
from brimline.errors import BrimlineError
from brimline.servers.binary import find_mongod, version_in, version_text
from brimline.servers.catalogue import offered
from brimline.servers.deployment import Client
from brimline.servers.versions import binaries_directory, cached_versions
from brimline.units import format_bytes

SERVER_BYTES_MIN = 1 << 30
"""An empty server takes 0.3 GB for its journal."""
SERVER_BYTES_COMFORTABLE = 5 << 30
RECORDS_BYTES_MIN = 64 << 20
RECORDS_BYTES_COMFORTABLE = 1 << 30
COMFORT = 2.0
"""How many times the planned data should fit: indexes, journal, checkpoints, and what a run inserts."""


def mongod(
    *, flag: Path | None = None, server_version: str | None = None, environ: Mapping[str, str] = os.environ
) -> Check:
    """A mongod is found and can be executed here; a version that was asked for is fetched."""
    try:
        binary = find_mongod(flag=flag, server_version=server_version, environ=environ)
        version = version_text(binary.path, libraries=binary.libraries)
    except BrimlineError as error:
        return Check(name="mongod", status=Status.FAIL, evidence=error.message, hint=error.hint)
    if version_in(version) is None:
        return Check(
            name="mongod",
            status=Status.FAIL,
            evidence=f"{binary.path} --version names no version, found by {binary.source}",
            hint="name a mongod with --mongod, or leave it to brimline's own",
        )
    licence = f", licence {binary.licence}" if binary.licence else ""
    evidence = f"{version}, found by {binary.source}: {binary.path}{licence}"
    return graded("mongod", evidence, hint="", figures={"version": version, "path": str(binary.path)})


def server_versions(*, environ: Mapping[str, str] = os.environ) -> Check:
    """Which versions `--server-version` can start, and which of them need no network any more. Fetches nothing."""
    here = cached_versions(directory=binaries_directory(environ))
    kept = ", ".join(here) if here else "none yet"
    return graded(
        "server_versions",
        f"--server-version {offered()}; fetched already: {kept}",
        hint="",
        figures={"fetched": ", ".join(here)},
    )


def data_directory(directory: Path) -> Check:
    """The directory of servers' data can be written."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        return graded(
            "data_directory",
            f"{directory}: {(error.strerror or str(error)).lower()}",
            fail=True,
            hint="set XDG_CACHE_HOME to a directory that can be written",
        )
    return graded("data_directory", f"{directory} can be written", hint="")


def free_at_server(client: Client) -> int | None:
    """Bytes free on the disk of the server's data; None when it doesn't say."""
    try:
        stats = client["admin"].command("dbStats")
    except PyMongoError:
        return None
    total_bytes, used_bytes = stats.get("fsTotalSize"), stats.get("fsUsedSize")
    return round(total_bytes - used_bytes) if total_bytes and used_bytes is not None else None


def server_disk(
    where: str,
    *,
    free_bytes: int | None,
    planned_bytes: int | None = None,
    own_server: bool = True,
    planned: str = "the workload's data take up to",
) -> Check:
    """Room for the data: `planned_bytes` when it is known what will come, in words `planned`.

    `where` names the place. Without `free_bytes` it can't be seen.
    """
    if free_bytes is None:
        return unknown("server_disk", f"the server doesn't say how much room there is ({where})")
    journal_bytes = SERVER_BYTES_MIN if own_server else 0
    needed = journal_bytes + (planned_bytes or 0)
    comfortable = SERVER_BYTES_COMFORTABLE if planned_bytes is None else journal_bytes + COMFORT * planned_bytes
    wanted = "" if planned_bytes is None else f"; {planned} {format_bytes(planned_bytes)}"
    place = "set XDG_CACHE_HOME to a directory on another disk" if own_server else "give the server a larger disk"
    return graded(
        "server_disk",
        f"{format_bytes(free_bytes)} free {where}{wanted}",
        warn=free_bytes < comfortable,
        fail=free_bytes < needed,
        hint=f"free some, load fewer records, or {place}",
        figures={"free_bytes": free_bytes, "planned_bytes": planned_bytes},
    )


def runs_disk(directory: Path, *, free_bytes: int | None = None) -> Check:
    """Room for records: a run takes some MB, a search a few dozen of them."""
    free = free_below(directory) if free_bytes is None else free_bytes
    return graded(
        "runs_disk",
        f"{format_bytes(free)} free below {directory}",
        warn=free < RECORDS_BYTES_COMFORTABLE,
        fail=free < RECORDS_BYTES_MIN,
        hint="free some, or give --runs-dir",
        figures={"free_bytes": free},
    )


def free_below(directory: Path) -> int:
    """Bytes free where `directory` is, or would be made."""
    existing = next(path for path in (directory.absolute(), *directory.absolute().parents) if path.exists())
    return shutil.disk_usage(existing).free
