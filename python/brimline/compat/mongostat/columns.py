"""Owns the value of each of mongostat's columns, as text. A column that a server has no figure for is empty."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any

from brimline.compat.mongostat.amounts import bits_text, bytes_text
from brimline.monitor.server_status import read_status

Value = Callable[["StatInterval", bool], str]
"""The text of a column, from an interval and whether it is for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatInterval:
    """Two answers to `serverStatus`, `elapsed_s` apart. `at` is when the later one came, with its time zone."""

    host: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    elapsed_s: float
    at: datetime

    def per_s(self, *path: str) -> int | None:
        """By how much a counter grew per second, cut to a whole number; since its start where it began anew."""
        grown = self.grown(*path)
        return None if grown is None else int(grown / self.elapsed_s)

    def grown(self, *path: str) -> int | float | None:
        """By how much a counter grew; None where either answer lacks it."""
        return growth(figure(self.before, *path), figure(self.after, *path))


def growth(earlier: int | float | None, later: int | float | None) -> int | float | None:
    """The increase of a counter that may have begun anew; None where either figure is missing."""
    if earlier is None or later is None:
        return None
    return later - earlier if later >= earlier else later


def figure(document: Mapping[str, Any], *path: str) -> int | float | None:
    """The number at a path, None where there is none."""
    found = at_path(document, *path)
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return found if is_number and isfinite(found) else None


def at_path(document: Mapping[str, Any], *path: str) -> Any:
    """What lies at a path; None where nothing does."""
    found: Any = document
    for name in path:
        if not isinstance(found, Mapping):
            return None
        found = found.get(name)
    return found


def _operations(kind: str, *, always_both: bool = False) -> Value:
    """Operations per second: of clients, `*n` for what replication did, `n|m` for both."""

    def text(interval: StatInterval, _human: bool) -> str:
        own = interval.per_s("opcounters", kind) or 0
        replicated = interval.per_s("opcountersRepl", kind) or 0
        if always_both or (own and replicated):
            return f"{own}|{replicated}"
        return str(own) if own else f"*{replicated}"

    return text


def _getmore(interval: StatInterval, _human: bool) -> str:
    return str(interval.per_s("opcounters", "getmore") or 0)


def _cache_share(name: str) -> Value:
    def text(interval: StatInterval, human: bool) -> str:
        held = figure(interval.after, "wiredTiger", "cache", name)
        most = figure(interval.after, "wiredTiger", "cache", "maximum bytes configured")
        if held is None or not most:
            return ""
        return f"{100 * held / most:.1f}{'%' if human else ''}"

    return text


def _flushes(interval: StatInterval, _human: bool) -> str:
    """Checkpoints that ended in the interval; not per second."""
    grown = growth(read_status(interval.before)["checkpoints"], read_status(interval.after)["checkpoints"])
    return "" if grown is None else str(int(grown))


def _memory(name: str) -> Value:
    def text(interval: StatInterval, human: bool) -> str:
        mebibytes = figure(interval.after, "mem", name)
        return "" if mebibytes is None else bytes_text(int(mebibytes) << 20, human=human)

    return text


def _queued(interval: StatInterval, _human: bool) -> str:
    """Clients that are in the server or wait for it, without those that hold a ticket."""
    waiting = []
    for kind in ("readers", "writers"):
        clients = figure(interval.after, "globalLock", "currentQueue", kind)
        active = figure(interval.after, "globalLock", "activeClients", kind)
        out = _tickets_out(interval, kind)
        if clients is None:
            return ""
        waiting.append(clients if out is None or active is None else max(0, clients + active - out))
    return "|".join(str(int(each)) for each in waiting)


def _active(interval: StatInterval, _human: bool) -> str:
    """Tickets in use; without tickets, clients at work."""
    active = []
    for kind in ("readers", "writers"):
        out = _tickets_out(interval, kind)
        active.append(figure(interval.after, "globalLock", "activeClients", kind) if out is None else out)
    return "" if None in active else "|".join(str(int(each or 0)) for each in active)


def _tickets_out(interval: StatInterval, kind: str) -> int | None:
    return read_status(interval.after)[f"{'read' if kind == 'readers' else 'write'}_tickets_out"]


def _traffic(name: str) -> Value:
    def text(interval: StatInterval, human: bool) -> str:
        per_s = interval.per_s("network", name)
        return "" if per_s is None else bits_text(per_s, human=human)

    return text


def _connections(interval: StatInterval, _human: bool) -> str:
    current = figure(interval.after, "connections", "current")
    return "" if current is None else str(int(current))


def _set_name(interval: StatInterval, _human: bool) -> str:
    return str(at_path(interval.after, "repl", "setName") or "")


def _role(interval: StatInterval, _human: bool) -> str:
    """What the server is in its replica set, in three letters."""
    if interval.after.get("process") == "mongos":
        return "RTR"
    repl = interval.after.get("repl")
    if not isinstance(repl, Mapping):
        return ""
    roles = (
        ("PRI", repl.get("isWritablePrimary", repl.get("ismaster"))),
        ("ARB", repl.get("arbiterOnly")),
        ("PSV", repl.get("passive")),
        ("SEC", repl.get("secondary")),
        ("REC", "setName" in repl),
    )
    return next((name for name, holds in roles if holds), "UNK")


def _time(interval: StatInterval, human: bool) -> str:
    at = interval.at
    if human:
        return f"{at:%b} {at.day:2d} {at:%H:%M:%S}.{at.microsecond // 1000:03d}"
    return at.replace(microsecond=0).isoformat().replace("+00:00", "Z")


VALUES: Mapping[str, Value] = {
    "host": lambda interval, _human: interval.host,
    "insert": _operations("insert"),
    "query": _operations("query"),
    "update": _operations("update"),
    "delete": _operations("delete"),
    "getmore": _getmore,
    "command": _operations("command", always_both=True),
    "dirty": _cache_share("tracked dirty bytes in the cache"),
    "used": _cache_share("bytes currently in the cache"),
    "flushes": _flushes,
    "vsize": _memory("virtual"),
    "res": _memory("resident"),
    "qrw": _queued,
    "arw": _active,
    "net_in": _traffic("bytesIn"),
    "net_out": _traffic("bytesOut"),
    "conn": _connections,
    "set": _set_name,
    "repl": _role,
    "time": _time,
}
"""mongostat's columns in its order."""


def default_columns(status: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that are shown when nobody chooses: those that fit the server; `host` only on request."""
    hidden = {"host"}
    if "wiredTiger" not in status:
        hidden |= {"dirty", "used"}
    if "repl" not in status:
        hidden |= {"set", "repl"}
    return tuple(name for name in VALUES if name not in hidden)
