"""Owns the objective that most tests judge by."""

from brimline.analysis.objective import LatencyObjective, Slo


def p99_within(limit_ns: int) -> Slo:
    """Response time p99 at most `limit_ns`, and the error limit that holds beside it."""
    return Slo(latencies=(LatencyObjective(limit_ns=limit_ns),))
