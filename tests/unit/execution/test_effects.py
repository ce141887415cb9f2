"""What the steps of a person's own operations write, told from the plan alone."""

from pathlib import Path
from typing import Any

import pytest

from brimline.errors import UsageError
from brimline.execution.effects import (
    Effect,
    effects_on,
    live_collections,
    needs_rows,
    needs_saved,
    require_writes_allowed,
    writes,
)
from brimline.plan import NullTarget, Plan, resolve
from brimline.spec import Spec, load_spec

SHOP = Path(__file__).parents[2] / "contract" / "own_shop.yaml"


def _plan(*steps: dict[str, Any], **more: Any) -> Plan:
    spec = {
        "name": "mine",
        "database": "db",
        "collections": {"a": {"records": 10}, "b": {"records": 10}, "live": "existing"},
        "operations": {"one": {"share": 1, "steps": list(steps)}},
        **more,
    }
    return resolve(Spec.model_validate(spec), target=NullTarget())


def _effects(*steps: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    return [(each.namespace, str(each.effect)) for each in writes(_plan(*steps, **more))]


@pytest.mark.parametrize(
    "step",
    [
        {"find": {"collection": "a", "filter": {"x": 1}}},
        {"aggregate": {"collection": "a", "pipeline": [{"$match": {"x": 1}}]}},
        {"count": {"collection": "a"}},
        {"distinct": {"collection": "a", "field": "x"}},
        {"command": {"ping": 1}},
        {"command": {"collStats": "a"}},
        {"aggregate": {"collection": "a", "pipeline": [{"$match": "$filter"}, {"$sort": {"x": 1}}]}},
        {"aggregate": {"collection": "a", "pipeline": "$stages"}},
    ],
)
def test_what_reads_writes_nothing(step: dict[str, Any]) -> None:
    stages = {"list": [{"$match": {"x": "$index"}}]}
    assert _effects(step, values={"filter": {"document": {"x": 1}}, "stages": stages}) == []


@pytest.mark.parametrize(
    ("document", "effect"),
    [
        ({"x": 1}, "ids"),
        ({"_id": "$new_id"}, "ids"),
        ({"_id": {"$value": {"new_key_of": "a"}}, "x": 1}, "keys"),
        ("$fresh", "keys"),
        ({"_id": "$key"}, "keys"),
        ({"_id": {"$value": {"new_key_of": "b"}}}, "change"),
        ({"_id": 5}, "change"),
        ({"_id": "$index"}, "change"),
    ],
)
def test_an_insert_is_known_by_the_key_of_its_document(document: Any, effect: str) -> None:
    values = {"fresh": {"new_record_of": "a"}, "key": {"new_key_of": "a"}}
    step = {"insert": {"collection": "a", "document": document}}
    assert _effects(step, values=values) == [("db.a", effect)]


def test_documents_and_counted_documents_are_looked_into() -> None:
    assert _effects({"insert": {"collection": "a", "documents": [{"x": 1}, {"_id": 5}]}}) == [
        ("db.a", "ids"),
        ("db.a", "change"),
    ]
    assert _effects({"insert": {"collection": "a", "document": {"x": 1}, "count": 3}}) == [("db.a", "ids")]


@pytest.mark.parametrize(
    ("step", "namespace"),
    [
        ({"update": {"collection": "a", "filter": {}, "update": {"$set": {"x": 1}}}}, "db.a"),
        ({"replace": {"collection": "a", "filter": {}, "replacement": {"x": 1}}}, "db.a"),
        ({"delete": {"collection": "a", "filter": {"x": 1}}}, "db.a"),
        ({"find_and_modify": {"collection": "a", "filter": {"x": 1}, "update": {"$set": {"x": 2}}}}, "db.a"),
        ({"aggregate": {"collection": "a", "pipeline": [{"$out": "elsewhere"}]}}, "db.elsewhere"),
        ({"aggregate": {"collection": "a", "pipeline": [{"$out": {"db": "o", "coll": "c"}}]}}, "o.c"),
        ({"aggregate": {"collection": "a", "pipeline": [{"$merge": {"into": "b"}}]}}, "db.b"),
        ({"aggregate": {"collection": "a", "pipeline": [{"$match": {"n": "$index"}}, {"$merge": "b"}]}}, "db.b"),
        ({"command": {"fsync": 1}}, "db"),
    ],
)
def test_everything_else_changes_a_collection(step: dict[str, Any], namespace: str) -> None:
    assert _effects(step) == [(namespace, "change")]


@pytest.mark.parametrize(
    "command",
    [
        {"delete": "live", "deletes": [{"q": {}, "limit": 0}]},
        {"drop": "live"},
        {"whoKnows": "a"},
        {"validate": "a", "repair": True},
        {"renameCollection": "db.live", "to": "db.a"},
        {"insert": "live", "documents": [{"x": 1}]},
    ],
)
@pytest.mark.parametrize("access", ["read", "write", "command"])
def test_where_a_command_goes_says_nothing_of_what_it_changes(command: dict[str, Any], access: str) -> None:
    step = {"command": command, "access": access}
    assert _effects(step) == [("db", "change")]
    with pytest.raises(UsageError, match="writes to the server, database db"):
        require_writes_allowed(_plan(step))


OUT = {"$out": "live"}


@pytest.mark.parametrize(
    ("pipeline", "namespace"),
    [
        ("$whole", "db.live"),
        (["$stage"], "db.live"),
        ([{"$out": "$drawn"}], "db"),
        ([{"$facet": {"x": [OUT]}}], "db.live"),
        ([{"$unionWith": {"coll": "b", "pipeline": [{"$merge": {"into": {"db": "o", "coll": "c"}}}]}}], "o.c"),
        ([{"$merge": {"into": "$drawn"}}], "db"),
        ([{"$out": {"db": "$drawn", "coll": "c"}}], "db"),
        (["$drawn"], "db"),
        ("$drawn", "db"),
        ([OUT, {"$match": {}}], "db.live"),
    ],
)
def test_a_pipeline_behind_names_writes_where_it_says_and_one_that_is_not_known_anywhere(
    pipeline: Any, namespace: str
) -> None:
    values = {
        "stage": {"document": OUT},
        "whole": {"list": [{"$match": {}}, OUT]},
        "drawn": {"one_of": ["a", "b"]},
    }
    step = {"command": {"aggregate": "a", "pipeline": pipeline, "cursor": {}}, "access": "read"}
    assert _effects(step, values=values) == [(namespace, "change")]


def test_steps_of_a_transaction_count_and_its_commit_does_not() -> None:
    steps = [{"delete": {"collection": "b", "filter": {"x": 1}}}, {"insert": {"collection": "a", "document": {}}}]
    assert _effects({"transaction": steps}) == [("db.b", "change"), ("db.a", "ids")]


def test_what_any_command_may_change_is_any_collection() -> None:
    assert effects_on(_plan({"command": {"fsync": 1}}), "db", "a") == {Effect.CHANGE}


def test_writing_to_what_brimline_did_not_load_is_refused_with_operation_step_and_collection() -> None:
    step = {"update": {"collection": "live", "filter": {}, "update": {"$set": {"x": 1}}}}
    with pytest.raises(UsageError, match=r"operations\.one: the step update live writes to db\.live, which brimline"):
        require_writes_allowed(_plan(step))
    with pytest.raises(UsageError, match=r"writes to db\.elsewhere"):
        require_writes_allowed(_plan({"aggregate": {"collection": "a", "pipeline": [{"$out": "elsewhere"}]}}))
    with pytest.raises(UsageError, match="writes to the server, database db"):
        require_writes_allowed(_plan({"command": {"fsync": 1}}))
    ours = _plan({"delete": {"collection": "a", "filter": {"x": 1}}})
    require_writes_allowed(ours)
    with pytest.raises(UsageError, match=r"writes to db\.a"):
        require_writes_allowed(ours, not_ours=[("db", "a")])


def test_collections_that_are_not_loaded_are_known_by_who_needs_them() -> None:
    plan = _plan(
        {"find": {"collection": "a"}},
        {"find": {"collection": "live", "filter": {"x": "$rows.x"}}},
        values={"rows": {"sample": "live", "fields": ["x"], "count": 10}},
    )
    assert live_collections(plan) == {("db", "live"): "operations.one: the step find live"}


def test_a_step_that_needs_what_was_saved_is_known_also_behind_a_name() -> None:
    plan = resolve(load_spec(SHOP).spec, target=NullTarget())
    assert plan.work.kind == "operations"
    work = plan.work
    steps = {f"{operation.name}/{step.name}": step for operation in work.operations for step in operation.steps}
    known = [table.name for table in work.tables].index("known")
    assert {name for name, step in steps.items() if needs_rows(step, work, [known])} == {
        "serve_queue/bill",
        "look/count orders",
    }
    assert {name for name, step in steps.items() if needs_saved(step, work)} == {
        "place_order/insert orders",
        "serve_queue/bill",
        "serve_queue/delete legacy",
        "serve_queue/delete legacy 2",
        "look/distinct orders",
    }


def test_a_command_that_may_write_may_also_be_unknown() -> None:
    with pytest.raises(UsageError) as raised:
        require_writes_allowed(_plan({"command": {"nosuch": 1}}))
    assert raised.value.hint is not None
    assert "--allow-writes" in raised.value.hint
    assert "whether the server has this command" in raised.value.hint
