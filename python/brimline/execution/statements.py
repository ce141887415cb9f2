"""Owns the statements of a workload's steps as the engine sends them, with the parameters of its first operation."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from bson.binary import Binary
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.objectid import ObjectId

from brimline.execution.step_examples import StepExample, step_examples
from brimline.plan import Plan, SqlTarget
from brimline.plan.requests import StatementRequest
from brimline.servers import Deployment
from brimline.servers.sql_client import SqlClient, open_client


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(StepExample):
    """A statement of a step."""

    text: str
    parameters: Sequence[Any]

    @property
    def kind(self) -> str:
        """What the server counts it as."""
        return self.step.command


def statements_of(plan: Plan) -> list[Statement]:
    """The statements of each step, in order: of one with several texts each. Raises UsageError: the plan is refused."""
    return [statement for example, slots in step_examples(plan) for statement in _of_step(example, slots)]


def _of_step(example: StepExample, by_place: Mapping[str, Any]) -> Iterator[Statement]:
    request = example.step.request
    if not isinstance(request, StatementRequest):
        return
    slots = [plain_value(value) for value in by_place.values()]
    texts = [request.text] if request.texts is None else list(request.texts)
    parameters = slots if request.texts is None else slots[1:]
    for text in texts:
        if text is not None:
            shown, given = (_with_rows(text, slots), []) if request.mode == "rows" else (text, parameters)
            yield Statement(
                operation=example.operation,
                step=example.step,
                has_saved=example.has_saved,
                text=shown,
                parameters=given,
            )


def _with_rows(text: str, slots: Sequence[Any]) -> str:
    """An insert with one row of nulls: its values have no bearing on how it is executed."""
    rows = slots[0] if slots and isinstance(slots[0], list) else [[]]
    width = len(rows[0]) if rows and isinstance(rows[0], list) else 0
    return f"{text} ({', '.join(['NULL'] * max(width, 1))})"


def plain_value(value: Any) -> Any:
    """A value of BSON as the libraries of SQL databases take it."""
    match value:
        case Int64():
            return int(value)
        case Decimal128():
            return value.to_decimal()
        case ObjectId():
            return str(value)
        case Binary() | bytes():
            return bytes(value)
        case Mapping():
            return json.dumps(value, default=str)
        case list():
            return [plain_value(each) for each in value]
    return value


def bson_value(value: Any) -> Any:
    """A value of a row as BSON has it: decimals and dates too, what has no counterpart as its text."""
    match value:
        case Decimal():
            return _decimal(value)
        case int() if not -(2**63) <= value < 2**63:
            return _decimal(Decimal(value))
        case datetime() if value.microsecond % 1000:  # BSON's dates have milliseconds
            return value.isoformat(" ")
        case timedelta():
            return _time(value)
        case None | bool() | int() | float() | str() | bytes() | datetime():
            return value
        case dict() | list():
            return json.dumps(value, default=str)
    return str(value)


def _decimal(value: Decimal) -> Decimal128 | str:
    """BSON's decimals have 34 digits."""
    try:
        return Decimal128(value)
    except ArithmeticError:
        return format(value, "f")


def _time(value: timedelta) -> str:
    """A TIME as MySQL writes it, which may be negative or longer than a day."""
    whole = abs(value)
    minutes, seconds = divmod(whole.days * 86_400 + whole.seconds, 60)
    sign, fraction = "-" if value < timedelta(0) else "", f".{whole.microseconds:06}" if whole.microseconds else ""
    return f"{sign}{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{fraction}"


@contextmanager
def open_database(plan: Plan, deployment: Deployment) -> Iterator[SqlClient]:
    """A connection to the database of `plan`, as its connections are set up. Raises TargetError and SqlError."""
    assert deployment.of_uri is not None  # noqa: S101 - it was found by one
    target = plan.target
    assert isinstance(target, SqlTarget)  # noqa: S101 - as its deployment is
    with open_client(deployment.of_uri, database=target.database) as client:
        for text in target.setup:
            client.change(text)
        yield client
