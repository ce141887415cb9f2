"""Requests and targets of HTTP and SQL in a plan: their JSON to the letter, what is refused, what has a hash."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from brimline.plan import NullTarget, Plan, model, resolve
from brimline.plan.operations import OperationPlan, OperationsWork, Step
from brimline.spec import load_spec

HTTP = model.HttpTarget(address="10.0.0.1:8080", authority="shop.example:8080", base="/v1")
MARIADB = model.SqlTarget(kind="mysql", address="db:3306", database="shop", setup=("SET time_zone = '+00:00'",))
GET = {
    "kind": "http",
    "method": "GET",
    "target": [{"text": "/orders/"}, {"slot": 0, "as": "url"}],
    "headers": [{"name": "accept", "value": [{"text": "application/json"}]}],
    "body": None,
    "status": [[200, 399]],
}
SELECT = {"kind": "statement", "text": "SELECT * FROM orders WHERE id = ?", "mode": "prepared"}


def _step(request: dict[str, Any] | None) -> dict[str, Any]:
    step: dict[str, Any] = {
        "name": "look",
        "command": "GET",
        "database": "",
        "collection": None,
        "access": "read",
        "body": {"kind": "list", "items": [{"kind": "number"}]},
        "counter": "command",
    }
    return step if request is None else step | {"request": request}


def _plan(target: model.TargetPlan, request: dict[str, Any] | None) -> Plan:
    plan = resolve(load_spec("ycsb-c").spec, target=NullTarget())
    operation = OperationPlan.model_validate({"name": "look", "weight": 1.0, "steps": [_step(request)]})
    work = OperationsWork(collections=(), tables=(), values=(), saved=(), operations=(operation,))
    return plan.model_copy(update={"target": target, "work": work})


@pytest.mark.parametrize(
    ("target", "request_"), [(HTTP, GET), (MARIADB, SELECT)], ids=["a request of HTTP", "a statement"]
)
def test_a_request_is_written_as_it_was_read(target: model.TargetPlan, request_: dict[str, Any]) -> None:
    plan = _plan(target, request_)
    assert plan.model_dump(mode="json")["work"]["operations"][0]["steps"][0]["request"] == request_
    again = Plan.from_json(plan.canonical_json())
    assert again.canonical_json() == plan.canonical_json()


def test_targets_are_written_without_what_a_plan_is_made_with() -> None:
    assert HTTP.model_dump(mode="json") == {
        "kind": "http",
        "address": "10.0.0.1:8080",
        "authority": "shop.example:8080",
        "tls": False,
        "keep_alive": True,
        "connect": "before",
        "follow_redirects": 0,
        "cookies": True,
    }
    assert MARIADB.model_dump(mode="json") == {
        "kind": "mysql",
        "address": "db:3306",
        "database": "shop",
        "tls": False,
        "setup": ["SET time_zone = '+00:00'"],
        "bulk": None,
    }


def test_the_table_of_a_load_says_its_columns() -> None:
    bulk = {"table": "orders", "columns": [{"name": "id", "path": ["_id"], "type": "text"}], "form": "copy"}
    target = model.SqlTarget.model_validate({**MARIADB.model_dump(mode="json"), "bulk": bulk})
    assert target.model_dump(mode="json")["bulk"] == bulk


def test_steps_of_mongodb_say_nothing_of_requests() -> None:
    step = Step.model_validate(
        _step(None)
        | {"expect": [{"what": "n", "min": 1}], "save": [{"slot": 0, "path": ["a"], "from": "reply", "default": None}]}
    )
    values = step.model_dump(mode="json")
    assert "request" not in values
    assert set(values["expect"][0]) == {"what", "path", "min", "max", "equals"}
    assert set(values["save"][0]) == {"slot", "path", "from", "default"}


@pytest.mark.parametrize("target", [HTTP, MARIADB], ids=["http", "mysql"])
def test_where_a_target_is_changes_no_hash(target: Any) -> None:
    changed = {"address": "elsewhere:1"} | ({"authority": "other:1"} if target is HTTP else {})
    assert _plan(target, GET).hash8() == _plan(target.model_copy(update=changed), GET).hash8()
    assert _plan(target, GET).hash8() != _plan(target.model_copy(update={"tls": True}), GET).hash8()


@pytest.mark.parametrize(
    "request_",
    [
        {**GET, "target": [{"slot": 0}]},
        {**GET, "target": [{"text": "a", "slot": 0, "as": "url"}]},
        {**GET, "target": [{}]},
        {**GET, "target": [{"text": "a", "as": "url"}]},
        {**GET, "target": [{"slot": 0, "as": "xml"}]},
        {**GET, "status": [[200]]},
        {**GET, "kind": "statement"},
        {**SELECT, "texts": ["SELECT 1"]},
        {"kind": "statement", "mode": "prepared"},
        {**SELECT, "mode": "binary"},
        {**GET, "kind": "htpp"},
        {**GET, "kind": "mongodb"},
        {"kind": None},
    ],
)
def test_what_is_no_request_is_refused(request_: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Step.model_validate(_step(request_))


@pytest.mark.parametrize("kind", ["wrie", "mongodb", "", None])
def test_a_target_of_no_known_kind_is_refused(kind: str | None) -> None:
    values = json.loads(_plan(HTTP, GET).canonical_json())
    with pytest.raises(ValidationError):
        Plan.from_json(json.dumps({**values, "target": {"kind": kind, "address": "a:1"}}))
