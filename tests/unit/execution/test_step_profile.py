"""Which step a command that the profiler recorded is of."""

from typing import Any

from brimline.execution.step_profile import by_step
from tests.support.own_work import constant, own_plan, step

FIND = {"find": "orders", "filter": {"customer": 5, "total": {"$gte": 1}}, "limit": 20}
UPDATE = {"update": "orders", "updates": [{"q": {"_id": 5}, "u": {"$inc": {"n": 1}}}]}
PLAN = own_plan({"latest": [step("find", body=constant(FIND))], "change": [step("update", body=constant(UPDATE))]})


def entry(op: str, command: Any, **rest: Any) -> dict[str, Any]:
    return {"op": op, "ns": "shop.orders", "command": command, "millis": 2, "docsExamined": 7, **rest}


def test_a_command_is_that_of_the_step_with_its_form() -> None:
    again = {**FIND, "filter": {"customer": 9, "total": {"$gte": 4}}, "limit": 3, "lsid": {"id": 1}, "$db": "shop"}
    other = {"find": "orders", "filter": {"customer": 9, "total": {"$lt": 4}}, "limit": 3}
    statement = {"q": {"_id": 6}, "u": {"$inc": {"n": 2}}, "multi": False, "upsert": False}
    found = by_step(
        PLAN,
        [
            entry("query", again, nreturned=3),
            entry("getmore", {"getMore": 1, "collection": "orders"}, originatingCommand=again, nreturned=1),
            entry("query", other),
            entry("query", again, ns="shop.others"),
            entry("update", statement, cpuNanos=40),
        ],
    )
    names = ("operation", "commands", "time_ms", "cpu_ns", "docs_examined", "n_returned")
    assert [tuple(each[name] for name in names) for each in found] == [
        ("latest", 2, 4, None, 14, 4),
        ("change", 1, 2, 40, 7, None),
    ]
    assert by_step(PLAN, [{}, entry("command", {"ping": 1})]) == []
