"""The comparison with peers, end to end, on one peer that is always here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.peers import server
from benchmarks.peers.__main__ import main
from benchmarks.peers.builds import ROOT
from tests.support.repetitions import repetitions

pytestmark = pytest.mark.mongod

DEADLINE_S = 180
FAKE_GO_YCSB = """#!/usr/bin/env python3
import signal, sys, pymongo
words = dict(word.split("=", 1) for word in sys.argv if "=" in word)
table = pymongo.MongoClient(words["mongodb.url"])["ycsb"][words["table"]]
if sys.argv[1] == "load":
    table.insert_many([{"_id": number} for number in range(int(words["recordcount"]))])
    sys.exit()
ended = []
signal.signal(signal.SIGINT, lambda *_: ended.append(1))
while not ended:
    table.find_one({"_id": 1})
print("READ   - Takes(s): 9.9, Count: 1000, 50th(us): 12, 99th(us): 40")
"""
FAKE_MONGOIMPORT = """#!/usr/bin/env python3
import pathlib, sys, pymongo
started = pathlib.Path(__file__).with_name("started")
if not started.exists():
    started.touch()
    sys.exit(3)
words = dict(zip(sys.argv[2::2], sys.argv[3::2]))
table = pymongo.MongoClient(words["--uri"])[words["--db"]][words["--collection"]]
table.insert_many([{"_id": number} for number in range(1000)])
"""


def compare(tmp_path: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    short = (
        "--quick",
        "--records",
        "1000",
        "--measured-s",
        "1",
        "--warmup-s",
        "0.5",
        "--rounds",
        "1",
        "--threads",
        "4",
    )
    by_count = ("--warmup-compiling-s", "0.5")  # the documents of a load depend on it
    command = [sys.executable, "-m", "benchmarks.peers", *short, *by_count, *words, "--output", str(tmp_path)]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), **environment}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=DEADLINE_S)


@pytest.mark.slow("each client is started twice, and tells of itself by a process of its own")
def test_a_comparison_ends_in_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One cell, one client that tells its operations and one that the server counts."""
    tool = tmp_path / "go-ycsb"
    tool.write_text(FAKE_GO_YCSB.replace("/usr/bin/env python3", sys.executable))
    tool.chmod(0o755)
    monkeypatch.setenv("PEERS_GO_YCSB", str(tool))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(server, "_QUIET_LOOKS", 1)
    short = ("--records", "1000", "--measured-s", "0.2", "--warmup-s", "0.1", "--threads", "2")
    words = ("--quick", *short, "--cells", "c", "--peers", "go-ycsb", "--output", str(tmp_path))
    assert main(words) == 0, capsys.readouterr().err
    values = json.loads((tmp_path / "benchmarks" / "results.json").read_text())
    theirs, ours = values["runs"]
    assert [(run["client"], run["operations_by"]) for run in (theirs, ours)] == [
        *(("go-ycsb", "server"), ("brimline", "client"))
    ]
    assert theirs["operations"] == sum(theirs["counted"].values()) > 10
    assert ours["operations"] > 10 and ours["failed"] == 0
    assert all(run["client_cpu_ns"] > 0 and run["p50_ns"] > 0 for run in (theirs, ours))
    text = (tmp_path / "BENCHMARKS.md").read_text()
    assert "The operations of go-ycsb only the server counted" in text
    assert "client CPU per operation, C: go-ycsb" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.slow("measures three cells, each with two clients; quick twin: test_a_comparison_ends_in_its_page")
def test_a_peer_is_measured_beside_brimline(tmp_path: Path) -> None:
    done = compare(tmp_path, "--cells", "a,load,batch", "--batch", "10", "--peers", "pymongo,mongoimport")
    assert done.returncode == 0, done.stderr
    values = json.loads((tmp_path / "benchmarks" / "results.json").read_text())
    assert [(run["client"], run["cell"], run["number"]) for run in values["runs"]] == [
        *(("pymongo", "a", 1), ("brimline", "a", 1)),
        *(("pymongo", "load", 2), ("brimline", "load", 2)),
        *(("pymongo", "batch", 3), ("brimline", "batch", 3)),
    ]
    assert all(run["failed"] == 0 and run["operations"] > 0 and run["client_cpu_ns"] > 0 for run in values["runs"])
    assert [run["operations_by"] for run in values["runs"]] == ["server", "client"] * 3
    assert all(0 < run["p50_ns"] <= run["p99_ns"] for run in values["runs"])
    theirs, ours = values["commands"]["pymongo"], values["commands"]["brimline"]
    assert (theirs.pop("insert"), ours.pop("insert")) == ("insert of 1, ordered", "insert of 1, unordered")
    assert "--client pymongo " in values["command_lines"]["pymongo, a"]
    assert theirs == ours
    assert set(ours) == {"find", "update", "insert, batched"}
    assert ours["insert, batched"] == "insert of 10, unordered"
    assert [each["client"] for each in values["absent"]] == ["mongoimport"]
    text = (tmp_path / "BENCHMARKS.md").read_text()
    assert "| mongoimport | all | not here |" in text
    assert "All send the same commands." in text
    assert str(ROOT) not in text + json.dumps(values)
    assert "client CPU per operation, A: pymongo" in done.stdout


