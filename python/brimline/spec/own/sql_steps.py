"""Owns the steps of SQL: the table of its kinds, and how a statement is read, in each dialect."""

from typing import Any, Final

from brimline.spec.document import Path
from brimline.spec.own.expressions import Scope, read_expression
from brimline.spec.own.keys import check_keys, mapping
from brimline.spec.own.nodes import Node
from brimline.spec.own.problems import Problem
from brimline.spec.own.sql_text import DIALECTS, Dialect, Statement, read_statement
from brimline.spec.own.step_kind import Access, Requested, StepKind, Surroundings, refuse_beside
from brimline.spec.own.templates import Reference, Slots, referred
from brimline.spec.readers import BATCH_SIZE_MAX, shown
from brimline.units import counted

_READING: Final = ("select", "show", "values", "table", "explain", "describe", "desc")
_NEITHER: Final = ("begin", "set", "use")
_OF_TRANSACTIONS: Final = ("begin", "commit", "rollback", "savepoint", "release")
_ROWS: Final = ("row", "rows", "count")
_EXAMPLE: Final = '"SELECT * FROM orders WHERE id = $id"'


def _request(kind: StepKind, step: dict[str, Any], path: Path, around: Surroundings) -> dict[str, Requested]:
    at, given = (*path, kind.name), step[kind.name]
    raw = {"statement": given} if isinstance(given, str) else mapping(given, at, _EXAMPLE)
    refuse_beside(raw, at, kind)
    check_keys(raw, at, kind.made_from)
    texts = _texts(raw, at, is_short=isinstance(given, str))
    made: dict[str, Requested] = {}
    for where, text, dialects in texts:
        if not isinstance(text, str) or not text.strip():
            raise Problem(where, f"must be a statement, not {shown(text)}", f"write {where[-1]}: {_EXAMPLE}")
        for dialect, statement in read_statement(text, where, dialects).items():
            made[dialect] = _made(statement, raw, at, where, around.scope, dialect)
    return made


def _texts(raw: dict[str, Any], path: Path, *, is_short: bool) -> list[tuple[Path, Any, tuple[Dialect, ...]]]:
    """The statements, each with the dialects that it is for."""
    own = [dialect for dialect in DIALECTS if dialect in raw]
    if "statement" in raw:
        if own:
            raise Problem((*path, own[0]), "has no place beside statement", "leave one of them out")
        return [(path if is_short else (*path, "statement"), raw["statement"], DIALECTS)]
    if not own:
        raise Problem((*path, "statement"), "is missing", f"add statement: {_EXAMPLE}")
    return [((*path, dialect), raw[dialect], (dialect,)) for dialect in own]


def _made(
    statement: Statement, raw: dict[str, Any], path: Path, where: Path, scope: Scope, dialect: Dialect
) -> Requested:
    if statement.verb in _OF_TRANSACTIONS:
        hint = "write transaction: [{sql: …}, …], which begins and commits"
        raise Problem(where, f"{statement.verb} belongs to a transaction", hint)
    slots = Slots()
    for part in statement.parts:
        if isinstance(part, Reference):
            slots.add(referred(part.text, part.text, where, scope))
    name = f"{statement.verb} {statement.table}".strip()
    only_reads = statement.verb in _READING and not statement.locks and not statement.has_more
    access: Access = "read" if only_reads else "write"
    if statement.verb in _NEITHER:
        access = "command"
    request = {"kind": "statement", "text": statement.text(dialect), "mode": _mode(statement, slots)}
    if not any(key in raw for key in _ROWS):
        return Requested(name, statement.verb, access, slots.plans, request)
    rows, count = _rows(raw, path, where, statement, scope)
    return Requested(name, statement.verb, access, [rows], {**request, "mode": "rows"}, count)


def _mode(statement: Statement, slots: Slots) -> str:
    """What can be prepared everywhere is; a statement of another kind that has no parameter is sent as text."""
    is_common = statement.verb in ("select", "insert", "update", "delete", "replace")
    return "prepared" if slots.plans or is_common else "text"


