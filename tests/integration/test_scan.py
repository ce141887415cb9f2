"""brimline scan against a real mongod: counts to the document, plans, first touch, bad input, Ctrl-C."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bson import Binary

from brimline.servers import Deployment, control_client
from brimline.servers.deployment import Client
from tests.support.command_line import CommandLine, Running
from tests.support.waiting import eventually

pytestmark = pytest.mark.mongod

EXAMPLE = Path(__file__).parents[2] / "examples" / "queries-with-plans.yaml"
SLEEPING = "{$function: {body: 'function() { sleep(20); return true }', args: [], lang: js}}"
"""A condition that takes 20 ms a document."""
DATABASE, COLLECTION, COUNT = "scan_test", "log", 6_000


@pytest.fixture
def client(mongod: Deployment) -> Iterator[Client]:
    """A server on which a collection of 6 000 log documents lies, of ten levels and of ascending time."""
    with control_client(mongod.address) as client:
        log = client[DATABASE][COLLECTION]
        log.drop()
        log.insert_many(
            {"_id": number, "time": number, "level": number % 10, "text": Binary(b"x" * 200)} for number in range(COUNT)
        )
        yield client
        client.drop_database(DATABASE)


def spec(directory: Path, scans: str, *, collection: str = COLLECTION) -> Path:
    file = directory / "scans.yaml"
    file.write_text(
        f"name: log\ndata: {{records: {COUNT}, database: {DATABASE}, collection: {collection}}}\nscans:\n{scans}",
        encoding="utf-8",
    )
    return file


def scanned(cli: CommandLine, mongod: Deployment, file: Path, *arguments: str) -> Any:
    return cli.run(
        *("scan", file, "--uri", f"mongodb://{mongod.address}/{DATABASE}", "--data", "as-is", "-q", "--json"),
        *arguments,
    )


@pytest.mark.slow("scans on a real server")
def test_the_example_on_a_server_of_its_own_agrees_with_explain_and_counters(brimline_cli: CommandLine) -> None:
    outcome = brimline_cli.run("scan", EXAMPLE, "--json")
    assert outcome.exit_code == 0, outcome.stderr
    assert next(brimline_cli.runs.glob("*/report.html")).stat().st_size > 0
    document = outcome.json()
    checks = {check["name"]: check for check in document["checks"]}
    assert checks["scan_counts"]["verdict"] == "pass", checks
    assert document["indexes_built"] == ["field0_1"]
    for scenario in document["scenarios"]:
        assert scenario["broken"] == []
        assert "started again" in scenario["first_touch"]
        for execution in scenario["executions"]:
            assert execution["documents"] == scenario["documents_returned"]
            assert execution["keys_examined"] == scenario["keys_examined"]
            assert execution["documents_examined"] == scenario["documents_examined"]
        first, *steady = scenario["executions"]
        assert first["touch"] == "first" and first["cache_pages_read"] > 0
        assert steady[-1]["cache_pages_read"] == 0, "everything is in the cache by then"
    ranges = [each for each in document["scenarios"] if each["width"] is not None]
    assert [each["documents_drained"] for each in ranges] == [500, 2_000, 8_000]
    assert [each["keys_examined"] for each in ranges] == [500, 2_000, 8_000]
    (rule,) = document["rules"]
    assert rule["measured_entries"] == [500, 8_000]
    shown = brimline_cli.run("show", "latest", "--json")
    assert shown.json()["rules"] == document["rules"]
    markdown = brimline_cli.run("report", "latest", "--format", "md")
    assert markdown.exit_code == 0, markdown.stderr


def test_plans_counts_and_an_index_that_goes_again(
    brimline_cli: CommandLine, mongod: Deployment, client: Client, tmp_path: Path
) -> None:
    file = spec(
        tmp_path,
        """
  repetitions: 3
  indexes: [{time: 1}]
  scenarios:
    - {name: range, range: {field: time, widths: [10, 100, 1000]}, filter: {level: 3}, plan: "IXSCAN {time: 1}"}
    - {name: full, filter: {level: 3}, plan: "COLLSCAN, no SORT", documents: 600}
    - {name: sorted, filter: {time: {$lt: 50}}, sort: {time: 1}, plan: "IXSCAN {time: 1}, no SORT", documents: 50}
    - {name: grouped, pipeline: [{$group: {_id: $level}}], documents: 10}
