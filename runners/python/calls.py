"""Owns a command of the engine's in the words of PyMongo's CRUD API.

Which method, with which arguments, and what its result amounts to as the server's reply. Blocking and asynchronous
clients share it: a call is made here, and awaited elsewhere.
"""

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, Literal

from bson import SON
from pymongo import DeleteMany, DeleteOne, ReplaceOne, UpdateMany, UpdateOne
from pymongo.collation import Collation
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

_OF_SESSION = ("lsid", "txnNumber", "startTransaction", "autocommit")
_FIND = {
    "filter": "filter",
    "projection": "projection",
    "sort": "sort",
    "skip": "skip",
    "limit": "limit",
    "hint": "hint",
    "batchSize": "batch_size",
    "collation": "collation",
    "let": "let",
    "allowDiskUse": "allow_disk_use",
    "maxTimeMS": "max_time_ms",
    "comment": "comment",
}
_STATEMENT = {
    "upsert": "upsert",
    "arrayFilters": "array_filters",
    "hint": "hint",
    "collation": "collation",
    "sort": "sort",
}
_WRITE = {"let": "let", "bypassDocumentValidation": "bypass_document_validation", "comment": "comment"}
_AGGREGATE = {
    "hint": "hint",
    "collation": "collation",
    "let": "let",
    "allowDiskUse": "allowDiskUse",
    "bypassDocumentValidation": "bypassDocumentValidation",
    "maxTimeMS": "maxTimeMS",
    "comment": "comment",
}
_COUNT = {"skip": "skip", "limit": "limit", "hint": "hint", "collation": "collation", "maxTimeMS": "maxTimeMS"}
_MODIFY = {
    "sort": "sort",
    "fields": "projection",
    "upsert": "upsert",
    "arrayFilters": "array_filters",
    "hint": "hint",
    "collation": "collation",
    "let": "let",
    "bypassDocumentValidation": "bypass_document_validation",
    "maxTimeMS": "maxTimeMS",
    "comment": "comment",
}


class Misfit(Exception):
    """A command says what the driver has no word for."""


class Call:
    """What is called: `call(session)` gives what the driver gives.

    `brings`: it is a cursor, to be drained, or one document or none, or something else. `reply` makes the server's
    reply of that, or of the list of documents.
    """

    __slots__ = ("brings", "call", "reply")

    def __init__(
        self,
        call: Callable[[Any], Any],
        reply: Callable[[Any], Mapping[str, Any]],
        *,
        brings: Literal["cursor", "one", "result"] = "result",
    ) -> None:
        self.call = call
        self.reply = reply
        self.brings = brings


class Terms:
    """What a command says of its session: whether it begins, continues, commits or ends a transaction."""

    __slots__ = ("begins", "ends", "is_inside", "read_concern", "write_concern")

    def __init__(self, command: MutableMapping[str, Any], name: str) -> None:
        self.begins = bool(command.get("startTransaction"))
        self.is_inside = "autocommit" in command
        self.ends = name if name in ("commitTransaction", "abortTransaction") else None
        for field in _OF_SESSION:
            command.pop(field, None)
        concern = command.pop("readConcern", None)
        self.read_concern = None if concern is None else ReadConcern(concern.get("level"))
        concern = command.pop("writeConcern", None)
        self.write_concern = (
            None
            if concern is None
            else WriteConcern(w=concern.get("w"), j=concern.get("j"), wtimeout=concern.get("wtimeout"))
        )


def call_of(client: Any, command: MutableMapping[str, Any], name: str, terms: Terms) -> Call:
    """How the driver is asked for `command`, of which the terms were taken. Raises Misfit."""
    database = client.get_database(command.pop("$db"))
    maker = _MAKERS.get(name)
    if maker is None:
        concerns = {} if terms.read_concern is None else {"readConcern": terms.read_concern.document}
        if terms.write_concern is not None:
            concerns["writeConcern"] = terms.write_concern.document
        whole = SON([*command.items(), *concerns.items()])
        return Call(lambda session: database.command(whole, session=session), _as_it_is)
    collection = database.get_collection(
        command.pop(name),
        read_concern=None if terms.is_inside else terms.read_concern,
        write_concern=None if terms.is_inside else terms.write_concern,
    )
    return maker(collection, command)


