"""Each kind of step becomes the command that MongoDB documents, with values in their places."""

from pathlib import Path
from typing import Any

import bson
import pytest

from brimline.errors import SpecError
from brimline.plan import NullTarget, Plan, resolve
from brimline.spec import load_spec
from brimline.spec.own import options
from brimline.spec.own.kinds import KINDS
from brimline.spec.own.options import Option
from brimline.spec.own.step_kind import StepKind

HEAD = """
collections:
  orders: {records: 1k, fields: {total: {kind: double}}}
  stock: {records: 10, key_prefix: s}
  legacy: existing
values:
  n: {kind: int, min: 1, max: 9}
  customer: {key_of: stock}
"""


def plan_of(tmp_path: Path, operations: str, head: str = HEAD) -> Plan:
    file = tmp_path / "own.yaml"
    file.write_text(f"{head}operations:\n{operations}", encoding="utf-8")
    return resolve(load_spec(file).spec, target=NullTarget())


def steps_of(tmp_path: Path, step: str) -> list[dict[str, Any]]:
    """The steps of an operation of one step, as plain values, each body as `shown` shows it."""
    work = plan_of(tmp_path, f"  it: {step}").model_dump()["work"]
    return [{**each, "body": shown(each["body"])} for each in work["operations"][0]["steps"]]


def shown(expression: dict[str, Any]) -> Any:
    """An expression as the value that it makes: constants as they are, all else as "<kind …>"."""
    match expression["kind"]:
        case "bson":
            data = bytes.fromhex(expression["hex"])
            element = data[:1] + b"\0" + data[1:] + b"\0"
            return bson.decode((len(element) + 4).to_bytes(4, "little") + element)[""]
        case "document":
            return {each["name"]: shown(each["value"]) for each in expression["fields"]}
        case "list":
            return [shown(each) for each in expression["items"]]
        case "value":
            return f"<value {expression['index']}>"
        case kind:
            return f"<{kind}>"


COMMANDS = [
    (
        "{find: {collection: orders, filter: {total: {$gt: $n}}, sort: {total: -1}, limit: 20, projection: {_id: 0}}}",
        {
            "find": "orders",
            "filter": {"total": {"$gt": "<value 0>"}},
            "projection": {"_id": 0},
            "sort": {"total": -1},
            "limit": 20,
        },
    ),
    (
        "{aggregate: {collection: orders, pipeline: [{$group: {_id: $$customer, n: {$sum: 1}}}], batch_size: 5}}",
        {
            "aggregate": "orders",
            "pipeline": [{"$group": {"_id": "$customer", "n": {"$sum": 1}}}],
            "cursor": {"batchSize": 5},
        },
    ),
    (
        "{aggregate: {collection: orders, pipeline: [{$limit: $n}]}}",
        {"aggregate": "orders", "pipeline": [{"$limit": "<value 0>"}], "cursor": {}},
    ),
    (
        "{count: {collection: orders, filter: {a: 1}, hint: a_1}}",
        {"count": "orders", "query": {"a": 1}, "hint": "a_1"},
    ),
    (
        "{distinct: {collection: orders, field: city, filter: {a: 1}, read_concern: majority}}",
        {"distinct": "orders", "key": "city", "query": {"a": 1}, "readConcern": {"level": "majority"}},
    ),
    (
        "{insert: {collection: orders, document: {a: $n}, ordered: false, write_concern: majority}}",
        {
            "insert": "orders",
            "documents": [{"_id": "<object_id>", "a": "<value 0>"}],
            "ordered": False,
            "writeConcern": {"w": "majority"},
        },
    ),
    (
        "{insert: {collection: orders, documents: [{_id: 1}, {a: null}]}}",
        {"insert": "orders", "documents": [{"_id": 1}, {"_id": "<object_id>", "a": None}]},
    ),
    ("{insert: {collection: orders, document: {a: $n}, count: 10}}", {"insert": "orders", "documents": "<repeated>"}),
    (
        "{update: {collection: orders, filter: {_id: $customer}, update: {$inc: {a: $n}}, many: true, upsert: true, "
        "array_filters: [{x: 1}]}}",
        {
            "update": "orders",
            "updates": [
                {
                    "q": {"_id": "<value 1>"},
                    "u": {"$inc": {"a": "<value 0>"}},
                    "multi": True,
                    "upsert": True,
                    "arrayFilters": [{"x": 1}],
                }
            ],
        },
    ),
    (
        "{update: {collection: orders, filter: {}, update: [{$set: {a: $$b}}]}}",
        {"update": "orders", "updates": [{"q": {}, "u": [{"$set": {"a": "$b"}}]}]},
    ),
    (
        "{replace: {collection: orders, filter: {_id: 1}, replacement: {a: $n}}}",
        {"update": "orders", "updates": [{"q": {"_id": 1}, "u": {"a": "<value 0>"}}]},
    ),
    (
        "{delete: {collection: orders, filter: {_id: 1}}}",
        {"delete": "orders", "deletes": [{"q": {"_id": 1}, "limit": 1}]},
    ),
    (
        "{delete: {collection: orders, filter: {a: 1}, many: true}}",
        {"delete": "orders", "deletes": [{"q": {"a": 1}, "limit": 0}]},
    ),
    (
        "{find_and_modify: {collection: orders, filter: {a: 1}, sort: {b: 1}, update: {$set: {a: 2}}, new: true, "
        "projection: {a: 1}, max_time: 2s}}",
        {
            "findAndModify": "orders",
            "query": {"a": 1},
            "sort": {"b": 1},
            "update": {"$set": {"a": 2}},
            "new": True,
            "fields": {"a": 1},
            "maxTimeMS": 2000,
        },
    ),
    (
        "{find_and_modify: {collection: orders, filter: {a: 1}, remove: true}}",
        {"findAndModify": "orders", "query": {"a": 1}, "remove": True},
    ),
    ("{command: {dbStats: 1, scale: $n}, database: other}", {"dbStats": 1, "scale": "<value 0>"}),
]


