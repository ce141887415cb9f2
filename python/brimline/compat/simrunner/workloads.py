"""Owns workloads: each becomes an operation with a load of its own, as its threads and its pace have it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brimline.compat.simrunner.expressions import Definitions, Expressions
from brimline.compat.simrunner.nodes import Constant, Node, Reference, in_step
from brimline.compat.simrunner.templates import Template, add_variables
from brimline.init.left_out import LeftOut
from brimline.init.words import operation_name
from brimline.init.yaml_text import Noted
from brimline.spec.readers import CONNECTION_COUNT_MAX
from brimline.units import counted

_BATCH_MAX = 1000
_MS_PER_S = 1000
_WRITE_CONCERNS = {
    "majority": "majority",
    "MAJORITY": "majority",
    "W1": 1,
    "w1": 1,
    "W2": 2,
    "w2": 2,
    "ACKNOWLEDGED": 1,
}
_KNOWN = frozenset({
    "name", "template", "op", "params", "threads", "batch", "pace", "variables", "variablesScope", "disabled",
    "readPreference", "readConcern", "writeConcern", "stopAfter", "stopAfterDuration", "startAfterDuration", "comment",
})  # fmt: skip
_ELSEWHERE = {"kafkaInsert": "Kafka is not measured", "jdbc": "SQL is not measured", "custom": "a class in Java"}


@dataclass(slots=True, kw_only=True)
class WorkloadReader:
    """Reads workloads into operations."""

    definitions: Definitions
    left: LeftOut
    taken: set[str] = field(default_factory=set)

    def read(self, given: Mapping[str, Any], template: Template, path: str) -> dict[str, Any]:
        """The operation of a workload by its name, none where it can't be taken over."""
        op = str(given.get("op", ""))
        name = str(given.get("name") or op)
        maker = _MAKERS.get(op)
        if maker is None:
            self.left.lose(f"{path}.op", f"{op or 'none'}: {_ELSEWHERE.get(op, 'is not known')}")
            return {}
        names = template.names.copy()
        expressions = Expressions(names, self.definitions, self.left, workload=name)
        add_variables(given.get("variables"), f"{path}.variables", names, expressions, prefix=name)
        work = _Work(self, given, template, path, expressions)
        step = maker(work)
        self._say_rest(given, path, op)
        threads, pace = max(int(given.get("threads") or 1), 1), int(given.get("pace") or 0)
        operation: dict[str, Any] = {"load": {"kind": "closed"}, "connections": min(threads, CONNECTION_COUNT_MAX)}
        above = [f"{name}: {counted(threads, 'thread')} in a closed loop"]
        if pace:
            rate = threads * _MS_PER_S / pace * work.times
            operation["load"] = {"kind": "constant", "rate": f"{rate:.6g}/s"}
            above = [
                f"{name}: {counted(threads, 'thread')}, each every {pace} ms; "
                "here due at that rate, also while the server is slow"
            ]
        instance = template.name.rpartition("_")[2] if template.name != given.get("template") else ""
        return {operation_name([name, instance], self.taken): Noted({**operation, **step}, above=above)}

    def _say_rest(self, given: Mapping[str, Any], path: str, op: str) -> None:
        for key in given:
            if key not in _KNOWN and not key.startswith("comment"):
                self.left.lose(f"{path}.{key}", "is not known")
        if "readPreference" in given:
            self.left.lose(f"{path}.readPreference", "of one operation; put readPreference into the address for all")
        for key in ("stopAfter", "stopAfterDuration", "startAfterDuration"):
            if key in given:
                self.left.lose(f"{path}.{key}", "an operation lasts as long as the run")
        if (
            given.get("variablesScope") != "operation"
            and given.get("batch")
            and given.get("variables")
            and op == "insert"
        ):
            self.left.change(f"{path}.variables", "each document of a batch draws its own")


