"""Owns how the command of a step is put together from its options."""

from typing import Any

from brimline.spec.own.expressions import read_expression
from brimline.spec.own.kinds import ORDERED, inserted
from brimline.spec.own.nodes import Node, array, constant, constant_value, document
from brimline.spec.own.options import Option
from brimline.spec.own.problems import Problem
from brimline.spec.own.step_kind import Given, StepKind
from brimline.spec.readers import BATCH_SIZE_MAX, shown


def body_of(kind: StepKind, given: Given) -> Node:
    """The command of a step."""
    if kind.statements is None:
        return _command(kind, given, kind.options)
    if kind.name == "insert" and "count" in given.raw:
        made = _repeated(given)
    else:
        assert kind.make is not None  # noqa: S101 - of every kind with statements
        made = array(kind.make(kind, given))
    return bulk_body(kind, given, made)


def bulk_body(kind: StepKind, given: Given, statements: Node) -> Node:
    """A command with a list of documents or statements."""
    assert kind.statements is not None  # noqa: S101 - of every kind with statements
    head = [(kind.command, constant(given.collection)), (kind.statements, statements)]
    options = dict.fromkeys((*kind.options, ORDERED, *_rest(kind)))
    return document([*head, *_options(given, tuple(options))])


def _rest(kind: StepKind) -> tuple[Option, ...]:
    own = {option.name for option in (*kind.options, *kind.statement_options)}
    return tuple(option for option in kind.all_options if option.name not in own)


def _command(kind: StepKind, given: Given, options: tuple[Option, ...]) -> Node:
    fields = [(kind.command, constant(given.collection)), *_options(given, (*options, *_rest(kind)))]
    if kind.command == "aggregate" and "batch_size" not in given.nodes:
        fields.insert(2, ("cursor", document([])))
    return document(fields)


def _options(given: Given, options: tuple[Option, ...]) -> list[tuple[str, Node]]:
    return [(option.field, given.nodes[option.name]) for option in options if option.name in given.nodes]


def _repeated(given: Given) -> Node:
    path, count = (*given.path, "count"), given.raw["count"]
    if "document" not in given.raw:
        raise Problem(path, "says how often a document is made", "write document in place of documents")
    node = read_expression(count, path, given.scope)
    number = constant_value(node) if node.is_constant else None
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= BATCH_SIZE_MAX:
        raise Problem(path, f"must be a whole number from 1 to {BATCH_SIZE_MAX}, not {shown(count)}", "write count: 10")
    one = inserted(given.raw["document"], (*given.path, "document"), given.scope)
    return Node({"kind": "repeated", "count": number, "of": one.plan}, "list")


def statement_count(kind: StepKind, raw: dict[str, Any]) -> int:
    """Documents of an insert; of all others 1."""
    if kind.name != "insert":
        return 1
    return int(raw["count"]) if "count" in raw else len(raw.get("documents", [None]))


def is_retryable(kind: StepKind, raw: dict[str, Any]) -> bool:
    """Whether the server knows a write again that is sent once more: an insert, or a change of one document."""
    return (kind.statements is not None or kind.name == "find_and_modify") and raw.get("many") is not True
