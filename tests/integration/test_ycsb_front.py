"""`brimline ycsb` as YCSB's users have it, against a real mongod; its texts held against what YCSB itself printed."""

import json
import re
import signal
from pathlib import Path

import pytest

from brimline.record import read_record
from brimline.runners import CATALOGUE
from tests.support.command_line import CommandLine
from tests.support.java_histograms import JAVA_FOR_SECONDS
from tests.support.repetitions import repetitions
from tests.support.scripted_server import scripted_server
from tests.support.secrets import ADDRESSES, SECRET
from tests.support.ycsb_command import (
    Database,
    check_measured,
    record_of,
    value,
    workload,
    ycsb,
)
from tests.support.ycsb_golden import GOLDEN, form, recorded, status_form

pytestmark = pytest.mark.mongod

DATABASE = "ycsbfront"


def test_a_run_after_a_load_simply_works(brimline_cli: CommandLine, url: str, database: Database) -> None:
    load = ycsb(brimline_cli, url, "load", "a", "-threads", "4")
    assert load.exit_code == 0, load.stderr
    assert form(load.stdout) == form(recorded("a-load.default.stdout"))
    assert database["usertable"].count_documents({}) == 1000
    run = ycsb(brimline_cli, url, "run", "a")
    check_measured(run)
    assert form(run.stdout) == form(recorded("a-run.default.stdout"))
    assert int(value(run.stdout, "READ", "Return=OK")) + int(value(run.stdout, "UPDATE", "Return=OK")) == 1000
    first, _, rest = run.stdout.partition("\n")
    assert first == f"mongo client connection created with {url.partition('=')[2]}"
    assert rest.startswith("[OVERALL], RunTime(ms), ")
    golden = (GOLDEN / "a-run.status.stderr").read_text().splitlines()
    said = run.stderr.splitlines()
    assert said[0].startswith("Command line: -t -db site.ycsb.db.MongoDbClient -P ")
    assert said[1].startswith("YCSB Client ")
    assert said[2:5] == golden[2:5] == ["", "Loading workload...", "Starting test."]
    assert said[5] == next(line for line in golden if line.startswith("DBWrapper"))
    record = record_of(brimline_cli, run)
    assert (record / "report.html").exists()
    assert json.loads((record / "record.json").read_text())["imbalances"] == []


def test_the_other_verbs_know_what_was_loaded(brimline_cli: CommandLine, url: str, database: Database) -> None:
    assert ycsb(brimline_cli, url, "load", "c").exit_code == 0
    run = brimline_cli.run("run", "-P", workload("c"), "-p", url, "-p", "operationcount=500", "--json", "-q")
    check_measured(run)
    # A second part makes it more than the manifest said: then it is nobody's.
    more = ycsb(brimline_cli, url, "load", "c", "-p", "recordcount=1500", "-p", "insertstart=1000")
    assert more.exit_code == 0, more.stderr
    assert database["usertable"].count_documents({}) == 1500
    brimline_cli.run("run", "-P", workload("c"), "-p", url, "-q").check_error(2, "that brimline did not load")


def test_loading_twice_fails_as_ycsb_fails(brimline_cli: CommandLine, url: str, database: Database) -> None:
    assert ycsb(brimline_cli, url, "load", "a").exit_code == 0
    again = ycsb(brimline_cli, url, "load", "a")
    again.check_error(4, f"0 of 1 000 documents went into {DATABASE}.usertable", "E11000", "insertstart")
    assert form(again.stdout) == form(recorded("a-load.duplicate-keys.stdout"))
    assert value(again.stdout, "INSERT", "Return=ERROR") == "1000"
    assert value(again.stdout, "OVERALL", "Throughput(ops/sec)") == "0.0"
    assert "1000 x load write_error 11000" in again.stderr
    assert database["usertable"].count_documents({}) == 1000, "nothing was dropped"


