"""Owns what an experiment costs in time, to be said before it starts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from brimline.experiments.paired.order import PAIRS_AGAIN_MAX
from brimline.experiments.settings import CapacitySettings, SweepSettings
from brimline.units import NS_PER_S, format_bytes, format_count, format_duration
from brimline.wording import joined, message

SWEEP_LEVELS_TYPICAL = 6
"""Levels of a sweep up to its plateau, 1 to 32 connections; the flat ones that end it come on top."""

WINDOWS_TYPICAL = 12
"""Windows of a search on a quiet machine."""

ASSUMED_COPY_BYTES_PER_S = 100e6
"""Of `$out`, with data in memory: 53 MB/s were seen with documents of 200 bytes, 220 MB/s with those of 1 KB."""
AROUND_RUN_S = 1.5
"""Of a run of a design: a driver's program and nodes begin, the data are looked at, the record is sealed and read.

On two cores 0.9 s were seen with brimline's own client, 2 s with Node.js on two nodes.
"""
_WITHOUT_SERVER = "calibrate"


@dataclass(frozen=True, slots=True)
class StageCost:
    """Probes of one stage of a search without surprises, and the time of one."""

    stage: str
    probe_count: int
    probe_s: float

    @property
    def total_s(self) -> float:
        """Time of the whole stage."""
        return self.probe_count * self.probe_s


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeEstimate:
    """Probe time: of an experiment without surprises, stage by stage, and the most it can take.

    `typical_s` is NaN and `max_s` infinite where it isn't known beforehand. `further` clauses are said behind it.
    `puts_back`: data are put back before a run, which is in `typical_s`. How long that takes only the server tells, so
    that `max_s` is without it.
    """

    typical_s: float
    max_s: float
    stages: tuple[StageCost, ...] = ()
    further: tuple[str, ...] = ()
    puts_back: bool = False

    @property
    def probe_count(self) -> int:
        """Probes without surprises."""
        return sum(stage.probe_count for stage in self.stages)

    @property
    def text(self) -> str:
        """`estimate: about 14 min 10 s, 22 probes (…); at most 41 min, without server starts, …`."""
        count, stages = (
            self.probe_count,
            joined(
                ", ", [message("{stage} {count}", stage=each.stage, count=each.probe_count) for each in self.stages]
            ),
        )
        if math.isnan(self.typical_s):
            about = message("estimate: {count} probes ({stages})", count=format_count(count), stages=stages)
        else:
            about = message(
                "estimate: about {typical}, {count} probe ({stages})"
                if count == 1
                else "estimate: about {typical}, {count} probes ({stages})",
                typical=format_duration(self.typical_s * NS_PER_S),
                count=format_count(count),
                stages=stages,
            )
        return joined("; ", [about, most_text(self.max_s, puts_back=self.puts_back), *self.further])


TIME_UNKNOWN = TimeEstimate(typical_s=math.nan, max_s=math.inf)
"""Of what only the first of several tells."""


def most_text(max_s: float, *, puts_back: bool = False) -> str:
    """`at most 41 min, without …`; the bound is left out where there is none."""
    if math.isinf(max_s):
        return (
            "without server starts, loading, putting data back and what is around each run"
            if puts_back
            else "without server starts, loading and what is around each run"
        )
    return message(
        "at most {most}, without server starts, loading, putting data back and what is around each run"
        if puts_back
        else "at most {most}, without server starts, loading and what is around each run",
        most=format_duration(max_s * NS_PER_S),
    )


def sweep_time(settings: SweepSettings) -> TimeEstimate:
    """Time of a sweep that flattens after 32 connections, and of one that never does."""
    level_s = settings.warmup_s + settings.duration_s
    count = min(len(settings.levels), SWEEP_LEVELS_TYPICAL + settings.flat_levels) * settings.repeats
    cost = StageCost("sweep", count, level_s)
    return TimeEstimate(typical_s=cost.total_s, max_s=len(settings.levels) * settings.repeats * level_s, stages=(cost,))


def capacity_time(settings: CapacitySettings, *, goals: int = 1) -> TimeEstimate:
    """Time of a capacity search, or of one for several `goals` that share their probes.

    Typical: windows until the figure is known well and held, with the reference load between them. A further goal
    begins with what is known. Windows of a slow target are longer, up to `window_factor_max`.
    """
    sweep = sweep_time(settings.sweep)
    probe_s = window_time(settings)
    references = WINDOWS_TYPICAL * goals // settings.windows_per_reference
    reference_s = settings.sweep.warmup_s + settings.sweep.duration_s
    searching = WINDOWS_TYPICAL - settings.verifications + (WINDOWS_TYPICAL // 2) * (goals - 1)
    stages = (
        StageCost("calibrate", 1, settings.calibrate_s),
        *sweep.stages,
        StageCost("search", searching, probe_s),
        StageCost("reference", references, reference_s),
        StageCost("verify", settings.verifications * goals, probe_s),
    )
    stages = tuple(stage for stage in stages if stage.probe_count)
    typical_s = sum(stage.total_s for stage in stages)
    most_references = math.ceil(settings.windows_max / settings.windows_per_reference)
    max_s = (
        settings.calibrate_s + sweep.max_s + goals * (settings.windows_max * probe_s + most_references * reference_s)
    )
    budget_s = max_s if settings.budget_s is None else settings.budget_s
    return TimeEstimate(typical_s=min(typical_s, budget_s), max_s=min(max_s, budget_s), stages=stages)


def time_needed(settings: CapacitySettings) -> float:
    """Seconds below which a search can't come to a figure: a short sweep, and the fewest windows that verify one."""
    level_s = settings.sweep.warmup_s + settings.sweep.duration_s
    return settings.calibrate_s + 4 * level_s + (settings.verifications + 1) * window_time(settings)


