"""What is run again since the machine did not let the generator run, and what is not."""

import json
import subprocess
import sys
from pathlib import Path

from brimline.record.layout import RECORD_FILE
from tests.support.command_line import CommandLine, Outcome
from tests.support.starved import ATTEMPTS, awake, stood_still

ROOT = Path(__file__).parents[2]
TESTS = """
import json
from pathlib import Path

import pytest

TIMES = {}


@pytest.fixture(scope="session", autouse=True)
def counted():
    yield
    Path(__file__).with_name("times.json").write_text(json.dumps(TIMES))


def nth(name):
    TIMES[name] = TIMES.get(name, 0) + 1
    return TIMES[name]


@pytest.fixture(scope="session")
def server():
    assert nth("server") == 1, "a server stays"
    return 1


@pytest.fixture(scope="module")
def made(server):
    return nth("made")


@pytest.fixture(scope="session")
def late():
    assert nth("late") > 1, "the generator sent late: lag p99 3 ms"


@pytest.fixture
def of_its_own(tmp_path):
    (tmp_path / "it").mkdir()
    return tmp_path


def test_what_a_file_made_is_made_anew(made, of_its_own):
    assert made == 2, "no run of A counts: the generator itself did not run for 270 ms from 1.3 s on, 30 %"


def test_a_fixture_that_could_not_be_made(late, server):
    pass


def test_a_record_says_it(of_its_own):
    if nth("record") == 1:
        standstills = [{"from_ns": 0, "to_ns": 3, "still_ns": 260000000}]
        (of_its_own / "record.json").write_text(json.dumps({"summary": {"standstills": standstills}}))
        pytest.fail("4 != 0")


def test_a_fault_beside_it():
    nth("fault")
    pytest.fail("'conclusion': 'client_limited'")


def test_a_fault():
    nth("plain")
    pytest.fail('{"client_limited": false}')
"""


def test_once_more_and_told(tmp_path: Path) -> None:
    """By a worker and in any order, as all tests may be run."""
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    # In an order in which no test with a server comes last, after which no fixture is left.
    words = (
        "-p",
        "tests.support.starved",
        "-p",
        "no:cacheprovider",
        "-p",
        "randomly",
        "--numprocesses",
        "1",
        "--randomly-seed",
        "1",
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *words,
            "--rootdir",
            str(tmp_path),
            "-c",
            str(tmp_path / "pytest.ini"),
            str(tmp_path),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "2 failed, 3 passed" in done.stdout, done.stdout
    assert done.returncode == 1
    times = json.loads((tmp_path / "times.json").read_text())
    assert times == {"server": 1, "made": 2, "late": 2, "record": 2, "fault": 2, "plain": 1}
    told = done.stdout.partition("run again, since the machine did not let the generator run")[2].splitlines()
    assert sorted(line for line in told if line.startswith(("passed", "failed"))) == [
        "failed  test_it.py::test_a_fault_beside_it: 'client_limited'",
        "passed  test_it.py::test_a_fixture_that_could_not_be_made: the generator sent late: lag p99 3 ms",
        "passed  test_it.py::test_a_record_says_it: the generator itself did not run for 260 ms",
        "passed  test_it.py::test_what_a_file_made_is_made_anew: "
        "the generator itself did not run for 270 ms from 1.3 s on",
    ]


class Stalled(CommandLine):
    """A command line whose first runs stand still."""

    def run(self, *arguments: object, **_: object) -> Outcome:  # type: ignore[override]
        count = len(list(self.directory.glob("count*")))
        (self.directory / f"count{count}").touch()
        record = self.runs / f"{count}"
        record.mkdir(parents=True)
        standstills = [{"still_ns": 260_000_000}] * (count < int(str(arguments[0])))
        (record / RECORD_FILE).write_text(json.dumps({"summary": {"standstills": standstills}}))
        return Outcome(0, json.dumps({"record": str(record)}), "", 0.0)


def test_runs_are_made_again_until_one_counts(tmp_path: Path) -> None:
    outcome = awake(Stalled(tmp_path), str(ATTEMPTS - 1))
    assert [str(each) for each in (tmp_path / "runs").iterdir()] == [outcome.json()["record"]]


def test_the_last_attempt_is_taken_as_it_is(tmp_path: Path) -> None:
    outcome = awake(Stalled(tmp_path), str(ATTEMPTS))
    assert [str(each) for each in (tmp_path / "runs").iterdir()] == [outcome.json()["record"]]
    assert stood_still(Path(outcome.json()["record"])) == "the generator itself did not run for 260 ms"
