"""Owns the candidate "network": time that operations spent on the way and not in the server."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullness
from brimline.analysis.bottleneck.waiting import WAITING_SHARE_FULL, WAITING_SHARE_NEAR
from brimline.analysis.observation import Observation
from brimline.units import NS_PER_MS, format_bytes, format_duration, format_percentage
from brimline.wording import joined, message

ROUND_TRIP_MIN_NS = NS_PER_MS
"""Round trip below which a network is as near as it can be: within one data centre it takes less than 1 ms."""


def network(observation: Observation) -> Evidence:
    """Full when most of the service time is a way that even the quickest operation had to go.

    A server without CPU time lets operations wait outside as well, and its own clock doesn't count that. But then
    some are quick; over a long way none is.
    """
    seen = []
    way = way_ns(observation)
    service, inside = observation.service, observation.server_use.latency_mean_ns
    if service is not None and inside is not None:
        seen.append(
            message(
                "service time {service} on average, {inside} of it inside the server",
                service=format_duration(service.mean_ns),
                inside=format_duration(inside),
            )
        )
    if way is not None:
        seen.append(message("the quickest operation took {way} more than the server", way=format_duration(way)))
    if observation.server_use.network_bytes_per_s is not None:
        seen.append(message("{rate}/s", rate=format_bytes(observation.server_use.network_bytes_per_s)))
    share = None if way is None or service is None else way / service.mean_ns
    standing = fullness(share, full=WAITING_SHARE_FULL, near=WAITING_SHARE_NEAR)
    if way is not None and way < ROUND_TRIP_MIN_NS:
        standing = Fullness.NOT
    return Evidence(
        kind=BottleneckKind.NETWORK,
        standing=standing,
        text=joined("; ", seen) if seen else "time inside the server unknown",
        verdict=message(
            "the network (a round trip of {way}, {share} of the service time)",
            way=format_duration(way or 0),
            share=format_percentage(share or 0),
        ),
    )


def way_ns(observation: Observation) -> float | None:
    """What the quickest operation took beyond the server's mean; None where the server doesn't tell its own time.

    The monitor's own round trip bounds it: with every connection in a queue, even the quickest operation waits in it.
    """
    service, inside = observation.service, observation.server_use.latency_mean_ns
    if service is None or inside is None:
        return None
    quickest = min(float(service.min_ns), observation.server_use.round_trip_min_ns or float("inf"))
    return max(quickest - inside, 0.0)
