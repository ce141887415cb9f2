"""Owns the candidate "host": other programs took the CPUs that the server needed."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullness
from brimline.analysis.host_use import (
    OTHERS_SHARE_NEAR,
    host_text,
    other_programs_share,
    others_fill_host,
    others_text,
)
from brimline.analysis.observation import Observation
from brimline.units import format_percentage
from brimline.wording import joined, message

OTHERS_SHARE_NOTED = 0.10
"""Share of the host above which other programs are named in the evidence."""


def host(observation: Observation) -> Evidence:
    """Full when the host's CPUs are, and other programs are what it is busy with, however little the server got."""
    server, generator = observation.server, observation.generator
    others = other_programs_share(server, generator)
    if server.host_share is None:
        return Evidence(kind=BottleneckKind.HOST, standing=Fullness.UNKNOWN, text="host CPU unknown")
    text = message(
        "host CPU {share} of {count:g} CPUs", share=format_percentage(server.host_share), count=server.host_cpu_count
    )
    if others is not None and others > OTHERS_SHARE_NOTED:
        taken = message("other programs took {share} of the host", share=others_text(server, generator))
        text = joined("; ", [text, taken])
    if others_fill_host(server, generator):
        verdict = message("a host busy with other programs: {divided}", divided=host_text(server, generator))
        return Evidence(kind=BottleneckKind.HOST, standing=Fullness.FULL, text=text, verdict=verdict)
    standing = fullness(others, full=1.0, near=OTHERS_SHARE_NEAR)
    return Evidence(kind=BottleneckKind.HOST, standing=standing, text=text)
