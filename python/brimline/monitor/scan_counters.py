"""Owns what a server counts of queries it has answered: keys and documents examined, and what its cache had to read."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from pymongo.errors import OperationFailure, PyMongoError

from brimline.errors import TargetError
from brimline.servers.deployment import Client
from brimline.units import sum_of_known

_PATHS: Mapping[str, tuple[str, ...]] = {
    "keys_examined": ("metrics", "queryExecutor", "scanned"),
    "documents_examined": ("metrics", "queryExecutor", "scannedObjects"),
    "cache_read_bytes": ("wiredTiger", "cache", "bytes read into cache"),
    "cache_pages_read": ("wiredTiger", "cache", "pages read into cache"),
    "cache_pages_requested": ("wiredTiger", "cache", "pages requested from the cache"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanCounters:
    """Totals since the server's start, or what was added to them; None: the server has no such counter."""

    keys_examined: int | None = None
    documents_examined: int | None = None
    cache_read_bytes: int | None = None
    cache_pages_read: int | None = None
    cache_pages_requested: int | None = None

    def since(self, earlier: "ScanCounters") -> "ScanCounters":
        """What was counted since `earlier`."""
        before, now = asdict(earlier), asdict(self)
        return ScanCounters(**{name: _difference(now[name], before[name]) for name in now})


def read_scan_counters(client: Client) -> ScanCounters:
    """The counters now. They are the whole server's, whoever works there. Raises TargetError when it is gone."""
    try:
        status = client.admin.command("serverStatus")
    except OperationFailure:
        return ScanCounters()
    except PyMongoError as error:
        raise TargetError("the server went away between two queries") from error
    return counters_of(status)


def added_up(counters: Sequence[ScanCounters]) -> ScanCounters:
    """Those of several servers; None where one has no such counter."""
    return ScanCounters(**{name: sum_of_known([getattr(each, name) for each in counters]) for name in _PATHS})


def counters_of(status: Mapping[str, Any]) -> ScanCounters:
    """The counters in an answer to `serverStatus`."""
    return ScanCounters(**{name: _number(status, path) for name, path in _PATHS.items()})


def _number(status: Mapping[str, Any], path: tuple[str, ...]) -> int | None:
    value: Any = status
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and isfinite(value) else None


def _difference(now: int | None, before: int | None) -> int | None:
    return None if now is None or before is None or now < before else now - before
