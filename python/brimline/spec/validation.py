"""Owns brimline's words for what pydantic finds wrong with a value."""

from collections.abc import Mapping
from typing import Final

from pydantic_core import ErrorDetails

from brimline.spec.readers import shown, split_advice
from brimline.units import counted

_BOUNDS: Final = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
_LENGTHS: Final = {"min_length": "at least", "max_length": "at most"}
_KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "float": ("a number", "write it like 0.5"),
    "int": ("a whole number", "write it like 5"),
    "string": ("text", 'write it like "text"'),
    "bool": ("true or false", "write true or false"),
    "model": ("a mapping", "write it like {name: value}"),
    "dict": ("a mapping", "write it like {name: value}"),
    "list": ("a list", "write it like [first, second]"),
    "tuple": ("a list", "write it like [first, second]"),
}
"""What a value must be and how it is written, by what pydantic's types of errors begin with."""


def in_words(details: ErrorDetails) -> tuple[str, str | None]:
    """What is wrong, as a predicate of the key, and what to do; None where only the key's own kind could say."""
    kind, given, context = details["type"], details["input"], details.get("ctx", {})
    bound = next(((words, context[name]) for name, words in _BOUNDS.items() if name in context), None)
    length = next(((words, context[name]) for name, words in _LENGTHS.items() if name in context), None)
    begins, _, _ = kind.partition("_")
    if kind == "value_error":
        return split_advice(str(context["error"]))
    if kind == "own":
        return context["message"], context["hint"]
    if kind == "json_invalid":
        return "it is no JSON", "write it as JSON"
    if kind == "missing":
        return "is missing", None
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return "unknown key", "leave it out"
    if kind in ("literal_error", "enum"):
        return f"is {shown(given)}", f"it is {context['expected']}"
    if kind == "finite_number":
        return f"must be finite, but is {shown(given)}", "write a number such as 0.5"
    if bound is not None:
        return f"must be {bound[0]} {bound[1]:g}, but is {shown(given)}", f"write a number of {bound[0]} {bound[1]:g}"
    if length is not None:
        return f"must have {length[0]} {counted(int(length[1]), 'part')}", "add some, or leave some out"
    if begins in _KINDS:
        what, hint = _KINDS[begins]
        return f"must be {what}, not {shown(given)}", hint
    return f"can't be {shown(given)}", None


def first_in_words(errors: list[ErrorDetails]) -> str:
    """The first of pydantic's errors: where, and what is wrong."""
    where = ".".join(map(str, errors[0]["loc"]))
    said = in_words(errors[0])[0]
    return f"{where}: {said}" if where else said
