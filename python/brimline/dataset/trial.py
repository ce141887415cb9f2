"""Owns the question whether a collection that is made anew takes the documents to come, before it is emptied.

What a person gave it stays: a validator, a unique index, a capped size. Any of them can refuse documents or lose them,
and some documents every server refuses. So a collection of the same shape is made beside it, and some of the documents
are put into that.
"""

import re
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from bson import encode
from bson.objectid import ObjectId
from bson.raw_bson import RawBSONDocument
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError
from pymongo.write_concern import WriteConcern

from brimline.dataset.access import DataDatabase, names_with, prefix_beside, target_errors
from brimline.dataset.shape import Shape, make
from brimline.errors import UsageError
from brimline.servers.answers import refusal_words
from brimline.units import counted, format_count

TRIAL_DOCUMENTS = 3
"""With two a unique index over a field that they lack refuses the second."""
_KIND = "trial"
_AT_WORK_S = 600
"""Longer than a trial takes: what is older was left by a command that was killed."""
_UNAUTHORIZED = 13
_UNDEFINED = b"\x06"
"""The type of a value that no driver writes any more."""
_DUPLICATE_KEY, _IMMUTABLE = 11000, 66
_PASSED_OVER = (_DUPLICATE_KEY, 121)
"""An import goes on after such a refusal: a duplicate, or what the validator refuses."""
_HINT = "nothing was changed; name another collection, or change that of this one first"
_DOCUMENTS_HINT = "nothing was changed; correct the input first"
_DEFINITION_HINT = "nothing was changed; correct the options and indexes of the collection in the workload"


@dataclass(frozen=True, slots=True, kw_only=True)
class WayIn:
    """How documents come into a collection.

    `updates`: what a document does to the stored one that has the same `keys`, replace it or set its fields; nothing:
    documents are inserted. `ordered`: the first refusal ends it. `write_concern` as a command has it; empty: the
    connection's own.
    """

    updates: Literal["", "replace", "set"] = ""
    keys: Sequence[str] = ("_id",)
    ordered: bool = True
    bypass_validation: bool = False
    write_concern: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """What became of documents: how many were taken, stored as new ones, and are there; the errors of the others.

    `refusal_of_shape`: what the server said to the collection itself, so that there was nothing to put them into.
    """

    taken: int = 0
    stored: int = 0
    kept: int = 0
    refusals: Sequence[Mapping[str, Any]] = ()
    refusal_of_shape: str = ""


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
    if not (shape and documents) and not is_asked_for:
        return
    tried = _tried(database, name, shape, documents[:TRIAL_DOCUMENTS], WayIn())
    if tried is None:
        return
    if tried.refusal_of_shape:
        raise UsageError(
            f"the server refuses to make {namespace} with {shape.text}: {tried.refusal_of_shape}",
            hint=_DEFINITION_HINT,
        )
    if tried.refusals:
        reason = tried.refusals[0]["errmsg"]
        raise UsageError(f"{namespace} has {shape.text}, and refuses the documents to load: {reason}", hint=_HINT)


def require_some_taken(database: DataDatabase, name: str, shape: Shape, documents: Sequence[bytes], way: WayIn) -> bool:
    """Raises UsageError where a collection of `shape` would end an import, refuse nearly all that comes, or lose some.

    `documents`: those of a file that come first. Some of them may be refused, as duplicates are; all of them may not,
    nor all but one, and none with what ends an import. A shape without anything refuses what every server does. False
    where nothing is known beforehand, because the user may not make a collection of another name. Raises TargetError,
    also where the server can't honour the write concern.
    """
    if not documents:
        return True
    tried = _tried(database, name, shape, documents, way)
    if tried is None:
        return False
    namespace, count = f"{database.name}.{name}", counted(len(documents), "document")
    if tried.refusal_of_shape:
        raise UsageError(
            f"the server refuses to make {namespace} anew with {shape.text}: {tried.refusal_of_shape}", hint=_HINT
        )
    if shape.options.get("capped") and tried.stored > tried.kept:
        raise UsageError(
            f"{namespace} is capped: it would keep {format_count(tried.kept)} of the first {count}",
            hint=_HINT,
        )
    refusals = [each for each in tried.refusals if _is_of_shape(each)]
    ends = any(way.ordered or each["code"] not in _PASSED_OVER for each in refusals)
    # An index that is unique takes the first document, whatever it is.
    least = 1 if all(each["code"] == _DUPLICATE_KEY for each in refusals) else 0
    if refusals and (ends or tried.taken <= least):
        kept = f" keeps {shape.text}, and" if shape else ""
        raise UsageError(
            f"{namespace}{kept} refuses {format_count(len(refusals))} of the first {count}: {refusals[0]['errmsg']}",
            hint=_HINT if shape else _DOCUMENTS_HINT,
        )
    return True


def require_as_before(database: DataDatabase, name: str, shape: Shape, documents: Sequence[bytes]) -> None:
    """Raises UsageError where the server can't make a collection of `shape` as another one had it, with `documents`.

    What it checks documents by is bypassed, as it is where they are put back. Where the user may not make a collection
    of another name nothing is known beforehand. Raises TargetError.
    """
    way = WayIn(bypass_validation=shape.checks_documents)
    tried = _tried(database, name, shape, documents[:TRIAL_DOCUMENTS], way)
    refused = [] if tried is None else [tried.refusal_of_shape, *(str(each["errmsg"]) for each in tried.refusals)]
    if reason := next(filter(None, refused), ""):
        raise UsageError(
            f"the server refuses to make {database.name}.{name} as it was: {reason}",
            hint="nothing was changed; restore it to a server that takes it, or leave its database out",
        )


