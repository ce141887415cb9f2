"""Owns what can be done about an HTTP service before a run: each operation is tried once. Its data are its own."""

from typing import Final

from brimline.errors import TargetError, UsageError
from brimline.execution.keeper.base import Keeper
from brimline.execution.unrecorded import execute_unrecorded
from brimline.plan import Plan
from brimline.plan.operations import OperationPlan, OperationsWork
from brimline.plan.pacers import ClosedPacer
from brimline.record.model import Summary

_FURTHER_TRIES: Final = 4
"""After one that failed: what chance draws may be missing once."""
_TIME_MAX_NS: Final = 10_000_000_000
_CLIENT_ERRORS: Final = range(400, 500)
_NO_REPLY: Final = {
    "timeout": "see why the service is silent, or give it longer by operation_timeout in the workload",
    "connection_lost": "see in the log of the service, or of a proxy before it, why it closes the connection",
    "bad_reply": "see what the service, or a proxy before it, sends: it is no whole reply of HTTP",
}
"""What is to be done where no reply came that could be looked at."""


class ServiceKeeper(Keeper):
    """Of a service, which knows itself what it may be asked."""

    def try_steps(self, plan: Plan) -> None:
        """Sends each operation once as the run will. One that fails for what was asked, again and again, is refused.

        What fails for the service itself (5xx, no answer) is said, and is the run's to count.

        Raises UsageError, TargetError where nothing answers.
        """
        work = plan.work
        if not isinstance(work, OperationsWork):
            return
        self.context.progress.step("trying each operation once")
        for operation in work.operations:
            self.context.stop.raise_if_requested()
            failed = self._tried(plan, work, operation, count=1, seed=plan.seed)
            if failed is None:
                continue
            code, words, _ = failed
            if code not in _CLIENT_ERRORS and code != 0:
                self.context.progress.note(f"{operation.name} failed when it was tried: {words}")
                continue
            again = self._tried(plan, work, operation, count=_FURTHER_TRIES, seed=plan.seed + 1, all_of_them=True)
            if again is not None and again[2] in _NO_REPLY:
                raise TargetError(
                    f"operations.{operation.name}: the service gives no reply: {again[1]}", hint=_NO_REPLY[again[2]]
                )
            if again is not None:
                raise UsageError(
                    f"operations.{operation.name}: the service answers otherwise than is expected: {again[1]}",
                    hint="correct path, body or expect; each operation was tried a few times, and the run not begun",
                )

    def _tried(
        self,
        plan: Plan,
        work: OperationsWork,
        operation: OperationPlan,
        *,
        count: int,
        seed: int,
        all_of_them: bool = False,
    ) -> tuple[int, str, str] | None:
        """Code, words and outcome of the first failure; None where none failed, or not `all_of_them`."""
        alone = work.model_copy(update={"operations": (operation.model_copy(update={"weight": 1.0}),), "loads": ()})
        trial = plan.model_copy(
            update={
                "work": alone,
                "seed": seed,
                "pacer": ClosedPacer(),
                "connections": 1,
                "threads": 1,
                "in_flight_max": None,
                "warmup_ns": 0,
                "duration_ns": _TIME_MAX_NS,
                "operation_count": count,
                "operation_log": False,
            }
        )
        summary = execute_unrecorded(trial, context=self.context)
        self.context.stop.raise_if_requested()
        return _failure(summary, count, all_of_them=all_of_them)


def _failure(summary: Summary, count: int, *, all_of_them: bool) -> tuple[int, str, str] | None:
    if not summary["errors"] or (all_of_them and summary["failed"] < count):
        return None
    first = summary["errors"][0]
    # What was expected is the label of a reply that was otherwise, and its example says that again.
    label = "" if first["label"] in first["example"] else first["label"]
    return first["code"], f"{label} {first['example']}".strip(), first["outcome"]
