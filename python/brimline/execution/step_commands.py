"""Owns the command of each step as the engine sends it, and the question how the server would execute it.

Source: MongoDB's manual on `explain`: which commands it takes, and that it executes no write. Of an update or a delete
it takes one statement at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from brimline.dataset.access import DataDatabase
from brimline.execution.step_examples import AS_SENT, StepExample, step_examples
from brimline.plan import Plan

EXPLAINABLE: Final = frozenset(
    {"find", "aggregate", "count", "distinct", "update", "delete", "findAndModify", "findandmodify"}
)
READS: Final = frozenset({"find", "aggregate", "count", "distinct"})
_STATEMENTS: Final = {"update": "updates", "delete": "deletes"}
_AROUND: Final = frozenset({"lsid", "txnNumber", "autocommit", "startTransaction", "readConcern", "writeConcern"})
"""What is about the sending of a command and not about the command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCommand(StepExample):
    """The command of a step, without what is about its sending."""

    command: Mapping[str, Any]

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
    return [
        StepCommand(operation=each.operation, step=each.step, has_saved=each.has_saved, command=_command(sent))
        for each, sent in step_examples(plan)
    ]


def explain(database: DataDatabase, command: Mapping[str, Any], *, verbosity: str, limit_ms: int) -> Mapping[str, Any]:
    """How the server would execute it. Raises PyMongoError."""
    asked = {"explain": dict(command), "verbosity": verbosity, "maxTimeMS": limit_ms}
    return database.command(asked, codec_options=AS_SENT)


def _command(sent: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in sent.items() if name not in _AROUND and not name.startswith("$")}
