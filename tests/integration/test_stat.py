"""`brimline stat` beside a real mongod: rows, JSON, Ctrl-C, and a server that goes away."""

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from brimline.servers import Deployment, bundled
from tests.support.command_line import CommandLine, Running
from tests.support.repetitions import repetitions
from tests.support.server import required_mongod

pytestmark = pytest.mark.mongod
_ROW = re.compile(r" +(\*0|\d+) .* \d+\|\d+ .* \d\d:\d\d:\d\d\.\d{3}")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Deployment]:
    required_mongod()
    with bundled(directory=tmp_path, cache_gb=0.25) as deployment:
        yield deployment


@pytest.fixture
def command_line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    with CommandLine.below(tmp_path_factory.mktemp("stat")) as started:
        yield started


def _line(running: Running) -> str:
    assert running.process.stdout is not None
    return running.process.stdout.readline()


def test_rows_and_json_of_a_real_server(server: Deployment, command_line: CommandLine) -> None:
    uri = f"mongodb://{server.address}"
    outcome = command_line.run("stat", "--uri", uri, "-n", "2", "0.2")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    heading, *rows = outcome.stdout.splitlines()
    assert heading.split()[:3] == ["insert", "query", "update"]
    assert len(rows) == 2
    assert all(_ROW.fullmatch(row) for row in rows), rows

    outcome = command_line.run("stat", "--uri", uri, "--rows", "1", "--json", "-O", "mem.bits=bits,lock_waits", "0.2")
    values = json.loads(outcome.stdout)[server.address]
    assert values["bits"] == "64"
    assert values["lock_waits"].isdigit()
    assert values["qrw"].count("|") == 1
    assert values["res"].endswith(("M", "G"))


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), *repetitions((signal.SIGTERM, 143))])
def test_ctrl_c_ends_it_without_a_word(
    server: Deployment, command_line: CommandLine, number: signal.Signals, exit_code: int
) -> None:
    running = command_line.start("stat", "--uri", f"mongodb://{server.address}", "0.1")
    assert "insert" in _line(running)
    running.send(number)
    outcome = running.end()
    assert (outcome.exit_code, outcome.stderr) == (exit_code, "")


def test_a_server_that_goes_away_is_waited_for(server: Deployment, command_line: CommandLine) -> None:
    running = command_line.start("stat", "--uri", f"mongodb://{server.address}", "0.1")
    assert "insert" in _line(running)
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    assert running.process.stderr is not None
    assert f"{server.address} does not answer" in running.process.stderr.readline()
    running.send(signal.SIGINT)
    assert running.end().exit_code == 130


def test_no_server_at_the_start_is_an_error(command_line: CommandLine) -> None:
    command_line.run("stat", "--uri", "mongodb://127.0.0.1:9").check_error(5, "no server answers")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("-o", "nosuch"), "there is no column nosuch"),
        (("-o", "insert", "-O", "host"), "-o and -O"),
        (("0",), "no interval"),
        (("-n", "-1"), "-1 rows"),
        (("--uri", "mongodb://ann:secret@h/?nosuch=1"), "sets nosuch"),
    ],
)
def test_bad_input_is_one_clear_error(command_line: CommandLine, arguments: tuple[str, ...], part: str) -> None:
    outcome = command_line.run("stat", *arguments)
    outcome.check_error(2, part)
    assert "secret" not in outcome.stderr
