"""Owns CPU use over the measured window: the generator's from its own rows, server and host from the monitor.

Columns of a monitor row that are read here, all optional: `at_ns` (the run's clock), `server_cpu_ns` (CPU
time of the server process, growing), `server_cpu_count` (CPUs that process may use), `host_busy_ns` (CPU time
of all processes of the server's host, growing), `host_cpu_count`, `shared_host` (whether the generator runs
on that host), `members_cpu_ns` (CPU time of the deployment's other members on that host, growing), the same and that of
other programs by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from brimline.analysis.server_window import ServerWindow
from brimline.record.model import IntervalRow
from brimline.units import NS_PER_S

HOST_BUSY_SHARE = 0.90
"""Share of a host's CPUs from which it counts as full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorCpu:
    """CPU of the generator. Shares are of one CPU: a process with two busy threads has 2.0.

    Of several nodes `process_share` is that of all, of which `elsewhere_share` is on other hosts than the command's.
    """

    busiest_thread_share: float
    process_share: float
    engine_cpu_ns: int
    elsewhere_share: float = 0.0

    @property
    def here_share(self) -> float:
        """What it took of the host that the command ran on."""
        return max(0.0, self.process_share - self.elsewhere_share)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCpu:
    """CPU of the server process and of its host; None: the monitor couldn't see it.

    `address` is the server's, "" where rows don't say. `members` are CPUs used by the deployment's other members on
    that host, by name; `others` those of programs that are no part of it, the busiest first.
    """

    server_cpus_used: float | None = None
    server_cpu_count: float | None = None
    host_cpus_busy: float | None = None
    host_cpu_count: float | None = None
    shared_host: bool | None = None
    address: str = ""
    members: Mapping[str, float] = field(default_factory=dict)
    others: Mapping[str, float] = field(default_factory=dict)

    @property
    def deployment_cpus_used(self) -> float | None:
        """By all of the measured deployment that runs on the server's host."""
        return None if self.server_cpus_used is None else self.server_cpus_used + sum(self.members.values())

    @property
    def server_share(self) -> float | None:
        """The server's part of the CPUs that it may use."""
        return _ratio(self.server_cpus_used, self.server_cpu_count)

    @property
    def host_share(self) -> float | None:
        """The busy part of the host's CPUs."""
        return _ratio(self.host_cpus_busy, self.host_cpu_count)

    @property
    def server_is_main_consumer(self) -> bool:
        """Whether at least half of the host's busy time is the server's, with all members of its deployment."""
        if self.deployment_cpus_used is None or self.host_cpus_busy is None:
            return False
        return self.deployment_cpus_used >= self.host_cpus_busy / 2


def generator_cpu(measured: Sequence[IntervalRow], *, elsewhere_ns: int = 0) -> GeneratorCpu:
    """CPU of the generator over the measured intervals; zeros when there are none.

    `elsewhere_ns`: what processes on other hosts took of it.
    """
    wall_ns = max(sum(row["end_ns"] - row["start_ns"] for row in measured), 1)
    return GeneratorCpu(
        # The clocks of CPU and wall are read one after the other, and a thread has no more than one CPU.
        busiest_thread_share=min(1.0, sum(row["busiest_thread_cpu_ns"] for row in measured) / wall_ns),
        process_share=sum(row["process_cpu_ns"] for row in measured) / wall_ns,
        engine_cpu_ns=sum(row["engine_cpu_ns"] for row in measured),
        elsewhere_share=elsewhere_ns / wall_ns,
    )


def server_cpu(window: ServerWindow) -> ServerCpu:
    """CPU of the server between the monitor's first and last row in the window; unknown without two rows."""
    shared = window.last("shared_host")
    return ServerCpu(
        server_cpus_used=_cpus(window.rate("server_cpu_ns")),
        server_cpu_count=window.last("server_cpu_count"),
        host_cpus_busy=_cpus(window.rate("host_busy_ns")),
        host_cpu_count=window.last("host_cpu_count"),
        shared_host=None if shared is None else bool(shared),
        address=window.last_text("server"),
        members=_named_cpus(window, "members_cpu_ns_by_name", absent_is_zero=False),
        others=_named_cpus(window, "others_cpu_ns_by_name", absent_is_zero=True),
    )


def server_fills_host(server: ServerCpu) -> bool:
    """Whether the CPUs of the server's host are full, most of it with the server."""
    return (server.host_share or 0) >= HOST_BUSY_SHARE and server.server_is_main_consumer


def server_fills_shared_host(server: ServerCpu) -> bool:
    """Whether generator and server share a host whose CPUs are full, most of it with the server."""
    return bool(server.shared_host) and server_fills_host(server)


def _named_cpus(window: ServerWindow, column: str, *, absent_is_zero: bool) -> dict[str, float]:
    rates = window.named_rates(column, absent_is_zero=absent_is_zero)
    return {name: cpu_ns_per_s / NS_PER_S for name, cpu_ns_per_s in rates.items()}


def _cpus(cpu_ns_per_s: float | None) -> float | None:
    return None if cpu_ns_per_s is None else cpu_ns_per_s / NS_PER_S


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None
