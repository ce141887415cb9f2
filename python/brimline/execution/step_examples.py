"""Owns what the engine would send for each step of operation 0 of its kind, whatever the protocol."""

from dataclasses import dataclass
from typing import Any

import bson
from bson.codec_options import CodecOptions, DatetimeConversion

from brimline import _native
from brimline.errors import UsageError
from brimline.execution.effects import needs_saved
from brimline.plan import Plan, with_tables
from brimline.plan.operations import OperationsWork, Step, TablePlan

AS_SENT: CodecOptions[dict[str, Any]] = CodecOptions(
    document_class=dict, datetime_conversion=DatetimeConversion.DATETIME_AUTO
)
"""Reads dates that Python's own have no room for, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExample:
    """A step as operation 0 of its kind takes it, null in place of what replies bring.

    `has_saved`: at a run something else stands in the place of null.
    """

    operation: str
    step: Step
    has_saved: bool

    @property
    def path(self) -> str:
        """Where it is in the spec, for errors."""
        return f"operations.{self.operation}: the step {self.step.name}"


def unread_tables(work: OperationsWork) -> dict[int, TablePlan]:
    """Tables by their place whose rows come with the data."""
    return {place: table for place, table in enumerate(work.tables) if table.sample and not table.row_count}


def with_stand_ins(plan: Plan) -> Plan:
    """`plan` with a row of nulls in each table that isn't read yet."""
    if not isinstance(plan.work, OperationsWork):
        return plan
    unread = unread_tables(plan.work).values()
    return with_tables(plan, {each.name: (bson.encode(dict.fromkeys(each.columns)), 1) for each in unread})


def step_examples(plan: Plan) -> list[tuple[StepExample, dict[str, Any]]]:
    """Each step in order with its command, or the values of its request's slots by their places; none of other work.

    Raises UsageError where the engine refuses the plan.
    """
    if not isinstance(plan.work, OperationsWork):
        return []
    try:
        examples = _native.example_commands(plan.canonical_json(), plan.work.table_contents())
    except _native.PlanError as error:
        path, message = error.args
        raise UsageError(f"{path}: {message}") from error
    return [
        (
            StepExample(operation=operation.name, step=step, has_saved=needs_saved(step, plan.work)),
            bson.decode(example, codec_options=AS_SENT),
        )
        for operation, of_steps in zip(plan.work.operations, examples, strict=True)
        for step, example in zip(operation.steps, of_steps, strict=True)
    ]