@dataclass(slots=True)
class _Work:
    """One workload while its step is made. `times`: how many operations stand for one of SimRunner's."""

    reader: WorkloadReader
    given: Mapping[str, Any]
    template: Template
    path: str
    expressions: Expressions
    times: int = 1

    @property
    def params(self) -> Mapping[str, Any]:
        found = self.given.get("params")
        return found if isinstance(found, Mapping) else {}

    def part(self, name: str) -> Mapping[str, Any]:
        """A parameter that is a document."""
        found = self.params.get(name)
        return found if isinstance(found, Mapping) else {}

    @property
    def batch(self) -> int:
        return max(int(self.given.get("batch") or 1), 1)

    def filled(self, name: str, default: Any) -> Any:
        """A parameter as a step has it."""
        return in_step(self.expressions.translate(self.params.get(name, default), f"{self.path}.params.{name}"))

    def filter(self) -> Any:
        """The filter. Where keys were made by an expression, the key of a loaded record stands for it."""
        given = self.params.get("filter")
        conditions = dict(given) if isinstance(given, Mapping) else {}
        key = conditions.get("_id")
        is_made = (isinstance(key, str) and key.startswith("%")) or (
            isinstance(key, Mapping) and any(str(name).startswith("%") for name in key)
        )
        made = {
            name: in_step(self.expressions.translate(each, f"{self.path}.params.filter.{name}"))
            for name, each in conditions.items()
            if not (name == "_id" and is_made)
        }
        if is_made:
            self.reader.left.change(f"{self.path}.params.filter._id", "the key of a loaded record, each equally often")
            made["_id"] = {"$value": {"key_of": self.template.collection, "keys": {"kind": "uniform"}}}
        return made

    def step(self, **arguments: Any) -> dict[str, Any]:
        """The options of a step on the template's collection, with its concerns."""
        return {"collection": self.template.collection, **arguments}

    def reads(self) -> dict[str, Any]:
        concern = self.given.get("readConcern")
        return {"read_concern": str(concern).lower()} if concern else {}

    def writes(self) -> dict[str, Any]:
        concern = self.given.get("writeConcern")
        if concern is None:
            return {}
        if concern not in _WRITE_CONCERNS:
            self.reader.left.lose(f"{self.path}.writeConcern", f"{concern} is not known here")
            return {}
        return {"write_concern": _WRITE_CONCERNS[concern]}

    def sent_one_by_one(self) -> None:
        """A bulk write of the same statement is that statement so many times."""
        if self.batch > 1:
            self.times = self.batch
            self.reader.left.change(
                f"{self.path}.batch", f"{self.batch} statements of one command, each sent alone here"
            )


def _insert(work: _Work) -> dict[str, Any]:
    count = {"count": min(work.batch, _BATCH_MAX)} if work.batch > 1 else {}
    ordered = {"ordered": bool(work.params.get("ordered", False))} if count else {}
    document = _document(work)
    return {"insert": work.step(document=document, **count, **ordered, **work.writes())}


def _document(work: _Work) -> dict[str, Any]:
    """The template's document, in which the workload's variables go before the template's."""
    made = work.template.inserted()
    variables = work.given.get("variables")
    if not isinstance(variables, Mapping):
        return made
    theirs = {work.template.names.nodes.get(name): work.expressions.names.nodes[name] for name in variables}
    swapped = {each.text: ours for each, ours in theirs.items() if isinstance(each, Reference)}
    return {name: _swapped(each, swapped) for name, each in made.items()}


def _swapped(value: Any, nodes: Mapping[str, Node]) -> Any:
    if isinstance(value, str):
        return in_step(nodes[value]) if value in nodes else value
    if isinstance(value, Mapping):
        return {name: _swapped(each, nodes) for name, each in value.items()}
    return [_swapped(each, nodes) for each in value] if isinstance(value, list) else value


def _find(work: _Work) -> dict[str, Any]:
    found = work.step(filter=work.filter())
    if isinstance(project := work.params.get("project"), Mapping):
        found["projection"] = in_step(Constant(project))
    if isinstance(sort := work.params.get("sort"), Mapping):
        found["sort"] = dict(sort)
    limit = work.params.get("limit")
    if isinstance(limit, int) and limit > 0:
        found["limit"] = limit
        if work.params.get("skip") is True:
            found["skip"] = {"$value": {"multiply": [{"kind": "int", "min": 0, "max": 9}, limit]}}
    return {"find": found | work.reads()}


def _update(work: _Work, *, many: bool) -> dict[str, Any]:
    if many and work.batch > 1:
        work.reader.left.change(f"{work.path}.op", "updates one document each, as SimRunner does in batches")
    work.sent_one_by_one()
    found = work.step(filter=work.filter(), update=work.filled("update", {}))
    if many and work.batch == 1:
        found["many"] = True
    return {"update": found | _upsert(work) | work.writes()}


def _upsert(work: _Work) -> dict[str, Any]:
    return {"upsert": True} if work.params.get("upsert") else {}


