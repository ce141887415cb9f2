"""brimline import into several servers, where it shares out the rows itself: killed, and one that goes away.

Labs of brimline's own go with it, so that here the servers are the test's.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline.api import import_data
from brimline.servers import Deployment
from tests.support.command_line import CommandLine, Running
from tests.support.importing import SLOWLY, begun, kill_behind_a_checkpoint
from tests.support.own_mongod import OwnMongod
from tests.support.waiting import eventually

pytestmark = pytest.mark.mongod

ROWS = 10_000
TEXT = "x" * 1_000
"""Long, so that a checkpoint soon lies among the rows."""

PROGRAM = """
import runpy
import sys
from contextlib import contextmanager
from dataclasses import replace

from brimline.api import import_data

found = import_data.server_in_use


@contextmanager
def both(*arguments, **options):
    with found(*arguments, **options) as first:
        yield replace(first, shards=({second!r},))


import_data.server_in_use = both
sys.argv = ["brimline", "import", *{words!r}, "-q", "--json"]
runpy.run_module("brimline", run_name="__main__")
"""


class Shards:
    """Two servers, and imports that take the second for a shard beside the first."""

    def __init__(self, first: OwnMongod, second: OwnMongod) -> None:
        self.first, self.second = first, second

    def start(self, brimline_cli: CommandLine, attempts: int, *words: str) -> Running:
        """Starts an import, or goes on with one, and waits until it has begun so many attempts."""
        program = brimline_cli.directory / "program.py"
        words = (*words, "--uri", self.first.uri)
        program.write_text(PROGRAM.format(second=self.second.address, words=words))
        running = brimline_cli.start_python(program)
        assert eventually(lambda: begun(brimline_cli, attempts), timeout_s=60), running.end().stderr
        return running

    def values(self, collection: str, field: str) -> list[list[int]]:
        """What each of them has in `field`, one value a document."""
        found = []
        for server in (self.first, self.second):
            with server.client() as client:
                found.append([each[field] for each in client["shards"][collection].find({}, {field: 1})])
        return found


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shards]:
    directory = tmp_path_factory.mktemp("shards")
    with OwnMongod.running(directory / "first") as first, OwnMongod.running(directory / "second") as second:
        yield Shards(first, second)


def write_rows(directory: Path, key: str) -> None:
    (directory / "rows.csv").write_text(f"{key},s\n" + "".join(f"{number},{TEXT}\n" for number in range(ROWS)))


@pytest.mark.slow("a real import is killed twice")
@pytest.mark.parametrize("key", ["_id", "k"])
def test_an_import_over_shards_killed_twice_has_every_row_once_at_one_server(
    brimline_cli: CommandLine, shards: Shards, key: str
) -> None:
    write_rows(brimline_cli.directory, key)
    with shards.first.slow_inserts(), shards.second.slow_inserts():
        running = shards.start(brimline_cli, 1, "rows.csv", "--headerline", "-d", "shards", "-c", f"of{key}", *SLOWLY)
        settled = 0
        for attempt in (2, 3):
            settled = kill_behind_a_checkpoint(brimline_cli, running, settled=settled, after_s=0.1)
            running = shards.start(brimline_cli, attempt, "--resume", "latest")
    outcome = running.end()
    assert outcome.exit_code == 0, outcome.stderr
    counts = json.loads(outcome.stdout)["counts"]
    assert (counts["read"], counts["inserted"], counts["rejected"]) == (ROWS, ROWS, 0)
    first, second = shards.values(f"of{key}", key)
    assert sorted(first + second) == list(range(ROWS))
    assert abs(len(first) - len(second)) < ROWS / 10


@pytest.mark.slow("a real import meets a server that dies")
def test_one_of_the_shards_is_waited_for(brimline_cli: CommandLine, shards: Shards) -> None:
    write_rows(brimline_cli.directory, "_id")
    at = ("rows.csv", "--headerline", "-d", "shards", "-c", "waited", "--wait-for-server", "30s", *SLOWLY)
    with shards.first.slow_inserts(), shards.second.slow_inserts():
        running = shards.start(brimline_cli, 1, *at)

        def is_written() -> bool:
            return all(shards.values("waited", "_id"))

        assert eventually(is_written, timeout_s=30), "nothing was written"
        shards.second.kill()

        def is_noticed() -> bool:
            return any('"server_lost"' in path.read_text() for path in brimline_cli.runs.glob("*/events.jsonl"))

        assert eventually(is_noticed, timeout_s=30), "that it is gone was not noticed"
        shards.second.start()
    # The exit code is left out: what a killed mongod's statistics say of its number of documents may stay wrong.
    document = json.loads(running.end().stdout)
    assert (document["count_after"], document["counts"]["rejected"]) == (ROWS, 0)
    (events,) = brimline_cli.runs.glob("*/events.jsonl")
    assert events.read_text().count('"server_back"') == 1
    first, second = shards.values("waited", "_id")
    assert sorted(first + second) == list(range(ROWS))


@pytest.mark.slow("two servers are brought up")
def test_every_mode_meets_a_document_at_the_server_that_has_it(
    brimline_cli: CommandLine, shards: Shards, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = import_data.server_in_use

    @contextmanager
    def both(*arguments: Any, **options: Any) -> Iterator[Deployment]:
        with found(*arguments, **options) as first:
            yield replace(first, shards=(shards.second.address,))

    monkeypatch.setattr(import_data, "server_in_use", both)

    def imported(id_: str, x: int, *words: str) -> dict[str, int]:
        rows = "".join(f'{{"_id": {{"k": {id_ % number}}}, "x": {x}}}\n' for number in range(200))
        (brimline_cli.directory / "rows.json").write_text(rows)
        at = ("--uri", shards.first.uri, "-d", "shards", "-c", "modes")
        outcome = brimline_cli.run("import", "rows.json", *at, *words, "-q", "--json")
        assert outcome.exit_code == 0, outcome.stderr
        counts: dict[str, int] = outcome.json()["counts"]
        return counts

    def values() -> list[int]:
        first, second = shards.values("modes", "x")
        assert min(len(first), len(second)) > 0
        return first + second

    whole, double, decimal = "%d", '{"$numberDouble": "%d.0"}', '{"$numberDecimal": "%d.00"}'
    assert imported(whole, 1)["inserted"] == 200
    assert imported(double, 2)["rejected"] == 200
    assert values() == [1] * 200
    assert imported(whole, 3, "--mode", "merge")["inserted"] == 0
    assert values() == [3] * 200
    assert imported(decimal, 4, "--mode", "upsert")["inserted"] == 0
    assert values() == [4] * 200
    assert imported(decimal, 5, "--drop")["inserted"] == 200
    assert values() == [5] * 200
    imported(double, 6, "--mode", "delete")
    assert shards.values("modes", "x") == [[], []]
