"""Owns the load models: when the operations of a workload are due."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from brimline.spec import fields
from brimline.spec.base import Part, kind_only, one_of
from brimline.units import NS_PER_S

STEP_COUNT_MAX = 10_000
"""Most steps that `steps` may expand to."""


class ClosedLoad(Part):
    """Each connection is a worker: it sends its next operation when the last is answered, after a think time."""

    kind: Literal["closed"] = "closed"
    think_time_ns: fields.ThinkTime = Field(default=0, alias="think_time")
    """Pause between a reply and the next operation."""
    think_time_law: Literal["constant", "exponential"] = "constant"
    """Whether each pause is the same, or drawn from an exponential law with that mean."""

    @model_validator(mode="after")
    def _check_law(self) -> Self:
        if self.think_time_law != "constant" and not self.think_time_ns:
            raise ValueError(
                "think_time_law has no effect without a think_time; add think_time: 100ms, or leave think_time_law out"
            )
        return self


class UnlimitedLoad(Part):
    """As fast as the connections take operations: no rate, no think time."""

    kind: Literal["unlimited"] = "unlimited"


class TlrLoad(Part):
    """Threads, loops, ramp-up, as in JMeter.

    `threads` workers start evenly over `ramp_up`, each performs `loops` operations one after another on a connection of
    its own.
    """

    kind: Literal["tlr"] = "tlr"
    threads: fields.ConnectionCount
    """Workers, each with a connection of its own."""
    loops: fields.OperationCount
    """Operations of each worker."""
    ramp_up_ns: fields.RampUp = Field(alias="ramp_up")
    """Time over which the workers start."""


class ConstantLoad(Part):
    """Operation i is due at i / rate, whatever the server does."""

    kind: Literal["constant"] = "constant"
    rate_ops_per_s: fields.Rate = Field(alias="rate")
    """Operations that are due each second."""


class PoissonLoad(Part):
    """Operations are due as in a Poisson process, whatever the server does: as if many users acted independently."""

    kind: Literal["poisson"] = "poisson"
    rate_ops_per_s: fields.Rate = Field(alias="rate")
    """Operations that are due each second on average."""


class RampLoad(Part):
    """The rate changes evenly from one to another, and then stays."""

    kind: Literal["ramp"] = "ramp"
    from_ops_per_s: fields.RateOrZero = Field(default=0.0, alias="from")
    """Rate at the begin."""
    to_ops_per_s: fields.RateOrZero = Field(alias="to")
    """Rate at the end."""
    over_ns: fields.StageDuration = Field(alias="over")
    """How long the change takes."""
    arrivals: Literal["even", "poisson"] = "even"
    """Whether operations are evenly spaced, or a Poisson process."""

    @model_validator(mode="after")
    def _check_rates(self) -> Self:
        if not self.from_ops_per_s and not self.to_ops_per_s:
            raise ValueError("a ramp from 0 to 0 offers nothing; give a rate to go to, such as to: 5000/s")
        return self


class StageSpec(Part):
    """A stage: a level `rate`, or a change from `from` to `to`, for some time."""

    model_config = ConfigDict(json_schema_extra=one_of("rate", "to"))

    rate_ops_per_s: fields.RateOrZero | None = Field(default=None, alias="rate")
    """Rate of a level stage."""
    from_ops_per_s: fields.RateOrZero | None = Field(default=None, alias="from")
    """Rate at which a change begins; by default that of the end of the stage before."""
    to_ops_per_s: fields.RateOrZero | None = Field(default=None, alias="to")
    """Rate at which a change ends."""
    duration_ns: fields.StageDuration = Field(alias="for")
    """Length of the stage."""

    @model_validator(mode="after")
    def _check_one_notation(self) -> Self:
        is_level = self.rate_ops_per_s is not None
        is_change = self.from_ops_per_s is not None or self.to_ops_per_s is not None
        if is_level == is_change or (is_change and self.to_ops_per_s is None):
            raise ValueError("a stage has either a rate or a rate to go to; write {rate, for} or {from, to, for}")
        return self


class StagesLoad(Part):
    """One stage after the other. A stage without `from` begins with the rate that the one before ended with, or 0."""

    kind: Literal["stages"] = "stages"
    stages: Annotated[tuple[StageSpec, ...], Field(strict=False)]
    """The stages, in order."""
    arrivals: Literal["even", "poisson"] = "even"
    """Whether operations are evenly spaced, or a Poisson process."""

    @model_validator(mode="after")
    def _check_rates(self) -> Self:
        if not any(stage.rate_ops_per_s or stage.from_ops_per_s or stage.to_ops_per_s for stage in self.stages):
            raise ValueError("no stage offers anything; give stages such as {rate: 5000/s, for: 10s}")
        if len(self.stages) > STEP_COUNT_MAX:
            raise ValueError(f"more than {STEP_COUNT_MAX} stages; give fewer and longer ones")
        return self


class StepsLoad(Part):
    """Level stages from one rate to another, each `step` higher or lower than the one before."""

    kind: Literal["steps"] = "steps"
    from_ops_per_s: fields.Rate = Field(alias="from")
    """Rate of the first step."""
    to_ops_per_s: fields.Rate = Field(alias="to")
    """Rate at which the steps end."""
    step_ops_per_s: fields.Rate = Field(alias="step")
    """Difference from one step to the next."""
    every_ns: fields.StageDuration = Field(alias="every")
    """Length of each step."""
    arrivals: Literal["even", "poisson"] = "even"
    """Whether operations are evenly spaced, or a Poisson process."""

    @property
    def rates_ops_per_s(self) -> tuple[float, ...]:
        """The rate of each step; the last one is at most a step away from `to`."""
        distance = self.to_ops_per_s - self.from_ops_per_s
        direction = math.copysign(self.step_ops_per_s, distance)
        # A distance of whole steps must not lose one to rounding: both rates are known to one unit in the last place.
        rounding = max(1e-9, 2 * math.ulp(max(self.from_ops_per_s, self.to_ops_per_s)) / self.step_ops_per_s)
        count = math.floor(abs(distance) / self.step_ops_per_s + rounding) + 1
        return tuple(self.from_ops_per_s + number * direction for number in range(count))

    @model_validator(mode="after")
    def _check_count(self) -> Self:
        if abs(self.to_ops_per_s - self.from_ops_per_s) / self.step_ops_per_s >= STEP_COUNT_MAX:
            raise ValueError(f"more than {STEP_COUNT_MAX} steps; make the step larger")
        return self


Load = Annotated[
    ClosedLoad | UnlimitedLoad | TlrLoad | ConstantLoad | PoissonLoad | RampLoad | StagesLoad | StepsLoad,
    Field(discriminator="kind"),
    BeforeValidator(kind_only),
]


def is_closed(load: Load) -> bool:
    """Whether operations wait for replies, so that there is no response time."""
    return isinstance(load, ClosedLoad | UnlimitedLoad | TlrLoad)


RateStage = tuple[float, float, int]
"""A stage's rate at its begin and at its end, between which it changes evenly, and its length in nanoseconds."""


