"""Owns how a step is read: its kind, its options, its pause, what it expects and saves; into commands of the plan."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from brimline.spec import readers
from brimline.spec.document import Path
from brimline.spec.own.commands import body_of, bulk_body, is_retryable, statement_count
from brimline.spec.own.expressions import Scope, read_expression
from brimline.spec.own.forms import Forms
from brimline.spec.own.keys import check_keys, choice, mapping
from brimline.spec.own.kinds import BULK_KINDS, COMMIT_OPTIONS, KINDS, Given, StepKind, all_kinds, unknown_kind
from brimline.spec.own.nodes import Node, array, constant, document, with_field
from brimline.spec.own.options import a_read_concern, duration_ns, flag
from brimline.spec.own.problems import Problem, nearest
from brimline.spec.own.replies import read_expect, read_save
from brimline.spec.own.sizes import DEPTH_MAX, depth, least_bytes
from brimline.spec.readers import DOCUMENT_BYTES_MAX, MESSAGE_BYTES_MAX, shown

BESIDE_KIND: Final = ("name", "save", "expect", "think_time")
"""What may stand beside the kind of a step."""
BESIDE_COMMAND: Final = ("database", "access", "cursor")
_ADDED_BY_BRIMLINE: Final = ("$db", "lsid", "txnNumber", "autocommit", "startTransaction", "$readPreference")
_COMMANDS_WITH_CURSORS: Final = ("find", "aggregate", "listCollections", "listIndexes")
_ACCESS: Final = ("read", "write", "command")
_WITH_CURSOR: Final = StepKind("command", "", command="", access="command", counter="command", has_cursor=True)
_LAWS: Final = ("constant", "exponential")
_NAME_LENGTH_MAX: Final = 80


@dataclass
class StepReader:
    """Reads the steps of one operation, whose names it keeps apart. `slots` are the places of saved values."""

    forms: Forms
    scope: Scope
    slots: dict[str, int]
    database: str
    value_plans: list[dict[str, Any]]

    def __post_init__(self) -> None:
        self._names: set[str] = set()
        self._think_time: dict[str, Any] | None = None

    def read(self, items: Any, path: Path, *, in_transaction: bool = False) -> list[dict[str, Any]]:
        """The commands of a list of steps."""
        if not isinstance(items, list) or not items:
            raise Problem(path, "must be a list of steps", "write it like [{find: {collection: orders}}]")
        made: list[dict[str, Any]] = []
        for number, item in enumerate(items):
            made += self.step(item, (*path, number), in_transaction=in_transaction)
        if self._think_time is not None and not in_transaction:
            raise Problem(
                path, "ends with a think_time", "a pause stands before a step; that of a load is load.think_time"
            )
        return made

    def step(self, item: Any, path: Path, *, in_transaction: bool = False) -> list[dict[str, Any]]:
        """The commands of one step."""
        step = mapping(item, path, "{find: {collection: orders}}")
        kinds = [key for key in step if key in all_kinds()]
        if len(kinds) > 1:
            raise Problem(
                (*path, kinds[1]), f"is a second step beside {kinds[0]}", "begin each step with a - of its own"
            )
        if "think_time" in step:
            self._pause(step["think_time"], (*path, "think_time"))
        if not kinds:
            if list(step) == ["think_time"]:
                return []
            raise unknown_kind([key for key in step if key not in BESIDE_KIND], path)
        kind = kinds[0]
        check_keys(step, path, (*BESIDE_KIND, kind, *(BESIDE_COMMAND if kind == "command" else ())))
        if kind == "transaction":
            if in_transaction:
                raise Problem((*path, kind), "is a transaction inside a transaction", "let one follow the other")
            return self._transaction(step, path)
        if in_transaction:
            self._check_in_transaction(kind, step[kind], (*path, kind))
        return [self._finish(each) for each in self._commands(kind, step, path)]

    def _check_in_transaction(self, kind: str, given: Any, path: Path) -> None:
        if kind == "count":
            hint = "write aggregate with [{$match: {…}}, {$count: n}]"
            raise Problem(path, "the server has no count in a transaction", hint)
        for concern in ("read_concern", "write_concern"):
            if isinstance(given, dict) and concern in given:
                hint = f"write transaction: {{steps: […], {concern}: majority}}"
                raise Problem((*path, concern), "belongs to the transaction", hint)

    def _finish(self, made: dict[str, Any]) -> dict[str, Any]:
        """The pause that was written before, and the limits of a message."""
        made["think_time"], self._think_time = self._think_time, None
        return made

    def _pause(self, value: Any, path: Path) -> None:
        if self._think_time is not None:
            raise Problem(path, "is a second pause in a row", "make it one")
        law = "constant"
        mean = value
        if isinstance(value, dict):
            check_keys(value, path, ("mean", "law"), required=("mean",))
            law, mean = choice(value.get("law", law), (*path, "law"), _LAWS), value["mean"]
        nanoseconds = duration_ns(mean, (*path, "mean") if isinstance(value, dict) else path)
        if not 0 < nanoseconds <= readers.DAY_NS:
            raise Problem(path, f"must be above 0 and at most 1d, but is {shown(mean)}", "write think_time: 20ms")
        self._think_time = {"mean_ns": nanoseconds, "law": law}

    def _commands(self, kind: str, step: dict[str, Any], path: Path) -> Iterator[dict[str, Any]]:
        if kind == "bulk_write":
            yield from self._bulk(step, path)
        elif kind == "command":
            yield self._any_command(step, path)
        else:
            yield self._one(KINDS[kind], step, path)

    def _one(self, kind: StepKind, step: dict[str, Any], path: Path) -> dict[str, Any]:
        given = self._given(kind, step[kind.name], (*path, kind.name))
        body = body_of(kind, given)
        self._check_size(kind, given, body)
        _check_depth(body, given.path)
        batch_size = given.raw.get("batch_size")
        writes = kind.writes is not None and kind.writes(given.raw)
        made = self._made(f"{kind.name} {given.raw['collection']}", step, path, kind=kind)
        return {
            **made,
            "command": kind.command,
            "database": self.forms.databases[given.raw["collection"]],
            "collection": given.collection,
            "access": "write" if writes else kind.access,
            "body": body.plan,
            "statements": statement_count(kind, given.raw),
            "counter": kind.counter,
            "retryable": is_retryable(kind, given.raw),
            "batch_size": batch_size,
            "cursor": kind.has_cursor,
        }

    def _given(
        self, kind: StepKind, value: Any, path: Path, *, collection: Any = None, beside: tuple[str, ...] = ()
    ) -> Given:
        """Options of a step. Of a request of a bulk write the collection is said elsewhere."""
        own = tuple(kind.made_from)
        example = "{collection: orders}" if collection is None else f"{{{(own or ('filter',))[0]}: {{…}}}}"
        raw = mapping(value, path, example)
        known = [*([] if collection is not None else ["collection"]), *own, *(each.name for each in kind.all_options)]
        self._refuse_beside(raw, path, kind)
        required = kind.required if collection is not None else ("collection", *kind.required)
        check_keys(raw, path, [each for each in known if each not in beside], required=required)
        for names in kind.one_of:
            found = [name for name in names if name in raw]
            if not found:
                raise Problem((*path, names[0]), "is missing", f"add {' or '.join(names)}")
            if len(found) > 1:
                raise Problem((*path, found[1]), f"has no place beside {found[0]}", "leave one of them out")
        name = raw.get("collection") if collection is None else collection
        self.forms.database(name, (*path, "collection"))
        nodes = {
            option.name: option.read(raw[option.name], (*path, option.name), self.scope)
            for option in kind.all_options
            if option.name in raw
        }
        return Given(self.forms.collection_name(str(name)), nodes, raw, path, self.scope)

    def _refuse_beside(self, raw: dict[str, Any], path: Path, kind: StepKind) -> None:
        for name in BESIDE_KIND:
            if name in raw and name not in {each.name for each in kind.all_options}:
                hint = f"write it beside {kind.name}: {{{kind.name}: {{…}}, {name}: …}}"
                raise Problem((*path, name), f"belongs to the step, not into {kind.name}", hint)

    def _check_size(self, kind: StepKind, given: Given, body: Node) -> None:
        if kind.statements is None and kind.name != "find_and_modify":
            return
        least = least_bytes(body.plan, self._value_plan)
        count = statement_count(kind, given.raw)
        if count == 1 and least > DOCUMENT_BYTES_MAX + 16 * 1024:
            message = f"is at least {least} bytes, more than MongoDB's {DOCUMENT_BYTES_MAX}"
            raise Problem(given.path, message, "make it shorter")
        if least > MESSAGE_BYTES_MAX:
            message = f"is at least {least} bytes, more than a message's {MESSAGE_BYTES_MAX}"
            raise Problem(given.path, message, "insert fewer or shorter documents")

    def _value_plan(self, index: int) -> dict[str, Any]:
        return self.value_plans[index]

    def _made(self, name: str, step: dict[str, Any], path: Path, *, kind: StepKind | None) -> dict[str, Any]:
        """What all steps have: a name of their own, what they expect, what they save."""
        expect = read_expect(step["expect"], (*path, "expect"), self.scope, kind) if "expect" in step else []
        save = []
        if "save" in step:
            save = read_save(step["save"], (*path, "save"), self.scope, kind, self.slots)
        return {
            "name": self._name(step.get("name"), name, (*path, "name")),
            "database": self.database,
            "transaction": None,
            "expect": expect,
            "save": save,
        }

    def _name(self, given: Any, default: str, path: Path) -> str:
        if given is not None:
            if not isinstance(given, str) or not given.strip() or len(given) > _NAME_LENGTH_MAX or "/" in given:
                hint = f"take text of at most {_NAME_LENGTH_MAX} characters without /"
                raise Problem(path, f"{shown(given)} can't name a step", hint)
            if given in self._names:
                raise Problem(path, f"there are two steps called {shown(given)}", "give each its own name")
            self._names.add(given)
            return given
        name, number = default, 1
        while name in self._names:
            number += 1
            name = f"{default} {number}"
        self._names.add(name)
        return name

    def _bulk(self, step: dict[str, Any], path: Path) -> Iterator[dict[str, Any]]:
        """One command for each row of requests that one command can carry."""
        for name in ("save", "expect"):
            if name in step:
                raise Problem(
                    (*path, name), "has no place beside bulk_write", "write its requests as steps of their own"
                )
        path_in = (*path, "bulk_write")
        raw = mapping(step["bulk_write"], path_in, "{collection: orders, requests: [{insert: {document: {…}}}]}")
        beside = ("comment", "write_concern", "max_time")
        check_keys(raw, path_in, ("collection", "requests", "ordered", *beside), required=("collection", "requests"))
        self.forms.database(raw["collection"], (*path_in, "collection"))
        requests = raw["requests"]
        if not isinstance(requests, list) or not requests:
            raise Problem((*path_in, "requests"), "must be a list of requests", "write [{insert: {document: {…}}}]")
        read = [self._request(each, (*path_in, "requests", number), raw) for number, each in enumerate(requests)]
        name = step.get("name") or f"bulk_write {raw['collection']}"
        for number, (_, rows) in enumerate(groupby(read, key=lambda each: each[0].command), start=1):
            row = list(rows)
            kind, given = row[0][0], row[0][1]
            nodes = {
                option.name: option.read(raw[option.name], (*path_in, option.name), self.scope)
                for option in kind.all_options
                if option.name in raw and option.name in beside
            }
            if "ordered" in raw:
                nodes["ordered"] = constant(flag(raw["ordered"], (*path_in, "ordered")))
            statements = [statement for _, _, made in row for statement in made]
            whole = replace(given, nodes=nodes)
            body = bulk_body(kind, whole, array(statements))
            _check_depth(body, path_in)
            yield {
                **self._made(f"{name} {number}", {}, path, kind=kind),
                "command": kind.command,
                "database": self.forms.databases[raw["collection"]],
                "collection": given.collection,
                "access": kind.access,
                "body": body.plan,
                "statements": len(statements),
                "counter": kind.counter,
                "retryable": all(is_retryable(each, request.raw) for each, request, _ in row),
                "batch_size": None,
                "cursor": False,
            }

    def _request(self, request: Any, path: Path, bulk: dict[str, Any]) -> tuple[StepKind, Given, list[Node]]:
        given = mapping(request, path, "{insert: {document: {…}}}")
        name = next(iter(given), "")
        if len(given) != 1 or name not in BULK_KINDS:
            raise Problem((*path, name) if name else path, f"{shown(name)} is no request", nearest(name, BULK_KINDS))
        kind = KINDS[name]
        beside = (*(option.name for option in kind.options), "comment", "max_time", "write_concern", "count")
        read = self._given(kind, given[name], (*path, name), collection=bulk["collection"], beside=beside)
        assert kind.make is not None  # noqa: S101 - of every kind that a bulk write takes
        return kind, read, kind.make(kind, read)

    def _any_command(self, step: dict[str, Any], path: Path) -> dict[str, Any]:
        path_in = (*path, "command")
        raw = mapping(step["command"], path_in, "{dbStats: 1}")
        name = next(iter(raw), "")
        if not name or name.startswith("$"):
            raise Problem(path_in, "names no command", "its first key is the command, such as {dbStats: 1}")
        if name == "command":
            inner = next(iter(raw[name]), "ping") if isinstance(raw[name], dict) else raw[name]
            hint = f"the command stands directly under it: command: {{{inner}: 1}}"
            raise Problem((*path_in, name), "is no command", hint)
        for field in _ADDED_BY_BRIMLINE:
            if field in raw:
                hint = "write database beside command" if field == "$db" else f"leave {field} out"
                raise Problem((*path_in, field), "is added by brimline", hint)
        if name in ("getMore", "commitTransaction", "abortTransaction"):
            raise Problem((*path_in, name), f"brimline sends {name} itself", "leave it out; write a transaction step")
        kind = next((each for each in KINDS.values() if each.command == name), None)
        if kind is not None and kind.statements is not None and not isinstance(raw.get(kind.statements), list):
            at = (*path_in, kind.statements)
            raise Problem(at, "must be a list, as its members are counted", f"write the step {kind.name} instead")
        database = step.get("database", self.database)
        if not isinstance(database, str) or not database:
            raise Problem((*path, "database"), f"must be a database, not {shown(database)}", "write database: admin")
        access = choice(step.get("access", kind.access if kind else "command"), (*path, "access"), _ACCESS)
        cursor = flag(step["cursor"], (*path, "cursor")) if "cursor" in step else name in _COMMANDS_WITH_CURSORS
        body = read_expression(raw, path_in, self.scope)
        _check_depth(body, path_in)
        return {
            **self._made(f"command {name}", step, path, kind=_WITH_CURSOR if cursor else None),
            "database": database,
            "command": name,
            "collection": None,
            "access": access,
            "body": body.plan,
            "statements": len(raw[kind.statements]) if kind is not None and kind.statements is not None else 1,
            "counter": kind.counter if kind is not None else "command",
            "batch_size": None,
            "cursor": cursor,
        }

    def _transaction(self, step: dict[str, Any], path: Path) -> list[dict[str, Any]]:
        """Its steps, the first of which begins it, and the commit."""
        for name in ("save", "expect"):
            if name in step:
                raise Problem((*path, name), "has no place beside transaction", f"write {name} at one of its steps")
        path_in, given = (*path, "transaction"), step["transaction"]
        options: dict[str, Any] = {}
        if isinstance(given, dict):
            known = ("steps", "read_concern", "write_concern", "comment", "max_time")
            check_keys(given, path_in, known, required=("steps",))
            options, path_in, given = given, (*path_in, "steps"), given["steps"]
        made = self.read(given, path_in, in_transaction=True)
        if not made:
            raise Problem(path_in, "has no step", "write a step such as {insert: {…}}")
        if self._think_time is not None:
            pause, self._think_time = self._think_time, None
        else:
            pause = None
        for each in made:
            each["transaction"] = "inside"
        made[0]["transaction"] = "begin"
        at = path_in[:-1] if options else path_in
        if "read_concern" in options:
            concern = a_read_concern(options["read_concern"], (*at, "read_concern"), self.scope)
            if not concern.is_constant:
                raise Problem((*at, "read_concern"), "is the same for every operation", "write read_concern: snapshot")
            made[0]["body"] = with_field(Node(made[0]["body"]), "readConcern", concern).plan
        return [*made, {**self._commit(step, path, options, at), "think_time": pause}]

    def _commit(self, step: dict[str, Any], path: Path, options: dict[str, Any], at: Path) -> dict[str, Any]:
        fields = [("commitTransaction", constant(1))]
        for option in COMMIT_OPTIONS:
            if option.name in options:
                fields.append((option.field, option.read(options[option.name], (*at, option.name), self.scope)))
        return {
            **self._made(f"{step['name']} commit" if "name" in step else "commit", {}, path, kind=None),
            "database": "admin",
            "command": "commitTransaction",
            "collection": None,
            "access": "write",
            "body": document(fields).plan,
            "statements": 1,
            "counter": "command",
            "batch_size": None,
            "cursor": False,
            "transaction": "commit",
        }


def _check_depth(body: Node, path: Path) -> None:
    if depth(body.plan) > DEPTH_MAX:
        hint = "a part without $values may be as deep as it likes: move values further up"
        raise Problem(path, f"has values more than {DEPTH_MAX} levels deep", hint)
