"""The one table of kinds is whole: every share of a plan, every share of YCSB's, every part; and an entry is a kind."""

import json
import subprocess
import sys

from brimline.operations import KINDS, PARTS, kinds_of_a_mix, ycsb_call
from brimline.record.model import BREAKDOWN_CLOCKS
from brimline.spec.ycsb_properties import PROPORTIONS, READS, WRITES


def test_every_kind_but_a_load_has_a_share() -> None:
    assert [kind.name for kind in kinds_of_a_mix()] == [name for name in KINDS if name != "load"]


def test_the_table_says_what_ycsb_says() -> None:
    assert list(PROPORTIONS) == ["read", "update", "insert", "scan", "read_modify_write"]
    assert PROPORTIONS["read_modify_write"] == "readmodifywriteproportion"
    assert (READS, WRITES) == (("read", "scan", "read_modify_write"), ("update", "insert", "read_modify_write"))
    assert [ycsb_call(name) for name in ("read_modify_write", "load", "latest_orders")] == [
        "READ-MODIFY-WRITE",
        "INSERT",
        "LATEST-ORDERS",
    ]


def test_each_part_has_its_times() -> None:
    assert PARTS == ("read", "update", "commit")
    for part in PARTS:
        assert {f"{part}_ok_service", f"{part}_failed_response", f"{part}_miss_response"} <= set(BREAKDOWN_CLOCKS)


WITH_A_NEW_KIND = """
import json
from brimline import operations

operations.KINDS["update_read"] = operations.Kind(
    name="update_read", plural="update-reads", what="updates that are followed by a read of the same document",
    reads=True, writes=True, steps=("update", "read"), ycsb_call="UPDATE-READ", also_called=("writeread",),
)
from brimline import _native
from brimline.errors import SpecError
from brimline.plan import NullTarget, resolve, sql_target
from brimline.spec import load_spec
from brimline.spec.schema import spec_schema

def spec(operations, **more):
    return load_spec("ycsb-a", overrides={"operations": operations, "data.fields": 1, **more}).spec

made = spec({"read": 1, "update_read": 3}, slo={"update_read": {"response_p99": "9ms"}})
plan = resolve(made, target=sql_target(kind="postgres", address="h:1", database="ycsb"))
_native.validate_plan(plan.canonical_json())
_, new = plan.work.operations
try:
    spec({"writeread": 1})
except SpecError as error:
    hint = error.hint
print(json.dumps({
    "proportions": json.loads(resolve(made, target=NullTarget()).canonical_json())["work"]["proportions"],
    "limits": made.slo.by_operation["update_read"].response_limits_ns,
    "steps": [step.request.texts or step.request.text for step in new.steps],
    "keys": [step.body.items[-1].model_dump(mode="json") for step in new.steps],
    "weight": new.weight,
    "words": [spec_schema()["$defs"][name]["properties"]["update_read"]["description"].partition(" (")[0]
              for name in ("OperationsSpec", "SloSpec")],
    "hint": hint,
}))
"""


def test_a_new_kind_is_an_entry_of_the_table() -> None:
    """Its share, its limits, its words and its statements follow from what the entry says."""
    done = subprocess.run([sys.executable, "-c", WITH_A_NEW_KIND], capture_output=True, text=True, check=True)
    shared = {"kind": "value", "index": 0, "path": []}
    assert json.loads(done.stdout) == {
        "proportions": {"read": 1, "update": 0, "insert": 0, "scan": 0, "read_modify_write": 0, "update_read": 3},
        "limits": {"p99": 9_000_000},
        "steps": [
            ['UPDATE "usertable" SET "field0" = $1 WHERE "ycsb_key" = $2'],
            'SELECT * FROM "usertable" WHERE "ycsb_key" = $1',
        ],
        "keys": [shared, shared],
        "weight": 0.75,
        "words": [
            "Share of updates that are followed by a read of the same document.",
            "Limits on update-reads alone.",
        ],
        "hint": 'did you mean "operations.update_read"',
    }
