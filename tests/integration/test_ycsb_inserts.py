"""Inserts of YCSB that are attempted again, and those that go out together, with a real mongod."""

import pymongo
import pytest

from brimline.record import read_record
from tests.support.command_line import CommandLine
from tests.support.ycsb_command import (
    Database,
    check_measured,
    record_of,
    value,
    workload,
    ycsb,
    ycsb_with,
)
from tests.support.ycsb_golden import form, recorded

pytestmark = pytest.mark.mongod

DATABASE = "ycsbinserts"
RETRIES = ("core_workload_insertion_retry_limit=2", "core_workload_insertion_retry_interval=1")


def test_a_key_that_is_there_fails_at_each_attempt(brimline_cli: CommandLine, url: str, database: Database) -> None:
    """The recorded run ended its only thread at the first key; with one record both have the same to do."""
    assert ycsb_with(brimline_cli, url, "load", "a", "recordcount=1").exit_code == 0
    again = ycsb_with(brimline_cli, url, "load", "a", "recordcount=1", *RETRIES)
    again.check_error(4, "0 of 1 document went into", "E11000 duplicate key")
    assert form(again.stdout) == form(recorded("a-load.duplicate-keys-retry2.stdout"))
    assert value(again.stdout, "INSERT", "Return=ERROR") == "3"
    assert 1600 <= int(value(again.stdout, "OVERALL", "RunTime(ms)")) < 4000, "two rests of 0.8 s to 1.2 s"
    record = read_record(record_of(brimline_cli, again))
    assert record.summary is not None and record.imbalances == ()
    assert (record.summary["attempted_again"], record.summary["sent"]) == (2, 3)


def test_a_load_outlives_what_is_cured_meanwhile(brimline_cli: CommandLine, url: str, database: Database) -> None:
    """Nothing is accepted at first: each of four connections fails, rests, and has its documents accepted then."""
    database.create_collection("usertable", validator={"never": {"$exists": True}})
    asked = ["-p", "recordcount=500", "-p", "threadcount=4", "-p", "core_workload_insertion_retry_limit=1000"]
    running = brimline_cli.start(
        "ycsb", "load", "mongodb", "-P", workload("a"), "-p", url, *asked,
        "-p", "core_workload_insertion_retry_interval=1",
    )  # fmt: skip
    brimline_cli.wait_for_samples("workloada", kind="load-")
    database.command("collMod", "usertable", validator={})
    outcome = running.end()
    assert outcome.exit_code == 0, outcome.stderr
    assert value(outcome.stdout, "INSERT", "Return=OK") == "500"
    failed = int(value(outcome.stdout, "INSERT", "Return=ERROR"))
    assert failed >= 4, "every connection"
    assert database["usertable"].count_documents({}) == 500
    record = read_record(record_of(brimline_cli, outcome))
    assert record.summary is not None
    assert record.summary["attempted_again"] == failed


@pytest.mark.parametrize("law", ["zipfian", "latest"])
def test_inserts_of_a_run_go_out_together(brimline_cli: CommandLine, url: str, database: Database, law: str) -> None:
    assert ycsb_with(brimline_cli, url, "load", "c", "recordcount=100").exit_code == 0
    asked = ["recordcount=100", "readproportion=0.5", "insertproportion=0.5", f"requestdistribution={law}"]
    database.command("profile", 2, filter={"op": "insert", "ns": f"{DATABASE}.usertable"})
    run = ycsb(
        brimline_cli, url, "run", "c", "-s",
        *(word for each in (*asked, "operationcount=4000", "batchsize=20") for word in ("-p", each)),
    )  # fmt: skip
    database.command("profile", 0)
    check_measured(run)
    commands, reads = (int(value(run.stdout, name, "Return=OK")) for name in ("INSERT", "READ"))
    together = int(value(run.stdout, "INSERT", "Return=BATCHED_OK"))
    assert together == 19 * commands > 0
    assert commands + reads == 2100, "2000 reads and 2000 documents, on average"
    assert abs(reads + commands + together - 4000) < 600
    assert database["usertable"].count_documents({}) == 100 + 20 * commands
    profiled = list(database["system.profile"].find({"ninserted": {"$gt": 0}}, sort=[("ts", pymongo.ASCENDING)]))
    assert {each["ninserted"] for each in profiled} == {20}
    assert {each["command"].get("ordered") for each in profiled} == {False}
    done = reads + commands + together
    assert f" {done} operations; " in run.stderr
    ran_ms = int(value(run.stdout, "OVERALL", "RunTime(ms)"))
    assert float(value(run.stdout, "OVERALL", "Throughput(ops/sec)")) == pytest.approx(1000 * done / ran_ms)
