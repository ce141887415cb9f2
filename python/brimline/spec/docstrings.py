"""Owns how the text behind an attribute is read: fields of models and members of enumerations are described so.

What stands behind is a docstring on the next line, or a comment on the same one.
"""

import ast
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise, takewhile

from pydantic import BaseModel

from brimline.spec.base import TEXTS


@cache
def docstrings_behind(owner: type) -> Mapping[str, str]:
    """What stands behind each attribute in the body of a class, by the attribute's name."""
    source = textwrap.dedent(inspect.getsource(owner))
    module = ast.parse(source)
    body = module.body[0].body if isinstance(module.body[0], ast.ClassDef) else []
    return _comments(source, body) | {
        name: inspect.cleandoc(following.value.value)
        for line, following in pairwise(body)
        if (name := _assigned(line))
        and isinstance(following, ast.Expr)
        and isinstance(following.value, ast.Constant)
        and isinstance(following.value.value, str)
    }


def docstrings_of_model(model: type[BaseModel]) -> Mapping[str, str]:
    """The text behind each field of a model and of what it inherits from."""
    parts = [each for each in reversed(model.__mro__) if issubclass(each, BaseModel) and each is not BaseModel]
    return {name: text for each in parts for name, text in (vars(each).get(TEXTS) or docstrings_behind(each)).items()}


def _comments(source: str, body: Sequence[ast.stmt]) -> dict[str, str]:
    """Comments on the line of an attribute, and on lines of their own that go on with one."""
    lines = source.splitlines()
    found: dict[str, str] = {}
    for line in body:
        name, end = _assigned(line), line.end_lineno or 0
        _, mark, comment = lines[end - 1].partition("  # ")
        if name and mark:
            more = takewhile(lambda text: text.startswith("# "), (text.strip() for text in lines[end:]))
            found[name] = " ".join([comment, *(text.removeprefix("# ") for text in more)])
    return found


def _assigned(line: ast.stmt) -> str:
    targets = line.targets if isinstance(line, ast.Assign) else [line.target] if isinstance(line, ast.AnnAssign) else []
    return next((target.id for target in targets if isinstance(target, ast.Name)), "")
