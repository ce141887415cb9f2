"""Owns the form of what is asked of a target around a run. By itself it asks nothing and knows nothing."""

# ruff: noqa: ARG002 (what is asked of nobody)

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from brimline.execution.step_profile import Profiled, Warn
from brimline.monitor import PartCounts, ServerSampler
from brimline.plan import Plan
from brimline.record.model import Opcounters
from brimline.servers import Deployment


class Around:
    """A target that tells nothing: the null target, and what a protocol has no question for.

    Everything raises TargetError where the server doesn't answer any more, unless it says otherwise.
    """

    def __init__(self, plan: Plan, deployment: Deployment | None) -> None:
        self.plan = plan
        self.deployment = deployment

    def plans(self) -> list[dict[str, Any]]:
        """How the server executes each step: a `record.plans.StepPlan` each. Raises nothing."""
        return []

    def parts(self) -> Sequence[PartCounts]:
        """What each server has counted, where several hold the data. Raises nothing."""
        return ()

    def sizes(self, *, is_over: bool, parts: Sequence[PartCounts] = ()) -> dict[str, Any] | None:
        """How large the data is, under the server's own names, with its `parts`; None where nothing is asked.

        `is_over`: the run is, so that a server of brimline's own may be told to write down what it has in memory.
        """
        return None

    def counters(self, *, connected: bool = False) -> Any:
        """The server's counts of now, in a form of its own; see `counted`.

        `connected`: the run's own connections are there already, and have sent nothing.
        """
        return None

    def counted(self, before: Any, after: Any) -> Opcounters | None:
        """What the server counted between two readings, as the record has it; None where it counts nothing."""
        return None

    @contextmanager
    def sampler(self) -> Iterator[ServerSampler | None]:
        """What watches the server while the block lasts; None where nothing can be seen of it."""
        yield None

    @contextmanager
    def profiling(self, share: float | None, warn: Warn) -> Iterator[Profiled]:
        """While the block lasts the server records `share` of the commands, None: as it does. Raises UsageError.

        `warn` is told where it could not be set back.
        """
        yield Profiled()

    def settle(self, sessions: Sequence[bytes]) -> None:
        """Ends what the run left open at the server. Raises nothing."""
