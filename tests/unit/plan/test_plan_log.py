"""How large a log of operations becomes, and what is refused for it."""

from pathlib import Path
from typing import Literal

import pytest

from brimline.errors import UsageError
from brimline.execution.log_room import check_room, check_room_for_log
from brimline.experiments.runner import probe_plan
from brimline.experiments.trial import Probe
from brimline.plan import NullTarget, Plan, WireTarget, resolve
from brimline.plan.log import LOG_ROW_BYTES, log_bytes, operations_at_most
from brimline.spec import load_spec
from tests.support.explained_plan import explain


def plan(**overrides: object) -> Plan:
    asked = {"warmup": "0s", "operation_log": True, **overrides}
    return resolve(load_spec("ycsb-c", overrides=asked).spec, target=NullTarget())


@pytest.mark.parametrize(
    ("overrides", "count"),
    [
        ({"operation_count": 500}, 500),
        ({"load": {"kind": "constant", "rate": "100/s"}, "duration": "5s", "warmup": "1s"}, 600),
        ({"load": {"kind": "constant", "rate": "100/s"}, "duration": "5s", "operation_count": 7}, 7),
        ({"load": {"kind": "tlr", "threads": 8, "loops": 100, "ramp_up": "1s"}}, 800),
        ({"duration": "5s"}, None),
        ({"load": {"kind": "poisson", "rate": "100/s"}, "duration": "5s"}, None),
    ],
)
def test_how_many_operations_there_can_be(overrides: dict[str, object], count: int | None) -> None:
    assert operations_at_most(plan(**overrides)) == count


def test_a_log_that_cannot_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the log of 1 000 000 000 000 operations takes 48.0 TB, and .* are free"):
        check_room_for_log(plan(operation_count=10**12), tmp_path)
    check_room_for_log(plan(operation_count=1000), tmp_path)
    check_room_for_log(plan(operation_count=10**12, operation_log=False), tmp_path)
    check_room_for_log(plan(duration="5s"), tmp_path)


def test_it_is_explained_and_has_a_hash_of_its_own() -> None:
    logged, plain = plan(operation_count=1000), plan(operation_count=1000, operation_log=False)
    assert LOG_ROW_BYTES == 48 and log_bytes(1000) == 48_048
    assert explain(logged)[-1] == "log: every operation that finishes, 48 bytes each, up to 48 kB in all"
    assert not any(line.startswith("log:") for line in explain(plain))
    assert "operation_log" not in plain.canonical_json()
    assert logged.hash8() != plain.hash8()


@pytest.mark.parametrize(("target", "is_logged"), [("null", False), ("server", True)])
def test_the_ceiling_of_a_search_is_measured_without_a_log(target: Literal["null", "server"], is_logged: bool) -> None:
    probe = Probe(
        stage="calibrate",
        label="x",
        target=target,
        connections=4,
        rate_ops_per_s=None,
        warmup_s=0.0,
        duration_s=1.0,
    )
    spec = load_spec("ycsb-c", overrides={"operation_log": True}).spec
    made = probe_plan(probe, spec=spec, target=WireTarget(address="127.0.0.1:1", write_concern=None))
    assert made.operation_log is is_logged


def test_a_hint_about_room_names_what_helps(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as of_log:
        check_room_for_log(plan(operation_count=10**12), tmp_path)
    with pytest.raises(UsageError) as of_backup:
        check_room(10**18, tmp_path, what="the backup")
    assert of_log.value.hint == "free some space, choose another place, or plan fewer operations"
    assert of_backup.value.hint == "free some space, or choose another place"
