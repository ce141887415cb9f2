"""`measurementtype=raw`: every single latency, as YCSB writes it, and what the record's log of operations says."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymongo
import pytest

from brimline.record import read_record
from brimline.record.operation_log import read_operation_log
from brimline.servers import Deployment
from tests.support.command_line import CommandLine, Outcome
from tests.support.ycsb_golden import GOLDEN, form, recorded

pytestmark = pytest.mark.mongod

NAME = "ycsbraw"


@pytest.fixture
def url(mongod: Deployment) -> Iterator[str]:
    """The property of an empty database."""
    with pymongo.MongoClient[dict[str, Any]](f"mongodb://{mongod.address}", directConnection=True) as client:
        client.drop_database(NAME)
        yield f"mongodb.url=mongodb://{mongod.address}/{NAME}?w=1"
        client.drop_database(NAME)


def ycsb(cli: CommandLine, url: str, phase: str, letter: str, *properties: str) -> Outcome:
    given = [word for each in (url, *properties) for word in ("-p", each)]
    return cli.run("ycsb", phase, "mongodb", "-P", str(GOLDEN / f"workload{letter}.properties"), *given)


def record_of(cli: CommandLine, outcome: Outcome) -> Path:
    told = next(line for line in outcome.stderr.splitlines() if line.startswith("record: "))
    return cli.directory / told.removeprefix("record: ")


def data_form(lines: list[str]) -> list[str]:
    """Headers, and a line with its numbers masked for each stretch of rows of one measurement."""
    masked = [re.sub(r"^([A-Za-z-]+),\d+,\d+$", r"\1,N,N", line) for line in lines]
    return [line for index, line in enumerate(masked) if index == 0 or line != masked[index - 1]]


def rows_of(lines: list[str]) -> dict[str, list[int]]:
    """The latencies by measurement."""
    rows: dict[str, list[int]] = {}
    for line in lines:
        if found := re.fullmatch(r"([A-Za-z-]+),(\d+),(\d+)", line):
            rows.setdefault(found[1], []).append(int(found[3]))
    return rows


def without_data(text: str, name: str) -> str:
    """The text without rows and the name of the file."""
    lines = [line for line in text.splitlines() if not re.search(r",\d+,\d+$| latency raw data: ", line)]
    return "\n".join(lines).replace(name, "FILE")


@pytest.mark.parametrize(
    ("letter", "golden", "properties"),
    [
        ("a", "a-run.raw", ["measurementtype=raw"]),
        ("a", "a-run.raw-nosummary", ["measurementtype=raw", "measurement.raw.no_summary=true"]),
        ("a", "a-run.hdr-raw-combined", ["measurementtype=hdrhistogram+raw"]),
        ("f", "f-run.raw", ["measurementtype=raw"]),
        ("e", "e-run.raw", ["measurementtype=raw"]),
    ],
)
def test_text_and_file_are_as_recorded(
    brimline_cli: CommandLine, url: str, letter: str, golden: str, properties: list[str]
) -> None:
    assert ycsb(brimline_cli, url, "load", letter).exit_code == 0
    before_ms = time.time_ns() // 1_000_000
    run = ycsb(brimline_cli, url, "run", letter, *properties, "measurement.raw.output_file=raw.txt")
    after_ms = time.time_ns() // 1_000_000
    said, expected = (
        without_data(text, name)
        for text, name in ((run.stdout, "raw.txt"), (recorded(f"{golden}.stdout"), f"{golden}.data.txt"))
    )
    assert form(said) == form(expected)
    lines = (brimline_cli.directory / "raw.txt").read_text().splitlines()
    assert data_form(lines) == data_form((GOLDEN / f"{golden}.data.txt").read_text().splitlines())
    stamps = [int(line.split(",")[1]) for line in lines if re.search(r",\d+,\d+$", line)]
    assert before_ms <= min(stamps) <= max(stamps) <= after_ms
    rows = rows_of(lines)
    for name, latencies in rows.items():
        assert f"[{name}], Total Operations, {len(latencies)}\n" in run.stdout
        if "no_summary" not in "".join(properties):
            ordered = sorted(latencies)
            assert f"[{name}], Max, {ordered[-1]}\n" in run.stdout
            assert f"[{name}], p95, {ordered[int(len(ordered) * 0.95)]}\n" in run.stdout


def test_rows_on_standard_output_come_before_the_figures(brimline_cli: CommandLine, url: str) -> None:
    assert ycsb(brimline_cli, url, "load", "a").exit_code == 0
    run = ycsb(brimline_cli, url, "run", "a", "measurementtype=raw")
    expected = recorded("a-run.raw-stdout.stdout")
    head, golden_head = (text[: text.index("[OVERALL]")].splitlines() for text in (run.stdout, expected))
    assert data_form(head[1:]) == data_form([line for line in golden_head if not line.startswith("mongo client")])
    assert sum(len(each) for each in rows_of(head).values()) == 1001, "and the end of the connections"


def test_failures_are_measured_apart(brimline_cli: CommandLine, url: str) -> None:
    """Every insert of a load that comes second fails."""
    assert ycsb(brimline_cli, url, "load", "a").exit_code == 0
    again = ycsb(brimline_cli, url, "load", "a", "measurementtype=raw")
    assert Counter({name: len(each) for name, each in rows_of(again.stdout.splitlines()).items()}) == {
        "INSERT-FAILED": 1000,
        "CLEANUP": 1,
    }
    assert "[INSERT], Total Operations, 0\n[INSERT], Return=ERROR, 1000\n" in again.stdout


def test_intended_latencies_count_from_when_an_operation_was_due(brimline_cli: CommandLine, url: str) -> None:
    assert ycsb(brimline_cli, url, "load", "c").exit_code == 0
    words = ["measurementtype=raw", "measurement.interval=both", "target=400", "operationcount=400"]
    rows = rows_of(ycsb(brimline_cli, url, "run", "c", *words).stdout.splitlines())
    assert len(rows["READ"]) == len(rows["Intended-READ"]) == 400
    assert sum(rows["READ"]) < sum(rows["Intended-READ"])


def test_the_log_holds_every_operation_once(brimline_cli: CommandLine, url: str) -> None:
    assert ycsb(brimline_cli, url, "load", "f").exit_code == 0
    run = ycsb(brimline_cli, url, "run", "f", "measurementtype=raw", "threadcount=8", "operationcount=3000")
    record = read_record(record_of(brimline_cli, run))
    log = read_operation_log(record.directory)
    assert len(log) == 3000 and record.imbalances == ()
    assert (log["sent_ns"] <= log["done_ns"]).all()
    histogram = record.histograms["read", "service"]
    reads = log[log["kind"] == 0]
    assert histogram.count() == len(reads)
    assert abs(int((reads["done_ns"] - reads["sent_ns"]).max()) - histogram.max()) <= histogram.max() / 500
