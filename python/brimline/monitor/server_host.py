"""Owns what can be seen of a server's host when that is this machine: the columns of a look, and what they are of.

Of another machine nothing can be seen from here, and nothing is guessed.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from pymongo.errors import PyMongoError

from brimline.monitor import cpu_time, host
from brimline.monitor.programs import Programs
from brimline.servers.deployment import Client, Deployment
from brimline.servers.members import member_processes

_DATA_PATH_DEFAULT = "/data/db"
"""Where a mongod keeps its data when nobody says anything: https://www.mongodb.com/docs/manual/reference/program/mongod/"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerHost:
    """The host of a server that runs here as process `pid`. `disk` is the one that holds its `data`, where known.

    `pid` None: nobody can tell which process is the server; the host's own figures are there all the same.

    `has_family`: the server is that process and all that it started, such as the workers of a service.
    """

    pid: int | None
    disk: str | None
    interfaces: tuple[str, ...]
    data: Path | None = None
    programs: Programs | None = None
    has_family: bool = False
    root: Path = Path("/")

    @classmethod
    def of(cls, deployment: Deployment, client: Client) -> Self | None:
        """The host of `deployment`; None when that is another machine. Raises nothing."""
        if deployment.pid is None:
            return None
        data = data_place(deployment.pid, data_path(client))
        return cls(
            pid=deployment.pid,
            disk=None if data is None else host.disk_device(data),
            data=data,
            interfaces=host.network_interfaces(),
            programs=Programs(partial(member_processes, deployment, client), server_pid=deployment.pid),
        )

    @classmethod
    def of_process(cls, pid: int, *, data_directory: Path | None = None) -> Self:
        """The host of a server that is process `pid` and those that it started. Raises nothing."""
        return cls(
            pid=pid,
            disk=None if data_directory is None else host.disk_device(data_directory),
            data=data_directory,
            interfaces=host.network_interfaces(),
            programs=Programs(lambda: (), server_pid=pid, has_family=True),
            has_family=True,
        )

    def columns(self) -> dict[str, int | str | None]:
        """What the host's counters say now."""
        columns: dict[str, int | str | None] = {
            **({} if self.programs is None else self.programs.columns()),
            "server_cpu_ns": self._server_cpu_ns(),
            **host.memory_columns(root=self.root),
            **host.network_columns(self.interfaces, root=self.root),
        }
        if self.data is not None:
            columns["disk_free_bytes"] = host.free_bytes(self.data)
        if self.disk is not None:
            columns |= host.disk_columns(self.disk, root=self.root)
        if (cpu := cpu_time.host_cpu(proc=self.root / "proc")) is not None:
            columns |= {
                "host_busy_ns": cpu.busy_ns,
                "host_iowait_ns": cpu.iowait_ns,
                "host_cpu_count": cpu.cpu_count,
            }
        return columns

    def _server_cpu_ns(self) -> int | None:
        if self.pid is None:
            return None
        cpu_time_of = cpu_time.family_cpu_ns if self.has_family else cpu_time.process_cpu_ns
        return cpu_time_of(self.pid, proc=self.root / "proc")

    def to_dict(self) -> dict[str, Any]:
        """For the run record."""
        return {
            "disk": self.disk,
            "interfaces_bits_per_s": {
                name: host.interface_bits_per_s(name, root=self.root) for name in self.interfaces
            },
        }


def data_path(client: Client) -> str | None:
    """Where a mongod says that its data are; None where it doesn't say."""
    try:
        options = client.admin.command("getCmdLineOpts")["parsed"]
        return str(options.get("storage", {}).get("dbPath", _DATA_PATH_DEFAULT))
    except (PyMongoError, LookupError, AttributeError, TypeError):
        return None


def data_place(pid: int, path: str | None) -> Path | None:
    """Where this machine finds what process `pid` of it calls `path`; None where it doesn't say."""
    if path is None:
        return None
    # Through the process, because its root may be another than ours: it may run in a container.
    return Path("/proc") / str(pid) / ("root" if path.startswith("/") else "cwd") / path.lstrip("/")
