"""compare, ab and trend as their users have them, against a real mongod."""

import json
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from brimline.api.ab import ab_loaded, resumed_ab
from brimline.api.comparison import compare
from brimline.api.options import Options
from brimline.api.workload import load_workload
from brimline.experiments.paired.ab import ABSettings
from brimline.record import read_experiment
from brimline.record.files import replace_json
from brimline.servers import Deployment
from tests.support.command_line import CALM, CommandLine
from tests.support.scripted_server import scripted_server
from tests.support.starved import awake

pytestmark = pytest.mark.mongod

SHORT = ("--records", "1000", "--duration", "1s", "--warmup", "200ms", "-q")


@pytest.fixture
def uri(mongod: Deployment) -> str:
    return f"mongodb://{mongod.address}/brimline_compare"


def record(cli: CommandLine, *arguments: str, runs: str = "runs") -> str:
    """Makes one run and returns its directory."""
    outcome = awake(cli, "run", "ycsb-c", *SHORT, *arguments, "--runs-dir", runs, "--json")
    # 4: an open loop so short is inconclusive about its objective.
    assert outcome.exit_code in (0, 4), outcome.stderr
    return str(outcome.json()["record"])


@pytest.mark.slow("runs in pairs on a real server")
def test_two_workloads_in_turns_with_a_gate_that_fails(brimline_cli: CommandLine) -> None:
    """A server that answers one request after the other, in 2 ms each: a read and an update take twice as long."""
    with scripted_server({"service": {"kind": "fixed", "ns": 2_000_000}, "servers": 1}) as server:
        outcome = awake(
            brimline_cli,
            *("ab", "ycsb-c", "--b", "operations.read=0", "--b", "operations.read_modify_write=1", "--pairs", "3"),
            *("--connections", "1", "--uri", server.uri),
            *("--data", "as-is", *SHORT, "--gate", "throughput=30%", "--junit", "gate.xml", "--json"),
        )
    assert outcome.exit_code == 3, outcome.stderr
    assert "the gate failed: Throughput" in outcome.error
    document = outcome.json()
    assert document["kind"] == "comparison"
    changed = {each["name"] for each in document["differences"]}
    assert changed == {"work.proportions.read", "work.proportions.read_modify_write"}
    assert min(len(document["a"]), len(document["b"])) >= 3
    throughput = next(change for change in document["changes"] if change["metric"] == "throughput")
    assert throughput["verdict"] == "regressed" and throughput["interval_share"][1] < 0
    assert document["verdict"] in ("regressed", "mixed")
    root = ElementTree.parse(brimline_cli.directory / "gate.xml").getroot()
    assert [(case.get("name"), [child.tag for child in case]) for case in root] == [("throughput", ["failure"])]

    shown = brimline_cli.run("show", "latest", "--json")
    assert shown.exit_code == 0, shown.stderr
    assert shown.json()["changes"] == document["changes"]
    experiment = next(Path(brimline_cli.directory, "runs").glob("*-ab-*"))
    assert (experiment / "report.html").exists()
    compared = brimline_cli.run("compare", str(experiment), "--json")
    assert compared.json()["changes"] == document["changes"]
    swapped = brimline_cli.run(
        "compare", f"{experiment}:B", f"{experiment}:A", "--gate", "throughput=30%", "--html", "x.html"
    )
    assert swapped.exit_code == 0, swapped.stderr
    assert "gate: pass" in swapped.stdout and (brimline_cli.directory / "x.html").exists()


