"""Owns the candidate "outage": the server could not be used for a part of the run, and all else waited for it."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness
from brimline.analysis.observation import Observation
from brimline.units import NS_PER_S, format_duration
from brimline.wording import message

SHARE_MIN = 0.01
"""Share of the measured window from which an outage is what decides the p99: as many operations were due in it."""


def outage(observation: Observation) -> Evidence:
    """Full when the longest time without a server or a primary was a hundredth of the window or more."""
    silence = observation.silence
    if silence is None or not silence.is_of_server:
        return Evidence(kind=BottleneckKind.OUTAGE, standing=Fullness.NOT, text="the server was there all the time")
    standing = Fullness.FULL if silence.length_ns >= SHARE_MIN * observation.measured_s * NS_PER_S else Fullness.NEAR
    length = format_duration(silence.length_ns)
    verdict = message("an outage of {length}: {what}", length=length, what=silence.what)
    return Evidence(kind=BottleneckKind.OUTAGE, standing=standing, text=silence.text, verdict=verdict)
