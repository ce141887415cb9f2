"""Owns the bottleneck: what was full when load could not grow any more, with the numbers that show it."""

from dataclasses import dataclass
from enum import StrEnum

from brimline.analysis.finding import Standing
from brimline.analysis.observation import Observation
from brimline.analysis.validity import (
    GENERATOR_CHECKS,
    HOST_BUSY_SHARE,
    generator_headroom,
    server_fills_shared_host,
)
from brimline.units import format_percentage

SERVER_CPU_SHARE_FULL = 0.90
"""Share of the CPUs it may use from which the server counts as full."""
HELD_BACK_SHARE_FULL = 0.05
"""Share of operations that waited for a connection from which connections count as full."""
OTHERS_SHARE_NOTED = 0.10
"""Share of the host above which other programs are named in the evidence."""
OTHERS_PART_OF_SERVER = 0.5
"""On a full host, part of the server's CPU time from which other programs are what it is busy with."""


class BottleneckKind(StrEnum):
    """Where the limit was."""

    GENERATOR = "generator"
    CONNECTIONS = "connections"
    SERVER_CPU = "server_cpu"
    HOST = "host"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What was full. `text` names it in a few words with its figure; `evidence` are further lines."""

    kind: BottleneckKind
    text: str
    evidence: tuple[str, ...] = ()


def bottleneck(
    observation: Observation,
    *,
    null_ceiling_ops_per_s: float | None = None,
    plateau_connections: int | None = None,
) -> Bottleneck:
    """What limited a run that was pushed to its limit.

    `plateau_connections`: number of connections beyond which a sweep showed no more throughput; with at least
    as many, connections can't be the limit, however busy they are.
    """
    evidence = _evidence(observation)
    limits = generator_limits(observation, null_ceiling_ops_per_s=null_ceiling_ops_per_s)
    if limits:
        return Bottleneck(BottleneckKind.GENERATOR, f"the generator ({limits[0]})", evidence)
    server_share = observation.server.server_share
    if server_share is not None and server_share >= SERVER_CPU_SHARE_FULL:
        return Bottleneck(BottleneckKind.SERVER_CPU, f"server CPU {format_percentage(server_share)}", evidence)
    if _others_fill_host(observation):
        text = f"a host busy with other programs: {_host_text(observation)}"
        return Bottleneck(BottleneckKind.HOST, text, evidence)
    if server_fills_shared_host(observation.server):
        return Bottleneck(BottleneckKind.SERVER_CPU, _host_text(observation), evidence)
    enough_connections = plateau_connections is not None and observation.connections >= plateau_connections
    if observation.held_back_share >= HELD_BACK_SHARE_FULL and not enough_connections:
        held_back = format_percentage(observation.held_back_share)
        text = f"connections ({held_back} of the operations waited for one of {observation.connections})"
        return Bottleneck(BottleneckKind.CONNECTIONS, text, evidence)
    return Bottleneck(BottleneckKind.UNDETERMINED, "undetermined", evidence)


def generator_limits(observation: Observation, *, null_ceiling_ops_per_s: float | None = None) -> tuple[str, ...]:
    """Why the generator and not the target was the limit; empty when it was not.

    `null_ceiling_ops_per_s` counts where the observation was made without knowing it.
    """
    found = [
        each.evidence
        for each in observation.findings
        if each.name in GENERATOR_CHECKS and each.verdict is Standing.FAIL
    ]
    headroom = generator_headroom(observation.throughput_ops_per_s, null_ceiling_ops_per_s)
    if headroom.verdict is Standing.FAIL and headroom.evidence not in found:
        found.append(headroom.evidence)
    return tuple(found)


def other_programs_share(observation: Observation) -> float | None:
    """Share of the server's host that neither server nor generator used; None where that isn't known."""
    server = observation.server
    if server.host_cpus_busy is None or server.server_cpus_used is None or not server.host_cpu_count:
        return None
    if server.shared_host is None:
        return None  # whether the generator's share is to be taken off isn't known
    ours = observation.generator.process_share if server.shared_host else 0.0
    return max(server.host_cpus_busy - server.server_cpus_used - ours, 0.0) / server.host_cpu_count


def _others_fill_host(observation: Observation) -> bool:
    server, others = observation.server, other_programs_share(observation)
    if others is None or (server.host_share or 0) < HOST_BUSY_SHARE:
        return False
    return others * (server.host_cpu_count or 1) >= OTHERS_PART_OF_SERVER * (server.server_cpus_used or 0)


def _host_text(observation: Observation) -> str:
    """How the CPU time of the server's host was divided."""
    server = observation.server
    whole = server.host_cpu_count or 1
    parts = [("server", (server.server_cpus_used or 0) / whole)]
    if server.shared_host:
        parts.append(("generator", observation.generator.process_share / whole))
    others = other_programs_share(observation)
    if others is not None:
        parts.append(("others", others))
    divided = ", ".join(f"{name} {format_percentage(share)}" for name, share in parts)
    host = "a shared host" if server.shared_host else "the host"
    return f"CPU {format_percentage(server.host_share or 0)} of {host} ({divided})"


def _evidence(observation: Observation) -> tuple[str, ...]:
    """What is known of every candidate, so that a verdict can be questioned."""
    server = observation.server
    lines = [f"busiest generator thread {format_percentage(observation.generator.busiest_thread_share)} of a CPU"]
    if server.server_share is None:
        lines.append("server CPU unknown")
    else:
        lines.append(f"server CPU {format_percentage(server.server_share)} of {server.server_cpu_count:g} CPUs")
    if server.host_share is not None:
        lines.append(f"host CPU {format_percentage(server.host_share)} of {server.host_cpu_count:g} CPUs")
    others = other_programs_share(observation)
    if others is not None and others > OTHERS_SHARE_NOTED:
        lines.append(f"other programs took {format_percentage(others)} of the host")
    if not observation.closed_loop:
        lines.append(f"{format_percentage(observation.held_back_share)} of the operations waited for a connection")
    lines.append(f"{observation.mean_in_flight:.1f} operations in flight over {observation.connections} connections")
    return tuple(lines)
