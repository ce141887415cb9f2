"""Owns what a run shows around a fault: how long nothing was answered, when the rate was back, what became of it all.

By the log of operations, where the run has one, to the nanosecond; else by its intervals, and no better than these.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from brimline.analysis.outages import retried_count
from brimline.errors import RecordError
from brimline.operations import KINDS
from brimline.record.fault import FaultFacts
from brimline.record.model import RunRecord
from brimline.record.operation_log import log_path
from brimline.units import NS_PER_S

AROUND_NS = 5 * NS_PER_S
"""Operations that were due so long before and after a fault began are those around it: ten seconds."""
BACK_SHARE = 0.95
_BY_CHANCE = 3.0
"""Standard deviations of a count of independent arrivals, which is its root."""
_USUALLY_OFF = 0.1
"""Share of the rate by which a server is off now and then: a checkpoint is more than chance, and no loss."""
_BIN_NS = NS_PER_S // 10
_WINDOW_BINS = 10
"""A rate is that of a second."""
_HELD_BINS = 20
"""So much longer it has to stay: 2 s."""
_ROW = np.dtype(
    [
        *((name, "<u8") for name in ("done", "sent", "due", "first", "second")),
        ("documents", "<u4"),
        *((name, "u1") for name in ("operation", "ending", "phase", "rest")),
    ]
)
_HEADER_BYTES = 48
_FAILED = 2
_NONE = np.iinfo(np.uint64).max

Times = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A time without an answer on the run's clock. `ended`: something was answered after it."""

    from_ns: int
    to_ns: int
    ended: bool = True

    @property
    def length_ns(self) -> int:
        """How long it was; of one that did not end, at least."""
        return self.to_ns - self.from_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultFigures:
    """A run around a fault, which began at `begun_ns` on its clock and was undone at `undone_ns`.

    `gap`: the longest time without an answer since then, `gaps` the same of each operation; both no finer than
    `resolution_ns`. `back_ns`: from the begin to where 95 % of the rate before it is answered again, and stays so for 2
    s; None: not before the end. `p99_ns`: response time of the `around` operations due in the ten seconds around; None
    where more than 1 % of them have no answer, or it isn't known. Of those `due`, `failed` and `unfinished` were sent
    and never answered, and `overdue` were never sent. `repeated`: commands that the client sent once more by itself, as
    a driver does, so that the application hears of no error. `errors` by class, code and name.
    """

    begun_ns: int
    undone_ns: int | None
    gap: Gap
    gaps: Mapping[str, Gap]
    resolution_ns: int
    rate_before_ops_per_s: float
    back_ns: int | None
    p99_ns: int | None
    around: int
    around_unanswered: int
    due: int
    failed: int
    unfinished: int
    overdue: int
    repeated: int
    errors: Mapping[str, int] = field(default_factory=dict)

    @property
    def unanswered(self) -> int:
        """Of what was sent, how much was never answered well."""
        return self.failed + self.unfinished

    @property
    def without_answer(self) -> int:
        """Of what was due, how much was never answered well, sent or not: what users missed."""
        return self.unanswered + self.overdue


@dataclass(frozen=True, slots=True)
class _Answers:
    """Operations that finished: when each was done and due, ns on the run's clock, which it was, and whether well."""

    done: Times
    due: Times
    operation: npt.NDArray[np.uint8]
    well: npt.NDArray[np.bool_]


def fault_figures(record: RunRecord, facts: FaultFacts) -> FaultFigures | None:
    """What it shows; None of a run without an end, or one that nothing befell. Raises RecordError."""
    summary = record.summary
    if summary is None or facts.begun_unix_ns is None:
        return None
    zero_ns = summary["started_unix_ns"]
    begun_ns = facts.begun_unix_ns - zero_ns
    undone_ns = None if facts.undone_unix_ns is None else facts.undone_unix_ns - zero_ns
    end_ns = record.plan.warmup_ns + (record.plan.duration_ns or summary["elapsed_ns"])
    answers = _logged(record)
    resolution_ns = 0
    if answers is None:
        answers, resolution_ns = _of_intervals(record), record.plan.interval_ns
    well = answers.done[answers.well]
    gap = longest_gap(well, begun_ns=begun_ns, end_ns=end_ns)
    kinds = np.unique(answers.operation)
    names = tuple(KINDS) if resolution_ns == 0 else tuple(_names(record))
    gaps = {
        names[int(kind)]: longest_gap(answers.done[answers.well & (answers.operation == kind)], begun_ns=begun_ns,
                                      end_ns=end_ns)
        for kind in kinds
    }  # fmt: skip
    counts = _counts(record, answers, resolution_ns)
    before, back_ns = time_back(counts, begun_ns=begun_ns, from_ns=record.plan.warmup_ns, gap=gap, end_ns=end_ns)
    p99_ns, around, unanswered = (None, 0, 0) if resolution_ns else _around(record, answers, begun_ns, end_ns)
    errors: Counter[str] = Counter()
    for row in summary["errors"]:
        errors[" ".join(filter(None, (row["outcome"], str(row["code"] or ""), row["label"])))] += row["count"]
    return FaultFigures(
        begun_ns=begun_ns, undone_ns=undone_ns, gap=gap, gaps=gaps, resolution_ns=resolution_ns,
        rate_before_ops_per_s=before, back_ns=back_ns, p99_ns=p99_ns, around=around, around_unanswered=unanswered,
        due=summary["due"], failed=summary["failed"], unfinished=summary["unfinished"], overdue=summary["overdue"],
        repeated=retried_count(record), errors=dict(errors),
    )  # fmt: skip


