"""`import --drop` deletes nothing before all that it needs is there: documents, and a collection that takes them."""

import gzip
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pymongo
import pytest
from pymongo.collection import Collection
from pymongo.errors import AutoReconnect, OperationFailure

from brimline.dataset import anew
from brimline.dataset.trial import trial_name
from tests.support.command_line import CommandLine
from tests.support.repetitions import each_once

BEFORE = [{"_id": number, "kind": "old", "n": number} for number in range(5)]
JSON, CSV = ("--type", "json"), ("--type", "csv", "--headerline")
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935\nsize 123456789\n"
HAWSER = POINTER.replace(b"git-lfs", b"hawser")
ANNEX = b"/annex/objects/SHA256E-s1048576--4d7a214614ab2935.csv\nx\n"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0"


@pytest.fixture
def kept(uri: str) -> Iterator[Collection[dict[str, Any]]]:
    """A collection with five documents."""
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        collection = client["dropping"]["c"]
        collection.drop()
        collection.insert_many(BEFORE)
        yield collection
        assert not [name for name in client["dropping"].list_collection_names() if "trial" in name]


def dropping(here: CommandLine, uri: str, file: str, *options: str) -> Any:
    return here.run("import", file, "--uri", uri, "-d", "dropping", "-c", "c", "--drop", *options)


EMPTY = (
    (b"", JSON), (b" \n\t\r\n", JSON), (b"\xef\xbb\xbf\n", JSON), (b"null\n", JSON), (b"null null\n\n", JSON),
    (b"[null]", (*JSON, "--jsonArray")), (b"", ("--type", "bson")),
    (b"a,b\n", CSV), (b"a,b\r\n\r\n\n", CSV), (b"a\tb\n", ("--type", "tsv", "--headerline")),
    (b"", ("--type", "csv", "-f", "a,b")), (b"\n\n", ("--type", "csv", "-f", "a,b")),
    (b"x\nno\n", ("--type", "csv", "-f", "x.int32()", "--columnsHaveTypes", "--parseGrace", "skipRow")),
)  # fmt: skip


@pytest.mark.parametrize(("input_", "form"), each_once(EMPTY, ["file", "gzip", "pipe"]))
def test_an_input_without_a_document_replaces_nothing(
    input_: tuple[bytes, tuple[str, ...]], form: str, here: CommandLine, uri: str, kept: Collection[Any]
) -> None:
    content, options = input_
    packed = ("--gzip",) if form == "gzip" else ()
    content = gzip.compress(content) if packed else content
    if form == "pipe":
        os.mkfifo("input")
        threading.Thread(target=lambda: Path("input").write_bytes(content), daemon=True).start()
    else:
        Path("input").write_bytes(content)
    outcome = dropping(here, uri, "input", *options, *packed)
    outcome.check_error(2, "no document", "nothing was dropped", "deleteMany({})")
    assert list(kept.find()) == BEFORE


def test_what_a_killed_import_left_of_its_trial_is_taken_away(
    here: CommandLine, uri: str, kept: Collection[Any]
) -> None:
    """But for the trial of a command that may be at work; the fixture sees to it that no other is left."""
    young = trial_name("c")
    old = f"{young[:-12]}{int(time.time()) - 601:08x}0000"
    for name in (young, old):
        kept.database[name].insert_one({"_id": 7})
    Path("a.json").write_text('{"_id": 7}\n')
    assert dropping(here, uri, "a.json").exit_code == 0
    assert list(kept.find()) == [{"_id": 7}]
    assert young in kept.database.list_collection_names()
    kept.database.drop_collection(young)


def test_an_empty_table_without_its_header_replaces_nothing(here: CommandLine, uri: str, kept: Collection[Any]) -> None:
    Path("a.csv").write_bytes(b"")
    dropping(here, uri, "a.csv", "--headerline").check_error(2, "no header line", "nothing was imported")
    assert list(kept.find()) == BEFORE


def test_one_of_several_files_may_be_empty(here: CommandLine, uri: str, kept: Collection[Any]) -> None:
    Path("1.json").write_text("null\n")
    Path("2.json").write_text("")
    outcome = dropping(here, uri, "1.json", "2.json")
    outcome.check_error(2, "nor in the others", "nothing was dropped")
    assert list(kept.find()) == BEFORE
    Path("2.json").write_text('{"_id": 7}\n')
    assert dropping(here, uri, "1.json", "2.json").exit_code == 0
    assert list(kept.find()) == [{"_id": 7}]


