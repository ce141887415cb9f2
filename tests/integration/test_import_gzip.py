"""Compressed inputs that are cut, damaged or go on behind their end: every whole record is in, and the end is told."""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bson
import pymongo
import pytest

from tests.support.command_line import CommandLine
from tests.support.repetitions import each_once

ROWS = range(3)
FORMATS: dict[str, tuple[bytes, Sequence[str]]] = {
    "json": (b"".join(b'{"_id":%d}\n' % row for row in ROWS), ()),
    "json without a last line break": (b'{"_id":0}\n{"_id":1}\n{"_id":2}', ()),
    "array": (b'[{"_id":0},\n{"_id":1},{"_id":2}]', ("--jsonArray",)),
    "csv": (b"_id,a\r\n0,x\r\n1,y\r\n2,z\r\n", ("--type", "csv", "--headerline")),
    "csv without a last line break": (b"_id,a\n0,x\n1,y\n2,z", ("--type", "csv", "--headerline")),
    "tsv": (b"0\tx\n1\ty\n2\tz\n", ("--type", "tsv", "-f", "_id,a")),
    "bson": (b"".join(bson.encode({"_id": row}) for row in ROWS), ("--type", "bson")),
}
CUT, DIFFERS = "cut off within its checksum", "its checksum differs"
DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "without its trailer": (lambda packed: packed[:-8], CUT),
    "without a part of it": (lambda packed: packed[:-3], CUT),
    "another checksum": (lambda packed: packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:], DIFFERS),
    "another length": (lambda packed: packed[:-1] + b"\1", "its length is not"),
    "text behind": (lambda packed: packed + b"and text\n", "something follows"),
    "zeros and text behind": (lambda packed: packed + bytes(512) + b"and text\n", "something follows"),
}


def imported(here: CommandLine, uri: str, packed: bytes, *options: str) -> tuple[Any, list[Any]]:
    """What became of an import, and the `_id`s that are in."""
    Path("input.gz").write_bytes(packed)
    with pymongo.MongoClient[dict[str, Any]](uri) as client:
        client["gzip"]["c"].drop()
        outcome = here.run("import", "input.gz", "--uri", uri, "-d", "gzip", "-c", "c", "--json", *options)
        return outcome, [each["_id"] for each in client["gzip"]["c"].find().sort("_id")]


@pytest.mark.parametrize(("form", "damage"), each_once(list(FORMATS), list(DAMAGES)))
def test_every_record_is_in_before_a_wrong_end_is_told(form: str, damage: str, here: CommandLine, uri: str) -> None:
    (text, options), (damaged, words) = FORMATS[form], DAMAGES[damage]
    outcome, found = imported(here, uri, damaged(gzip.compress(text)), *options)
    outcome.check_error(4, "the input can't be read on", words, "so far 3 documents are in")
    assert found == [0, 1, 2]
    assert outcome.json()["counts"]["inserted"] == 3


@pytest.mark.parametrize("form", FORMATS)
def test_zeros_behind_the_end_are_no_damage(form: str, here: CommandLine, uri: str) -> None:
    """Tapes and blocks are filled up with them; gzip reads on behind them, too."""
    text, options = FORMATS[form]
    for packed in (gzip.compress(text) + bytes(10_000), gzip.compress(text) + bytes(3) + gzip.compress(b"") + bytes(1)):
        outcome, found = imported(here, uri, packed, *options)
        assert (outcome.exit_code, found) == (0, [0, 1, 2]), outcome.stderr


def test_a_cut_within_the_data_leaves_every_whole_line(here: CommandLine, uri: str) -> None:
    """Data that are stored, not compressed, are cut where one wants."""
    text = FORMATS["csv"][0]
    packed = gzip.compress(text, compresslevel=0)
    assert text in packed
    for cut, whole in ((b"2,z\r", [0, 1]), (b"2,z", [0, 1]), (b"_id,a\r\n0,x\r\n", [0])):
        end = packed.index(cut) + len(cut)
        outcome, found = imported(here, uri, packed[:end], *FORMATS["csv"][1])
        outcome.check_error(4, "ends in the middle")
        assert found == whole


@pytest.mark.parametrize("replacing", [False, True])
def test_a_flipped_bit_is_blamed_on_the_compression(here: CommandLine, uri: str, replacing: bool) -> None:
    """Whether what it makes of the text is an error or another value."""
    packed = gzip.compress(FORMATS["json"][0], compresslevel=0)
    drop = ("--drop",) if replacing else ()
    outcome, found = imported(here, uri, packed.replace(b'"_id":2', b'"_id":6'), *drop)
    outcome.check_error(4, DIFFERS)
    assert found == [0, 1, 6]
    outcome, found = imported(here, uri, packed.replace(b'"_id":2', b'"_id"z2'), *drop)
    outcome.check_error(4, "line 3", DIFFERS, "as it was read, a colon is missing")
    assert found == [0, 1]
    outcome, found = imported(here, uri, packed.replace(b'{"_id":0', b'["_id":0'), *drop)
    outcome.check_error(2, "line 1", DIFFERS, "as it was read, an array is no document", "nothing was imported")
    outcome, _ = imported(here, uri, gzip.compress(b'{"_id":0}\n{"_id"z1}\n'))
    assert "compressed" not in outcome.error and outcome.exit_code == 4
