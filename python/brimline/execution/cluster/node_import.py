"""Owns the part of an import that one node performs: its files, the importer at work, and what it tells of both."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from brimline import _native
from brimline.monitor.host.asking import boot_id
from brimline.servers import Access

_REJECTED_BYTES_MAX = 4 << 20
"""Most of the file of rejected records that is told at once; the rest waits for the next look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOrder:
    """What one node imports. `plan`: the importer's, without where its files are; `plan_hash` is what it comes to.

    `files`: of each input what tells it from all others, see `identity_of`.
    """

    plan: Mapping[str, Any]
    plan_hash: str
    files: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLook:
    """What a node says when it is looked at.

    `zero_ns`: what its monotonic clock showed at the zero of the import's. `rejected`: whole lines that were added to
    its file of rejected records; `is_behind`: there are more of them than were told.
    """

    progress: Mapping[str, Any]
    intervals: "Sequence[_native.ImportInterval]"
    zero_ns: int
    is_ready: bool
    rejected: bytes
    is_behind: bool


def hash_of(plan: Mapping[str, Any]) -> str:
    """What tells this plan from others."""
    return sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()[:8]


def identity_of(path: str) -> str:
    """What a file has that no other one has, on whatever machine: none where it isn't there."""
    try:
        status = Path(path).stat()
    except OSError:
        return ""
    return f"{boot_id()} {status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns}"


class NodeImport:
    """An import of a part. Its own files have no name, so that none is left when its process ends however."""

    def __init__(self, order: ImportOrder, *, clock: Callable[[], int]) -> None:
        self._order, self._clock = order, clock
        self._paths = [each["path"] for each in order.plan["inputs"]]
        self._sent: dict[int, IO[bytes]] = {}
        self._rejected = _nameless()
        self._told_bytes = 0
        self._import: _native.Import | None = None
        self._cpu_before_ns = 0

    def missing(self) -> list[int]:
        """The inputs that this machine has not: the very same file, and not one of the same name."""
        own = zip(self._paths, self._order.files, strict=True)
        return [number for number, (path, identity) in enumerate(own) if identity_of(path) != identity]

    def take(self, number: int, offset: int, content: bytes) -> None:
        """Takes a piece of an input, which lies there at the place where it lies in the whole. Raises OSError."""
        file = self._sent.get(number)
        if file is None:
            file = self._sent[number] = _nameless()
            self._paths[number] = _path_of(file)
        file.seek(offset)
        file.write(content)
        file.flush()

    def start(self, access: Access) -> str | None:
        """Starts the importer, held; why it can't, where it can't."""
        from brimline.execution.import_data import start_import  # of no use before an import

        plan = self._order.plan
        if (found := hash_of(plan)) != self._order.plan_hash:
            return f"the plan that arrived is another one: its hash is {found}, not {self._order.plan_hash}"
        inputs = [{**each, "path": path} for each, path in zip(plan["inputs"], self._paths, strict=True)]
        here = {**plan, "inputs": inputs, "rejected_file": _path_of(self._rejected)}
        self._cpu_before_ns = time.process_time_ns()
        self._import = start_import(here, access, held=True)
        return None

    def look(self, wait_s: float) -> ImportLook:
        """What the import is at, after up to `wait_s`."""
        handle = self._started
        progress = json.loads(handle.poll(wait_s))
        zero_ns = self._clock() - progress["elapsed_ns"]
        intervals = handle.take_intervals()
        rejected, is_behind = self._rejected_since()
        return ImportLook(progress=progress, intervals=intervals, zero_ns=zero_ns,
                          is_ready=handle.await_documents(0), rejected=rejected, is_behind=is_behind)  # fmt: skip

    def first_documents(self) -> list[bytes]:
        """See `_native.Import.first_documents`."""
        return self._started.first_documents()

    def release(self) -> None:
        """See `_native.Import.release`."""
        self._started.release()

    def stop(self) -> None:
        """See `_native.Import.stop`."""
        self._started.stop()

    def abort(self) -> None:
        """See `_native.Import.abort`."""
        if self._import is not None:
            self._import.abort()

    def join(self) -> tuple[dict[str, Any], int]:
        """The summary, and the CPU time of this process in ns; the files are let go."""
        summary: dict[str, Any] = json.loads(self._started.join())
        self.close()
        return summary, time.process_time_ns() - self._cpu_before_ns

    def close(self) -> None:
        """Gives up what is under way, and lets the files go. Idempotent."""
        self.abort()
        for file in (self._rejected, *self._sent.values()):
            with suppress(OSError):
                file.close()

    @property
    def _started(self) -> "_native.Import":
        if self._import is None:
            raise RuntimeError("no import was started on this node")
        return self._import

    def _rejected_since(self) -> tuple[bytes, bool]:
        self._rejected.seek(self._told_bytes)
        found = self._rejected.read(_REJECTED_BYTES_MAX)
        whole = found[: found.rfind(b"\n") + 1]
        self._told_bytes += len(whole)
        return whole, len(found) == _REJECTED_BYTES_MAX


def _nameless() -> IO[bytes]:
    return tempfile.TemporaryFile(buffering=0)


def _path_of(file: IO[bytes]) -> str:
    return f"/proc/{os.getpid()}/fd/{file.fileno()}"
