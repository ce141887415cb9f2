"""Owns backups beside a run: by a client of brimline's own, by mongodump, and by copies of the files of a server.

Each makes one after the other and keeps none of them.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile

from brimline.dataset.access import WORK_WITHIN_S, target_errors
from brimline.dataset.backup import BackupProgress, Stopped, require_readable, write_backup
from brimline.errors import UsageError
from brimline.execution.background import LOOK_S, Background
from brimline.execution.log_room import check_room
from brimline.execution.scratch import scratch
from brimline.plan import Plan
from brimline.servers import Deployment, control_client
from brimline.servers.password import environment_without_secrets

_DUMP_TOOL, _FILES = "mongodump", "files"
_NO_DATA = {"diagnostic.data"}
_PREPARED = ("WiredTigerPreplog", "WiredTigerTmplog", "WiredTiger.turtle.set", "mongod.l")
"""Journal files that hold nothing yet, what a checkpoint gives another name at once, the server's log and its lock."""
_PIECE_BYTES = 1 << 20


class Backup(Background):
    """Reads every collection of the database and writes it below `directory`, as `brimline backup` does."""

    kind, unit = "backup", "dumps"

    def __init__(self, plan: Plan, deployment: Deployment, *, directory: Path, text: str, gzip: bool = False) -> None:
        super().__init__(plan, deployment, text=text)
        self._directory = directory
        self._gzip = gzip

    def _work(self) -> None:
        while not self._stop.is_set():
            with scratch(self._directory) as place, self._span():
                try:
                    size = sum(self._dump(address, place / str(number)) for number, address in
                               enumerate((self._deployment.address, *self._deployment.shards)))  # fmt: skip
                except Stopped:
                    return
            self._made(size)

    def _dump(self, address: str, place: Path) -> int:
        """Its size in bytes. Client-routed shards are dumped one after the other."""

        def look(_progress: BackupProgress) -> None:
            self._at_work.set()

        with control_client(address, access=self._deployment.access, purpose="backup",
                            command_timeout_s=WORK_WITHIN_S) as client:  # fmt: skip
            made = write_backup(
                client,
                place,
                server=address,
                databases=[self.plan.namespace.database],
                gzip=self._gzip,
                hashed=False,
                require_room=lambda size: check_room(size, self._directory, what="a backup"),
                progress=look,
                stopped=self._stop.is_set,
            )
        return made.files_bytes


class FileCopies(Background):
    """Holds the writes of a server of brimline's own back (`fsync` with `lock`), copies its files, and lets go."""

    kind, unit = "backup", "copies"

    def __init__(self, plan: Plan, deployment: Deployment, *, directory: Path, text: str) -> None:
        super().__init__(plan, deployment, text=text)
        self._directory = directory
        if deployment.own is None:
            raise UsageError(
                "the files of a server are copied where it is brimline's own alone",
                hint="leave --uri and --topology out, or take --with backup",
            )
        self._files = deployment.own.data_directory

    def _work(self) -> None:
        # Each copy goes over the one before: to remove that took a sixth of the time, in which nothing was copied.
        with scratch(self._directory) as place:
            while not self._stop.is_set():
                with self._span():
                    size = self._copy(place / "files")
                if size is None:
                    return
                self._made(size)

    def _copy(self, place: Path) -> int | None:
        """Its size in bytes; None where it was stopped. A server can be started on what `place` then holds."""
        more = sum(map(_size, self._wanted())) - sum(map(_size, _files(place)))
        check_room(max(more, 0), self._directory, what="a copy of the files")
        size = 0
        with self._locked():
            wanted = {place / path.relative_to(self._files): path for path in self._wanted()}
            for old in _files(place):
                if old not in wanted:
                    old.unlink()
            for copy, path in wanted.items():
                size += _copy_over(path, copy, stopped=self._stop.is_set)
                if self._stop.is_set():
                    return None
        return size

    def _wanted(self) -> list[Path]:
        """The files that the server's data are in now."""
        return [path for path in _files(self._files) if not _NO_DATA & {path.parent.name}
                and not path.name.startswith(_PREPARED)]  # fmt: skip

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with control_client(self._deployment.address, access=self._deployment.access, purpose="backup",
                            command_timeout_s=WORK_WITHIN_S) as client:  # fmt: skip
            with target_errors("locking the server's files", within_s=WORK_WITHIN_S):
                client.admin.command("fsync", lock=True)
            try:
                yield
            finally:
                with target_errors("letting the server's files go"):
                    client.admin.command("fsyncUnlock")


