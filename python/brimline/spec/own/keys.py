"""Owns how the keys of a mapping are checked: what is unknown, what is missing, what goes together."""

from collections.abc import Iterable
from typing import Any

from brimline.spec.document import Path
from brimline.spec.own.problems import Problem, nearest
from brimline.spec.readers import shown


def mapping(value: Any, path: Path, example: str) -> dict[str, Any]:
    """`value`, which must be a mapping."""
    if not isinstance(value, dict):
        raise Problem(path, f"must be a mapping, not {shown(value)}", f"write it like {example}")
    return value


def check_keys(value: dict[str, Any], path: Path, known: Iterable[str], *, required: Iterable[str] = ()) -> None:
    """Refuses a key that is none of `known`, then one of `required` that isn't there."""
    known = list(known)
    for key in value:
        if key not in known:
            raise Problem((*path, key), "unknown key", nearest(key, [name for name in known if name not in value]))
    for key in required:
        if key not in value:
            raise Problem((*path, key), "is missing", f"add {key}")


def choice(value: Any, path: Path, known: tuple[str, ...]) -> str:
    """One word of a few."""
    if not isinstance(value, str) or value not in known:
        hint = nearest(value, known) if isinstance(value, str) else f"values: {', '.join(known)}"
        raise Problem(path, f"{shown(value)} is no known value", hint)
    return value
