"""Every operation in a log, against a real mongod: YCSB's raw measurements, and what an early end leaves."""

import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from brimline.record import read_record
from brimline.record.model import answered_count, finished_count
from brimline.record.operation_log import count_rows, csv_text
from brimline.servers import Deployment
from tests.support.command_line import CommandLine
from tests.support.small_disk import small_disk
from tests.support.ycsb_command import Database, record_of, ycsb_with
from tests.support.ycsb_golden import GOLDEN, form, raw_form, recorded

pytestmark = pytest.mark.mongod

DATABASE = "ycsblog"


def check_balanced(directory: Path) -> None:
    """Rows = operations that finished, by kind and ending; the sealing has counted the file's own rows."""
    record = read_record(directory)
    assert record.summary is not None and not record.imbalances and not record.files_changed
    assert record.summary["operation_log"]["lost"] == 0
    rows = count_rows(directory)
    for operation, totals in record.summary["operations"].items():
        assert rows[operation] == {ending: totals[ending] for ending in ("ok", "miss", "failed")}  # type: ignore[literal-required]


def test_raw_latencies_go_where_they_are_wanted(brimline_cli: CommandLine, url: str, database: Database) -> None:
    load = ycsb_with(
        brimline_cli, url, "load", "a", "measurementtype=raw", "measurement.raw.output_file=a-load.raw.data.txt"
    )
    assert load.exit_code == 0, load.stderr
    assert form(load.stdout) == form(recorded("a-load.raw.stdout"))
    ours = (brimline_cli.directory / "a-load.raw.data.txt").read_text()
    assert raw_form(ours) == raw_form((GOLDEN / "a-load.raw.data.txt").read_text())
    assert len(ours.splitlines()) == 1003
    check_balanced(record_of(brimline_cli, load))
    begun = time.time_ns() // 1_000_000
    run = ycsb_with(brimline_cli, url, "run", "a", "measurementtype=raw")
    assert raw_form(run.stdout) == raw_form(recorded("a-run.raw-stdout.stdout"))
    ends = [int(line.split(",")[1]) for line in run.stdout.splitlines() if line.startswith(("READ,", "UPDATE,"))]
    assert len(ends) == 1000
    assert begun < min(ends) <= max(ends) <= time.time_ns() // 1_000_000
    check_balanced(record_of(brimline_cli, run))


def test_inserts_that_fail_have_their_own_lines(brimline_cli: CommandLine, url: str, database: Database) -> None:
    assert ycsb_with(brimline_cli, url, "load", "e").exit_code == 0
    ycsb_with(brimline_cli, url, "run", "e")
    asked = ("measurementtype=raw", "measurement.raw.output_file=e-run.raw.data.txt")
    again = ycsb_with(brimline_cli, url, "run", "e", *asked)
    case = "e-run.insert-failures-raw"
    assert sorted(form(again.stdout)) == sorted(form(recorded(f"{case}.stdout")))
    ours = (brimline_cli.directory / "e-run.raw.data.txt").read_text()
    assert sorted(raw_form(ours)) == sorted(raw_form((GOLDEN / f"{case}.data.txt").read_text()))
    check_balanced(record_of(brimline_cli, again))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_early_end_leaves_a_log_that_can_be_read(
    brimline_cli: CommandLine, url: str, database: Database, number: signal.Signals
) -> None:
    assert ycsb_with(brimline_cli, url, "load", "c").exit_code == 0
    words = ["-target", "200", "-p", "operationcount=100000", "-p", url, "-p", "measurementtype=raw"]
    path = str(GOLDEN / "workloadc.properties")
    running = brimline_cli.start("ycsb", "run", "mongodb", "-P", path, *words)
    directory = brimline_cli.wait_for_samples("workloadc")
    running.send(number)
    outcome = running.end()
    rows = count_rows(directory)["read"]["ok"]
    answered = answered_count(read_record(directory).operations)
    assert rows >= answered > 0, "each interval that is told is there"
    assert "".join(csv_text(directory)).count("\n") == rows + 1
    if number == signal.SIGINT:
        assert Counter(line.split(",")[0] for line in outcome.stdout.splitlines())["READ"] == rows
        check_balanced(directory)


def test_a_full_disk_loses_rows_and_neither_the_run_nor_the_rest_of_the_record(
    brimline_cli: CommandLine, tmp_path: Path
) -> None:
    spec = tmp_path / "full.yaml"
    spec.write_text("data: {records: 100}\noperations: {read: 1}\nwarmup: 0s\nduration: 2s\noperation_log: true\n")
    with small_disk(tmp_path / "disk", "8m") as place:
        brimline_cli.run("run", str(spec), "--null", "-q", "--runs-dir", str(place))
        (directory,) = place.iterdir()
        record = read_record(directory)
        assert record.complete and record.summary is not None and not record.imbalances
        log = record.summary["operation_log"]
        assert log["lost"] > log["written"] > 100_000 and "No space left" in (log["error"] or "")
        assert count_rows(directory)["read"]["ok"] == log["written"]
        assert log["written"] + log["lost"] == record.summary["ok"]


def test_a_native_run_logs_its_warm_up_too(brimline_cli: CommandLine, mongod: Deployment, database: Database) -> None:
    spec = brimline_cli.directory / "logged.yaml"
    spec.write_text(
        "data: {records: 100, database: ycsblog}\noperations: {read: 1, read_modify_write: 1}\n"
        "load: {kind: constant, rate: 500}\nconnections: 4\nthreads: 2\nwarmup: 500ms\nduration: 1s\n"
        "operation_log: true\n"
    )
    uri = f"mongodb://{mongod.address}"
    run = brimline_cli.run("run", str(spec), "--uri", uri, "--data", "load", "-q", "--json")
    (directory,) = [path for path in brimline_cli.record_directories() if "-load-" not in path.name]
    check_balanced(directory)
    out = brimline_cli.run("report", str(directory), "--format", "operations", "-o", "-")
    assert out.exit_code == 0, out.stderr + run.stderr
    logged = Counter(line.split(",")[1] for line in out.stdout.splitlines()[1:])
    told = Counter[str]()
    for row in read_record(directory).operations:
        told[row["phase"]] += finished_count([row])
    assert logged == told and set(told) == {"warmup", "measure"}
