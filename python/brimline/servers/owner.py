"""Owns the word of which brimline process something belongs to: what was left behind is told from what is in use."""

import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from brimline.servers.processes import PID_MAX, ProcessIdentity, identify, is_alive


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where a pid means something: one boot of one host and one pid namespace."""

    host: str
    boot_id: str
    pid_namespace: str

    @classmethod
    def current(cls) -> "Scope":
        """The scope of this process."""
        return cls(
            host=socket.gethostname(),
            boot_id=Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
            pid_namespace=str(Path("/proc/self/ns/pid").readlink()),
        )

    def all_gone(self, processes: Iterable[ProcessIdentity], here: "Scope") -> bool:
        """Whether processes of this scope are all known to have ended. `here`: where this process is."""
        if self.host != here.host:
            return False  # they can't be seen from here: a directory that hosts share
        if self.boot_id != here.boot_id:
            return True  # the machine was started again since
        if self.pid_namespace != here.pid_namespace:
            return False  # a container on the same host: they can't be seen either
        return not any(is_alive(process) for process in processes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A process, and where its pid means something."""

    scope: Scope
    process: ProcessIdentity

    @classmethod
    def current(cls) -> "Owner":
        """The one that asks. Raises OSError where /proc doesn't show it."""
        process = identify(os.getpid())
        if process is None:
            raise OSError("/proc does not show this process")
        return cls(scope=Scope.current(), process=process)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Owner | None":
        """Reads what `to_document` made; None when it is damaged."""
        process, scope = process_of(document), scope_of(document)
        return None if process is None or scope is None else cls(scope=scope, process=process)

    def to_document(self) -> dict[str, Any]:
        """Plain values, for JSON and BSON."""
        return {"scope": asdict(self.scope), "process": asdict(self.process)}

    def is_gone(self, here: Scope) -> bool:
        """Whether it is known to have ended. `here`: where this process is."""
        return self.scope.all_gone([self.process], here)


def scope_of(document: Mapping[str, Any]) -> Scope | None:
    """The scope that a document holds; None when it is damaged."""
    try:
        scope = Scope(**document["scope"])
    except (KeyError, TypeError):
        return None
    return scope if all(isinstance(part, str) for part in asdict(scope).values()) else None


def process_of(document: Mapping[str, Any], *, name: str = "process") -> ProcessIdentity | None:
    """The process that a document holds under `name`; None when there is none that can be told apart."""
    try:
        process = ProcessIdentity(**document[name])
    except (KeyError, TypeError):
        return None
    numbers_fit = is_whole(process.pid, 2, PID_MAX) and is_whole(process.start_ticks, 0, 2**63)
    return process if numbers_fit and isinstance(process.executable, str) else None


def is_whole(value: object, least: int, most: int) -> bool:
    """Whether what a file holds is a whole number within bounds; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
