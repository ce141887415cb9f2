"""Owns how the server executes each step of an operation, as a file in the run's directory.

The server is asked before the load and after it, never during it. A record holds `{"start": […], "end": […]}`, a
`StepPlan` for each step that can be explained; and as "profile" a `StepProfile` for each step of which the server's
profiler recorded commands. A server keeps the newest entries only: "profile_begins_s" says how long after the profiler
was turned on the oldest was recorded that was left in the end, of several databases that with the latest.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, cast

PlanInstant = Literal["start", "end"]


class StepPlan(TypedDict):
    """What the server said of one command of a step. What it doesn't say is None.

    `has_null`: null stood in place of what earlier replies bring; None where the record doesn't say.
    `index_could_sort`: it sorted documents as they are stored, and not only groups that it made of them.
    """

    operation: str
    step: str
    command: Any  # text, or a document
    has_null: bool | None
    plan_summary: str | None
    index_names: list[str]
    keys_examined: int | None
    docs_examined: int | None
    n_returned: int | None
    in_memory_sort: bool | None
    index_could_sort: bool | None
    sort_used_disk: bool | None
    collection_scan: bool | None


NO_PLAN: Mapping[str, Any] = {
    "plan_summary": None,
    "index_names": [],
    "stage_names": [],
    "keys_examined": None,
    "docs_examined": None,
    "n_returned": None,
    "in_memory_sort": None,
    "index_could_sort": None,
    "sort_used_disk": None,
    "collection_scan": None,
}
"""What a server said that said nothing of how a command is executed."""


class StepProfile(TypedDict):
    """What the profiler recorded of so many commands of a step, in all. What a server doesn't say is None.

    `time_ms` is the sum of whole milliseconds, each rounded down.
    """

    operation: str
    step: str
    commands: int
    time_ms: int | None
    cpu_ns: int | None
    keys_examined: int | None
    docs_examined: int | None
    n_returned: int | None


def step_profiles(plans: Mapping[str, Any]) -> list[StepProfile]:
    """What the profiler recorded, by step; nothing where it recorded nothing."""
    told: Sequence[Any] = plans.get("profile") or ()
    return [cast(StepProfile, {**dict.fromkeys(StepProfile.__annotations__), **each}) for each in told]


def profile_begins_s(plans: Mapping[str, Any]) -> float | None:
    """How long after the profiler was turned on what was left of its entries begins; None where that isn't known."""
    told = plans.get("profile_begins_s")
    return float(told) if isinstance(told, int | float) else None


def step_plans(plans: Mapping[str, Any], instant: PlanInstant) -> dict[tuple[str, str], StepPlan]:
    """The plans of one instant by operation and step; none of a record without them."""
    told: Sequence[Any] = plans.get(instant) or ()
    return {(each["operation"], each["step"]): cast(StepPlan, _whole(each)) for each in told}


def _whole(told: Mapping[str, Any]) -> dict[str, Any]:
    return {**dict.fromkeys(StepPlan.__annotations__), **told, "index_names": list(told.get("index_names") or ())}
