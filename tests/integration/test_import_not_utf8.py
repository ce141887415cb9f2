"""brimline import of text that is not UTF-8: the documents that mongoimport makes of it, and a note with the line."""

import json
from pathlib import Path
from typing import Any

import bson
import pymongo
import pytest
from bson.codec_options import CodecOptions

from tests.support.command_line import CommandLine
from tests.support.importing import SLOWLY, kill_behind_a_checkpoint, start
from tests.support.server import slow

ROWS = 15_000


def test_replaced_bytes_are_told_in_every_form(here: CommandLine, uri: str) -> None:
    Path("1.csv").write_bytes(b"k,s\n1,x\n")
    Path("2.csv").write_bytes(b"k,\xe9\n2,x\n3,\xe9\xe9\n\xff,\xff\n")
    at = ("import", "1.csv", "2.csv", "--headerline", "--uri", uri, "-d", "latin", "-c", "c")
    outcome = here.run(*at)
    said = "4 cells or column names hold bytes that are not UTF-8"
    assert outcome.exit_code == 0 and said in outcome.stdout, outcome.stderr
    assert "in line 1 of 2.csv" in " ".join(outcome.stdout.split())
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        found = list(client["latin"]["c"].find({}, {"_id": 0}))
    assert sorted(found, key=str) == sorted(
        [
            {"k": 1, "s": "x"},
            {"k": 2, "\ufffd": "x"},
            {"k": 3, "\ufffd": "\ufffd" * 2},
            {"k": "\ufffd", "\ufffd": "\ufffd"},
        ],
        key=str,
    )
    for words in (("show", "latest"), ("report", "latest", "--format", "md", "-o", "-")):
        assert said in here.run(*words).stdout
        assert "4 个单元格或列名含有非 UTF-8 字节" in here.run(*words, "--lang", "zh").stdout
    assert said in next(Path("runs").glob("*/report.html")).read_text()
    document = here.run("show", "latest", "--json").json()
    assert (document["counts"]["not_utf8"], document["first_not_utf8"]) == (4, {"input": 1, "offset": 0, "line": 1})
    kept = json.loads(next(Path("runs").glob("*/record.json")).read_text())
    assert (kept["counts"]["not_utf8"], kept["first_not_utf8"]["line"]) == (4, 1)


@pytest.mark.parametrize(
    ("more", "stored", "said"), [((), b"\xff", "stored as they are"), (("--legacy",), "\ufffd".encode(), "U+FFFD")]
)
def test_strings_of_json_are_told_whether_they_are_kept_or_not(
    here: CommandLine, uri: str, more: tuple[str, ...], stored: bytes, said: str
) -> None:
    Path("rows.json").write_bytes('{"_id":1,"s":"é"}\n{"_id":2,"s":"'.encode() + b'\xff"}\n')
    outcome = here.run("import", "rows.json", "--uri", uri, "-d", "latin", "-c", "json", "--drop", "--json", *more)
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert (document["counts"]["not_utf8"], document["first_not_utf8"]["line"]) == (1, 2)
    assert said in next(each["evidence"] for each in document["checks"] if each["name"] == "text")
    lenient: CodecOptions[Any] = CodecOptions(document_class=bson.raw_bson.RawBSONDocument)
    with pymongo.MongoClient[Any](uri) as client:
        raw = client["latin"].get_collection("json", codec_options=lenient).find_one({"_id": 2})
    assert raw is not None and raw.raw.endswith(stored + b"\0\0")


def test_a_rejected_row_counts_as_it_was_sent_and_a_skipped_one_does_not(here: CommandLine, uri: str) -> None:
    Path("rows.csv").write_bytes(b"_id.int32(),s.string()\n1,\xe9\n1,\xe9\nx,\xe9\n")
    at = ("--uri", uri, "-d", "latin", "-c", "twice", "--columnsHaveTypes", "--parseGrace", "skipRow")
    document = here.run("import", "rows.csv", "--headerline", *at, "--json").json()
    assert (document["counts"]["inserted"], document["counts"]["rejected"]) == (1, 2)
    assert document["counts"]["not_utf8"] == 2


@pytest.mark.slow("a real import is killed and goes on")
def test_a_killed_import_counts_each_cell_once(brimline_cli: CommandLine, uri: str) -> None:
    path = brimline_cli.directory / "rows.csv"
    with path.open("wb") as out:
        out.write(b"k,\xe9\n")
        out.writelines(b"%d,%s\xe9\n" % (number, b"x" * 1_000) for number in range(ROWS))
    at = ("--uri", uri, "-d", "latin", "-c", "killed")
    with slow(uri, "insert"):
        running = start(brimline_cli, 1, path, "--headerline", *at, *SLOWLY)
        settled = len(b"k,\xe9\n")  # the header is settled by itself
        for attempt in (2, 3):
            settled = kill_behind_a_checkpoint(brimline_cli, running, settled=settled, after_s=0.0)
            running = start(brimline_cli, attempt, "--resume", "latest", "--uri", uri)
    outcome = running.end()
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert document["attempts"] == 3 and document["counts"]["inserted"] == ROWS
    assert (document["counts"]["not_utf8"], document["first_not_utf8"]["line"]) == (ROWS + 1, 1)
