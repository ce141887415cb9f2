"""Loads that are cut short or refused in part: nothing is lost or there twice, each document is accounted for."""

import json
import signal
from pathlib import Path
from typing import Any

import bson
import pytest
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument

from brimline import _native
from brimline.analysis.observation import observe
from brimline.dataset import MANIFEST_COLLECTION, find_gaps, manifest_for
from brimline.execution import RunContext, Silence, StopToken, execute
from brimline.plan import Plan, load_plan, wire_target
from brimline.plan.model import LoadWork
from brimline.record import RunRecord, read_record
from brimline.report import run_report
from brimline.servers import Deployment, control_client
from brimline.spec import load_spec
from tests.support.command_line import CommandLine
from tests.support.own_mongod import OwnMongod
from tests.support.scripted_server import scripted_server

pytestmark = pytest.mark.mongod

RECORDS = 120_000


def _spec(directory: Path, *, records: int = RECORDS, more: str = "") -> Path:
    """Small batches over several connections, so that an interruption leaves holes."""
    path = directory / "bulk.yaml"
    path.write_text(
        f"data: {{records: {records}, fields: 1, field_length: 20, batch_size: 50, "
        "database: bulk, collection: loaded}\n"
        f"operations: {{read: 1}}\nconnections: 4\nthreads: 2\ninterval: 50ms\nconnect_timeout: 1s\n{more}"
    )
    return path


def _check_whole(address: str, spec: Path) -> None:
    """Every intended document, byte for byte, and no other; the manifest says complete."""
    plan = load_plan(load_spec(spec).spec, target=wire_target(load_spec(spec).spec, address=address))
    with control_client(address) as client:
        collection = client["bulk"]["loaded"]
        assert collection.count_documents({}) == plan.data.record_count
        wanted = set(_native.generate_documents(plan.canonical_json(), 0, plan.data.record_count))
        raw = collection.with_options(CodecOptions(document_class=RawBSONDocument))
        assert {each.raw for each in raw.find()} == wanted
        manifest = client["bulk"][MANIFEST_COLLECTION].find_one({"_id": "loaded"})
        assert manifest is not None
        assert (manifest["state"], manifest["count"]) == ("complete", plan.data.record_count)


# Before anything is dropped


def test_a_load_that_can_not_start_leaves_the_data_alone(brimline_cli: CommandLine, mongod: Deployment) -> None:
    spec = _spec(brimline_cli.directory, records=20_000)
    load = ("load", spec, "--uri", f"mongodb://{mongod.address}", "--drop")
    assert brimline_cli.run(*load).exit_code == 0
    refused = brimline_cli.start(*load, "--connections", "300", open_files_max=200).end()
    refused.check_error(2, "needs 428 open files, and this process may have 200", "ulimit -n")
    _check_whole(mongod.address, spec)


# Going on after an interruption


def test_a_load_killed_in_the_middle_goes_on(brimline_cli: CommandLine, mongod: Deployment) -> None:
    spec = _spec(brimline_cli.directory)
    uri = ("--uri", f"mongodb://{mongod.address}")
    running = brimline_cli.start("load", spec, *uri, "--drop")
    brimline_cli.wait_for_samples("bulk", kind="load-")
    running.send(signal.SIGKILL)
    running.end()
    refused = brimline_cli.run("run", spec, *uri, "--operations", "10")
    refused.check_error(2, "loading bulk.loaded did not end", "--resume")

    resumed = brimline_cli.run("load", spec, *uri, "--resume", "--json")
    assert resumed.exit_code == 0, resumed.stderr
    document = resumed.json()
    load = document["load"]
    assert 0 < load["documents_present_before"] < RECORDS
    assert load["documents_present_before"] + load["documents"]["inserted"] == RECORDS
    assert document["document_count"] == RECORDS
    assert document["resumed_document_count"] == load["documents_present_before"]
    _check_whole(mongod.address, spec)

    again = brimline_cli.run("load", spec, *uri, "--resume", "--json", "--junit", "load.xml")
    assert again.exit_code == 0, again.stderr
    assert "nothing was sent" in (brimline_cli.directory / "load.xml").read_text()
    assert (again.json()["kind"], again.json()["document_count"]) == ("already_loaded", RECORDS)


@pytest.mark.long  # the twin of `test_ctrl_c_during_the_load` of test_early_ends.py, and of the kill above
def test_ctrl_c_says_how_the_load_goes_on(brimline_cli: CommandLine, mongod: Deployment) -> None:
    spec = _spec(brimline_cli.directory)
    uri = ("--uri", f"mongodb://{mongod.address}")
    running = brimline_cli.start("load", spec, *uri, "--drop")
    brimline_cli.wait_for_samples("bulk", kind="load-")
    running.send(signal.SIGINT)
    running.end().check_error(130, "interrupted by SIGINT", "--resume")
    # A run that may load goes on as well.
    outcome = brimline_cli.run("run", spec, *uri, "--data", "load", "--operations", "10", "--warmup", "0s", "--json")
    assert outcome.json()["counts"]["ok"] == 10, outcome.stderr
    second = read_record(brimline_cli.record_directories(kind="load-")[1])
    assert second.summary is not None and 0 < second.summary["inserts"]["inserted"] < RECORDS
    _check_whole(mongod.address, spec)