def rate_stages(load: Load) -> list[RateStage]:
    """The stages of a load whose rate changes; none where it doesn't."""
    match load:
        case RampLoad():
            return [(load.from_ops_per_s, load.to_ops_per_s, load.over_ns)]
        case StagesLoad():
            return list(_one_after_the_other(load.stages))
        case StepsLoad():
            return [(rate, rate, load.every_ns) for rate in load.rates_ops_per_s]
        case _:
            return []


def offered_before(stages: Sequence[RateStage], at_ns: int) -> float:
    """How many operations stages have offered until `at_ns`, in the engine's own arithmetic; the last rate is held."""
    offered, start_ns = 0.0, 0
    for begin, end, length_ns in stages:
        inside_ns = min(max(at_ns - start_ns, 0), length_ns)
        slope = 0.0 if begin == end else (end - begin) / length_ns
        offered += (begin + slope * inside_ns / 2) * inside_ns / NS_PER_S
        start_ns += length_ns
    return offered + stages[-1][1] * max(at_ns - start_ns, 0) / NS_PER_S


def profile_length_ns(load: Load) -> int | None:
    """How long the rate of `load` changes; None when it doesn't."""
    return sum(length_ns for _, _, length_ns in rate_stages(load)) or None


def operations_offered(load: Load) -> int | None:
    """How many operations `load` is certain to offer in all; None when its last rate is held, which has no end.

    Even arrivals offer operation i where more than i have been offered. Poisson arrivals offer fewer than 8 standard
    deviations below the mean once in 10^13 runs (Chernoff: exp(-32)).
    """
    stages, length_ns = rate_stages(load), profile_length_ns(load)
    if length_ns is None or stages[-1][1] > 0:
        return None
    offered = offered_before(stages, length_ns)
    if getattr(load, "arrivals", "even") == "poisson":
        offered = max(0.0, math.floor(offered - 8 * math.sqrt(offered)))
    return math.ceil(offered)


def _one_after_the_other(stages: Iterable[StageSpec]) -> Iterator[RateStage]:
    """A stage that says only where it goes begins where the one before ended."""
    held = 0.0
    for stage in stages:
        if stage.rate_ops_per_s is not None:
            begin = end = stage.rate_ops_per_s
        else:
            begin = held if stage.from_ops_per_s is None else stage.from_ops_per_s
            end = stage.to_ops_per_s or 0.0
        yield begin, end, stage.duration_ns
        held = end
