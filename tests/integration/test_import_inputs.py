"""Inputs of brimline import that are not what they seem: compressed, a pipe, changed while they are read."""

import bz2
import gzip
import io
import lzma
import os
import signal
import threading
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pymongo
import pytest

from brimline.execution.import_inputs import other_separators
from brimline.record.data_import import InputFile
from tests.support.command_line import CommandLine
from tests.support.importing import SLOWLY, begun
from tests.support.own_mongod import OwnMongod
from tests.support.server import slow
from tests.support.waiting import eventually

ROWS = 15_000
NOWHERE = "mongodb://127.0.0.1:1"
TEXT = b"a,b\n1,2\n"


def zipped(name: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, TEXT)
    return archive.getvalue()


COMPRESSED = {
    "gzip": (gzip.compress(TEXT), "--gzip"),
    "zip": (zipped("rows.csv"), "unpack it"),
    "bzip2": (bz2.compress(TEXT), "decompress it"),
    "xz": (lzma.compress(TEXT), "decompress it"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x58\x49\0\0" + TEXT, "decompress it"),
}


@pytest.mark.parametrize(
    "options",
    [
        ("--type", "csv", "--headerline"),
        ("--type", "tsv", "-f", "a,b"),
        ("--type", "json"),
        ("--type", "json", "--jsonArray"),
        ("--type", "bson"),
    ],
)
@pytest.mark.parametrize("compression", COMPRESSED)
def test_a_compressed_file_is_told_before_a_server_is_asked(
    compression: str,
    options: tuple[str, ...],
    here: CommandLine,
) -> None:
    content, advice = COMPRESSED[compression]
    Path("rows.csv").write_bytes(content)
    outcome = here.run("import", "rows.csv", "--uri", NOWHERE, "-c", "c", *options)
    outcome.check_error(2, compression, advice, "rows.csv", "nothing was imported")
    assert not Path("runs").exists()


@pytest.mark.parametrize(("name", "options"), [("rows.csv.gz", ()), ("rows.csv", ("--gzip",))])
def test_a_file_that_is_not_compressed_is_told(
    name: str,
    options: tuple[str, ...],
    here: CommandLine,
) -> None:
    Path(name).write_bytes(TEXT)
    outcome = here.run("import", name, "--uri", NOWHERE, "-c", "c", "--headerline", *options)
    outcome.check_error(2, name, "not compressed with gzip", "--gzip")


def test_an_array_says_how_it_is_read(here: CommandLine, uri: str) -> None:
    Path("rows.json").write_text('[{"a": 1}, {"a": 2}]')
    here.run("import", "rows.json", "--uri", uri, "-d", "arrays").check_error(2, "line 1", "--jsonArray")
    assert here.run("import", "rows.json", "--uri", uri, "-d", "arrays", "--jsonArray").exit_code == 0


def test_compressed_standard_input_is_told(brimline_cli: CommandLine, uri: str) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, COMPRESSED["gzip"][0])
    os.close(write_end)

    def take_pipe() -> None:
        os.dup2(read_end, 0)

    running = brimline_cli.start_fresh("import", "--uri", uri, "-d", "packed", "-c", "c", before_exec=take_pipe)
    os.close(read_end)
    running.end().check_error(2, "standard input", "gzip", "--gzip")