""",
    )
    outcome = scanned(brimline_cli, mongod, file)
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    by_name = {each["scenario"]: each for each in document["scenarios"]}
    assert (by_name["range"]["keys_examined"], by_name["range"]["documents_drained"]) == (1_000, 100)
    assert (by_name["full"]["documents_examined"], by_name["full"]["documents_drained"]) == (COUNT, 600)
    assert "not known" in by_name["full"]["first_touch"]
    assert list(client[DATABASE][COLLECTION].index_information()) == ["_id_"], "brimline made it, brimline dropped it"
    client[DATABASE][COLLECTION].create_index("time")
    assert scanned(brimline_cli, mongod, file).json()["indexes_built"] == []
    assert "time_1" in client[DATABASE][COLLECTION].index_information(), "what was there stays"


def test_a_plan_and_a_number_that_are_not_as_expected_end_with_3(
    brimline_cli: CommandLine, mongod: Deployment, client: Client, tmp_path: Path
) -> None:
    del client
    file = spec(
        tmp_path,
        "  repetitions: 3\n  scenarios:\n"
        '    - {name: errors, filter: {level: 3}, plan: "IXSCAN {level: 1}", documents: 601}\n',
    )
    outcome = scanned(brimline_cli, mongod, file)
    outcome.check_error(
        3, "errors: the plan is COLLSCAN, which is not IXSCAN {level: 1}", "600 documents came, not 601"
    )
    assert outcome.json()["scenarios"][0]["broken"]


@pytest.mark.parametrize(
    ("scans", "collection", "message"),
    [
        ("{name: n, filter: {a: 1}}", "nothing_here", f"there is no collection {DATABASE}.nothing_here"),
        ("{name: n, filter: {a: 1}, hint: {a: 1}}", COLLECTION, "n: hint names no index of log: {a: 1}"),
        ("{name: n, filter: {a: 1}, hint: a_1}", COLLECTION, "its indexes: _id_"),
        ("{name: n, range: {field: level, widths: [1, 2, 3]}}", COLLECTION, "no index begins with level"),
        ("{name: n, range: {field: _id, widths: [1, 2, 7k]}}", COLLECTION, "7 000 entries is more than the 6 000"),
    ],
)
def test_what_is_not_there(
    brimline_cli: CommandLine,
    mongod: Deployment,
    client: Client,
    tmp_path: Path,
    scans: str,
    collection: str,
    message: str,
) -> None:
    del client
    file = spec(tmp_path, f"  scenarios: [{scans}]\n", collection=collection)
    scanned(brimline_cli, mongod, file).check_error(2, message)


def test_a_range_that_is_too_wide_builds_no_index(
    brimline_cli: CommandLine, mongod: Deployment, client: Client, tmp_path: Path
) -> None:
    def built() -> int:
        return int(client.admin.command("serverStatus")["metrics"]["commands"]["createIndexes"]["total"])

    before = built()
    file = spec(
        tmp_path, "  indexes: [{time: 1}]\n  scenarios: [{name: n, range: {field: time, widths: [1, 2, 7k]}}]\n"
    )
    scanned(brimline_cli, mongod, file).check_error(2, "7 000 entries is more than the 6 000")
    assert built() == before


def test_an_empty_collection_and_one_with_too_few_values(
    brimline_cli: CommandLine, mongod: Deployment, client: Client, tmp_path: Path
) -> None:
    client[DATABASE].create_collection("empty")
    file = spec(tmp_path, "  scenarios: [{name: n, filter: all}]\n", collection="empty")
    scanned(brimline_cli, mongod, file).check_error(2, f"the collection {DATABASE}.empty is empty")
    file = spec(
        tmp_path, "  indexes: [{level: 1}]\n  scenarios: [{name: n, range: {field: level, widths: [1, 2, 3]}}]\n"
    )
    scanned(brimline_cli, mongod, file).check_error(2, "n 1: level has too few different values")
    assert list(client[DATABASE][COLLECTION].index_information()) == ["_id_"]


def test_a_query_that_the_server_refuses_is_told_and_the_others_are_measured(
    brimline_cli: CommandLine, mongod: Deployment, client: Client, tmp_path: Path
) -> None:
    del client
    file = spec(
        tmp_path,
        "  repetitions: 3\n  scenarios: [{name: bad, filter: {level: {$foo: 1}}}, {name: good, filter: {level: 1}}]\n",
    )
    outcome = scanned(brimline_cli, mongod, file)
    outcome.check_error(4, "bad: the server refuses the query: unknown operator: $foo (code 2 BadValue)")
    bad, good = outcome.json()["scenarios"]
    assert bad["refusal"]["code"] == 2 and bad["executions"] == []
    assert good["documents_drained"] == 600


def test_a_spec_without_scans(brimline_cli: CommandLine) -> None:
    brimline_cli.run("scan", "ycsb-c", "-q").check_error(2, "ycsb-c has no scans", "scenarios")


def test_ctrl_c_keeps_what_was_measured_and_ends_the_query_on_the_server(
    brimline_cli: CommandLine, mongod: Deployment, client: Client, tmp_path: Path
) -> None:
    running = _started_slow_scan(brimline_cli, mongod, client, tmp_path, slow_documents=COUNT)
    running.send(signal.SIGINT)
    outcome = running.end()
    outcome.check_error(130, "interrupted by SIGINT", "what was measured is kept in")
    # Undisturbed it would take two minutes.
    assert eventually(lambda: _slow_queries(client) == 0), "the server went on with the query"
    assert list(client[DATABASE][COLLECTION].index_information()) == ["_id_"]
    (directory,) = brimline_cli.runs.glob("*-scan-*")
    kept = brimline_cli.run("show", directory, "--json").json()
    assert [(each["scenario"], each["ended"]) for each in kept["scenarios"]] == [("quick", True), ("slow", False)]
    assert kept["scenarios"][0]["documents_drained"] == 600
    assert json.loads((directory / "experiment.json").read_text())["ended_by"] == "interrupt"


@pytest.mark.slow("scans on a real server")
def test_a_resumed_scan_does_the_rest(
    brimline_cli: CommandLine, mongod: Deployment, client: Client, tmp_path: Path
) -> None:
    running = _started_slow_scan(brimline_cli, mongod, client, tmp_path, slow_documents=50)
    running.send(signal.SIGINT)
    assert running.end().exit_code == 130
    (directory,) = brimline_cli.runs.glob("*-scan-*")
    before = (directory / "trials" / "01-scan-quick" / "record.json").read_bytes()
    options = ("--uri", f"mongodb://{mongod.address}/{DATABASE}", "--data", "as-is", "-q", "--json")
    brimline_cli.run("scan", "--resume", directory, "--within", "1s", *options).check_error(2, "as it was begun")
    outcome = brimline_cli.run("scan", "--resume", directory, *options)
    assert outcome.exit_code == 0, outcome.stderr
    scenarios = outcome.json()["scenarios"]
    assert [(each["scenario"], each["ended"]) for each in scenarios] == [("quick", True), ("slow", True)]
    assert scenarios[1]["documents_drained"] == 50
    assert (directory / "trials" / "01-scan-quick" / "record.json").read_bytes() == before
    assert list(client[DATABASE][COLLECTION].index_information()) == ["_id_"]


@pytest.mark.slow("scans on a real server")
def test_an_index_of_a_scan_that_was_killed_goes_with_its_resumption(
    brimline_cli: CommandLine, mongod: Deployment, client: Client, tmp_path: Path
) -> None:
    running = _started_slow_scan(brimline_cli, mongod, client, tmp_path, slow_documents=50)
    running.send(signal.SIGKILL)
    running.end()
    (index,) = set(client[DATABASE][COLLECTION].index_information()) - {"_id_"}
    client[DATABASE][COLLECTION].create_index([("somebody", 1)], name="somebody's")
    (directory,) = brimline_cli.runs.glob("*-scan-*")
    uri = f"mongodb://{mongod.address}/{DATABASE}"
    outcome = brimline_cli.run("scan", "--resume", directory, "--uri", uri, "--data", "as-is", "-q")
    assert outcome.exit_code == 0, outcome.stderr
    assert set(client[DATABASE][COLLECTION].index_information()) == {"_id_", "somebody's"}, index
    client[DATABASE][COLLECTION].drop_index("somebody's")


def test_a_server_that_dies_during_a_query_is_told_and_what_was_measured_is_kept(
    brimline_cli: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "dies.yaml"
    file.write_text(
        "name: dies\ndata: {records: 3k, fields: 2}\nscans:\n  repetitions: 3\n"
        f"  scenarios: [{{name: quick, filter: all}}, {{name: slow, filter: {{$expr: {SLEEPING}}}}}]\n",
        encoding="utf-8",
    )
    running = brimline_cli.start("scan", file, "--warm", "-q")
    assert eventually(lambda: bool(list(brimline_cli.runs.glob("**/trials/02-scan-slow"))), timeout_s=60)
    running.server().kill()
    running.end().check_error(5, "the server went away", "brimline scan --resume", "goes on with it")
    kept = brimline_cli.run("show", "latest", "--json").json()
    assert [(each["scenario"], each["ended"]) for each in kept["scenarios"]] == [("quick", True), ("slow", False)]
    assert kept["scenarios"][0]["documents_drained"] == 3_000


def _started_slow_scan(
    cli: CommandLine, mongod: Deployment, client: Client, directory: Path, *, slow_documents: int
) -> Running:
    """A scan whose second query is under way; it takes 20 ms a document."""
    slow = f"{{_id: {{$lt: {slow_documents}}}, $expr: {SLEEPING}}}"
    file = spec(
        directory,
        "  repetitions: 3\n  indexes: [{time: 1}]\n"
        f"  scenarios: [{{name: quick, filter: {{level: 1}}}}, {{name: slow, filter: {slow}}}]\n",
    )
    running = cli.start(*("scan", file, "--uri", f"mongodb://{mongod.address}/{DATABASE}", "--data", "as-is", "-q"))
    slow_trial = "**/trials/02-scan-slow/record.json"
    assert eventually(lambda: bool(list(cli.runs.glob(slow_trial))), timeout_s=60)
    assert eventually(lambda: _slow_queries(client) > 0, timeout_s=60)
    return running


def _slow_queries(client: Client) -> int:
    running = client.admin.aggregate([{"$currentOp": {}}, {"$match": {"command.find": COLLECTION}}])
    return len(list(running))
