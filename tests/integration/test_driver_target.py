"""The official driver as a target: the same operations as brimline's own client, counted by the server itself.

Most of it needs a build that has the driver (`make driver`); the others tell how to get one.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from brimline import _native
from brimline.plan import DriverTarget, resolve
from brimline.servers import Deployment
from brimline.spec import load_spec
from tests.support.command_line import CommandLine, Outcome
from tests.support.scripted_server import scripted_server

with_driver = pytest.mark.skipif(not _native.HAS_DRIVER, reason="this build is without the driver (make driver)")
without_driver = pytest.mark.skipif(_native.HAS_DRIVER, reason="this build has the driver")

SPEC = """\
name: both
data: {records: 500, fields: 3, field_length: 30}
operations: {read: 0.3, update: 0.2, insert: 0.2, scan: 0.1, read_modify_write: 0.2}
scan_length: {kind: uniform, min: 1, max: 40}
connections: 4
threads: 2
warmup: 0s
operation_count: 2000
operation_timeout: 1s
connect_timeout: 2s
drain_timeout: 2s
"""


def _spec(directory: Path, text: str = SPEC) -> Path:
    path = directory / "both.yaml"
    path.write_text(text)
    return path


def _summary(brimline_cli: CommandLine) -> dict[str, Any]:
    """What the last run came to."""
    directory = max(each for each in brimline_cli.record_directories(kind="both") if "z-load" not in each.name)
    summary: dict[str, Any] = json.loads((directory / "record.json").read_text())["summary"]
    return summary


@without_driver
def test_a_build_without_the_driver_says_how_to_get_one(brimline_cli: CommandLine, tmp_path: Path) -> None:
    for words in (("--client", "rust"), ()):
        more = "" if words else "target: {client: rust}\n"
        outcome = brimline_cli.run("run", _spec(tmp_path, SPEC + more), *words)
        outcome.check_error(2, "without the driver for Rust", "make driver")
        assert not brimline_cli.runs.exists()


@without_driver
def test_an_engine_without_the_driver_refuses_its_plan_and_can_read_it() -> None:
    plan = resolve(load_spec("ycsb-a").spec, target=DriverTarget(address="127.0.0.1:1", write_concern=None))
    assert json.loads(_native.validate_plan(plan.canonical_json())) == json.loads(plan.canonical_json())
    with pytest.raises(_native.PlanError, match="driver"):
        _native.start(plan.canonical_json())


def test_a_target_that_there_is_not(brimline_cli: CommandLine, tmp_path: Path) -> None:
    brimline_cli.run("run", _spec(tmp_path), "--client", "odbc").check_error(2, "odbc", "--help")
    outcome = brimline_cli.run("run", _spec(tmp_path, SPEC + "target: {client: odbc}\n"))
    outcome.check_error(2, "target.client", "java-sync")


@with_driver
@pytest.mark.mongod
def test_both_targets_do_the_same(brimline_cli: CommandLine, mongod: Deployment, tmp_path: Path) -> None:
    """The same operations, by their hash, and the same counts; that the server agrees is held for every run here."""
    seen = []
    for target in ("wire", "rust"):
        where = ("--uri", f"mongodb://{mongod.address}", "--data", "load", "--drop")
        outcome = brimline_cli.run("run", _spec(tmp_path), "--client", target, *where, "--json")
        assert outcome.exit_code == 0, outcome.stderr
        summary = _summary(brimline_cli)
        assert summary["failed"] == summary["miss"] == summary["unfinished"] == 0
        seen.append({name: summary[name] for name in ("operations_hash", "commands", "operations", "inserts")})
    assert seen[0] == seen[1]


def _against(brimline_cli: CommandLine, tmp_path: Path, fault: dict[str, object]) -> tuple[Outcome, Counter[str]]:
    """A short run against a server with one fault; how its operations failed."""
    mix = "operations: {read: 0.3, update: 0.2, insert: 0.2, scan: 0.1, read_modify_write: 0.2}"
    spec = SPEC.replace(mix, "operations: {read: 0.5, update: 0.5}")
    spec = spec.replace("operation_count: 2000", "operation_count: 200")
    with scripted_server({"faults": [fault]}) as server:
        words = ("--client", "rust", "--uri", server.uri, "--data", "as-is", "--json")
        outcome = brimline_cli.run("run", _spec(tmp_path, spec), *words)
    failures: Counter[str] = Counter()
    for row in _summary(brimline_cli)["errors"]:
        failures[row["outcome"]] += row["count"]
    return outcome, failures


@with_driver
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ({"error": {"code": 11600, "name": "InterruptedAtShutdown"}}, "server_error"),
        ({"error": {"code": 2, "name": "BadValue"}}, "server_error"),
        ("close", "connection_lost"),
    ],
)
def test_what_fails_is_counted_by_its_class(
    kind: object, expected: str, brimline_cli: CommandLine, tmp_path: Path
) -> None:
    _, failures = _against(brimline_cli, tmp_path, {"when": {"first_n": 7}, "kind": kind})
    assert failures[expected] >= 7
    assert failures.total() <= 20, failures


@with_driver
def test_silence_ends_in_time_outs(brimline_cli: CommandLine, tmp_path: Path) -> None:
    _, failures = _against(brimline_cli, tmp_path, {"when": {"first_n": 3}, "kind": "silence"})
    assert failures == {"timeout": 3}


@with_driver
def test_a_server_that_is_not_there(brimline_cli: CommandLine, tmp_path: Path) -> None:
    outcome = brimline_cli.run("run", _spec(tmp_path), "--client", "rust", "--uri", "mongodb://127.0.0.1:1")
    outcome.check_error(5, "no server answers")
