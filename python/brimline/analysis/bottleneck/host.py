"""Owns the candidate "host": other programs took the CPUs that the server needed."""

from collections.abc import Mapping

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullness
from brimline.analysis.cpu_use import HOST_BUSY_SHARE
from brimline.analysis.observation import Observation
from brimline.units import format_percentage
from brimline.wording import Verbatim, joined, message

OTHERS_SHARE_NOTED = 0.10
"""Share of the host above which other programs are named in the evidence."""
OTHERS_NAMED = 3
"""Other programs that are named, the busiest."""
NAMED_SHARE_MIN = 0.005
"""Share of the host below which a program isn't named."""
OTHERS_SHARE_NEAR = 0.25
"""Share of the host from which other programs disturb what is measured: more than a rounding of its figures."""
OTHERS_PART_OF_SERVER = 0.5
"""On a full host, part of the server's CPU time from which other programs are what it is busy with."""
SERVER_SHARE_MIN = 0.10
"""Share of a full host below which the server doesn't suffer: a fair scheduler gives it the little it asks for."""


def host(observation: Observation) -> Evidence:
    """Full when the host's CPUs are, the server needs its part of them, and other programs use half as much or more."""
    server = observation.server
    others = other_programs_share(observation)
    if server.host_share is None:
        return Evidence(kind=BottleneckKind.HOST, standing=Fullness.UNKNOWN, text="host CPU unknown")
    text = message(
        "host CPU {share} of {count:g} CPUs", share=format_percentage(server.host_share), count=server.host_cpu_count
    )
    if others is not None and others > OTHERS_SHARE_NOTED:
        taken = message("other programs took {share} of the host", share=_with_names(others, _busiest(observation)))
        text = joined("; ", [text, taken])
    if others_fill_host(observation):
        verdict = message("a host busy with other programs: {divided}", divided=host_text(observation))
        return Evidence(kind=BottleneckKind.HOST, standing=Fullness.FULL, text=text, verdict=verdict)
    standing = fullness(others, full=1.0, near=OTHERS_SHARE_NEAR)
    return Evidence(kind=BottleneckKind.HOST, standing=standing, text=text)


def other_programs_share(observation: Observation) -> float | None:
    """Share of the server's host that neither the deployment nor the generator used; None where that isn't known."""
    server = observation.server
    if server.host_cpus_busy is None or server.deployment_cpus_used is None or not server.host_cpu_count:
        return None
    if server.shared_host is None:
        return None  # whether the generator's share is to be taken off isn't known
    ours = observation.generator.here_share if server.shared_host else 0.0
    return max(server.host_cpus_busy - server.deployment_cpus_used - ours, 0.0) / server.host_cpu_count


def others_fill_host(observation: Observation) -> bool:
    """Whether the host is full, a good part of it with other programs."""
    server, others = observation.server, other_programs_share(observation)
    if others is None or (server.host_share or 0) < HOST_BUSY_SHARE:
        return False
    servers = (server.deployment_cpus_used or 0) / (server.host_cpu_count or 1)
    return servers >= SERVER_SHARE_MIN and others >= OTHERS_PART_OF_SERVER * servers


def host_text(observation: Observation) -> str:
    """How the CPU time of the server's host was divided."""
    server = observation.server
    whole = server.host_cpu_count or 1
    members = {name: used / whole for name, used in server.members.items()}
    if members and server.address:
        members = {server.address: (server.server_cpus_used or 0) / whole} | members
    parts = [
        message("server {share}", share=_with_names((server.deployment_cpus_used or 0) / whole, members)),
    ]
    if server.shared_host:
        share = format_percentage(observation.generator.here_share / whole)
        parts.append(message("generator {share}", share=share))
    others = other_programs_share(observation)
    if others is not None:
        parts.append(message("others {share}", share=_with_names(others, _busiest(observation))))
    return message(
        "CPU {share} of a shared host ({divided})" if server.shared_host else "CPU {share} of the host ({divided})",
        share=format_percentage(server.host_share or 0),
        divided=joined(", ", parts),
    )


def _busiest(observation: Observation) -> dict[str, float]:
    """Shares of the host of the other programs that took most."""
    server = observation.server
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