def first_refusal(database: DataDatabase, name: str, shape: Shape, documents: Sequence[bytes]) -> str | None:
    """Why `name`, a collection of `shape`, refuses one of `documents`; None where it takes them, or nothing is known.

    A key that is there twice is no refusal. Raises TargetError.
    """
    tried = _tried(database, name, shape, documents, WayIn(ordered=False))
    refusals = [] if tried is None else [each for each in tried.refusals if each["code"] != _DUPLICATE_KEY]
    return str(refusals[0]["errmsg"]) if refusals else None


def _is_of_shape(refusal: Mapping[str, Any]) -> bool:
    """Whether it is for something that the collection keeps: every collection refuses an `_id` that is there."""
    return refusal["code"] != _IMMUTABLE and list(refusal.get("keyPattern") or ()) != ["_id"]


def _require_room(namespace: str, options: Mapping[str, Any], *, count: int, size_bytes: int) -> None:
    if not options.get("capped"):
        return
    most, size = options.get("max") or count, options.get("size") or size_bytes
    if most < count or size < size_bytes:
        raise UsageError(f"{namespace} is capped and would lose documents of the load before it ends", hint=_HINT)


def trial_name(name: str) -> str:
    """What a collection beside `name` is called: one of its own for each trial, which tells when that began."""
    return f"{prefix_beside(_KIND, name)}{int(time.time()):08x}{secrets.token_hex(2)}"


def _drop_left(database: DataDatabase, name: str) -> None:
    """Takes away what commands that were killed left of their trials; one at work may need what is younger."""
    prefix = prefix_beside(_KIND, name)
    for each in names_with(database, prefix):
        began = each.removeprefix(prefix)
        if re.fullmatch("[0-9a-f]{12}", began) and time.time() - int(began[:8], 16) > _AT_WORK_S:
            database.drop_collection(each)


def _tried(database: DataDatabase, name: str, shape: Shape, documents: Sequence[bytes], way: WayIn) -> _Tried | None:
    """What becomes of documents in a collection of that shape; None where the user may not make one.

    `name`: the collection that is meant, which errors are to name.
    """
    trial = trial_name(name)
    is_made = False
    with target_errors("trying whether the collection takes the documents"):
        try:
            make(database, trial, shape)
            is_made = True
            write = _update if way.updates else _insert
            taken, stored, refusals = write(database, trial, [RawBSONDocument(each) for each in documents], way)
            named = [{**each, "errmsg": str(each["errmsg"]).replace(trial, name)} for each in refusals]
            kept = database[trial].count_documents({})
            return _Tried(taken=taken, stored=stored, kept=kept, refusals=named)
        except OperationFailure as error:
            if error.code == _UNAUTHORIZED:
                return None
            if is_made:
                raise
            return _Tried(refusal_of_shape=refusal_words(error))
        finally:
            with suppress(PyMongoError):
                database.drop_collection(trial)
                _drop_left(database, name)


_Written = tuple[int, int, Sequence[Mapping[str, Any]]]
"""Documents that were taken, those among them that are new, and the errors of the others."""


def _insert(database: DataDatabase, name: str, documents: Sequence[RawBSONDocument], way: WayIn) -> _Written:
    if not documents:
        return 0, 0, []
    concern = WriteConcern(**way.write_concern) if way.write_concern else None
    try:
        database.get_collection(name, write_concern=concern).insert_many(
            documents, ordered=way.ordered, bypass_document_validation=way.bypass_validation or None
        )
    except BulkWriteError as error:
        _require_concern(error.details["writeConcernErrors"])
        taken = error.details["nInserted"]
        return taken, taken, error.details["writeErrors"]
    return len(documents), len(documents), []


def _update(database: DataDatabase, name: str, documents: Sequence[RawBSONDocument], way: WayIn) -> _Written:
    """As a command: a driver refuses documents whose names begin with $, the server need not."""
    statements = [
        {"q": _query(each, way.keys), "u": {"$set": each} if way.updates == "set" else each, "upsert": True}
        for each in documents
    ]
    more: dict[str, Any] = {"bypassDocumentValidation": True} if way.bypass_validation else {}
    if way.write_concern:
        more["writeConcern"] = way.write_concern
    answer = database.command({"update": name, "updates": statements, "ordered": way.ordered, **more})
    _require_concern([answer["writeConcernError"]] if "writeConcernError" in answer else [])
    return answer["n"], len(answer.get("upserted", ())), answer.get("writeErrors", ())


def _require_concern(errors: Sequence[Mapping[str, Any]]) -> None:
    """Raises OperationFailure for a write concern that was not met: the write of an import would fail like it."""
    for error in errors:
        raise OperationFailure(str(error.get("errmsg", "")), error.get("code"), error)


def _query(document: RawBSONDocument, keys: Sequence[str]) -> Mapping[str, Any]:
    """What finds the stored document; one that has none of the keys is new, and finds none."""
    values = {key: _value_at(document, key) for key in keys}
    undefined = [key for key in keys if values[key] is None and _is_undefined(document, key)]
    if undefined:  # read as None, and refused by a server as no null is
        asked = encode(values)
        for key in undefined:
            asked = asked.replace(b"\x0a" + key.encode() + b"\0", _UNDEFINED + key.encode() + b"\0", 1)
        return RawBSONDocument(asked)
    return values if any(value is not None for value in values.values()) else {"_id": ObjectId()}


def _is_undefined(document: RawBSONDocument, path: str) -> bool:
    return _UNDEFINED + path.rpartition(".")[2].encode() + b"\0" in document.raw


def _value_at(document: Any, path: str) -> Any:
    for name in path.split("."):
        document = document.get(name) if isinstance(document, Mapping) else None
    return document
