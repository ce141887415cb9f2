"""What the page started, once it has ended, and the end of what doesn't end by itself."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from brimline.ui import jobs as jobs_module
from brimline.ui.application import application
from brimline.ui.guard import Access
from brimline.ui.jobs import Job, Jobs
from brimline.ui.pages import Pages
from brimline.ui.shelf import Shelf
from tests.support.asgi import Visitor

DEAF = """\
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
sys.stdin.read()
"""


def job_of(jobs: Jobs, process: "subprocess.Popen[bytes]", directory: Path) -> Job:
    job = Job(
        number=1,
        words=("brimline", "study", "run"),
        address=None,
        process=process,
        directory=directory,
        runs_dir=jobs.runs_dir,
    )
    jobs._jobs[1] = job
    return job


def test_a_study_that_ended_is_linked_to_its_document(tmp_path: Path) -> None:
    study = tmp_path / "runs" / "20261126t100000z-study-mine"
    study.mkdir(parents=True)
    (study / "study.json").write_text("{}")
    (tmp_path / "stdout").write_text(json.dumps({"kind": "study", "directory": str(study), "experiments": []}))
    jobs = Jobs(tmp_path / "runs")
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(timeout=30)
    assert job_of(jobs, process, tmp_path).record() == study
    access = Access(port=8170)
    visitor = Visitor(application(Pages(Shelf(jobs.runs_dir), access, (), jobs)), access).let_in()
    assert f'href="/records/{study.name}"' in visitor.get("/jobs/1/state").text
    assert visitor.get(f"/records/{study.name}").status == 200


def test_the_newest_is_first(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path / "runs")
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(timeout=30)
    first = job_of(jobs, process, tmp_path)
    jobs._jobs[2] = replace(first, number=2)
    assert [each.number for each in jobs.all()] == [2, 1]


@pytest.mark.parametrize(("more", "kept"), [(0, True), (1, False)])
def test_the_end_of_what_is_said_begins_with_a_whole_line(more: int, kept: bool, tmp_path: Path) -> None:
    path = tmp_path / "stderr"
    path.write_text("first".ljust(jobs_module._TAIL_BYTES - 5 + more, ".") + "\nlast")
    said = jobs_module._tail(path)
    assert said.endswith("last") and said.startswith("first" if kept else "last")


def test_what_heeds_no_signal_ends_with_the_page_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "_CLOSE_WAIT_S", 0.05)
    monkeypatch.setattr(jobs_module, "_TERMINATE_WAIT_S", 0.05)
    jobs = Jobs(tmp_path / "runs")
    with subprocess.Popen([sys.executable, "-c", DEAF], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"deaf\n"
        job = job_of(jobs, process, tmp_path)
        jobs.close()
        assert job.exit_code == -signal.SIGKILL
