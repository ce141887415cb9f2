"""Owns what was due in the measured window and has no time: never sent, or sent and never answered.

Whoever leaves it out of a percentile gets the percentile of the survivors: of an overloaded server that is the figure
of the operations that it happened to answer. Each counts as slower than all that completed (`NEVER_NS`).
"""

from collections import Counter
from collections.abc import Mapping

from brimline.record.model import Clock, RunRecord
from brimline.stats.quantile_interval import Buckets, with_never

EDGE_OPERATIONS = 3
"""Operations that may be missing because the window's edges cut them off; matters at low rates only."""


def never_completed(record: RunRecord, clock: Clock) -> dict[str, int]:
    """By kind, how many operations have no time of `clock`; empty where at most `EDGE_OPERATIONS` have none.

    Which kinds those were that never went out is not recorded: they are taken to be mixed as those that did. A closed
    loop's operations are due when they are sent, so that none of it is overdue.
    """
    sent, finished = Counter[str](), Counter[str]()
    for row in record.operations:
        if row["phase"] == "measure":
            sent[row["operation"]] += row["sent"]
            finished[row["operation"]] += row["ok"] + row["miss"] + row["failed"]
    overdue = record.summary["overdue"] if record.summary and not record.closed_loop and clock != "service" else 0
    unsent = _apportioned(overdue, dict(sorted(sent.items())))
    missing = {kind: unsent[kind] + (max(0, sent[kind] - finished[kind]) if clock != "lag" else 0) for kind in sent}
    return missing if sum(missing.values()) > EDGE_OPERATIONS else {}


def due_buckets(record: RunRecord, clock: Clock) -> dict[str, Buckets]:
    """By kind, the times of all that was due in the window, `NEVER_NS` for what never completed; none is empty."""
    missing = never_completed(record, clock)
    return {
        kind: with_never(buckets, missing.get(kind, 0))
        for (kind, of), histogram in record.histograms.items()
        if of == clock and (buckets := histogram.buckets())
    }


def _apportioned(count: int, weights: Mapping[str, int]) -> dict[str, int]:
    """`count` in parts that are as the weights and add up to it; all 0 without weights."""
    parts, whole, seen, given = {}, sum(weights.values()), 0, 0
    for name, weight in weights.items():
        seen += weight
        up_to = round(count * seen / whole) if whole else 0
        parts[name], given = up_to - given, up_to
    return parts