def test_files_that_can_not_be_inputs_leave_the_collection_as_it_was(here: CommandLine, uri: str) -> None:
    Path("1.csv").write_text("a,b\n1,2\n")
    Path("2.csv").write_text("a,a\n1,2\n")
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        client["kept"]["c"].insert_one({"_id": "before"})
        outcome = here.run("import", "1.csv", "2.csv", "--headerline", "--uri", uri, "-d", "kept", "-c", "c", "--drop")
        outcome.check_error(2, "2.csv, line 1", "there twice", "nothing was imported")
        assert [each["_id"] for each in client["kept"]["c"].find()] == ["before"]


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_lines_that_end_with_cr_alone_are_told(here: CommandLine, uri: str, kind: str) -> None:
    """All of it is one header, as mongoimport reads it too: the end says so, and nothing is dropped for it."""
    Path("mac.txt").write_bytes(b"a,b\r1,2\r3,4\r")
    at = ("import", "mac.txt", "--type", kind, "--headerline", "--uri", uri, "-d", "mac", "-c", kind)
    with pymongo.MongoClient[Any](uri) as client:
        client["mac"][kind].replace_one({"_id": "before"}, {}, upsert=True)
        here.run(*at, "--drop").check_error(2, "CR alone", "tr '\\r' '\\n'")
        outcome = here.run(*at, "-q")
        assert (outcome.exit_code, [each["_id"] for each in client["mac"][kind].find()]) == (0, ["before"])
    assert "No record was read: the input's lines end with CR alone." in outcome.stdout
    Path("mac.txt").write_bytes(b"a\r\r\n1\r\r\n")
    assert here.run(*at).exit_code == 0


