"""`brimline interfere` with a real mongod: what was at work beside the runs, what is left behind, and going on."""

import signal
from pathlib import Path

import pytest

from brimline.servers import Deployment, control_client
from tests.support.command_line import CALM, CommandLine
from tests.support.repetitions import repetitions
from tests.support.starved import awake

pytestmark = [pytest.mark.mongod, pytest.mark.other_client]

SHORT = ("--records", "1000", "--duration", "500ms", "--warmup", "100ms", *CALM)
DATABASE = "brimline_interfere"


@pytest.fixture
def uri(mongod: Deployment) -> str:
    return f"mongodb://{mongod.address}/{DATABASE}"


def collections(mongod: Deployment) -> set[str]:
    with control_client(mongod.address) as client:
        return set(client[DATABASE].list_collection_names())


@pytest.mark.slow("a background is at work beside runs of seconds")
@pytest.mark.parametrize("kind", ["import", "index", *repetitions("scan")])
def test_the_background_is_at_work_and_gone_afterwards(
    kind: str, uri: str, mongod: Deployment, brimline_cli: CommandLine
) -> None:
    rows = () if kind == "import" else ("--background-rows", "30k")
    at = ("--uri", uri, "--data", "load", "-q", "--json")
    outcome = awake(brimline_cli, "interfere", "ycsb-c", "--with", kind, *rows, "--pairs", "1", *SHORT, *at)
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert document["kind"] == "interference"
    assert len(document["a"]) == len(document["b"]) == 1
    run = document["background"]["runs"][-1]
    assert run["busy_share"] >= 0.95 and run["problem"] is None
    if kind != "index":
        assert run["units"] > 1000
    assert "brimline_background" not in collections(mongod)
    shown = brimline_cli.run("show", "latest", "--json")
    assert shown.json()["changes"] == document["changes"]


@pytest.mark.slow("a background is at work beside runs of seconds")
def test_a_file_and_another_workload_at_once(uri: str, mongod: Deployment, brimline_cli: CommandLine) -> None:
    """The file is short, and imported again and again; the other workload has its own documents and its own rate."""
    (brimline_cli.directory / "rows.csv").write_text("a,b\n" + "".join(f"{n},text {n}\n" for n in range(50_000)))
    outcome = awake(
        brimline_cli,
        *("interfere", "ycsb-c", "--with", "import:rows.csv", "--with", "workload:ycsb-b,rate=200/s", "--pairs", "1"),
        *(*SHORT, "--uri", uri, "--data", "load", "-q", "--json"),
    )
    assert outcome.exit_code == 0, outcome.stderr
    assert next(brimline_cli.runs.glob("*/report.html")).stat().st_size > 0
    background = outcome.json()["background"]
    assert background["kind"] == "import:rows.csv + workload:ycsb-b,rate=200/s"
    done = {kind: [each for each in background["runs"] if each["background"] == kind] for kind in (
        "import:rows.csv", "workload:ycsb-b,rate=200/s")}  # fmt: skip
    assert all(done.values())
    assert max(each["units"] for each in done["import:rows.csv"]) > 1000
    rates = [each["units_per_s"] for each in done["workload:ycsb-b,rate=200/s"] if each["problem"] is None]
    assert rates and all(50 < rate < 350 for rate in rates)
    assert not {name for name in collections(mongod) if name.startswith("brimline_background")}


@pytest.mark.slow("a background is at work beside runs of seconds")
def test_an_import_that_runs_out_of_documents_proves_nothing(
    uri: str, mongod: Deployment, brimline_cli: CommandLine
) -> None:
    outcome = brimline_cli.run(
        *(
            "interfere",
            "ycsb-c",
            "--background-rows",
            "500",
            "--pairs",
            "1",
            *SHORT,
            "--uri",
            uri,
            "--data",
            "load",
            "-q",
        )
    )
    outcome.check_error(4, "no pair of", "the background ended early: all 500 documents are in", "--background-rows")
    assert "brimline_background" not in collections(mongod)


@pytest.mark.slow("a background is at work beside runs of seconds")
def test_one_that_was_interrupted_goes_on(uri: str, mongod: Deployment, brimline_cli: CommandLine) -> None:
    at = ("--uri", uri, "--data", "load")
    running = brimline_cli.start(
        *("interfere", "ycsb-c", "--with", "scan", "--background-rows", "20k", "--pairs", "2", *SHORT, *at)
    )
    directory = brimline_cli.wait_for_samples("ycsb-c", kind="interfere-").parents[1]
    running.send(signal.SIGINT)
    ended = running.end()
    assert ended.exit_code == 130, ended.stderr
    assert "brimline_background" not in collections(mongod)
    before = trials(directory)
    outcome = brimline_cli.run("interfere", "--resume", str(directory), *at, "-q", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.json()
    assert len(document["a"]) == len(document["b"]) == 2
    assert before <= trials(directory), "what was whole is kept"
    brimline_cli.run("interfere", "ycsb-c", "--resume", str(directory)).check_error(2, "--resume goes on with")


@pytest.mark.slow("a background is at work beside runs of seconds")
def test_what_one_that_was_killed_left_is_removed_by_the_next(
    uri: str, mongod: Deployment, brimline_cli: CommandLine
) -> None:
    """By its mark: a collection of the same name that belongs to somebody else stays."""
    rows = ("--with", "scan", "--background-rows", "20k", *SHORT, "--data", "load")
    with control_client(mongod.address) as client:
        client["somebody_else"]["brimline_background"].insert_one({"_id": 1})
        client["somebody_else"]["brimline_manifest"].insert_one({"_id": "brimline_background"})
    running = brimline_cli.start("interfere", "ycsb-c", *rows, "--pairs", "20", "--uri", uri)
    brimline_cli.wait_for_samples("ycsb-c", kind="interfere-")
    in_use = brimline_cli.run("interfere", "ycsb-c", *rows, "--pairs", "1", "--uri", uri)
    in_use.check_error(2, "brimline_background belongs to the brimline of process", "wait until it has ended")
    running.send(signal.SIGKILL)
    running.end()
    assert "brimline_background" in collections(mongod)
    # From another database, whose own background it is not.
    elsewhere = uri.replace(DATABASE, "brimline_elsewhere")
    outcome = brimline_cli.run("interfere", "ycsb-c", *rows, "--pairs", "1", "--uri", elsewhere)
    assert outcome.exit_code == 0, outcome.stderr
    assert f"removed {DATABASE}.brimline_background, left by process {running.process.pid}" in outcome.stderr
    assert "brimline_background" not in collections(mongod)
    with control_client(mongod.address) as client:
        assert client["somebody_else"]["brimline_background"].count_documents({}) == 1
        client.drop_database("somebody_else")


def trials(directory: Path) -> set[str]:
    """Names of the trials that went to their end."""
    return {
        path.parent.name
        for path in (directory / "trials").glob("*/record.json")
        if '"ended_by": "completed"' in path.read_text()
    }


def test_a_backup_without_its_tool_says_how_to_get_it(uri: str, brimline_cli: CommandLine) -> None:
    outcome = brimline_cli.run(
        *("interfere", "ycsb-c", "--with", "backup:mongodump", *SHORT, "--uri", uri, "-q"),
        environment={"PATH": "/nowhere"},
    )
    outcome.check_error(2, "there is no mongodump on PATH", "Database Tools")


def test_what_can_t_be_asked_for(brimline_cli: CommandLine) -> None:
    brimline_cli.run("interfere", "ycsb-c", "--pairs", "0").check_error(2, "at least one pair")
    brimline_cli.run("interfere", "ycsb-c", "--background-rows", "many").check_error(2, "--background-rows")
