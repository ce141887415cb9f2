"""Owns the candidate "tickets and queues": operations that the server let wait at its own entrance."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, Fullness, fullest, fullness
from brimline.analysis.observation import Observation
from brimline.units import format_number, format_percentage
from brimline.wording import joined, message

USE_FULL = 0.90
"""Mean share of the tickets in use from which they count as used up: looks are instants, and a ticket changes hands."""
USE_NEAR = 0.75
"""Share from which bursts meet a full house."""
QUEUE_MIN = 1.0
"""Operations waiting on average, below which nobody suffers from tickets that are used up."""


def tickets(observation: Observation) -> Evidence:
    """Full when the tickets of reads or of writes are used up and operations wait for them."""
    use = observation.server_use
    kinds = (("read", use.read_tickets_share, use.read_queue), ("write", use.write_tickets_share, use.write_queue))
    known = [(name, share or 0.0, queue or 0.0) for name, share, queue in kinds if share is not None]
    if not known:
        return Evidence(kind=BottleneckKind.TICKETS, standing=Fullness.UNKNOWN, text="tickets and queues unknown")
    seen = [
        message(
            "{share} of the {name} tickets in use, {queue} operations waiting for one",
            share=format_percentage(share),
            name=name,
            queue=format_number(queue),
        )
        for name, share, queue in known
    ]
    worst = max(range(len(known)), key=lambda index: (known[index][1] >= USE_FULL, known[index][2], known[index][1]))
    return Evidence(
        kind=BottleneckKind.TICKETS,
        standing=fullest(*(_standing(share, queue) for _, share, queue in known)),
        text=joined("; ", seen),
        verdict=message("tickets ({seen})", seen=seen[worst]),
    )


def _standing(share: float, queue: float) -> Fullness:
    standing = fullness(share, full=USE_FULL, near=USE_NEAR)
    return Fullness.NEAR if standing is Fullness.FULL and queue < QUEUE_MIN else standing
