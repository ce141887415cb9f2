"""Labs of real servers: complete when they are up, closed to strangers, and gone after any kind of end."""

import json
import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import psutil
import pymongo
import pytest
from pymongo.errors import OperationFailure, PyMongoError, ServerSelectionTimeoutError

import brimline
from brimline.api.lab import lab_up
from brimline.errors import Interrupted
from brimline.servers.lab.certificates import CLIENT_SUBJECT
from brimline.servers.lab.fleet import Fleet
from brimline.servers.lab.forwarding import order
from brimline.servers.lab.lifecycle import find_lab
from brimline.servers.lab.mongodb import MongoDbRecipe
from brimline.servers.lab.recipe import Made
from brimline.servers.lab.state import server_process
from tests.support import fake_mongos
from tests.support.command_line import CommandLine
from tests.support.labs import left_behind, processes_below, stand_in_mongos
from tests.support.repetitions import repetitions
from tests.support.server import required_mongod
from tests.support.server_versions import required_version, share_binaries
from tests.support.waiting import eventually

pytestmark = pytest.mark.mongod
_SOON_MS = 3000
_SET_OF_THREE = ("--replica-set", "3", "--small", "--election-timeout", "2s")


@pytest.fixture(autouse=True)
def _needs_a_mongod() -> None:
    required_mongod()


@pytest.fixture
def cache(cli: CommandLine) -> Path:
    return cli.directory / "cache"


def _up(cli: CommandLine, *words: str) -> dict[str, Any]:
    outcome = cli.run("lab", "up", *words, "--json")
    assert outcome.exit_code == 0, outcome.stderr
    return dict(outcome.json())


def _states(document: dict[str, Any]) -> list[str]:
    return sorted(server["state"] for server in document["servers"])


def _reach(uri: str, **options: Any) -> pymongo.MongoClient[dict[str, Any]]:
    return pymongo.MongoClient(uri, serverSelectionTimeoutMS=_SOON_MS, **options)


def test_a_standalone_lab_outlives_its_command_and_is_gone_when_it_is_taken_down(cli: CommandLine, cache: Path) -> None:
    document = _up(cli, "--small")
    assert (document["topology"], document["phase"], _states(document)) == ("standalone", "up", ["up"])
    assert document["user"] is document["password_file"] is document["ca_file"] is None
    assert len(document["git_version"]) == 40
    with _reach(document["uri"]) as client:
        assert client.admin.command("buildInfo")["version"] == document["version"]
    cli.run("lab", "up").check_error(2, 'a lab called "lab" already', "brimline lab down lab")
    assert [each["name"] for each in cli.run("lab", "list", "--json").json()] == ["lab"]
    # A server of another command's own sweeps, and leaves what is in use.
    assert cli.run("run", "ycsb-c", "--records", "100", "--operations", "100", "--warmup", "0s").exit_code == 0
    assert cli.run("lab", "status").exit_code == 0
    assert cli.run("lab", "down").exit_code == 0
    assert left_behind(cache) == []
    with _reach(document["uri"]) as client, pytest.raises(ServerSelectionTimeoutError, match="refused"):
        client.admin.command("ping")
    cli.run("lab", "down").check_error(2, 'no lab called "lab"')


