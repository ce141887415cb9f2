"""Owns a mongod of brimline's own: started in private, health-checked, always stopped and removed.

Three things end it, each enough by itself: leaving the context, the guardian (`guardian.py`) when brimline
dies in any way, and the sweep at the next start for what both could not do, such as a machine that was
switched off.

Settings of the server, all else is its default:

- `--bind_ip 127.0.0.1`, no Unix socket: reachable from this machine only.
- `--wiredTigerCacheSizeGB`: bounded, so that it doesn't take half of the machine's memory.
- `disableLogicalSessionCacheRefresh`: the server would otherwise write its session table every 5 minutes by
  itself, which its opcounters count like a client's operations; brimline compares those with its own counts, and lets
  any number of updates pass where a server has done so.
- diagnosticDataCollection stays on as on any real server: it was measured at 0.1 % of one core.
"""

import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree

from pymongo.errors import PyMongoError

from brimline.errors import TargetError, UsageError
from brimline.servers.binary import ServerBinary, find_mongod
from brimline.servers.deployment import Deployment, control_client, inspect_deployment
from brimline.servers.failure import StartFailure, start_error, start_failure
from brimline.servers.lab.leftovers import sweep_labs
from brimline.servers.launch import Guardian, Manner, end, launch
from brimline.servers.processes import identify, kill
from brimline.servers.state import create_directory, read_server, servers_directory, sweep

MONGOD_LOG = "mongod.log"
CACHE_GB_DEFAULT = 1.0
CACHE_GB_MIN = 0.25
"""WiredTiger's own lower bound."""
CACHE_GB_MAX = 10_000.0
"""WiredTiger's own upper bound."""

_START_ATTEMPTS = 4
_START_DEADLINE_S = 60.0
_SHUTDOWN_DEADLINE_S = 120.0
_POLL_INTERVAL_S = 0.02
_PING_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    """A server that was started and may not answer yet."""

    guardian: Guardian
    directory: Path
    port: int

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        identity = read_server(self.directory)
        return None if identity is None else identity.pid

    def failure(self) -> StartFailure:
        return start_failure(
            exit_code=self.guardian.poll(),
            log=self.directory / MONGOD_LOG,
            stderr=self.directory / "stderr",
        )


@contextmanager
def bundled(
    *,
    binary: ServerBinary | None = None,
    cache_gb: float = CACHE_GB_DEFAULT,
    directory: Path | None = None,
    start_deadline_s: float = _START_DEADLINE_S,
) -> Iterator[Deployment]:
    """A fresh, empty mongod on a free loopback port for the length of the `with` block.

    `binary` defaults to what `find_mongod` finds. Private directories are made below `directory`, by default
    below the user's cache directory. Leftovers of earlier servers there are swept first.

    Raises:
        UsageError: no usable binary, or a cache below 0.25 GB.
        TargetError: the server can't be started; the message holds its last error lines.
    """
    if not CACHE_GB_MIN <= cache_gb <= CACHE_GB_MAX:
        raise UsageError(
            f"the server's cache can't be {cache_gb:g} GB", hint=f"give {CACHE_GB_MIN:g} to {CACHE_GB_MAX:g} GB"
        )
    binary = binary or find_mongod()
    parent = directory or servers_directory()
    sweep(parent)
    if directory is None:
        sweep_labs()
    server = _start(binary, cache_gb=cache_gb, parent=parent, deadline_s=start_deadline_s)
    handle = _Handle(server, binary, cache_gb=cache_gb, start_deadline_s=start_deadline_s)
    try:
        yield handle.deployment()
    finally:
        handle.stop()


class _Handle:
    """The server as it is now: another process after each restart, the same directory and address."""

    def __init__(self, server: _Server, binary: ServerBinary, *, cache_gb: float, start_deadline_s: float) -> None:
        self._server = server
        self._binary = binary
        self._cache_gb = cache_gb
        self._deadline_s = start_deadline_s

    @property
    def data_directory(self) -> Path:
        return self._server.directory / "data"

    def deployment(self) -> Deployment:
        address = self._server.address
        with control_client(address) as client:
            found = inspect_deployment(
                client, address=address, uri_redacted=f"mongodb://{address}", binary=self._binary
            )
        return replace(found, own=self)

    def restart(self, *, meanwhile: Callable[[], None]) -> Deployment:
        _shut_down(self._server)
        meanwhile()
        self._server = _spawn_in(self._server.directory, self._binary, cache_gb=self._cache_gb, port=self._server.port)
        if not _wait_until_it_answers(self._server, self._deadline_s):
            raise start_error(
                self._server.failure(),
                binary=self._binary.path,
                waited_s=self._deadline_s,
                cache_entry=self._binary.cache_entry,
            )
        return self.deployment()

    def stop(self) -> None:
        _stop(self._server)


