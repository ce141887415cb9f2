"""Owns the judgement: which of the candidates that were full is the limit; undetermined where none was."""

from dataclasses import dataclass

from brimline.analysis.bottleneck.cache import cache
from brimline.analysis.bottleneck.connections import HELD_BACK_SHARE_FULL, IN_USE_SHARE_FULL, connections
from brimline.analysis.bottleneck.disk import disk
from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence
from brimline.analysis.bottleneck.generator import BUSY_SHARE_NEAR, generator
from brimline.analysis.bottleneck.host import host
from brimline.analysis.bottleneck.journal import journal
from brimline.analysis.bottleneck.lock import lock
from brimline.analysis.bottleneck.network import network
from brimline.analysis.bottleneck.outage import outage
from brimline.analysis.bottleneck.query_plan import query_plan
from brimline.analysis.bottleneck.replication import replication
from brimline.analysis.bottleneck.server_cpu import server_cpu
from brimline.analysis.bottleneck.tickets import tickets
from brimline.analysis.host_use import others_fill_host
from brimline.analysis.objective import Slo
from brimline.analysis.observation import Observation
from brimline.analysis.validity import generator_headroom
from brimline.spec.own.protocols import protocol_of_target

ORDER = (
    BottleneckKind.OUTAGE,
    BottleneckKind.GENERATOR,
    BottleneckKind.QUERY_PLAN,
    BottleneckKind.LOCK,
    BottleneckKind.CACHE,
    BottleneckKind.SERVER_CPU,
    BottleneckKind.HOST,
    BottleneckKind.REPLICATION,
    BottleneckKind.JOURNAL,
    BottleneckKind.DISK,
    BottleneckKind.TICKETS,
    BottleneckKind.NETWORK,
    BottleneckKind.CONNECTIONS,
)
"""The first full one is the limit: causes stand before what they bring about.

Where the server was gone nothing else was a limit. A late generator makes every other figure doubtful, but for one that
other programs kept from its processor: they are what limits, and its lateness follows from them. Scans,
collisions and misses burn the server's CPU and load its disk, so they explain these when they are full too. A full CPU
comes before all waits: with CPU to spare a wait would have shown, without it everything waits. Of the waits, those that
say what for come before queues at the server's entrance, which form behind every one of them, then the way to the
server, then its connections.
"""

_OF_DATABASES = frozenset(
    {
        BottleneckKind.QUERY_PLAN,
        BottleneckKind.LOCK,
        BottleneckKind.CACHE,
        BottleneckKind.REPLICATION,
        BottleneckKind.JOURNAL,
        BottleneckKind.TICKETS,
    }
)
"""What a service has nothing of, as far as can be seen: it is no candidate there."""
_OF_MONGODB = frozenset({BottleneckKind.TICKETS})
"""What no other database has."""


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What was full. `text` names it in a few words with its figure.

    `candidates` are all that were looked at, in the order in which they are judged; `remarks` further lines of
    evidence.
    """

    kind: BottleneckKind
    text: str
    candidates: tuple[Evidence, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def evidence(self) -> tuple[str, ...]:
        """What was seen, a line each: of every candidate, then the remarks."""
        return (*(candidate.text for candidate in self.candidates), *self.remarks)


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
    waits = [look(observation) for look in (query_plan, lock, replication, journal, disk, tickets)]
    seen = [
        outage(observation),
        generator(observation, null_ceiling_ops_per_s=null_ceiling_ops_per_s),
        *waits,
        *(look(observation) for look in (cache, server_cpu, host, network)),
        connections(observation, waits=waits, plateau_connections=plateau_connections),
    ]
    protocol = protocol_of_target(observation.target)
    foreign = _OF_DATABASES if protocol == "http" else _OF_MONGODB if protocol != "mongodb" else ()
    seen = [each for each in seen if each.kind not in foreign]
    candidates = tuple(sorted(seen, key=lambda each: ORDER.index(each.kind)))
    if _starved(observation, null_ceiling_ops_per_s):
        full = [each for each in candidates if each.full and each.kind is not BottleneckKind.GENERATOR]
    else:
        full = [each for each in candidates if each.full]
    limit = next((each for each in full if not _has_room(each, candidates, observation)), None)
    if limit is None:
        return Bottleneck(BottleneckKind.UNDETERMINED, "undetermined", candidates)
    return Bottleneck(limit.kind, limit.verdict, candidates)


def at_its_limit(observation: Observation) -> bool:
    """Whether a run asked for more than it got, so that something limited it. Without think time a closed loop does.

    So does one whose workers had not performed their loops in time.
    """
    if observation.closed_loop:
        are_all_busy = observation.mean_in_flight >= IN_USE_SHARE_FULL * observation.in_flight_max
        return observation.back_to_back or observation.overdue > 0 or are_all_busy
    completed = observation.completed_share is None or observation.completed_share >= Slo().completed_share_min
    if outage(observation).full:
        return True
    growth = observation.backlog_growth
    grows = growth is not None and growth.low > 0
    return not completed or grows or (observation.held_back_share or 0.0) >= HELD_BACK_SHARE_FULL


def _starved(observation: Observation, null_ceiling_ops_per_s: float | None) -> bool:
    """Whether a generator that was late had time for much more, on a host that other programs filled."""
    server, own = observation.server, observation.generator
    if not server.shared_host or not others_fill_host(server, own) or own.busiest_thread_share >= BUSY_SHARE_NEAR:
        return False
    return not generator_headroom(observation.throughput_ops_per_s, null_ceiling_ops_per_s)


def _has_room(limit: Evidence, candidates: tuple[Evidence, ...], observation: Observation) -> bool:
    """A cache that misses is no limit where more connections would do more: it only makes each of them slower.

    Nothing but its absence limits a server that was gone, whatever was full while it was there.
    """
    if observation.server_gone_ns:
        return limit.kind not in (BottleneckKind.OUTAGE, BottleneckKind.CONNECTIONS)
    if limit.kind is not BottleneckKind.CACHE or not observation.closed_loop:
        return False
    return any(each.kind is BottleneckKind.CONNECTIONS and each.full for each in candidates)