NO_TEXT = (
    (POINTER, "Git LFS"), (PNG, "PNG"), (b"%PDF-1.4\n1 0 obj\n", "PDF"), (b"PK\3\4\x14\0\6\0\x08\0", "zip"),
    (b"<!DOCTYPE html>\n<title>404</title>\n", "HTML"), (bytes(4096), "no text"),
    (HAWSER, "Git LFS"), (ANNEX, "git annex get"), (b"%!PS-Adobe-3.0\n%%x\n", "PostScript"),
    (b"<!-- saved -->\n<HTML>\n", "HTML"), (b"<head>\n<title>404</title>\n", "HTML"), (b"<table>\n<tr>\n", "HTML"),
    (b"BM\x36\x20\x20\0\0\0\0\0a\nb\n", "BMP"), (b"ID3\x03\0\0\0\0\n,TIT2\n1\n", "MP3"),
    (b"\x93NUMPY\x01\0v\0{'shape': (3,), }\nabc\n", "NumPy"), (b"\x1f\x9d\x90a\nb\n", "uncompress"),
    ("a,b\n1,2\n".encode("utf-16-le"), "-f UTF-16LE"), ("a,b\n1,2\n".encode("utf-16"), "-f UTF-16 "),
    ("a,b\n1,2\n".encode("utf-16-be"), "-f UTF-16BE"), ("a,b\n1,2\n".encode("utf-32-be"), "-f UTF-32BE"),
    ("a,b\n1,2\n".encode("utf-32"), "-f UTF-32 "),
    (b"PK\3\4\x14\0\6\0\x08\0\0\0!\0" + bytes(16) + b"[Content_Types].xml", "Office"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("file", "options", "packed"), each_once(NO_TEXT, [JSON, CSV, ("--type", "tsv", "-f", "a,b")], [False, True])
)
def test_a_file_that_is_no_text_is_named_and_replaces_nothing(
    file: tuple[bytes, str],
    options: tuple[str, ...],
    packed: bool,
    here: CommandLine,
    uri: str,
    kept: Collection[Any],
) -> None:
    content, word = file
    Path("input").write_bytes(gzip.compress(content) if packed else content)
    outcome = dropping(here, uri, "input", *options, *(("--gzip",) if packed else ()))
    outcome.check_error(2, word, "nothing was imported")
    assert list(kept.find()) == BEFORE


def test_what_only_a_name_tells_is_told(here: CommandLine, uri: str, kept: Collection[Any]) -> None:
    """brotli has no mark of its own, and a link of git-annex leads nowhere."""
    Path("a.csv.br").write_bytes(bytes((37 * each * each + 11) % 256 for each in range(400)))
    dropping(here, uri, "a.csv.br", *CSV).check_error(2, "brotli", "nothing was imported")
    Path("b.csv").symlink_to(".git/annex/objects/qZ/1k/MD5E-s5--ab.csv/MD5E-s5--ab.csv")
    dropping(here, uri, "b.csv", *CSV).check_error(2, "git annex get")
    assert list(kept.find()) == BEFORE


def test_columns_in_angle_brackets_are_columns(here: CommandLine, uri: str, kept: Collection[Any]) -> None:
    Path("a.csv").write_text("<DATE>,<CLOSE>\n20200101,5\n")
    assert dropping(here, uri, "a.csv", "--headerline").exit_code == 0
    assert [each["<CLOSE>"] for each in kept.find()] == [5]


def rows(count: int, **fields: Any) -> str:
    return "".join(json.dumps({"_id": 100 + number, **fields}) + "\n" for number in range(count))


SHAPES: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any] | None, str]] = {
    "validator": ({"validator": {"kind": {"$exists": True}}}, None, "failed validation"),
    "unique": ({}, {"keys": "kind", "unique": True}, "duplicate key"),
    "2dsphere": ({}, {"keys": [("at", "2dsphere")]}, "geo"),
    "capped by count": ({"capped": True, "size": 1 << 20, "max": 5}, None, "would keep 5 of the first 7"),
}