@pytest.mark.slow("a load meets a server that dies")
def test_a_load_goes_on_after_its_server_was_killed(brimline_cli: CommandLine, tmp_path: Path) -> None:
    spec = _spec(brimline_cli.directory)
    with OwnMongod.running(tmp_path / "data") as server:
        uri = ("--uri", server.uri)
        running = brimline_cli.start("load", spec, *uri)
        directory = brimline_cli.wait_for_samples("bulk", kind="load-")
        server.kill()
        running.end().check_error(5, "the target went away", "--resume")
        record = read_record(directory)
        assert record.ended_by == "target_lost" and not record.imbalances
        assert record.summary is not None and record.summary["inserts"]["unknown"] > 0
        server.start()
        resumed = brimline_cli.run("load", spec, *uri, "--resume")
        assert resumed.exit_code == 0, resumed.stderr
        assert f"counted: {RECORDS // 1000} 000 documents in bulk.loaded, as intended" in resumed.stdout
        _check_whole(server.address, spec)


def test_there_is_no_going_on_with_other_data(brimline_cli: CommandLine, mongod: Deployment) -> None:
    uri = ("--uri", f"mongodb://{mongod.address}")
    spec = _spec(brimline_cli.directory, records=1000)
    assert brimline_cli.run("load", spec, *uri, "--drop").exit_code == 0
    other = brimline_cli.run("load", spec, *uri, "--resume", "--seed", "7")
    other.check_error(2, "the seed is", "without --resume")
    both = brimline_cli.run("load", spec, *uri, "--resume", "--drop", "--seed", "7")
    assert both.exit_code == 0, "what is no part of the load is replaced"


def test_a_document_of_somebody_else_is_found_out(brimline_cli: CommandLine, mongod: Deployment) -> None:
    uri = ("--uri", f"mongodb://{mongod.address}")
    spec = _spec(brimline_cli.directory, records=1000)
    assert brimline_cli.run("load", spec, *uri, "--drop").exit_code == 0
    key = _native.generate_keys(_plan(spec, mongod).canonical_json(), 0, 1)[0]
    with control_client(mongod.address) as client:
        client["bulk"][MANIFEST_COLLECTION].update_one({"_id": "loaded"}, {"$set": {"state": "loading"}})
        client["bulk"]["loaded"].update_one({"_id": key}, {"$set": {"field0": "mine"}})
    brimline_cli.run("load", spec, *uri, "--resume").check_error(2, key, "not the one that was loaded")


# Documents refused one by one


def _plan(spec: Path, mongod: Deployment, **work: Any) -> Plan:
    loaded = load_spec(spec).spec
    plan = load_plan(loaded, target=wire_target(loaded, address=mongod.address))
    assert isinstance(plan.work, LoadWork)
    return plan.model_copy(update={"work": plan.work.model_copy(update=work)})


def _load_onto(
    present: list[int], spec: Path, mongod: Deployment, directory: Path, *, ordered: bool
) -> tuple[RunRecord, dict[str, Any]]:
    """Loads 1000 documents in one command where some are there already."""
    plan = _plan(spec, mongod, batch_size=1000, ordered=ordered).model_copy(
        update={"connections": 1, "threads": 1, "operation_count": 1}
    )
    with control_client(mongod.address) as client:
        collection = client["bulk"]["loaded"]
        collection.drop()
        for index in present:
            (text,) = _native.generate_documents(plan.canonical_json(), index, 1)
            collection.insert_one(bson.decode(text))
    context = RunContext(deployment=mongod, spec_text="", environment={}, progress=Silence(), stop=StopToken())
    record = execute(plan, directory=directory / "run", title="load", context=context)
    report = run_report(record, observe(record))
    return record, json.loads(json.dumps(report.data))


def test_three_duplicates_of_a_thousand(tmp_path: Path, mongod: Deployment) -> None:
    spec = _spec(tmp_path, records=1000)
    record, document = _load_onto([0, 500, 999], spec, mongod, tmp_path, ordered=False)
    assert not record.imbalances
    load = document["load"]
    assert load["documents"] == {"sent": 1000, "inserted": 997, "failed": 3, "skipped": 0, "unknown": 0}
    (error,) = load["document_errors"]
    assert (error["code"], error["count"], error["outcome"]) == (11000, 3, "write_error")
    assert (document["counts"]["sent"], document["counts"]["failed"]) == (1, 1), "commands are counted apart"
    assert load["batch_size_documents"] == 1000
    assert load["documents_per_s"] == pytest.approx(997 * load["commands_per_s"])
    checks = {check["name"]: check["result"] for check in document["checks"]}
    assert checks["opcounters"] == checks["conservation"] == "pass"


