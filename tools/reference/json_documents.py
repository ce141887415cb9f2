"""Owns how the keys of a JSON document are read from the function that makes it, without calling it.

A key is one of a dict in the function: what it returns, what it spreads (`**`), or fills step by step. What a key holds
is another dict, the document of another function, or an object of a dataclass or a typed dict, found by its type.
"""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from functools import cache
from types import FunctionType
from typing import Any, get_origin, is_typeddict

from tools.reference.types_of_code import Scope, element_of, hints_of, plain_type, scope_of, type_of


@dataclass(slots=True)
class Keys:
    """Keys of one JSON object, in order. `held` has what a key holds: keys of its own, or another document."""

    title: str
    docstring: str = ""
    held: dict[str, "list[Keys | Callable[..., Any] | type]"] = field(default_factory=dict)
    also: "list[Callable[..., Any]]" = field(default_factory=list)
    """Documents whose keys stand among these."""

    def add(self, name: str, held: "list[Keys | Callable[..., Any] | type]") -> None:
        """Adds a key, or what it holds otherwise, once."""
        known = self.held.setdefault(name, [])
        for each in held:
            whole = next((other for other in known if isinstance(other, Keys)), None)
            if isinstance(each, Keys) and whole is not None:
                whole.take(each)
            elif each not in known:
                known.append(each)

    def take(self, other: "Keys") -> None:
        """Adds all that `other` has."""
        for name, held in other.held.items():
            self.add(name, held)
        self.also += [each for each in other.also if each not in self.also]


@cache
def keys_of(maker: Callable[..., Any] | type) -> Keys:
    """The keys of what a function makes, or of an object."""
    docstring = "" if maker.__doc__ is None else inspect.cleandoc(maker.__doc__)
    keys = Keys(maker.__name__, docstring)
    if isinstance(maker, type):
        for name, hint in _fields(maker):
            keys.add(name, _of_type(hint))
        return keys
    tree = ast.parse(textwrap.dedent(inspect.getsource(maker))).body[0]
    assert isinstance(tree, ast.FunctionDef)  # noqa: S101
    reader = _Reader(tree, maker)
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value is not None:
            _take(keys, reader.held(node.value))
    return keys


def _take(keys: Keys, held: list[Any]) -> None:
    for each in held:
        if isinstance(each, Keys):
            keys.take(each)
        elif each not in keys.also:
            keys.also.append(each)


def _fields(of: type) -> Iterator[tuple[str, Any]]:
    hints = hints_of(of)
    names = hints if is_typeddict(of) else [each.name for each in dataclass_fields(of)]
    return ((name, hints[name]) for name in names)


def _of_type(hint: Any) -> list[Any]:
    """What an object of a type holds as JSON: itself where it has fields, else what is in it."""
    found = plain_type(hint)
    if isinstance(found, type) and (is_typeddict(found) or hasattr(found, "__dataclass_fields__")):
        return [found]
    inner = element_of(hint)
    held = [] if inner is None else _of_type(inner)
    if not held or get_origin(found) not in (dict, Mapping):
        return held
    keys = Keys("")
    keys.add("<name>", held)
    return [keys]


class _Reader:
    """Reads the expressions of one function."""

    def __init__(self, tree: ast.FunctionDef, function: Callable[..., Any]) -> None:
        self._module = sys.modules[function.__module__]
        self._scope: Scope = scope_of(tree, function)
        self._tree = tree

    def held(self, node: ast.expr) -> list[Any]:
        """What the value of an expression holds: `Keys`, functions and types."""
        match node:
            case ast.Dict():
                return [self._of_dict(node)]
            case ast.DictComp():
                keys = Keys("")
                keys.add(_name(node.key), self.held(node.value))
                return [keys]
            case ast.ListComp() | ast.GeneratorExp():
                return self.held(node.elt)
            case ast.List() | ast.Tuple():
                return self._all(*node.elts)
            case ast.Starred():
                return self.held(node.value)
            case ast.IfExp():
                return self._all(node.body, node.orelse)
            case ast.BoolOp():
                return self._all(*node.values)
            case ast.BinOp():
                return self._all(node.left, node.right)
            case ast.NamedExpr():
                return self.held(node.value)
            case ast.Call():
                return self._of_call(node)
            case ast.Name():
                return self._of_variable(node) or _of_type(type_of(node, self._scope))
            case ast.Attribute() | ast.Subscript():
                return _of_type(type_of(node, self._scope))
        return []

    def _all(self, *nodes: ast.expr) -> list[Any]:
        return [each for node in nodes for each in self.held(node)]

    def _of_dict(self, node: ast.Dict) -> Keys:
        keys = Keys("")
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                _take(keys, self.held(value))
            else:
                keys.add(_name(key), self.held(value))
        return keys

    def _of_call(self, node: ast.Call) -> list[Any]:
        called = type_of(node.func, self._scope)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        function = getattr(self._module, name, None)
        if name == "asdict":
            return _of_type(type_of(node.args[0], self._scope))
        if name in ("list", "dict", "tuple", "sorted", "redact"):
            return self._all(*node.args[:1])
        if isinstance(function, FunctionType) and function.__module__.startswith("brimline"):
            return [function] if _makes_document(function) else _of_type(hints_of(function).get("return"))
        if isinstance(called, FunctionType) and _makes_document(called):
            return [called]
        return _of_type(type_of(node, self._scope)) if getattr(node.func, "attr", "") == "get" else []

    def _of_variable(self, name: ast.Name) -> list[Any]:
        """What is assigned to a variable as a whole, by key, and with `|=`."""
        found: list[Any] = []
        for node in ast.walk(self._tree):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name.id)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name.id), value=ast.expr() as value)
                    | ast.AugAssign(target=ast.Name(id=name.id), value=value)
                ) if not isinstance(value, ast.Name):
                    found += self.held(value)
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name.id), slice=key)], value=value):
                    keys = Keys("")
                    keys.add(_name(key), self.held(value))
                    found.append(keys)
        return [each for each in found if isinstance(each, Keys) or callable(each)]


def _name(key: ast.expr) -> str:
    """A key as it is written; what is filled in stands between angle brackets."""
    match key:
        case ast.Constant():
            return str(key.value)
        case ast.JoinedStr():
            return "".join(
                str(part.value) if isinstance(part, ast.Constant) else f"<{_word(part)}>" for part in key.values
            )
    return f"<{_word(key)}>"


def _word(node: ast.AST) -> str:
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return "name" if not names or names[-1] in ("each", "row", "metric") else names[-1]


def _makes_document(function: Callable[..., Any]) -> bool:
    """Whether a function makes keys of its own, and doesn't pass a typed object on."""
    result = plain_type(hints_of(function).get("return"))
    inner = plain_type(element_of(result)) if get_origin(result) in (list, Sequence) else result
    return get_origin(inner) in (dict, Mapping)