def test_a_load_that_a_validator_refuses_says_so(brimline_cli: CommandLine, url: str, database: Database) -> None:
    """And not that the documents may be there already."""
    database.create_collection("usertable", validator={"kind": {"$exists": True}})
    refused = ycsb(brimline_cli, url, "load", "a")
    refused.check_error(4, "0 of 1 000 documents went into", "has a validator that refuses")
    assert "insertstart" not in refused.stderr.partition("hint:")[2]


@pytest.mark.parametrize("letter", ["c", "f"])
def test_a_run_without_data_says_what_ycsb_says(
    brimline_cli: CommandLine, url: str, database: Database, letter: str
) -> None:
    """But for the update of a read-modify-write that found nothing: YCSB sends it, brimline doesn't."""
    outcome = ycsb(brimline_cli, url, "run", letter)
    outcome.check_error(4, "100 % of the operations found no document")
    lines = form(recorded(f"{letter}-run.missing-table.stdout"))
    assert form(outcome.stdout) == [line for line in lines if not line.startswith("[UPDATE")]
    assert value(outcome.stdout, "READ", "Return=NOT_FOUND") == "1000"


def test_a_mixed_run_without_data_says_so_reads_first(brimline_cli: CommandLine, url: str, database: Database) -> None:
    """YCSB lets the first operation of the run decide on the order of READ-FAILED and UPDATE; docs/guides/ycsb.md"""
    outcome = ycsb(brimline_cli, url, "run", "a")
    outcome.check_error(4, "100 % of the operations found no document")
    blocks = re.split(r"\n(?=\[[^]]+\], Operations)", recorded("a-run.missing-table.stdout"))
    ours = re.split(r"\n(?=\[[^]]+\], Operations)", outcome.stdout)
    assert sorted(map(form, ours[1:])) == sorted(map(form, blocks[1:]))
    names = [block.partition("]")[0].lstrip("[") for block in ours[1:]]
    assert names == ["READ", "UPDATE-FAILED", "CLEANUP", "READ-FAILED", "UPDATE"]
    found = (
        int(value(outcome.stdout, "READ", "Return=NOT_FOUND")),
        int(value(outcome.stdout, "UPDATE", "Return=NOT_FOUND")),
    )
    assert sum(found) == 1000
    assert found[0] == int(value(outcome.stdout, "READ-FAILED", "Operations"))


def test_inserts_of_a_run_stay_and_fail_the_next_time(brimline_cli: CommandLine, url: str, database: Database) -> None:
    assert ycsb(brimline_cli, url, "load", "e").exit_code == 0
    first = ycsb(brimline_cli, url, "run", "e")
    check_measured(first)
    assert form(first.stdout) == form(recorded("e-run.default.stdout"))
    inserted = int(value(first.stdout, "INSERT", "Return=OK"))
    assert database["usertable"].count_documents({}) == 1000 + inserted
    second = ycsb(brimline_cli, url, "run", "e")
    assert value(second.stdout, "INSERT", "Return=ERROR") == value(second.stdout, "INSERT-FAILED", "Operations")
    assert value(second.stdout, "INSERT", "Operations") == "0"
    second.check_error(4, "insert operations succeeded", "(11000): such documents are there already")


def test_shares_of_the_records_are_loaded_one_after_the_other(
    brimline_cli: CommandLine, url: str, database: Database
) -> None:
    """Though a run of the same workload inserts, which needs the whole of them."""
    for start in (0, 500):
        share = ("-p", f"insertstart={start}", "-p", "insertcount=500", "-load")
        assert ycsb(brimline_cli, url, "load", "e", *share).exit_code == 0
        assert database["usertable"].count_documents({}) == start + 500


