"""What a workload of each protocol becomes in the plan, to the letter; and where it may not run."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from bson.datetime_ms import DatetimeMS

from brimline.errors import SpecError, UsageError
from brimline.plan import (
    HttpTarget,
    NullTarget,
    Plan,
    SqlTarget,
    WireTarget,
    http_target,
    load_plans,
    resolve,
    sql_target,
)
from brimline.plan.operations import OperationsWork
from brimline.spec import Spec, load_spec
from brimline.spec.own.nodes import element_hex
from tests.support.explained_plan import explain

SHOPS = Path(__file__).parents[2] / "contract"
MONGODB = WireTarget(address="h:1", write_concern=None)
MARIADB, POSTGRESQL = (sql_target(kind=kind, address="h:1", database="shop") for kind in ("mysql", "postgres"))


def shop(protocol: str) -> Spec:
    return load_spec(SHOPS / f"{protocol}_shop.yaml").spec


def service(spec: Spec, base: str = "") -> HttpTarget:
    return http_target(spec, address="10.0.0.1:8080", authority="shop.example:8080", base=base)


def steps_of(plan: Plan) -> list[dict[str, Any]]:
    assert isinstance(plan.work, OperationsWork)
    return [step.model_dump(mode="json") for operation in plan.work.operations for step in operation.steps]


def text(value: str) -> dict[str, Any]:
    return {"text": value}


def slot(number: int, rendering: str) -> dict[str, Any]:
    return {"slot": number, "as": rendering}


def value(index: int) -> dict[str, Any]:
    return {"kind": "value", "index": index, "path": []}


def saved(number: int) -> dict[str, Any]:
    return {"kind": "saved", "slot": number, "path": []}


def test_requests_of_a_service() -> None:
    spec = shop("http")
    plan = resolve(spec, target=service(spec, "/v1"))
    get, post, put, chinese = steps_of(plan)
    headers = [{"name": "accept", "value": [text("application/json")]}]

    assert get["request"] == {
        "kind": "http",
        "method": "GET",
        "target": [text("/v1/orders/"), slot(0, "url"), text("?full=true&tags=a%20b&tags="), slot(1, "url")],
        "headers": [*headers, {"name": "x-client", "value": [slot(2, "text")]}],
        "body": None,
        "status": [[200, 200]],
    }
    assert get["body"] == {"kind": "list", "items": [value(0), value(3), value(1)]}
    assert (get["name"], get["command"], get["access"]) == ("get orders $id", "GET", "read")
    assert get["expect"] == [
        {"what": "field", "path": ["json", "state"], "min": None, "max": None, "equals": "02050000006f70656e00"}
    ]

    assert post["request"]["target"] == [text("/v1/orders?source=load")]
    assert post["request"]["body"] == [
        text('{"customer":'),
        slot(0, "json"),
        text(',"items":[{"sku":'),
        slot(1, "json"),
        text(',"n":2}],"at":'),
        slot(2, "json"),
        text("}"),
    ]
    new_year = {"kind": "bson", "hex": element_hex(DatetimeMS(1_704_067_200_000))}
    assert post["body"]["items"] == [value(2), value(3), new_year, value(1)]
    assert post["request"]["headers"][0] == {"name": "content-type", "value": [text("application/json")]}
    assert post["request"]["status"] == [[201, 201], [409, 409]]
    assert [(each["path"], each.get("pattern"), each["default"]) for each in post["save"]] == [
        (["json", "id"], None, None),
        (["headers", "etag"], None, None),
        (["text"], 'name="t" value="(.*?)"', "02050000006e6f6e6500"),
    ]
    assert [{key: each[key] for key in ("contains", "matches") if key in each} for each in post["expect"]] == [
        {"contains": "json"},
        {"matches": "id"},
    ]

    assert (put["name"], put["command"], put["access"]) == ("pay", "PUT", "write")
    assert put["think_time"] == {"mean_ns": 5_000_000, "law": "constant"}
    assert put["body"]["items"] == [saved(0), value(2), value(1), saved(1), saved(2)]
    assert put["request"]["body"] == [text("state=paid&by="), slot(1, "form")]
    assert {each["name"]: each["value"] for each in put["request"]["headers"]} == {
        "content-type": [text("application/x-www-form-urlencoded")],
        "accept": [text("application/json")],
        "x-client": [slot(2, "text")],
        "if-match": [slot(3, "text")],
        "cookie": [text("t="), slot(4, "cookie")],
    }
    assert chinese["request"]["target"] == [
        text("/v1/%E5%AE%A2%E6%88%B7/"),
        slot(0, "url"),
        text(".json"),
    ]
    assert chinese["request"]["status"] == [[200, 399]]
    assert [(each["path"], each["value"]) for each in chinese["expect"]] == [
        (["json", "id"], saved(0)),
        (["json", "seen"], value(2)),
    ]


def test_the_target_says_how_a_service_is_spoken_to_and_holds_no_secret() -> None:
    spec = shop("http")
    target = service(spec)
    assert (target.follow_redirects, target.keep_alive, target.cookies, target.connect) == (2, True, True, "before")
    plan = resolve(spec, target=target)
    assert "SHOP_KEY" not in plan.canonical_json()
    assert plan.work.kind == "operations"
    assert load_plans(spec, target=target) == ()
    assert "operation: create, 10 %: post orders, a pause of 5.00 ms, pay, get 客户 ${customer}.json" in explain(plan)


def test_a_header_is_compared_as_text(tmp_path: Path) -> None:
    file = tmp_path / "w.yaml"
    expect = {"headers": {"Content-Length": 5, "x-ok": True, "etag": {"matches": "^a"}}}
    values = {"protocol": "http", "operations": {"it": {"get": "/", "expect": expect}}}
    file.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
    spec = load_spec(file).spec
    (step,) = steps_of(resolve(spec, target=service(spec)))
    assert [(each["path"][1], each["equals"], each.get("matches")) for each in step["expect"]] == [
        ("content-length", element_hex("5"), None),
        ("x-ok", element_hex("true"), None),
        ("etag", None, "^a"),
    ]


def test_a_value_in_place_that_a_reply_must_have_is_one_of_the_engine(tmp_path: Path) -> None:
    file = tmp_path / "w.yaml"
    step = {"get": "/", "expect": {"json": {"a": {"$value": {"kind": "int", "max": 5}}}}}
    file.write_text(yaml.safe_dump({"protocol": "http", "operations": {"it": step}}), encoding="utf-8")
    spec = load_spec(file).spec
    (made,) = steps_of(resolve(spec, target=service(spec)))
    assert made["expect"][0]["value"] == {"kind": "generator", "spec": {"kind": "int", "min": 0, "max": 5}}


def test_a_path_that_is_a_value_as_a_whole_has_the_base_path_already(tmp_path: Path) -> None:
    steps = [{"post": "/a", "save": {"next": "headers.location"}}, {"get": "$next"}, {"get": "/$next"}]
    file = tmp_path / "w.yaml"
    file.write_text(yaml.safe_dump({"protocol": "http", "operations": {"it": {"steps": steps}}}), encoding="utf-8")
    spec = load_spec(file).spec
    made = [step["request"]["target"] for step in steps_of(resolve(spec, target=service(spec, "/v1")))]
    assert made == [[text("/v1/a")], [slot(0, "text")], [text("/v1/"), slot(0, "url")]]


@pytest.mark.parametrize(
    ("target", "mark", "begin", "update"),
    [
        (MARIADB, ("?", "?", "?"), "START TRANSACTION", "UPDATE stock SET n = n - 1 WHERE sku = ?"),
        (POSTGRESQL, ("$1", "$2", "$3"), "BEGIN", "UPDATE stock SET n = n - 1 WHERE sku = $1::text"),
    ],
)
def test_statements_of_a_database(target: SqlTarget, mark: tuple[str, ...], begin: str, update: str) -> None:
    steps = steps_of(resolve(shop("sql"), target=target))
    assert [step["request"] for step in steps] == [
        {
            "kind": "statement",
            "text": f"SELECT * FROM orders WHERE customer = {mark[0]} AND note <> 'costs $5' "
            "ORDER BY created DESC LIMIT 20",
            "mode": "prepared",
        },
        {"kind": "statement", "text": begin, "mode": "text"},
        {
            "kind": "statement",
            "text": f"INSERT INTO orders (id, customer, created) VALUES ({', '.join(mark)})",
            "mode": "prepared",
        },
        {"kind": "statement", "text": "INSERT INTO items (orders_id, position, sku) VALUES", "mode": "rows"},
        {"kind": "statement", "text": update, "mode": "prepared"},
        {"kind": "statement", "text": "COMMIT", "mode": "text"},
    ]
    assert [step["transaction"] for step in steps] == [None, "begin", "inside", "inside", "inside", "commit"]
    assert [step["command"] for step in steps] == ["select", "begin", "insert", "insert", "update", "commit"]
    assert [step["access"] for step in steps] == ["read", "command", "write", "write", "write", "write"]
    assert [step["statements"] for step in steps] == [1, 1, 1, 3, 1, 1]
    assert [step["name"] for step in steps] == [
        "select orders",
        "begin",
        "insert orders",
        "insert items",
        "update stock",
        "commit",
    ]
    latest, _, insert, rows, *_ = steps
    assert latest["expect"] == [
        {"what": "documents", "path": [], "min": 1, "max": None, "equals": None},
        {
            "what": "field",
            "path": ["rows", "0", "customer"],
            "min": None,
            "max": None,
            "equals": None,
            "value": value(1),
        },
        {
            "what": "field",
            "path": ["rows", "0", "note"],
            "min": None,
            "max": None,
            "equals": None,
            "contains": "a",
        },
    ]
    assert latest["save"] == [{"slot": 0, "path": ["total"], "from": "document", "default": None}]
    assert insert["expect"][0] == {"what": "n", "path": [], "min": 1, "max": 1, "equals": None}
    one = {"kind": "bson", "hex": "1001000000"}
    assert rows["body"]["items"] == [
        {"kind": "repeated", "count": 3, "of": {"kind": "list", "items": [value(0), one, value(2)]}}
    ]


def test_a_load_has_the_table_of_its_collection() -> None:
    (load,) = load_plans(shop("sql"), target=POSTGRESQL)
    assert isinstance(load.target, SqlTarget)
    assert load.target.bulk is not None
    assert (load.target.bulk.table, load.target.bulk.form) == ("orders", "copy")
    assert [column.name for column in load.target.bulk.columns] == ["id", "customer", "created", "total"]
    assert load.work.kind == "load"


BOTH = {
    "database": "shop",
    "collections": {"orders": {"records": 5}},
    "values": {"id": {"key_of": "orders"}},
    "operations": {
        "look": {
            "mongodb": {"find": {"collection": "orders", "filter": {"_id": "$id"}}, "expect": {"documents": 1}},
            "sql": "SELECT * FROM orders WHERE id = $id",
        },
        "change": {
            "mongodb": {"steps": [{"update": {"collection": "orders", "filter": {}, "update": {"$set": {"a": 1}}}}]},
            "sql": {"steps": [{"transaction": [{"sql": "UPDATE orders SET a = 1"}]}]},
        },
        "many": {
            "mongodb": {"count": {"collection": "orders"}},
            "sql": {"mysql": "SELECT COUNT(*) FROM orders", "postgres": "SELECT count(*) FROM orders"},
        },
        "some": {"mongodb": {"count": {"collection": "orders"}}, "sql": {"sql": "SELECT 1", "expect": {"rows": 1}}},
    },
}


def both(tmp_path: Path, **changed: Any) -> Spec:
    file = tmp_path / "w.yaml"
    file.write_text(yaml.safe_dump({**BOTH, **changed}, sort_keys=False), encoding="utf-8")
    return load_spec(file).spec


def test_an_operation_has_the_form_of_its_target(tmp_path: Path) -> None:
    spec = both(tmp_path)
    assert spec.protocols == ("mongodb", "sql")
    commands = {
        target.kind: [step["command"] for step in steps_of(resolve(spec, target=target))]
        for target in (MONGODB, MARIADB, POSTGRESQL)
    }
    assert commands == {
        "wire": ["find", "update", "count", "count"],
        "mysql": ["select", "begin", "update", "commit", "select", "select"],
        "postgres": ["select", "begin", "update", "commit", "select", "select"],
    }
    assert steps_of(resolve(spec, target=POSTGRESQL))[4]["request"]["text"] == "SELECT count(*) FROM orders"
    assert Spec.model_validate(spec.to_document(), context={"rows_in": tmp_path}).protocols == spec.protocols


def test_a_form_that_lacks_is_named(tmp_path: Path) -> None:
    operations = {**BOTH["operations"], "report": {"count": {"collection": "orders"}}}  # type: ignore[dict-item]
    spec = both(tmp_path, operations=operations)
    assert spec.protocols == ("mongodb",)
    with pytest.raises(
        UsageError, match="the operation report has no form for it: postgresql:// is the address"
    ) as told:
        spec.require_protocol("postgresql://u:secret@h/shop")
    assert told.value.hint == "write report: {mongodb: …, sql: …}"
    with pytest.raises(UsageError, match="runs on mongodb, and not on sql"):
        resolve(spec, target=MARIADB)
    statement = {"look": {"share": 1, "sql": {"mysql": "SELECT 1"}}}
    with pytest.raises(UsageError, match="the step select of look has a statement for mysql alone"):
        resolve(both(tmp_path, operations=statement), target=POSTGRESQL)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"a": {"count": {"collection": "orders"}}, "b": {"sql": "SELECT 1"}}, "operations.b: has no form for mongodb"),
        ({"a": {"mongodb": {"count": {"collection": "order"}}, "sql": "SELECT 1"}}, "a.mongodb.count.collection: "),
        (
            {"a": {"mongodb": {"count": {"collection": "orders"}}, "sql": "SELECT $x"}},
            'operations.a.sql: "$x" is no value',
        ),
        ({"a": {"mongodb": {"cuont": {}}, "sql": "SELECT 1"}}, 'a.mongodb.cuont: "cuont" is no kind of step'),
        (
            {"a": {"mongodb": {"count": {"collection": "orders"}}, "sqll": "SELECT 1"}},
            "a.sqll: has no place beside forms",
        ),
        ({"a": {"mongodb": {"count": {"collection": "orders"}}, "steps": []}}, "a.steps: has no place beside forms"),
        ({"a": {"mongodb": "orders", "sql": "SELECT 1"}}, 'a.mongodb: must be a step, not "orders"'),
        ({"a": {"mongodb": {}, "sql": "SELECT 1"}}, "a.mongodb.steps: is missing"),
    ],
)
def test_slips_in_forms(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as told:
        both(tmp_path, operations=changed)
    assert message in told.value.message


@pytest.mark.parametrize(
    ("workload", "uri", "message"),
    [
        (
            "http_shop.yaml",
            "mongodb://h",
            "the workload has protocol: http, and mongodb:// is the address of a MongoDB server",
        ),
        (
            "http_shop.yaml",
            "mariadb://h/d",
            "the workload has protocol: http, and mariadb:// is the address of an SQL database",
        ),
        ("sql_shop.yaml", "https://h", "the workload has protocol: sql, and https:// is the address of a service"),
        ("sql_shop.yaml", "mongodb+srv://h", "the workload has protocol: sql, and mongodb[+]srv:// is the address of"),
        ("own_shop.yaml", "http://h", "has no form for it: http:// is the address of a service"),
        ("own_shop.yaml", "postgres://h/d", "has no form for it: postgres:// is the address of an SQL database"),
        ("ycsb-a", "http://h", "operations by key are of a database, and http:// is the address of a service"),
        ("s2-scans", "mysql://h/d", "scans are MongoDB's queries, and mysql:// is the address of an SQL database"),
    ],
)
def test_a_workload_on_another_kind_of_target_is_one_error(workload: str, uri: str, message: str) -> None:
    where = SHOPS / workload if workload.endswith(".yaml") else workload
    with pytest.raises(UsageError, match=message) as told:
        load_spec(where).spec.require_protocol(uri)
    assert "***" not in (told.value.hint or ""), "a hint has no user, which would be masked"
    with pytest.raises(SpecError, match=f"target.uri.*{message}"):
        load_spec(where, overrides={"target.uri": uri})


@pytest.mark.parametrize("uri", ["mysql://h/d", "mariadb://h/d", "postgres://h/d", "postgresql://h/d", "mongodb://h"])
def test_operations_by_key_run_on_every_database(uri: str) -> None:
    spec = load_spec("ycsb-a", overrides={"target.uri": uri}).spec
    spec.require_protocol(uri)
    assert spec.target.effective_write_concern is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"protocol": "http", "operations": {"read": 1}}, "operations: are by key, which a service has nothing of"),
        ({"protocol": "htttp", "operations": {"it": {"get": "/"}}}, 'protocol: "htttp" is no known value'),
        ({"http": {}, "data": {"records": 5}, "operations": {"read": 1}}, "http: is about a service"),
        (
            {"protocol": "http", "isolation": "serializable", "operations": {"it": {"get": {"path": "/"}}}},
            "isolation: is about an SQL database",
        ),
        ({"isolation": "strict", "data": {"records": 5}, "operations": {"read": 1}}, "isolation: "),
        (
            {
                "isolation": "serializable",
                "target": {"uri": "mongodb://h:1/"},
                "data": {"records": 5},
                "operations": {"read": 1},
            },
            "isolation: is about an SQL database",
        ),
        ({"protocol": "sql", "http": {}, "operations": {"it": {"sql": "SELECT 1"}}}, "http: is about a service"),
        ({"operations": {"it": {"get": "/"}}}, "protocol: is missing"),
        ({"operations": {"it": {"steps": [{"sql": "SELECT 1"}]}}}, "protocol: is missing"),
        (
            {"collections": {"a": {"records": 5}}, "operations": {"it": {"get": "/"}}},
            "it.get: is a request of HTTP, and",
        ),
        ({"protocol": "mongodb", "operations": {"it": {"find": {}}}}, "collections: is missing"),
        (
            {
                "protocol": "http",
                "collections": {"a": {"records": 5}},
                "tables": {},
                "operations": {"it": {"get": "/"}},
            },
            "tables: is about an SQL database",
        ),
        (
            {
                "protocol": "sql",
                "target": {"uri": "mysql://h/d", "write_concern": 1},
                "operations": {"it": {"sql": "SELECT 1"}},
            },
            "write_concern is MongoDB's, and uri names an SQL database",
        ),
    ],
)
def test_what_does_not_belong_to_a_protocol(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    file = tmp_path / "w.yaml"
    file.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
    with pytest.raises(SpecError) as told:
        load_spec(file)
    assert message in told.value.message


def test_statements_and_requests_need_no_collections(tmp_path: Path) -> None:
    for protocol, step in (("http", {"get": "/$n"}), ("sql", {"sql": "SELECT $n"})):
        file = tmp_path / f"{protocol}.yaml"
        values = {"protocol": protocol, "values": {"n": {"kind": "int"}}, "operations": {"it": step}}
        file.write_text(yaml.safe_dump(values), encoding="utf-8")
        spec = load_spec(file).spec
        target = service(spec) if protocol == "http" else MARIADB
        assert steps_of(resolve(spec, target=target))[0]["body"]["items"] == [value(0)]
        assert resolve(spec, target=NullTarget()).target.kind == "null"
        again = tmp_path / "again.yaml"
        again.write_text(yaml.safe_dump(spec.to_document()), encoding="utf-8")
        assert steps_of(resolve(load_spec(again).spec, target=target)) == steps_of(resolve(spec, target=target))


def test_secrets_come_from_the_environment() -> None:
    said = shop("http").http
    assert said is not None
    assert said.secret_headers({"SHOP_KEY": "k", "SHOP_TOKEN": "t"}) == [("x-key", "k"), ("authorization", "Bearer t")]
    for environ in ({}, {"SHOP_KEY": "k"}, {"SHOP_KEY": "", "SHOP_TOKEN": "t"}):
        with pytest.raises(UsageError, match="takes a secret from the environment, and SHOP_"):
            said.secret_headers(environ)
    with pytest.raises(UsageError, match="SHOP_TOKEN of the environment has a line end in it"):
        said.secret_headers({"SHOP_KEY": "k", "SHOP_TOKEN": "a\nb: c"})


def test_a_user_of_the_address_is_basic_authentication_unless_the_workload_says_another(tmp_path: Path) -> None:
    values: dict[str, Any] = {"protocol": "http", "operations": {"it": {"get": "/"}}, "http": {}}
    file = tmp_path / "w.yaml"
    found = []
    for http in (
        {},
        {"basic": {"username": "u", "password": {"env": "P"}}},
        {"headers": {"Authorization": {"env": "P"}}},
    ):
        file.write_text(yaml.safe_dump({**values, "http": http}), encoding="utf-8")
        said = load_spec(file).spec.http
        assert said is not None
        found.append(said.secret_headers({"P": "pw"}, login=("a", "b")))
    assert found == [
        [("authorization", "Basic YTpi")],
        [("authorization", "Basic dTpwdw==")],
        [("authorization", "pw")],
    ]
