"""Owns the text of a spec: strict YAML into plain values with their lines, and values back into YAML.

The subset is what a spec needs. Scalars are read as YAML 1.2's core schema reads them, so that `on`, `no`,
`1:30`, `0100` and `2024-01-01` stay text instead of turning into true, false, 90, 64 and a date. Refused with
the line: a key that occurs twice, anchors and aliases (and so alias bombs), tags, several documents, and what
is too big or too deep.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import yaml

from brimline.errors import SpecError

TEXT_BYTES_MAX = 256 * 1024
# A pipeline is deep by itself, and stands deep in an operation.
DEPTH_MAX = 64

_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*(?:_[0-9]+)*)")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,16}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*(?:_[0-9]+)*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DIGITS_MAX = 40

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text. `lines` maps the path of every key and item to its line, counted from 1.

    `text` is as it was given, and `begins_at` the character in it at which its keys begin, or the brace around them.
    """

    values: dict[str, Any]
    lines: dict[Path, int] = field(default_factory=dict)
    text: str = ""
    begins_at: int = 0

    def line_of(self, path: Path) -> int | None:
        """The line of `path`, or of the nearest thing around it."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None

    def text_with(self, key: str, value: str) -> str:
        """The text with one more key before the others; all else stays as it is."""
        before, behind = self.text[: self.begins_at], self.text[self.begins_at :]
        if behind.startswith("{"):
            return f"{before}{{{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}, {behind[1:]}"
        indent = before[len(before.rstrip(" ")) :]
        return f"{before}{dump_document({key: value})}{indent}{behind}"


def dotted(path: Path) -> str:
    """("data", "records") is "data.records"; items of a list are counted from 0: "a[0]"."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def parse_document(text: str, source: str, *, wanted: str | None = None) -> Document:
    """Reads a spec's YAML, or with `wanted`, which says what belongs into it, that of another file.

    Raises SpecError, which names `source`, the line and the key.
    """
    if len(text.encode("utf-8", "surrogatepass")) > TEXT_BYTES_MAX:
        raise SpecError(f"{source} is larger than {TEXT_BYTES_MAX // 1024} KiB", hint="a spec is a few lines of YAML")
    reader = _Reader(source)
    try:
        values = reader.read(yaml.parse(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise _syntax_error(error, source) from None
    if values is None:
        raise SpecError(f"{source} is empty", hint=wanted or "a spec needs at least data.records and operations")
    if not isinstance(values, dict):
        raise SpecError(
            f"{source} holds no keys", line=1, hint=wanted or 'a spec is a mapping, such as "operations: {read: 1}"'
        )
    return Document(values, reader.lines, text, reader.begins_at)


def dump_document(values: dict[str, Any]) -> str:
    """YAML that `parse_document` reads back as equal values, and a YAML 1.1 reader too."""
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class ValueKey(str):
    """A key without quotes that would be a number, true, false or null as a value. It is text all the same.

    `value`: what it would be.
    """

    __slots__ = ("value",)

    value: bool | int | float | None

    def __new__(cls, text: str, value: bool | int | float | None) -> Self:
        """The key `text`."""
        key = super().__new__(cls, text)
        key.value = value
        return key

    def __reduce__(self) -> tuple[Any, ...]:
        return ValueKey, (str(self), self.value)


class _Reader:
    """Builds values from events, which come one at a time, so that reading stops at what is refused."""

    def __init__(self, source: str) -> None:
        self.lines: dict[Path, int] = {}
        self.begins_at = 0
        self._source = source

    def read(self, events: Iterator[yaml.Event]) -> Any:
        values: Any = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._error(
                        "a second document begins here", (), event, "a spec is one document: remove the ---"
                    )
            elif isinstance(event, yaml.NodeEvent):
                self.lines[()] = _line(event)
                self.begins_at = event.start_mark.index if event.start_mark is not None else 0
                values = self._node(event, events, ())
        return values

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event], path: Path) -> Any:
        self._refuse_extras(event, path)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, path)
        if len(path) >= DEPTH_MAX:
            raise self._error("nested too deeply", path, event, None)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(events, path)
        return self._sequence(events, path)

    def _mapping(self, events: Iterator[yaml.Event], path: Path) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        first_lines: dict[Any, int] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                self._refuse_extras(event, path)
                raise self._error("a key is a list or a mapping", path, event, "put quotes around text that has { or [")
            self._refuse_extras(event, path)
            # A key stays text: `on`, `no` and `1` are names here, but for who chooses among keys as values.
            value = self._scalar(event, path) if len(event.value) <= _DIGITS_MAX else event.value
            key: str = event.value if isinstance(value, str) else ValueKey(event.value, value)
            line = _line(event)
            if key in first_lines:
                message = f"the key occurs twice; it is on line {first_lines[key]} already"
                raise self._error(message, (*path, key), event, "remove one of the two")
            first_lines[key] = line
            self.lines[*path, key] = line
            values[key] = self._node(next(events), events, (*path, key))
        return values

    def _sequence(self, events: Iterator[yaml.Event], path: Path) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            item_path = (*path, len(values))
            self.lines[item_path] = _line(event)
            values.append(self._node(event, events, item_path))
        return values

    def _scalar(self, event: yaml.ScalarEvent, path: Path) -> Any:
        text: str = event.value
        if not event.implicit[0]:
            return text
        if _NULL.fullmatch(text):
            return None
        if _BOOL.fullmatch(text):
            return text.lower() == "true"
        if _HEXADECIMAL.fullmatch(text):
            return int(text, 16)
        if _NOT_FINITE.fullmatch(text):
            return float(text.replace(".", "").lower())
        if _DECIMAL.fullmatch(text) or _FLOAT.fullmatch(text):
            if len(text) > _DIGITS_MAX:
                raise self._error("the number has too many digits", path, event, None)
            return int(text) if _DECIMAL.fullmatch(text) else float(text)
        return text

    def _refuse_extras(self, event: yaml.Event, path: Path) -> None:
        if isinstance(event, yaml.ScalarEvent) and any("\ud800" <= character <= "\udfff" for character in event.value):
            hint = "write text without lone surrogates"
            raise self._error("holds a character that can't be stored", path, event, hint)
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if isinstance(event, yaml.AliasEvent):
            hint = "write the value out; text that begins with * needs quotes"
            raise self._error(f"the alias *{anchor} is not allowed", path, event, hint)
        if anchor:
            hint = "write the value out; text that begins with & needs quotes"
            raise self._error(f"the anchor &{anchor} is not allowed", path, event, hint)
        if tag:
            raise self._error(f"the tag {tag} is not allowed", path, event, "text that begins with ! needs quotes")

    def _error(self, message: str, path: Path, event: yaml.Event, hint: str | None) -> SpecError:
        line = _line(event)
        return SpecError(located(message, self._source, line, path), path=dotted(path), line=line, hint=hint)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1


