"""Owns what is known of a step's command before it is sent, and where its aggregation writes."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import bson

from brimline.plan.expressions import (
    BsonExpression,
    DocumentExpression,
    Expression,
    ListExpression,
    ValueExpression,
)
from brimline.plan.operations import OperationsWork, Step

DRAWN: Final = object()
"""In a command: what is another in each operation, or isn't known before it is sent."""
_WRITING_STAGES: Final = ("$out", "$merge")


def resolved(expression: Expression, work: OperationsWork) -> Expression:
    """What a named value stands for, where all of it is meant."""
    while isinstance(expression, ValueExpression) and not expression.path:
        expression = work.values[expression.index].value
    return expression


def known(expression: Expression, work: OperationsWork) -> Any:
    """The value of an expression, also behind names, with `DRAWN` for all that isn't known."""
    match resolved(expression, work):
        case BsonExpression(hex=text):
            data = bytes.fromhex(text)
            inner = data[:1] + b"\0" + data[1:] + b"\0"
            return bson.decode((len(inner) + 4).to_bytes(4, "little") + inner)[""]
        case DocumentExpression(fields=fields):
            return {field.name: known(field.value, work) for field in fields}
        case ListExpression(items=items):
            return [known(each, work) for each in items]
    return DRAWN


def written_by_pipeline(step: Step, work: OperationsWork) -> list[tuple[str, str | None]]:
    """Database and collection of each that an aggregation writes to; None: it may be any. None of other steps.

    A pipeline or a stage that isn't known may write anywhere.
    """
    if step.command != "aggregate":
        return []
    command = known(step.body, work)
    pipeline = command.get("pipeline", []) if isinstance(command, dict) else DRAWN
    if not isinstance(pipeline, list) or not all(isinstance(stage, dict) for stage in pipeline):
        return [(step.database, None)]
    return [_target(name, into, step.database) for name, into in _writing_stages(pipeline)]


def _writing_stages(part: Any) -> Iterator[tuple[str, Any]]:
    """Those of a pipeline and of all within it, though servers take them at its end alone."""
    if isinstance(part, dict):
        yield from ((name, part[name]) for name in _WRITING_STAGES if name in part)
    if isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from _writing_stages(each)


def _target(name: str, into: Any, database: str) -> tuple[str, str | None]:
    if name == "$merge" and isinstance(into, dict):
        into = into.get("into", DRAWN)
    if isinstance(into, str):
        return database, into
    if isinstance(into, dict) and isinstance(into.get("coll"), str):
        other = into.get("db", database)
        if isinstance(other, str):
            return other, into["coll"]
    return database, None


def mentions(step: Step, work: OperationsWork, names: Sequence[str]) -> bool:
    """Whether the command has a field of such a name, also behind a named value, or a constant that may have one."""
    return _mentioned(step.body.model_dump(), work, len(work.values), names)


def _mentioned(part: Any, work: OperationsWork, before: int, names: Sequence[str]) -> bool:
    """`before`: named values refer to earlier ones only."""
    if isinstance(part, list | tuple):
        return any(_mentioned(each, work, before, names) for each in part)
    if not isinstance(part, dict):
        return isinstance(part, str) and any(name == part or name.encode().hex() in part for name in names)
    index = part["index"] if part.get("kind") == "value" else before
    return (index < before and _mentioned(work.values[index].value.model_dump(), work, index, names)) or any(
        _mentioned(each, work, before, names) for each in part.values()
    )
