"""Recorded command lines of YCSB, given to `brimline ycsb` word by word; both streams are held against the recorded."""

import os
import shutil
import signal
from collections.abc import Sequence

import pytest

from brimline.record import read_record
from brimline.servers import Deployment, bundled
from tests.support.command_line import CommandLine, Running
from tests.support.public_histograms import figures, merged_by_tag, public_intervals
from tests.support.repetitions import repetitions
from tests.support.server import required_mongod
from tests.support.ycsb_command import (
    Database,
    check_measured,
    record_of,
    url_property,
    value,
    ycsb,
)
from tests.support.ycsb_golden import GOLDEN, error_form, output_form, recorded, recorded_words

pytestmark = pytest.mark.mongod

DATABASE = "ycsb"


def replay(cli: CommandLine, address: str, case: str, more: Sequence[str] = ()) -> Running:
    """A recorded command line from its own directory, with another address; of flags given twice the later counts."""
    phase, flags = recorded_words(case)
    for path in GOLDEN.glob("*.properties"):
        shutil.copy(path, cli.directory)
    return cli.start("ycsb", phase, "mongodb", *(word.replace("127.0.0.1:27017", address) for word in flags), *more)


def recorded_error(case: str, more: Sequence[str] = ()) -> str:
    """What YCSB said on standard error, had it been called with `more` flags."""
    first, *rest = recorded(f"{case}.stderr").splitlines()
    return "\n".join([" ".join([first, *more]), *rest])


# Brimline's most popular record is popular enough for all of its fields to be written anew, and be as expected then.
EVENLY = ("-p", "requestdistribution=uniform")


@pytest.mark.parametrize(
    ("case", "loaded", "exit_code"),
    [
        ("a-load.default", False, 0),
        ("a-run.default", True, 0),
        ("a-run.dataintegrity", True, 4),
        ("a-run.exportfile", True, 0),
        ("c-run.missing-table", False, 4),
        *repetitions(  # each has a test in test_ycsb_front.py, without the words that were recorded
            ("a-load.duplicate-keys", True, 4),
            ("a-run.status-label", True, 0),
            ("a-run.maxexecutiontime", True, 0),
        ),
    ],
)
def test_both_streams_are_as_recorded(
    brimline_cli: CommandLine,
    mongod: Deployment,
    url: str,
    database: Database,
    case: str,
    loaded: bool,
    exit_code: int,
) -> None:
    if loaded:
        assert ycsb(brimline_cli, url, "load", "a").exit_code == 0
    more = EVENLY if case == "a-run.dataintegrity" else ()
    outcome = replay(brimline_cli, mongod.address, case, more).end()
    assert output_form(outcome.stdout) == output_form(recorded(f"{case}.stdout"))
    assert error_form(outcome.stderr) == error_form(recorded_error(case, more))
    if exit_code:
        outcome.check_error(exit_code)
    else:
        check_measured(outcome)
    export = brimline_cli.directory / "a-run.exportfile.txt"
    assert export.exists() is (case == "a-run.exportfile")
    if export.exists():
        assert output_form(export.read_text()) == output_form(recorded("a-run.exportfile.txt"))


@pytest.mark.slow("a server is given up only after its time")
def test_a_server_that_goes_away_during_a_run(brimline_cli: CommandLine) -> None:
    """All of 32 connections have an operation under way, so that reads fail as well as updates, as in the recorded run.

    The recorded run went on for 25 s; here the time limit comes before brimline gives the server up.
    """
    more = ("-threads", "32", "-target", "0", "-p", "operationcount=100000000", "-p", "maxexecutiontime=4")
    with bundled(binary=required_mongod(), cache_gb=0.25) as server:
        address = url_property(server, DATABASE)
        assert ycsb(brimline_cli, address, "load", "a").exit_code == 0
        running = replay(brimline_cli, server.address, "a-run.server-stopped", more)
        brimline_cli.wait_for_samples("workloada")
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        outcome = running.end(timeout_s=60)
    outcome.check_error(5, "the target went away", "is kept in")
    assert output_form(outcome.stdout) == output_form(recorded("a-run.server-stopped.stdout"))
    said = recorded_error("a-run.server-stopped", more).replace("as: 30 secs", "as: 4 secs")
    assert error_form(outcome.stderr) == error_form(said)
    lost = [int(value(outcome.stdout, f"{name}-FAILED", "Operations")) for name in ("READ", "UPDATE")]
    assert lost == [int(value(outcome.stdout, name, "Return=ERROR")) for name in ("READ", "UPDATE")]
    assert min(lost) > 0 and sum(lost) <= 32, "what was under way, and nothing after it"
    assert not read_record(record_of(brimline_cli, outcome)).imbalances


