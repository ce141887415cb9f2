"""What the page starts: real processes of the command line, their progress, their end, and secrets that nobody sees."""

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from brimline.cli.verb_forms import verb_forms
from brimline.record import list_records
from brimline.ui.application import application
from brimline.ui.forms import OWN_TEXT
from brimline.ui.guard import Access
from brimline.ui.jobs import Jobs
from brimline.ui.pages import Pages
from brimline.ui.shelf import Shelf
from tests.support.asgi import Visitor
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow("each starts brimline as a process, and waits for its end")

QUICK = {"WORKLOAD": "ycsb-c", "--null": "on", "--records": "100", "--warmup": "0s", "--rate": "200/s"}
OWN = "data: {records: 100}\noperations: {read: 1}\nname: typed-in\n"


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "python"))
    made = Jobs(tmp_path / "runs")
    yield made
    made.close()


@pytest.fixture
def visitor(jobs: Jobs) -> Visitor:
    access = Access(port=8170)
    return Visitor(application(Pages(Shelf(jobs.runs_dir), access, verb_forms(), jobs)), access).let_in()


def ended(jobs: Jobs) -> int:
    (job, *_) = jobs.all()
    assert eventually(lambda: job.exit_code is not None, timeout_s=60), job.talk
    assert job.exit_code is not None
    return job.exit_code


def test_a_run_is_started_followed_and_found_in_the_list(visitor: Visitor, jobs: Jobs) -> None:
    answer = visitor.post("/start/run", {**QUICK, "--duration": "400ms"})
    assert (answer.status, answer.headers["location"]) == (303, "/jobs/1")
    assert "brimline run ycsb-c" in visitor.get("/jobs/1").text
    assert ended(jobs) in (0, 3, 4), jobs.all()[0].talk
    (entry,) = list_records(jobs.runs_dir)
    assert entry.name == "ycsb-c"
    assert f'href="/records/{entry.directory.name}"' in visitor.get("/jobs/1/state").text
    assert "Started here and ended" in visitor.get("/running").text


def test_it_is_stopped_as_with_ctrl_c_and_its_record_is_whole(visitor: Visitor, jobs: Jobs) -> None:
    visitor.post("/start/run", {**QUICK, "--duration": "10min"})
    (job,) = jobs.all()
    assert 'action="/jobs/1/stop"' in visitor.get("/running").text, "from its first moment on"
    assert eventually(lambda: "run · ycsb-c" in visitor.get("/running").text, timeout_s=60)
    assert 'action="/jobs/1/stop"' in visitor.get("/running").text
    second = visitor.post("/start/run", {**QUICK, "--duration": "1s"})
    assert second.status == 400 and "two would be measured by each other" in second.text
    assert visitor.post("/jobs/1/stop", {}, csrf="wrong").status == 403
    assert job.exit_code is None
    assert visitor.post("/jobs/1/stop", {}).status == 303
    assert ended(jobs) == 128 + signal.SIGINT
    (entry,) = list_records(jobs.runs_dir)
    assert entry.ended_by == "interrupt"


@pytest.mark.long  # twin, of a study: `test_a_study_is_started_on_a_phone_by_the_keyboard_alone`
def test_a_workload_that_is_typed_in_is_run(visitor: Visitor, jobs: Jobs) -> None:
    fields = {**QUICK, "WORKLOAD": OWN_TEXT, "WORKLOAD text": OWN, "--duration": "300ms"}
    visitor.post("/start/run", fields)
    assert ended(jobs) in (0, 3, 4)
    (entry,) = list_records(jobs.runs_dir)
    assert entry.name == "typed-in"


def test_what_can_not_begin_says_why(visitor: Visitor, jobs: Jobs) -> None:
    visitor.post("/start/run", {**QUICK, "--rate": "fast"})
    assert ended(jobs) == 2
    text = visitor.get("/jobs/1").text
    assert "could not begin" in text and "is no rate" in text


def test_secrets_are_in_no_list_of_processes_and_on_no_page(visitor: Visitor, jobs: Jobs) -> None:
    address = "mongodb://somebody:s3cret-w0rd@127.0.0.1:9/"
    fields = {**QUICK, "uri": address, "password": "other-s3cret"}
    del fields["--null"]
    visitor.post("/start/run", fields)
    (job,) = jobs.all()
    command_line = Path(f"/proc/{job.process.pid}/cmdline")
    assert eventually(lambda: b"ycsb-c" in command_line.read_bytes())
    assert b"s3cret" not in command_line.read_bytes()
    assert ended(jobs) == 5
    for url in ("/", "/running", "/jobs/1", "/jobs/1/state", "/start/run"):
        assert "s3cret" not in visitor.get(url).text, url
    assert "mongodb://***@127.0.0.1:9/" in visitor.get("/jobs/1").text
    assert not [path for path in jobs.runs_dir.rglob("*") if path.is_file() and b"s3cret" in path.read_bytes()]


@pytest.mark.parametrize(
    "url", ["/jobs/1", "/jobs/x", "/jobs/-1", "/jobs/99999999999999999999", "/start/nothing", "/start/lab"]
)
def test_what_is_not_there_is_not_there(url: str, visitor: Visitor) -> None:
    assert visitor.get(url).status == 404
    assert visitor.post(url, {}).status in (400, 404)


def test_what_was_started_ends_with_the_page(visitor: Visitor, jobs: Jobs) -> None:
    visitor.post("/start/run", {**QUICK, "--duration": "10min"})
    (job,) = jobs.all()
    assert eventually(lambda: job.record() is not None, timeout_s=60)
    begun = time.monotonic()
    jobs.close()
    assert job.exit_code == 128 + signal.SIGINT and time.monotonic() - begun < 60
    assert not re.search("Traceback", job.talk) and not Path(f"/proc/{job.process.pid}/fd/0").exists()
