"""Owns the candidate "server CPU": the server used the CPUs that it may use, or those of a host it shares."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullness
from brimline.analysis.cpu_use import HOST_BUSY_SHARE, server_fills_host
from brimline.analysis.host_use import host_text, others_fill_host
from brimline.analysis.observation import Observation
from brimline.units import format_percentage
from brimline.wording import message

SERVER_CPU_SHARE_FULL = 0.90
"""Share of the CPUs it may use from which the server counts as full: the rest is lost between its threads."""
SERVER_CPU_SHARE_NEAR = 0.70
"""Share from which the server has no clear room left: in a single queue (M/M/1) a response takes 3.3 service times."""


def server_cpu(observation: Observation) -> Evidence:
    """Full by the server's own share, or when it is the main user of a full host, or may be as far as can be seen."""
    server, generator = observation.server, observation.generator
    share = server.server_share
    text = _text(observation)
    standing = fullness(share, full=SERVER_CPU_SHARE_FULL, near=SERVER_CPU_SHARE_NEAR)
    if standing is Fullness.FULL:
        verdict = message("server CPU {share}", share=format_percentage(share or 0))
        return Evidence(kind=BottleneckKind.SERVER_CPU, standing=standing, text=text, verdict=verdict)
    if server_fills_host(server) and not others_fill_host(server, generator):
        return Evidence(
            kind=BottleneckKind.SERVER_CPU, standing=Fullness.FULL, text=text, verdict=host_text(server, generator)
        )
    if share is None and server.host_share is not None:
        return _by_host(server.host_share, text)
    return Evidence(kind=BottleneckKind.SERVER_CPU, standing=standing, text=text)


def _by_host(host_share: float, text: str) -> Evidence:
    """Of a server that doesn't tell its CPU time: a host with CPU to spare has it for the server as well."""
    busy = format_percentage(host_share)
    return Evidence(
        kind=BottleneckKind.SERVER_CPU,
        standing=fullness(host_share, full=HOST_BUSY_SHARE, near=SERVER_CPU_SHARE_NEAR),
        text=message("{text}; CPU {share} of its host", text=text, share=busy),
        verdict=message("CPU {share} of the server's host, of whose programs nothing is known", share=busy),
    )


def server_has_cpu(observation: Observation) -> bool:
    """Whether the server is known to have left CPU time unused, and its host, where that is known, too."""
    share, host = observation.server.server_share, observation.server.host_share
    return share is not None and share < SERVER_CPU_SHARE_NEAR and (host is None or host < HOST_BUSY_SHARE)


def _text(observation: Observation) -> str:
    server = observation.server
    if server.server_share is None:
        return "server CPU unknown"
    return message(
        "server CPU {share} of {count:g} CPUs",
        share=format_percentage(server.server_share),
        count=server.server_cpu_count,
    )
