"""Owns turning PyMongo's errors into brimline's, for everything that touches the data set."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pymongo.database import Database
from pymongo.errors import OperationFailure, PyMongoError

from brimline.errors import TargetError

DataDatabase = Database[dict[str, Any]]


@contextmanager
def target_errors(doing: str) -> Iterator[None]:
    """Turns trouble with the server into a TargetError that says what was being done."""
    try:
        yield
    except OperationFailure as error:
        details = error.details or {}
        raise TargetError(f"{doing}: the server refuses: {details.get('errmsg', error.code)}") from error
    except PyMongoError as error:
        raise TargetError(f"{doing}: the server doesn't answer", hint="check that it still runs") from error