def _rows(
    raw: dict[str, Any], path: Path, where: Path, statement: Statement, scope: Scope
) -> tuple[dict[str, Any], int]:
    """The rows of one insert: a list of lists, and how many there are."""
    if not statement.ends_with_values:
        hint = 'write statement: "INSERT INTO orders (id, customer) VALUES"'
        raise Problem(where, "must end with VALUES, as the rows follow it", hint)
    if any(isinstance(part, Reference) for part in statement.parts):
        raise Problem(where, "has a parameter beside rows", "write it into the rows")
    if "row" in raw and "rows" in raw:
        raise Problem((*path, "rows"), "has no place beside row", "leave one of them out")
    if "rows" in raw:
        if "count" in raw:
            raise Problem((*path, "count"), "says how often a row is made", "write row in place of rows")
        return _listed(raw["rows"], (*path, "rows"), scope)
    at = (*path, "count")
    if "row" not in raw:
        raise Problem((*path, "row"), "is missing", "add row: [$id, $customer]")
    node = _row(raw["row"], (*path, "row"), scope)
    count = raw.get("count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= BATCH_SIZE_MAX:
        raise Problem(at, f"must be a whole number from 1 to {BATCH_SIZE_MAX}, not {shown(count)}", "write count: 10")
    return {"kind": "repeated", "count": count, "of": node.plan}, count


def _listed(rows: Any, path: Path, scope: Scope) -> tuple[dict[str, Any], int]:
    if not isinstance(rows, list) or not rows:
        raise Problem(path, "must be a list of rows", "write rows: [[$id, $customer], […]]")
    if len(rows) > BATCH_SIZE_MAX:
        raise Problem(path, f"has {len(rows)} rows, and a statement at most {BATCH_SIZE_MAX}", "insert fewer")
    nodes = [_row(each, (*path, number), scope) for number, each in enumerate(rows)]
    for number, each in enumerate(rows):
        if len(each) != len(rows[0]):
            message = f"has {counted(len(each), 'value')}, and the first row {len(rows[0])}"
            raise Problem((*path, number), message, "give each row as many")
    return {"kind": "list", "items": [node.plan for node in nodes]}, len(rows)


def _row(value: Any, path: Path, scope: Scope) -> Node:
    if not isinstance(value, list) or not value:
        raise Problem(path, f"must be a list of values, not {shown(value)}", "write [$id, $customer]")
    return read_expression(value, path, scope)


def control(name: str, command: str, texts: dict[Dialect, str]) -> dict[str, Requested]:
    """A statement that begins or ends a transaction."""
    access: Access = "command" if command == "begin" else "write"
    return {
        dialect: Requested(name, command, access, [], {"kind": "statement", "text": text, "mode": "text"})
        for dialect, text in texts.items()
    }


BEGIN: Final[dict[Dialect, str]] = {"mysql": "START TRANSACTION", "postgres": "BEGIN"}
COMMIT: Final[dict[Dialect, str]] = {"mysql": "COMMIT", "postgres": "COMMIT"}

SQL_KINDS: Final[dict[str, StepKind]] = {
    "sql": StepKind(
        "sql",
        "One statement, prepared once for each connection; `$name` in it is a parameter.",
        command="",
        access="write",
        counter="command",
        made_from={
            "statement": 'The statement, where options stand beside it; `sql: "…"` is short for it alone.',
            "mysql": "The statement for MariaDB and MySQL, where it isn't the same for both.",
            "postgres": "The statement for PostgreSQL.",
            "rows": "Rows of an insert that ends with VALUES: a list of lists.",
            "row": "One such row, as a list.",
            "count": "How often `row` is made, each time with new values, in one statement.",
        },
        request=_request,
    )
}
"""Kinds that are one statement."""
SQL_OTHER_KINDS: Final = {"transaction": "Steps between a BEGIN and a COMMIT."}
SQL_SYNONYMS: Final = {
    **dict.fromkeys(("select", "insert", "update", "delete", "query", "statement", "execute", "call"), 'write "sql"'),
    **dict.fromkeys(("begin", "commit"), 'write "transaction" with the steps between them'),
    **dict.fromkeys(("sleep", "wait", "pause"), 'write "think_time"'),
}
"""What other tools call the kinds, with what to write."""
