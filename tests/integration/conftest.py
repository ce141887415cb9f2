"""Owns what holds for every test with a real server: it counted what brimline counted."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pymongo.errors import ConnectionFailure

from brimline.analysis.finding import Standing
from brimline.analysis.validity import opcounters
from brimline.api import generator_checks, results
from brimline.record import read_record
from brimline.record.data_import import is_import
from brimline.record.layout import RECORD_FILE
from brimline.record.reader import read_state
from brimline.record.scan import SCAN_TRIAL_KIND
from brimline.servers import Deployment, control_client
from tests.support.command_line import CommandLine
from tests.support.labs import processes_below
from tests.support.server import emptied
from tests.support.ycsb_command import Database, database_without_collections, url_property


@pytest.fixture(scope="module")
def uri(mongod: Deployment) -> Iterator[str]:
    """The address of the shared server, from which what a file of tests left is taken away."""
    address = f"mongodb://{mongod.address}"
    yield address
    with suppress(ConnectionFailure), control_client(mongod.address) as client:
        emptied(client)


@pytest.fixture
def database(request: pytest.FixtureRequest, mongod: Deployment) -> Iterator[Database]:
    """An empty database for tests of `brimline ycsb`, under the name that their file has as `DATABASE`."""
    with database_without_collections(mongod, request.module.DATABASE) as database:
        yield database
        database.command("profile", 0)


@pytest.fixture
def url(request: pytest.FixtureRequest, mongod: Deployment) -> str:
    """The address of that database, as YCSB has it."""
    return url_property(mongod, request.module.DATABASE)


@pytest.fixture
def here(brimline_cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line, and the test itself, in a directory of its own."""
    monkeypatch.chdir(brimline_cli.directory)
    return brimline_cli


_OPENS_PAGES = re.compile(r"html|files_with|rglob")
"""A page by name, or every file of a record, in which no secret may stand."""


@pytest.fixture(scope="module", autouse=True)
def _no_page_that_nobody_opens(request: pytest.FixtureRequest) -> Iterator[None]:
    """A file of tests that opens no page has none written: 20 ms of CPU time for each command."""
    with pytest.MonkeyPatch.context() as patch:
        if not _OPENS_PAGES.search(request.path.read_text(encoding="utf-8")):
            patch.setattr(results, "write_html", lambda _report, path: path.touch())
        yield


@pytest.fixture
def brief_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor measures the generator for an instant: four seconds of CPU time less, where nobody looks at that."""
    monkeypatch.setattr(generator_checks, "MEASURED", {"warmup": "0s", "duration": "100ms", "interval": "50ms"})


@pytest.fixture(autouse=True)
def _counts_agree(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    """Compares the counts of every run that a test left, but for tests in which somebody else is at work on purpose."""
    yield
    if request.node.get_closest_marker("other_client") is not None:
        return
    for file in sorted(tmp_path.rglob(RECORD_FILE)):
        if is_import(file.parent):
            continue  # it counts itself, see test_import.py
        if read_state(file.parent, RECORD_FILE).get("kind") == SCAN_TRIAL_KIND:
            continue  # a query of a scan, which has counts of its own
        record = read_record(file.parent)
        if record.plan.target.kind == "null":
            continue
        finding = opcounters(record)
        assert finding.verdict is not Standing.FAIL, f"{file.parent.name}: {finding.evidence}"


@pytest.fixture
def cli(brimline_cli: CommandLine) -> Iterator[CommandLine]:
    """The command line for tests that bring up labs; whatever a failing one leaves running is ended."""
    try:
        yield brimline_cli
    finally:
        brimline_cli.run("lab", "down", "--all")
        for process in processes_below(brimline_cli.directory):
            process.kill()