def _files(place: Path) -> list[Path]:
    """All files in it and below."""
    return [path for path in place.rglob("*") if path.is_file()]


def _size(path: Path) -> int:
    """Of a file in bytes; 0 where it has gone since it was seen, as files do while nobody holds them."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _copy_over(path: Path, copy: Path, *, stopped: Callable[[], bool]) -> int:
    """Its size in bytes; that of a part of it where it was stopped."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.touch()
    with path.open("rb") as source, copy.open("r+b") as target:
        while not stopped() and (piece := source.read(_PIECE_BYTES)):
            target.write(piece)
        return target.truncate()


class Dumps(Background):
    """Dumps the database with mongodump, again and again, and keeps nothing of it."""

    kind, unit = "backup", "dumps"

    def __init__(self, plan: Plan, deployment: Deployment, *, directory: Path, text: str) -> None:
        super().__init__(plan, deployment, text=text)
        del directory
        if deployment.shards:
            raise UsageError(
                f"{_DUMP_TOOL} makes a backup of one server, and client-routed shards are several",
                hint="take --with backup, whose client reads them one after the other, or another topology",
            )
        tool = shutil.which(_DUMP_TOOL)
        if tool is None:
            raise UsageError(
                f"there is no {_DUMP_TOOL} on PATH",
                hint="install MongoDB's Database Tools, or take --with backup, which is a client of brimline's own",
            )
        self._words = [tool, "--quiet", "--archive"]
        self._uri = deployment.access.uri(deployment.address, plan.namespace.database)

    def _work(self) -> None:
        while not self._stop.is_set():
            with (
                self._span(),
                self._settings() as settings,
                subprocess.Popen(  # noqa: S603 (the user's own mongodump, no shell)
                    [*self._words, f"--config={settings}"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    env=environment_without_secrets(),
                    text=True,
                    errors="replace",
                ) as dump,
            ):
                while dump.poll() is None and not self._stop.wait(LOOK_S):
                    pass
                if dump.poll() is None:
                    dump.terminate()
                _, said = dump.communicate()
            if not self._stop.is_set():
                if dump.returncode != 0:
                    raise OSError(f"{_DUMP_TOOL} ended with {dump.returncode}: {said.strip()[-300:]}")
                self._advance(1)

    @contextmanager
    def _settings(self) -> Iterator[str]:
        """A file that says which server: the process list would show a password."""
        with NamedTemporaryFile("w", prefix="brimline-", suffix=".yaml") as file:  # for its owner alone
            file.write(f"uri: {json.dumps(self._uri)}\n")
            file.flush()
            yield file.name


_KINDS: dict[str, Callable[..., Background]] = {
    "": Backup, "gzip": partial(Backup, gzip=True), _FILES: FileCopies, _DUMP_TOOL: Dumps,
}  # fmt: skip


def backups(of: str, plan: Plan, deployment: Deployment, *, directory: Path, text: str) -> Background:
    """Backups by brimline's own client ("", `gzip`), by `mongodump`, or of `files`.

    Raises UsageError where it can't be had, TargetError where the user may not read what is to be in it.
    """
    made = _KINDS[of](plan, deployment, directory=directory, text=text)
    if of != _FILES:
        for address in (deployment.address, *deployment.shards):
            with control_client(address, access=deployment.access, purpose="backup") as client:
                require_readable(client, plan.namespace.database)
    return made
