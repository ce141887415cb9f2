"""The one table of kinds is whole: every share of a plan, every share of YCSB's, every part."""

from brimline.operations import KINDS, PARTS, ycsb_call
from brimline.plan.model import Proportions
from brimline.record.model import BREAKDOWN_CLOCKS
from brimline.spec.ycsb_properties import PROPORTIONS, READS, WRITES


def test_every_share_of_a_plan_has_a_kind() -> None:
    assert {*Proportions.model_fields, "load"} == set(KINDS)


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