def test_a_name_that_ends_with_gz_in_capitals_is_gzip(here: CommandLine, uri: str) -> None:
    Path("ROWS.CSV.GZ").write_bytes(gzip.compress(b"a\n1\n") + gzip.compress(b"2\n"))
    outcome = here.run("import", "ROWS.CSV.GZ", "--headerline", "--uri", uri, "-d", "capitals", "--drop", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    assert (outcome.json()["namespace"], outcome.json()["counts"]["inserted"]) == ("capitals.ROWS", 2)


# What is in a repository in place of a large file: a pointer of Git LFS.
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935\nsize 123456789\n"


@pytest.mark.parametrize("name", ["puzzles.bson", "lfs.json"])
@pytest.mark.parametrize("through_pipe", [False, True], ids=["file", "pipe"])
def test_a_first_record_that_can_not_be_read_leaves_the_collection_as_it_was(
    name: str, through_pipe: bool, here: CommandLine, uri: str
) -> None:
    Path(name).write_text(POINTER)
    file = name
    if through_pipe:
        file = f"pipe-{name}"
        os.mkfifo(file)
        threading.Thread(target=lambda: Path(file).write_text(POINTER), daemon=True).start()
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        client["kept"]["first"].replace_one({"_id": "before"}, {}, upsert=True)
        client["kept"]["first"].create_index("theirs")
        outcome = here.run("import", file, "--uri", uri, "-d", "kept", "-c", "first", "--drop")
        outcome.check_error(2, f"{file}, ", "1: ", "nothing was imported")
        assert [each["_id"] for each in client["kept"]["first"].find()] == ["before"]
        assert sorted(client["kept"]["first"].index_information()) == ["_id_", "theirs_1"]


def test_an_input_that_is_empty_can_be_read(here: CommandLine, uri: str) -> None:
    """Beside `--drop` it is an error: `test_import_drop.py`."""
    Path("empty.json").write_text("\n")
    assert here.run("import", "empty.json", "--uri", uri, "-d", "kept", "-c", "empty").exit_code == 0


@pytest.mark.parametrize(
    ("text", "kind", "names"),
    [
        ("a;b\n1;2\n", "csv", "semicolons"), ("a\tb\n1\t2\n", "csv", "tabs"), ("a|b\n", "csv", "bars"),
        ("a,b\n1;2\n", "csv", "semicolons"), ("\na,b\n\n1\t2\n", "csv", "tabs"), ("a,b\n1,2\n", "tsv", "commas"),
        ("a,b\n1,2\n", "csv", None), ("a,b\n1;2,3\n", "csv", None), ("a\n1;2\n", "csv", None),
        ("a,b,c\n1;2\n", "csv", None), ("a\tb\n1,5\t2\n", "tsv", None), ("", "csv", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
def test_a_table_with_another_separator_is_told(
    text: str, kind: str, names: str | None, packed: bool, tmp_path: Path
) -> None:
    path = tmp_path / ("t.gz" if packed else "t")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    told = other_separators([InputFile(path=str(path), gzip=packed, size_bytes=1)], kind)
    assert (told and told[0].split("separated by ")[1].split(",")[0]) == (names or [])


def test_another_separator_is_told_on_the_terminal(here: CommandLine, uri: str) -> None:
    Path("t.csv").write_text("a;b\n1;2\n")
    outcome = here.run("import", "t.csv", "--headerline", "--uri", uri, "-d", "separators", "--drop")
    assert outcome.exit_code == 0 and "seems to be separated by semicolons, and is read" in outcome.stderr


def test_a_mark_in_front_of_the_names_of_a_field_file_is_no_name(here: CommandLine, uri: str) -> None:
    Path("names.txt").write_bytes(b"\xef\xbb\xbf_id\r\nv\r\n")
    Path("rows.csv").write_text("1,2\n")
    outcome = here.run("import", "rows.csv", "--fieldFile", "names.txt", "--uri", uri, "-d", "inputs", "-c", "marked")
    assert outcome.exit_code == 0, outcome.stderr
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        assert list(client["inputs"]["marked"].find()) == [{"_id": 1, "v": 2}]
        client.drop_database("inputs")


def test_that_a_flag_of_json_changes_nothing_of_a_table_is_said(here: CommandLine, uri: str) -> None:
    """mongoimport takes it as well."""
    Path("rows.csv").write_text("_id\n1\n")
    outcome = here.run(
        "import", "rows.csv", "--jsonArray", "--headerline", "--uri", uri, "-d", "inputs", "-c", "flagged"
    )
    assert outcome.exit_code == 0 and "--jsonArray is of JSON, and changes nothing of csv" in outcome.stderr
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        client.drop_database("inputs")


def test_an_empty_file_that_should_be_compressed_says_that_it_is_empty(here: CommandLine, uri: str) -> None:
    Path("rows.json.gz").write_bytes(b"")
    for more in ((), ("--drop",)):
        outcome = here.run("import", "rows.json.gz", "--uri", uri, "-d", "inputs", *more)
        outcome.check_error(2, "it is empty, and compressed with gzip even nothing has a header")


def test_a_pipe_is_read_once_and_whole(here: CommandLine, uri: str) -> None:
    os.mkfifo("rows")
    lines = "".join(f"{number}\n" for number in range(300_000))

    def write() -> None:
        Path("rows").write_text("k\n" + lines)

    at = ("--uri", uri, "-d", "piped", "--type", "csv", "--headerline")
    here.run("import", "rows", *at).check_error(2, "pipe", "--collection")
    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    outcome = here.run("import", "rows", *at, "-c", "c", "--json")
    writer.join(10)
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.json()["count_after"] == 300_000
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        assert client["piped"]["c"].count_documents({"k": {"$gte": 0}}) == 300_000


@pytest.mark.slow("an input is read for seconds")
@pytest.mark.parametrize("change", ["cut", "grown"])
def test_a_file_that_changes_while_it_is_read_proves_nothing(brimline_cli: CommandLine, uri: str, change: str) -> None:
    path = brimline_cli.directory / "changing.csv"
    path.write_text("k,s\n" + "".join(f"{k},{'x' * 180}\n" for k in range(ROWS)))
    with slow(uri, "insert"):
        at = ("--uri", uri, "-d", "changing", "-c", change)
        running = brimline_cli.start("import", path, "--headerline", *at, *SLOWLY, "-q", "--json")
        assert eventually(lambda: begun(brimline_cli), timeout_s=60)
        if change == "cut":
            os.truncate(path, 4 + 184 * 10)
        else:
            with path.open("a") as file:
                file.write("1,2\n")
        assert running.process.poll() is None, "the import was over before the file was changed"
        outcome = running.end()
    outcome.check_error(4, "not proven", "changed while it was read", "changing.csv", "size")
    checks = {each["name"]: each["result"] for each in outcome.json()["checks"]}
    assert (checks["inputs"], checks["conservation"], checks["count"]) == ("fail", "pass", "pass")


def test_what_standard_input_can_not_do_is_said_before_it_is_read(brimline_cli: CommandLine, uri: str) -> None:
    at = ("--uri", uri, "-d", "piped", "-c", "c")
    waiting = brimline_cli.run("import", "-", *at, "--wait-for-server", "5s")
    waiting.check_error(2, "only when files are imported", "--resume")
    beside = brimline_cli.run("import", "-", "also.json", *at)
    beside.check_error(2, "standard input", "one after the other")
    assert not brimline_cli.runs.exists()


def test_a_pipe_to_which_nobody_writes_keeps_nobody_waiting(brimline_cli: CommandLine, uri: str) -> None:
    os.mkfifo(brimline_cli.directory / "rows")
    at = ("--uri", uri, "-d", "quiet", "-c", "c", "-q")
    running = brimline_cli.start("import", "rows", *at)
    assert eventually(lambda: begun(brimline_cli), timeout_s=60)
    running.send(signal.SIGINT)
    running.end(timeout_s=30).check_error(130, "interrupted by SIGINT", "so far 0 documents", "--resume")


@pytest.mark.slow("an input is read for seconds")
def test_a_server_that_dies_is_told_though_a_pipe_stays_open(brimline_cli: CommandLine, tmp_path: Path) -> None:
    fifo = brimline_cli.directory / "rows"
    os.mkfifo(fifo)
    lines = b'{"a":1}\n' * 60_000
    with OwnMongod.running(tmp_path / "db") as server:
        running = brimline_cli.start("import", "rows", "--uri", server.uri, "-d", "quiet", "-c", "c", "-q")
        with fifo.open("wb", buffering=0) as pipe, server.client() as client:
            written = pipe.write(lines)
            some = lambda: client["quiet"]["c"].estimated_document_count() > 0  # noqa: E731
            assert written == len(lines) and eventually(some, timeout_s=60)
            server.kill()
            with suppress(BrokenPipeError):
                pipe.write(lines)
            running.end(timeout_s=30).check_error(5, "the server went away", "so far", "--resume")


@pytest.mark.parametrize(
    "options",
    [
        ("--upsert",),
        ("--upsert", "--mode", "upsert", "--upsertFields", "k"),
        ("--writeConcern", "{w:'majority'}"),
        ("-v",),
        ("-vvv", "--verbose"),
        ("--verbose=3",),
        ("-v=5",),
    ],
    ids=" ".join,
)
def test_command_lines_of_mongoimport_are_taken(options: tuple[str, ...], here: CommandLine, uri: str) -> None:
    Path("ROWS.CSV").write_text("_id,k\n1,2\n")
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        kept = client["lines"]["c"]
        kept.drop()
        for type_ in ((), ("--type", "CSV")):
            outcome = here.run(
                "import", "ROWS.CSV", "--headerline", "--uri", uri, "-d", "lines", "-c", "c", *type_, *options
            )
            assert outcome.exit_code == 0, outcome.stderr
            assert list(kept.find()) == [{"_id": 1, "k": 2}]


@pytest.mark.parametrize("mode", ["insert", "merge", "delete"])
def test_upsert_beside_another_mode_is_refused(mode: str, here: CommandLine) -> None:
    Path("rows.json").write_text('{"a": 1}\n')
    outcome = here.run("import", "rows.json", "--uri", NOWHERE, "--upsert", "--mode", mode)
    outcome.check_error(2, "--upsert is --mode upsert", mode)


@pytest.mark.parametrize(
    "names",
    [
        ("rows.json", "rows.json"),
        ("rows.json", "./rows.json"),
        ("*.json",),
        ("rows.json", "same.json"),
        ("rows.json", "--file", "rows.json"),
        ("dump", "dump/shop/c.bson"),
    ],
    ids=" ".join,
)
def test_a_file_that_is_named_twice_is_refused(names: tuple[str, ...], here: CommandLine) -> None:
    Path("rows.json").write_text('{"a": 1}\n')
    Path("same.json").symlink_to("rows.json")
    Path("dump/shop").mkdir(parents=True)
    Path("dump/shop/c.bson").write_bytes(b"\5\0\0\0\0")
    here.run("import", *names, "--uri", NOWHERE, "-c", "c").check_error(2, "is named twice", "each file once")
