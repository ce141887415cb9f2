"""Owns what a runner said of itself, as a record has it: plain values, and what it used during the run."""

from collections.abc import Mapping
from typing import Any

import bson
from bson.errors import BSONError
from bson.int64 import Int64

_GROWING = (
    "cpu_ns",
    "collections",
    "collections_ns",
    "pool_taken",
    "pool_refused",
    "pool_waited_ns",
)
"""What counts up as long as a runner lives: a run has the difference. One that falls counted nothing: it is absent."""
_KEPT = ("memory_peak_bytes", "connections_created", "connections_closed", "pool_waited_max_ns")
"""What is of its whole life."""
POOL_WAITS = "pool_waits"
"""How often a connection of the pool took so long: at place *n* less than 2^n µs, and no less than half of that."""
_PLACES_MAX = 64
_TEXTS = ("client", "driver", "driver_version", "runtime", "runtime_version")


def runner_facts(said: Mapping[str, Any]) -> dict[str, Any]:
    """What the engine hands on of a runner, for the record. What it didn't say, or not as a number, is absent."""
    ready, before, after = (_decoded(said[name]) for name in ("ready", "used_before", "used_after"))
    used = {name: after[name] - before[name] for name in _GROWING if _has_grown(before, after, name)}
    kept = {name: after[name] for name in _KEPT if _is_count(after, name)}
    waits = _grown(before.get(POOL_WAITS), after.get(POOL_WAITS))
    clocks = {name: dict(said[name]) for name in ("clock_before", "clock_after") if name in said}
    texts = {name: str(ready[name])[:200] for name in _TEXTS if name in ready}
    still = {"standstills": list(said["standstills"])} if said.get("standstills") else {}
    return {**texts, "workers": said["workers"], **used, **kept, **waits, **clocks, **still}


def _grown(before: object, after: object) -> dict[str, list[int]]:
    """How often the pool was waited for, by how long; nothing where a runner doesn't say it of both instants."""
    if not isinstance(before, list) or not isinstance(after, list) or not 0 < len(before) == len(after) <= _PLACES_MAX:
        return {}
    if not all(type(each) in (int, Int64) and each >= 0 for each in (*before, *after)):
        return {}
    counts = [int(late) - int(early) for early, late in zip(before, after, strict=True)]
    return {POOL_WAITS: counts} if min(counts) >= 0 else {}


def _decoded(document: bytes) -> Mapping[str, Any]:
    if not document:
        return {}
    try:
        return bson.decode(document)
    except BSONError:
        return {}


def _has_grown(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> bool:
    """Whether both instants have a count, and the later one no less: what falls was none."""
    return _is_count(before, name) and _is_count(after, name) and bool(after[name] >= before[name])


def _is_count(document: Mapping[str, Any], name: str) -> bool:
    value = document.get(name)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