def server_command(binary: Path, *, directory: Path, port: int, cache_gb: float) -> list[str]:
    """The command line of the server; see the module for why each setting is there."""
    return [
        str(binary),
        *("--dbpath", str(directory / "data")),
        *("--logpath", str(directory / MONGOD_LOG)),
        *("--bind_ip", "127.0.0.1"),
        *("--port", str(port)),
        *("--wiredTigerCacheSizeGB", f"{cache_gb:g}"),
        *("--setParameter", "disableLogicalSessionCacheRefresh=true"),
        "--nounixsocket",
        "--quiet",
    ]


def free_port() -> int:
    """A loopback port that nothing listens on at this moment; another program may take it right after."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _start(binary: ServerBinary, *, cache_gb: float, parent: Path, deadline_s: float) -> _Server:
    for attempt in range(1, _START_ATTEMPTS + 1):
        server = _spawn(binary, cache_gb=cache_gb, parent=parent, port=free_port())
        try:
            if _wait_until_it_answers(server, deadline_s):
                return server
            failure = server.failure()
        except BaseException:
            _stop(server)
            raise
        _stop(server)
        if not failure.port_was_taken or attempt == _START_ATTEMPTS:
            break
    raise start_error(failure, binary=binary.path, waited_s=deadline_s, cache_entry=binary.cache_entry)


def _spawn(binary: ServerBinary, *, cache_gb: float, parent: Path, port: int) -> _Server:
    directory = create_directory(parent)
    try:
        (directory / "data").mkdir(mode=0o700)
    except OSError as error:
        rmtree(directory, ignore_errors=True)
        raise _cannot_start(error, parent) from error
    return _spawn_in(directory, binary, cache_gb=cache_gb, port=port)


def _spawn_in(directory: Path, binary: ServerBinary, *, cache_gb: float, port: int) -> _Server:
    """Starts the server on what its directory holds; when it can't be started, nothing of it is left."""
    try:
        command = server_command(binary.path, directory=directory, port=port, cache_gb=cache_gb)
        guardian = launch(command, directory=directory, manner=Manner(libraries=binary.libraries))
    except OSError as error:
        rmtree(directory, ignore_errors=True)
        raise _cannot_start(error, directory.parent) from error
    return _Server(guardian=guardian, directory=directory, port=port)


def _cannot_start(error: OSError, parent: Path) -> TargetError:
    return TargetError(
        f"the server can't be started: {(error.strerror or str(error)).lower()}",
        hint=f"servers are kept in {parent}; set XDG_CACHE_HOME to have them elsewhere",
    )


def _shut_down(server: _Server) -> None:
    """Ends the server with its data whole: it writes a last checkpoint and takes its leave, and so does its guardian.

    Should brimline be killed before the server is started again, the directory is swept at the next start.
    """
    with suppress(PyMongoError), control_client(server.address, command_timeout_s=_SHUTDOWN_DEADLINE_S) as client:
        client.admin.command("shutdown")  # the answer is a closed connection
    try:
        server.guardian.wait(_SHUTDOWN_DEADLINE_S)
        if server.guardian.stdin is not None:
            server.guardian.stdin.close()
    except subprocess.TimeoutExpired:
        raise TargetError(
            "the server doesn't shut down", hint="its disk may be slow: a last checkpoint is written first"
        ) from None


def _wait_until_it_answers(server: _Server, deadline_s: float) -> bool:
    """False when the server ended or the deadline passed."""
    deadline = time.monotonic() + deadline_s
    while time.monotonic() < deadline:
        if server.guardian.poll() is not None:
            return False
        if _port_is_open(server.port) and _is_ours(server):
            return True
        time.sleep(_POLL_INTERVAL_S)
    return False


def _port_is_open(port: int) -> bool:
    # Much cheaper than a PyMongo client while the server is still starting.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PING_TIMEOUT_S)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _is_ours(server: _Server) -> bool:
    """Whether the one that answers is the process we started, and not one that was quicker."""
    try:
        with control_client(server.address, connect_timeout_s=_PING_TIMEOUT_S) as client:
            client.admin.command("ping")
            return bool(client.admin.command("serverStatus")["pid"] == server.pid)
    except (PyMongoError, KeyError):
        return False


def _stop(server: _Server) -> None:
    """Ends the server and removes its directory, whatever state they are in; its data is thrown away."""
    end(server.guardian)
    process = read_server(server.directory)
    if process is not None and identify(process.pid) == process:
        kill(process)
    rmtree(server.directory, ignore_errors=True)
