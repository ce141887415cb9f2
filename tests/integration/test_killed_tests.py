"""A process of the tests that is killed: nothing that it started stays."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.labs import processes_below
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
PROGRAM = """
import subprocess, sys, time
from pathlib import Path
from tests.support.sweeper import swept
place = Path(sys.stdin.readline().strip())
words = [sys.executable, "-c", "import time; time.sleep(100)"]
with swept(place):
    for more, where in (([str(place / "data")], None), ([], place)):
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        print(subprocess.Popen([*words, *more], cwd=where, start_new_session=True, **quiet).pid, flush=True)
    if sys.stdin.readline():
        time.sleep(100)
"""


def start(place: Path) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """A process of tests, with one process that names its files and one that works in their directory."""
    place.mkdir()
    tests = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert tests.stdin is not None and tests.stdout is not None
    tests.stdin.write(f"{place}\n")
    tests.stdin.flush()
    return tests, [psutil.Process(int(tests.stdout.readline())) for _ in range(2)]


def test_what_a_killed_process_of_tests_started_ends_with_it(tmp_path: Path) -> None:
    tests, started = start(tmp_path / "session")
    beside = tmp_path / "another"
    beside.mkdir()
    assert all(each.is_running() for each in started)
    tests.send_signal(signal.SIGKILL)
    tests.communicate()
    assert eventually(lambda: not any(each.is_running() for each in started))
    assert eventually(lambda: not (tmp_path / "session").exists())
    assert beside.exists()


def test_one_that_has_ended_by_itself_keeps_its_files(tmp_path: Path) -> None:
    """A person may want to look at them; what it left running, it kills and tells itself."""
    tests, started = start(tmp_path / "session")
    tests.communicate()
    assert all(each.is_running() for each in started)
    for each in started:
        each.kill()
    assert (tmp_path / "session").exists()


SHARED = """
import os, signal, time
import pytest
@pytest.mark.parametrize("name", ["mongod", "member", "mariadb"])
def test_it_dies(name, request):
    server = request.getfixturevalue(name)
    os.kill(server.process.pid if name == "member" else server.pid, signal.SIGKILL)
    time.sleep(0.2)
def test_the_next(mongod):
    pass
def test_one_without_servers():
    pass
"""


@pytest.mark.mongod
@pytest.mark.slow("a run of tests, with servers of its own")
def test_a_shared_server_that_dies_is_named_and_nothing_stays(tmp_path: Path) -> None:
    """By the test in which it died and by each that wants it from then on; one without servers passes."""
    (tmp_path / "test_dying.py").write_text(SHARED)
    words = ("--confcutdir", tmp_path, "--rootdir", tmp_path, tmp_path / "test_dying.py")
    place = {"COLUMNS": "300", "PYTEST_DEBUG_TEMPROOT": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "-p", "tests.conftest", *map(str, words)],
        cwd=ROOT, env={**os.environ, **place}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    told = run.stdout + run.stderr
    named = re.findall(r"ERROR .*::test_(\S+) - Failed: the (.+) that tests share .* (was gone \w+)", told)
    died = {test: what for test, what, when in named if when == "was gone after"}
    asked = {"it_dies[mongod]": "mongod", "it_dies[member]": "replica set", "it_dies[mariadb]": "MariaDB"}
    if re.search(r"\d skipped", told):
        del asked["it_dies[mariadb]"]  # which is not here
    assert died == asked, told
    assert ("the_next", "mongod", "was gone before") in named, told
    assert re.search(r"[34] passed.*, [34] errors in", told), told
    assert processes_below(tmp_path) == []
