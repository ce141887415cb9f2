"""Owns the candidate "replication": writes that wait until other members have them, or are slowed down for them."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullest, fullness
from brimline.analysis.bottleneck.waiting import WAITING_SHARE_FULL, WAITING_SHARE_NEAR, waiting_share
from brimline.analysis.observation import Observation
from brimline.units import NS_PER_S, format_duration, format_percentage
from brimline.wording import joined, message

LAG_S_FULL = 10.0
"""Lag of the majority at which a primary begins to hold writes back: flow control's default target.
https://www.mongodb.com/docs/manual/reference/parameter/#mongodb-parameter-param.flowControlTargetLagSeconds
"""
LAG_S_NEAR = 5.0
"""Lag from which flow control already measures, with a margin of half its target."""


def replication(observation: Observation) -> Evidence:
    """Full when most operations wait for a write concern, or the majority lags so far that writes are held back."""
    use, awaited = observation.server_use, observation.acknowledgement.members
    waiting = waiting_share(observation, use.write_concern_waiting)
    of_waits = fullness(waiting, full=WAITING_SHARE_FULL, near=WAITING_SHARE_NEAR)
    of_lag = fullness(use.replication_lag_s, full=LAG_S_FULL, near=LAG_S_NEAR)
    if awaited is False and use.replication_lag_s is None:
        text = "no write waited for another member"
        return Evidence(kind=BottleneckKind.REPLICATION, standing=Fullness.NOT, text=text)
    seen = []
    if waiting is not None:
        share = format_percentage(waiting)
        seen.append(message("{share} of the operations in flight waited for other members", share=share))
    if use.replication_lag_s is not None:
        lag = format_duration(use.replication_lag_s * NS_PER_S)
        seen.append(message("the majority lagged by up to {lag}", lag=lag))
    of_what = seen[0] if of_waits is Fullness.FULL else seen[-1] if seen else ""
    return Evidence(
        kind=BottleneckKind.REPLICATION,
        standing=fullest(of_waits, of_lag),
        text=joined("; ", seen) if seen else "waits for other members unknown",
        verdict=message("replication ({seen})", seen=of_what),
    )
