"""Owns the candidate "host": other programs took the CPUs that the server needed."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullness
from brimline.analysis.observation import Observation
from brimline.analysis.validity import HOST_BUSY_SHARE
from brimline.units import format_percentage
from brimline.wording import joined, message

OTHERS_SHARE_NOTED = 0.10
"""Share of the host above which other programs are named in the evidence."""
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
        taken = message("other programs took {share} of the host", share=format_percentage(others))
        text = joined("; ", [text, taken])
    if others_fill_host(observation):
        verdict = message("a host busy with other programs: {divided}", divided=host_text(observation))
        return Evidence(kind=BottleneckKind.HOST, standing=Fullness.FULL, text=text, verdict=verdict)
    standing = fullness(others, full=1.0, near=OTHERS_SHARE_NEAR)
    return Evidence(kind=BottleneckKind.HOST, standing=standing, text=text)


def other_programs_share(observation: Observation) -> float | None:
    """Share of the server's host that neither server nor generator used; None where that isn't known."""
    server = observation.server
    if server.host_cpus_busy is None or server.server_cpus_used is None or not server.host_cpu_count:
        return None
    if server.shared_host is None:
        return None  # whether the generator's share is to be taken off isn't known
    ours = observation.generator.process_share if server.shared_host else 0.0
    return max(server.host_cpus_busy - server.server_cpus_used - ours, 0.0) / server.host_cpu_count


def others_fill_host(observation: Observation) -> bool:
    """Whether the host is full, a good part of it with other programs."""
    server, others = observation.server, other_programs_share(observation)
    if others is None or (server.host_share or 0) < HOST_BUSY_SHARE:
        return False
    servers = (server.server_cpus_used or 0) / (server.host_cpu_count or 1)
    return servers >= SERVER_SHARE_MIN and others >= OTHERS_PART_OF_SERVER * servers


def host_text(observation: Observation) -> str:
    """How the CPU time of the server's host was divided."""
    server = observation.server
    whole = server.host_cpu_count or 1
    parts = [message("server {share}", share=format_percentage((server.server_cpus_used or 0) / whole))]
    if server.shared_host:
        share = format_percentage(observation.generator.process_share / whole)
        parts.append(message("generator {share}", share=share))
    others = other_programs_share(observation)
    if others is not None:
        parts.append(message("others {share}", share=format_percentage(others)))
    return message(
        "CPU {share} of a shared host ({divided})" if server.shared_host else "CPU {share} of the host ({divided})",
        share=format_percentage(server.host_share or 0),
        divided=joined(", ", parts),
    )
