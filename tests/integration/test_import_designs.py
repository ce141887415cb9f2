"""An import at each combination of factors: a record a cell, an empty collection before each, no drop unasked."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymongo
import pytest
from pymongo.collection import Collection

from tests.support.command_line import CommandLine, Outcome

ROWS = "serial,quantity\n" + "".join(f"{number},{number % 7}\n" for number in range(100))
ONCE = ("--repeats", "1", "--repeats-max", "1")


@pytest.fixture
def kept(uri: str) -> Iterator[Collection[dict[str, Any]]]:
    """A collection with a document."""
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        collection = client["import_designs"]["rows"]
        collection.drop()
        collection.insert_one({"_id": "before"})
        yield collection
        client.drop_database("import_designs")


def designed(here: CommandLine, uri: str, *words: str) -> Outcome:
    (here.directory / "rows.csv").write_text(ROWS)
    return here.run("import", "rows.csv", "--headerline", "--uri", uri, "-d", "import_designs", *ONCE, *words)


def trials(here: CommandLine) -> list[Path]:
    (directory,) = here.record_directories(kind="vary")
    return sorted((directory / "trials").iterdir())


def test_each_cell_is_an_import_into_an_empty_collection(
    brimline_cli: CommandLine, uri: str, kept: Collection[dict[str, Any]]
) -> None:
    words = ("--vary", "indexes=quantity,none", "--vary", "connections=1,2")
    outcome = designed(brimline_cli, uri, "--drop", *words, "--json")
    assert outcome.exit_code == 0, outcome.stderr
    cells = trials(brimline_cli)
    assert len(cells) == 4
    records = [json.loads((cell / "record.json").read_text()) for cell in cells]
    assert {each["count_after"] for each in records} == {100}
    assert len({each["namespace"] for each in records}) == 1
    for cell, record in zip(cells, records, strict=True):
        index, connections = json.loads((cell / "trial.json").read_text())["levels"]
        facts = json.loads((cell / "server.json").read_text())
        assert str(record["settings"]["workers"]) == connections
        assert facts["after"]["collStats"]["nindexes"] == (1 if index == "none" else 2)
    assert "storage_size" in outcome.stdout
    assert kept.count_documents({}) == 100


def test_how_many_documents_a_command_has_is_varied_on_a_server_that_stays(
    brimline_cli: CommandLine, uri: str, kept: Collection[dict[str, Any]]
) -> None:
    """It is a word to the import, and needs no other server."""
    outcome = designed(brimline_cli, uri, "--drop", "--vary", "batch-size=10,50")
    assert outcome.exit_code == 0, outcome.stderr
    records = [json.loads((cell / "record.json").read_text()) for cell in trials(brimline_cli)]
    assert sorted(each["settings"]["batch_size"] for each in records) == [10, 50]


def test_an_order_that_can_not_be_kept_is_refused_before_a_server_is_started(
    brimline_cli: CommandLine,
) -> None:
    (brimline_cli.directory / "rows.csv").write_text(ROWS)
    topologies = ("--vary", "topology=standalone,client-routed-2")
    outcome = brimline_cli.run("import", "rows.csv", "--headerline", "--maintainInsertionOrder", *topologies)
    outcome.check_error(2, "the order of the input can't be kept on client-routed-2", "--maintainInsertionOrder")
    assert brimline_cli.record_directories() == []
    assert "starting" not in outcome.stderr


def test_a_cell_that_was_cut_short_is_made_anew_and_no_other(
    brimline_cli: CommandLine, uri: str, kept: Collection[dict[str, Any]]
) -> None:
    assert designed(brimline_cli, uri, "--drop", "--vary", "connections=1,2").exit_code == 0
    first, second = trials(brimline_cli)
    trial = json.loads((second / "trial.json").read_text())
    (second / "trial.json").write_text(json.dumps({name: each for name, each in trial.items() if name != "took_s"}))
    before = (first / "record.json").stat().st_mtime_ns
    state = first.parent.parent / "experiment.json"
    state.write_text(state.read_text().replace('"ended_by": "completed"', '"ended_by": null'))
    outcome = brimline_cli.run("import", "--resume", "latest", "--uri", uri)
    assert outcome.exit_code == 0, outcome.stderr
    assert [json.loads((each / "trial.json").read_text())["levels"] for each in trials(brimline_cli)] == [
        json.loads((first / "trial.json").read_text())["levels"],
        trial["levels"],
    ]
    assert (first / "record.json").stat().st_mtime_ns == before
    assert kept.count_documents({}) == 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--vary", "connections=1,2"), "this server stays"),
        (("--drop", "--vary", "indexes=none,nowhere"), 'no field "nowhere"'),
        (("--drop", "--vary", "indexes=none,compound", "--vary", "records=1,2"), "its documents are those of files"),
        (("--drop", "--vary", "connections=1,2", "--throw-away"), "a server that doesn't stay"),
        (("--drop", "--vary", "connections=1,300"), "--numInsertionWorkers is 300"),
        (("--drop", "--vary", "connections=1,2", "--wait-for-server", "1s"), "no effect with --vary"),
    ],
)
def test_what_can_not_be_is_refused_before_anything_is_dropped(
    words: tuple[str, ...], message: str, brimline_cli: CommandLine, uri: str, kept: Collection[dict[str, Any]]
) -> None:
    designed(brimline_cli, uri, *words).check_error(2, message)
    assert kept.count_documents({}) == 1
    assert brimline_cli.record_directories() == []


def test_indexes_of_others_are_not_touched(
    brimline_cli: CommandLine, uri: str, kept: Collection[dict[str, Any]]
) -> None:
    kept.create_index("theirs")
    outcome = designed(brimline_cli, uri, "--drop", "--vary", "indexes=none,single")
    outcome.check_error(4, "has indexes of its own: theirs_1")
    assert kept.count_documents({}) == 1
    assert "theirs_1" in kept.index_information()
