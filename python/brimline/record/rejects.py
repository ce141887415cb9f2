"""Owns reading `rejected.jsonl`: which reasons there were, how often each, and where it was met first."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

LINE_CHARACTERS_MAX = 1 << 20
"""A line has the record's text, which may be long."""
READ_CHARACTERS_MAX = 256 << 20
GROUPS_MAX = 1_000
"""Reasons that are told apart; records with others are counted together."""
_VALUES = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|\{.*\}|ObjectId\([^)]*\)|[-+]?\d[\w.]*')


@dataclass(slots=True)
class RejectGroup:
    """Records that were rejected for one reason, but for the values in it. `reason` and `line` are of the first."""

    reason: str
    code: int
    line: int | None
    input: int | None
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejects:
    """The groups, the largest first, and how many records are in none of them."""

    groups: tuple[RejectGroup, ...] = ()
    others: int = 0
    whole: bool = True  # whether all of the file was read


def read_rejects(path: Path) -> Rejects:
    """What the file says, as far as it can be read; lines that are no entries are passed by."""
    groups: dict[tuple[int, str], RejectGroup] = {}
    others = read = 0
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            while read < READ_CHARACTERS_MAX and (line := file.readline(LINE_CHARACTERS_MAX)):
                read += len(line)
                entry = _entry(line)
                if entry is None:
                    continue
                key = (entry.code, _VALUES.sub("…", entry.reason))
                if key in groups:
                    groups[key].count += 1
                elif len(groups) < GROUPS_MAX:
                    groups[key] = entry
                else:
                    others += 1
            whole = not file.read(1)
    except OSError:
        return Rejects()
    return Rejects(groups=tuple(sorted(groups.values(), key=lambda each: -each.count)), others=others, whole=whole)


def _entry(line: str) -> RejectGroup | None:
    try:
        found = json.loads(line)
        place, number = found.get("line"), found.get("input")
        return RejectGroup(
            reason=str(found["reason"]),
            code=int(found.get("code", 0)),
            line=None if place is None else int(place),
            input=None if number is None else int(number),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