def _arguments(command: MutableMapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The command's fields as keywords. What it says besides is what the driver has no word for."""
    given = {names[field]: command.pop(field) for field in list(command) if field in names}
    if command:
        raise Misfit(f"the driver has no word for {', '.join(command)}")
    if "sort" in given:
        given["sort"] = list(given["sort"].items())
    if isinstance(given.get("hint"), Mapping):
        given["hint"] = list(given["hint"].items())
    if "collation" in given:
        given["collation"] = Collation(**given["collation"])
    return given


def _find(collection: Any, command: MutableMapping[str, Any]) -> Call:
    single = command.pop("singleBatch", False)
    given = _arguments(command, _FIND)
    if given.get("limit") == 1 and not (given.keys() - {"filter", "projection", "limit", "sort", "hint", "collation"}):
        del given["limit"]
        filter_, rest = given.pop("filter", {}), given
        return Call(lambda session: collection.find_one(filter_, session=session, **rest), _found, brings="one")
    if single:
        given["limit"] = -abs(given.get("limit") or given.get("batch_size") or 101)
    return Call(lambda session: collection.find(session=session, **given), _found, brings="cursor")


def _found(documents: Any) -> Mapping[str, Any]:
    return {"ok": 1, "cursor": {"id": 0, "firstBatch": documents}}


def _aggregate(collection: Any, command: MutableMapping[str, Any]) -> Call:
    pipeline = command.pop("pipeline")
    size = command.pop("cursor", {}).get("batchSize")
    given = _arguments(command, _AGGREGATE)
    if size is not None:
        given["batchSize"] = size
    return Call(lambda session: collection.aggregate(pipeline, session=session, **given), _found, brings="cursor")


def _count(collection: Any, command: MutableMapping[str, Any]) -> Call:
    # The driver counts by an aggregation; the command `count` itself is what was asked for.
    whole = SON([("count", collection.name), *command.items()])
    return Call(lambda session: collection.database.command(whole, session=session), _as_it_is)


def _distinct(collection: Any, command: MutableMapping[str, Any]) -> Call:
    key, query = command.pop("key"), command.pop("query", None)
    given = _arguments(command, {"collation": "collation", "maxTimeMS": "maxTimeMS", "comment": "comment"})
    return Call(
        lambda session: collection.distinct(key, query, session=session, **given),
        lambda values: {"ok": 1, "values": values},
    )


def _insert(collection: Any, command: MutableMapping[str, Any]) -> Call:
    documents, ordered = command.pop("documents"), command.pop("ordered", True)
    given = _arguments(command, _WRITE)
    if len(documents) == 1:
        (document,) = documents
        return Call(
            lambda session: collection.insert_one(document, session=session, **given), lambda _: {"ok": 1, "n": 1}
        )
    return Call(
        lambda session: collection.insert_many(documents, ordered=ordered, session=session, **given),
        lambda result: {"ok": 1, "n": len(result.inserted_ids)},
    )


def _update(collection: Any, command: MutableMapping[str, Any]) -> Call:
    statements, ordered = command.pop("updates"), command.pop("ordered", True)
    given = _arguments(command, _WRITE)
    if len(statements) > 1:
        return _bulk(collection, [_update_model(each) for each in statements], ordered, given)
    (statement,) = statements
    filter_, update, many = statement.pop("q"), statement.pop("u"), statement.pop("multi", False)
    given |= _arguments(statement, _STATEMENT)
    method = collection.update_many if many else collection.update_one
    if _replaces(update):
        method = collection.replace_one
    return Call(lambda session: method(filter_, update, session=session, **given), _updated)


def _updated(result: Any) -> Mapping[str, Any]:
    if result.upserted_id is None:
        return {"ok": 1, "n": result.matched_count, "nModified": result.modified_count}
    return {"ok": 1, "n": 1, "nModified": 0, "upserted": [{"index": 0, "_id": result.upserted_id}]}


def _replaces(update: Any) -> bool:
    return isinstance(update, Mapping) and not next(iter(update), "").startswith("$")


def _update_model(statement: MutableMapping[str, Any]) -> Any:
    filter_, update, many = statement.pop("q"), statement.pop("u"), statement.pop("multi", False)
    given = _arguments(statement, _STATEMENT)
    if _replaces(update):
        return ReplaceOne(filter_, update, **given)
    return (UpdateMany if many else UpdateOne)(filter_, update, **given)


def _delete(collection: Any, command: MutableMapping[str, Any]) -> Call:
    statements, ordered = command.pop("deletes"), command.pop("ordered", True)
    given = _arguments(command, {"let": "let", "comment": "comment"})
    models = []
    for statement in statements:
        filter_, is_many = statement.pop("q"), statement.pop("limit", 0) == 0
        options = _arguments(statement, {"hint": "hint", "collation": "collation"})
        models.append((filter_, is_many, options))
    if len(models) > 1:
        made = [(DeleteMany if is_many else DeleteOne)(filter_, **options) for filter_, is_many, options in models]
        return _bulk(collection, made, ordered, given)
    ((filter_, is_many, options),) = models
    method = collection.delete_many if is_many else collection.delete_one
    return Call(
        lambda session: method(filter_, session=session, **options, **given),
        lambda result: {"ok": 1, "n": result.deleted_count},
    )


def _bulk(collection: Any, models: list[Any], ordered: bool, given: Mapping[str, Any]) -> Call:
    return Call(
        lambda session: collection.bulk_write(models, ordered=ordered, session=session, **given),
        _written,
    )


def _written(result: Any) -> Mapping[str, Any]:
    reply = {"ok": 1, "n": result.matched_count + result.deleted_count, "nModified": result.modified_count}
    if not result.upserted_count:
        return reply
    upserted = [{"index": index, "_id": key} for index, key in (result.upserted_ids or {}).items()]
    return {**reply, "n": reply["n"] + len(upserted), "upserted": upserted}


def _find_and_modify(collection: Any, command: MutableMapping[str, Any]) -> Call:
    filter_ = command.pop("query", {})
    update, remove, new = command.pop("update", None), command.pop("remove", False), command.pop("new", False)
    given = _arguments(command, _MODIFY)
    if remove:
        return Call(lambda session: collection.find_one_and_delete(filter_, session=session, **given), _removed)
    method = collection.find_one_and_replace if _replaces(update) else collection.find_one_and_update
    return Call(
        lambda session: method(filter_, update, return_document=bool(new), session=session, **given),
        # The driver doesn't say whether a document that is shown as it is afterwards was there before.
        _removed if new and given.get("upsert") else _modified,
    )


def _removed(found: Any) -> Mapping[str, Any]:
    return {"ok": 1, "value": found}


def _modified(found: Any) -> Mapping[str, Any]:
    return {"ok": 1, "value": found, "lastErrorObject": {"updatedExisting": found is not None}}


def _as_it_is(reply: Any) -> Mapping[str, Any]:
    return {key: value for key, value in reply.items() if not key.startswith("$")}


_MAKERS: Mapping[str, Callable[[Any, MutableMapping[str, Any]], Call]] = {
    "find": _find,
    "aggregate": _aggregate,
    "count": _count,
    "distinct": _distinct,
    "insert": _insert,
    "update": _update,
    "delete": _delete,
    "findAndModify": _find_and_modify,
}
