"""Every example does what it says. A new example without an expectation here fails the first test."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import brimline
from tests.support import forked
from tests.support.repetitions import repetitions
from tests.support.server import required_mongod

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPT_DEADLINE_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecExample:
    """What a spec must come to: the operations that ran, open or closed loop, judged or not."""

    operations: frozenset[str]
    closed_loop: bool
    judged: bool


SPECS: Mapping[str, SpecExample] = {
    "own-workload.yaml": SpecExample(operations=frozenset({"read", "update"}), closed_loop=True, judged=False),
    "open-loop-with-objective.yaml": SpecExample(
        operations=frozenset({"read", "update"}), closed_loop=False, judged=True
    ),
    "ramp-then-hold.yaml": SpecExample(operations=frozenset({"read", "update"}), closed_loop=False, judged=False),
    "threads-loops-ramp-up.yaml": SpecExample(operations=frozenset({"insert"}), closed_loop=True, judged=False),
    "transactions.yaml": SpecExample(operations=frozenset({"read", "transaction"}), closed_loop=True, judged=False),
    # Its queries are in tests/integration/test_scan.py; as a workload it reads.
    "queries-with-plans.yaml": SpecExample(operations=frozenset({"read"}), closed_loop=True, judged=False),
    "ycsb-read-mostly.properties": SpecExample(
        operations=frozenset({"read", "update"}), closed_loop=True, judged=False
    ),
}
# What a script prints, line by line, as patterns that must be found in this order.
SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "run_to_data_frame.py": (
        r"count +p50_ns +p99_ns",
        r"read +service +\d+",
        r"operation +read +update",
        r"report: ",
    ),
    "loop_over_seeds.py": (r"seed 1: \d+ ops/s", r"seed 3: \d+ ops/s", r"3 runs: mean \d+ ops/s"),
    "compare_two_settings.py": (
        r"connections: 4 against 16",
        r"Throughput: [+-][\d.,]+% \([+-].*\), (improved|regressed|equivalent|inconclusive)",
        r"verdict: \w+",
        r"report: ",
    ),
    "generator_ceiling.py": (r"ceiling: [1-9]\d* ops/s", r"client CPU: \d+ ns per operation"),
}

ON_A_SERVER = "run_to_data_frame.py"
"""The script that runs against a real server too: against none it runs in `make test-all`."""


def test_every_example_has_an_expectation_and_a_line_in_the_readme() -> None:
    examples = {path.name for path in EXAMPLES.iterdir() if path.is_file()} - {"README.md"}
    notebooks = {name for name in examples if name.endswith(".ipynb")}  # test_notebook.py runs them
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert examples - notebooks == SPECS.keys() | SCRIPTS.keys()
    assert {name for name in examples if f"({name})" in readme} == examples


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_runs_and_does_what_it_says(name: str, tmp_path: Path) -> None:
    expected = SPECS[name]
    overrides = {} if name.endswith(".properties") else {"warmup": "50ms", "duration": "200ms"}
    result = brimline.run(EXAMPLES / name, overrides=overrides, options=brimline.Options(null=True, runs_dir=tmp_path))
    summary = result.record.summary
    assert summary is not None
    assert {kind for kind, totals in summary["operations"].items() if totals["ok"]} == expected.operations
    assert result.record.closed_loop is expected.closed_loop
    assert (result.judgement is not None) is expected.judged
    assert result.html.exists()


def test_the_property_file_says_how_many_operations_run(tmp_path: Path) -> None:
    result = brimline.run(
        property_files=[EXAMPLES / "ycsb-read-mostly.properties"],
        properties=["operationcount=300"],
        options=brimline.Options(null=True, runs_dir=tmp_path),
    )
    assert result.record.summary is not None
    assert result.record.summary["sent"] == 300


@pytest.mark.slow("the example measures for seconds")
@pytest.mark.parametrize("name", [*sorted(SCRIPTS.keys() - {ON_A_SERVER}), *repetitions(ON_A_SERVER)])
def test_a_script_prints_what_it_says(name: str, tmp_path: Path) -> None:
    """By a process that has imported everything already; the one below is as a user's."""
    running = forked.start([str(EXAMPLES / name), "--null"], directory=tmp_path, environment=os.environ)
    printed, errors = running.communicate(timeout=SCRIPT_DEADLINE_S)
    assert running.returncode == 0, errors
    assert_printed(printed, SCRIPTS[name])


@pytest.mark.mongod
def test_a_script_runs_against_a_real_server(tmp_path: Path) -> None:
    required_mongod()
    assert_printed(run_script(ON_A_SERVER, directory=tmp_path), SCRIPTS[ON_A_SERVER])


def run_script(name: str, *, directory: Path) -> str:
    """Runs an example as a user would, from another directory; returns what it prints."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=SCRIPT_DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_printed(text: str, patterns: tuple[str, ...]) -> None:
    """Fails unless every pattern is found in `text`, one after the other."""
    position = 0
    for pattern in patterns:
        found = re.compile(pattern).search(text, position)
        assert found is not None, f"{pattern!r} not found in order in:\n{text}"
        position = found.end()
