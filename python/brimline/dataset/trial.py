"""Owns the question whether a collection that is made anew takes the documents to come, before it is emptied.

What a person gave it stays: a validator, a unique index, a capped size. Any of them can refuse documents or lose them.
So a collection of the same shape is made beside it, and some of the documents are put into that.
"""

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bson.raw_bson import RawBSONDocument
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError

from brimline.dataset.access import DataDatabase, target_errors
from brimline.dataset.shape import Shape, make
from brimline.errors import UsageError
from brimline.servers.answers import refusal_words

TRIAL_DOCUMENTS = 3
"""With two a unique index over a field that they lack refuses the second."""
_PREFIX = "brimline_trial_"
_UNAUTHORIZED = 13
_HINT = "nothing was changed; name another collection, or change that of this one first"
_DEFINITION_HINT = "nothing was changed; correct the options and indexes of the collection in the workload"


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A server's words; `of_shape`: they are about the collection, not the documents."""

    text: str
    of_shape: bool = False


def require_taken(
    database: DataDatabase,
    name: str,
    shape: Shape,
    documents: Sequence[bytes],
    *,
    count: int,
    size_bytes: int,
    is_asked_for: bool = False,
) -> None:
    """Raises UsageError where a collection of `shape` refuses `documents`, or has no room for all of them.

    `documents`: some of the `count` to come, which have `size_bytes` in all. `is_asked_for`: part of `shape` is new to
    the server, which may refuse that as well. Where the user may not make a collection of another name nothing is known
    beforehand. Raises TargetError.
    """
    namespace = f"{database.name}.{name}"
    _require_room(namespace, shape.options, count=count, size_bytes=size_bytes)
    refusing = "validator" in shape.options or any(index.get("unique") for index in shape.indexes)
    if not (refusing and documents) and not is_asked_for:
        return
    refusal = _refusal(database, shape, documents[:TRIAL_DOCUMENTS])
    if refusal is None:
        return
    if refusal.of_shape:
        raise UsageError(
            f"the server refuses to make {namespace} with {shape.text}: {refusal.text}", hint=_DEFINITION_HINT
        )
    raise UsageError(f"{namespace} has {shape.text}, and refuses the documents to load: {refusal.text}", hint=_HINT)


def _require_room(namespace: str, options: Mapping[str, Any], *, count: int, size_bytes: int) -> None:
    if not options.get("capped"):
        return
    most, size = options.get("max") or count, options.get("size") or size_bytes
    if most < count or size < size_bytes:
        raise UsageError(f"{namespace} is capped and would lose documents of the load before it ends", hint=_HINT)


def _refusal(database: DataDatabase, shape: Shape, documents: Sequence[bytes]) -> _Refusal | None:
    """What the server says to a collection of that shape, and to documents in it; None where it takes them."""
    trial = f"{_PREFIX}{secrets.token_hex(4)}"
    is_made = False
    with target_errors("trying whether the collection takes the documents"):
        try:
            make(database, trial, shape)
            is_made = True
            if documents:
                database[trial].insert_many([RawBSONDocument(each) for each in documents])
        except BulkWriteError as error:
            return _Refusal(str(error.details["writeErrors"][0]["errmsg"]))
        except OperationFailure as error:
            if error.code == _UNAUTHORIZED:
                return None
            if is_made:
                raise
            return _Refusal(refusal_words(error), of_shape=True)
        finally:
            with suppress(PyMongoError):
                database.drop_collection(trial)
    return None
