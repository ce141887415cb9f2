from datetime import datetime
from typing import Any

from brimline.init.command_groups import CommandGroups
from brimline.init.observed import Observed
from brimline.init.query_stats import query_stats_observations


def _entry(
    shape: dict[str, Any], *, database: str = "shop", times: int = 40, application: str = "web"
) -> dict[str, Any]:
    return {
        "key": {
            "queryShape": {"cmdNs": {"db": database, "coll": "orders"}, **shape},
            "client": {"application": {"name": application}},
        },
        "metrics": {
            "execCount": times,
            "firstSeenTimestamp": datetime(2024, 5, 1, 10),
            "latestSeenTimestamp": datetime(2024, 5, 1, 10, 1),
            "totalExecMicros": {"sum": 80_000, "max": 5_000},
        },
    }


def test_shapes_with_their_counts() -> None:
    groups = CommandGroups()
    told = query_stats_observations(
        [
            _entry(
                {
                    "command": "find",
                    "filter": {"a": {"$eq": "?number"}, "b": {"$in": "?array<?string>"}},
                    "limit": "?number",
                }
            ),
            _entry({"command": "aggregate", "pipeline": [{"$match": {"at": {"$gte": "?date"}}}]}, times=10),
            _entry({"command": "find", "filter": {}}, database="other"),
            _entry({"command": "find", "filter": {}}, application="brimline-run", times=7),
        ],
        groups.add,
        database="shop",
    )
    assert {each.request.kind: each.times for each in groups.groups.values()} == {"find": 40, "aggregate": 10}
    [find, _] = groups.groups.values()
    assert [hole.shape.main_type for hole in find.holes] == ["int", "array", "int"]
    assert find.mean_ms == 2.0
    assert told.covered_s == 60.0
    assert told.left_out == {"brimline's own": 7}
    assert not told.only_slow


def test_what_is_no_entry_is_passed_by() -> None:
    found: list[Observed] = []
    query_stats_observations([{}, {"key": {}}, {"key": {"queryShape": {}}}], found.append, database="shop")
    assert found == []
