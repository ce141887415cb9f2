"""Owns a plain inference of types: of parameters, attributes, results and loop variables, as far as hints say them."""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import FunctionType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that a function knows: its module's, and its own with their types."""

    names: Mapping[str, Any]
    variables: dict[str, Any]


@cache
def hints_of(owner: Any) -> Mapping[str, Any]:
    """The type hints of a class or a function; what can't be resolved is left out."""
    try:
        return get_type_hints(owner)
    except (NameError, TypeError):
        return dict(_hints_one_by_one(owner))


def _hints_one_by_one(owner: Any) -> Iterator[tuple[str, Any]]:
    """Some hints name what is imported for type checkers alone."""
    for each in reversed(getattr(owner, "__mro__", (owner,))):
        module = vars(sys.modules.get(getattr(each, "__module__", ""), sys))
        for name, hint in getattr(each, "__annotations__", {}).items():
            with suppress(NameError):
                yield name, eval(hint, module) if isinstance(hint, str) else hint  # noqa: S307


def scope_of(tree: ast.FunctionDef, function: Callable[..., Any]) -> Scope:
    """The scope of a function, its loops and assignments included."""
    scope = Scope(vars(sys.modules[function.__module__]), {**_own(function), **hints_of(function)})
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            _bind(node.targets[0], type_of(node.value, scope), scope)
    for node in ast.walk(tree):
        if isinstance(node, ast.comprehension | ast.For):
            _bind(node.target, element_of(type_of(node.iter, scope)), scope)
    return scope


def _own(function: Callable[..., Any]) -> dict[str, Any]:
    """`self` of a method is an object of its class."""
    owner = getattr(sys.modules[function.__module__], function.__qualname__.partition(".")[0], None)
    return {"self": owner} if isinstance(owner, type) else {}


def _bind(target: ast.expr, hint: Any, scope: Scope) -> None:
    if isinstance(target, ast.Name):
        scope.variables.setdefault(target.id, hint)
    elif isinstance(target, ast.Tuple):
        inner = get_args(plain_type(hint))
        for each, part in zip(target.elts, inner, strict=False):
            _bind(each, part, scope)


def type_of(node: ast.expr, scope: Scope) -> Any:
    """The type of an expression; of a function's name the function; None where hints don't say it."""
    match node:
        case ast.Name():
            return scope.variables.get(node.id, scope.names.get(node.id))
        case ast.Attribute():
            return _attribute(plain_type(type_of(node.value, scope)), node.attr)
        case ast.Subscript(slice=ast.Constant(value=str() as key)):
            owner = plain_type(type_of(node.value, scope))
            return hints_of(owner).get(key) if is_typeddict(owner) else element_of(owner)
        case ast.Subscript():
            return element_of(type_of(node.value, scope))
        case ast.Call():
            return _result(node, scope)
        case ast.IfExp():
            return type_of(node.body, scope) or type_of(node.orelse, scope)
        case ast.BoolOp():
            return next((found for each in node.values if (found := type_of(each, scope)) is not None), None)
    return None


def _result(node: ast.Call, scope: Scope) -> Any:
    if isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple", "sorted", "reversed") and node.args:
        return type_of(node.args[0], scope)
    if isinstance(node.func, ast.Name) and node.func.id == "enumerate" and node.args:
        return Sequence[tuple[int, element_of(type_of(node.args[0], scope))]]  # type: ignore[misc]
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "values"):
        owner = get_args(plain_type(type_of(node.func.value, scope)))
        if len(owner) == 2:
            return Sequence[tuple[owner]] if node.func.attr == "items" else Sequence[owner[1]]  # type: ignore[valid-type]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return type_of(ast.Subscript(node.func.value, node.args[0], ast.Load()), scope)
    called = type_of(node.func, scope)
    return hints_of(called).get("return") if isinstance(called, FunctionType) else called


def _attribute(owner: Any, name: str) -> Any:
    if not isinstance(owner, type):
        return None
    found = inspect.getattr_static(owner, name, None)
    if isinstance(found, property):
        return hints_of(found.fget).get("return")
    return found if isinstance(found, FunctionType) else hints_of(owner).get(name)


def plain_type(hint: Any) -> Any:
    """A type without `None` beside it."""
    if get_origin(hint) in (Union, UnionType):
        others = [each for each in get_args(hint) if each is not NoneType]
        return plain_type(others[0]) if len(others) == 1 else hint
    return hint


def element_of(hint: Any) -> Any:
    """What a sequence, or the values of a mapping, are of."""
    found = plain_type(hint)
    arguments = get_args(found)
    return arguments[-1] if arguments and arguments[-1] is not Ellipsis else arguments[0] if arguments else None
