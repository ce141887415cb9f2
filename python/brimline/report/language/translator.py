"""Owns saying one text in another language: by its template where it is a message, else word for word."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from string import Formatter
from typing import Any

from brimline.report.language import chinese
from brimline.units import Quantity
from brimline.wording import CAPITALISED, Message, Verbatim

_ERRORS = "errors"
"""The folder with texts of errors, which records keep as they were said."""
# What `wording.joined` makes: values with one and the same separator between them.
_ROW = re.compile(r"\{part0\}(?:(?P<separator>[^{}]*)\{part1\}(?:(?P=separator)\{part\d+\})*)?")


@dataclass(frozen=True, slots=True)
class Translator:
    """One language: its sentences by English template, its way to write quantities, and a last touch to a sentence."""

    sentences: Mapping[str, str]
    quantity: Callable[..., str]
    finish: Callable[[str], str]
    rounded_large: Callable[[Quantity], bool | None]
    fill: Callable[[str, Mapping[str, Any]], str] = str.format_map
    """Puts values into a template."""
    errors: Sequence[tuple[re.Pattern[str], str]] = ()
    """What a text matches that was kept without its template, and the translation of that."""
    in_digits: bool = False
    """Whether every figure is written out, so that those beside each other have one unit."""
    capitals: bool = False
    """Whether what begins a sentence or a row keeps its capital letter."""

    def digits(self) -> "Translator":
        """The same for figures that stand beside each other: in a table or a chart."""
        return replace(self, in_digits=True)

    def say(self, text: str) -> str:
        """`text` in this language, as far as it has words for it."""
        return text if isinstance(text, Verbatim) else self.finish(self._say(text))

    def template(self, english: str) -> str:
        """The template that stands for an English one; of parts in a row, the separator counts alone."""
        row = _ROW.fullmatch(english)
        if row is None or not row["separator"]:
            return self.sentences.get(english, english)
        separator = row["separator"]
        return english.replace(separator, self.sentences.get(separator, separator))

    def _say(self, text: str) -> str:
        if isinstance(text, Verbatim):
            return text
        if isinstance(text, Quantity):
            return self.quantity(text, self._say, in_digits=self.in_digits)
        if isinstance(text, Message):
            # A range or a sentence with figures on both sides of 10 000 has them all in digits.
            sizes = {self.rounded_large(value) for value in text.values.values() if isinstance(value, Quantity)}
            own = self.digits() if {True, False} <= sizes else self
            values = {name: own._value(value) for name, value in text.values.items()}
            said = self.fill(self.template(text.template), values)
            begins = self.capitals and text.template == CAPITALISED and text[:1].isupper()
            return said[:1].upper() + said[1:] if begins else said
        return self.sentences.get(text) or self._read_back(text)

    def _read_back(self, text: str) -> str:
        """An error that a record has kept: its template is known again by what it says."""
        if text.count(" ") < 2:
            return text
        for pattern, translation in self.errors:
            if (match := pattern.fullmatch(text)) is not None:
                return self.fill(translation, {name: self._say(value) for name, value in match.groupdict().items()})
        parts = text.split("; ")
        return text if len(parts) == 1 else self.sentences.get("; ", "; ").join(map(self._say, parts))

    def _value(self, value: Any) -> Any:
        return self._say(value) if isinstance(value, str) else value


@cache
def translator_for(language: str, words: str = "") -> Translator:
    """The translator of a language, with the words of a kind of target (`tables`). Raises KeyError for no language."""
    sentences = ({} if language == "en" else catalogue(language)) | (words_of(words, language) if words else {})
    if language == "en":
        return Translator(sentences, _english_quantity, lambda sentence: sentence, lambda _: None, capitals=True)
    own = {"zh": (chinese.quantity, chinese.closed_up, chinese.rounded_large, chinese.filled)}[language]
    return Translator(sentences, *own, errors=error_patterns(language))


def words_of(words: str, language: str) -> dict[str, str]:
    """What a kind of target has in place of documents and commands, by the English templates about these."""
    file = resources.files(__package__) / words / f"{language}.json"
    said: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return said


@cache
def error_patterns(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """What errors look like, those that say most first, with their translations."""
    said = words_of(_ERRORS, language)
    return tuple((error_pattern(each), said[each]) for each in sorted(said, key=len, reverse=True))


def error_pattern(template: str) -> re.Pattern[str]:
    """Matches what was made of an error's template."""
    parts = (
        re.escape(literal) + (f"(?P<{name}>.+{'' if name == 'why' else '?'})" if name else "")
        for literal, name, *_ in Formatter().parse(template)
    )
    return re.compile("".join(parts), re.DOTALL)


def _english_quantity(value: Quantity, say: Callable[[str], str], *, in_digits: bool = False) -> str:  # noqa: ARG001
    return value.removesuffix(value.unit) + say(value.unit) if value.unit and value.endswith(value.unit) else value


def catalogue(language: str) -> dict[str, str]:
    """All sentences of a language by their English templates; one JSON file per subject."""
    sentences: dict[str, str] = {}
    folder = resources.files(__package__) / language
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        if file.name.endswith(".json"):
            sentences |= json.loads(file.read_text(encoding="utf-8"))
    return sentences
