"""Transactions on a real replica set: the server committed, by its own count, what it told brimline."""

import json
from pathlib import Path
from typing import Any

import pytest

from brimline.servers import Deployment, control_client
from tests.support.command_line import CommandLine
from tests.support.replica_set import Member

pytestmark = pytest.mark.mongod

OPERATIONS = 600
SPEC = f"""\
name: transfer
data: {{records: 500, fields: 2, field_length: 16}}
operations: {{read: 0.5, transaction: 0.5}}
transaction: {{reads: 2, updates: 3}}
keys: uniform
target: {{write_concern: majority}}
connections: 8
threads: 2
warmup: 0s
operation_count: {OPERATIONS}
"""


def _spec(directory: Path, text: str = SPEC) -> Path:
    path = directory / "transfer.yaml"
    path.write_text(text)
    return path


def _transactions(address: str) -> dict[str, int]:
    with control_client(address) as client:
        counted: dict[str, Any] = client.admin.command("serverStatus")["transactions"]
    return {name: int(counted[name]) for name in ("totalStarted", "totalCommitted", "currentOpen")}


def _summary(brimline_cli: CommandLine) -> dict[str, Any]:
    [record] = [each for each in brimline_cli.record_directories() if "-load-" not in each.name]
    summary: dict[str, Any] = json.loads((record / "record.json").read_text())["summary"]
    return summary


def _check_opcounters(document: dict[str, Any], *, committed: int) -> None:
    checks = {check["name"]: check for check in document["checks"]}
    assert checks["opcounters"]["result"] == "pass", checks["opcounters"]
    assert f"commit {committed}" in checks["opcounters"]["evidence"], checks["opcounters"]


def test_a_server_of_its_own_is_a_replica_set(brimline_cli: CommandLine, tmp_path: Path) -> None:
    outcome = brimline_cli.run("run", _spec(tmp_path), "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    of = _summary(brimline_cli)["operations"]
    assert of["read"]["ok"] + of["transaction"]["ok"] == OPERATIONS
    _check_opcounters(json.loads(outcome.stdout), committed=of["transaction"]["ok"])


def test_statements_and_commits_are_those_that_the_server_counted(
    brimline_cli: CommandLine, member: Member, tmp_path: Path
) -> None:
    before = _transactions(member.address)
    where = ("--uri", f"mongodb://{member.address}/?readConcernLevel=snapshot", "--data", "load", "--drop")
    spec = _spec(tmp_path, SPEC.replace("connections: 8", "connections: 1").replace("threads: 2", "threads: 1"))
    # Reads outside of a transaction have no snapshot on every version.
    spec.write_text(spec.read_text().replace("{read: 0.5, transaction: 0.5}", "{update: 0.5, transaction: 0.5}"))
    outcome = brimline_cli.run("run", spec, *where, "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    summary, after = _summary(brimline_cli), _transactions(member.address)
    committed = summary["operations"]["transaction"]["ok"]
    updates = summary["operations"]["update"]["ok"]
    assert committed + updates == OPERATIONS and committed > 200
    assert after["totalCommitted"] - before["totalCommitted"] == committed
    assert after["totalStarted"] - before["totalStarted"] == committed, "one connection meets no other"
    assert after["currentOpen"] == 0
    assert summary["commands"]["query"] == 2 * committed
    assert summary["commands"]["update"] == 3 * committed + updates
    assert summary["commands"]["commit"] == committed


def test_those_that_meet_are_done_anew(brimline_cli: CommandLine, member: Member, tmp_path: Path) -> None:
    """Eight connections, three accounts: most transactions meet another one, and each commits in the end."""
    before = _transactions(member.address)
    text = SPEC.replace("records: 500", "records: 3").replace("{read: 0.5, transaction: 0.5}", "{transaction: 1}")
    where = ("--uri", f"mongodb://{member.address}/", "--data", "load", "--drop")
    outcome = brimline_cli.run("run", _spec(tmp_path, text), *where, "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    summary, after = _summary(brimline_cli), _transactions(member.address)
    of = summary["operations"]["transaction"]
    assert (of["ok"], of["failed"]) == (OPERATIONS, 0)
    assert of["retried"] > 10
    assert after["totalCommitted"] - before["totalCommitted"] == OPERATIONS
    assert after["totalStarted"] - before["totalStarted"] == OPERATIONS + of["retried"]
    assert after["currentOpen"] == 0


def test_what_a_run_leaves_open_is_ended(brimline_cli: CommandLine, member: Member, tmp_path: Path) -> None:
    """Sixty connections, two accounts: more voids than commits, and no time to wait for them all in the end."""
    text = SPEC.replace("records: 500", "records: 2").replace("{read: 0.5, transaction: 0.5}", "{transaction: 1}")
    text = text.replace("connections: 8", "connections: 60").replace(f"operation_count: {OPERATIONS}", "duration: 1s")
    spec = _spec(tmp_path, f"{text}drain_timeout: 100ms\n")
    where = ("--uri", f"mongodb://{member.address}/", "--data", "load", "--drop")
    outcome = brimline_cli.run("run", spec, *where, "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    summary = _summary(brimline_cli)
    assert summary["unfinished"] > 0 and "unsettled_sessions" not in summary
    assert _transactions(member.address)["currentOpen"] == 0


def test_what_is_not_there_makes_a_miss(brimline_cli: CommandLine, member: Member, tmp_path: Path) -> None:
    where = ("--uri", f"mongodb://{member.address}/")
    assert brimline_cli.run("load", _spec(tmp_path), *where, "--drop").exit_code == 0
    with control_client(member.address) as client:
        client["ycsb"]["usertable"].delete_many({})
    outcome = brimline_cli.run("run", _spec(tmp_path), *where, "--data", "as-is", "--json")
    of = json.loads(outcome.stdout)["counts_whole_run"]
    assert (of["miss"], of["ok"], of["failed"]) == (OPERATIONS, 0, 0)


def test_the_commit_is_timed_apart(brimline_cli: CommandLine, member: Member, tmp_path: Path) -> None:
    where = ("--uri", f"mongodb://{member.address}/", "--data", "load", "--drop")
    assert brimline_cli.run("run", _spec(tmp_path), *where).exit_code in (0, 4)
    [record] = [each for each in brimline_cli.record_directories() if "-load-" not in each.name]
    log = (record / "latency.hlog").read_text()
    assert "commit_ok_service" in log and "read_ok_service" not in log


def test_what_has_none(brimline_cli: CommandLine, mongod: Deployment, member: Member, tmp_path: Path) -> None:
    spec = _spec(tmp_path)
    where = ("--uri", f"mongodb://{mongod.address}/", "--data", "load", "--drop")
    brimline_cli.run("run", spec, *where).check_error(2, "replica set", "set of one member")
    brimline_cli.run("run", spec, "--topology", "standalone").check_error(2, "standalone", "replica-set-1")
    brimline_cli.run("run", spec, "--topology", "shards-2").check_error(2, "transaction", "another topology")
    linearizable = f"mongodb://{member.address}/?readConcernLevel=linearizable"
    brimline_cli.run("run", spec, "--uri", linearizable).check_error(2, "linearizable", "majority or snapshot")
    nothing = _spec(tmp_path, SPEC.replace("{reads: 2, updates: 3}", "{reads: 0, updates: 0}"))
    brimline_cli.run("run", nothing, *where).check_error(2, "transaction", "neither reads nor updates")
    assert not brimline_cli.runs.exists()
