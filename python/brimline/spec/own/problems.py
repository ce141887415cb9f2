"""Owns what is wrong with a person's own collections, values or operations: where, what, and what to do."""

import difflib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from brimline.spec.document import Path


class Problem(Exception):
    """One thing that is wrong at `path`, with one hint."""

    def __init__(self, path: Path, message: str, hint: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.hint = hint

    def as_validation_error(self) -> ValidationError:
        """The same for pydantic, which puts the path of what is around it before."""
        # pydantic reads braces in the template as places for values.
        said = {"message": _storable(self.message), "hint": _storable(self.hint)}
        place = tuple(_storable(part) if isinstance(part, str) else part for part in self.path)
        error = PydanticCustomError("own", "{message}", said)
        return ValidationError.from_exception_data("own", [InitErrorDetails(type=error, loc=place, input=None)])


@contextmanager
def told_to_pydantic() -> Iterator[None]:
    """Raises a Problem of the block as pydantic's error."""
    try:
        yield
    except Problem as problem:
        raise problem.as_validation_error() from None


def checked(value: Any, check: Callable[[dict[str, Any]], None]) -> Any:
    """`value`, looked at by `check` where it is a mapping; what else it may be, pydantic says."""
    if isinstance(value, dict):
        with told_to_pydantic():
            check(value)
    return value


def _storable(text: str) -> str:
    """Text without lone surrogates, which pydantic can't take."""
    return text.encode(errors="backslashreplace").decode()


def nearest(word: str, known: Iterable[str], *, before: str = "") -> str:
    """A hint that names what was probably meant, or all there is; `before` stands before each name, as `$`."""
    names = list(dict.fromkeys(known))
    near = near_name(word, names)
    if near is not None:
        return f'did you mean "{before}{near}"'
    shown = ", ".join(f"{before}{name}" for name in names[:24])
    return f"known: {shown}{' …' if len(names) > 24 else ''}" if names else "none is known"


def near_name(word: str, known: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """The one of `known` that a slip of the keyboard makes into `word`; None where none is that like it."""
    by_folded = {name.lower(): name for name in known}
    folded = word.lower().replace("-", "_")
    for spelling in (folded, folded.replace("_", "")):
        if near := difflib.get_close_matches(spelling, by_folded, n=1, cutoff=likeness):
            return by_folded[near[0]]
    return None