def located(message: str, source: str, line: int | None, path: Path) -> str:
    """`message` behind where it belongs: "my.yaml:7: data.records: …"."""
    where = f"{source}:{line}" if line is not None else source
    return ": ".join(part for part in (where, dotted(path), message) if part)


def _syntax_error(error: yaml.YAMLError, source: str) -> SpecError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = mark.line + 1 if mark is not None else None
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    hint = None
    if "\\t" in problem:
        hint = "indent with spaces: YAML allows no tabs there"
    elif "mapping values are not allowed" in problem:
        hint = 'put quotes around text that has ": " in it, and check the indentation'
    elif "expected ',' or" in problem:
        hint = "a { or [ is not closed, or a comma is missing"
    elif "special characters" in problem:
        hint = "save the file as UTF-8 text without control characters"
    return SpecError(located(f"not valid YAML: {problem}", source, line, ()), line=line, hint=hint)


class _Dumper(yaml.SafeDumper):
    """Quotes text that either this module or YAML 1.1 would read as something else."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _without_quotes(dumper: Any, key: ValueKey) -> yaml.ScalarNode:
    return yaml.ScalarNode(dumper.resolve(yaml.ScalarNode, str(key), (True, False)), str(key))


_Dumper.add_representer(ValueKey, _without_quotes)
for _pattern in (_NULL, _BOOL, _DECIMAL, _HEXADECIMAL, _FLOAT, _NOT_FINITE):
    _Dumper.add_implicit_resolver("tag:brimline,2024:core", re.compile(rf"^(?:{_pattern.pattern})$"), None)