def window_time(settings: CapacitySettings) -> float:
    """Seconds of a whole window."""
    return settings.ramp_up_s or settings.warmup_s + settings.window_s


def run_time(run_s: float | None) -> TimeEstimate:
    """Time of a run of that length; None: it ends after a number of operations."""
    return TIME_UNKNOWN if run_s is None else TimeEstimate(typical_s=run_s, max_s=run_s)


def pairs_time(pairs: int, arms: Mapping[str, TimeEstimate], *, further: Sequence[str] = ()) -> TimeEstimate:
    """Time of `pairs` of runs, each of which has a run of each arm; at most some of them are made again.

    `arms`: by the name of an arm, the time of one run.
    """
    return TimeEstimate(
        typical_s=pairs * math.fsum(each.typical_s for each in arms.values()),
        max_s=(pairs + PAIRS_AGAIN_MAX) * math.fsum(each.max_s for each in arms.values()),
        stages=tuple(StageCost(name, pairs, each.typical_s) for name, each in arms.items()),
        further=(
            message(
                "up to {count} pairs that prove nothing are made again",
                count=PAIRS_AGAIN_MAX,
            ),
            *further,
        ),
    )


@dataclass(frozen=True, slots=True)
class PutBack:
    """What is put back before each run but the first: `size_bytes` of collections that the operations change."""

    size_bytes: int

    def seconds(self, run_count: int) -> float:
        """About how long that takes for so many runs."""
        return max(run_count - 1, 0) * self.size_bytes / ASSUMED_COPY_BYTES_PER_S

    def clauses(self, run_count: int) -> tuple[str, ...]:
        """What an estimate says of it; nothing where nothing is put back."""
        if not self.seconds(run_count):
            return ()
        return (
            message(
                "of that {time} for putting back up to {size} before each run, if it goes at {rate}/s",
                time=format_duration(self.seconds(run_count) * NS_PER_S),
                size=format_bytes(self.size_bytes),
                rate=format_bytes(ASSUMED_COPY_BYTES_PER_S),
            ),
        )

    def within(self, estimate: TimeEstimate) -> TimeEstimate:
        """`estimate` with it."""
        count = sum(stage.probe_count for stage in estimate.stages if stage.stage != _WITHOUT_SERVER)
        return replace(
            estimate,
            typical_s=estimate.typical_s + self.seconds(count),
            puts_back=self.seconds(count) > 0,
            further=(*estimate.further, *self.clauses(count)),
        )


NOTHING_PUT_BACK = PutBack(0)
"""Of operations that leave the data as they were."""