def _replace(work: _Work) -> dict[str, Any]:
    work.sent_one_by_one()
    update = work.params.get("update")
    fields = {name: each for name, each in update.items() if name != "_id"} if isinstance(update, Mapping) else {}
    made = in_step(work.expressions.translate(fields, f"{work.path}.params.update"))
    return {"replace": work.step(filter=work.filter(), replacement=made, **_upsert(work), **work.writes())}


def _replace_with_new(work: _Work) -> dict[str, Any]:
    work.sent_one_by_one()
    made = work.template.inserted(with_key=False)
    return {"replace": work.step(filter=work.filter(), replacement=made, **_upsert(work), **work.writes())}


def _delete(work: _Work, *, many: bool) -> dict[str, Any]:
    return {"delete": work.step(filter=work.filter(), **({"many": True} if many else {}), **work.writes())}


def _aggregate(work: _Work) -> dict[str, Any]:
    return {"aggregate": work.step(pipeline=work.filled("pipeline", []), **work.reads())}


def _series(work: _Work) -> tuple[dict[str, Any], int]:
    """A measurement, and how many come at a time."""
    meta, time = work.part("meta"), work.part("time")
    form = work.template.dictionaries.get(str(meta.get("dictionary", "")))
    made = work.template.inserted(with_key=False)
    if form is None:
        work.reader.left.lose(f"{work.path}.params.meta.dictionary", "is no dictionary of the template")
        form = {"kind": "int", "min": 0, "max": 999}
    made[str(meta.get("metaField", "meta"))] = {"$value": dict(form)}
    field = str(time.get("timeField", "time"))
    if "value" in time:
        made[field] = in_step(work.expressions.translate(time["value"], f"{work.path}.params.time.value"))
    else:
        step = int(time.get("step") or 1000)
        start = in_step(Constant(time.get("start"))) if "start" in time else "$now"
        by: dict[str, Any] = {"multiply": ["$index", step]}
        if jitter := int(time.get("jitter") or 0):
            by = {"add": [by, {"kind": "int", "min": -jitter, "max": jitter}]}
        made[field] = {"$value": {"date_add": {"date": start, "by": by}}}
        work.reader.left.change(f"{work.path}.params.time", "ascends by a step with each operation")
        if "stop" in time:
            work.reader.left.lose(f"{work.path}.params.time.stop", "time has no end here")
    generate = meta.get("generate")
    count = generate.get("random") if isinstance(generate, Mapping) else None
    count = count if isinstance(count, int) else _entries_of(form)
    work.reader.left.change(f"{work.path}.params.meta.generate", "series are drawn at random, also twice")
    return made, count


def _entries_of(form: Mapping[str, Any]) -> int:
    of = form.get("of") if form.get("kind") == "choice" else form.get("one_of")
    return len(of) if isinstance(of, list | dict) else 1000


def _timeseries(work: _Work) -> dict[str, Any]:
    made, count = _series(work)
    batch = max(1, min(int(work.given.get("batch") or 1), count, _BATCH_MAX))
    work.times = max(1, count // batch)
    return {
        "insert": work.step(document=made, **({"count": batch, "ordered": False} if batch > 1 else {}), **work.writes())
    }


def _buckets(work: _Work) -> dict[str, Any]:
    """Each measurement is put into a document that has room."""
    made, count = _series(work)
    work.times = max(1, count)
    meta = str(work.part("meta").get("metaField", "meta"))
    time = str(work.part("time").get("timeField", "time"))
    counted = str(work.params.get("countField") or "count")
    series, at = made.pop(meta), made[time]
    if isinstance(at, Mapping):
        name = work.reader.definitions.define("measured_at", at.get("$value", at))
        at = made[time] = f"${name}"
    update = {
        "$push": {"records": made},
        "$set": {"maxDate": at},
        "$inc": {counted: 1},
        "$setOnInsert": {"minDate": at},
    }
    conditions = {meta: series, counted: {"$lt": int(work.params.get("bucketSize") or 100)}}
    return {"update": work.step(filter=conditions, update=update, upsert=True, **work.writes())}


_MAKERS: Mapping[str, Callable[[_Work], dict[str, Any]]] = {
    "insert": _insert,
    "find": _find,
    "updateOne": lambda work: _update(work, many=False),
    "updateMany": lambda work: _update(work, many=True),
    "deleteOne": lambda work: _delete(work, many=False),
    "deleteMany": lambda work: _delete(work, many=True),
    "replaceOne": _replace,
    "replaceWithNew": _replace_with_new,
    "aggregate": _aggregate,
    "timeseries": _timeseries,
    "bucketTimeseries": _buckets,
}
