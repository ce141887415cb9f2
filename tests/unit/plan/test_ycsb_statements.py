"""YCSB's operations on an SQL database: each statement to the letter, its parameters, and what has no counterpart."""

from typing import Any

import pytest

from brimline.errors import UsageError
from brimline.plan import SqlTarget, load_plan, resolve, sql_target
from brimline.plan.columns import Dialect
from brimline.plan.operations import OperationsWork
from brimline.spec import Spec, load_spec, shipped_workloads
from tests.support.explained_plan import explain

YCSB = tuple(f"ycsb-{letter}" for letter in "abcdef")


def spec(**overrides: object) -> Spec:
    given = {name.replace("__", "."): value for name, value in overrides.items()}
    return load_spec("ycsb-a", overrides={**({} if "data" in given else {"data.fields": 2}), **given}).spec


def target(dialect: Dialect) -> SqlTarget:
    return sql_target(kind=dialect, address="h:1", database="ycsb")


def operations(made: Spec, dialect: Dialect) -> dict[str, list[dict[str, Any]]]:
    work = resolve(made, target=target(dialect)).work
    assert isinstance(work, OperationsWork)
    return {each.name: [step.model_dump(mode="json") for step in each.steps] for each in work.operations}


def texts(steps: list[dict[str, Any]]) -> list[Any]:
    return [step["request"].get("text") or step["request"]["texts"] for step in steps]


ALL = {"read": 1, "update": 1, "insert": 1, "scan": 1, "read_modify_write": 1}


@pytest.mark.parametrize(
    ("dialect", "wanted"),
    [
        (
            "mysql",
            {
                "read": ["SELECT * FROM `usertable` WHERE `ycsb_key` = ?"],
                "update": [[f"UPDATE `usertable` SET `field{number}` = ? WHERE `ycsb_key` = ?" for number in range(2)]],
                "insert": ["INSERT INTO `usertable` (`ycsb_key`, `field0`, `field1`) VALUES (?, ?, ?)"],
                "scan": ["SELECT * FROM `usertable` WHERE `ycsb_key` >= ? ORDER BY `ycsb_key` LIMIT ?"],
                "read_modify_write": [
                    "SELECT * FROM `usertable` WHERE `ycsb_key` = ?",
                    [f"UPDATE `usertable` SET `field{number}` = ? WHERE `ycsb_key` = ?" for number in range(2)],
                ],
            },
        ),
        (
            "postgres",
            {
                "read": ['SELECT * FROM "usertable" WHERE "ycsb_key" = $1'],
                "update": [
                    [f'UPDATE "usertable" SET "field{number}" = $1 WHERE "ycsb_key" = $2' for number in range(2)]
                ],
                "insert": ['INSERT INTO "usertable" ("ycsb_key", "field0", "field1") VALUES ($1, $2, $3)'],
                "scan": ['SELECT * FROM "usertable" WHERE "ycsb_key" >= $1 ORDER BY "ycsb_key" LIMIT $2'],
                "read_modify_write": [
                    'SELECT * FROM "usertable" WHERE "ycsb_key" = $1',
                    [f'UPDATE "usertable" SET "field{number}" = $1 WHERE "ycsb_key" = $2' for number in range(2)],
                ],
            },
        ),
    ],
)
def test_statements_are_those_of_the_jdbc_binding(dialect: Dialect, wanted: dict[str, Any]) -> None:
    made = operations(spec(operations=ALL), dialect)
    assert {name: texts(steps) for name, steps in made.items()} == wanted


def test_keys_and_values_follow_the_laws_of_the_workload() -> None:
    made = operations(spec(operations=ALL, scan_length={"kind": "uniform", "min": 1, "max": 100}), "mysql")
    key = made["read"][0]["body"]["items"][0]
    assert key["spec"]["kind"] == "key_of"
    assert key["spec"]["keys"] == {"kind": "zipfian", "theta": 0.99}
    assert (key["spec"]["record_count"], key["spec"]["key_prefix"]) == (100_000, "user")
    which, value, updated = made["update"][0]["body"]["items"]
    assert which["spec"] == {"kind": "int", "min": 0, "max": 1}
    assert (value["spec"]["kind"], value["spec"]["length"]) == ("string", {"kind": "constant", "length": 100})
    assert updated == key
    assert made["insert"][0]["body"]["items"][0] == {"kind": "new_key", "collection": 0}
    assert made["scan"][0]["body"]["items"][1]["spec"] == {"kind": "int", "min": 1, "max": 100}
    read, update = made["read_modify_write"]
    shared = {"kind": "value", "index": 0, "path": []}
    assert (read["body"]["items"], update["body"]["items"][2]) == ([shared], shared), "both are about one record"


