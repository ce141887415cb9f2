"""Owns who runs after whom: pure.

The machine drifts, and what runs a moment later drifts with it. So every peer has a run of brimline right before or
right after its own and is compared with that one; from round to round the order is turned round.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One run to be made. Runs with the same number are compared with each other."""

    client: str
    cell: str
    round: int
    number: int


def turns(cells: Sequence[tuple[str, Sequence[str]]], *, rounds: int, reference: str) -> Iterator[Turn]:
    """All runs in order. `cells`: each cell's name and the peers that can do it.

    Two peers share the run of `reference` between them: peer, reference, peer. A cell without peers has the reference
    alone.
    """
    number = 0
    for round_number in range(1, rounds + 1):
        for cell, peers in cells:
            ordered = list(peers) if round_number % 2 == 1 else list(reversed(peers))
            groups = [ordered[first : first + 2] for first in range(0, len(ordered), 2)] or [[]]
            for group in groups:
                number += 1
                for client in (*group[:1], reference, *group[1:]):
                    yield Turn(client=client, cell=cell, round=round_number, number=number)
