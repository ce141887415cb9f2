"""Owns sentences that can be said in another language: text that still knows how it was put together; which is wanted.

A `Message` is an ordinary string, in English, so that JSON, terminals and tests need know nothing of it. It
keeps its template and the values filled in, so that a report can be put into another language afterwards
(`report/language`), without analysis and report each having words for every language.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Self, TypeAlias, cast, get_args

from brimline.errors import UsageError

Language: TypeAlias = Literal["en", "zh"]
LANGUAGES: tuple[str, ...] = get_args(Language)
LANGUAGE_VARIABLE = "BRIMLINE_LANG"
_FIRST_VALUE = re.compile(r"\{(\w+)[}:!]")
COUNTED_NOUNS = (
    "attempts|batches|blocks|cells|changes|checkpoints|checks|claims|collections|columns|combinations|commands|"
    "conflicts|connections|cores|counts|deadlocks|differences|documents|entries|experiments|faults|fields|figures|"
    "files|fsyncs|groups|guesses|imports|indexes|intervals|keys|labs|levels|limits|lines|looks|loops|members|nodes|"
    "operations|outages|pages|pairs|places|plans|points|probes|processors|programs|queries|records|replies|requests|"
    "rounds|rows|runs|samples|searches|seconds|segments|servers|shards|stages|statements|steps|strings|threads|times|"
    "values|windows|workers|writes"
)
"""Nouns that stand behind a count, as the alternatives of a pattern."""
_SINGULARS = {
    "batches": "batch", "entries": "entry", "guesses": "guess", "indexes": "index", "queries": "query",
    "replies": "reply", "searches": "search",
}  # fmt: skip
_VERBS = {"are": "is", "have": "has", "hold": "holds", "lie": "lies", "wait": "waits", "were": "was"}
_PREPOSITIONS = r"(?:and|at|by|for|from|in|of|on|or|per|to|with|wrote)\b"
# Not behind "and": "1 and 1 runs" are two.
_COUNTED = re.compile(
    rf"(?<! and )(?P<place>\{{(?P<name>\w+)(?::[^}}]*)?\}}) (?P<between>(?:(?!{_PREPOSITIONS})[a-z]+ )?)"
    rf"(?P<noun>{COUNTED_NOUNS})\b(?: (?P<verb>{'|'.join(_VERBS)})\b)?"
)


class Message(str):
    """An English sentence with the template and the values it was made from.

    `values` may be messages themselves. A plain string is its own template, so it needs no `Message`.
    """

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> Self:
        """The sentence: `template` with each `{name}` filled in as by `str.format`; a noun agrees with a count of 1."""
        text = super().__new__(cls, _of_one(template, values).format(**values))
        text.template = template
        text.values = values
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (str(self), self.template, dict(self.values))


class Verbatim(str):
    """Text that is the same in every language: what people type, such as the level of a factor."""

    __slots__ = ()


def _of_one(template: str, values: Mapping[str, Any]) -> str:
    """The template with the singular behind each count that is 1: translations go by the template as it is written."""

    def agree(found: re.Match[str]) -> str:
        if str(values.get(found["name"])) != "1":
            return found[0]
        noun = _SINGULARS.get(found["noun"], found["noun"][:-1])
        verb = "" if found["verb"] is None else f" {_VERBS[found['verb']]}"
        return f"{found['place']} {found['between']}{noun}{verb}"

    return _COUNTED.sub(agree, template)


def message(template: str, /, **values: Any) -> Message:
    """A sentence made of `template` and `values`; use it instead of an f-string for what a report shows."""
    return Message(template, **values)


def joined(separator: str, parts: Iterable[str]) -> Message:
    """Sentences in a row, each of which can still be translated by itself; like `separator.join(parts)`."""
    named = {f"part{index}": part for index, part in enumerate(parts)}
    return Message(separator.replace("{", "{{").replace("}", "}}").join(f"{{{name}}}" for name in named), **named)


CAPITALISED = "{text}"
"""The template of a text whose first letter is a capital."""


def capitalised(text: str) -> Message:
    """`text` as the beginning of a sentence; a language without capitals says `text` itself.

    What begins with a name that somebody gave stays as it is.
    """
    first = text[:1] if _begins_with_a_name(text) else text[:1].upper()
    return _restored(first + text[1:], CAPITALISED, {"text": text})


def _begins_with_a_name(text: object) -> bool:
    if not isinstance(text, Message):
        return isinstance(text, Verbatim)
    first = _FIRST_VALUE.match(text.template)
    return first is not None and _begins_with_a_name(text.values.get(first[1], ""))


def shortened(text: str, longest: int) -> str:
    """`text` in at most `longest` characters, the last of them an ellipsis where some were left out."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def wanted_language(given: str | None = None, *, environment: Mapping[str, str] | None = None) -> Language:
    """The language that was asked for: `given`, else BRIMLINE_LANG, else English.

    "zh", "zh-CN" and "zh_CN.UTF-8" are the same. Raises UsageError for a language that brimline doesn't speak.
    """
    asked = given or (os.environ if environment is None else environment).get(LANGUAGE_VARIABLE) or "en"
    language = asked.replace("_", "-").partition("-")[0].lower()
    if language not in LANGUAGES:
        source = "--lang" if given else LANGUAGE_VARIABLE
        raise UsageError(f'{source} is "{asked}"', hint=f"languages are {' and '.join(LANGUAGES)}")
    return cast("Language", language)


def _restored(text: str, template: str, values: dict[str, Any]) -> Message:
    restored = str.__new__(Message, text)
    restored.template, restored.values = template, values
    return restored