def test_an_ordered_command_stops_at_its_first_duplicate(tmp_path: Path, mongod: Deployment) -> None:
    spec = _spec(tmp_path, records=1000)
    record, document = _load_onto([500, 700], spec, mongod, tmp_path, ordered=True)
    assert not record.imbalances
    assert document["load"]["documents"] == {"sent": 1000, "inserted": 500, "failed": 1, "skipped": 499, "unknown": 0}
    with control_client(mongod.address) as client:
        assert client["bulk"]["loaded"].count_documents({}) == 502
    assert {check["name"]: check["result"] for check in document["checks"]}["opcounters"] == "pass"


def test_the_write_concern_is_stated(brimline_cli: CommandLine, mongod: Deployment) -> None:
    uri = ("--uri", f"mongodb://{mongod.address}")
    spec = _spec(brimline_cli.directory, records=1000)
    silent = brimline_cli.run("load", spec, *uri, "--drop", "--json").json()
    assert silent["load"]["write_concern"] == {"sent": None, "server_default": {"w": 1}}
    stated = _spec(brimline_cli.directory, records=1000, more="target: {write_concern: {w: 1, journal: true}}\n")
    outcome = brimline_cli.run("load", stated, *uri, "--drop")
    assert outcome.exit_code == 0, outcome.stderr
    assert "w: 1, journaled, sent with every command" in outcome.stdout
    assert "documents/s" in outcome.stdout and "commands/s" in outcome.stdout
    (directory,) = brimline_cli.record_directories(kind="load-")[-1:]
    assert json.loads((directory / "analysis.json").read_text())["load"]["write_concern"]["sent"] == {"w": 1, "j": True}
    html = (directory / "report.html").read_text()
    assert "w: 1, journaled" in html and "documents/s" in html and "commands/s" in html


def test_gaps_are_found_to_the_record(tmp_path: Path, mongod: Deployment) -> None:
    """At both ends, across the border between two chunks, a whole chunk, and single records."""
    spec = _spec(tmp_path, records=50_000)
    plan = _plan(spec, mongod)
    manifest = manifest_for(plan)
    gaps = (range(3), range(9_990, 10_011), range(15_000, 15_001), range(20_000, 30_000), range(49_999, 50_000))
    missing = {index for gap in gaps for index in gap}
    documents = _native.generate_documents(plan.canonical_json(), 0, 50_000)
    with control_client(mongod.address) as client:
        database = client["bulk"]
        database["loaded"].drop()
        database["loaded"].insert_many(
            [bson.decode(text) for index, text in enumerate(documents) if index not in missing]
        )
        looks: list[None] = []
        found = find_gaps(database, manifest, plan_json=plan.canonical_json(), look_up=lambda: looks.append(None))
        assert found.missing == gaps
        assert found.present_count == 50_000 - len(missing)
        assert len(looks) == 5
        database["loaded"].drop()


def test_a_load_with_refused_documents_is_reported(brimline_cli: CommandLine) -> None:
    """The scripted server refuses three documents of the first insert command: the others are there."""
    # The first command on the collection is the look whether it is empty.
    fault = {"when": {"first_n": 2}, "kind": {"write_error": {"code": 121, "statements": 3}}}
    spec = _spec(brimline_cli.directory, records=1000)
    with scripted_server({"data": {"kind": "stored"}, "namespace": "bulk.loaded", "faults": [fault]}) as server:
        refused = brimline_cli.run("load", spec, "--uri", server.uri, "--json")
    refused.check_error(4, "holds 997 documents and not the intended 1000", "scripted write error", "--resume")
    document = refused.json()
    assert document["load"]["documents"] == {"sent": 1000, "inserted": 997, "failed": 3, "skipped": 0, "unknown": 0}
    assert [(row["code"], row["count"]) for row in document["load"]["document_errors"]] == [(121, 3)]
    assert document["document_count"] is None
    (directory,) = brimline_cli.record_directories(kind="load-")
    assert "Documents refused" in (directory / "report.html").read_text()


def test_just_the_missing_documents_are_inserted(brimline_cli: CommandLine, mongod: Deployment) -> None:
    spec = _spec(brimline_cli.directory, records=1000)
    uri = ("--uri", f"mongodb://{mongod.address}", "--json")
    assert brimline_cli.run("load", spec, *uri, "--drop").exit_code == 0
    keys = _native.generate_keys(_plan(spec, mongod).canonical_json(), 0, 1000)
    with control_client(mongod.address) as client:
        client["bulk"][MANIFEST_COLLECTION].update_one({"_id": "loaded"}, {"$set": {"state": "loading"}})
        client["bulk"]["loaded"].delete_many({"_id": {"$in": [keys[0], keys[500], keys[501]]}})
    resumed = brimline_cli.run("load", spec, *uri, "--resume")
    assert resumed.exit_code == 0, resumed.stderr
    assert resumed.json()["load"]["documents"]["inserted"] == resumed.json()["load"]["documents"]["sent"] == 3
    assert resumed.json()["counts"]["sent"] == 2, "one command for each gap"
    _check_whole(mongod.address, spec)
