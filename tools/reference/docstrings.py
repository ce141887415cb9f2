"""Owns how the text behind an attribute is read: fields of models and members of enumerations are described so."""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from itertools import pairwise


def docstrings_behind(owner: type) -> Mapping[str, str]:
    """What stands behind each attribute in the body of a class, by the attribute's name."""
    module = ast.parse(textwrap.dedent(inspect.getsource(owner)))
    body = module.body[0].body if isinstance(module.body[0], ast.ClassDef) else []
    return {
        name: inspect.cleandoc(following.value.value)
        for line, following in pairwise(body)
        if (name := _assigned(line))
        and isinstance(following, ast.Expr)
        and isinstance(following.value, ast.Constant)
        and isinstance(following.value.value, str)
    }


def _assigned(line: ast.stmt) -> str:
    targets = line.targets if isinstance(line, ast.Assign) else [line.target] if isinstance(line, ast.AnnAssign) else []
    return next((target.id for target in targets if isinstance(target, ast.Name)), "")
