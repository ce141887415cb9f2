"""Owns whether a background workload was really at work while a run was measured, and what it did meanwhile."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from brimline.analysis.observation import Observation
from brimline.record.background import Activity
from brimline.record.model import RunRecord
from brimline.units import NS_PER_S, format_percentage
from brimline.wording import message

BACKUP_UNITS = ("dumps", "copies")
BUSY_SHARE_MIN = 0.95
"""Share of the measured window in which the background must be at work, so that the window is one with it. Between two
builds of an index, or two scans, it pauses for a few milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """A background workload in one measured window. `units` is how far it came in it, None where it doesn't say.

    `problem`: why the window is none with this background, None when it is. `each_s` and `each_bytes`: of backups,
    what each that ended took, whether in the window or not.
    """

    kind: str
    unit: str
    busy_share: float
    units: int | None
    units_per_s: float | None
    problem: str | None
    each_s: tuple[float, ...] = ()
    each_bytes: tuple[int, ...] = ()


def measured_window(record: RunRecord) -> tuple[int, int] | None:
    """The measured window on the wall clock, in ns since 1970; None in a run that was never sealed."""
    if record.summary is None or record.plan.duration_ns is None:
        return None
    begin = record.summary["started_unix_ns"] + record.plan.warmup_ns
    return begin, begin + record.plan.duration_ns


def coverage(activity: Activity, window: tuple[int, int]) -> Coverage:
    """What `activity` did in `window`, (begin, end) on the same clock."""
    begin, end = window
    length = max(end - begin, 1)
    busy = sum(max(0, min(stop, end) - max(start, begin)) for start, stop in activity.spans) / length
    units = _units_in(activity, begin, end)
    return Coverage(
        kind=activity.kind,
        unit=activity.unit,
        busy_share=busy,
        units=units,
        units_per_s=None if units is None else units * NS_PER_S / length,
        problem=_problem(activity, busy, units),
        each_s=_lengths_s(activity),
        each_bytes=activity.sizes_bytes,
    )


def _lengths_s(activity: Activity) -> tuple[float, ...]:
    """How long each backup took that ended: each is a span, and one that was cut short is the last."""
    if activity.unit not in BACKUP_UNITS or not activity.progress:
        return ()
    ended = activity.progress[-1][1]
    return tuple((stop - start) / NS_PER_S for start, stop in activity.spans[:ended])


def _problem(activity: Activity, busy: float, units: int | None) -> str | None:
    if activity.error is not None:
        return message("the background ended early: {reason}", reason=activity.error)
    if busy < BUSY_SHARE_MIN:
        return message(
            "the background was at work in {share} of the measured window only", share=format_percentage(busy)
        )
    # One scan, build or backup may be longer than the window; an import or a workload that does nothing is none.
    if units == 0 and activity.kind.startswith(("import", "workload")):
        return "the background came no further in the measured window"
    return None


def _units_in(activity: Activity, begin: int, end: int) -> int | None:
    """Units from the last word before `begin` to the last before `end`; None where it says nothing on its way."""
    if not activity.progress:
        return None
    return _units_at(activity, end) - _units_at(activity, begin)


def _units_at(activity: Activity, instant: int) -> int:
    return max((units for time, units in activity.progress if time <= instant), default=0)


SERVER_FIGURES: Mapping[str, Callable[[Observation], float | None]] = {
    "CPUs used by the server": lambda run: run.server.server_cpus_used,
    "Cache filled": lambda run: run.server_use.cache_fill,
    "Cache dirty": lambda run: run.server_use.cache_dirty,
    "Disk busy": lambda run: run.server_use.disk_busy_share,
    "Checkpoint running": lambda run: run.server_use.checkpoint_share,
    "Operations in the read queue": lambda run: run.server_use.read_queue,
    "Operations in the write queue": lambda run: run.server_use.write_queue,
}
"""What the server is looked at for, by name."""
SERVER_SHARES = frozenset({"Cache filled", "Cache dirty", "Disk busy", "Checkpoint running"})
"""Those that are shares of 1."""


def server_means(runs: Sequence[Observation]) -> dict[str, float]:
    """The mean of each figure of the server over runs; what no run knows is absent."""
    known = {
        name: [value for run in runs if (value := figure(run)) is not None] for name, figure in SERVER_FIGURES.items()
    }
    return {name: fmean(values) for name, values in known.items() if values}
