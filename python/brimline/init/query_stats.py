"""Owns what `$queryStats` tells: shapes of queries with how often they came, of servers that count them.

Source: MongoDB's manual on `$queryStats`. A shape has the types of values in their places, such as "?number" and
"?array<?string>".
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from bson import ObjectId
from pymongo.errors import OperationFailure

from brimline.dataset.access import DataDatabase, target_errors
from brimline.errors import TargetError
from brimline.init.observed import Observations, Observed
from brimline.servers.answers import refusal_words
from brimline.servers.refusal import NOT_ALLOWED_CODES

_WITHIN_S = 60.0
_UNKNOWN_STAGE_CODES = frozenset({40324, 16436, 72, 59, 7373500, 238})
_EXAMPLES: Mapping[str, Any] = {
    "?number": 1,
    "?string": "text",
    "?date": datetime(2024, 1, 1, tzinfo=UTC),
    "?objectId": ObjectId("0" * 24),
    "?bool": True,
    "?null": None,
    "?object": {},
    "?binData": b"",
    "?timestamp": datetime(2024, 1, 1, tzinfo=UTC),
}
_MICROSECONDS_PER_MS = 1000


def read_query_stats(database: DataDatabase, take: Callable[[Observed], None]) -> Observations | None:
    """The shapes of the database that the server counted; None where it can't tell.

    Raises TargetError where the user may not ask, or the server goes away.
    """
    with target_errors("asking for $queryStats", within_s=_WITHIN_S):
        try:
            with database.client.admin.aggregate([{"$queryStats": {}}]) as entries:
                return query_stats_observations(entries, take, database=database.name)
        except OperationFailure as error:
            if error.code in NOT_ALLOWED_CODES:
                raise TargetError(
                    f"the user may not ask for $queryStats: {refusal_words(error)}",
                    hint="grant the privilege queryStatsRead, as the role clusterMonitor does",
                ) from error
            if error.code in _UNKNOWN_STAGE_CODES:
                return None
            raise


def query_stats_observations(
    entries: Iterable[Mapping[str, Any]], take: Callable[[Observed], None], *, database: str
) -> Observations:
    """The commands behind entries of `$queryStats`, each with how often it came."""
    found = Observations(source="$queryStats", only_slow=False, take=take)
    for entry in entries:
        shape = (entry.get("key") or {}).get("queryShape") or {}
        namespace = shape.get("cmdNs") or {}
        metrics = entry.get("metrics") or {}
        if namespace.get("db") != database:
            continue
        kind, times = str(shape.get("command", "")), int(metrics.get("execCount") or 0)
        for name in ("firstSeenTimestamp", "latestSeenTimestamp"):
            if isinstance(at := metrics.get(name), datetime):
                found.saw(at.replace(tzinfo=UTC).timestamp() if at.tzinfo is None else at.timestamp())
        application = (((entry.get("key") or {}).get("client") or {}).get("application") or {}).get("name", "")
        if str(application).startswith("brimline") or not times:
            found.left_out["brimline's own"] += times
            continue
        body = {name: _example(value, name) for name, value in shape.items() if name not in ("cmdNs", "command")}
        total = (metrics.get("totalExecMicros") or {}).get("sum")
        found.add(
            Observed(
                database=database,
                collection=str(namespace.get("coll", "")),
                kind=kind,
                body={kind: namespace.get("coll"), **body},
                times=times,
                duration_ms=None if total is None else float(int(total)) / times / _MICROSECONDS_PER_MS,
            )
        )
    return found


def _example(value: Any, name: str = "") -> Any:
    """A value of the type that the shape names."""
    if isinstance(value, Mapping):
        return {key: _example(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_example(each, name) for each in value]
    if not isinstance(value, str) or not value.startswith("?"):
        return value
    if value.startswith("?array<"):
        return [_example(value.removeprefix("?array<").removesuffix(">"), name)]
    return _EXAMPLES.get(value, "text")
