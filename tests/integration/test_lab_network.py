"""Labs that are far away: what is asked for is what clients, members and records see, and nothing is left of it.

Times have lower bounds only: a busy machine may always be later.
"""

import json
import signal
import time
from pathlib import Path
from typing import Any

import psutil
import pymongo
import pytest

from tests.support.command_line import CommandLine
from tests.support.labs import left_behind, processes_below
from tests.support.repetitions import repetitions
from tests.support.waiting import eventually

pytestmark = pytest.mark.mongod
_SET_OF_TWO = ("--replica-set", "2", "--small", "--election-timeout", "10s")


@pytest.fixture
def cache(cli: CommandLine) -> Path:
    return cli.directory / "cache"


def _up(cli: CommandLine, *words: str) -> dict[str, Any]:
    outcome = cli.run("lab", "up", *words, "--json")
    assert outcome.exit_code == 0, outcome.stderr
    return dict(outcome.json())


def _round_trip_s(client: pymongo.MongoClient[dict[str, Any]]) -> float:
    client.admin.command("ping")  # connects
    began_s = time.monotonic()
    client.admin.command("ping")
    return time.monotonic() - began_s


@pytest.mark.slow("a set of servers comes up behind lines and elects its primary")
def test_a_lab_that_is_far_away_says_so_and_so_do_service_times_and_records(cli: CommandLine, cache: Path) -> None:
    document = _up(cli, "far", "--small", "--delay", "15ms", "--rate", "1gbit")
    line = {"delay_ns": 15_000_000, "rate_bit_per_s": 1e9, "between": "clients"}
    assert document["network"] == line
    (server,) = document["servers"]
    assert (server["state"], server["behind"] != server["address"]) == ("up", True)
    assert document["uri"] == f"mongodb://{server['address']}/"
    assert "15.0 ms each way, 1gbit, between clients and servers" in cli.run("lab", "status", "far").stdout
    assert "15ms+1gbit" in cli.run("lab", "list").stdout
    with pymongo.MongoClient(document["uri"]) as client:
        assert _round_trip_s(client) >= 0.030
    words = ("run", "ycsb-c", "--data", "load", "--records", "100", "--operations", "200", "--warmup", "0s")
    outcome = cli.run(*words, "--connections", "4", "--uri", document["uri"], "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    assert outcome.json()["service"]["p50_ns"] >= 0.999 * 30_000_000
    directory = next(each for each in cli.record_directories() if "-load-" not in each.name)
    recorded = json.loads((directory / "environment.json").read_text())["server"]
    assert (recorded["lab"]["topology"], recorded["lab"]["network"]) == ("standalone", line)
    assert recorded["same_host"] is True, "the process behind the forwarder is on this machine all the same"
    assert "15.0 ms each way" in cli.run("report", str(directory), "--format", "md", "-o", "-").stdout
    assert cli.run("lab", "down", "far").exit_code == 0
    assert left_behind(cache) == []


@pytest.mark.slow("a set of servers comes up behind lines and elects its primary")
def test_clients_of_a_set_find_no_way_around_its_line_and_members_know_of_none(cli: CommandLine, cache: Path) -> None:
    document = _up(cli, "rs", *_SET_OF_TWO, "--delay", "100ms")
    assert sorted(each["state"] for each in document["servers"]) == ["PRIMARY", "SECONDARY"]
    with pymongo.MongoClient(document["uri"]) as client:
        assert sorted(client.admin.command("hello")["hosts"]) == sorted(each["address"] for each in document["servers"])
        assert _round_trip_s(client) >= 0.200
        assert eventually(lambda: 0 <= _ping_between_members_ms(client) < 200)
    assert cli.run("lab", "down", "rs").exit_code == 0
    assert left_behind(cache) == []


@pytest.mark.slow("a set of servers comes up behind lines and elects its primary")
def test_members_can_be_far_from_each_other_alone(cli: CommandLine) -> None:
    document = _up(cli, "apart", *_SET_OF_TWO, "--delay", "50ms", "--between", "members")
    with pymongo.MongoClient(document["uri"]) as client:
        assert eventually(lambda: _ping_between_members_ms(client) >= 100)
        alone, both = (client.test[f"w{w}"].with_options(write_concern=pymongo.WriteConcern(w)) for w in (1, 2))
        alone.insert_one({})
        both.insert_one({})
        began_s = time.monotonic()
        both.insert_one({})
        assert time.monotonic() - began_s >= 0.050, "the secondary hears of it half a round trip later at best"


def _ping_between_members_ms(client: pymongo.MongoClient[dict[str, Any]]) -> int:
    """The round trip of heartbeats, as the primary sees it; 0 before the first."""
    (other,) = (each for each in client.admin.command("replSetGetStatus")["members"] if not each.get("self"))
    return int(other.get("pingMs", 0))


@pytest.mark.parametrize("after_s", [1.0, *repetitions(0.3, 3.0)])
def test_one_that_is_killed_half_way_is_gone_after_the_next_command(
    cli: CommandLine, cache: Path, after_s: float
) -> None:
    running = cli.start("lab", "up", *_SET_OF_TWO, "--delay", "1ms")
    assert eventually(lambda: any((cache / "brimline" / "labs").glob("*")))
    eventually(lambda: running.process.poll() is not None, timeout_s=after_s)  # any instant will do, until it is up
    running.send(signal.SIGKILL)
    running.end()
    for lab in cli.run("lab", "list", "--json").json():
        assert lab["phase"] == "up", "it was complete before the kill, and stays by right"
        assert cli.run("lab", "down", lab["name"]).exit_code == 0
    assert eventually(lambda: left_behind(cache) == []), left_behind(cache)


def test_its_forwarders_end_with_their_servers_and_the_lab_is_swept(cli: CommandLine, cache: Path) -> None:
    document = _up(cli, "worn", "--client-routed", "2", "--small", "--delay", "1ms")
    assert len(processes_below(cache)) == 8, "two servers, two forwarders, a guardian each"
    for server in document["servers"]:
        psutil.Process(server["pid"]).kill()
    assert eventually(lambda: not processes_below(cache))
    assert cli.run("lab", "list", "--json").json() == []
    assert left_behind(cache) == []


def test_one_of_a_program_ends_with_it_by_kill_9(cli: CommandLine, cache: Path, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import brimline, time\n"
        "with brimline.lab(small=True, delay='5ms') as lab:\n"
        "    print(lab.settings['network']['delay_ns'], flush=True)\n"
        "    time.sleep(100)\n"
    )
    running = cli.start_python(script)
    assert running.process.stdout is not None
    assert running.process.stdout.readline() == "5000000\n"
    running.send(signal.SIGKILL)
    running.end()
    assert eventually(lambda: not processes_below(cache)), "guardians end servers and forwarders at once"
    assert cli.run("lab", "list", "--json").json() == []
    assert left_behind(cache) == []


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--loss", "60%"), "can't lose 60% of its segments", "0% to 50%"),
        (("--loss", "much"), "no percentage", "--loss 1%"),
        (("--between", "members"), "there is none", "--delay"),
        (("--delay", "5ms", "--between", "members"), "no servers that speak with each other", "--replica-set"),
        (("--delay", "5"), "has no unit", "--delay 5ms"),
        (("--delay", "1h"), "that far away", "0ms to 10s"),
        (("--rate", "fast"), '"fast" is no rate', "--rate 100mbit"),
    ],
)
def test_what_no_line_can_be_is_refused_before_anything_starts(
    cli: CommandLine, cache: Path, words: tuple[str, ...], message: str, hint: str
) -> None:
    cli.run("lab", "up", *words).check_error(2, message, hint)
    assert left_behind(cache) == []
