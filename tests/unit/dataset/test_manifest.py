"""The manifest: stored and read back unchanged, and compared in words."""

import json
import subprocess
from dataclasses import replace
from typing import Any

import pytest

from brimline.dataset import Manifest, differences, manifest_for, require_nobody_at_work
from brimline.errors import UsageError
from brimline.plan import Plan
from brimline.servers.owner import Owner, Scope
from brimline.servers.processes import identify


def _plan(**changes: Any) -> Plan:
    values: dict[str, Any] = {
        "version": 1,
        "name": "t",
        "seed": 2**64 - 1,
        "target": {"kind": "null"},
        "namespace": {"database": "ycsb", "collection": "usertable"},
        "data": {
            "record_count": 1000,
            "insert_start": 50,
            "field_count": 10,
            "field_length": {"kind": "uniform", "min": 1, "max": 100},
            "field_name_prefix": "field",
            "key_prefix": "user",
            "insert_order": "hashed",
            "zero_padding": 1,
        },
        "work": {"kind": "load", "batch_size": 100, "ordered": False},
        "pacer": {"kind": "closed"},
        "connections": 1,
        "threads": 1,
        "warmup_ns": 0,
        "duration_ns": None,
        "operation_count": 10,
        "interval_ns": 10**9,
        "drain_timeout_ns": 10**9,
        "operation_timeout_ns": 10**9,
        "connect_timeout_ns": 10**9,
    }
    return Plan.from_json(json.dumps(values | changes))


def test_a_manifest_says_what_the_plan_loads() -> None:
    manifest = manifest_for(_plan())
    assert manifest.collection == "usertable"
    assert manifest.seed == 2**64 - 1
    assert manifest.records == range(50, 1050)
    assert (manifest.state, manifest.count, manifest.loaded_at) == ("loading", None, None)


def test_a_manifest_is_stored_and_read_back() -> None:
    manifest = manifest_for(_plan()).completed(count=1000)
    assert manifest.state == "complete"
    assert manifest.loaded_at is not None
    document = manifest.to_document()
    assert document["_id"] == "usertable"
    assert Manifest.from_document(document) == manifest
    with_indexes = manifest_for(_plan(), own_indexes=[{"a.b": 1, "c": -1}])
    assert Manifest.from_document(with_indexes.to_document()) == with_indexes


def test_changed_data_have_a_format_that_an_older_brimline_does_not_read() -> None:
    changed = replace(manifest_for(_plan()).completed(count=1000), state="changed", copy_uuid="ab")
    document = changed.to_document()
    assert document["format_version"] == 2
    assert Manifest.from_document(document) == changed


@pytest.mark.parametrize(
    "damage", [{"format_version": 3}, {"data": "{"}, {"data": "{}"}, {"data": 5}, {"_id": None, "data": None}]
)
def test_a_damaged_manifest_is_none(damage: dict[str, Any]) -> None:
    assert Manifest.from_document(manifest_for(_plan()).to_document() | damage) is None


def test_the_same_data_is_the_same_whatever_else_the_plan_does() -> None:
    found = manifest_for(_plan()).completed(count=1000)
    wanted = manifest_for(_plan(connections=9, threads=2, name="other"))
    assert differences(found, wanted) == ()


def test_every_part_that_shapes_the_data_is_compared() -> None:
    found = manifest_for(_plan())
    for key in found.data:
        other = replace(
            found, data=found.data | {key: {"kind": "constant", "length": 7} if key == "field_length" else 7}
        )
        (words,) = differences(found, other)
        assert "7 in the plan" in words or "length 7" in words


def test_differences_are_sentences() -> None:
    found = manifest_for(_plan())
    wanted = replace(found, data=found.data | {"seed": 5, "field_length": {"kind": "constant", "length": 9}})
    assert differences(found, wanted) == (
        f"the seed is {2**64 - 1} there and 5 in the plan",
        "the length of a field is uniform (min 1, max 100) there and constant (length 9) in the plan",
    )


def test_what_another_process_is_at_work_on_is_told_while_that_lives() -> None:
    loading = manifest_for(_plan())
    stored = Manifest.from_document(loading.to_document())
    assert stored is not None and stored.at_work is not None
    require_nobody_at_work("ycsb.usertable", stored)  # this very process
    with subprocess.Popen(["sleep", "60"]) as other:
        process = identify(other.pid)
        assert process is not None
        owner = Owner(scope=Scope.current(), process=process)
        theirs = [replace(each, at_work=owner.to_document()) for each in (loading, loading.changed())]
        for each in theirs:
            with pytest.raises(UsageError, match=f"in use: another brimline command, process {other.pid}") as refused:
                require_nobody_at_work("ycsb.usertable", each)
            assert "--drop" not in str(refused.value.hint)
        require_nobody_at_work("ycsb.usertable", theirs[0].completed(count=1000))
        elsewhere = replace(owner, scope=replace(owner.scope, host="another"))
        require_nobody_at_work("ycsb.usertable", replace(loading, at_work=elsewhere.to_document()))
        other.kill()
    require_nobody_at_work("ycsb.usertable", theirs[0])


def test_what_has_ended_names_no_process() -> None:
    done = manifest_for(_plan()).completed(count=1000)
    assert "at_work" not in done.to_document()
    assert "at_work" in done.changed().to_document()
    assert "at_work" not in replace(done.changed(), left_ids="ab").to_document()
