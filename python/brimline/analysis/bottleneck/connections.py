"""Owns the candidate "connections": too few of them to keep the server busy, or none because the server was gone."""

from collections.abc import Collection
from dataclasses import replace

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness
from brimline.analysis.bottleneck.network import waits_unseen
from brimline.analysis.bottleneck.server_cpu import server_has_cpu
from brimline.analysis.observation import Observation
from brimline.analysis.unsent import places_taken
from brimline.plan.pacing import connections_text
from brimline.units import format_count, format_duration, format_percentage
from brimline.wording import message

HELD_BACK_SHARE_FULL = 0.05
"""Share of operations that waited for a connection from which connections count as full."""
IN_USE_SHARE_FULL = 0.90
"""Mean share of the connections with an operation in flight from which a closed loop leaves none idle."""


def connections(
    observation: Observation, *, waits: Collection[Evidence] = (), plateau_connections: int | None = None
) -> Evidence:
    """Full when operations had to wait for a connection, or when a closed loop left the server room to do more.

    Full too when none was up: then nothing else was asked of anything.

    `waits` are the candidates that let operations wait within the server. `plateau_connections`: number of
    connections beyond which a sweep showed no more throughput; with at least as many, connections can't be the limit,
    however busy they are.
    """
    if observation.server_gone_ns:
        return _none_up(observation)
    found = _closed_loop(observation, waits) if observation.closed_loop else _open_loop(observation)
    if plateau_connections is not None and observation.connections >= plateau_connections:
        return replace(found, standing=Fullness.NOT)
    return found


def _none_up(observation: Observation) -> Evidence:
    gone = format_duration(observation.server_gone_ns)
    return Evidence(
        kind=BottleneckKind.CONNECTIONS,
        standing=Fullness.FULL,
        text=message("none to the server was up for {time}, {in_flight}", time=gone, in_flight=_in_flight(observation)),
        verdict=message("connections (none to the server was up for {time})", time=gone),
    )


def _open_loop(observation: Observation) -> Evidence:
    """Operations are due at their own times, so that those which find no connection are counted."""
    held_back_share = observation.held_back_share or 0.0
    if observation.places_kept_unsent and held_back_share < HELD_BACK_SHARE_FULL:
        return _places_taken(observation)
    share = format_percentage(held_back_share)
    return Evidence(
        kind=BottleneckKind.CONNECTIONS,
        standing=Fullness.FULL if held_back_share >= HELD_BACK_SHARE_FULL else Fullness.NOT,
        text=message(
            "{share} of the operations waited for a connection, {in_flight}",
            share=share,
            in_flight=_in_flight(observation),
        ),
        verdict=message(
            "connections ({share} of the operations waited for one of {count})",
            share=share,
            count=format_count(observation.connections),
        ),
    )


def _places_taken(observation: Observation) -> Evidence:
    """What was sent of the window's operations doesn't show it, or nothing was: the others never went out for it."""
    taken = places_taken(observation.in_flight_max)
    return Evidence(
        kind=BottleneckKind.CONNECTIONS,
        standing=Fullness.FULL,
        text=message("{taken}, {in_flight}", taken=taken, in_flight=_in_flight(observation)),
        verdict=message("connections ({taken})", taken=taken),
    )


def _closed_loop(observation: Observation, waits: Collection[Evidence]) -> Evidence:
    """The question is whether the server could have served more: a closed loop asks only for what its connections can.

    Without think time none of them is ever idle: what is missing to their number in flight is the time that replies
    wait for the generator.
    """
    in_use = min(observation.mean_in_flight / max(observation.in_flight_max, 1), 1.0)
    standing = Fullness.NOT
    if observation.back_to_back or in_use >= IN_USE_SHARE_FULL:
        standing = Fullness.FULL if _server_has_room(observation, waits) else Fullness.NEAR
    return Evidence(
        kind=BottleneckKind.CONNECTIONS,
        standing=standing,
        text=_in_flight(observation),
        verdict=message(
            "connections ({count}, busy {share} of the time, while the server had room)",
            count=format_count(observation.in_flight_max),
            share=format_percentage(in_use),
        ),
    )


def _server_has_room(observation: Observation, waits: Collection[Evidence]) -> bool:
    """Whether it is known that the server could have served more at once."""
    waits_within = any(each.standing in (Fullness.FULL, Fullness.NEAR) for each in waits)
    return server_has_cpu(observation) and not waits_within and not waits_unseen(observation)


def _in_flight(observation: Observation) -> str:
    return message(
        "{mean:.1f} operations in flight over {connections}",
        mean=observation.mean_in_flight,
        connections=connections_text(observation.connections),
    )