@pytest.mark.parametrize(("step", "command"), COMMANDS)
def test_a_step_is_its_command(tmp_path: Path, step: str, command: dict[str, Any]) -> None:
    (made,) = steps_of(tmp_path, step)
    assert made["body"] == command
    assert list(made["body"]) == list(command), "the command's name has to be first"
    assert made["command"] == next(iter(command))


@pytest.mark.parametrize(
    ("step", "access", "counter", "cursor", "statements"),
    [
        ("{find: {collection: orders}}", "read", "query", True, 1),
        ("{aggregate: {collection: orders, pipeline: []}}", "read", "command", True, 1),
        ("{aggregate: {collection: orders, pipeline: [{$out: other}]}}", "write", "command", True, 1),
        ("{count: {collection: orders}}", "read", "command", False, 1),
        ("{distinct: {collection: orders, field: a}}", "read", "command", False, 1),
        ("{insert: {collection: orders, documents: [{}, {}, {}]}}", "write", "insert", False, 3),
        ("{insert: {collection: orders, document: {}, count: 7}}", "write", "insert", False, 7),
        ("{update: {collection: orders, filter: {}, update: {$set: {a: 1}}}}", "write", "update", False, 1),
        ("{replace: {collection: orders, filter: {}, replacement: {}}}", "write", "update", False, 1),
        ("{delete: {collection: orders, filter: {}}}", "write", "delete", False, 1),
        ("{find_and_modify: {collection: orders, filter: {}, remove: true}}", "write", "command", False, 1),
        ("{command: {ping: 1}}", "command", "command", False, 1),
        ("{command: {find: orders}}", "read", "query", True, 1),
        ("{command: {listIndexes: orders}, access: read}", "read", "command", True, 1),
    ],
)
def test_what_a_step_reads_and_writes(
    tmp_path: Path, step: str, access: str, counter: str, cursor: bool, statements: int
) -> None:
    (made,) = steps_of(tmp_path, step)
    assert (made["access"], made["counter"], made["cursor"], made["statements"]) == (
        access,
        counter,
        cursor,
        statements,
    )


