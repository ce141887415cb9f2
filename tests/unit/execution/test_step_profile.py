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


def test_a_value_that_is_false_or_zero_is_a_value_like_any_other() -> None:
    find = {"find": "orders", "filter": {"open": True}, "skip": 20, "limit": 5, "singleBatch": True}
    update = {"q": {"open": True, "n": 3}, "u": {"$set": {"open": True}}, "upsert": True, "hint": "by_open"}
    delete = {"q": {"open": True}, "limit": 1}
    plan = own_plan(
        {
            "read": [step("find", body=constant(find))],
            "close": [step("update", body=constant({"update": "orders", "updates": [update], "ordered": False}))],
            "take": [step("delete", body=constant({"delete": "orders", "deletes": [delete]}))],
        }
    )
    told_update = {**update, "multi": False, "hint": {"$hint": "by_open"}}
    found = by_step(
        plan,
        [
            *(entry("query", {**find, **other}) for other in ({}, {"filter": {"open": False}}, {"skip": 0})),
            entry("query", {**find, "limit": 0, "singleBatch": False, "filter": {"open": None}}),
            entry("update", told_update),
            entry("update", {**told_update, "q": {"open": False, "n": 0}, "u": {"$set": {"open": False}}}),
            entry("remove", delete),
            entry("remove", {"q": {"open": False}, "limit": 0}),
            entry("update", {**told_update, "upsert": False}),  # which is not what the step says
            entry("remove", "not a document"),
            entry("query", "not a document"),
        ],
    )
    assert {each["operation"]: each["commands"] for each in found} == {"read": 4, "close": 2, "take": 2}