def test_target_status_and_files(brimline_cli: CommandLine, url: str, database: Database) -> None:
    assert ycsb(brimline_cli, url, "load", "a").exit_code == 0
    outcome = ycsb(
        brimline_cli, url, "run", "a", "-s", "-target", "500", "-l", "mylabel", "-threads", "8",
        "-p", "status.interval=1", "-p", "operationcount=1500", "-p", "measurement.interval=both",
        "-p", "hdrhistogram.percentiles=50,95,99,99.9", "-p", "hdrhistogram.fileoutput=true",
        "-p", "hdrhistogram.output.path=out.", "-p", "exportfile=out.txt",
    )  # fmt: skip
    check_measured(outcome)
    assert outcome.stdout.count("\n") == 1, "the measurements are in the file"
    exported = (brimline_cli.directory / "out.txt").read_text()
    assert form(exported) == form(recorded("a-run.both-target.stdout"))
    lines = [line for line in outcome.stderr.splitlines() if " sec: " in line]
    golden = [line for line in recorded("a-run.status-label.stderr").splitlines() if " sec: " in line]
    assert status_form(lines[0]) == status_form(golden[0])
    assert all(line.startswith("mylabel20") for line in lines)
    plain = re.sub(r"\[Intended-[^]]*\] ", "", lines[-1])
    assert status_form(plain) == status_form(golden[-1])
    assert sum(int(count) for line in lines for count in re.findall(r"\[(?:READ|UPDATE): Count=(\d+)", line)) == 1500
    names = sorted(path.name for path in brimline_cli.directory.glob("out.*.hdr"))
    assert names == sorted(
        f"out.{prefix}{name}.hdr" for prefix in ("", "Intended-") for name in ("CLEANUP", "READ", "UPDATE")
    )
    assert float(value(exported, "OVERALL", "RunTime(ms)")) >= 2900, "three seconds at 500 a second"


def test_the_drivers_pool_bounds_loads_and_runs(brimline_cli: CommandLine, url: str, database: Database) -> None:
    """As the option of the address that YCSB prints, and as the property that stands for it."""
    load = ycsb(brimline_cli, f"{url}&maxPoolSize=2", "load", "c", "-threads", "8")
    assert load.exit_code == 0, load.stderr
    assert load.stdout.startswith(f"mongo client connection created with {url.partition('=')[2]}&maxPoolSize=2\n")
    run = ycsb(brimline_cli, url, "run", "c", "-threads", "8", "-p", "mongodb.maxconnections=3")
    check_measured(run)
    plans = [read_record(record_of(brimline_cli, outcome)).plan for outcome in (load, run)]
    assert [(plan.connections, plan.in_flight_max) for plan in plans] == [(2, None), (3, 8)], "sockets, and workers"