@pytest.mark.parametrize(
    ("step", "retryable"),
    [
        ("{find: {collection: orders}}", False),
        ("{insert: {collection: orders, documents: [{}, {}]}}", True),
        ("{update: {collection: orders, filter: {}, update: {$set: {a: 1}}}}", True),
        ("{update: {collection: orders, filter: {}, update: {$set: {a: 1}}, many: true}}", False),
        ("{replace: {collection: orders, filter: {}, replacement: {}}}", True),
        ("{delete: {collection: orders, filter: {}}}", True),
        ("{delete: {collection: orders, filter: {}, many: true}}", False),
        ("{find_and_modify: {collection: orders, filter: {}, remove: true}}", True),
        ("{aggregate: {collection: orders, pipeline: [{$out: o}]}}", False),
        ("{command: {insert: orders, documents: [{}]}}", False),
        (
            "{bulk_write: {collection: stock, requests: "
            "[{delete: {filter: {}}}, {delete: {filter: {a: 1}, many: true}}]}}",
            False,
        ),
        ("{bulk_write: {collection: stock, requests: [{delete: {filter: {}}}, {delete: {filter: {a: 1}}}]}}", True),
    ],
)
def test_what_a_server_knows_again_when_it_is_sent_once_more(tmp_path: Path, step: str, retryable: bool) -> None:
    (made,) = steps_of(tmp_path, step)
    assert made["retryable"] is retryable


def test_a_bulk_write_is_a_command_for_each_row_of_equal_kinds(tmp_path: Path) -> None:
    made = steps_of(
        tmp_path,
        """
    bulk_write:
      collection: orders
      ordered: false
      requests:
        - insert: {document: {_id: 1}}
        - insert: {documents: [{_id: 2}, {_id: 3}]}
        - update: {filter: {_id: 1}, update: {$set: {a: 1}}}
        - replace: {filter: {_id: 2}, replacement: {b: 1}}
        - delete: {filter: {_id: 3}}
        - insert: {document: {_id: 3}}
""",
    )
    assert [each["name"] for each in made] == [f"bulk_write orders {number}" for number in (1, 2, 3, 4)]
    assert [each["statements"] for each in made] == [3, 2, 1, 1]
    assert made[0]["body"] == {"insert": "orders", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}], "ordered": False}
    assert made[1]["body"]["updates"] == [{"q": {"_id": 1}, "u": {"$set": {"a": 1}}}, {"q": {"_id": 2}, "u": {"b": 1}}]
    assert made[2]["body"] == {"delete": "orders", "deletes": [{"q": {"_id": 3}, "limit": 1}], "ordered": False}


def test_a_transaction_is_its_steps_and_a_commit(tmp_path: Path) -> None:
    made = steps_of(
        tmp_path,
        """
    transaction:
      steps:
        - find: {collection: orders}
        - think_time: 5ms
        - delete: {collection: stock, filter: {_id: 1}}
      read_concern: snapshot
      write_concern: {w: majority, j: true}
""",
    )
    assert [(each["name"], each["transaction"]) for each in made] == [
        ("find orders", "begin"),
        ("delete stock", "inside"),
        ("commit", "commit"),
    ]
    assert made[0]["body"] == {"find": "orders", "readConcern": {"level": "snapshot"}}
    assert made[1]["think_time"] == {"mean_ns": 5_000_000, "law": "constant"}
    assert made[2]["body"] == {"commitTransaction": 1, "writeConcern": {"w": "majority", "j": True}}
    assert made[2]["database"] == "admin"


def test_a_stage_of_a_newer_server_is_left_to_it(tmp_path: Path) -> None:
    (made,) = steps_of(tmp_path, "{aggregate: {collection: orders, pipeline: [{$scoreFusion: {}}, {$rankings: {}}]}}")
    assert made["body"]["pipeline"] == [{"$scoreFusion": {}}, {"$rankings": {}}]


def test_names_of_steps_are_their_own(tmp_path: Path) -> None:
    made = steps_of(
        tmp_path,
        """
    steps:
      - find: {collection: orders}
      - find: {collection: orders}
      - name: the last
        find: {collection: orders}
""",
    )
    assert [each["name"] for each in made] == ["find orders", "find orders 2", "the last"]


