"""Owns which parts of a report are words, so that a translator goes through them and leaves names and data alone."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from brimline.report import view
from brimline.report.language.translator import Translator
from brimline.wording import Message

_WORDS: Mapping[type, frozenset[str]] = {
    view.Badge: frozenset({"text"}),
    view.Fact: frozenset({"label", "value", "note"}),
    view.Verdict: frozenset({"caption", "figure", "unit", "interval", "sentence", "next_step"}),
    view.Column: frozenset({"label", "unit", "group"}),
    view.Cell: frozenset({"text"}),
    view.Table: frozenset({"caption", "title"}),
    view.Key: frozenset({"name"}),
    view.Sketch: frozenset({"caption"}),
    view.Chart: frozenset({"title", "caption", "summary"}),
    view.Facts: frozenset({"title"}),
    view.Text: frozenset({"text"}),
    view.Code: frozenset({"title"}),  # its text is to be copied
    view.Heading: frozenset({"text"}),
    view.Drawing: frozenset({"title", "summary"}),
    view.Section: frozenset({"title", "short", "intro"}),
    view.Report: frozenset({"kind_title", "subtitle"}),
}
"""The fields that people read, by part."""
_FIGURE_WORDS = frozenset({"text", "name", "title", "hovertemplate", "ticktext", "x", "y", "categoryarray"})
"""The keys of a figure under which words stand, alone or in a list; `x` and `y` where an axis has categories."""


def translated(report: view.Report, translator: Translator, language: str) -> view.Report:
    """`report` in another language; its data for machines is the same object."""
    said: view.Report = _part(report, translator)
    return replace(said, language=language, words="")


def _part(part: Any, translator: Translator) -> Any:
    """A part of a report with all its words, and those of its own parts, translated."""
    words = _WORDS[type(part)]
    if isinstance(part, view.Table | view.Chart):
        translator = translator.digits()
    changes: dict[str, Any] = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if field.name in words or (field.name == "name" and isinstance(value, Message)):  # of several, names joined
            changes[field.name] = translator.say(value)
        elif isinstance(part, view.Chart) and field.name == "figure":
            changes[field.name] = _figure(value, translator)
        elif field.name != "grids":  # words only of what is shown of them
            changes[field.name] = _nested(value, translator)
    return replace(part, **changes)


def _nested(value: Any, translator: Translator) -> Any:
    if is_dataclass(value):
        return _part(value, translator)
    if isinstance(value, list | tuple):
        return [_nested(each, translator) for each in value]
    return value


def _figure(value: Any, translator: Translator, *, words: bool = False) -> Any:
    """A figure; `words`: the value stands under a key that people read."""
    if isinstance(value, str):
        return translator.say(value) if words else value
    if isinstance(value, Mapping):
        return {key: _figure(each, translator, words=key in _FIGURE_WORDS) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_figure(each, translator, words=words) for each in value]
    return value