@pytest.mark.long
@pytest.mark.slow("waits until the server has rested; quick twin: test_a_comparison_ends_in_its_page")
def test_an_outside_program_is_counted_by_the_server(tmp_path: Path) -> None:
    tool = tmp_path / "go-ycsb"
    tool.write_text(FAKE_GO_YCSB.replace("/usr/bin/env python3", sys.executable))
    tool.chmod(0o755)
    done = compare(tmp_path, "--cells", "c", "--peers", "go-ycsb", PEERS_GO_YCSB=str(tool))
    assert done.returncode == 0, done.stderr
    values = json.loads((tmp_path / "benchmarks" / "results.json").read_text())
    theirs = values["runs"][0]
    assert theirs["client"] == "go-ycsb"
    assert theirs["operations"] == sum(theirs["counted"].values()) > 10
    assert [run["operations_by"] for run in values["runs"]] == ["server", "client"]
    assert (theirs["p50_ns"], theirs["p99_ns"]) == (12_000, 40_000)
    assert theirs["client_cpu_ns"] > 0
    assert theirs["peak_memory_bytes"] > 5_000_000
    assert "--program go-ycsb " in values["command_lines"]["go-ycsb, c"]
    text = (tmp_path / "BENCHMARKS.md").read_text()
    assert str(tmp_path) not in text + json.dumps(values)
    assert "The operations of go-ycsb only the server counted" in text


@pytest.mark.parametrize(
    ("words", "content", "message"),
    [
        (["--client-cores", "99999"], None, 'error: argument --client-cores: there is no core "99999"'),
        (["--page"], '{"format_version": 1}', "error: benchmarks/results.json in"),
        *repetitions(
            (["--page"], None, "error: no benchmarks/results.json to read"),
            (["--page"], "[]", "error: benchmarks/results.json in"),
            (["--page"], "not JSON", "error: benchmarks/results.json in"),
        ),
    ],
)
def test_bad_input_is_one_error_and_one_hint(
    tmp_path: Path, words: list[str], content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "benchmarks").mkdir()
        (tmp_path / "benchmarks" / "results.json").write_text(content)
    done = compare(tmp_path, *words)
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert error.startswith(message)
    assert hint.startswith("hint: ")


@pytest.mark.long
@pytest.mark.slow("waits until the server has rested; quick twin: test_a_failure_is_noted_once_and_told_apart_…")
@pytest.mark.parametrize(("code", "reason"), [(3, "ended early"), (0, "did nothing within its window")])
def test_a_client_that_fails_is_named_and_the_rest_is_written(tmp_path: Path, code: int, reason: str) -> None:
    tool = tmp_path / "mongoimport"
    tool.write_text(f"#!/bin/sh\nexit {code}\n")
    tool.chmod(0o755)
    done = compare(tmp_path, "--cells", "batch", "--peers", "mongoimport", PEERS_MONGOIMPORT=str(tool))
    assert done.returncode == 1
    values = json.loads((tmp_path / "benchmarks" / "results.json").read_text())
    assert [run["client"] for run in values["runs"]] == ["brimline"]
    absent = [(each["client"], each["reason"]) for each in values["absent"]]
    assert absent == [
        ("mongoimport", f"{which} failed: {reason}") for which in ("the look at its commands", "its run of round 1")
    ]


@pytest.mark.long
@pytest.mark.slow("waits until the server has rested; quick twin: test_a_failure_is_noted_once_and_told_apart_…")
def test_a_client_that_fails_once_is_started_again_and_its_failure_is_told(tmp_path: Path) -> None:
    tool = tmp_path / "mongoimport"
    tool.write_text(FAKE_MONGOIMPORT.replace("/usr/bin/env python3", sys.executable))
    tool.chmod(0o755)
    done = compare(tmp_path, "--cells", "batch", "--peers", "mongoimport", PEERS_MONGOIMPORT=str(tool))
    assert done.returncode == 0, done.stderr
    values = json.loads((tmp_path / "benchmarks" / "results.json").read_text())
    assert [(run["client"], run["operations_by"]) for run in values["runs"]] == [
        *(("mongoimport", "server"), ("brimline", "client"))
    ]
    assert values["runs"][0]["operations"] == 1000
    absent = [(each["reason"], each["made_again"]) for each in values["absent"]]
    assert absent == [("the look at its commands failed: ended early", True)]
    told = "failed once, and made again: mongoimport, batch: the look at its commands failed: ended early"
    assert told in done.stdout
    assert "not in the tables" not in done.stdout