@pytest.mark.slow("runs in pairs on a real server")
def test_more_in_flight_is_slower_and_no_verdict(brimline_cli: CommandLine) -> None:
    """Eight connections at a server that takes one request at a time wait eight times as long, and get as much."""
    with scripted_server({"service": {"kind": "fixed", "ns": 2_000_000}, "servers": 1}) as server:
        outcome = awake(
            brimline_cli,
            *("ab", "ycsb-c", "--a", "connections=1", "--b", "connections=8", "--pairs", "3", "--uri", server.uri),
            *("--data", "as-is", *SHORT),
        )
    assert outcome.exit_code == 0, outcome.stderr
    assert "Service p50" not in outcome.stdout and "The loads differ (connections 1 → 8)" in outcome.stdout
    assert "next: compare at one rate: brimline ab ycsb-c" in outcome.stdout
    shown = brimline_cli.run("show", "latest", "--json").json()
    assert {each["metric"]: each["verdict"] for each in shown["changes"]}["p50"] == "not judged"
    (search,) = shown["unlike_loads"]["capacity_commands"]
    assert search.startswith("brimline ab ycsb-c --a connections=1 --b connections=8 --uri")
    assert search.endswith("--measure capacity")
    (again,) = shown["unlike_loads"]["same_load_commands"]
    assert "--b connections=8" in again and again.split()[-2] == "--rate"


@pytest.mark.slow("runs in pairs on a real server")
def test_records_against_records(brimline_cli: CommandLine, uri: str) -> None:
    arguments = ("--uri", uri, "--data", "load", "--drop", *CALM)
    before = [record(brimline_cli, *arguments, runs="before") for _ in range(2)]
    after = [record(brimline_cli, *arguments, runs="after") for _ in range(2)]

    one = brimline_cli.run("compare", before[0], after[0], "--gate", "5%", "--json")
    assert one.exit_code == 4
    assert "the gate is inconclusive: no claim about Throughput" in one.error
    assert one.json()["verdict"] == "no claim"
    ungated = brimline_cli.run("compare", before[0], after[0])
    assert ungated.exit_code == 0 and "No claim" in ungated.stdout

    # Loads that went before lie in the same directories and don't count.
    directories = brimline_cli.run("compare", "before", "after", "--json").json()
    named = brimline_cli.run("compare", *before, "vs", *after, "--json").json()
    assert directories == named
    assert [len(named[side]) for side in "ab"] == [2, 2]
    assert any("before those of the other" in warning for warning in named["warnings"])

    brimline_cli.run("compare", "before", "vs", *after, before[0]).check_error(2, "is named more than once")
    assert len(brimline_cli.run("trend", "before", *before, "--json").json()["series"][0]["runs"]) == 2

    open_loop = record(brimline_cli, "--uri", uri, "--data", "load", "--rate", "200/s", "--p99", "10s")
    brimline_cli.run("compare", before[0], open_loop).check_error(2, "closed loop", "open loop", "give both a rate")

    trend = brimline_cli.run("trend", "before", "after", "--gate", "5%", "--junit", "trend.xml")
    assert trend.exit_code == 4 and "a trend needs 6" in trend.error
    for copy in range(8):
        shutil.copytree(brimline_cli.directory / before[0], brimline_cli.directory / "many" / f"{copy}-same")
    many = brimline_cli.run("trend", "--runs-dir", "many", "--gate", "5%", "--json")
    assert many.exit_code == 0, many.stderr
    (series,) = many.json()["series"]
    assert len(series["runs"]) == 8
    assert [metric["changes"] for metric in series["metrics"]] == [[]] * len(series["metrics"])


@pytest.mark.slow("runs in pairs on a real server")
def test_data_that_differs_does_not_share_a_collection(brimline_cli: CommandLine) -> None:
    """B has a fifth of the documents; both are loaded, and every read finds its document."""
    outcome = awake(
        brimline_cli,
        *("ab", "ycsb-c", "--b", "data.records=200", "--pairs", "2", "--records", "1000", "--duration", "1s"),
        *("--warmup", "100ms", *CALM, "--json"),
    )
    assert outcome.exit_code == 0, outcome.stderr
    assert "the data differs, so that of B goes into usertable_b" in outcome.stderr
    document = outcome.json()
    assert document["left_out"] == []
    differences = {each["name"]: (each["a"], each["b"]) for each in document["differences"]}
    assert differences["namespace.collection"] == (["usertable"], ["usertable_b"])
    assert "estimate: about 4.40 s, 4 probes (A 2, B 2); at most 8.80 s, without server starts" in outcome.stderr