@pytest.mark.slow("a set of servers comes up and elects its primary")
def test_a_secured_set_of_three_is_complete_and_closed(cli: CommandLine, cache: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl command here to make certificates with")
    outcome = cli.run("lab", "up", "safe", *_SET_OF_THREE, "--auth", "--tls", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert _states(document) == ["PRIMARY", "SECONDARY", "SECONDARY"]
    password = Path(document["password_file"]).read_text()
    commands = [word for process in processes_below(cache) for word in process.cmdline()]
    assert commands
    assert not any(password in text for text in (outcome.stdout, outcome.stderr, *commands))
    whole = Path(document["uri_file"]).read_text().strip()
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert {path.name for path in files if password.encode() in path.read_bytes()} == {"password", "uri"}
    with _reach(whole) as client:
        # No retry: the set was complete before.
        client.test.things.with_options(write_concern=pymongo.WriteConcern(3)).insert_one({"_id": 1})
        roles = client.admin.command("connectionStatus")["authInfo"]["authenticatedUserRoles"]
        assert roles == [{"role": "root", "db": "admin"}]
    strangers = whole.replace(f"brimline:{password}@", "").replace("authSource=admin&", "")
    with _reach(strangers) as client, pytest.raises(OperationFailure, match="requires authentication"):
        client.test.things.find_one()
    with _reach(whole.replace(password, "guess")) as client, pytest.raises(OperationFailure, match="failed"):
        client.test.things.find_one()
    certificate = document["client_certificate_file"]
    with _reach(strangers, authMechanism="MONGODB-X509", tlsCertificateKeyFile=certificate) as client:
        (user,) = client.admin.command("connectionStatus")["authInfo"]["authenticatedUsers"]
        assert user == {"user": CLIENT_SUBJECT, "db": "$external"}
        assert client.test.things.find_one() == {"_id": 1}
    plain = strangers.partition("/?")[0]
    with _reach(plain) as client, pytest.raises(PyMongoError):
        client.admin.command("ping")
    assert cli.run("lab", "down", "--all").exit_code == 0
    assert left_behind(cache) == []


@pytest.mark.parametrize(
    "words", [("--auth", "--tls", "--replica-set", "1"), *repetitions(((),), (("--auth",),))], ids=" ".join
)
def test_the_last_line_is_what_a_shell_takes(cli: CommandLine, words: tuple[str, ...]) -> None:
    """URI=$(brimline lab up … | tail -n 1), with access control and without; the password is found by itself."""
    outcome = cli.run("lab", "up", "shell", "--small", "--election-timeout", "1s", *words)
    assert outcome.exit_code == 0, outcome.stderr
    uri = outcome.stdout.splitlines()[-1]
    assert cli.run("lab", "uri", "shell").stdout == f"{uri}\n"
    assert cli.run("lab", "status", "shell").stdout.splitlines()[-1] == uri
    loading = cli.run("load", "ycsb-c", "--records", "10", "--uri", uri, "-q")
    assert loading.exit_code == 0, loading.stderr


def test_members_are_what_was_asked_for_in_the_oldest_version(cli: CommandLine, cache: Path) -> None:
    required_version("4.4.2")
    share_binaries(cache)
    wanted = ("--priorities", "1,2", "--delayed", "3=60s", "--arbiter", "--server-version", "4.4")
    document = _up(cli, "aside", *_SET_OF_THREE, *wanted)
    assert document["version"] == "4.4.2"
    first, second, third, fourth = document["servers"]
    assert [each["state"] for each in (first, second, third, fourth)] == [
        "SECONDARY",
        "PRIMARY",
        "SECONDARY",
        "ARBITER",
    ]
    assert document["uri"] == f"mongodb://{first['address']},{second['address']}/?replicaSet=aside"
    with _reach(document["uri"]) as client:
        members = client.admin.command("replSetGetConfig")["config"]["members"]
    assert [member["priority"] for member in members] == [1, 2, 0, 0]
    assert [int(member["slaveDelay"]) for member in members] == [0, 0, 60, 0]
    assert [member["hidden"] for member in members] == [False, False, True, False]
    assert [member["arbiterOnly"] for member in members] == [False, False, False, True]


def test_client_routed_shards_are_named_so_and_independent(cli: CommandLine) -> None:
    document = _up(cli, "shards", "--client-routed", "2", "--small")
    assert (document["topology"], document["uri"], len(document["uris"])) == ("client-routed shards", None, 2)
    for number, uri in enumerate(document["uris"]):
        with _reach(uri) as client:
            assert client.test.things.count_documents({}) == 0
            client.test.things.insert_one({"_id": number})


def test_a_lab_that_lost_a_member_is_not_complete_and_one_that_lost_all_is_swept(cli: CommandLine, cache: Path) -> None:
    document = _up(cli, "worn", "--replica-set", "1", "--client-routed", "2", "--small", "--election-timeout", "1s")
    first, second = (psutil.Process(server["pid"]) for server in document["servers"])
    first.kill()
    assert eventually(lambda: not first.is_running())
    outcome = cli.run("lab", "status", "worn", "--json")
    assert outcome.exit_code == 5
    assert _states(outcome.json()) == ["PRIMARY", "ended"]
    assert "1 of 2 up" in cli.run("lab", "list").stdout
    second.kill()
    assert eventually(lambda: not processes_below(cache / "brimline" / "labs"))
    assert cli.run("lab", "list", "--json").json() == []
    assert left_behind(cache) == []


@pytest.mark.slow("a set of servers comes up and elects its primary")
def test_members_are_stopped_and_started_again_and_runs_go_on_meanwhile(cli: CommandLine) -> None:
    document = _up(cli, "halting", *_SET_OF_THREE)
    address = next(each["address"] for each in document["servers"] if each["state"] == "SECONDARY")
    outcome = cli.run("lab", "stop", "halting", address)
    assert outcome.exit_code == 0, outcome.stderr
    assert f"2 of 3 up: {address} ended" in outcome.stdout
    stopped = next(each for each in document["servers"] if each["address"] == address)
    log = (Path(stopped["directory"]) / "mongod.log").read_text()
    assert re.search(r'"msg":"Entering quiesce mode[^}]*"quiesceTimeMillis":(?:1000|\d{1,3})\b', log), "15 s by itself"
    assert cli.run("lab", "status", "halting", "--json").json()["servers_up"] == 2
    outcome = cli.run("load", "ycsb-c", "--records", "100", "--uri", document["uri"])
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stderr.count(f"{address} does not answer (connection refused): going on without it") == 1
    cli.run("lab", "stop", "halting", "1", "2", "3").check_error(2, "no server", "lab down halting")
    cli.run("lab", "stop", "halting", "9").check_error(2, 'no member "9"', address)
    outcome = cli.run("lab", "start", "halting")
    assert outcome.exit_code == 0, outcome.stderr
    again = cli.run("lab", "status", "halting", "--json").json()
    assert _states(again) == ["PRIMARY", "SECONDARY", "SECONDARY"]
    assert [each["address"] for each in again["servers"]] == [each["address"] for each in document["servers"]]
    assert "no server of it has ended" in cli.run("lab", "start", "halting", "1").stderr


def test_a_member_behind_a_line_is_started_behind_it_again(cli: CommandLine) -> None:
    document = _up(cli, "distant", "--small", "--client-routed", "2", "--delay", "1ms")
    assert cli.run("lab", "stop", "distant", "2").exit_code == 0
    assert cli.run("lab", "start", "distant", "2").exit_code == 0
    with _reach(document["uris"][1]) as client:
        assert client.admin.command("ping")["ok"] == 1


def test_what_a_killed_failover_left_is_put_back_by_starting_a_lab(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that stands still, and a line that is cut. Neither has ended, and their data stays."""
    document = _up(cli, "struck", "--small", "--client-routed", "2", "--delay", "0ms")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cli.directory / "cache"))
    lab = find_lab("struck")
    paused, cut = lab.servers
    process = server_process(lab, paused)
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    order(lab, cut, cut="all")
    lab.struck_file.touch()
    said = cli.run("lab", "start", "struck")
    assert said.exit_code == 0, said.stderr
    assert f"{paused.address} stood still, and goes on" in said.stderr
    assert f"the line to {cut.address} is as it was brought up" in said.stderr
    assert not lab.struck_file.exists(), "it would never be swept"
    for uri in document["uris"]:
        with _reach(uri) as client:
            assert client.admin.command("ping")["ok"] == 1
    again = cli.run("lab", "start", "struck").stderr
    assert "stood still" not in again and "as it was brought up" not in again


def test_ctrl_c_while_a_lab_comes_up_leaves_nothing(cli: CommandLine, cache: Path) -> None:
    running = cli.start("lab", "up", *_SET_OF_THREE)
    assert eventually(lambda: len(processes_below(cache)) >= 2)
    running.send(signal.SIGINT)
    outcome = running.end()
    assert (outcome.exit_code, outcome.error) == (130, "interrupted by SIGINT")
    assert left_behind(cache) == []


def test_ctrl_c_at_the_last_instant_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes while nobody looks: between the last wait and the lab's completion."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    make = MongoDbRecipe.make

    def made_and_interrupted(recipe: MongoDbRecipe, fleet: Fleet) -> Made:
        made = make(recipe, fleet)
        signal.raise_signal(signal.SIGINT)
        return made

    monkeypatch.setattr(MongoDbRecipe, "make", made_and_interrupted)
    with pytest.raises(Interrupted):
        lab_up("late", small=True)
    assert left_behind(tmp_path) == []


@pytest.mark.slow("a set of servers comes up and elects its primary")
@pytest.mark.parametrize("after_s", [0.5, 6.0, *repetitions(0.0, 0.1, 1.5, 3.0)])
def test_a_lab_that_is_killed_half_way_is_gone_after_the_next_command(
    cli: CommandLine, cache: Path, after_s: float
) -> None:
    running = cli.start("lab", "up", *_SET_OF_THREE, "--auth")
    labs = cache / "brimline" / "labs"
    assert eventually(lambda: any(labs.glob("*")))
    eventually(lambda: running.process.poll() is not None, timeout_s=after_s)  # any instant will do, until it is up
    running.send(signal.SIGKILL)
    running.end()
    for lab in cli.run("lab", "list", "--json").json():
        assert lab["phase"] == "up", "it was complete before the kill, and stays by right"
        assert cli.run("lab", "down", lab["name"]).exit_code == 0
    assert eventually(lambda: left_behind(cache) == []), left_behind(cache)


def test_a_lab_of_a_program_ends_with_it_however_that_ends(cli: CommandLine, cache: Path, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import brimline, time\n"
        "with brimline.lab(client_routed=2, small=True) as lab:\n"
        "    print(len(lab.uris), flush=True)\n"
        "    time.sleep(100)\n"
    )
    running = cli.start_python(script)
    assert running.process.stdout is not None
    assert running.process.stdout.readline() == "2\n"
    assert len(processes_below(cache)) == 4
    running.send(signal.SIGKILL)
    running.end()
    assert eventually(lambda: not processes_below(cache)), "guardians end their servers at once"
    assert cli.run("lab", "list", "--json").json() == []
    assert left_behind(cache) == []


def test_a_lab_in_a_with_block_is_gone_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(KeyboardInterrupt), brimline.lab(small=True, auth=True) as lab:
        with _reach(lab.uri_file.read_text().strip()) as client:
            assert client.test.things.count_documents({}) == 0
        raise KeyboardInterrupt
    assert left_behind(tmp_path) == []


def test_a_set_that_cannot_be_complete_in_time_is_one_error_and_gone(cli: CommandLine, cache: Path) -> None:
    cli.run("lab", "up", *_SET_OF_THREE, "--deadline", "0s").check_error(5, "in time", "--deadline")
    assert left_behind(cache) == []


def test_a_sharded_cluster_without_mongos_is_refused_by_name(cli: CommandLine, cache: Path) -> None:
    outcome = cli.run("lab", "up", "--shards", "2", environment={"PATH": ""})
    outcome.check_error(2, "a sharded cluster needs mongos", "--client-routed N")
    assert left_behind(cache) == []


@pytest.mark.long  # quick twin: `test_what_a_load_makes_is_spread_over_the_shards_and_what_was_sharded_stays_so`
def test_a_sharded_cluster_comes_up_step_by_step_and_goes(cli: CommandLine, cache: Path) -> None:
    """Config server and shards are real; the router is a stand-in, because no package brings a mongos."""
    mongos = stand_in_mongos(cli.directory)
    words = ("--shards", "2", "--small", "--election-timeout", "1s", "--mongos", str(mongos))
    document = _up(cli, "cluster", *words, "--server-version", fake_mongos.VERSION)
    roles = [(server["role"], server["set"], server["state"]) for server in document["servers"]]
    assert roles == [
        ("config server", "cluster-config", "PRIMARY"),
        ("shard", "cluster-shard-1", "PRIMARY"),
        ("shard", "cluster-shard-2", "PRIMARY"),
        ("mongos", None, "up"),
    ]
    config, first, second, router = (server["address"] for server in document["servers"])
    assert document["uri"] == f"mongodb://{router}/"
    told = json.loads((Path(document["servers"][-1]["directory"]) / "commands.json").read_text())
    assert told == [
        {"configdb": f"cluster-config/{config}"},
        {"addShard": f"cluster-shard-1/{first}"},
        {"addShard": f"cluster-shard-2/{second}"},
    ]
    for address, role in ((config, "configsvr"), (first, "shardsvr")):
        with _reach(f"mongodb://{address}", directConnection=True) as client:
            assert client.admin.command("getCmdLineOpts")["parsed"]["sharding"]["clusterRole"] == role
    assert cli.run("lab", "down", "cluster").exit_code == 0
    assert left_behind(cache) == []


def test_a_share_of_the_processors_is_kept_and_its_groups_go_with_the_lab(cli: CommandLine, cache: Path) -> None:
    outcome = cli.run("lab", "up", "capped", "--client-routed", "2", "--small", "--cpu-share", "0.5", "--json")
    if outcome.exit_code == 5 and "control groups need root" in outcome.hint:
        assert left_behind(cache) == []
        pytest.skip(f"not here: {outcome.error}")
    assert outcome.exit_code == 0, outcome.stderr
    place = Path("/sys/fs/cgroup/cpu") if Path("/sys/fs/cgroup/cpu").is_dir() else Path("/sys/fs/cgroup")

    def groups() -> list[Path]:
        pids = {str(server["pid"]) for server in outcome.json()["servers"]}
        return [
            each for each in place.glob("brimline-lab-*") if pids & set((each / "cgroup.procs").read_text().split())
        ]

    held = groups()
    assert len(held) == 2
    quotas = [(each / "cpu.max", each / "cpu.cfs_quota_us") for each in held]
    assert [(new if new.exists() else old).read_text().split()[0] for new, old in quotas] == ["50000"] * 2
    assert cli.run("lab", "down", "capped").exit_code == 0
    assert not any(each.exists() for each in held)
    assert left_behind(cache) == []
