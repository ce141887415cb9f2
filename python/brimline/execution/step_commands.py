"""Owns the command of each step as the engine sends it, and the question how the server would execute it.

Source: MongoDB's manual on `explain`: which commands it takes, and that it executes no write. Of an update or a delete
it takes one statement at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import bson
from bson.codec_options import CodecOptions, DatetimeConversion

from brimline import _native
from brimline.dataset.access import DataDatabase
from brimline.errors import UsageError
from brimline.execution.effects import needs_saved
from brimline.plan import Plan
from brimline.plan.operations import OperationsWork, Step

EXPLAINABLE: Final = frozenset(
    {"find", "aggregate", "count", "distinct", "update", "delete", "findAndModify", "findandmodify"}
)
READS: Final = frozenset({"find", "aggregate", "count", "distinct"})
_STATEMENTS: Final = {"update": "updates", "delete": "deletes"}
_AROUND: Final = frozenset({"lsid", "txnNumber", "autocommit", "startTransaction", "readConcern", "writeConcern"})
"""What is about the sending of a command and not about the command."""
AS_SENT: CodecOptions[dict[str, Any]] = CodecOptions(
    document_class=dict, datetime_conversion=DatetimeConversion.DATETIME_AUTO
)
"""Reads dates that Python's own have no room for, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCommand:
    """The command that operation 0 of its kind sends, saved values being null, without what is about its sending.

    `has_saved`: at a run something else stands in the place of null.
    """

    operation: str
    step: Step
    command: Mapping[str, Any]
    has_saved: bool

    @property
    def path(self) -> str:
        """Where it is in the spec, for errors."""
        return f"operations.{self.operation}: the step {self.step.name}"

    @property
    def name(self) -> str:
        """The command's name."""
        return str(next(iter(self.command), ""))

    @property
    def statements(self) -> list[dict[str, Any]]:
        """The command for each of its statements, as `explain` takes them."""
        listed = _STATEMENTS.get(self.name)
        if listed is None or not isinstance(self.command.get(listed), Sequence):
            return [dict(self.command)]
        return [{**self.command, listed: [each]} for each in self.command[listed]]

    @property
    def writes_elsewhere(self) -> bool:
        """Whether it is an aggregation that ends in a collection."""
        pipeline = self.command.get("pipeline")
        last = pipeline[-1] if isinstance(pipeline, list) and pipeline else None
        return isinstance(last, Mapping) and bool({"$out", "$merge"} & last.keys())

    @property
    def is_read(self) -> bool:
        """Whether it may be executed to see what it takes."""
        return self.name in READS and not self.writes_elsewhere


def step_commands(plan: Plan) -> list[StepCommand]:
    """The command of each step, in order; none of other work. Raises UsageError where the engine refuses the plan."""
    if not isinstance(plan.work, OperationsWork):
        return []
    try:
        examples = _native.example_commands(plan.canonical_json(), plan.work.table_contents())
    except _native.PlanError as error:
        path, message = error.args
        raise UsageError(f"{path}: {message}") from error
    return [
        StepCommand(
            operation=operation.name, step=step, command=_command(example), has_saved=needs_saved(step, plan.work)
        )
        for operation, of_steps in zip(plan.work.operations, examples, strict=True)
        for step, example in zip(operation.steps, of_steps, strict=True)
    ]


def explain(database: DataDatabase, command: Mapping[str, Any], *, verbosity: str, limit_ms: int) -> Mapping[str, Any]:
    """How the server would execute it. Raises PyMongoError."""
    asked = {"explain": dict(command), "verbosity": verbosity, "maxTimeMS": limit_ms}
    return database.command(asked, codec_options=AS_SENT)


def _command(data: bytes) -> dict[str, Any]:
    decoded = bson.decode(data, codec_options=AS_SENT)
    return {name: value for name, value in decoded.items() if name not in _AROUND and not name.startswith("$")}
