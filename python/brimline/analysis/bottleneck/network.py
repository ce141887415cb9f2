"""Owns the candidate "network": time that operations spent on the way and not in the server."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullest, fullness
from brimline.analysis.bottleneck.generator import BUSY_SHARE_NEAR
from brimline.analysis.bottleneck.server_cpu import server_has_cpu
from brimline.analysis.bottleneck.waiting import WAITING_SHARE_FULL, WAITING_SHARE_NEAR, waiting_share
from brimline.analysis.observation import Observation
from brimline.analysis.server_use import ServerUse
from brimline.units import NS_PER_MS, NS_PER_S, format_bytes, format_duration, format_percentage
from brimline.wording import joined, message

ROUND_TRIP_MIN_NS = NS_PER_MS
"""Round trip below which a network is as near as it can be: within one data centre it takes less than 1 ms."""
LINK_SHARE_FULL = 0.90
"""Share of a link's bits from which it counts as full: frames and gaps between them take the rest."""
LINK_SHARE_NEAR = 0.70
"""Share from which bursts queue for it."""


def network(observation: Observation) -> Evidence:
    """Full when most of the service time is a way that even the quickest operation had to go, or when a link is.

    A server without CPU time lets operations wait outside as well, and its own clock doesn't count that. But then some
    are quick; over a long way none is. Where both ends have CPU time to spare, what waits outside waits on the way: a
    line that carries no more, whose rate nobody told. Beside the server there is no way: see `waits_unseen`.
    """
    way, use = way_ns(observation), observation.server_use
    if observation.beside_server:
        seen = [*_time(observation, way), "generator and server on one machine, with no line between"]
        return Evidence(kind=BottleneckKind.NETWORK, standing=Fullness.NOT, text=joined("; ", seen))
    of_way, of_link, of_queue = _of_way(observation, way), _of_link(use), _of_queue(observation)
    if of_way is Fullness.FULL:
        verdict = _way_verdict(observation, way or 0.0)
    else:
        verdict = _link_verdict(use) if of_link is Fullness.FULL else _queue_verdict(observation)
    seen = [*_time(observation, way), *_traffic(observation)]
    return Evidence(
        kind=BottleneckKind.NETWORK,
        standing=fullest(of_way, of_link, of_queue),
        text=joined("; ", seen) if seen else "time inside the server unknown",
        verdict=verdict,
    )


def waits_unseen(observation: Observation) -> bool:
    """Whether most of the time went by outside a server beside which the generator ran.

    With no line between, operations wait there for a processor, at either end, or for what nobody sees.
    """
    standings = (_of_way(observation, way_ns(observation)), _of_queue(observation))
    return observation.beside_server and Fullness.FULL in standings


def _of_way(observation: Observation, way: float | None) -> Fullness:
    if way is None or observation.service is None:
        return Fullness.UNKNOWN
    if way < ROUND_TRIP_MIN_NS:
        return Fullness.NOT
    return fullness(way / observation.service.mean_ns, full=WAITING_SHARE_FULL, near=WAITING_SHARE_NEAR)


def _of_link(use: ServerUse) -> Fullness:
    """The fullest of several interfaces is known by two bounds only: it has room where the upper one has."""
    standing = fullness(use.link_share, full=LINK_SHARE_FULL, near=LINK_SHARE_NEAR)
    roomy = use.link_share_max is not None and use.link_share_max < LINK_SHARE_NEAR
    return Fullness.UNKNOWN if standing is Fullness.NOT and not roomy else standing


def _of_queue(observation: Observation) -> Fullness:
    outside = _outside(observation)
    if outside is None or observation.throughput_ops_per_s <= 0:
        return Fullness.UNKNOWN
    if outside / observation.throughput_ops_per_s * NS_PER_S < ROUND_TRIP_MIN_NS:
        return Fullness.NOT
    if observation.generator.busiest_thread_share >= BUSY_SHARE_NEAR or not server_has_cpu(observation):
        return Fullness.UNKNOWN
    return fullness(waiting_share(observation, outside), full=WAITING_SHARE_FULL, near=WAITING_SHARE_NEAR)


def _outside(observation: Observation) -> float | None:
    """Mean number of operations in flight that were not inside the server; None where it doesn't tell."""
    use = observation.server_use
    if use.commands_per_s is None or use.latency_mean_ns is None:
        return None
    return max(observation.mean_in_flight - use.commands_per_s * use.latency_mean_ns / NS_PER_S, 0.0)


def _queue_verdict(observation: Observation) -> str:
    return message(
        "the network ({share} of what was in flight was between generator and server, whose CPU was used to {cpu})",
        share=format_percentage(waiting_share(observation, _outside(observation)) or 0.0),
        cpu=format_percentage(observation.server.server_share or 0.0),
    )


def _way_verdict(observation: Observation, way: float) -> str:
    mean_ns = observation.service.mean_ns if observation.service else way
    return message(
        "the network (a round trip of {way}, {share} of the service time)",
        way=format_duration(way),
        share=format_percentage(way / mean_ns),
    )


def _link_verdict(use: ServerUse) -> str:
    share = format_percentage(use.link_share or 0.0)
    if _several_links(use):
        return message("the network (all interfaces together used to {share})", share=share)
    return message("the network (a link used to {share})", share=share)


def _several_links(use: ServerUse) -> bool:
    return use.link_share != use.link_share_max


def _time(observation: Observation, way: float | None) -> list[str]:
    service, inside = observation.service, observation.server_use.latency_mean_ns
    if service is None or inside is None or way is None:
        return []
    return [
        message(
            "service time {service} on average, {inside} of it inside the server",
            service=format_duration(service.mean_ns),
            inside=format_duration(inside),
        ),
        message("the quickest operation took {way} more than the server", way=format_duration(way)),
    ]


def _traffic(observation: Observation) -> list[str]:
    use = observation.server_use
    seen: list[str] = []
    if use.network_bytes_per_s is not None:
        seen.append(message("{rate}/s", rate=format_bytes(use.network_bytes_per_s)))
    if use.link_share is not None:
        share = format_percentage(use.link_share)
        together = message("{share} of all interfaces together", share=share)
        seen.append(together if _several_links(use) else message("{share} of the link", share=share))
    return seen


def way_ns(observation: Observation) -> float | None:
    """What the quickest operation took beyond the server's mean; None where the server doesn't tell its own time.

    The mean is that of reads or of writes, whichever is lower: writes that wait for other members take many times as
    long as the read that was the quickest operation, and would hide the way there. The monitor's own round trip
    bounds it: with every connection in a queue, even the quickest operation waits in it.
    """
    use = observation.server_use
    service = observation.service
    inside = use.latency_mean_ns if use.latency_quicker_ns is None else use.latency_quicker_ns
    if service is None or inside is None:
        return None
    quickest = min(float(service.min_ns), use.round_trip_min_ns or float("inf"))
    return max(quickest - inside, 0.0)