def test_a_scan_that_finds_nothing_fails_and_the_run_goes_on(
    brimline_cli: CommandLine, mongod: Deployment, database: Database
) -> None:
    """YCSB's thread ends at the first one; with this command line there are only scans and reads."""
    case = "e-run.insertorder-ordered-mixed"
    assert "[OVERALL]" not in recorded(f"{case}.stdout"), "YCSB said nothing more"
    outcome = replay(brimline_cli, mongod.address, case).end()
    outcome.check_error(4, "100 % of the operations found no document")
    scans = value(outcome.stdout, "SCAN", "Return=ERROR")
    assert value(outcome.stdout, "SCAN-FAILED", "Operations") == scans
    assert value(outcome.stdout, "SCAN", "Operations") == "0" and "[SCAN], Return=OK" not in outcome.stdout
    assert int(scans) + int(value(outcome.stdout, "READ", "Return=NOT_FOUND")) == 1000
    recorded_lines = [line for line in recorded(f"{case}.stderr").splitlines() if "scan for key" not in line]
    assert error_form(outcome.stderr) == error_form("\n".join(recorded_lines[:-1])), "but for the exception"


def test_workload_e_on_an_empty_collection(brimline_cli: CommandLine, url: str, database: Database) -> None:
    """The first scans find nothing, later ones what the run itself has inserted."""
    outcome = ycsb(brimline_cli, url, "run", "e")
    failed, done, inserted = (
        int(value(outcome.stdout, *figure))
        for figure in (("SCAN", "Return=ERROR"), ("SCAN", "Return=OK"), ("INSERT", "Return=OK"))
    )
    assert failed > 0 and done > 0 and failed + done + inserted == 1000
    assert int(value(outcome.stdout, "SCAN-FAILED", "Operations")) == failed
    assert database["usertable"].count_documents({}) == inserted
    record = read_record(record_of(brimline_cli, outcome))
    assert record.summary is not None and record.summary["operations"]["scan"]["miss"] == failed


def test_a_public_reader_has_the_histograms_of_a_run(brimline_cli: CommandLine, url: str, database: Database) -> None:
    """Those of `hdrhistogram.fileoutput` have what was printed, those of the record what its summary counted."""
    assert ycsb(brimline_cli, url, "load", "c").exit_code == 0
    asked = ("-p", "hdrhistogram.fileoutput=true", "-p", "hdrhistogram.output.path=h.")
    run = ycsb(brimline_cli, url, "run", "c", "-target", "1000", *asked)
    check_measured(run)
    for name in ("READ", "CLEANUP"):
        (row,) = public_intervals(brimline_cli.directory / f"h.{name}.hdr")
        measurements = ("Operations", "50thPercentileLatency(us)", "99thPercentileLatency(us)", "MaxLatency(us)")
        assert figures(row.histogram) == tuple(int(value(run.stdout, name, each)) for each in measurements)
    record = read_record(record_of(brimline_cli, run))
    rows = public_intervals(record.directory / "latency.hlog")
    theirs, own = merged_by_tag(rows), record.histograms["read", "service"]
    assert {"read.service", "read.response", "read.lag"} <= set(theirs)
    assert figures(theirs["read.service"]) == (1000, own.quantile(0.5), own.quantile(0.99), own.max())
    assert record.summary is not None
    assert 0 <= rows[0].start_ms - record.summary["started_unix_ns"] / 1e6 < 5000
