"""Owns what a runner said of itself, as a record has it: plain values, and what it used during the run."""

from collections.abc import Mapping
from typing import Any

import bson
from bson.errors import BSONError

_GROWING = (
    "cpu_ns",
    "collections",
    "collections_ns",
    "pool_taken",
    "pool_refused",
    "pool_waited_ns",
)
"""What counts up as long as a runner lives: a run has the difference."""
_KEPT = ("memory_peak_bytes", "connections_created", "connections_closed", "pool_waited_max_ns")
"""What is of its whole life."""
_TEXTS = ("client", "driver", "driver_version", "runtime", "runtime_version")


def runner_facts(said: Mapping[str, Any]) -> dict[str, Any]:
    """What the engine hands on of a runner, for the record. What it didn't say, or not as a number, is absent."""
    ready, before, after = (_decoded(said[name]) for name in ("ready", "used_before", "used_after"))
    used = {name: after[name] - before[name] for name in _GROWING if _is_count(before, name) and _is_count(after, name)}
    kept = {name: after[name] for name in _KEPT if _is_count(after, name)}
    clocks = {name: dict(said[name]) for name in ("clock_before", "clock_after") if name in said}
    texts = {name: str(ready[name])[:200] for name in _TEXTS if name in ready}
    still = {"standstills": list(said["standstills"])} if said.get("standstills") else {}
    return {**texts, "workers": said["workers"], **used, **kept, **clocks, **still}


def _decoded(document: bytes) -> Mapping[str, Any]:
    if not document:
        return {}
    try:
        return bson.decode(document)
    except BSONError:
        return {}


def _is_count(document: Mapping[str, Any], name: str) -> bool:
    value = document.get(name)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