def test_latest_keys_follow_the_inserts() -> None:
    made = operations(load_spec("ycsb-d").spec, "postgres")
    assert made["read"][0]["body"]["items"] == [{"kind": "latest_key", "collection": 0, "theta": 0.99}]


@pytest.mark.parametrize("workload", YCSB)
@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_every_workload_of_ycsb_has_the_shares_that_it_has_on_mongodb(workload: str, dialect: Dialect) -> None:
    made = load_spec(workload).spec
    plan = resolve(made, target=target(dialect))
    assert isinstance(plan.work, OperationsWork)
    shares = {name: share for name, share in made.operations.shares.items() if share}
    assert plan.work.shares == pytest.approx({name: share / sum(shares.values()) for name, share in shares.items()})
    assert explain(plan)
    load = load_plan(made, target=target(dialect))
    assert isinstance(load.target, SqlTarget)
    assert load.target.bulk is not None
    assert [each.name for each in load.target.bulk.columns][:2] == ["ycsb_key", "field0"]


def test_variants_of_reads_and_updates() -> None:
    one = operations(spec(operations={"read": 1}, read_all_fields=False), "mysql")["read"][0]
    assert one["request"]["texts"] == [
        "SELECT `ycsb_key`, `field0` FROM `usertable` WHERE `ycsb_key` = ?",
        "SELECT `ycsb_key`, `field1` FROM `usertable` WHERE `ycsb_key` = ?",
    ]
    assert len(one["body"]["items"]) == 2
    (every,) = operations(spec(operations={"update": 1}, write_all_fields=True), "postgres")["update"]
    assert every["request"]["text"] == 'UPDATE "usertable" SET "field0" = $1, "field1" = $2 WHERE "ycsb_key" = $3'
    assert len(every["body"]["items"]) == 3
    upserts = [
        operations(spec(operations={"insert": 1}, upsert=True), kind)["insert"] for kind in ("mysql", "postgres")
    ]  # type: ignore[arg-type]
    assert [texts(each)[0].partition(") ON ")[2] for each in upserts] == [
        "DUPLICATE KEY UPDATE `field0` = VALUES(`field0`), `field1` = VALUES(`field1`)",
        'CONFLICT ("ycsb_key") DO UPDATE SET "field0" = EXCLUDED."field0", "field1" = EXCLUDED."field1"',
    ]


def test_a_transaction_is_its_statements_between_begin_and_commit() -> None:
    made = operations(spec(operations={"transaction": 1}, transaction={"reads": 2, "updates": 1}), "mysql")[
        "transaction"
    ]
    assert [step["command"] for step in made] == ["begin", "select", "select", "update", "commit"]
    assert [step["transaction"] for step in made] == ["begin", "inside", "inside", "inside", "commit"]
    assert [step["name"] for step in made] == ["begin", "read", "read 2", "update", "commit"]


@pytest.mark.parametrize(
    ("length", "wanted"),
    [
        ({"kind": "constant", "length": 7}, {"kind": "bson", "hex": "1007000000"}),
        (
            {"kind": "zipfian", "min": 1, "max": 2},
            {
                "kind": "one_of",
                "values": [
                    [{"kind": "bson", "hex": "1001000000"}, 1.0],
                    [{"kind": "bson", "hex": "1002000000"}, 2**-0.99],
                ],
            },
        ),
    ],
)
def test_lengths_of_scans(length: dict[str, Any], wanted: dict[str, Any]) -> None:
    made = operations(spec(operations={"scan": 1}, scan_length=length), "mysql")["scan"][0]
    assert made["body"]["items"][1] == wanted


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"data": {"records": 5, "fields": {"a": "int"}}}, "have YCSB's fields, and data.fields is a template"),
        ({"data__values": "derived", "verify_reads": True}, "verify_reads has no counterpart on an SQL database"),
        ({"name_read_fields": True}, "name_read_fields has no counterpart"),
        ({"operations": {"insert": 1}, "insert_batch_size": 5}, "insert_batch_size is of MongoDB's inserts alone"),
        ({"operations": {"scan": 1}, "scan_length": {"kind": "zipfian", "min": 1, "max": 20_000}}, "20000 lengths"),
    ],
)
def test_what_has_no_counterpart_is_refused(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        resolve(spec(**overrides), target=target("mysql"))


def test_a_load_replaces_nothing() -> None:
    with pytest.raises(UsageError, match="upsert is of MongoDB's loads alone"):
        load_plan(spec(upsert=True), target=target("mysql"))


@pytest.mark.parametrize("workload", shipped_workloads())
def test_every_shipped_workload_runs_on_a_database_or_says_why_not(workload: str) -> None:
    made = load_spec(workload).spec
    try:
        assert explain(resolve(made, target=target("postgres")))
    except UsageError as error:
        assert error.hint, error.message
