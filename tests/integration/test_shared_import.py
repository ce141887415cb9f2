"""Imports that several nodes share: what one client imports, to the last document, and what a lost node leaves."""

import gzip
import json
import signal
from collections.abc import Sequence
from typing import Any

import bson
import psutil
import pymongo
import pytest
from bson.raw_bson import RawBSONDocument

from brimline.execution.cluster import cluster
from tests.support.command_line import CommandLine, Outcome
from tests.support.importing import SLOWLY, start
from tests.support.nodes import HereLink
from tests.support.repetitions import each_once, repetitions
from tests.support.server import slow
from tests.support.waiting import eventually

ROWS = 900


@pytest.fixture(autouse=True)
def _nodes_of_this_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes take their time to start: they are left to the test that kills one."""
    if "who" not in request.fixturenames:
        monkeypatch.setattr(cluster, "ProcessLink", HereLink)


def _row(number: int, line_end: str) -> str:
    number = 0 if number % 300 == 0 else number  # of such rows, which are alike, one comes in and two are refused
    text = 'über "Köln",\n' if number % 7 == 0 else "x" * (number % 50) * 12
    price = "free" if number % 90 == 0 else f"{number}.5"
    quoted = '"' + text.replace('"', '""') + '"'
    return f"{number},{quoted},{price}{line_end}"


def _table(*, line_end: str = "\n") -> str:
    rows = "".join(_row(number, line_end) for number in range(ROWS))
    return f"_id.int32(),text.string(),price.double(){line_end}{rows}".removesuffix(line_end)


def _documents() -> list[dict[str, Any]]:
    return [{"_id": number, "text": "ü}{\n" * (number % 5), "nested": {"n": [number, {}]}} for number in range(ROWS)]


FORMATS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "csv": ("t.csv", _table(), ("--headerline", "--columnsHaveTypes", "--parseGrace", "skipField")),
    "csv-crlf": ("t.csv", _table(line_end="\r\n"), ("--headerline", "--columnsHaveTypes", "--parseGrace", "skipRow")),
    "tsv": ("t.tsv", "".join(f"{n}\tä{n}\n" for n in range(ROWS)), ("--fields", "_id,text")),
    "lines": ("t.json", "\n".join(json.dumps(each) for each in _documents()), ()),
    "pretty": (
        "t.json",
        "".join(json.dumps(each, indent=1, ensure_ascii=False) for each in _documents()),
        (),
    ),
    "array": ("t.json", json.dumps(_documents(), indent=2), ("--jsonArray",)),
}


def _imported(cli: CommandLine, uri: str, name: str, words: Sequence[str], workers: int | None) -> Outcome:
    at = ("--uri", uri, "-d", "shared_import", "-c", "c", "--drop", "-q", "--json", "-j", "4")
    shared = () if workers is None else ("--workers", f"local:{workers}")
    return cli.run("import", name, *at, *words, *shared)


def _stored(uri: str) -> list[bytes]:
    with pymongo.MongoClient[RawBSONDocument](uri, document_class=RawBSONDocument) as client:
        return [bytes(each.raw) for each in client["shared_import"]["c"].find({}, sort={"_id": 1})]


def _entries(cli: CommandLine) -> list[dict[str, Any]]:
    directory = max(cli.runs.glob("*/record.json")).parent
    return [json.loads(line) for line in (directory / "rejected.jsonl").read_text().splitlines()]


def _rejects(cli: CommandLine) -> list[tuple[int, int, str]]:
    """Lines, offsets and reasons; which of rows with one key the server refuses is not the same each time."""
    entries = _entries(cli)
    told = [(each["line"], each["offset"], each["reason"]) for each in entries]
    assert told == sorted(told), "in the order of the input"
    return [(0, 0, "a duplicate") if entry["code"] else each for entry, each in zip(entries, told, strict=True)]


@pytest.mark.mongod
@pytest.mark.parametrize(("kind", "workers"), each_once(tuple(FORMATS), (4, 2, 1)))
def test_nodes_import_what_one_client_does(brimline_cli: CommandLine, uri: str, kind: str, workers: int) -> None:
    name, text, words = FORMATS[kind]
    (brimline_cli.directory / name).write_text(text, newline="")
    alone = _imported(brimline_cli, uri, name, words, None)
    assert alone.exit_code == 0, alone.stderr
    expected, documents, rejects = alone.json(), _stored(uri), _rejects(brimline_cli)
    shared = _imported(brimline_cli, uri, name, words, workers)
    assert shared.exit_code == 0, shared.stderr
    told = shared.json()
    assert told["counts"] == expected["counts"]
    assert told["cells_not_of_their_type"] == expected["cells_not_of_their_type"]
    assert told["count_after"] == expected["count_after"]
    assert len(told["nodes"]) == workers
    assert sum(node["documents"] for node in told["nodes"]) == expected["counts"]["inserted"]
    assert _stored(uri) == documents
    assert sorted(_rejects(brimline_cli)) == sorted(rejects)


@pytest.mark.mongod
@pytest.mark.parametrize("kind", ["csv", "array"])
def test_a_node_that_has_another_file_is_sent_its_part(
    brimline_cli: CommandLine, uri: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is the same file is not told by its name."""
    name, text, words = FORMATS[kind]
    path = brimline_cli.directory / name
    path.write_text(text, newline="")
    expected = _imported(brimline_cli, uri, name, words, None).json()
    documents = _stored(uri)
    monkeypatch.setattr(cluster, "identity_of", lambda path: f"on another machine {path}")
    told = _imported(brimline_cli, uri, name, words, 3).json()
    assert told["counts"] == expected["counts"]
    assert _stored(uri) == documents
    sent = [node["sent_bytes"] for node in told["nodes"]]
    assert all(0 < each < path.stat().st_size * 0.6 for each in sent)
    assert sum(sent) >= path.stat().st_size


