"""What a command that ended early leaves at the server: taken away, or said with how it goes away."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymongo
import pytest
from pymongo.collection import Collection
from pymongo.errors import AutoReconnect

from brimline.errors import RecordError, TargetError
from brimline.execution import import_data as importing
from brimline.execution import kept_data
from brimline.record import RecordWriter
from brimline.servers import Deployment
from brimline.servers.bundled import free_port
from brimline.servers.lab.forwarding import forwarder_command
from brimline.servers.lab.network import Network
from brimline.servers.listening import listens
from tests.support.command_line import CommandLine
from tests.support.repetitions import repetitions
from tests.support.waiting import eventually

pytestmark = [pytest.mark.mongod, pytest.mark.other_client]

Data = pymongo.database.Database[dict[str, Any]]
DATABASE = "left"
RECORDS = ("--records", "500")
LONG = ("--duration", "20s", "--warmup", "0s")
execution = sys.modules["brimline.execution.execute"]


@pytest.fixture
def uri(mongod: Deployment) -> str:
    return f"mongodb://{mongod.address}/{DATABASE}"


@pytest.fixture
def database(mongod: Deployment) -> Iterator[Data]:
    with pymongo.MongoClient[dict[str, Any]](f"mongodb://{mongod.address}") as client:
        client.drop_database(DATABASE)
        yield client[DATABASE]
        client.drop_database(DATABASE)


@pytest.fixture
def loaded(here: CommandLine, uri: str, database: Data) -> Data:
    """The data of the workloads, and an index of somebody else."""
    assert here.run("load", "ycsb-d", *RECORDS, "--uri", uri, "-q").exit_code == 0
    database["usertable"].create_index("theirs")
    return database


def _at_the_first_inserts(patch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Does something once a run has inserted."""
    show, done = execution._Ticks.show, list[bool]()

    def shown(ticks: Any, progress: Any) -> None:
        show(ticks, progress)
        if progress["ok"] > 500 and progress["stage"] == "running" and not done:
            done.append(True)
            act()

    patch.setattr(execution._Ticks, "show", shown)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (("run", "ycsb-d", *LONG), signal.SIGINT),
        (("sweep", "ycsb-d", "--vary", "connections=2,4", *LONG), signal.SIGTERM),
        (("interfere", "ycsb-d", "--with", "scan", "--background-rows", "1000", *LONG), signal.SIGINT),
        *repetitions(
            (("run", "ycsb-d", *LONG), signal.SIGTERM),
            (("ab", "ycsb-d", "--a", "connections=2", "--b", "connections=4", *LONG), signal.SIGINT),
            (("sweep", "ycsb-d", *LONG), signal.SIGINT),
        ),
    ],
    ids=lambda each: "-".join(each[:1]) if isinstance(each, tuple) else each.name,
)
def test_an_interrupted_run_takes_away_what_it_inserted(
    words: tuple[str, ...],
    number: signal.Signals,
    here: CommandLine,
    uri: str,
    loaded: Data,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most: list[int] = []

    def interrupt() -> None:
        most.append(loaded["usertable"].count_documents({}))
        os.kill(os.getpid(), number)

    _at_the_first_inserts(monkeypatch, interrupt)
    outcome = here.run(*words, *RECORDS, "--uri", uri, "-q")
    assert outcome.exit_code == 128 + number, outcome.stderr
    assert most[0] > 500, "nothing was inserted: the test shows nothing"
    assert loaded["usertable"].count_documents({}) == 500
    assert sorted(loaded["usertable"].index_information()) == ["_id_", "theirs_1"]
    assert sorted(loaded.list_collection_names()) == ["brimline_manifest", "usertable"]


def test_what_is_left_after_a_second_ctrl_c_is_said(
    here: CommandLine, uri: str, loaded: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    _at_the_first_inserts(monkeypatch, lambda: [os.kill(os.getpid(), signal.SIGINT) for _ in range(2)] and None)
    outcome = here.run("run", "ycsb-d", *LONG, *RECORDS, "--uri", uri)
    assert outcome.exit_code == 130, outcome.stderr
    assert "left.usertable may hold documents that the run inserted: the next run of this workload" in outcome.stderr
    again = here.run("run", "ycsb-c", "--duration", "100ms", "--warmup", "0s", *RECORDS, "--uri", uri, "-q")
    assert again.exit_code in (0, 4), again.stderr
    assert loaded["usertable"].count_documents({}) == 500


SHORT = ("run", "ycsb-d", "--duration", "300ms", "--warmup", "0s")


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize("talk", [(), ("-q",)], ids=["talking", "quiet"])
def test_what_a_lost_server_may_hold_is_said(
    here: CommandLine, uri: str, talk: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also to who wants no progress: it is no talk."""

    @contextmanager
    def gone(*_: object, **__: object) -> Iterator[None]:
        raise TargetError("the server doesn't answer")
        yield

    monkeypatch.setattr(kept_data, "database_of", gone)
    outcome = here.run(*SHORT, *RECORDS, "--uri", uri, *talk)
    assert outcome.exit_code in (0, 4)
    assert "may hold documents that the run inserted (the server doesn't answer)" in outcome.stderr


def test_what_stays_among_the_documents_of_others_is_said(here: CommandLine, uri: str, database: Data) -> None:
    database["usertable"].insert_one({"_id": "theirs"})
    outcome = here.run(*SHORT, *RECORDS, "--uri", uri, "--data", "as-is")
    assert "what the run inserted stays in left.usertable" in outcome.stderr


def test_a_record_that_can_not_be_written_costs_a_load_its_report_and_no_document(
    here: CommandLine, uri: str, loaded: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise RecordError("can't write: no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(RecordWriter, "append", full)
        outcome = here.run("load", "ycsb-d", *RECORDS, "--uri", uri, "-q")
    outcome.check_error(
        1, "no space left", "the data is whole, only its report is lost: 500 documents in left.usertable"
    )
    assert sorted(loaded["usertable"].index_information()) == ["_id_", "theirs_1"]
    again = here.run("run", "ycsb-c", "--duration", "100ms", "--warmup", "0s", *RECORDS, "--uri", uri, "-q")
    assert again.exit_code in (0, 4), again.stderr


def test_what_a_load_was_to_keep_is_there_again_after_it_was_cut_short_at_the_worst_moment(
    here: CommandLine, uri: str, loaded: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded.command({"collMod": "usertable", "validator": {"other": {"$exists": False}}})

    def cut(*_: object) -> None:
        raise AutoReconnect("gone")

    with monkeypatch.context() as patch:
        patch.setattr(Collection, "rename", cut)
        assert here.run("load", "ycsb-d", *RECORDS, "--uri", uri, "-q").exit_code == 5
    assert sorted(loaded["usertable"].index_information()) == ["_id_", "theirs_1"]
    loaded.drop_collection("usertable")
    outcome = here.run("load", "ycsb-d", *RECORDS, "--uri", uri)
    assert outcome.exit_code == 0, outcome.stderr
    assert sorted(loaded["usertable"].index_information()) == ["_id_", "theirs_1"]
    assert loaded["usertable"].options()["validator"] == {"other": {"$exists": False}}
    assert "kept: indexes and options of left.usertable are as they were: theirs_1, validat" in outcome.stdout


def test_indexes_of_others_stay_where_indexes_are_measured(here: CommandLine, uri: str, loaded: Data) -> None:
    outcome = here.run("grow", "ycsb-c", "--to", "200", "--step", "100", "--uri", uri, "-q")
    outcome.check_error(2, "has indexes that brimline did not make: theirs_1", "--drop")
    assert loaded["usertable"].count_documents({}) == 500
    assert sorted(loaded["usertable"].index_information()) == ["_id_", "theirs_1"]


class _Line:
    """A line to a server that can be cut and is there again at once, at the same address."""

    def __init__(self, address: str) -> None:
        self.port = free_port()
        self._command = forwarder_command(
            port=self.port, target=int(address.rpartition(":")[2]), network=Network(delay_ns=1_000_000)
        )
        self._begin()

    def _begin(self) -> None:
        self._process = subprocess.Popen(self._command)
        assert eventually(lambda: listens(self._process.pid, self.port))

    def cut(self) -> None:
        self.end()
        self._begin()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def test_an_import_that_lost_its_connections_says_what_the_server_counts(
    here: CommandLine, mongod: Deployment, database: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = _Line(mongod.address)
    show = importing._Ticks.show

    def shown(ticks: Any, progress: Any) -> None:
        show(ticks, progress)
        if progress["counts"]["inserted"] > 100 and not progress["is_over"] and ticks not in cut:
            cut.append(ticks)
            line.cut()

    cut: list[Any] = []
    monkeypatch.setattr(importing._Ticks, "show", shown)
    Path("rows.json").write_text("".join(f'{{"_id": {number}}}\n' for number in range(200_000)))
    try:
        outcome = here.run(
            *("import", "rows.json", "--uri", f"mongodb://127.0.0.1:{line.port}/{DATABASE}"),
            *("-c", "rows", "--batchSize", "200", "-j", "2", "--json", "-q"),
        )
    finally:
        line.end()
    there = database["rows"].count_documents({})
    assert outcome.exit_code == 5 and 0 < there < 200_000, outcome.stderr
    assert outcome.json()["document_count"] == there
    assert f"so far {there:,} documents are in".replace(",", " ") in outcome.stderr
