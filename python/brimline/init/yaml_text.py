"""Owns how a workload is written: YAML with comments, as `brimline.spec` reads it.

Values are mappings, lists and scalars; a `Noted` among them carries comments. A mapping or a list that fits on the line
stands in braces, so that an operation reads as one line.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brimline.errors import visible

_WIDTH = 118
_PLAIN = re.compile(r"[A-Za-z_$][\w$.+/-]*")
_NO_TEXT = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
"""Words that a reader of YAML, of version 1.1 or 1.2, takes for something else."""
_NUMBER_WITH_UNIT = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:%|/s|k/s|/min|k|M|B|kB|MB|GB|ns|us|ms|s|m|h|d)")


@dataclass(frozen=True, slots=True)
class Noted:
    """A value with what is said of it: lines `above` it, and a word `beside` it."""

    value: Any
    beside: str = ""
    above: Sequence[str] = ()


def noted(value: Any, *, beside: str = "", above: Sequence[str] = ()) -> Any:
    """`value` with comments where there are any; those that it has stay."""
    if isinstance(value, Noted):
        joined = "; ".join(each for each in (value.beside, beside) if each)
        return Noted(value.value, joined, (*value.above, *above))
    return Noted(value, beside, above) if beside or above else value


def plain(value: Any) -> Any:
    """`value` without its comments, all the way down."""
    if isinstance(value, Noted):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def comment(text: str) -> str:
    """One line of comment; what breaks a line is a blank."""
    return f"# {' '.join(visible(text).split())}".rstrip()


def yaml_text(values: Mapping[str, Any], *, header: Sequence[str] = ()) -> str:
    """The whole text: the lines of `header` as comments, then the keys."""
    lines = [comment(line) for line in header]
    for name, value in values.items():
        if isinstance(_bare(value), Mapping | list) and _flow(value, _key(name)) is None and lines:
            lines.append("")
        lines += _entry(_key(name), value, 0)
    return "\n".join(lines) + "\n"


def _entry(key: str, value: Any, depth: int) -> Iterator[str]:
    """The lines of `key: value`, or of an item of a list where `key` is "-"."""
    pad, mark = "  " * depth, "-" if key == "-" else f"{key}:"
    above, beside = (value.above, value.beside) if isinstance(value, Noted) else ((), "")
    yield from (f"{pad}{comment(line)}" for line in above)
    bare = _bare(value)
    flow = _flow(bare, f"{pad}{mark} ")
    if flow is not None:
        yield from _with_beside(f"{pad}{mark} {flow}", beside, pad)
        return
    if mark == "-" and isinstance(bare, Mapping) and not beside:
        first, *rest = (line for name, each in bare.items() for line in _entry(_key(name), each, depth + 1))
        if not first.lstrip().startswith("#"):
            yield f"{pad}- {first.lstrip()}"
            yield from rest
            return
    yield from _with_beside(f"{pad}{mark}", beside, pad)
    if isinstance(bare, Mapping):
        for name, each in bare.items():
            yield from _entry(_key(name), each, depth + 1)
    else:
        for each in bare:
            yield from _entry("-", each, depth + 1)


def _with_beside(line: str, beside: str, pad: str) -> Iterator[str]:
    if not beside:
        yield line
    elif len(line) + len(beside) + 4 <= _WIDTH + 12:
        yield f"{line}  {comment(beside)}"
    else:
        yield f"{pad}{comment(beside)}"
        yield line


def _bare(value: Any) -> Any:
    return value.value if isinstance(value, Noted) else value


def _flow(value: Any, before: str) -> str | None:
    """The value on one line; None where it has comments within, or does not fit behind `before`."""
    value = _bare(value)
    if _has_comments(value):
        return None
    text = _inline(value)
    fits = len(before) + len(text) <= _WIDTH
    return text if fits or not isinstance(value, Mapping | list) or not value else None


def _has_comments(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(isinstance(each, Noted) or _has_comments(each) for each in value.values())
    return isinstance(value, list) and any(isinstance(each, Noted) or _has_comments(each) for each in value)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {_inline(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(each) for each in value) + "]"
    return _scalar(value)


def _key(name: str) -> str:
    """Quoted where it could be read as more than text: among weights a bare `true` is the boolean."""
    return name if _PLAIN.fullmatch(name) and name.lower() not in _NO_TEXT else _quoted(name)


def _quoted(text: str) -> str:
    """Text in double quotes; what isn't printable as YAML writes it, which knows no pairs of surrogates."""
    return "".join(
        each if each.isprintable() else f"\\U{ord(each):08x}" for each in json.dumps(text, ensure_ascii=False)
    )


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        if _NUMBER_WITH_UNIT.fullmatch(value):
            return value
        return value if _PLAIN.fullmatch(value) and value.lower() not in _NO_TEXT else _quoted(value)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return f"{value!r}"
