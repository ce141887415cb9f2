"""Owns the candidate "query plan": the server looked at many more documents than it had to return or to write."""

from brimline.analysis.bottleneck.evidence import BottleneckKind, Evidence, fullness
from brimline.analysis.observation import Observation
from brimline.units import format_number
from brimline.wording import message

SCANNED_PER_MATCH_FULL = 100.0
"""Scanned documents per match from which scanning costs as much as the rest of an operation.

In cache a scanned document was measured at 0.3 µs of server CPU, a lookup by key at 50 µs with all that belongs to it.
Atlas raises its alert "query targeting" from 1000 on.
"""
SCANNED_PER_MATCH_NEAR = 10.0
"""Scanned documents per match from which an index fits the query badly; with a fitting one it is 1."""


def query_plan(observation: Observation) -> Evidence:
    """Full from 100 documents looked at for each match on."""
    scanned = observation.server_use.scanned_per_match
    standing = fullness(scanned, full=SCANNED_PER_MATCH_FULL, near=SCANNED_PER_MATCH_NEAR)
    if scanned is None:
        return Evidence(kind=BottleneckKind.QUERY_PLAN, standing=standing, text="documents scanned per match unknown")
    figure = format_number(scanned)
    return Evidence(
        kind=BottleneckKind.QUERY_PLAN,
        standing=standing,
        text=message("{scanned} documents scanned for each one returned or written", scanned=figure),
        verdict=message("the query plan ({scanned} documents scanned for each match)", scanned=figure),
    )
