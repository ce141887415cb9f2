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
        hint = "check that the server takes writes, that its disk isn't full, and that the user may do this"
        raise TargetError(f"{doing}: the server refuses: {details.get('errmsg', error.code)}", hint=hint) from error
    except PyMongoError as error:
        raise TargetError(f"{doing}: the server doesn't answer", hint="check that it still runs") from error
