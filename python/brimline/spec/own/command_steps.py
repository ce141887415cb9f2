"""Owns how the steps of MongoDB are read: into commands of the plan."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from brimline.spec.document import Path
from brimline.spec.own.commands import body_of, bulk_body, is_retryable, statement_count
from brimline.spec.own.expressions import read_expression
from brimline.spec.own.keys import check_keys, choice, mapping
from brimline.spec.own.kinds import BULK_KINDS, COMMIT_OPTIONS, KINDS
from brimline.spec.own.nodes import Node, array, constant, document, with_field
from brimline.spec.own.options import a_read_concern, flag
from brimline.spec.own.problems import Problem, nearest
from brimline.spec.own.sizes import DEPTH_MAX, depth, least_bytes
from brimline.spec.own.step_kind import Given, StepKind, refuse_beside
from brimline.spec.own.steps import StepReader
from brimline.spec.readers import DOCUMENT_BYTES_MAX, MESSAGE_BYTES_MAX, shown

_ADDED_BY_BRIMLINE: Final = ("$db", "lsid", "txnNumber", "autocommit", "startTransaction", "$readPreference")
_COMMANDS_WITH_CURSORS: Final = ("find", "aggregate", "listCollections", "listIndexes")
_ACCESS: Final = ("read", "write", "command")
_WITH_CURSOR: Final = StepKind("command", "", command="", access="command", counter="command", has_cursor=True)


@dataclass
class CommandSteps(StepReader):
    """Reads steps that are MongoDB's commands. `value_plans` are the expressions of the named values."""

    database: str
    value_plans: list[dict[str, Any]]

    def _check_in_transaction(self, kind: str, given: Any, path: Path) -> None:
        if kind == "count":
            hint = "write aggregate with [{$match: {…}}, {$count: n}]"
            raise Problem(path, "the server has no count in a transaction", hint)
        for concern in ("read_concern", "write_concern"):
            if isinstance(given, dict) and concern in given:
                hint = f"write transaction: {{steps: […], {concern}: majority}}"
                raise Problem((*path, concern), "belongs to the transaction", hint)

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
        refuse_beside(raw, path, kind)
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
        path_in, given = (*path, "transaction"), step["transaction"]
        options: dict[str, Any] = {}
        if isinstance(given, dict):
            known = ("steps", "read_concern", "write_concern", "comment", "max_time")
            check_keys(given, path_in, known, required=("steps",))
            options, path_in, given = given, (*path_in, "steps"), given["steps"]
        made, pause = self._inside(given, path_in)
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
