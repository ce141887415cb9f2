"""Owns what the reader of a comparison must know before believing its figures."""

from collections.abc import Iterator, Sequence

from brimline.analysis.changes import LeftOut, MetricChange
from brimline.analysis.compared_run import ComparedRun, noun_of
from brimline.analysis.spoilt import lag_warnings, spoilt_metrics
from brimline.stats.change import RUNS_MIN
from brimline.wording import Verbatim, joined, message

RUNS_ADVISED = 5
"""Runs a side from which a change of 5 % is found reliably."""


def caveats(
    a: Sequence[ComparedRun],
    b: Sequence[ComparedRun],
    left_out: Sequence[LeftOut],
    changes: Sequence[MetricChange],
) -> Iterator[str]:
    """What the reader must know before believing the figures; first of all what these are not of."""
    for side, runs in (("A", a), ("B", b)):
        for run in runs:
            if run.unsent:
                yield message("{name} ({side}): {evidence}", name=Verbatim(run.name), side=side, evidence=run.unsent)
    yield from _crowded((*a, *b))
    yield from lag_warnings(a, b)
    for each in left_out:
        yield message("{name} ({side}) is left out: {reason}", name=each.name, side=each.side, reason=each.reason)
    if any(run.ends for run in (*a, *b)) and min(len(a), len(b)) < RUNS_MIN:
        yield (
            "One a side: the interval is of what was seen within it. What changes from day to day, on the machine or "
            "in the data, is not in it; several a side show that too."
        )
    if _apart(a, b):
        yield (
            "All runs of one side were made before those of the other: what else changed in between, on the machine or "
            "in the data, is part of the difference, and no interval holds it. brimline ab runs them in turns."
        )
    if RUNS_MIN <= min(len(a), len(b)) < RUNS_ADVISED and noun_of(a[0].kind) in ("run", "import"):
        yield message(
            "{count} runs a side find large changes only; {advised} a side find 5 % where runs vary by 1.5 %.",
            count=min(len(a), len(b)),
            advised=RUNS_ADVISED,
        )
    if min(len(a), len(b)) < RUNS_MIN:
        return
    spoilt = {metric.key for run in (*a, *b) for metric in spoilt_metrics(run)}
    if few := [each.metric.label for each in changes if each.change is None and each.metric.key not in spoilt]:
        yield message("Too few runs have enough operations for: {few}.", few=joined(", ", few))
    partly = [each.metric for each in changes if each.change is not None and not each.of_every_run]
    if some := [each.label for each in partly if each.key not in spoilt]:
        yield message(
            "Not every run has the figure, and those without may be the slow ones: {some}.", some=joined(", ", some)
        )


def _crowded(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """That other programs filled the server's host, in how many of the runs, and what they took in the first."""
    found = [run for run in runs if run.crowded]
    if found:
        yield message(
            "Other programs filled the server's host in {count} of {all} runs, and what they left each side is part of "
            "the difference ({name}: {evidence}).",
            count=len(found),
            all=len(runs),
            name=Verbatim(found[0].name),
            evidence=found[0].crowded,
        )


def _apart(a: Sequence[ComparedRun], b: Sequence[ComparedRun]) -> bool:
    """Whether the runs were made side after side; not known without their times."""
    times = [[run.started_ns for run in runs if run.started_ns is not None] for runs in (a, b)]
    if not all(times) or len(a) + len(b) < 2 * RUNS_MIN:
        return False
    return max(times[0]) < min(times[1]) or max(times[1]) < min(times[0])