def longest_gap(done_ns: Times, *, begun_ns: int, end_ns: int) -> Gap:
    """The longest time between two answers of which the second came after `begun_ns`; up to `end_ns` without one."""
    done = np.sort(done_ns)
    before = done[done <= begun_ns]
    edges = np.concatenate(([before[-1]] if len(before) else [begun_ns], done[done > begun_ns]))
    last = int(edges[-1])
    longest = Gap(from_ns=last, to_ns=max(last, end_ns), ended=False)
    if len(edges) > 1:
        place = int(np.argmax(np.diff(edges)))
        inner = Gap(from_ns=int(edges[place]), to_ns=int(edges[place + 1]))
        longest = max(inner, longest, key=lambda each: each.length_ns)
    return longest


def time_back(
    counts: npt.NDArray[np.int64], *, begun_ns: int, from_ns: int, gap: Gap, end_ns: int
) -> tuple[float, int | None]:
    """The rate before a fault in operations per second, and how long after it began 95 % of that is answered again.

    `counts`: answers in each tenth of a second since the run's start. What a second had before at the least counts as
    the rate as well, so that chance is no loss, but not what is further below than chance goes: a second that was slow
    before a fault is no measure of what came after. 0: it never fell below; None: not before the end.
    """
    seconds = np.convolve(counts, np.ones(_WINDOW_BINS, dtype=np.int64), mode="valid")
    first, begin, last = -(-from_ns // _BIN_NS), begun_ns // _BIN_NS, end_ns // _BIN_NS - _WINDOW_BINS
    usual = seconds[first : max(begin - _WINDOW_BINS + 1, first)]
    if not len(usual):
        return math.nan, None
    mean = float(usual.mean())
    least = max(float(usual.min()), mean - max(_BY_CHANCE * math.sqrt(mean), _USUALLY_OFF * mean))
    enough = seconds >= min(BACK_SHARE * mean, least)
    after = enough[begin : last + 1]
    if after.all() and gap.length_ns < NS_PER_S:
        return mean, 0
    earliest = max(-(-gap.to_ns // _BIN_NS) - begin, 0)
    if gap.ended:
        for place in range(earliest, len(after)):
            if after[place : place + _HELD_BINS].all():
                return mean, max(gap.to_ns, (begin + place) * _BIN_NS) - begun_ns
    return mean, None


def _logged(record: RunRecord) -> _Answers | None:
    path = log_path(record.directory)
    if not record.plan.operation_log or not path.exists():
        return None
    try:
        rows: Any = np.fromfile(path, dtype=_ROW, offset=_HEADER_BYTES)
    except OSError as error:
        raise RecordError(f"{path} can't be read: {error}") from error
    due = np.where(rows["due"] == _NONE, rows["sent"], rows["due"]).astype(np.int64)
    return _Answers(rows["done"].astype(np.int64), due, rows["operation"], rows["ending"] != _FAILED)


def _names(record: RunRecord) -> list[str]:
    return sorted({row["operation"] for row in record.operations})


def _of_intervals(record: RunRecord) -> _Answers:
    """An answer in the middle of each interval that has any, for each operation."""
    names = _names(record)
    middle = {row["start_ns"]: (row["start_ns"] + row["end_ns"]) // 2 for row in record.intervals}
    rows = [row for row in record.operations if row["ok"] + row["miss"] and row["start_ns"] in middle]
    done = np.array([middle[row["start_ns"]] for row in rows], dtype=np.int64)
    kinds = np.array([names.index(row["operation"]) for row in rows], dtype=np.uint8)
    return _Answers(done, done, kinds, np.ones(len(rows), dtype=np.bool_))


def _counts(record: RunRecord, answers: _Answers, resolution_ns: int) -> npt.NDArray[np.int64]:
    """Answers in each tenth of a second."""
    if not resolution_ns:
        return np.bincount(answers.done[answers.well] // _BIN_NS).astype(np.int64)
    last = max((row["end_ns"] for row in record.intervals), default=0) // _BIN_NS
    counts = np.zeros(last + 1, dtype=np.int64)
    for row in record.operations:
        counts[min(row["start_ns"] // _BIN_NS, last)] += row["ok"] + row["miss"]
    return counts


def _around(record: RunRecord, answers: _Answers, begun_ns: int, end_ns: int) -> tuple[int | None, int, int]:
    """The p99 of what was due in the ten seconds around, of how many, and how many were never answered.

    Nothing is due after the run's end.
    """
    begin, end = max(begun_ns - AROUND_NS, 0), min(begun_ns + AROUND_NS, end_ns)
    chosen = (answers.due >= begin) & (answers.due < end)
    well = chosen & answers.well
    seen, response = int(chosen.sum()), np.sort(answers.done[well] - answers.due[well])
    pacer = record.plan.pacer
    rate = getattr(pacer, "rate_ops_per_s", None) if pacer.kind == "constant" else None
    total = max(seen, round(rate * (end - begin) / NS_PER_S)) if rate is not None else seen
    place = math.ceil(0.99 * total) - 1
    return (int(response[place]) if 0 <= place < len(response) else None), total, total - len(response)
