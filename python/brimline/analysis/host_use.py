"""Owns how the CPU time of the server's host was divided, and whether other programs filled that host."""

from collections.abc import Mapping

from brimline.analysis.cpu_use import HOST_BUSY_SHARE, GeneratorCpu, ServerCpu
from brimline.analysis.finding import Finding, Standing
from brimline.units import format_percentage
from brimline.wording import Verbatim, joined, message

QUIET_CHECK = "host_quiet"
"""Name of the check that other programs left the server's host to the deployment and the generator."""
OTHERS_NAMED = 3
"""Other programs that are named, the busiest."""
NAMED_SHARE_MIN = 0.005
"""Share of the host below which a program isn't named."""
OTHERS_SHARE_NEAR = 0.25
"""Share of the host from which other programs disturb what is measured: more than a rounding of its figures."""
OTHERS_PART_OF_SERVER = 0.5
"""On a full host, part of the server's CPU time from which other programs are what it is busy with."""
SERVER_SHARE_MIN = 0.10
"""Share of a full host below which the server's time is no measure of the others': it may be all that they left."""


def other_programs_share(server: ServerCpu, generator: GeneratorCpu) -> float | None:
    """Share of the server's host that neither the deployment nor the generator used; None where that isn't known."""
    if server.host_cpus_busy is None or server.deployment_cpus_used is None or not server.host_cpu_count:
        return None
    if server.shared_host is None:
        return None  # whether the generator's share is to be taken off isn't known
    ours = generator.here_share if server.shared_host else 0.0
    return max(server.host_cpus_busy - server.deployment_cpus_used - ours, 0.0) / server.host_cpu_count


def others_fill_host(server: ServerCpu, generator: GeneratorCpu) -> bool:
    """Whether the host is full, a good part of it with other programs.

    How little the server got says nothing: one that waits for a processor asks for more than it gets.
    """
    others = other_programs_share(server, generator)
    if others is None or (server.host_share or 0) < HOST_BUSY_SHARE:
        return False
    servers = (server.deployment_cpus_used or 0) / (server.host_cpu_count or 1)
    return others >= (OTHERS_SHARE_NEAR if servers < SERVER_SHARE_MIN else OTHERS_PART_OF_SERVER * servers)


def quiet_host(server: ServerCpu, generator: GeneratorCpu) -> list[Finding]:
    """The check that other programs did not fill the server's host; nothing to say where they did not."""
    if not others_fill_host(server, generator):
        return []
    evidence = message("other programs took {share} of a full host", share=others_text(server, generator))
    return [Finding(QUIET_CHECK, Standing.WARN, evidence)]


def others_text(server: ServerCpu, generator: GeneratorCpu) -> str:
    """What other programs took of the host, the busiest of them by name; "" where that isn't known."""
    share = other_programs_share(server, generator)
    return "" if share is None else _with_names(share, _busiest(server))


def host_text(server: ServerCpu, generator: GeneratorCpu) -> str:
    """How the CPU time of the server's host was divided."""
    whole = server.host_cpu_count or 1
    members = {name: used / whole for name, used in server.members.items()}
    if members and server.address:
        members = {server.address: (server.server_cpus_used or 0) / whole} | members
    parts = [
        message("server {share}", share=_with_names((server.deployment_cpus_used or 0) / whole, members)),
    ]
    if server.shared_host:
        parts.append(message("generator {share}", share=format_percentage(generator.here_share / whole)))
    if others := others_text(server, generator):
        parts.append(message("others {share}", share=others))
    return message(
        "CPU {share} of a shared host ({divided})" if server.shared_host else "CPU {share} of the host ({divided})",
        share=format_percentage(server.host_share or 0),
        divided=joined(", ", parts),
    )


def _busiest(server: ServerCpu) -> dict[str, float]:
    """Shares of the host of the other programs that took most."""
    shares = {name: used / (server.host_cpu_count or 1) for name, used in server.others.items()}
    return dict(sorted(shares.items(), key=lambda each: -each[1])[:OTHERS_NAMED])


def _with_names(share: float, parts: Mapping[str, float]) -> str:
    """`42 % (127.0.0.1:27017 20 %, mongod 127.0.0.1:27018 11 %)`; the share alone where nothing has a name."""
    named = [
        message("{name} {share}", name=Verbatim(name), share=format_percentage(each))
        for name, each in parts.items()
        if each >= NAMED_SHARE_MIN
    ]
    if not named:
        return format_percentage(share)
    return message("{share} ({named})", share=format_percentage(share), named=joined(", ", named))