@pytest.mark.mongod
def test_several_files_and_compressed_ones_are_one_input(brimline_cli: CommandLine, uri: str) -> None:
    (brimline_cli.directory / "a.json").write_text("".join(f'{{"_id": {n}}}\n' for n in range(400)))
    with gzip.open(brimline_cli.directory / "b.json.gz", "wt") as file:
        file.write("".join(f'{{"_id": {n}, "text": "{n}"}}\n' for n in range(400, 3000)))
    (brimline_cli.directory / "c.json").write_text('{"_id": 1}\n{"_id": 5000}')
    names = ("b.json.gz", "c.json")
    alone = _imported(brimline_cli, uri, "a.json", names, None).json()
    shared = _imported(brimline_cli, uri, "a.json", names, 3).json()
    assert shared["counts"] == alone["counts"]
    assert (shared["counts"]["inserted"], shared["counts"]["rejected"]) == (3001, 1)
    (rejected,) = _entries(brimline_cli)
    assert (rejected["input"], rejected["line"]) in ((2, 1), (0, 2))


@pytest.mark.mongod
def test_what_ends_one_part_ends_the_import_and_the_server_tells_what_is_in(
    brimline_cli: CommandLine, uri: str
) -> None:
    lines = [f'{{"_id": {number}}}' for number in range(2000)]
    lines[1500] = '{"_id": 1500'
    (brimline_cli.directory / "t.json").write_text("\n".join(lines))
    outcome = _imported(brimline_cli, uri, "t.json", (), 2)
    outcome.check_error(4, "the input can't be read on", "line 1501", "so far", "the same command again replaces them")
    told = outcome.json()
    assert told["count_after"] == told["document_count"] == len(_stored(uri))
    stored = {bson.decode(each)["_id"] for each in _stored(uri)}
    assert {*range(1200, 1500)} <= stored, "what comes before it in its own part is in"
    assert 1500 not in stored and told["document_count"] < 2000


@pytest.mark.mongod
def test_a_part_that_can_not_be_read_at_all_costs_no_document(brimline_cli: CommandLine, uri: str) -> None:
    path = brimline_cli.directory / "t.json"
    path.write_text("".join(f'{{"_id": {number}}}\n' for number in range(2000)))
    assert _imported(brimline_cli, uri, "t.json", (), None).exit_code == 0
    path.write_text("".join(f'{{"_id": {number}}}\n' for number in range(1000)) + "{]\n" * 2000)
    assert _imported(brimline_cli, uri, "t.json", (), 4).exit_code == 4
    assert len(_stored(uri)) == 2000, "nothing was emptied"


