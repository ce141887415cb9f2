"""Properties of YCSB that change what is sent, as a real mongod's own profiler sees it."""

from typing import Any

import pytest

from brimline.record import read_record
from tests.support.command_line import CommandLine
from tests.support.ycsb_command import (
    Database,
    check_measured,
    record_of,
    value,
    ycsb_with,
)
from tests.support.ycsb_golden import form, recorded

pytestmark = pytest.mark.mongod

DATABASE = "ycsbproperties"


def profiled(database: Database, operation: str) -> list[dict[str, Any]]:
    """The commands of this kind that the profiler saw."""
    return [
        each["command"] for each in database["system.profile"].find({"op": operation, "ns": f"{DATABASE}.usertable"})
    ]


def test_reads_name_all_fields_and_those_of_a_read_modify_write_none(
    brimline_cli: CommandLine, url: str, database: Database
) -> None:
    assert ycsb_with(brimline_cli, url, "load", "f", "recordcount=50").exit_code == 0
    database.command("profile", 2)
    ycsb_with(brimline_cli, url, "run", "f", "recordcount=50", "operationcount=60", "readallfieldsbyname=true")
    database.command("profile", 0)
    projections = [each.get("projection") for each in profiled(database, "query")]
    assert {tuple(each) for each in projections if each} == {tuple(f"field{number}" for number in range(10))}
    updates = database["system.profile"].count_documents({"op": "update", "ns": f"{DATABASE}.usertable"})
    assert projections.count(None) == updates > 0, "one read of each read-modify-write"
    assert len(projections) == 60


def test_what_was_read_is_compared_with_what_was_written(
    brimline_cli: CommandLine, url: str, database: Database
) -> None:
    assert ycsb_with(brimline_cli, url, "load", "a", "dataintegrity=true").exit_code == 0
    document = database["usertable"].find_one({"_id": "user6284781860667377211"})
    assert document is not None
    assert bytes(document["field3"]) == derived("user6284781860667377211", "field3", 100).encode()
    run = ycsb_with(brimline_cli, url, "run", "a", "dataintegrity=true")
    check_measured(run)
    reads = value(run.stdout, "READ", "Return=OK")
    assert value(run.stdout, "VERIFY", "Operations") == value(run.stdout, "VERIFY", "Return=OK") == reads
    golden = [line.replace("UNEXPECTED_STATE", "OK") for line in form(recorded("a-run.dataintegrity.stdout"))]
    assert form(run.stdout) == golden


@pytest.mark.parametrize("letter", ["a", "f"])
def test_data_of_another_kind_is_unexpected(
    brimline_cli: CommandLine, url: str, database: Database, letter: str
) -> None:
    assert ycsb_with(brimline_cli, url, "load", letter).exit_code == 0
    run = ycsb_with(brimline_cli, url, "run", letter, "dataintegrity=true", "updateproportion=0", "readproportion=1")
    run.check_error(4, "brought something else than was written")
    assert "Return=UNEXPECTED_STATE" in run.stdout and "[VERIFY], Return=OK" not in run.stdout


def test_one_changed_byte_is_found(brimline_cli: CommandLine, url: str, database: Database) -> None:
    """Every record is read the same number of times, so that how many reads meet the one that was changed is known."""
    words = ["dataintegrity=true", "recordcount=50"]
    assert ycsb_with(brimline_cli, url, "load", "c", *words).exit_code == 0
    words += ["requestdistribution=sequential", "operationcount=500"]
    changed = database["usertable"].find_one({"_id": "user6284781860667377211"})
    assert changed is not None
    damaged = bytes(changed["field7"])[:-1] + b"?"
    database["usertable"].update_one({"_id": changed["_id"]}, {"$set": {"field7": damaged}})
    run = ycsb_with(brimline_cli, url, "run", "c", *words)
    run.check_error(4, "of 500 reads by key 10 brought something else than was written, and 0 nothing")
    assert value(run.stdout, "VERIFY", "Return=UNEXPECTED_STATE") == "10"
    assert value(run.stdout, "VERIFY", "Return=OK") == "490"
    database["usertable"].delete_one({"_id": changed["_id"]})
    gone = ycsb_with(brimline_cli, url, "run", "c", *words)
    assert value(gone.stdout, "VERIFY", "Return=ERROR") == value(gone.stdout, "READ", "Return=NOT_FOUND") == "10"


def test_one_field_alone_is_verified_too(brimline_cli: CommandLine, url: str, database: Database) -> None:
    assert ycsb_with(brimline_cli, url, "load", "f", "dataintegrity=true").exit_code == 0
    run = ycsb_with(brimline_cli, url, "run", "f", "dataintegrity=true", "readallfields=false")
    check_measured(run)
    assert value(run.stdout, "VERIFY", "Return=OK") == value(run.stdout, "READ", "Operations")


@pytest.mark.parametrize("batch", [1, 100])
def test_a_load_replaces_what_is_there(brimline_cli: CommandLine, url: str, database: Database, batch: int) -> None:
    words = ["mongodb.upsert=true", f"batchsize={batch}", "recordcount=950"]
    assert ycsb_with(brimline_cli, url, "load", "c", *words).exit_code == 0
    before = database["usertable"].find_one({"_id": "user6284781860667377211"})
    database["usertable"].update_many({}, {"$set": {"field0": "older", "extra": 1}})
    again = ycsb_with(brimline_cli, url, "load", "c", *words)
    assert again.exit_code == 0, again.stderr
    commands = -(-950 // batch)
    assert value(again.stdout, "INSERT", "Return=OK") == str(commands)
    assert database["usertable"].count_documents({}) == 950
    assert database["usertable"].count_documents({"field0": "older"}) == 0
    assert database["usertable"].count_documents({"extra": 1}) == (0 if batch == 1 else 950), "$set leaves other fields"
    if batch == 1:
        assert database["usertable"].find_one({"_id": "user6284781860667377211"}) == before


def test_inserts_of_a_run_replace_those_of_the_last(brimline_cli: CommandLine, url: str, database: Database) -> None:
    """A server counts an upsert as an update; brimline's counts have to agree with its."""
    assert ycsb_with(brimline_cli, url, "load", "c", "recordcount=100").exit_code == 0
    words = ["recordcount=100", "insertproportion=0.5", "readproportion=0.5", "mongodb.upsert=true"]
    for _ in range(2):
        run = ycsb_with(brimline_cli, url, "run", "c", *words)
        check_measured(run)
        assert "[INSERT-FAILED]" not in run.stdout
    record = read_record(record_of(brimline_cli, run))
    assert record.summary is not None and record.imbalances == ()
    inserted = record.summary["operations"]["insert"]["ok"]
    assert record.summary["commands"]["update"] == inserted > 0
    assert record.summary["commands"]["insert"] == 0
    assert database["usertable"].count_documents({}) == 100 + inserted


def derived(key: str, field: str, length: int) -> str:
    """YCSB's value, with Java's hash of the whole text each time."""
    text = f"{key}:{field}"
    while len(text) < length:
        text += ":"
        value = 0
        for character in text:
            value = (31 * value + ord(character)) & 0xFFFFFFFF
        text += str(value - (1 << 32) if value >> 31 else value)
    return text[:length]