def test_what_is_expected_and_saved(tmp_path: Path) -> None:
    made = steps_of(
        tmp_path,
        """
    steps:
      - find: {collection: orders}
        expect: {documents: {min: 1}, fields: {a.b: open}}
        save: {city: total.city, left: {path: left, default: 0}}
      - find_and_modify: {collection: stock, filter: {_id: $city}, update: {$inc: {left: $left}}}
        save: {before: left}
      - count: {collection: orders}
        save: {n: n}
        expect: {counted: {max: 5}}
      - update: {collection: orders, filter: {}, update: {$set: {a: $before}}}
        expect: {matched: 1, modified: {min: 0}}
""".replace("{n: n}", "{total: n}"),
    )
    nothing = {"min": None, "max": None, "equals": None}
    assert made[0]["expect"] == (
        {**nothing, "what": "documents", "path": (), "min": 1},
        {
            **nothing,
            "what": "field",
            "path": ("cursor", "firstBatch", "0", "a", "b"),
            "equals": "02050000006f70656e00",
        },
    )
    assert made[0]["save"] == (
        {"slot": 0, "path": ("total", "city"), "from": "document", "default": None},
        {"slot": 1, "path": ("left",), "from": "document", "default": "1000000000"},
    )
    assert made[1]["save"] == ({"slot": 2, "path": ("value", "left"), "from": "reply", "default": None},)
    assert made[2]["save"] == ({"slot": 3, "path": ("n",), "from": "reply", "default": None},)
    assert made[2]["expect"] == ({**nothing, "what": "n", "path": (), "max": 5},)
    assert [each["what"] for each in made[3]["expect"]] == ["n", "modified"]


def test_shares_and_loads(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        """
  a: {share: 3, find: {collection: orders}}
  b: {share: 1, find: {collection: stock}}
  c: {load: {kind: constant, rate: 300/s}, find: {collection: stock}}
  d: {load: closed, connections: 2, find: {collection: stock}}
""",
    )
    work = plan.model_dump()["work"]
    assert [each["weight"] for each in work["operations"]] == [0.75, 0.25, 0.0, 0.0]
    assert [(each["operations"], each["connections"]) for each in work["loads"]] == [((2,), 32), ((3,), 2)]
    assert plan.connections == 32


def test_a_share_of_0_is_not_sent(tmp_path: Path) -> None:
    work = plan_of(
        tmp_path,
        """
  a: {share: 0, find: {collection: orders}}
  b: {share: 1, find: {collection: stock}}
  c: {load: closed, find: {collection: stock}}
""",
    ).model_dump()["work"]
    assert [(each["name"], each["weight"]) for each in work["operations"]] == [("b", 1.0), ("c", 0.0)]
    assert [each["operations"] for each in work["loads"]] == [(1,)]


def test_where_each_has_a_load_that_of_the_first_is_the_plan_s(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        """
  a: {load: {kind: constant, rate: 7/s}, find: {collection: orders}}
  b: {load: closed, find: {collection: stock}}
""",
    )
    work = plan.model_dump()["work"]
    assert [each["weight"] for each in work["operations"]] == [1.0, 0.0]
    assert [each["operations"] for each in work["loads"]] == [(1,)]
    assert (plan.pacer.kind, plan.connections) == ("constant", 7)


def test_a_new_kind_is_an_entry_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its command, its messages and its place in a transaction follow from what the entry says."""
    full = Option("full", "full", options.a_flag, "Whether all is looked at.")
    kind = StepKind(
        "validate", "Looks for damage.", command="validate", access="read", counter="command", options=(full,)
    )
    monkeypatch.setitem(KINDS, "validate", kind)
    (made,) = steps_of(tmp_path, "{validate: {collection: orders, full: true, max_time: 1s}}")
    assert made["body"] == {"validate": "orders", "full": True, "maxTimeMS": 1000}
    assert (made["name"], made["access"], made["counter"]) == ("validate orders", "read", "command")
    for step, hint in (
        ("{validat: {collection: orders}}", 'did you mean "validate"'),
        ("{validate: {collection: orders, ful: true}}", 'did you mean "full"'),
    ):
        with pytest.raises(SpecError) as raised:
            steps_of(tmp_path, step)
        assert raised.value.hint == hint


def test_a_list_may_have_a_thousand_values(tmp_path: Path) -> None:
    steps = steps_of(
        tmp_path, "{insert: {collection: orders, document: {a: {$value: {repeat: {of: 1, count: 1000}}}}}}"
    )
    assert len(steps) == 1
