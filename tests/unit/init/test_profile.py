from datetime import datetime
from typing import Any

from bson.datetime_ms import DatetimeMS

from brimline.init.observed import Observed
from brimline.init.profile import profile_observations


def _entry(op: str, command: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "op": op,
        "ns": "shop.orders",
        "command": command,
        "ts": datetime(2024, 5, 1),
        "millis": 3,
        "appName": "web",
        **more,
    }


def _read(*entries: dict[str, Any], takes_all: bool = True, slow_ms: float = 100.0) -> tuple[Any, list[Observed]]:
    found: list[Observed] = []
    return profile_observations(entries, found.append, takes_all=takes_all, slow_ms=slow_ms), found


def test_each_kind_of_entry() -> None:
    told, found = _read(
        _entry("query", {"find": "orders", "filter": {"a": 1}, "$db": "shop"}, nreturned=3),
        _entry("update", {"q": {"a": 1}, "u": {"$set": {"b": 1}}, "multi": False, "upsert": False}),
        _entry("remove", {"q": {"a": 1}, "limit": 0}),
        _entry("insert", {"insert": "orders", "ordered": True, "$db": "shop"}, ninserted=2),
        _entry("command", {"aggregate": "orders", "pipeline": [], "cursor": {}, "$db": "shop"}),
        _entry("command", {"findAndModify": "orders", "query": {}, "update": {"$inc": {"a": 1}}, "$db": "shop"}),
        _entry("command", {"count": "orders", "query": {}, "$db": "shop"}),
        _entry("command", {"distinct": "orders", "key": "a", "query": {}, "$db": "shop"}),
        _entry("getmore", {"getMore": 5, "collection": "orders", "$db": "shop"}),
    )
    assert [each.kind for each in found] == [
        "find", "update", "delete", "insert", "aggregate", "findAndModify", "count", "distinct",
    ]  # fmt: skip
    assert told.left_out == {"getMore, which belongs to a cursor": 1}
    assert [each.documents for each in found[:4]] == [3, None, None, 2]


def test_its_own_look_at_the_profile_is_left_out() -> None:
    told, found = _read(
        _entry("query", {"find": "system.profile", "filter": {}, "$db": "shop"}, ns="shop.system.profile")
    )
    assert found == []
    assert told.left_out == {"find on system.profile": 1}


def test_dates_in_either_form_say_the_time() -> None:
    told, _ = _read(
        _entry("query", {"find": "orders"}), _entry("query", {"find": "orders"}, ts=DatetimeMS(1_714_521_660_000))
    )
    assert told.covered_s == 60.0


def test_a_profiler_that_took_quick_operations_took_all() -> None:
    assert not _read(_entry("query", {"find": "orders"}), takes_all=False)[0].only_slow
    assert _read(_entry("query", {"find": "orders"}, millis=150), takes_all=False)[0].only_slow
    assert not _read(_entry("query", {"find": "orders"}, millis=150), takes_all=True)[0].only_slow
