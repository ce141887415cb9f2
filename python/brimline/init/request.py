"""Owns what a command is as a step of a workload: its kind and arguments, with holes where its values were."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from brimline.init.changes import read_change
from brimline.init.conditions import read_filter
from brimline.init.expression_holes import read_expression
from brimline.init.holes import Holes, NotTranslated, described
from brimline.init.observed import Observed
from brimline.init.pipelines import read_pipeline


@dataclass(frozen=True, slots=True)
class Request:
    """A step: `kind` as a spec has it, `arguments` with holes, and the values that filled them, in order."""

    kind: str
    collection: str
    arguments: Mapping[str, Any]
    values: tuple[Any, ...]

    @property
    def key(self) -> str:
        """The same for all requests of one shape."""
        return f"{self.collection} {self.kind} {described(self.arguments)}"


def request_of(command: Observed) -> Request:
    """The step that a command is. Raises NotTranslated."""
    holes = Holes()
    reader = _READERS[command.kind]
    kind, arguments = reader(command, holes)
    return Request(kind, command.collection, arguments, tuple(holes.values))


def _find(command: Observed, holes: Holes) -> tuple[str, dict[str, Any]]:
    body = command.body
    arguments: dict[str, Any] = {"filter": read_filter(body.get("filter") or body.get("query") or {}, holes)}
    for name in ("projection", "sort"):
        if body.get(name):
            arguments[name] = read_expression(body[name], holes) if name == "projection" else _plain_sort(body[name])
    for name in ("skip", "limit"):
        if body.get(name):
            arguments[name] = holes.make("number", abs(int(body[name])), name)
    arguments |= _common(body)
    if body.get("batchSize"):
        arguments["batch_size"] = int(body["batchSize"])
    if body.get("singleBatch"):
        arguments["single_batch"] = True
    for refused in ("tailable", "awaitData", "min", "max", "returnKey", "showRecordId"):
        if body.get(refused):
            raise NotTranslated(f"find with {refused}")
    return "find", arguments


def _aggregate(command: Observed, holes: Holes) -> tuple[str, dict[str, Any]]:
    pipeline = command.body.get("pipeline")
    if not isinstance(pipeline, list) or not all(isinstance(stage, Mapping) and stage for stage in pipeline):
        raise NotTranslated("aggregate without a pipeline")
    return "aggregate", {"pipeline": read_pipeline(pipeline, holes), **_common(command.body)}


def _count(command: Observed, holes: Holes) -> tuple[str, dict[str, Any]]:
    return "count", {"filter": read_filter(command.body.get("query") or {}, holes), **_common(command.body)}


def _distinct(command: Observed, holes: Holes) -> tuple[str, dict[str, Any]]:
    found = {
        "field": str(command.body.get("key", "_id")),
        "filter": read_filter(command.body.get("query") or {}, holes),
    }
    return "distinct", found


def _insert(command: Observed, holes: Holes) -> tuple[str, dict[str, Any]]:
    documents = command.documents or len(command.body.get("documents") or ()) or 1
    return "insert", {"count": holes.make("number", documents, "count")}


def _update(command: Observed, holes: Holes) -> tuple[str, dict[str, Any]]:
    body = command.body
    arguments: dict[str, Any] = {"filter": read_filter(body.get("q") or {}, holes)}
    change = body.get("u")
    if change is None:
        raise NotTranslated("update that the server tells without its change")
    kind = read_change(change, arguments, holes)
    arguments |= {name: True for name, said in (("many", "multi"), ("upsert", "upsert")) if body.get(said)}
    if body.get("arrayFilters"):
        arguments["array_filters"] = [read_filter(each, holes) for each in body["arrayFilters"]]
    return kind, {**arguments, **_common(body)}


def _delete(command: Observed, holes: Holes) -> tuple[str, dict[str, Any]]:
    arguments: dict[str, Any] = {"filter": read_filter(command.body.get("q") or {}, holes)}
    if not command.body.get("limit"):
        arguments["many"] = True
    return "delete", {**arguments, **_common(command.body)}


def _find_and_modify(command: Observed, holes: Holes) -> tuple[str, dict[str, Any]]:
    body = command.body
    arguments: dict[str, Any] = {"filter": read_filter(body.get("query") or {}, holes)}
    if body.get("sort"):
        arguments["sort"] = _plain_sort(body["sort"])
    if body.get("remove"):
        arguments["remove"] = True
    elif body.get("update") is not None:
        read_change(body["update"], arguments, holes, replacement="update")
    else:
        raise NotTranslated("findAndModify that the server tells without its change")
    if body.get("fields"):
        arguments["projection"] = read_expression(body["fields"], holes)
    arguments |= {name: True for name in ("new", "upsert") if body.get(name)}
    if body.get("arrayFilters"):
        arguments["array_filters"] = [read_filter(each, holes) for each in body["arrayFilters"]]
    return "find_and_modify", {**arguments, **_common(body)}


_READERS: Mapping[str, Callable[[Observed, Holes], tuple[str, dict[str, Any]]]] = {
    "find": _find,
    "aggregate": _aggregate,
    "count": _count,
    "distinct": _distinct,
    "insert": _insert,
    "update": _update,
    "delete": _delete,
    "findAndModify": _find_and_modify,
}


def _common(body: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if isinstance(hint := body.get("hint"), str | Mapping) and hint:
        found["hint"] = hint if isinstance(hint, str) else dict(hint)
    if isinstance(collation := body.get("collation"), Mapping) and collation:
        found["collation"] = dict(collation)
    return found


def _plain_sort(sort: Mapping[str, Any]) -> dict[str, Any]:
    return {name: int(order) if isinstance(order, int | float) else order for name, order in sort.items()}
