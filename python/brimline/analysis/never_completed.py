"""Owns what was due in the measured window and has no time: never sent, or sent and never answered.

Whoever leaves it out of a percentile gets the percentile of the survivors: of an overloaded server that is the figure
of the operations that it happened to answer. Each counts as slower than all that completed (`NEVER_NS`), and has
waited at least from when it was due, or sent, to the end of the run.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from brimline.record.model import Clock, RunRecord
from brimline.stats.quantile_interval import Buckets, merge_buckets, with_never

EDGE_OPERATIONS = 3
"""Operations that may be missing because the window's edges cut them off; matters at low rates only."""


def never_completed(record: RunRecord, clock: Clock) -> dict[str, int]:
    """By kind, how many operations have no time of `clock`; empty where at most `EDGE_OPERATIONS` have none.

    Which kinds those were that never went out is not recorded: they are taken to be mixed as those that did. A closed
    loop's operations are due when they are sent, so that none of it is overdue.
    """
    unsent, unanswered = _missing(record, clock)
    missing = {kind: unsent[kind] + unanswered[kind] for kind in unsent}
    return missing if sum(missing.values()) > EDGE_OPERATIONS else {}


def waited(record: RunRecord, clock: Clock) -> dict[str, Buckets]:
    """By kind, how long what never completed had waited at least when the run ended, as (ns, count) ascending.

    An open loop sends in the order in which operations are due, so what never went out was due last; of what was never
    answered only the interval of its sending is known, and it is taken to have been sent last. Each counts from the
    end of its interval on.
    """
    if not never_completed(record, clock):
        return {}
    unsent, unanswered = _missing(record, clock)
    end_ns = _end_ns(record)
    due = _due_by_interval(record)
    sent: dict[str, list[tuple[int, int]]] = {kind: [] for kind in unsent}
    for row in record.operations:
        if row["phase"] == "measure":
            sent[row["operation"]].append((row["end_ns"], row["sent"]))
    overdue = _last(due, sum(unsent.values()), end_ns)
    ages_of_unsent: dict[str, list[tuple[int, int]]] = {kind: [] for kind in unsent}
    given, seen, whole = Counter[str](), 0, sum(unsent.values())
    for age_ns, count in overdue:
        seen += count
        for kind, its in unsent.items():
            part = round(its * seen / whole) - given[kind]
            given[kind] += part
            ages_of_unsent[kind].append((age_ns, part))
    return {kind: merge_buckets([ages_of_unsent[kind], _last(sent[kind], unanswered[kind], end_ns)]) for kind in unsent}


def _missing(record: RunRecord, clock: Clock) -> tuple[dict[str, int], dict[str, int]]:
    """By kind, what was never sent, and what was sent and never answered."""
    sent, finished = Counter[str](), Counter[str]()
    for row in record.operations:
        if row["phase"] == "measure":
            sent[row["operation"]] += row["sent"]
            finished[row["operation"]] += row["ok"] + row["miss"] + row["failed"]
    overdue = record.summary["overdue"] if record.summary and not record.closed_loop and clock != "service" else 0
    unsent = _apportioned(overdue, dict(sorted(sent.items())))
    unanswered = {kind: max(0, sent[kind] - finished[kind]) if clock != "lag" else 0 for kind in unsent}
    return unsent, unanswered


def _end_ns(record: RunRecord) -> int:
    """When the run was over, on its clock."""
    last_ns = max((row["end_ns"] for row in record.intervals), default=0)
    return last_ns if record.summary is None else max(last_ns, record.summary.get("elapsed_ns", 0))


def _due_by_interval(record: RunRecord) -> list[tuple[int, int]]:
    """The end of each interval of the offer, and how many operations were due in it: those sent, and what piled up."""
    sent = Counter[int]()
    for row in record.operations:
        sent[row["start_ns"]] += row["sent"]
    due, backlog = [], 0
    for interval in record.intervals:
        if interval["phase"] != "drain":
            due.append((interval["end_ns"], max(0, sent[interval["start_ns"]] + interval["backlog"] - backlog)))
        backlog = interval["backlog"]
    return due


def _last(counts: Iterable[tuple[int, int]], wanted: int, end_ns: int) -> list[tuple[int, int]]:
    """The last `wanted` of what happened up to (instant, count), as (time from then to the end, count)."""
    found, left = [], wanted
    for at_ns, count in sorted(counts, reverse=True):
        taken = min(count, left)
        if taken:
            found.append((max(0, end_ns - at_ns), taken))
        left -= taken
    return [*found, (found[0][0] if found else 0, left)] if left else found


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
