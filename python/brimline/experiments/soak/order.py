"""Owns what a soak does next: a short closed loop where the rate isn't known, then the run, then what is left of it.

Pure. A soak that was interrupted goes on with what is left: every part counts, however it ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from brimline.experiments.cost import StageCost, TimeEstimate
from brimline.spec import Spec
from brimline.spec.load_models import ConstantLoad, Load, PoissonLoad, TlrLoad, is_closed
from brimline.units import NS_PER_S

SOAK_KIND = "soak"
DURATION_S_DEFAULT = 1800.0
RATE_SHARE = 0.5
"""Of what a closed loop answers: a server that is half full has room for what a soak is to show."""
LEVEL_S = 10.0
WARMUP_S_MAX = 60.0
WARMUP_SHARE = 0.05
PART_S_MIN = 1.0
"""What is left below that is not worth a run."""
DURATION_S_MAX = 30 * 24 * 3600.0
INTERVALS_MAX = 86_400
"""Rows of a soak: one a second for a day, and of longer ones as many."""
INTERVAL_S_MIN = 0.1
INTERVAL_S_MAX_OF_SHORT = 1.0
_INTERVALS_MIN = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakSettings:
    """`duration_s`: how long is measured in all. `warmup_s`: before each part; None: a twentieth, a minute at most."""

    duration_s: float = DURATION_S_DEFAULT
    warmup_s: float | None = None

    def __post_init__(self) -> None:
        if not PART_S_MIN <= self.duration_s <= DURATION_S_MAX:
            raise ValueError("a soak lasts from 1 s to 30 days")
        if self.warmup_s is not None and not 0 <= self.warmup_s <= DURATION_S_MAX:
            raise ValueError("the warm-up of a soak lasts from 0 s to 30 days")

    @property
    def effective_warmup_s(self) -> float:
        """Before each part."""
        return min(WARMUP_S_MAX, WARMUP_SHARE * self.duration_s) if self.warmup_s is None else self.warmup_s

    @property
    def interval_s(self) -> float:
        """Length of a sample interval."""
        finest = min(max(self.duration_s / _INTERVALS_MIN, INTERVAL_S_MIN), INTERVAL_S_MAX_OF_SHORT)
        return max(finest, self.duration_s / INTERVALS_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakProbe:
    """A run that a soak asks for: `level`, a closed loop that tells a rate, or a `part` of the soak itself.

    `rate_ops_per_s`: None in a closed loop, and where the workload's own load says it.
    """

    stage: Literal["level", "part"]
    number: int
    rate_ops_per_s: float | None
    warmup_s: float
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakTrial:
    """What came of it. `measured_s`: how much of it there is; `throughput_ops_per_s` in that."""

    probe: SoakProbe
    measured_s: float
    throughput_ops_per_s: float
    ended_by: str
    took_s: float | None = None

    @property
    def counts(self) -> bool:
        """Whether it is part of the soak and holds something."""
        return self.probe.stage == "part" and self.measured_s > 0


class Soak:
    """Asks for the runs of a soak. `offers`: the workload has a rate of its own."""

    def __init__(self, settings: SoakSettings, *, offers: bool) -> None:
        self._settings = settings
        self._offers = offers

    def next_probe(self, trials: Sequence[SoakTrial]) -> SoakProbe | None:
        """What is left; None when all was measured, and where a closed loop answered nothing."""
        settings, parts = self._settings, parts_of(trials)
        rate = None if self._offers else rate_of(trials)
        if rate is None and not self._offers:
            if any(each.probe.stage == "level" and each.ended_by == "completed" for each in trials):
                return None
            return SoakProbe(stage="level", number=1, rate_ops_per_s=None, warmup_s=LEVEL_S / 5, duration_s=LEVEL_S)
        left_s = settings.duration_s - sum(each.measured_s for each in parts)
        if left_s < min(PART_S_MIN, settings.duration_s / 2):
            return None
        return SoakProbe(stage="part", number=len(parts) + 1, rate_ops_per_s=rate,
                         warmup_s=settings.effective_warmup_s, duration_s=left_s)  # fmt: skip


def parts_of(trials: Sequence[SoakTrial]) -> list[SoakTrial]:
    """The runs of the soak itself."""
    return [each for each in trials if each.probe.stage == "part"]


def rate_of(trials: Sequence[SoakTrial]) -> float | None:
    """The rate that a closed loop tells; None where there was none, or it answered nothing."""
    level = next((each for each in trials if each.probe.stage == "level" and each.ended_by == "completed"), None)
    if level is None or level.throughput_ops_per_s <= 0:
        return None
    return float(f"{RATE_SHARE * level.throughput_ops_per_s:.2g}")


def offers_rate(load: Load) -> bool:
    """Whether a workload's load has a constant rate of its own. Raises ValueError for one that can't be soaked."""
    if isinstance(load, ConstantLoad | PoissonLoad):
        return True
    if is_closed(load) and not isinstance(load, TlrLoad):
        return False
    raise ValueError("a soak needs a rate that stays, and this load changes its own or comes to an end")


def soak_time(spec: Spec, settings: SoakSettings) -> TimeEstimate:
    """How long it takes."""
    stages = [StageCost("soak", 1, settings.effective_warmup_s + settings.duration_s)]
    if not offers_rate(spec.load):
        stages.insert(0, StageCost("level", 1, LEVEL_S * 1.2))
    total_s = sum(each.total_s for each in stages)
    return TimeEstimate(typical_s=total_s, max_s=total_s, stages=tuple(stages))


def soak_spec(spec: Spec, settings: SoakSettings, probe: SoakProbe) -> Spec:
    """The workload as one run of the soak has it."""
    load: Load = spec.load if probe.rate_ops_per_s is None else ConstantLoad(rate=probe.rate_ops_per_s)
    return spec.model_copy(
        update={
            "load": load,
            "warmup_ns": round(probe.warmup_s * NS_PER_S),
            "duration_ns": round(probe.duration_s * NS_PER_S),
            "operation_count": None,
            "interval_ns": round(
                (settings.interval_s if probe.stage == "part" else INTERVAL_S_MAX_OF_SHORT) * NS_PER_S
            ),
        }
    )
