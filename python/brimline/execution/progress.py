"""Owns what a run says while it goes on. Who listens decides how it looks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from brimline.plan import Plan
from brimline.record.model import Samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """The latest state of a run; counts are totals since its start, the rate is that since the last tick."""

    stage: str  # "connecting" "ready" "running" "finished"
    elapsed_s: float
    finished: int
    failed: int
    documents: int
    in_flight: int
    rate_ops_per_s: float
    rate_documents_per_s: float = 0.0


Outcome: TypeAlias = Literal["met", "missed", "unsettled", "measured"]
"""Of a probe: what it says of the objective; `measured`: there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoFar:
    """What a search or a sweep knows until now; loads are in `unit`, such as "ops/s".

    `figure` is the estimate and `low` to `high` its interval; without a figure they are the highest load that met the
    objective and the lowest that missed it. None: not known yet. `probes`: load and outcome, in the order in which they
    ran. `left_s`: about how long it takes yet, 0 where it takes longer than was to be expected, and then `left_max_s`
    at most.
    """

    unit: str
    figure: float | None = None
    low: float | None = None
    high: float | None = None
    probes: Sequence[tuple[float, Outcome]] = ()
    left_s: float | None = None
    left_max_s: float | None = None


class ProgressSink(Protocol):
    """Listens to long work."""

    def step(self, text: str) -> None:
        """Something begins that has no measure: starting a server, counting documents."""

    def begin(self, title: str, plan: Plan) -> None:
        """A run of `plan` begins."""

    def tick(self, tick: Tick) -> None:
        """The run goes on."""

    def samples(self, samples: Samples) -> None:
        """Intervals of the run are complete."""

    def end(self) -> None:
        """The run is over."""

    def outcome(self, text: str) -> None:
        """What a run of an experiment showed, in a line."""

    def so_far(self, tell: Callable[[], SoFar]) -> None:
        """What all runs of an experiment show until now, for those who want to be told."""

    def over(self) -> None:
        """Nothing more is measured."""

    def note(self, text: str) -> None:
        """Something to be remembered."""

    def warning(self, text: str) -> None:
        """Something that has to be known also by those who want no progress, such as what is left in a database."""


class Silence:
    """Listens and says nothing."""

    def step(self, text: str) -> None:
        """Nothing."""

    def begin(self, title: str, plan: Plan) -> None:
        """Nothing."""

    def tick(self, tick: Tick) -> None:
        """Nothing."""

    def samples(self, samples: Samples) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""

    def outcome(self, text: str) -> None:
        """Nothing."""

    def so_far(self, tell: Callable[[], SoFar]) -> None:
        """Nothing."""

    def over(self) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""

    def warning(self, text: str) -> None:
        """Nothing."""
