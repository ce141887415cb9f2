"""Files of rows that a workload names: a record is read without them, and finds them again where they were."""

import json
import os
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.repetitions import repetitions

SPEC = """\
name: shop
collections: {orders: {records: 100}}
values: {sku: {csv: skus.csv, column: sku}}
operations: {look: {find: {collection: orders, filter: {_id: $sku}}}}
warmup: 0s
duration: 200ms
interval: 100ms
slo: {response_p99: 10s}
"""
SHORT = ("--null", "--quiet", "--runs-dir", "runs")
VERBS = {
    "run": ("run", "a/shop.yaml"),
    "sweep": ("sweep", "a/shop.yaml", "--connections-max", "1", "--duration", "200ms", "--warmup", "0s"),
    "ab": ("ab", "a/shop.yaml", "b/shop.yaml", "--pairs", "1"),
    "vary": (
        "sweep",
        "a/shop.yaml",
        "--vary",
        "connections=1,2",
        "--repeats",
        "2",
        "--repeats-max",
        "2",
        "--duration",
        "200ms",
    ),
}


@pytest.fixture
def here(brimline_cli: CommandLine) -> CommandLine:
    for name in "ab":
        directory = brimline_cli.directory / name
        directory.mkdir()
        (directory / "shop.yaml").write_text(SPEC)
        (directory / "skus.csv").write_text(f"sku\n{name}\n")
    return brimline_cli


def _record(here: CommandLine, verb: str) -> Path:
    outcome = here.run(*VERBS[verb], *SHORT)
    assert outcome.exit_code in (0, 3, 4), outcome.stderr
    (directory,) = here.runs.iterdir()
    return directory


@pytest.mark.slow("nodes in processes of their own")
def test_nodes_are_sent_the_rows_and_perform_what_one_client_does(here: CommandLine) -> None:
    words = ("run", "a/shop.yaml", "--connections", "2", "--operations", "100", *SHORT, "--json")
    alone, shared = (here.run(*words, *more).json() for more in ((), ("--workers", "local:2")))
    assert [node["failed"] for node in shared["nodes"]] == [0, 0]
    assert shared["operations_hash"] == alone["operations_hash"]
    assert shared["counts_whole_run"] == alone["counts_whole_run"]


def test_a_record_keeps_its_objective_without_the_files(here: CommandLine) -> None:
    directory = _record(here, "run")
    (here.directory / "a" / "skus.csv").unlink()
    objective = json.loads(here.run("show", directory, "--json").stdout)["objective"]
    assert objective["response_p99_ns"] == 10_000_000_000
    (directory / "report.html").unlink()
    assert here.run("report", directory).exit_code == 0
    assert "judged by its objective" in (directory / "report.html").read_text()


def test_the_spec_of_a_record_runs_again(here: CommandLine) -> None:
    directory = _record(here, "run")
    assert here.run("run", directory / "spec.yaml", *SHORT).exit_code == 0
    again = next(each for each in here.runs.iterdir() if each != directory)
    assert (again / "plan.json").read_bytes() == (directory / "plan.json").read_bytes()
    file = here.directory / "a" / "skus.csv"
    file.unlink()
    here.run("run", directory / "spec.yaml", *SHORT).check_error(2, "values.sku.csv", f"can't read {file}")


@pytest.mark.parametrize("verb", ["sweep", "ab", *repetitions("vary")])
def test_an_experiment_goes_on_with_the_same_rows_alone(here: CommandLine, verb: str) -> None:
    directory = _record(here, verb)
    file = here.directory / ("b" if verb == "ab" else "a") / "skus.csv"
    resumed = (VERBS[verb][0], "--resume", directory, "--null", "--quiet")
    assert here.run(*resumed).exit_code in (0, 3, 4)
    file.write_text("sku\nanother\n")
    here.run(*resumed).check_error(2, f"{file} has other rows", "begin anew")
    file.unlink()
    here.run(*resumed).check_error(2, "values.sku.csv", f"can't read {file}")


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("kind", ["pipe", "device", "directory"])
def test_what_is_no_file_is_refused_before_it_is_opened(here: CommandLine, form: str, kind: str) -> None:
    path = here.directory / "a" / "rows"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    name = "/dev/zero" if kind == "device" else "rows"
    (here.directory / "a" / "shop.yaml").write_text(SPEC.replace("csv: skus.csv", f"{form}: {name}"))
    here.run(*VERBS["run"], *SHORT).check_error(2, f"values.sku.{form}", "is no file")
