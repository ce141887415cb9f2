"""Who runs which file of tests: all workers but the last wait for servers; that one computes first."""

from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.side_by_side import Kind, Scheduler, kind_of

FILES = (
    "unit/test_sums.py",
    "integration/test_runs.py",
    "unit/test_waits.py",
    "truth/test_long.py",
    "browser/test_it.py",
)
COMPUTING = ("tests/unit/test_sums.py", "tests/truth/test_long.py")


class Worker:
    def __init__(self, number: int) -> None:
        self.gateway = SimpleNamespace(id=f"gw{number}")
        self.sent: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, places: list[int]) -> None:
        self.sent += places

    def shutdown(self) -> None:
        self.shutting_down = True


def run_by(directory: Path, count: int) -> dict[str, list[str]]:
    """The files that each worker gets to run, where each is as quick as the other."""
    for file in FILES:
        (directory / "tests" / file).parent.mkdir(parents=True, exist_ok=True)
        (directory / "tests" / file).write_text("import subprocess\n" if "waits" in file else "import math\n")
    names = [f"tests/{file}::test_{number}" for file in FILES for number in range(3)]
    option = SimpleNamespace(loadscopereorder=False, maxprocesses=None)
    config: Any = SimpleNamespace(rootpath=directory, option=option, getvalue=lambda _: ["popen"] * count)
    scheduler = Scheduler(config)
    workers: list[Any] = [Worker(number) for number in range(count)]
    for worker in workers:
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, names)
    scheduler.schedule()
    done: dict[str, list[str]] = {worker.gateway.id: [] for worker in workers}
    while not scheduler.tests_finished or any(worker.sent for worker in workers):
        for worker in workers:
            if worker.sent:
                place = worker.sent.pop(0)
                done[worker.gateway.id].append(names[place])
                scheduler.mark_test_complete(worker, place)
    assert sorted(chain(*done.values())) == sorted(names), "each test once"
    assert all(worker.shutting_down for worker in workers)
    return {worker: list(dict.fromkeys(name.partition("::")[0] for name in each)) for worker, each in done.items()}


def test_the_last_of_three_computes_and_helps_where_there_is_no_generator(tmp_path: Path) -> None:
    done = run_by(tmp_path, 3)
    assert set(done["gw2"]) <= {*COMPUTING, "tests/browser/test_it.py"} and done["gw2"][0] in COMPUTING
    assert done["gw0"][0] == "tests/integration/test_runs.py" and done["gw1"][0] == "tests/unit/test_waits.py"


def test_two_do_everything(tmp_path: Path) -> None:
    done = run_by(tmp_path, 2)
    assert set(done["gw0"] + done["gw1"]) == {f"tests/{file}" for file in FILES}


@pytest.mark.parametrize(
    ("file", "text", "kind"),
    [
        ("unit/test_it.py", "import math\n", Kind.COMPUTES),
        ("unit/test_it.py", "from subprocess import run\n", Kind.WAITS),
        ("integration/test_runs.py", "import math\n", Kind.WAITS),
        ("integration/test_import_of_rows.py", "import math\n", Kind.PATIENT),
        ("browser/test_it.py", "import subprocess\n", Kind.PATIENT),
    ],
)
def test_how_a_file_spends_its_time(tmp_path: Path, file: str, text: str, kind: Kind) -> None:
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text(text)
    assert kind_of(tmp_path / file) is kind
