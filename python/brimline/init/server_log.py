"""Owns what a mongod's log tells: the lines "Slow query" of its JSON form, which is that of 4.4 and later.

Source: MongoDB's manual on log messages. A line is one document of Extended JSON; `attr` holds the command.
"""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from bson import json_util
from bson.binary import UuidRepresentation
from bson.codec_options import DatetimeConversion
from bson.errors import BSONError

from brimline.errors import UsageError
from brimline.init.observed import Observations, Observed, told_of
from brimline.init.value_shape import milliseconds

_SLOW = '"Slow query"'
_LINE_BYTES_MAX = 4 * 2**20
_LOOKED_AT_MAX = 200
"""Lines at the beginning among which one has to be a log's."""
_JSON: Any = json_util.JSONOptions(
    uuid_representation=UuidRepresentation.STANDARD, datetime_conversion=DatetimeConversion.DATETIME_MS
)


def read_log(path: Path, take: Callable[[Observed], None]) -> Observations:
    """The slow operations of a log, which may be compressed by gzip, each to `take`.

    Raises UsageError where the file can't be read, is no such log, or has no slow operation.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        # A line that is no UTF-8 may be one that the server cut within a character.
        with (gzip.open if packed else open)(path, "rt", encoding="utf-8", errors="replace") as lines:
            found = log_observations(lines, take, source=path.name)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        raise UsageError(f"{path} can't be read: {reason}", hint="give the log of a mongod, or its copy") from error
    if not found.command_count and not found.left_out:
        raise UsageError(
            f'{path} has no line "Slow query"',
            hint="lower the limit for a while, as by db.setProfilingLevel(0, {slowms: 0}), and copy the log then",
        )
    return found


def log_observations(lines: Iterable[str], take: Callable[[Observed], None], *, source: str) -> Observations:
    """The slow operations of the lines of a log. Raises UsageError where they are no such log."""
    found = Observations(source=source, only_slow=True, take=take)
    is_log = False
    for number, line in enumerate(lines):
        if not is_log:
            is_log = _is_log_line(line)
            if not is_log and number + 1 >= _LOOKED_AT_MAX:
                raise _other_format(source)
        if _SLOW in line:
            _take(line, found)
    if not is_log:
        raise _other_format(source)
    return found


def _is_log_line(line: str) -> bool:
    return line.startswith('{"t":{"$date"') and '"msg":' in line


def _other_format(source: str) -> UsageError:
    return UsageError(
        f"{source} is no log of a mongod in JSON lines",
        hint="servers write JSON from 4.4 on; for an older one give --from URI and its profiler",
    )


def _take(line: str, found: Observations) -> None:
    if len(line) > _LINE_BYTES_MAX:
        found.left_out["lines of more than 4 MiB"] += 1
        return
    try:
        entry = json_util.loads(line, json_options=_JSON)
        attributes = entry["attr"]
        at_s = milliseconds(entry["t"]) / 1000
        namespace = str(attributes["ns"])
    except (ValueError, TypeError, KeyError, OverflowError, BSONError):
        found.left_out["lines that are damaged"] += 1
        return
    found.saw(at_s)
    if "command" in (entry.get("truncated") or {}).get("attr", entry.get("truncated") or {}):
        found.left_out["commands that the server cut for their length"] += 1
        return
    for each in _commands(attributes, namespace, at_s):
        if isinstance(each, str):
            found.left_out[each] += 1
        else:
            found.add(each)


def _commands(attributes: dict[str, Any], namespace: str, at_s: float) -> Iterator[Any]:
    duration = attributes.get("durationMillis")
    yield from told_of(
        attributes,
        kind=str(attributes.get("type", "")),
        namespace=namespace,
        application=str(attributes.get("appName", "")),
        at_s=at_s,
        duration_ms=duration if isinstance(duration, int | float) else None,
    )
