"""Owns the plan's types of when operations are due."""

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from brimline.plan.base import Count, Part, without


class ThinkTime(Part):
    """Pause of a worker between a reply and its next operation."""

    mean_ns: Count
    law: Literal["constant", "exponential"]


class ClosedPacer(Part):
    """Each connection is a worker that sends its next operation when the last is answered.

    `follows_replies`: never leaves replies alone a moment so as to take several at once; where the number of
    connections is what is sought. Left out unless so, so that plans from before keep their hash.
    """

    kind: Literal["closed"] = "closed"
    think_time: ThinkTime | None = None
    follows_replies: bool = False

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without(dump(self), "follows_replies")


class TlrPacer(Part):
    """Threads, loops, ramp-up: one worker per connection, started evenly over the ramp-up, `loops` operations each."""

    kind: Literal["tlr"] = "tlr"
    loops: Count
    ramp_up_ns: Count


class ConstantPacer(Part):
    """Operation i is due at i / rate, whatever the target does."""

    kind: Literal["constant"] = "constant"
    rate_ops_per_s: float


class PoissonPacer(Part):
    """Operations are due as in a Poisson process, whatever the target does."""

    kind: Literal["poisson"] = "poisson"
    rate_ops_per_s: float


class Stage(Part):
    """A length of time in which the offered rate is level or changes evenly."""

    from_ops_per_s: float
    to_ops_per_s: float
    duration_ns: Count


class StagesPacer(Part):
    """A rate that changes with time, from the run's start; what the last stage ends with is held."""

    kind: Literal["stages"] = "stages"
    arrivals: Literal["even", "poisson"]
    stages: Annotated[tuple[Stage, ...], Field(strict=False)]


PacerPlan = Annotated[ClosedPacer | TlrPacer | ConstantPacer | PoissonPacer | StagesPacer, Field(discriminator="kind")]
