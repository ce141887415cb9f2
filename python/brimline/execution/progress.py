"""Owns what a run says while it goes on. Who listens decides how it looks."""

from dataclasses import dataclass
from typing import Protocol

from brimline.plan import Plan


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


class ProgressSink(Protocol):
    """Listens to long work."""

    def step(self, text: str) -> None:
        """Something begins that has no measure: starting a server, counting documents."""

    def begin(self, title: str, plan: Plan) -> None:
        """A run of `plan` begins."""

    def tick(self, tick: Tick) -> None:
        """The run goes on."""

    def end(self) -> None:
        """The run is over."""

    def note(self, text: str) -> None:
        """Something to be remembered, such as the outcome of a probe."""


class Silence:
    """Listens and says nothing."""

    def step(self, text: str) -> None:
        """Nothing."""

    def begin(self, title: str, plan: Plan) -> None:
        """Nothing."""

    def tick(self, tick: Tick) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""