@pytest.mark.mongod
@pytest.mark.parametrize("own_ids", [True, False])
def test_a_lost_node_ends_the_import_and_it_goes_on_without_doubling_a_row(
    brimline_cli: CommandLine, uri: str, monkeypatch: pytest.MonkeyPatch, own_ids: bool
) -> None:
    key = "_id" if own_ids else "k"
    text = "x" * 2000
    rows = "".join(f"{number},{text}\n" for number in range(4000))
    (brimline_cli.directory / "t.csv").write_text(f"{key}.int32(),text.string()\n{rows}")
    links = [HereLink(), HereLink(lost_after=34)]
    monkeypatch.setattr(cluster, "ProcessLink", lambda: links.pop(0) if links else HereLink())
    words = ("--headerline", "--columnsHaveTypes", "--batchSize", "20")
    with slow(uri, "insert"):
        lost = _imported(brimline_cli, uri, "t.csv", words, 2)
    lost.check_error(4, "node 1 (", "was lost: it is lost for a test", "so far", "import --resume")
    told = lost.json()
    assert told["count_after"] == told["document_count"] == len(_stored(uri)) < 4000
    assert [node["lost"] is None for node in told["nodes"]] == [True, False]
    at = ("import", "--resume", "latest", "--uri", uri, "-q", "--json")
    other = brimline_cli.run(*at, "--workers", "local:1")
    other.check_error(2, "shared out among 2 workers", "--workers local:2")
    too_few = brimline_cli.run(*at, "-j", "1")
    too_few.check_error(2, "1 connection can't be shared out among 2 workers", "give -j 2 or more")
    again = brimline_cli.run(*at)
    assert again.exit_code == 0, again.stderr
    assert again.json()["counts"]["inserted"] == again.json()["count_after"] == 4000
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        assert len(client["shared_import"]["c"].distinct(key)) == 4000


def test_what_can_not_be_shared_out_is_one_error(brimline_cli: CommandLine) -> None:
    (brimline_cli.directory / "t.json").write_text("{}\n")
    at = ("--uri", "mongodb://127.0.0.1:9", "-c", "c", "--workers", "local:2")
    brimline_cli.run("import", "-", *at).check_error(2, "standard input can't be shared out", "write it to a file")
    ordered = brimline_cli.run("import", "t.json", "--maintainInsertionOrder", *at)
    ordered.check_error(2, "the order of the input can't be kept by several nodes", "--maintainInsertionOrder")
    assert not brimline_cli.runs.exists()


@pytest.mark.mongod
@pytest.mark.slow("commands with nodes of their own, and their end")
@pytest.mark.parametrize("who", ["node", *repetitions("command")])
def test_however_an_import_ends_nothing_runs_on_and_it_goes_on(brimline_cli: CommandLine, uri: str, who: str) -> None:
    text = "x" * 1000
    (brimline_cli.directory / "t.csv").write_text("k,text\n" + "".join(f"{number},{text}\n" for number in range(5_000)))
    at = ("--uri", uri, "-d", "shared_import", "-c", f"ended_{who}", "--headerline", "--drop", "--workers", "local:2")
    with slow(uri, "insert"):
        running = start(brimline_cli, 1, "t.csv", *at, *SLOWLY)
        nodes = psutil.Process(running.process.pid).children()
        with pymongo.MongoClient[dict[str, Any]](uri) as client:
            assert eventually(
                lambda: client["shared_import"][f"ended_{who}"].estimated_document_count() > 100, timeout_s=60
            )
        if who == "node":
            nodes[1].kill()
        else:
            running.send(signal.SIGINT)
        outcome = running.end()
    outcome.check_error(*((4, "was lost: its process ended with signal 9") if who == "node" else (130, "interrupted")))
    assert eventually(lambda: not any(each.is_running() for each in nodes), timeout_s=10)
    told = outcome.json()
    assert 0 < told["count_after"] == told["document_count"] < 5_000
    again = brimline_cli.run("import", "--resume", "latest", "--uri", uri, "-q", "--json", "--workers", "local:2")
    assert again.exit_code == 0, again.stderr
    assert again.json()["counts"]["inserted"] == again.json()["count_after"] == 5_000
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        assert len(client["shared_import"][f"ended_{who}"].distinct("k")) == 5_000
