"""Owns what everything that touches the data set shares: brimline's errors for PyMongo's, and how long it may take."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from typing import Any

import pymongo
from pymongo.database import Database
from pymongo.errors import OperationFailure, PyMongoError

from brimline.errors import TargetError
from brimline.servers.answers import refusal_words
from brimline.servers.distrust import UnreadableReply
from brimline.servers.refusal import NOT_ALLOWED_CODES

DataDatabase = Database[dict[str, Any]]

ANSWER_WITHIN_S = 30.0
WORK_WITHIN_S = 3600.0
"""For work that grows with the data. Counting documents one by one takes the server half a minute for each hundred
million of them."""
_REFUSED_HINT = "check that the server takes writes, that its disk isn't full, and that the user may do this"
_NOT_ALLOWED_HINT = "the user lacks a role for this: readWrite on the database grants reading and writing data"
_INDEXES_MAX = 1000
"""A collection can have 64."""


@contextmanager
def target_errors(doing: str, *, within_s: float = ANSWER_WITHIN_S) -> Iterator[None]:
    """Turns trouble with the server into a TargetError that says what was being done.

    All of it together may take `within_s`, so that neither silence nor a cursor without an end lasts.
    """
    try:
        with pymongo.timeout(within_s):
            yield
    except OperationFailure as error:
        hint = _NOT_ALLOWED_HINT if error.code in NOT_ALLOWED_CODES else _REFUSED_HINT
        raise TargetError(f"{doing}: the server refuses: {refusal_words(error)}", hint=hint) from error
    except UnreadableReply as error:
        raise _unreadable(doing, error) from error
    except PyMongoError as error:
        raise TargetError(f"{doing}: the server doesn't answer", hint="check that it still runs") from error
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise _unreadable(doing, error) from error


def collection_exists(database: DataDatabase, name: str) -> bool:
    """Whether there is a collection of that name. Raises PyMongoError."""
    return next(iter(database.list_collections(filter={"name": name})), None) is not None


def holds_documents(database: DataDatabase, name: str) -> bool:
    """Whether a document is in the collection. Raises PyMongoError."""
    return database[name].find_one({}, {"_id": 1}) is not None


def prefix_beside(kind: str, name: str) -> str:
    """How names of brimline's own collections beside `name` begin, so that one that was left is found."""
    return f"brimline_{kind}_{sha256(name.encode()).hexdigest()[:8]}_"


def names_with(database: DataDatabase, prefix: str) -> list[str]:
    """The collections whose names begin so, in order. Raises PyMongoError."""
    return sorted(each["name"] for each in database.list_collections(filter={"name": {"$regex": f"^{prefix}"}}))


def indexes_of(database: DataDatabase, collection: str) -> dict[str, Mapping[str, Any]]:
    """The fields of each index by its name. Raises TargetError."""
    with target_errors("looking at the indexes"):
        found = islice(database[collection].list_indexes(), _INDEXES_MAX)
        return {str(each["name"]): dict(each["key"]) for each in found if each["key"]}


def _unreadable(doing: str, error: Exception) -> TargetError:
    return TargetError(
        f"{doing}: the server's answer can't be read ({type(error).__name__})", hint="check that it is a MongoDB server"
    )