@pytest.mark.parametrize(("shape", "mode"), each_once(list(SHAPES), ["insert", "upsert", "merge"]))
def test_a_collection_that_would_refuse_what_comes_stays_as_it_is(
    shape: str, mode: str, here: CommandLine, uri: str, kept: Collection[Any]
) -> None:
    options, index, reason = SHAPES[shape]
    kept.drop()
    kept.database.create_collection("c", **options)
    kept.insert_many([{**each, "kind": each["_id"]} for each in BEFORE])
    if index is not None:
        kept.create_index(**index)
    Path("rows.json").write_text(rows(7, at={"type": "Point", "coordinates": [500, 500]}))
    dropping(here, uri, "rows.json", "--mode", mode).check_error(2, reason, "nothing was changed")
    assert [each["_id"] for each in kept.find()] == [0, 1, 2, 3, 4]


ANY_SERVER_REFUSES = {
    "array": '{"_id": [1]}',
    "operator": '{"_id": {"$a": 1}}',
    "regex": '{"_id": {"$regularExpression": {"pattern": "a", "options": ""}}}',
    "undefined": '{"_id": {"$undefined": true}}',
    "nested": '{"a": ' * 190 + "1" + "}" * 190,
}


@pytest.mark.parametrize(("kind", "mode"), each_once(list(ANY_SERVER_REFUSES), ["insert", "upsert", "merge"]))
def test_what_every_server_refuses_replaces_nothing(
    kind: str, mode: str, here: CommandLine, uri: str, kept: Collection[Any]
) -> None:
    """The collection has nothing of its own that could refuse."""
    Path("rows.json").write_text(ANY_SERVER_REFUSES[kind] + "\n" + rows(3))
    dropping(here, uri, "rows.json", "--mode", mode).check_error(2, "refuses", "nothing was changed")
    assert list(kept.find()) == BEFORE


@pytest.mark.parametrize(
    ("concern", "mode"), each_once(["{w: 3}", "{w: 5, wtimeout: 50}", "{w: 'nowhere'}"], ["insert", "upsert"])
)
def test_a_write_concern_that_the_server_cannot_honour_replaces_nothing(
    mode: str, concern: str, here: CommandLine, uri: str, kept: Collection[Any]
) -> None:
    Path("rows.json").write_text(rows(3))
    dropping(here, uri, "rows.json", "--mode", mode, "--writeConcern", concern).check_error(5, "refuses")
    assert list(kept.find()) == BEFORE


def test_what_is_refused_in_part_is_imported_in_part(here: CommandLine, uri: str, kept: Collection[Any]) -> None:
    """As without a collection before: duplicates and what the validator refuses are counted and passed over."""
    kept.database.command("collMod", "c", validator={"kind": {"$ne": "bad"}})
    kept.create_index("n", unique=True)
    Path("rows.json").write_text(rows(9, kind="bad") + '{"_id": 1, "n": 1}\n{"_id": 2, "n": 2}\n{"_id": 2, "n": 3}\n')
    outcome = dropping(here, uri, "rows.json", "--json")
    assert (outcome.exit_code, outcome.json()["counts"]["rejected"]) == (0, 10)
    assert [each["_id"] for each in kept.find()] == [1, 2]
    Path("rows.json").write_text('{"_id": 5, "n": 5}\n{"_id": 5, "n": 6}\n')
    assert dropping(here, uri, "rows.json").exit_code == 0, "that it is there twice is no fault of the collection"


def test_a_validator_that_is_passed_by_refuses_nothing(here: CommandLine, uri: str, kept: Collection[Any]) -> None:
    kept.database.command("collMod", "c", validator={"kind": {"$exists": True}})
    Path("rows.json").write_text(rows(3))
    assert dropping(here, uri, "rows.json", "--bypassDocumentValidation").exit_code == 0
    assert kept.count_documents({}) == 3