def test_words_that_cannot_be_followed(brimline_cli: CommandLine, tmp_path: Path) -> None:
    brimline_cli.run("compare", "a", "b", "c").check_error(2, "which belong to A and which to B", "put vs between them")
    brimline_cli.run("compare", "a", "b", "--gate", "5").check_error(2, "--gate", "no percentage")
    brimline_cli.run("compare", "a", "b", "--junit", "x").check_error(2, "no effect without a gate")
    brimline_cli.run("compare", "nowhere", "nothing").check_error(2, 'no run is called "nowhere"')
    brimline_cli.run("ab", "ycsb-c").check_error(2, "there is no B")
    brimline_cli.run("ab", "ycsb-c", "--b", "connections").check_error(2, "takes KEY=VALUE")
    brimline_cli.run("trend", str(tmp_path)).check_error(2, "there is no record to compare in")


@pytest.mark.parametrize(("p99", "exit_code", "tag"), [("30s", 0, "system-out"), ("1us", 3, "failure")])
def test_the_objective_of_a_run_as_a_test_case(brimline_cli: CommandLine, p99: str, exit_code: int, tag: str) -> None:
    outcome = brimline_cli.run(
        *("run", "ycsb-c", "--null", "--rate", "20k/s", "--p99", p99, "--duration", "1s", "--warmup", "0s", "-q"),
        *("--junit", "run.xml"),
    )
    assert outcome.exit_code == exit_code, outcome.stderr
    root = ElementTree.parse(brimline_cli.directory / "run.xml").getroot()
    assert [(case.get("name"), [child.tag for child in case]) for case in root] == [("ycsb-c", [tag])]


@pytest.mark.slow("four sweeps on a real server")
def test_searches_in_turns_and_gone_on_with(uri: str, tmp_path: Path) -> None:
    """Each arm of a pair is a whole sweep in the record of the comparison; what was cut short is gone on with."""
    a, b = (
        load_workload("ycsb-c", overrides={"data.records": 200, "keys": {"kind": keys}})
        for keys in ("zipfian", "uniform")
    )
    said = {"connections_max": 2, "warmup_s": 0.0, "duration_s": 0.05}
    options = Options(uri=uri, runs_dir=tmp_path, data="load")
    result = ab_loaded(a, b, ABSettings(pairs=2, measure="sweep", said=said), options)
    assert result.comparison.kind == "sweep" and result.comparison.noun == "experiment"
    assert [len(side) for side in (result.comparison.a, result.comparison.b)] == [2, 2]
    assert result.comparison.changes[0].metric.key == "highest"
    trials = sorted((result.directory / "trials").iterdir())
    assert len(trials) == 4 and all((each / "report.html").exists() for each in trials)
    again = compare([f"{result.directory}:A"], [f"{result.directory}:B"], runs_dir=tmp_path)
    assert again.comparison.changes == result.comparison.changes

    last = trials[-1]
    cut_short = {"ended_by": None}
    for path, changed in (
        (last / "trial.json", {"took_s": None}),
        (last / "experiment.json", cut_short),
        (result.directory / "experiment.json", cut_short),
    ):
        replace_json(path, {**json.loads(path.read_text()), **changed})
    resumed = resumed_ab(result.directory, options)
    assert sorted((result.directory / "trials").iterdir()) == trials
    assert read_experiment(last).ended_by == "completed" and not (result.directory / "dropped").exists()
    assert len(resumed.comparison.b) + len(resumed.comparison.a) == 4


def test_words_of_searches_in_turns(brimline_cli: CommandLine) -> None:
    asked = ("ab", "ycsb-c", "--b", "connections=64")
    brimline_cli.run(*asked, "--quick").check_error(2, "--quick is of searches")
    brimline_cli.run(*asked, "--p99", "5ms").check_error(2, "an objective has no effect", "--measure capacity")
    brimline_cli.run(*asked, "--measure", "soak").check_error(2, "--measure")
