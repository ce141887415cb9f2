"""brimline import with a real server: killed and resumed, a server that dies, input that contradicts itself."""

import gzip
import json
import random
import signal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import bson
import pymongo
import pytest

from tests.support.command_line import CommandLine
from tests.support.importing import SLOWLY, kill_behind_a_checkpoint, start
from tests.support.own_mongod import OwnMongod
from tests.support.repetitions import repetitions
from tests.support.server import slow
from tests.support.waiting import eventually

ROWS = 15_000
TEXT = "x" * 1_000
"""Long, so that a stretch of the input, which is settled whole, has few rows: soon a checkpoint lies among them."""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CSV file without _ids, and one with."""
    directory = tmp_path_factory.mktemp("rows")
    (directory / "rows.csv").write_text("k,s\n" + "".join(f"{k},{TEXT}\n" for k in range(ROWS)))
    (directory / "own.csv").write_text("_id,s\n" + "".join(f"{k},{TEXT}\n" for k in range(ROWS)))
    return directory


@pytest.mark.slow("a real import meets a server that dies")
@pytest.mark.parametrize(("name", "seed"), [("rows.csv", 1), ("own.csv", 3), *repetitions(("rows.csv", 2))])
def test_an_import_killed_twice_has_every_row_once(
    brimline_cli: CommandLine, uri: str, rows: Path, name: str, seed: int
) -> None:
    chance = random.Random(seed)
    at = ("--uri", uri, "-d", "killed", "-c", f"c{seed}")
    with slow(uri, "insert"):
        running = start(brimline_cli, 1, rows / name, "--headerline", *at, *SLOWLY)
        settled = 0
        for attempt in (2, 3):
            after_s = chance.uniform(0.0, 0.3)
            settled = kill_behind_a_checkpoint(brimline_cli, running, settled=settled, after_s=after_s)
            running = start(brimline_cli, attempt, "--resume", "latest", "--uri", uri)
    outcome = running.end()
    assert outcome.exit_code == 0, outcome.stderr
    counts = outcome.json()["counts"]
    assert counts["read"] == counts["inserted"] == ROWS
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        collection = client["killed"][f"c{seed}"]
        key = "_id" if name == "own.csv" else "k"
        assert collection.count_documents({}) == ROWS
        assert sorted(collection.distinct(key)) == list(range(ROWS))


@pytest.mark.slow("a real import meets a server that dies")
@pytest.mark.parametrize("concern", ["{w: 1, j: false}", *repetitions("majority")])
def test_a_server_that_dies_is_waited_for_and_nothing_is_missing(
    brimline_cli: CommandLine, tmp_path: Path, rows: Path, concern: str
) -> None:
    with OwnMongod.running(tmp_path / "db") as server, server.slow_inserts():
        at = ("--uri", server.uri, "-d", "dying", "-c", "c", "--writeConcern", concern)
        running = start(brimline_cli, 1, rows / "rows.csv", "--headerline", *at, *SLOWLY, "--wait-for-server", "60s")
        with server.client() as client:
            some = lambda: client["dying"]["c"].estimated_document_count() > ROWS // 10  # noqa: E731
            assert eventually(some, timeout_s=30)
        server.kill()
        assert running.process.poll() is None, "the import was over before the server was killed"
        server.start()
        outcome = running.end()
        assert outcome.exit_code == 0, outcome.stderr
        assert outcome.json()["attempts"] == 2
        with server.client() as client:
            assert client["dying"]["c"].count_documents({}) == ROWS
            assert len(client["dying"]["c"].distinct("k")) == ROWS


@pytest.mark.slow("a real import meets a server that dies")
def test_a_server_that_dies_ends_the_import_and_nothing_is_claimed_that_is_not_there(
    brimline_cli: CommandLine, tmp_path: Path, rows: Path
) -> None:
    with OwnMongod.running(tmp_path / "db") as server, server.slow_inserts():
        at = ("--uri", server.uri, "-d", "dying", "-c", "c", "--writeConcern", "{w: 1, j: false}")
        running = start(brimline_cli, 1, rows / "rows.csv", "--headerline", *at, *SLOWLY)
        with server.client() as client:
            some = lambda: client["dying"]["c"].estimated_document_count() > ROWS // 3  # noqa: E731
            assert eventually(some, timeout_s=30)
        server.kill()
        outcome = running.end()
        outcome.check_error(5, "the server went away", "so far", "--resume")
        claimed = outcome.json()["certain_counts"]["inserted"]
        server.start()
        with server.client() as client:
            assert client["dying"]["c"].count_documents({}) >= claimed
        assert brimline_cli.run("import", "--resume", "latest", "-q").exit_code == 0
        with server.client() as client:
            assert client["dying"]["c"].count_documents({}) == ROWS


def test_an_interrupted_import_keeps_what_is_in_and_goes_on(brimline_cli: CommandLine, uri: str, rows: Path) -> None:
    at = ("--uri", uri, "-d", "interrupted", "-c", "c")
    with slow(uri, "insert"):
        running = start(brimline_cli, 1, rows / "rows.csv", "--headerline", *at, *SLOWLY)
        running.send(signal.SIGINT)
        outcome = running.end()
    outcome.check_error(130, "interrupted by SIGINT", "so far", "--resume")
    before = outcome.json()
    assert before["counts"] == before["certain_counts"]
    assert before["count_after"] == before["counts"]["inserted"] < ROWS
    after = brimline_cli.run("import", "--resume", "latest", "--uri", uri, "-q", "--json").json()
    assert after["counts"]["inserted"] == after["count_after"] == ROWS
    assert after["counts"]["found"] == 0, "nothing was in doubt"
    again = brimline_cli.run("import", "--resume", "latest", "--uri", uri)
    assert again.exit_code == 0 and "nothing is left to do" in again.stderr


def test_a_changed_file_is_not_gone_on_with(brimline_cli: CommandLine, uri: str, rows: Path) -> None:
    path = brimline_cli.directory / "changing.csv"
    path.write_bytes((rows / "rows.csv").read_bytes())
    at = ("--uri", uri, "-d", "changed", "-c", "c")
    with slow(uri, "insert"):
        running = start(brimline_cli, 1, path, "--headerline", *at, *SLOWLY)
        running.send(signal.SIGKILL)
        running.end()
    path.write_text("k,s\n1,2\n")
    brimline_cli.run("import", "--resume", "latest", "--uri", uri).check_error(
        2, "was changed since the import began", "size", "import anew"
    )


def test_refused_documents_go_to_a_file_with_line_and_reason(here: CommandLine, uri: str) -> None:
    path = Path("twice.json")
    path.write_text('{"_id":1}\n{"_id":2}\n\n{"_id":1,"again":true}\n{"_id":3}\n')
    outcome = here.run("import", path, "--uri", uri, "-d", "refused", "-c", "c", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.json()["counts"]["rejected"] == 1
    (directory,) = Path("runs").glob("*-import-*")
    (line,) = [json.loads(text) for text in (directory / "rejected.jsonl").read_text().splitlines()]
    assert line["line"] == 4 and line["code"] == 11000 and line["text"] == '{"_id":1,"again":true}'
    assert "duplicate key" in line["reason"]
    said = here.run("show", directory)
    assert "1 E11000 duplicate key" in " ".join(said.stdout.split()), said.stdout
    assert "rejected.jsonl" in said.stdout


def test_the_first_refused_document_stops_it_when_asked_to(here: CommandLine, uri: str) -> None:
    path = Path("twice.json")
    path.write_text('{"_id":1}\n{"_id":1}\n{"_id":2}\n')
    at = ("--uri", uri, "-d", "stopped", "-c", "c", "--drop")
    outcome = here.run("import", path, *at, "--maintainInsertionOrder", "--json")
    outcome.check_error(4, "line 2", "duplicate key", "1 document is in, 1 record was rejected")
    assert outcome.json()["count_after"] == 1


def test_only_documents_without_an_id_of_their_own_would_be_doubled(here: CommandLine, uri: str) -> None:
    """The server is asked which of those that are in got their _id from the import: another attempt makes new ones."""
    for field, said in (("_id", "the same command again adds the others"), ("a", "double the 1 that has no _id")):
        Path("broken.json").write_text(f'{{"_id":1}}\n{{"{field}":2}}\n{{broken\n')
        outcome = here.run("import", "broken.json", "--uri", uri, "-d", "again", "-c", f"c{field}")
        outcome.check_error(4, "so far 2 documents are in", said)


@pytest.mark.parametrize(
    ("content", "options", "exit_code", "parts"),
    [
        ("1,2\n3,x\n", ["--columnsHaveTypes", "-f", "a.int32(),b.int32()"], 4, ["line 2", "so far 1 document is in"]),
        ("a,a\n1,2\n", ["--headerline"], 2, ["line 1", "nothing was imported"]),
        ("a,b\n1,2\n", [], 2, ["columns", "--headerline"]),
        ('a\n1\n2\n"x"y\n', ["--headerline"], 4, ["line 4", "so far 2 documents are in"]),
        ("1,2\n", ["--fieldFile", "absent.txt"], 2, ["--fieldFile absent.txt"]),
    ],
)
def test_bad_input_is_one_error_with_its_line(
    here: CommandLine, uri: str, content: str, options: list[str], exit_code: int, parts: list[str]
) -> None:
    Path("bad.csv").write_text(content)
    outcome = here.run("import", "bad.csv", "--uri", uri, "-d", "bad", "-c", "c", "--drop", *options)
    outcome.check_error(exit_code, *parts)


def test_what_can_not_be_an_import_is_said_before_it_begins(here: CommandLine, uri: str) -> None:
    Path("one.json").write_text("{}\n")
    Path("empty").mkdir()
    at = ("--uri", uri)
    here.run("import", "absent.json", *at).check_error(2, "absent.json can't be read: no such file")
    here.run("import", "absent.csv", *at).check_error(2, "absent.csv can't be read: no such file")
    here.run("import", "*.absent", *at).check_error(2, "no file fits *.absent")
    here.run("import", "empty", *at).check_error(2, "empty is a directory without a BSON dump")
    here.run("import", "one.json").check_error(2, "would be gone with it", "--throw-away")
    here.run("import", "one.json", *at, "--writeConcern", "0").check_error(2, "--writeConcern", "unacknowledged")
    here.run("import", "one.json", "--uri", "mongodb://127.0.0.1:1").check_error(5, "127.0.0.1:1")
    assert not Path("runs").exists()


def test_a_dump_is_imported_compressed_or_not(here: CommandLine, uri: str) -> None:
    documents = [{"_id": number, "text": "ü" * 20} for number in range(5_000)]
    dump = b"".join(bson.encode(each) for each in documents)
    database = Path("dump") / "shop"
    database.mkdir(parents=True)
    (database / "orders.bson").write_bytes(dump)
    (database / "orders.metadata.json").write_text("{}")
    (database / "users.bson.gz").write_bytes(gzip.compress(dump))
    for collection in ("orders", "users"):
        outcome = here.run("import", "dump", "--uri", f"{uri}/dumped", "-c", collection, "--json")
        assert outcome.exit_code == 0, outcome.stderr
        assert outcome.json()["count_after"] == 5_000
    here.run("import", "dump", "--uri", uri).check_error(2, "more than one collection", "orders, users")
    # A name that is no dump's leads to the file itself, and from there to no other hint.
    other = ("--uri", f"{uri}/dumped", "-c", "renamed", "--json")
    refused = here.run("import", "dump", *other)
    refused.check_error(2, "no dump of renamed, but of: orders, users", "brimline import dump/shop/orders.bson")
    assert here.run("import", "dump/shop/orders.bson", *other).json()["count_after"] == 5_000


def test_a_hint_about_a_directory_leads_on(here: CommandLine, uri: str) -> None:
    """Each can be followed as it is, and leads to no other one."""
    for place in ("two/a/my orders.bson", "two/b/my orders.bson", "own/a/orders.bson", "own/a/system.views.bson"):
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).write_bytes(bson.encode({"_id": 1}))
    at = ("--uri", f"{uri}/led", "--drop")
    for more in ((), ("-c", "my orders")):
        refused = here.run("import", "two", *more, *at)
        refused.check_error(2, "more than one dump of my orders", "'two/a/my orders.bson', 'two/b/my orders.bson'")
    assert here.run("import", "two/b/my orders.bson", *at).exit_code == 0
    refused = here.run("import", "two", "-c", "x y", *at)
    refused.check_error(2, "import 'two/a/my orders.bson' --collection 'x y'")
    assert here.run("import", "own", *at, "--json").json()["namespace"] == "led.orders", "what the server keeps is none"
    Path("own/a/orders.bson").unlink()
    kept = here.run("import", "own", *at)
    kept.check_error(2, "no dump of a collection, but of: system.views", "own/a/system.views.bson --collection NAME")
    Path("none/deep").mkdir(parents=True)
    here.run("import", "none", *at).check_error(2, "without a BSON dump", "'DIRECTORY/*.csv'")
    Path("none/deep/a b.JSON.gz").write_bytes(b"")
    here.run("import", "none", *at).check_error(2, "without a BSON dump", "name its files: 'none/deep/*.JSON.gz'")


@pytest.mark.parametrize("name", ["a/b", "50% off", "séjours.été", "集合" * 20])
def test_a_dump_goes_into_the_collection_that_it_was_taken_of(here: CommandLine, uri: str, name: str) -> None:
    database = Path("dump") / "shop"
    database.mkdir(parents=True)
    stem = quote(name, safe="$&+=:@")
    if len(stem) > 238:  # mongodump keeps so much of it, and puts a hash behind
        stem = f"{stem[:208]}%24{'h' * 27}"
    (database / f"{stem}.bson.gz").write_bytes(gzip.compress(bson.encode({"_id": 1})))
    metadata = {"options": {}, "indexes": [], "collectionName": name}
    (database / f"{stem}.metadata.json.gz").write_bytes(gzip.compress(json.dumps(metadata).encode()))
    (database / "other.bson").write_bytes(bson.encode({"_id": 2}))
    at = ("--uri", f"{uri}/restored", "--drop", "--json")
    by_file = here.run("import", database / f"{stem}.bson.gz", *at)
    assert (by_file.exit_code, by_file.json()["namespace"]) == (0, f"restored.{name}"), by_file.stderr
    by_directory = here.run("import", "dump", "-c", name, *at)
    assert (by_directory.exit_code, by_directory.json()["count_after"]) == (0, 1), by_directory.stderr


def test_documents_are_added_to_those_that_are_there(here: CommandLine, uri: str) -> None:
    Path("one.json").write_text("{}\n")
    at = ("import", "one.json", "--uri", uri, "-d", "added")
    here.run(*at)
    second = here.run(*at, "--json")
    assert "holds 1 document already: the import adds to them" in second.stderr
    assert second.json()["count_before"] == 1 and second.json()["count_after"] == 2
    assert here.run(*at, "--drop", "--json").json()["count_after"] == 1


@pytest.mark.slow("a real import meets a server that dies")
def test_another_writer_is_noticed(brimline_cli: CommandLine, uri: str, rows: Path) -> None:
    with slow(uri, "insert"):
        at = ("--uri", uri, "-d", "shared", "-c", "c")
        running = start(brimline_cli, 1, rows / "rows.csv", "--headerline", *at, *SLOWLY)
        with pymongo.MongoClient[dict[str, Any]](uri) as client:
            client["shared"]["c"].insert_one({"_id": "somebody else's"})
        outcome = running.end()
    outcome.check_error(4, "the import is not proven", f"where {ROWS // 1000} 000 should be")


def test_the_report_is_there_in_every_form(here: CommandLine, uri: str, rows: Path) -> None:
    at = ("--uri", uri, "-d", "reported", "-c", "c", "--drop")
    assert here.run("import", rows / "rows.csv", "--headerline", *at).exit_code == 0
    shown = here.run("show", "latest", "--lang", "zh").stdout
    assert "导入速率" in shown
    text = here.run("report", "latest", "--format", "md", "-o", "-").stdout
    assert "Client CPU per document" in text and "15 000 records read" in text
    document = here.run("report", "latest", "--format", "json", "-o", "-").json()
    assert document["counts"]["inserted"] == ROWS
    assert {each["name"]: each["result"] for each in document["checks"]}["count"] == "pass"
