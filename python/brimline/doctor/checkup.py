"""Owns the order of the checks, and that one check that breaks does not take the others with it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from brimline.doctor import disk, limits, memory, neighbours, processor, timing
from brimline.doctor.check import Check, Status
from brimline.servers import Deployment
from brimline.servers.binary import version_in
from brimline.servers.state import servers_directory

CheckFunction = Callable[[], Check]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What a workload will need: bytes of data at most, connections of so many sockets each, engine threads."""

    data_bytes: int
    connections: int
    threads: int
    sockets: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInUse:
    """The server that was named: what it is, and how many bytes are free where its data are, None if it doesn't say."""

    deployment: Deployment
    free_bytes: int | None


def examine(
    *,
    mongod: Path | None = None,
    server_version: str | None = None,
    directory: Path | None = None,
    runs_dir: Path = Path("runs"),
    planned: Planned | None = None,
    server: ServerInUse | None = None,
    extra: Iterable[tuple[str, CheckFunction]] = (),
) -> Iterator[Check]:
    """Runs the checks one after the other and hands out each as it is done.

    `mongod`, `server_version` and `directory` are what the user chose for a server of our own; None: the defaults.
    `server` is the one that is used instead, `planned` what the workload will need. `extra` are checks by name that
    other parts add, such as the generator's ceiling; they come last.
    """
    place = directory or servers_directory()
    about_server = _own_server(mongod, server_version, place, planned) if server is None else _other(server, planned)
    checks = [
        *_machine(planned),
        *about_server,
        ("runs_disk", lambda: disk.runs_disk(runs_dir)),
        *extra,
    ]
    for name, check in checks:
        yield _guarded(name, check)


def _machine(planned: Planned | None) -> list[tuple[str, CheckFunction]]:
    connections = None if planned is None else planned.connections
    threads = None if planned is None else planned.threads
    sockets = 1 if planned is None else planned.sockets
    return [
        ("cores", processor.cores),
        ("cpu_governor", processor.governor),
        ("cpu_pressure", processor.pressure),
        ("load_average", processor.load_average),
        ("steal_time", processor.steal),
        ("clock_source", timing.clock_source),
        ("clock_error", timing.clock_error),
        ("arrival_times", timing.arrival_times),
        ("open_files", lambda: limits.open_files(connections=connections, sockets=sockets)),
        ("processes", lambda: limits.processes(connections=connections, sockets=sockets, threads=threads)),
        ("swap", memory.swap),
    ]


def _own_server(
    mongod: Path | None, server_version: str | None, place: Path, planned: Planned | None
) -> list[tuple[str, CheckFunction]]:
    planned_bytes = None if planned is None else planned.data_bytes

    @cache
    def program() -> Check:
        """Asked once: one that hangs would be waited for again."""
        return disk.mongod(flag=mongod, server_version=server_version)

    return [
        ("mongod", program),
        ("server_versions", disk.server_versions),
        ("shared_host", lambda: neighbours.shared_host(None)),
        ("session_scheduling", lambda: neighbours.session(None)),
        ("transparent_huge_pages", lambda: memory.huge_pages(None, own_version=server_version or _version(program()))),
        ("free_page_reporting", lambda: memory.free_page_reporting(None)),
        ("data_directory", lambda: disk.data_directory(place)),
        (
            "server_disk",
            lambda: disk.server_disk(f"below {place}", free_bytes=disk.free_below(place), planned_bytes=planned_bytes),
        ),
    ]


def _version(program: Check) -> str | None:
    """The version of the server that brimline would start; None: none can be started, as the check of it says."""
    return version_in(str(program.figures.get("version", "")))


def _other(server: ServerInUse, planned: Planned | None) -> list[tuple[str, CheckFunction]]:
    where = f"at {server.deployment.address}"
    planned_bytes = None if planned is None else planned.data_bytes
    return [
        ("shared_host", lambda: neighbours.shared_host(server.deployment)),
        ("session_scheduling", lambda: neighbours.session(server.deployment)),
        ("transparent_huge_pages", lambda: memory.huge_pages(server.deployment)),
        ("free_page_reporting", lambda: memory.free_page_reporting(server.deployment)),
        (
            "server_disk",
            lambda: disk.server_disk(
                where, free_bytes=server.free_bytes, planned_bytes=planned_bytes, own_server=False
            ),
        ),
    ]


def _guarded(name: str, check: CheckFunction) -> Check:
    try:
        return check()
    except Exception as error:  # a check that breaks is a finding about this machine, not the end of the checkup
        return Check(
            name=name,
            status=Status.FAIL,
            evidence=f"the check broke: {type(error).__name__}: {error}",
            hint="please report it, with this line",
        )
