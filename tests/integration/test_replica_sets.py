"""A real replica set of three: found from any of its members, read where the connection string wants it."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pymongo
import pytest

from brimline.servers import control_client
from tests.support.command_line import CommandLine, Outcome
from tests.support.repetitions import repetitions
from tests.support.replica_set import Member, replica_set
from tests.support.server import required_mongod
from tests.support.step_kinds import require_every_kind
from tests.support.ycsb_command import workload

pytestmark = pytest.mark.mongod

OPERATIONS = 800
SPEC = f"""\
name: small
data: {{records: 500}}
operations: {{read: 0.5, update: 0.4, read_modify_write: 0.1}}
target: {{write_concern: majority}}
connections: 8
threads: 2
warmup: 0s
operation_count: {OPERATIONS}
"""


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Member, ...]]:
    tags = ({"dc": "east"}, {"dc": "east"}, {"dc": "west", "use": "reports"})
    with replica_set(required_mongod(), tmp_path_factory.mktemp("set"), members=3, tags=tags) as started:
        yield tuple(started)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SPEC)
    return path


def counters(members: tuple[Member, ...]) -> dict[str, Mapping[str, int]]:
    found = {}
    for member in members:
        with control_client(member.address) as client:
            found[member.address] = client.admin.command("serverStatus")["opcounters"]
    return found


def check_counts(outcome: Outcome) -> None:
    assert outcome.exit_code in (0, 4), outcome.stderr
    document = json.loads(outcome.stdout)
    assert document["counts_whole_run"]["ok"] == OPERATIONS
    checks = {check["name"]: check for check in document["checks"]}
    assert checks["opcounters"]["result"] == "pass", checks["opcounters"]


@pytest.mark.slow("loads and runs on a set of three")
def test_the_primary_is_found_from_a_secondary(
    brimline_cli: CommandLine, members: tuple[Member, ...], spec: Path
) -> None:
    primary, *others = members
    for uri in (
        f"mongodb://{others[0].address}/?replicaSet=test",
        f"mongodb://127.0.0.1:1,{others[1].address},{primary.address}",
        f"mongodb://{primary.address}/?readConcernLevel=majority",
    ):
        outcome = brimline_cli.run("run", spec, "--uri", uri, "--data", "load", "--drop", "--json")
        check_counts(outcome)
    spec.write_text(SPEC.replace("target: {write_concern: majority}\n", ""))
    uri = f"mongodb://{primary.address}/?w=majority&wtimeoutMS=10000"
    check_counts(brimline_cli.run("run", spec, "--uri", uri, "--json"))


@pytest.mark.slow("loads and runs on a set of three")
def test_steps_with_transactions_are_counted_by_the_set(members: tuple[Member, ...], tmp_path: Path) -> None:
    uri = f"mongodb://{members[0].address}/?replicaSet=test"
    require_every_kind(uri, tmp_path, transactions=True)


@pytest.mark.parametrize(
    ("preference", "readers"),
    [
        ("secondary", (1, 2)),
        ("secondary&readPreferenceTags=dc:moon&readPreferenceTags=dc:east", (1,)),
        ("nearest&readPreferenceTags=dc:east", (0, 1)),
        ("secondaryPreferred&readPreferenceTags=dc:moon", (0,)),
        *repetitions(  # a preference without tags, and tags that one set has: as above
            ("nearest", (0, 1, 2)),
            ("primaryPreferred", (0,)),
            ("secondary&readPreferenceTags=dc:west", (2,)),
            ("nearest&readPreferenceTags=dc:west,use:reports", (2,)),
        ),
    ],
)
def test_reads_reach_the_members_that_are_preferred_and_no_others(
    brimline_cli: CommandLine, members: tuple[Member, ...], spec: Path, preference: str, readers: tuple[int, ...]
) -> None:
    """Their own opcounters show it."""
    uri = f"mongodb://{','.join(member.address for member in members)}/?replicaSet=test"
    before = counters(members)
    where = ("--uri", f"{uri}&readPreference={preference}")
    outcome = brimline_cli.run("run", spec, *where, "--data", "load", "--json")  # what is there already stays
    check_counts(outcome)
    after = counters(members)
    reads = [after[member.address]["query"] - before[member.address]["query"] for member in members]
    updates = [after[member.address]["update"] - before[member.address]["update"] for member in members]
    for number in range(len(members)):
        # Members ask each other a little by themselves.
        assert (reads[number] > 80) == (number in readers), reads
    assert updates[0] > 280
    assert max(updates[1:]) < 20, updates


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("replicaSet=other", 'belong to the replica set "test", not "other"'),
        ("directConnection=true&replicaSet=other", 'belongs to the replica set "test", not to "other"'),
        ("directConnection=true", "takes no writes: it is not the primary"),
        ("replicaSet=test&readPreference=secondary&readPreferenceTags=dc:moon", "no secondary has these tags"),
    ],
)
def test_what_can_not_be_reached_is_said(
    brimline_cli: CommandLine, members: tuple[Member, ...], spec: Path, query: str, words: str
) -> None:
    outcome = brimline_cli.run("run", spec, "--uri", f"mongodb://{members[1].address}/?{query}")
    outcome.check_refused(words)


@pytest.mark.slow("a set elects its primary")
def test_a_set_that_has_lost_its_majority(brimline_cli: CommandLine, tmp_path: Path, spec: Path) -> None:
    with replica_set(required_mongod(), tmp_path / "set", members=3) as members:
        for member in (members[0], members[2]):
            member.process.kill()
            member.process.wait()
        uri = f"mongodb://{members[0].address},{members[1].address}/?replicaSet=test"
        outcome = brimline_cli.run("run", spec, "--uri", uri)
        outcome.check_refused("has no primary", f"{members[1].address} is secondary", "does not answer")
        with pymongo.MongoClient[dict[str, object]](members[1].address, directConnection=True) as client:
            assert not client.admin.command("hello")["isWritablePrimary"]


@pytest.mark.parametrize(
    ("words", "preference"),
    [
        (("run", "ycsb-c", "--connections", "60", "--data", "as-is"), "secondary"),
        (("sweep", "ycsb-c", "--vary", "connections=1,60", "--data", "as-is"), "secondary"),
        (("sweep", "ycsb-c", "--vary", "connections=1,60", "--vary", "read-preference=primary,secondary"), None),
        (("grow", "ycsb-c", "--to", "2000", "--step", "1000", "--connections", "1,60", "--protocol", "hot"), "nearest"),
        (("ycsb", "run", "mongodb", "-P", workload("c"), "-threads", "60"), "secondary"),
    ],
    ids=["run", "sweep", "sweep of the preference", "grow", "ycsb"],
)
def test_connections_that_lead_to_two_servers_count_twice(
    brimline_cli: CommandLine, members: tuple[Member, ...], words: tuple[str, ...], preference: str | None
) -> None:
    """60 connections have room below 200 open files, 120 sockets have not."""
    uri = f"mongodb://{members[0].address}/sockets?replicaSet=test"
    if preference is not None:
        uri += f"&readPreference={preference}"
    where = ("-p", f"mongodb.url={uri}") if words[0] == "ycsb" else ("--uri", uri)
    outcome = brimline_cli.start(*words, *where, open_files_max=200).end()
    outcome.check_error(2, "needs 248 open files, and this process may have 200", "ulimit -n")
    assert not list(brimline_cli.runs.glob("*")), "nothing was recorded"
    with control_client(members[0].address) as client:  # a set that has just begun inserts keys of its own
        assert "sockets" not in client.list_database_names(), "nothing was inserted"


@pytest.mark.long  # `test_connections_that_lead_to_two_servers_count_twice` counts by the same function
@pytest.mark.usefixtures("brief_checks")
def test_the_doctor_counts_both_servers_of_a_connection(
    brimline_cli: CommandLine, members: tuple[Member, ...], spec: Path
) -> None:
    uri = f"mongodb://{members[0].address}/?replicaSet=test&readPreference=secondary"
    document = brimline_cli.run("doctor", spec, "--connections", "60", "--uri", uri, "--json").json()
    files = next(each for each in document["checks"] if each["name"] == "open_files")
    assert files["figures"].get("needed_files", 248) == 248, files