@pytest.mark.long
@pytest.mark.skipif(CATALOGUE["java-reactive"].missing() is not None, reason="its runner isn't built here")
def test_the_asynchronous_binding_is_the_reactive_driver(
    brimline_cli: CommandLine, url: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its quick twins: the one below knows it by its name, and `test_every_kind_of_step_does_the_same` at work."""
    monkeypatch.setenv("JDK_JAVA_OPTIONS", " ".join(JAVA_FOR_SECONDS))
    words = ("-threads", "4", "-p", "mongodb.maxconnections=2")
    load = ycsb(brimline_cli, url, "load", "a", *words, binding="mongodb-async")
    assert load.exit_code == 0, load.stderr
    assert load.stderr.startswith("Command line: -load -db site.ycsb.db.AsyncMongoDbClient ")
    run = ycsb(brimline_cli, url, "run", "a", *words, binding="mongodb-async")
    check_measured(run)
    [runner] = (read_record(record_of(brimline_cli, run)).summary or {})["runners"]
    assert runner["client"] == "java-reactive" and 1 <= runner["connections_created"] <= 2


def test_a_binding_whose_driver_is_not_built_names_the_way(
    brimline_cli: CommandLine, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIMLINE_RUNNERS", str(brimline_cli.directory))
    outcome = ycsb(brimline_cli, url, "run", "a", binding="mongodb-async")
    assert outcome.exit_code == 2
    assert "the client java-reactive is not ready" in outcome.stderr and "make runners" in outcome.stderr


@pytest.mark.alone
def test_a_target_that_was_not_kept_is_said(brimline_cli: CommandLine) -> None:
    """Two connections on a server that takes 5 ms do 400 a second at most."""
    limits = ("-threads", "2", "-p", "maxexecutiontime=1", "-p", "operationcount=1000000")
    with scripted_server({"service": {"kind": "fixed", "ns": 5_000_000}}) as server:
        address = f"mongodb.url={server.uri}/ycsb"
        too_high = ycsb(brimline_cli, address, "run", "c", *limits, "-target", "2000")
        kept = ycsb(brimline_cli, address, "run", "c", *limits, "-target", "20")
    (said,) = re.findall(r"^warning: planned 2 000, sent (\d+): (.*)$", too_high.stderr, re.MULTILINE)
    assert int(said[0]) == int(value(too_high.stdout, "READ", "Operations")) <= 420
    assert "never went out" in said[1]
    assert "warning" not in kept.stderr


@pytest.mark.alone
def test_a_target_that_was_not_reached_is_said_where_all_went_out(brimline_cli: CommandLine) -> None:
    """By its count a run ends late instead of leaving anything unsent; 400 a second are done at most."""
    limits = ("-threads", "2", "-p", "operationcount=200")
    with scripted_server({"service": {"kind": "fixed", "ns": 5_000_000}}) as server:
        address = f"mongodb.url={server.uri}/ycsb"
        too_high = ycsb(brimline_cli, address, "run", "c", *limits, "-target", "10000000")
        kept = ycsb(brimline_cli, address, "run", "c", *limits, "-target", "100")
    (said,) = re.findall(
        r"^warning: a target of 10 000 000 ops/s was asked for, (\d+) ops/s \((.*) %\) were reached$",
        too_high.stderr,
        re.MULTILINE,
    )
    assert 100 <= int(said[0]) <= 410, "what the measurements say too, but for the last replies"
    assert "target" not in too_high.stdout
    assert form(too_high.stdout) == form(kept.stdout)
    assert "warning" not in kept.stderr


def test_a_time_limit_ends_loads_and_runs(brimline_cli: CommandLine, url: str, database: Database) -> None:
    load = ycsb(brimline_cli, url, "load", "c", "-target", "100", "-p", "maxexecutiontime=1")
    assert load.exit_code == 0, load.stderr
    inserted = database["usertable"].count_documents({})
    assert 1 <= inserted <= 110 and value(load.stdout, "INSERT", "Return=OK") == str(inserted)
    said = load.stderr.splitlines()
    assert "Maximum execution time specified as: 1 secs" in said
    assert "Maximum time elapsed. Requesting stop for the workload." in said
    assert "Stop requested for workload. Now Joining!" in said


@pytest.mark.parametrize(
    "place", [("exportfile", "out"), *repetitions((("hdrhistogram.output.path", "out/h."),))], ids=["exportfile", "hdr"]
)
def test_a_file_that_can_not_be_written_at_the_end_costs_nothing_else(
    brimline_cli: CommandLine, url: str, database: Database, place: tuple[str, str]
) -> None:
    """The place is there at the start and gone at the end."""
    assert ycsb(brimline_cli, url, "load", "c").exit_code == 0
    name, path = place
    away = brimline_cli.directory / "out"
    if name != "exportfile":
        away.mkdir()
    asked = ["-target", "500", "-p", url, "-p", "hdrhistogram.fileoutput=true", "-p", f"{name}={path}"]
    running = brimline_cli.start("ycsb", "run", "mongodb", "-P", workload("c"), *asked)
    directory = brimline_cli.wait_for_samples("workloadc")
    if name == "exportfile":
        away.mkdir()
    else:
        away.rmdir()
    outcome = running.end()
    outcome.check_error(1, "can't write out", f"brimline show {directory.relative_to(brimline_cli.directory)}")
    assert (directory / "report.html").exists()
    assert f"record: {directory.relative_to(brimline_cli.directory)}" in outcome.stderr
    if name == "exportfile":
        assert (brimline_cli.directory / "READ.hdr").exists(), "the other files are written"
    else:
        assert value(outcome.stdout, "READ", "Return=OK") == "1000"


def test_no_secret_of_a_command_line_is_stored(brimline_cli: CommandLine, url: str, database: Database) -> None:
    """Of properties given several times the last counts."""
    strays = [word for address in ADDRESSES for word in ("-p", f"mongodb.url={address}")]
    load = brimline_cli.run("ycsb", "load", "mongodb", "-P", workload("c"), *strays, "-p", url)
    assert load.exit_code == 0, load.stderr
    uris = [word for address in ADDRESSES for word in ("--uri", address)]
    server = ("--uri", url.removeprefix("mongodb.url="), "--duration", "200ms", "--warmup", "0s")
    run = brimline_cli.run("run", "-P", workload("c"), *strays, "-p", url, *uris, *server, "--json")
    check_measured(run)
    for outcome in (load, run):
        assert SECRET not in outcome.stdout + outcome.stderr
    assert len(brimline_cli.files_with(DATABASE)) > 1
    assert brimline_cli.files_with(SECRET) == []


def test_batches(brimline_cli: CommandLine, url: str, database: Database) -> None:
    load = ycsb(brimline_cli, url, "load", "c", "-p", "batchsize=100", "-p", "recordcount=950")
    assert load.exit_code == 0, load.stderr
    assert value(load.stdout, "INSERT", "Return=OK") == "10"
    assert value(load.stdout, "INSERT", "Return=BATCHED_OK") == "940"
    assert database["usertable"].count_documents({}) == 950


@pytest.mark.slow("a run has to be well under way when it ends")
def test_an_interrupt_keeps_what_was_measured(brimline_cli: CommandLine, url: str, database: Database) -> None:
    assert ycsb(brimline_cli, url, "load", "c").exit_code == 0
    asked = ["-target", "200", "-p", "operationcount=1M", "-p", url]
    running = brimline_cli.start("ycsb", "run", "mongodb", "-P", workload("c"), *asked)
    brimline_cli.wait_for_samples("workloadc")
    running.send(signal.SIGINT)
    outcome = running.end()
    outcome.check_error(130, "interrupted by SIGINT")
    assert int(value(outcome.stdout, "READ", "Return=OK")) >= 100


def test_old_names_are_understood(brimline_cli: CommandLine, url: str, database: Database, tmp_path: Path) -> None:
    old = tmp_path / "workloadold"
    old.write_text(Path(workload("c")).read_text().replace("site.ycsb", "com.yahoo.ycsb"))
    flags = ["-P", str(old), "-p", url, "-db", "com.yahoo.ycsb.db.MongoDbClient"]
    flags += ["-p", "exporter=com.yahoo.ycsb.measurements.exporter.JSONArrayMeasurementsExporter"]
    outcome = brimline_cli.run("ycsb", "load", "mongodb", *flags)
    assert outcome.exit_code == 0, outcome.stderr
    rows = json.loads(outcome.stdout.partition("\n")[2])
    assert {"metric": "INSERT", "measurement": "Return=OK", "value": 1000} in rows


def test_a_password_is_printed_nowhere(brimline_cli: CommandLine) -> None:
    secret = "mongodb.url=mongodb://u:geheim@127.0.0.1:1/ycsb"
    outcome = brimline_cli.run("ycsb", "run", "mongodb", "-P", workload("c"), "-p", secret)
    assert outcome.exit_code == 5
    assert "geheim" not in outcome.stdout + outcome.stderr
    assert not brimline_cli.files_with("geheim")


def test_no_server(brimline_cli: CommandLine) -> None:
    outcome = brimline_cli.run(
        "ycsb", "run", "mongodb", "-P", workload("c"), "-p", "mongodb.url=mongodb://127.0.0.1:1/ycsb"
    )
    outcome.check_error(5, "no server answers at mongodb://127.0.0.1:1")
    assert outcome.stdout == ""