def test_what_would_end_the_import_is_found_before(here: CommandLine, uri: str, kept: Collection[Any]) -> None:
    """The first documents would come in, and the import would end behind them."""
    kept.create_index([("at", "2dsphere")])
    Path("rows.json").write_text(rows(5) + '{"_id": 1, "at": {"type": "Point", "coordinates": [500, 500]}}\n')
    dropping(here, uri, "rows.json").check_error(2, "refuses 1 of the first 6 documents", "nothing was changed")
    kept.drop_indexes()
    kept.create_index("n", unique=True)
    Path("rows.json").write_text('{"_id": 1, "n": 1}\n{"_id": 2, "n": 2}\n{"_id": 3, "n": 2}\n')
    outcome = dropping(here, uri, "rows.json", "--stopOnError")
    outcome.check_error(2, "refuses 1 of the first 3 documents", "collection: dropping.c index: n_1")
    assert list(kept.find()) == BEFORE
    assert dropping(here, uri, "rows.json").exit_code == 0
    assert [each["_id"] for each in kept.find()] == [1, 2]


def test_documents_with_one_key_are_updates_of_one(here: CommandLine, uri: str, kept: Collection[Any]) -> None:
    """They don't contradict an index over the key, with an `_id` of their own or without."""
    kept.create_index("k.x", unique=True, sparse=True)
    for mode in ("upsert", "merge"):
        Path("rows.json").write_text('{"k": {"x": 1}, "n": 1}\n{"k": {"x": 1}, "n": 2}\n{"k": {"x": 1}, "m": 3}\n')
        options = ("--mode", mode, "--upsertFields", "k.x", "-j", "1")
        outcome = dropping(here, uri, "rows.json", *options)
        assert (outcome.exit_code, kept.count_documents({"k.x": 1})) == (0, 1), outcome.stderr


def test_deleting_single_documents_of_a_collection_that_is_emptied_is_a_contradiction(
    here: CommandLine, uri: str, kept: Collection[Any]
) -> None:
    Path("rows.json").write_text('{"_id": 1}\n')
    dropping(here, uri, "rows.json", "--mode", "delete").check_error(2, "--drop empties", "one of the two")
    assert list(kept.find()) == BEFORE


THEIRS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "renamed": ({"validator": {"n": {"$exists": True}}, "collation": {"locale": "de"}}, "rename"),
    "capped": ({"capped": True, "size": 1 << 20, "max": 100}, "rename"),
    "not to be renamed": ({"validator": {"n": {"$exists": True}}}, "second"),
    "time series": ({"timeseries": {"timeField": "at", "metaField": "n"}}, "second"),
}
"""Options, and where making it anew is cut short: before the rename, or between dropping and making."""


@pytest.mark.parametrize("kind", list(THEIRS))
def test_what_a_collection_has_outlives_an_import_that_ends_while_it_is_made_anew(
    kind: str, here: CommandLine, uri: str, kept: Collection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is begun anew: `--resume` has no more to go by."""

    def gone(*_: object, **__: object) -> None:
        raise AutoReconnect("the primary stepped down")

    def refused(*_: object, **__: object) -> None:
        raise OperationFailure("not authorized", 13)

    def made(database: Any, name: str, *words: Any) -> None:
        gone() if name == "c" else make(database, name, *words)

    make = anew._make
    options, cut = THEIRS[kind]
    kept.drop()
    kept.database.create_collection("c", **options)
    kept.insert_one({"n": 1, "at": datetime(2026, 1, 1, tzinfo=UTC)})
    kept.create_index("n", name="theirs", **({} if kind == "time series" else {"unique": True}))
    before = kept.options(), kept.index_information()
    Path("rows.json").write_text('{"n": 7, "at": {"$date": "2026-01-01T00:00:00Z"}}\n')
    with monkeypatch.context() as patched:
        if kind != "time series":  # which the server itself refuses
            patched.setattr(Collection, "rename", gone if cut == "rename" else refused)
        patched.setattr(anew, "_make", made)
        assert dropping(here, uri, "rows.json", *JSON).exit_code == 5
    left = sorted(name for name in kept.database.list_collection_names() if not name.startswith("system"))
    assert left == [*anew.names_beside(kept.database, "c"), *(["c"] if cut == "rename" else [])] and len(left) > 0
    assert cut != "rename" or kept.count_documents({}) == 1
    outcome = dropping(here, uri, "rows.json", *JSON)
    assert outcome.exit_code == 0, outcome.stderr
    assert (kept.options(), kept.index_information(), [each["n"] for each in kept.find()]) == (*before, [7])
    assert not anew.names_beside(kept.database, "c")
