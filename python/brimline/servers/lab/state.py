"""Owns what is on disk about a lab: one private directory each, with `lab.json` as its heart.

    <cache>/brimline/labs/<name>/
      lab.json             what it is, in which state, and who brought it there
      servers/<address>/   data, log and server.json of each server: its process, and its guardian's
      servers/forwarder-<port>/   the same of what stands before a server that is to be far away
      secret/              the password, the set's key, certificates; 0600 each

The directory appears under its name with `lab.json` in it, so that there is never one that nobody can account for.
"""

import os
import re
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from brimline.errors import TargetError, UsageError
from brimline.servers.lab.network import Network
from brimline.servers.owner import Scope, process_of, scope_of
from brimline.servers.processes import ProcessIdentity, identify
from brimline.servers.state import (
    SERVER_FILE,
    cache_directory,
    is_own,
    private_directory,
    read_json,
    read_server,
    require_own,
    write_json,
)

LAB_FILE = "lab.json"
FORMAT_VERSION = 1
UNFINISHED_PREFIX = ".new-"
FORWARDER_PREFIX = "forwarder-"
"""What the directory of a server's forwarder begins with."""

Phase = Literal["starting", "up", "stopping"]
Role = Literal["standalone", "member", "arbiter", "config server", "shard", "mongos", "mariadb", "postgres", "service"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabServer:
    """One server of a lab. `set_name` is its replica set's; `delay_s`, `hidden` and `priority` are a member's.

    `address` is what clients and members are told; `behind` is where the server itself listens, where that is another.
    """

    address: str
    role: Role
    set_name: str | None = None
    priority: float | None = None
    hidden: bool = False
    delay_s: int = 0
    behind: str | None = None

    @property
    def own_address(self) -> str:
        """Where the server itself listens."""
        return self.behind or self.address

    @property
    def directory_name(self) -> str:
        """The name of its directory."""
        return directory_name(self.own_address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """A lab as its file says it is. `owner` is the process that starts or stops it, or that it must not outlive.

    `outlives`: it stays when its owner ends. `uris` are connection strings without the password: one, or of
    client-routed shards one each. `user` is None without access control.
    """

    name: str
    directory: Path
    topology: str
    phase: Phase
    outlives: bool
    owner: ProcessIdentity
    scope: Scope
    created: str
    version: str | None = None
    servers: tuple[LabServer, ...] = ()
    uris: tuple[str, ...] = ()
    user: str | None = None
    tls: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def secret(self) -> Path:
        """Where its secrets are."""
        return self.directory / "secret"

    @property
    def password_file(self) -> Path | None:
        """The file with the user's password; None without access control."""
        return None if self.user is None else self.secret / "password"

    @property
    def uri_file(self) -> Path:
        """The file with the whole connection strings, one a line, password and all."""
        return self.secret / "uri"

    @property
    def ca_file(self) -> Path | None:
        """The certificate that the servers' are signed with; None without TLS."""
        return self.secret / "ca.pem" if self.tls else None

    @property
    def client_certificate_file(self) -> Path | None:
        """A client's certificate with its key; None without TLS."""
        return self.secret / "client.pem" if self.tls else None

    @property
    def servers_directory(self) -> Path:
        """Where the directories of its servers and forwarders are."""
        return self.directory / "servers"

    @property
    def struck_file(self) -> Path:
        """There as long as a fault is on one of its servers: it is not taken for one that nobody uses any more."""
        return self.directory / "struck"

    def directory_of(self, server: LabServer) -> Path:
        """Where the server's data, log and state are."""
        return self.servers_directory / server.directory_name


_READ = TypeAdapter(Lab)
_END_SIGNALS = frozenset({signal.SIGTERM, signal.SIGQUIT, signal.SIGKILL})
_ADDRESS = re.compile(r"[\w.-]+:\d{1,5}")


def directory_name(address: str) -> str:
    """The name of the directory of a server that listens at `address`."""
    return address.replace(":", "-")


def labs_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Where labs are kept."""
    return cache_directory(environ) / "labs"


def claim(parent: Path, *, name: str, topology: str, outlives: bool) -> Lab:
    """A new lab in phase "starting", owned by this process. Raises UsageError where there is one of that name."""
    owner = identify(os.getpid())
    if owner is None:
        raise TargetError("/proc does not show this process", hint="a lab needs /proc")
    unfinished = parent / f"{UNFINISHED_PREFIX}{owner.pid}-{owner.start_ticks}-{name}"
    lab = Lab(
        name=name,
        directory=parent / name,
        topology=topology,
        phase="starting",
        outlives=outlives,
        owner=owner,
        scope=Scope.current(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    try:
        private_directory(parent)
        unfinished.mkdir(mode=0o700)
        (unfinished / "servers").mkdir(mode=0o700)
        (unfinished / "secret").mkdir(mode=0o700)
        write_lab(lab, into=unfinished)
        unfinished.rename(lab.directory)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        if lab.directory.exists():
            raise UsageError(
                f'there is a lab called "{name}" already', hint=f"brimline lab down {name}, or give another name"
            ) from None
        raise TargetError(
            f"the lab's directory can't be made in {parent}: {(error.strerror or str(error)).lower()}",
            hint="set XDG_CACHE_HOME to a directory that can be written",
        ) from error
    return lab


def write_lab(lab: Lab, *, into: Path | None = None) -> None:
    """Stores what a lab is by now. Raises OSError."""
    document = {
        "format_version": FORMAT_VERSION,
        **{name: value for name, value in asdict(lab).items() if name != "directory"},
    }
    write_json((into or lab.directory) / LAB_FILE, document)


def owned(lab: Lab, *, phase: Phase) -> Lab:
    """`lab` in another phase, in the hands of this process, and stored so."""
    owner = identify(os.getpid())
    changed = replace(lab, phase=phase, owner=owner or lab.owner, scope=Scope.current())
    # Another command may have taken it away just now; and what is to go needs no room on a disk that is full.
    with suppress(OSError if phase == "stopping" else FileNotFoundError):
        write_lab(changed)
    return changed


def read_lab(directory: Path) -> Lab | None:
    """The lab in `directory`; None where there is none that can be read, or it is somebody else's."""
    if not is_own(directory):
        return None
    document = read_json(directory / LAB_FILE)
    owner, scope = process_of(document, name="owner"), scope_of(document)
    if document.pop("format_version", None) != FORMAT_VERSION or owner is None or scope is None:
        return None
    try:
        lab = _READ.validate_python({**document, "directory": directory, "owner": owner, "scope": scope})
        if (network := lab.settings.get("network")) is not None:
            Network.from_document(network)
    except (ValidationError, TypeError, UsageError):
        return None
    addresses = [each for server in lab.servers for each in (server.address, server.own_address)]
    return lab if lab.name == directory.name and all(map(_ADDRESS.fullmatch, addresses)) else None


def damaged_lab(directory: Path) -> Lab | None:
    """What can be said of a lab whose file can't be read any more: enough to take it away; None: it is no such lab."""
    owner = identify(os.getpid())
    is_ours = (
        is_own(directory)
        and (directory / "servers").is_dir()
        and (directory / "secret").is_dir()
        and not directory.is_symlink()
    )
    if owner is None or not is_ours or read_lab(directory) is not None:
        return None
    return Lab(
        name=directory.name,
        directory=directory,
        topology="unknown",
        phase="stopping",
        outlives=False,
        owner=owner,
        scope=Scope.current(),
        created="",
    )


def damaged_names(parent: Path) -> list[str]:
    """The labs that `damaged_lab` can take away; one that is still being made isn't among them."""
    named = (path for path in sorted(parent.glob("*")) if not path.name.startswith("."))
    return [path.name for path in named if damaged_lab(path) is not None]


def stored_labs(parent: Path) -> list[Lab]:
    """All labs that can be read, by name. Raises TargetError where others could have put them there."""
    require_own(parent)
    found = (read_lab(path) for path in sorted(parent.glob("*")) if not path.is_symlink())
    return [lab for lab in found if lab is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """What runs in one directory of a lab: a server and its guardian, each None where it isn't known.

    `end_signal` ends the server at once, with all of its processes.
    """

    guardian: ProcessIdentity | None
    server: ProcessIdentity | None
    end_signal: signal.Signals

    @property
    def processes(self) -> list[ProcessIdentity]:
        """Both, as far as they are known."""
        return [process for process in (self.guardian, self.server) if process is not None]


def guarded(directory: Path) -> list[Guarded]:
    """All that was started for the lab in `directory`, the last first; it may have ended since."""
    found = []
    for file in sorted((directory / "servers").glob(f"*/{SERVER_FILE}"), key=_written_ns, reverse=True):
        document = read_json(file)
        number = document.get("end_signal")
        found.append(
            Guarded(
                guardian=process_of(document, name="guardian"),
                server=process_of(document),
                end_signal=signal.Signals(number) if number in _END_SIGNALS else signal.SIGKILL,
            )
        )
    return found


def _written_ns(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def server_process(lab: Lab, server: LabServer) -> ProcessIdentity | None:
    """The process of a server, if it is alive. A script that became another program is the same process."""
    process = read_server(lab.directory_of(server))
    if process is None:
        return None
    now = identify(process.pid)
    return now if now is not None and now.start_ticks == process.start_ticks else None
