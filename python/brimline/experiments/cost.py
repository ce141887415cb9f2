"""Owns what an experiment costs in time, to be said before it starts."""

from collections.abc import Sequence
from dataclasses import dataclass

from brimline.experiments.axis import On
from brimline.experiments.settings import CapacitySettings, SweepSettings
from brimline.units import NS_PER_S, format_count, format_duration
from brimline.wording import joined, message

SWEEP_LEVELS_TYPICAL = 6
"""Levels of a sweep up to its plateau, 1 to 32 connections; the flat ones that end it come on top."""


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
    """Probe time: of an experiment without surprises, stage by stage, and the most it can take."""

    typical_s: float
    max_s: float
    stages: tuple[StageCost, ...] = ()

    @property
    def probe_count(self) -> int:
        """Probes without surprises."""
        return sum(stage.probe_count for stage in self.stages)

    @property
    def text(self) -> str:
        """`estimate: about 14 min 10 s, 22 probes (…); at most 41 min, without server starts and loading`."""
        return message(
            "estimate: about {typical}, {count} probe ({stages}); at most {most}, without server starts and loading"
            if self.probe_count == 1
            else "estimate: about {typical}, {count} probes ({stages}); at most {most}, "
            "without server starts and loading",
            typical=format_duration(self.typical_s * NS_PER_S),
            count=format_count(self.probe_count),
            stages=joined(", ", [f"{stage.stage} {stage.probe_count}" for stage in self.stages]),
            most=format_duration(self.max_s * NS_PER_S),
        )


def sweep_time(settings: SweepSettings) -> TimeEstimate:
    """Time of a sweep that flattens after 32 connections, and of one that never does."""
    level_s = settings.warmup_s + settings.duration_s
    count = min(len(settings.levels), SWEEP_LEVELS_TYPICAL + settings.flat_levels) * settings.repeats
    cost = StageCost("sweep", count, level_s)
    return TimeEstimate(typical_s=cost.total_s, max_s=len(settings.levels) * settings.repeats * level_s, stages=(cost,))


def capacity_time(settings: CapacitySettings, *, goals: int = 1) -> TimeEstimate:
    """Time of a capacity search, or of one for several `goals` that share their probes.

    Typical: four probes find the bracket, bisection takes all it may, and the first candidate is verified. A further
    goal begins with what is known. Windows of a slow target are longer, up to `window_factor_max`.
    """
    sweep = sweep_time(settings.sweep)
    bracket_s, bisect_s, verify_s = _probe_times(settings)
    stages = (
        StageCost("calibrate", 1, settings.calibrate_s),
        *sweep.stages,
        StageCost("bracket", 4, bracket_s),
        StageCost("bisect", settings.bisections_max + settings.bisections_max // 2 * (goals - 1), bisect_s),
        StageCost("verify", (settings.verifications + 2) * goals, verify_s),
    )
    typical_s = sum(stage.total_s for stage in stages)
    level_count = settings.steps_down_max + settings.steps_up_max + 3
    # Per level one more than the passes it needs, and for the borderline one a window of double length.
    verify_max_s = level_count * ((settings.verifications + 1) * verify_s + settings.verify_s)
    search_max_s = 16 * bracket_s + settings.bisections_max * bisect_s + verify_max_s
    max_s = settings.calibrate_s + sweep.max_s + goals * search_max_s
    budget_s = max_s if settings.budget_s is None else settings.budget_s
    return TimeEstimate(typical_s=min(typical_s, budget_s), max_s=min(max_s, budget_s), stages=stages)


def time_needed(settings: CapacitySettings) -> float:
    """Seconds below which a search can't come to a number: a short sweep, a bracket, and one verified candidate."""
    bracket_s, _, verify_s = _probe_times(settings)
    level_s = settings.sweep.warmup_s + settings.sweep.duration_s
    return settings.calibrate_s + 4 * level_s + 2 * bracket_s + settings.verifications * verify_s


def _probe_times(settings: CapacitySettings) -> Sequence[float]:
    """Time of a probe of the bracket, of the bisection, and of the verification."""
    if settings.on is On.THREADS:
        return [settings.ramp_up_s or 0.0] * 3
    return [settings.warmup_s + each for each in (settings.bracket_s, settings.bisect_s, settings.verify_s)]
