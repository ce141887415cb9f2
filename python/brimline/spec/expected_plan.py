"""Owns the words in which a spec says how a server should answer a query: "IXSCAN {time: 1}, no SORT"."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STAGES = (
    "AND_HASH",
    "AND_SORTED",
    "CLUSTERED_IXSCAN",
    "COLLSCAN",
    "COUNT",
    "COUNT_SCAN",
    "DISTINCT_SCAN",
    "EQ_LOOKUP",
    "EXPRESS_CLUSTERED_IXSCAN",
    "EXPRESS_IXSCAN",
    "FETCH",
    "GROUP",
    "IDHACK",
    "IXSCAN",
    "LIMIT",
    "OR",
    "PROJECTION_COVERED",
    "PROJECTION_DEFAULT",
    "PROJECTION_SIMPLE",
    "SHARDING_FILTER",
    "SHARD_MERGE",
    "SHARD_MERGE_SORT",
    "SINGLE_SHARD",
    "SKIP",
    "SORT",
    "SORT_MERGE",
    "TEXT_MATCH",
)
"""What servers from 4.4 to 8.x call the stages of a plan, as far as one may want or not want them."""

_PART = re.compile(r"\s*(?P<no>no\s+)?(?P<stage>[A-Za-z_]+)(?:\s+(?P<index>\{[^{}]*\}|[^\s,{}]+))?\s*(?:,|$)")
_KEY = re.compile(r"""\s*["']?(?P<field>[^\s:,"']+)["']?\s*:\s*["']?(?P<kind>[^\s,"']+)["']?\s*(?:,|$)""")
_EXAMPLE = 'write it like "IXSCAN {time: 1}, no SORT"'


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedStage:
    """A stage that must be in the plan, or with `absent` must not; `index` is a key pattern or an index's name."""

    stage: str
    absent: bool = False
    index: str = ""

    @property
    def text(self) -> str:
        """As a spec says it."""
        return " ".join(part for part in ("no" if self.absent else "", self.stage, self.index) if part)


def parse_expected_plan(text: str) -> tuple[ExpectedStage, ...]:
    """The stages that `text` names. Raises ValueError with advice behind the last semicolon."""
    stages: list[ExpectedStage] = []
    position = 0
    while position < len(text.rstrip()):
        part = _PART.match(text, position)
        if part is None:
            raise ValueError(f'"{text[position:].strip()}" is no part of a plan; {_EXAMPLE}')
        stages.append(_stage(part["stage"], absent=bool(part["no"]), index=part["index"] or ""))
        position = part.end()
    if not stages:
        raise ValueError(f"names no stage; {_EXAMPLE}")
    return tuple(stages)


def key_pattern_text(keys: Mapping[str, Any]) -> str:
    """A key pattern as reports and specs write it: `{time: 1, level: -1}`."""
    return "{" + ", ".join(f"{field}: {_kind_text(kind)}" for field, kind in keys.items()) + "}"


def normal_key_pattern(text: str) -> str:
    """A key pattern that was typed, or that a server wrote as text, in the form of `key_pattern_text`."""
    inner = text.strip().removeprefix("{").removesuffix("}")
    keys = {key["field"]: key["kind"] for key in _KEY.finditer(inner)}
    return key_pattern_text(keys)


def _stage(word: str, *, absent: bool, index: str) -> ExpectedStage:
    name = word.upper()
    if name not in STAGES:
        nearest = difflib.get_close_matches(name, STAGES, n=1)
        advice = f'did you mean "{nearest[0]}"' if nearest else f"stages: {', '.join(STAGES)}"
        raise ValueError(f'"{word}" is no stage of a plan; {advice}')
    return ExpectedStage(stage=name, absent=absent, index=normal_key_pattern(index) if index.startswith("{") else index)


def _kind_text(kind: Any) -> str:
    """1.0 and "1" are 1: servers give numbers as they were typed when the index was built."""
    try:
        number = float(kind)
    except (TypeError, ValueError):
        return str(kind)
    return str(int(number)) if number == int(number) else str(number)
