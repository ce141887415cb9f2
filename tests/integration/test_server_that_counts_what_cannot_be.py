"""A run against a server whose counters can't be and whose texts would do harm, from the command to every file."""

import csv
import io
import re
from pathlib import Path
from random import Random
from typing import Any

import bson
import pytest

from brimline.servers import Deployment
from tests.support.command_line import CommandLine
from tests.support.lies import Document, Lie, Sending, edited, told_of
from tests.support.lying_server import lying_server

pytestmark = [pytest.mark.mongod, pytest.mark.other_client]

EVIL = '=HYPERLINK("http://x")\u2028+1\u202e-2\x1b[31m@SUM(A1)\r\n<script>alert(1)</script>'
HARMFUL = re.compile("[\u2028\u2029\u202a-\u202e\u2066-\u2069\x1b\x07]")
MANY = bson.Int64(9 * 10**18)


class _Backwards:
    """Counters that go back by one with each reply, below 0 from the second on."""

    def __init__(self) -> None:
        self._told = 1

    def __call__(self) -> bson.Int64:
        self._told -= 1
        return bson.Int64(self._told)


def _impossible() -> Lie:
    count = _Backwards()
    counters = ("insert", "query", "update", "delete", "getmore", "command")

    def spoil(_random: Random, request: bytes, reply: bytes) -> Sending:
        command = told_of(request)

        def edit(document: Document) -> None:
            if document.get("ok") != 1:
                return
            if command == "serverStatus":
                document["opcounters"] = {name: count() for name in counters}
                document["connections"] = {"current": MANY, "available": bson.Int64(-1)}
                document["storageEngine"] = {"name": EVIL}
                document["extra_info"] = {"user_time_us": MANY, "system_time_us": bson.Int64(-5)}
            if command == "hostInfo":
                document["system"] = {"numCores": MANY, "hostname": EVIL}
                document["os"] = {"name": EVIL, "version": EVIL}
            if command == "buildInfo":
                document["version"] = EVIL

        return Sending(edited(reply, edit))

    return Lie("what can't be", spoil, always=True)


@pytest.mark.slow("a run, its report in every format, against a server behind another")
def test_what_it_counts_is_unknown_and_what_it_writes_does_no_harm(here: CommandLine, mongod: Deployment) -> None:
    with lying_server(mongod.address, _impossible()) as address:
        at = ("--uri", f"mongodb://{address}/impossible", "--records", "200", "--data", "load", "--drop")
        outcome = here.run("run", "ycsb-a", "--rate", "200/s", "--duration", "1s", "--warmup", "0s", *at, "--details")
    assert outcome.exit_code in (0, 3, 4), outcome.stderr  # by how busy this machine is
    _check_text(outcome.stdout + outcome.stderr, "terminal")
    shown = [path.name for path in Path("runs").rglob("*") if path.is_file() and b"HYPERLINK" in path.read_bytes()]
    assert set(shown) >= {"report.html", "environment.json"}, "what it writes is not shown: the test shows nothing"
    assert "server CPU unknown" in outcome.stdout
    assert here.run("report", "latest", "--format", "all").exit_code == 0
    (record,) = (
        path.parent for path in Path("runs").glob("*-ycsb-a-*/record.json") if "-load-" not in path.parent.name
    )
    document: dict[str, Any] = here.run("show", "latest", "--json").json()
    for path in sorted(record.rglob("*")):
        if path.suffix not in {".html", ".md", ".csv", ".jtl"}:
            continue
        text = path.read_text(encoding="utf-8")
        _check_text(text, path.name)
        assert "<script>alert(1)" not in text, path.name
        if path.suffix in {".csv", ".jtl"}:
            rows = csv.reader(io.StringIO(text))
            cells = [cell for row in rows for cell in row if cell]
            assert not [cell for cell in cells if cell[0] in "=+@" or re.match(r"-[^0-9.]", cell)], path.name
    checks = {each["name"]: each["result"] for each in document["checks"]}
    assert checks["opcounters"] == "unknown", "what was counted can't be"


def _check_text(text: str, where: str) -> None:
    assert not (found := HARMFUL.search(text)), f"{where}: {text[max(0, found.start() - 60) : found.start() + 20]!r}"
